"""How one sub-query is computed from another: merging, transformation, a smaller window (§IV).

The matches of the source are filtered, and the beneficiary's other operands are joined to them one by one. That covers
all techniques: merging a substring needs no filter; merging a subsequence leaves room between the source's events;
decomposition is merging a part that no query asks for; transformation is an order or completeness filter.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Literal

from cepc_runtime.cheap_dataclass import dataclass

from .interesting import TRANSFORMED, subsequence
from .patterns import UNORDERED, LeafTest, extents

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .patterns import Operand, Pattern, SubQuery

Filter = Literal["order", "complete", "one", "span", "conditions", "absent"]
"""Of the source's matches: those in the beneficiary's order; with all of SOME's operands bound, or exactly one;
that fit in its window; for which its conditions hold; without what it says must be absent.
"""


@dataclass(frozen=True, slots=True)
class Derivation:
    """`result` from `source`, whose operand i is operand `places[i]` of the result; from events alone without one."""

    result: SubQuery
    source: SubQuery | None = None
    places: tuple[int, ...] = ()
    filters: tuple[Filter, ...] = ()

    @property
    def rest(self) -> tuple[int, ...]:
        """The operands that are joined, in order."""
        return tuple(i for i in range(len(self.result.pattern.operands)) if i not in self.places)

    @property
    def inputs(self) -> tuple[SubQuery, ...]:
        """The sub-queries that must be there: the source, and those of nested operands that are joined."""
        nested = [i for i, o in enumerate(self.result.pattern.operands) if not isinstance(o, int)]
        inner = dict(zip(nested, self.result.inner(), strict=True))
        joined = [inner[i] for i in self.rest if i in inner]
        return tuple(dict.fromkeys(chain(() if self.source is None else (self.source,), joined)))


def leaf_places(source: Pattern, result: Pattern, places: Sequence[int]) -> tuple[int, ...]:
    """For each leaf of the source its number in the result."""
    where = extents(result)
    return tuple(leaf for i in range(len(source.operands)) for leaf in where[places[i]])


def derive(source: SubQuery, result: SubQuery) -> Derivation | None:
    """How to compute `result` from `source`, if that is possible."""
    if source == result or source.reach < result.reach:
        return None
    places = embedding(source.pattern, result.pattern)
    if places is None:
        return None
    leaf = leaf_places(source.pattern, result.pattern, places)
    known = frozenset(LeafTest(tuple(leaf[i] for i in c.leaves), c.test) for c in source.conditions)
    if not known <= result.conditions:
        return None
    if source.absent and not _same_windows(source, result):
        return None  # what must be absent from the window of a part is not the same as from that of the whole
    filters: list[Filter] = []
    if result.pattern.operator == "SEQ" != source.pattern.operator:
        filters.append("order")
    if source.pattern.operator == "SOME" != result.pattern.operator:
        filters.append("one" if result.pattern.operator == "OR" else "complete")
    if source.reach > result.reach:
        filters.append("span")
    if any(set(c.leaves) <= set(leaf) for c in result.conditions - known):
        filters.append("conditions")
    if result.absent - source.absent:
        filters.append("absent")
    return Derivation(result, source, places, tuple(filters))


def _same_windows(source: SubQuery, result: SubQuery) -> bool:
    same = len(source.pattern.operands) == len(result.pattern.operands) and source.window == result.window
    return same and source.absent <= result.absent


def embedding(source: Pattern, result: Pattern) -> tuple[int, ...] | None:
    """Which operands of the result those of the source are, if its operator allows to use its matches."""
    if source.operator == result.operator:
        return subsequence(source.operands, result.operands)
    if TRANSFORMED.get((result.operator, source.operator)) != source.operator:
        return None
    if result.operator in UNORDERED and source.operator in UNORDERED:
        return subsequence(source.operands, result.operands)
    return _anywhere(source.operands, result.operands)


def _anywhere(part: Sequence[Operand], whole: Sequence[Operand]) -> tuple[int, ...] | None:
    """Where each operand of `part` stands in `whole`, in any order, no place twice."""
    left = list(enumerate(whole))
    places = []
    for operand in part:
        found = next((pair for pair in left if pair[1] == operand), None)
        if found is None:
            return None
        left.remove(found)
        places.append(found[0])
    return tuple(places)
