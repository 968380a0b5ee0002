"""Whole planes of one query once more, in 64-bit integers that wrap around: exact where a float says that they fit.

A row that reaches an accepting state with a count below 2**62 was made of rows with smaller counts, so nothing on its
way went past 64 bits but sums, and those come out right modulo 2**64.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from .planes import QueryPlanes, kept_planes
from .run import run_kernel
from .tables import build

if TYPE_CHECKING:
    from .exact import Recount
    from .planes import Plane
    from .run import Emissions

FITS: Final = 2.0**62


def whole(plane: Plane) -> bool:
    """Whether the plane is a sum of integers that this module computes."""
    return plane.value.is_whole and plane.value.role != "magnitude"


def in_units(plane: Plane) -> bool:
    """Whether the plane sums up parts of doubles, which here are integers, in units of their scale."""
    return plane.value.role in ("rest", "last") or (plane.value.role == "value" and not whole(plane))


def count_modulo(recount: Recount) -> tuple[Emissions, tuple[int, ...]]:
    """The emissions modulo 2**64, with the count and then these planes of the query."""
    every = list(enumerate(recount.planes.planes, start=1))
    kept = [(p, plane) for p, plane in every if whole(plane) or in_units(plane)]
    planes = QueryPlanes(tuple(plane for _, plane in kept), 1 + len(kept), ())
    keys = list(dict.fromkeys(plane.value for plane in planes.planes))
    matrix, index = recount.values.modulo(keys), {key: i for i, key in enumerate(keys)}
    chosen = tuple(p for p, _ in kept)
    if recount.neighbours is not None:
        return recount.neighbours.count(planes, matrix, index), chosen
    query = replace(recount.query, having=None)  # numbers that wrap around cannot be compared
    layout = build([query], [planes], recount.kinds.letters, index)
    (emissions,), _ = run_kernel(recount.events, recount.kinds, layout, kept_planes([planes], [planes]), matrix)
    return emissions, chosen
