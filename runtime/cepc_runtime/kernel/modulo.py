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
    from collections.abc import Mapping, Sequence

    from ..numbers.columns import Ints
    from .by_query import Emissions
    from .exact import Recount
    from .planes import Plane, ValueKey

FITS: Final = 2.0**62


def whole(plane: Plane) -> bool:
    """Whether the plane is a sum of integers that this module computes."""
    return plane.value.is_whole and plane.value.role != "magnitude"


def count_modulo(recount: Recount, places: Sequence[int], matrix: Ints, index: Mapping[ValueKey, int]) -> Emissions:
    """The emissions modulo 2**64, with the count and then these planes of the query; `matrix[index[key]]` are the
    numbers of their keys.
    """
    planes = QueryPlanes(tuple(recount.planes.planes[place - 1] for place in places), 1 + len(places), ())
    if recount.neighbours is not None:
        return recount.neighbours.count(planes, matrix, index)
    query = replace(recount.query, having=None)  # numbers that wrap around cannot be compared
    layout = build([query], [planes], recount.kinds.letters, index)
    (emissions,), _ = run_kernel(recount.events, recount.kinds, layout, kept_planes([planes], [planes]), matrix)
    return emissions
