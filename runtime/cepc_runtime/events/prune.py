"""Groups in which no query can match are left out before they are sorted.

A group without what every match of a query needs (`plan.Needs`) has no match of it. So of the group those events stay
that a query reads which may have one there, and where there is none, nothing stays. Nothing is known of the order of
events here, nor of what a NOT forbids: a group that stays may have no match either.

What a group has is found from all of its events; where some are elsewhere, nobody may ask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..numbers.columns import Bools, Ints
    from ..plan.physical import Need, Needs
    from .grouped import Staying
    from .letters import Kinds

KINDS: Final = 16
"""Kinds of events that are told apart: so many bytes are held for each group."""


def staying_of(kinds: Kinds, reads: Mapping[str, frozenset[int] | None], needs: Sequence[Needs]) -> Staying | None:
    """Which events of whole groups stay, by the letters of which each query reads events (None: all events). None if
    that are all of them in any case.
    """
    of = {one.query: one.of for one in needs}
    readers: dict[tuple[Need, ...], Bools] = {}
    for query, letters in reads.items():
        own = np.ones(len(kinds.letters), dtype=np.bool_) if letters is None else kinds.of_these(letters)
        wanted = of.get(query, ())
        readers[wanted] = readers[wanted] | own if wanted in readers else own
    if readers.keys() <= {()} or readers.get((), np.zeros(1, dtype=np.bool_)).all():
        return None
    places = {need: kinds.of_these(need.letters) for need in dict.fromkeys(n for wanted in readers for n in wanted)}
    alike, number = np.unique(np.array([*readers.values(), *places.values()]), axis=1, return_inverse=True)
    if alike.shape[1] > KINDS:
        return None
    read = dict(zip(readers, alike, strict=False))
    meant = dict(zip(places, alike[len(readers) :], strict=True))
    counted = any(need.events > 1 for need in places)

    def staying(groups: Ints, count: int) -> Bools | None:
        cells = (number.astype(np.int64).ravel() * count)[kinds.of]
        cells += groups
        found = _counts(cells, alike.shape[1] * count, counted).reshape(alike.shape[1], count)
        stays = np.zeros(found.shape, dtype=np.bool_)
        for wanted, own in read.items():
            able = np.ones(count, dtype=np.bool_)
            for need in wanted:
                able &= found[meant[need]].sum(axis=0) >= need.events
            stays[own] |= able
        if (stays | (found == 0)).all():
            return None
        stay: Bools = stays.ravel()[cells]
        return stay

    return staying


def _counts(cells: Ints, size: int, counted: bool) -> Ints | Bools:
    """How many events each cell has, or whether it has any."""
    if counted:
        return np.bincount(cells, minlength=size)
    found = np.zeros(size, dtype=np.bool_)
    found[cells] = True
    return found
