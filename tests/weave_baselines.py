"""What weave does, done plainly: edges marked in a bit set, F1 as it is printed, the cheapest grouping by trying all."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import lcm
from typing import TYPE_CHECKING

from cepc.passes.weave.edges import EVERY_TICK, common, edges_of, rate
from cepc.passes.weave.windows import PeriodicWindow, Progression, overlap, pane_edges

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cepc.passes.weave.share import CostModel


def bitset_edges(windows: Iterable[PeriodicWindow]) -> tuple[int, int]:
    """The edges in one composite slide, and that slide's length (sections 2, 3.1 and 3.2), with a bit for each tick."""
    progressions = {edge for window in windows for edge in pane_edges(window)}
    length = lcm(*(p.slide for p in progressions))
    marked = 0
    for progression in sorted(progressions):
        marked |= marks(progression, length)
    return marked.bit_count(), length


def marks(progression: Progression, length: int) -> int:
    """A big integer with a bit for each tick of the progression below `length`, a multiple of its slide."""
    bits, width = 1 << progression.residue, progression.slide
    while width < length:  # doubling, so that the baseline is a fast one: log(length / slide) shifts
        bits |= bits << width
        width *= 2
    return bits & ((1 << length) - 1)


def closed_formula(progressions: Sequence[Progression]) -> tuple[int, ...]:
    """LCM_n · G_2(n, i) for i = 1 … n, as the paper prints F1: 2^n groups.

    The paper checks all pairs of a group; meeting them one after the other is the same, since congruences that agree in
    pairs agree together.
    """
    length = lcm(*(p.slide for p in progressions))
    elements = []
    for size in range(1, len(progressions) + 1):
        shared = (_common_of(group) for group in combinations(progressions, size))
        elements.append(sum(length // p.slide for p in shared if p is not None))
    return tuple(elements)


def _common_of(group: Iterable[Progression]) -> Progression | None:
    found: Progression | None = EVERY_TICK
    for progression in group:
        found = common(found, progression) if found else None
    return found


def least_cost(windows: Sequence[PeriodicWindow], model: CostModel) -> Fraction:
    """That of the cheapest grouping, for up to eight queries or so."""

    def cost(part: Sequence[int]) -> Fraction:
        own = [windows[i] for i in part]
        return model(rate(edges_of(own)), sum(map(overlap, own)))

    return min(sum(map(cost, partition), Fraction()) for partition in _partitions(len(windows)))


def _partitions(n: int) -> Iterator[list[list[int]]]:
    if n == 0:
        yield []
        return
    for smaller in _partitions(n - 1):
        yield [*smaller, [n - 1]]
        for i, part in enumerate(smaller):
            yield [*smaller[:i], [*part, n - 1], *smaller[i + 1 :]]
