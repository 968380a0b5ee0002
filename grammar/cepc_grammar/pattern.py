"""Patterns: the operators, whatever stands at the leaves, and one walk, one fold and one rewriting of them.

A stage says what its leaves are, how long a NOT may be, and what it knows of a named pattern in its place:

    Pattern = Event | Operator["Pattern"] | Not["Pattern", int] | Named["Pattern", Scope]

Compared by structure, without spans.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Union, cast
from typing import Literal as OneOf

from cepc_runtime.cheap_dataclass import dataclass

from .source import NOWHERE, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

P = TypeVar("P")  # a stage's patterns
Q = TypeVar("Q")  # those of another
T = TypeVar("T")
Length = TypeVar("Length")
Scope = TypeVar("Scope")


@dataclass(frozen=True, slots=True)
class Seq(Generic[P]):
    parts: tuple[P, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class And(Generic[P]):
    parts: tuple[P, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Or(Generic[P]):
    parts: tuple[P, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Some(Generic[P]):
    """`SOME(P, Q)`: one or more of the operands."""

    parts: tuple[P, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Repeat(Generic[P]):
    """`P+` is (1, None), `P*` (0, None), `P?` (0, 1), `P{m,n}` (m, n). `E+ e` is the repetition of `E e`."""

    body: P
    least: int
    most: int | None
    reluctant: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Selected(Generic[P]):
    """`CONTIGUOUS(P)`, `NEXT(P)`: a selection between the events of a match of P. `CONTIGUOUS(P, Q)` is that of `SEQ(P,
    Q)`.
    """

    body: P
    select: OneOf["NEXT", "CONTIGUOUS"]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Not(Generic[P, Length]):
    """No match of `body` in the gap where this stands; `within` ends the gap early."""

    body: P
    within: Length | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Named(Generic[P, Scope]):
    """A named pattern in its place."""

    body: P
    scope: Scope
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Operator = Union[Seq[P], And[P], Or[P], Some[P], Repeat[P], Selected[P]]  # noqa: UP007 - `|` has no parameters at run time
"""The operators that are the same at every stage."""

_OF_SEVERAL = (Seq, And, Or, Some)
_OF_ONE = (Repeat, Selected, Not, Named)
OPERATORS = (*_OF_SEVERAL, *_OF_ONE)
_INNER = frozenset(OPERATORS)

PATTERN_WORDS = frozenset({"SEQ", "AND", "OR", "SOME", "NOT", "ANY"})
SELECTION_WORDS = frozenset({"NEXT", "CONTIGUOUS"})
"""Words of patterns before a parenthesis alone."""


def children(pattern: P) -> tuple[P, ...]:
    """What an operator stands over; nothing for a leaf."""
    if isinstance(pattern, _OF_SEVERAL):
        return cast("tuple[P, ...]", pattern.parts)
    return (cast("P", pattern.body),) if isinstance(pattern, _OF_ONE) else ()


def walk(pattern: P, into: Callable[[P], bool] | None = None) -> Iterator[P]:
    """The pattern and all that is in it, the outer before the inner, from left to right; `into` says where to look
    inside.

    >>> [node for node in walk(Seq(("a", Repeat("b", 1, None)))) if isinstance(node, str)]
    ['a', 'b']
    """
    stack = [pattern]
    while stack:
        node = stack.pop()
        yield node
        if node.__class__ in _INNER and (into is None or into(node)):
            stack += reversed(children(node))


def outside_not(pattern: P) -> Iterator[P]:
    """The same without what a NOT forbids."""
    return walk(pattern, lambda node: not isinstance(node, Not))


def fold(pattern: P, result: Callable[[P, tuple[T, ...]], T]) -> T:
    """The result of the pattern, from the results of what it stands over.

    >>> fold(Seq(("a", Repeat("b", 1, None))), lambda _, below: 1 + max(below, default=0))
    3
    """
    return result(pattern, tuple(fold(part, result) for part in children(pattern)))


def over(operator: Operator[Any], parts: tuple[Q, ...]) -> Operator[Q]:
    """The operator over other parts, which may be those of another stage.

    >>> over(Repeat("a", 0, 1), (2,))
    Repeat(body=2, least=0, most=1, reluctant=False)
    """
    return cast("Operator[Q]", _over(operator, parts))


def with_leaves(pattern: P, kind: type[T], leaf: Callable[[T], P]) -> P:
    """The pattern with other leaves of a kind; those of other kinds stay.

    >>> with_leaves(Seq(("a", Not("b"), 7)), str, str.upper)
    Seq(parts=('A', Not(body='B', within=None), 7))
    """

    def changed(node: P, parts: tuple[P, ...]) -> P:
        if isinstance(node, kind):
            return leaf(node)
        return cast("P", _over(node, parts)) if node.__class__ in _INNER else node

    return fold(pattern, changed)


def _over(operator: Any, parts: tuple[Any, ...]) -> Any:
    if isinstance(operator, _OF_SEVERAL):
        return type(operator)(parts, operator.span)
    (body,) = parts
    return replace(operator, body=body)


def word(operator: Any) -> str:
    """How an operator is written: SEQ, AND, …"""
    return operator.select if isinstance(operator, Selected) else type(operator).__name__.upper()
