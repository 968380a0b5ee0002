"""Patterns with every name resolved and every named pattern in place of its name.

Between the syntax and the checked program: as the AST, but an event says which variable it is bound to and which type
it has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_grammar.pattern import Named, Not, Operator, outside_not, walk
from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc_grammar.source import Span


@dataclass(frozen=True, slots=True)
class Event:
    """`type` is the name of an event type, None for ANY. `aliased` where the variable has not its name from the
    type. `stream` is that of the type, in a query over several.
    """

    variable: str
    type: ast.Name | None
    aliased: bool
    span: Span
    stream: str | None = None

    @property
    def type_name(self) -> str:
        return "ANY" if self.type is None else self.type.text


@dataclass(frozen=True, slots=True)
class Use:
    """Of a named pattern. `where` has arguments in place of parameters; `prefix` is `w.` for `trip w`, else empty.

    The span of the node is where it is used.
    """

    name: str
    where: ast.Expression | None
    prefix: str


Negation = Not["Written", ast.Duration]
Written = Event | Operator["Written"] | Negation | Named["Written", Use]


def events(pattern: Written) -> Iterator[Event]:
    return (part for part in walk(pattern) if isinstance(part, Event))


def negations(pattern: Written) -> list[Negation]:
    return [part for part in walk(pattern) if isinstance(part, Not)]


def conditional(pattern: Written) -> Iterator[Named[Written, Use]]:
    """The named patterns in it that have a WHERE."""
    return (part for part in walk(pattern) if isinstance(part, Named) and part.scope.where is not None)


def positive(pattern: Written) -> Iterator[Event]:
    """The events outside NOT."""
    return (part for part in outside_not(pattern) if isinstance(part, Event))
