"""Patterns with every name resolved and every named pattern in place of its name.

Between the syntax and the checked program: as the AST, but an event says which variable it is bound to and which type
it has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc_grammar import ast
    from cepc_grammar.source import Span


@dataclass(frozen=True, slots=True)
class Event:
    """`type` is the name of an event type, None for ANY. `aliased` where the variable has not its name from the type."""

    variable: str
    type: ast.Name | None
    aliased: bool
    span: Span

    @property
    def type_name(self) -> str:
        return "ANY" if self.type is None else self.type.text


@dataclass(frozen=True, slots=True)
class Seq:
    parts: tuple[Written, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple[Written, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple[Written, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Some:
    parts: tuple[Written, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Repeat:
    body: Written
    least: int
    most: int | None
    reluctant: bool
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Not:
    """Compared by identity: two that read alike stand in two gaps."""

    body: Written
    within: ast.Duration | None
    span: Span


@dataclass(frozen=True, slots=True)
class Named:
    """A named pattern in its place. `where` has arguments in place of parameters; `prefix` is `w.` for `trip w`, else empty.

    `span` is where it is used.
    """

    body: Written
    name: str
    where: ast.Expression | None
    prefix: str
    span: Span


Written = Event | Seq | And | Or | Some | Repeat | Not | Named


def children(node: Written) -> tuple[Written, ...]:
    match node:
        case Event():
            return ()
        case Seq(parts) | And(parts) | Or(parts) | Some(parts):
            return parts
        case Repeat(body) | Not(body) | Named(body):
            return (body,)


def walk(node: Written) -> Iterator[Written]:
    """The pattern and all that is in it, the outer before the inner, from left to right."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(children(node))


def events(node: Written) -> Iterator[Event]:
    return (part for part in walk(node) if isinstance(part, Event))


def negations(node: Written) -> list[Not]:
    return [part for part in walk(node) if isinstance(part, Not)]


def positive(node: Written) -> Iterator[Event]:
    """The events outside NOT."""
    stack = [node]
    while stack:
        node = stack.pop()
        if isinstance(node, Event):
            yield node
        elif not isinstance(node, Not):
            stack += reversed(children(node))
