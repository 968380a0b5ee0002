"""Patterns as MOTTO sees them: an operator over letters and over patterns of other operators (§II, §IV-D).

Its CONJ is AND, its DISJ is SOME. OR, which it does not have, is what of a SOME binds one operand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

OperatorName = Literal["SEQ", "AND", "SOME", "OR"]
UNORDERED = frozenset[OperatorName](("AND", "SOME", "OR"))


@dataclass(frozen=True, slots=True)
class Pattern:
    """Made by `pattern_of`: no operand has the operator itself, and operands without order are sorted.

    An operand that is a pattern is the composite event type of its matches.
    """

    operator: OperatorName
    operands: tuple[Operand, ...]

    def __str__(self) -> str:
        return f"{self.operator}({', '.join(map(str, self.operands))})"


Operand: TypeAlias = int | Pattern


def pattern_of(operator: OperatorName, operands: Sequence[Operand]) -> Operand:
    """The operator over the operands, in the one form that equal patterns have; a single operand is itself.

    >>> str(pattern_of("AND", (3, pattern_of("AND", (2, 1)), pattern_of("SEQ", (5, 4)))))
    'AND(1, 2, 3, SEQ(5, 4))'
    """
    flat = flattened(operator, operands)
    if not flat:
        raise ValueError(f"{operator} of nothing")
    return flat[0] if len(flat) == 1 else Pattern(operator, flat)


def flattened(operator: OperatorName, operands: Sequence[Operand]) -> tuple[Operand, ...]:
    """The operands as a pattern of the operator has them."""
    flat: list[Operand] = []
    for operand in operands:
        inside = isinstance(operand, Pattern) and operand.operator == operator
        flat += operand.operands if inside else (operand,)  # type: ignore[union-attr]
    return tuple(sorted(flat, key=sort_key) if operator in UNORDERED else flat)


def sort_key(operand: Operand) -> tuple[object, ...]:
    """The order of operands where the operator has none: letters first."""
    if isinstance(operand, Pattern):
        return 1, operand.operator, tuple(map(sort_key, operand.operands))
    return 0, operand


def leaves(operand: Operand) -> tuple[int, ...]:
    """The letters in order: a match has an event for each of them, or none under SOME and OR."""
    if isinstance(operand, Pattern):
        return tuple(letter for o in operand.operands for letter in leaves(o))
    return (operand,)


def extents(pattern: Pattern) -> tuple[range, ...]:
    """For each operand which leaves of the pattern are its own."""
    found, start = [], 0
    for operand in pattern.operands:
        stop = start + len(leaves(operand))
        found.append(range(start, stop))
        start = stop
    return tuple(found)


# ---- queries ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LeafTest:
    """A test of the events at some leaves, in the order in which the test names them. Equal tests test the same."""

    leaves: tuple[int, ...]
    test: Hashable


@dataclass(frozen=True, slots=True)
class SubQuery:
    """What can be computed once: the matches of a pattern within a window (None: unbounded), for which the conditions
    hold, and with no event of the letters in `absent` anywhere in the window (the paper's NEG).
    """

    pattern: Pattern
    window: int | None
    conditions: frozenset[LeafTest] = frozenset()
    absent: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        if self.window is not None and self.window <= 0:
            raise ValueError(f"a window of {self.window}")
        count = len(leaves(self.pattern)) if self.conditions else 0
        if any(not 0 <= leaf < count for c in self.conditions for leaf in c.leaves):
            raise ValueError("a condition about no leaf of the pattern")

    def __str__(self) -> str:
        window = "" if self.window is None else f" within {self.window}"
        absent = "".join(f", no {letter}" for letter in sorted(self.absent))
        return f"{self.pattern}{window}{absent}"

    @property
    def reach(self) -> float:
        """The window as a number."""
        return float("inf") if self.window is None else self.window

    def inner(self) -> tuple[SubQuery, ...]:
        """What it takes as input for each nested operand, with the conditions that concern that operand alone."""
        found = []
        for operand, extent in zip(self.pattern.operands, extents(self.pattern), strict=True):
            if isinstance(operand, Pattern):
                found.append(SubQuery(operand, self.window, inside(self.conditions, extent)))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Query:
    """A query of the workload. All queries of a workload have the same stream and the same partition."""

    name: str
    asks: SubQuery


def inside(conditions: frozenset[LeafTest], chosen: Sequence[int]) -> frozenset[LeafTest]:
    """The conditions about the chosen leaves alone, these numbered anew in the order given."""
    place = {leaf: i for i, leaf in enumerate(chosen)}
    return frozenset(
        LeafTest(tuple(place[leaf] for leaf in c.leaves), c.test)
        for c in conditions
        if all(leaf in place for leaf in c.leaves)
    )
