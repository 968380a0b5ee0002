"""Interesting sub-queries: what two patterns have in common, so that one computation may serve both (§IV-B, §IV-C)."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from .patterns import UNORDERED, Pattern, flattened
from .suffix import common_substrings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .patterns import Operand, OperatorName

MOST_CHAINS = 16
"""Ways of putting single common operands together that are looked at; there may be exponentially many."""

TRANSFORMED: dict[tuple[OperatorName, OperatorName], OperatorName] = {
    ("SEQ", "AND"): "AND",
    ("AND", "SOME"): "SOME",
    ("SEQ", "SOME"): "SOME",
    ("OR", "SOME"): "SOME",
}
"""Table I: the first operator is a filter over the second; and OR, what of a SOME binds one operand."""


def interesting(left: Pattern, right: Pattern) -> tuple[Pattern, ...]:
    """The interesting sub-queries of two patterns, which are one of them where it is part of the other.

    >>> six, seven = Pattern("SEQ", (1, 2, 3, 5, 6, 7, 8)), Pattern("SEQ", (1, 3, 6, 5, 7, 8))  # example 3
    >>> [p.operands for p in interesting(six, seven)]
    [(7, 8), (1, 3, 6), (1, 3, 5)]
    >>> [str(p) for p in interesting(Pattern("AND", (1, 2, 4)), Pattern("SEQ", (1, 2, 3)))]  # example 6
    ['AND(1, 2)']
    """
    operator = _common_operator(left.operator, right.operator)
    if operator is None:
        return ()
    first, second = flattened(operator, left.operands), flattened(operator, right.operands)
    whole = _longest_part(first, second)
    common = common_substrings(first, second)
    found: dict[Pattern, None] = {}
    candidates: list[Sequence[Operand]] = [] if whole is None else [whole]
    candidates += (second[start:stop] for start, stop in common if stop - start > 1)
    singles = [start for start, stop in common if stop - start == 1]
    candidates += _long_strings(first, second, singles, operator)
    for operands in candidates:
        if len(operands) > 1:
            found[Pattern(operator, flattened(operator, operands))] = None
    return tuple(found)


def _common_operator(left: OperatorName, right: OperatorName) -> OperatorName | None:
    if left == right:
        return left
    return TRANSFORMED.get((left, right)) or TRANSFORMED.get((right, left))


def _longest_part(left: Sequence[Operand], right: Sequence[Operand]) -> Sequence[Operand] | None:
    """The shorter list if it is a subsequence of the longer: all of it can be merged (§IV-A)."""
    short, long = sorted((left, right), key=len)
    return short if subsequence(short, long) is not None else None


def _long_strings(
    left: Sequence[Operand], right: Sequence[Operand], singles: Sequence[int], operator: OperatorName
) -> Iterator[Sequence[Operand]]:
    """Common operands that stand alone, put together: all of them, or under SEQ those that are in order in both."""
    if operator in UNORDERED:
        yield [right[i] for i in singles]
        return
    import networkx as nx  # slow to import, and most programs need none

    place = {operand: i for i, operand in reversed(list(enumerate(left)))}
    ordered = nx.Graph()
    ordered.add_nodes_from(singles)
    ordered.add_edges_from((i, j) for i in singles for j in singles if i < j and place[right[i]] < place[right[j]])
    for chain in sorted(sorted(c) for c in islice(nx.find_cliques(ordered), MOST_CHAINS)):
        yield [right[i] for i in chain]


def subsequence(part: Sequence[Operand], whole: Sequence[Operand]) -> tuple[int, ...] | None:
    """Where the operands of `part` stand in `whole`: side by side if they do anywhere, else each as early as it can;
    None if they are not all there in this order.

    >>> subsequence((1, 2), (1, 3, 1, 2)), subsequence((1, 3), (1, 2, 3)), subsequence((3, 1), (1, 2, 3))
    ((2, 3), (0, 2), None)
    """
    for start in range(len(whole) - len(part) + 1):
        if tuple(whole[start : start + len(part)]) == tuple(part):
            return tuple(range(start, start + len(part)))
    places, at = [], 0
    for operand in part:
        while at < len(whole) and whole[at] != operand:
            at += 1
        if at == len(whole):
            return None
        places.append(at)
        at += 1
    return tuple(places)
