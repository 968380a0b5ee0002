"""The names of a job. Whatever streams and queries are called, each name stands for one thing."""

from __future__ import annotations

import ast
import builtins
import keyword
from typing import TYPE_CHECKING, Final

from cepc_runtime.cheap_dataclass import dataclass

from .python import identifier

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

CONSTANTS: Final = ("TYPES", "LETTERS", "PLAIN", "CLASSES", "PLAN", "STREAM")
FUNCTIONS: Final = ("events", "rows", "results")


@dataclass(frozen=True, slots=True)
class StreamNames:
    """`word` begins the names of the stream's functions, and in capitals those of its constants; `queries` are the
    functions of queries that have one, by the queries' names.
    """

    word: str
    queries: Mapping[str, str]

    @property
    def constant(self) -> str:
        return self.word.upper()

    @property
    def all(self) -> frozenset[str]:
        constants = (f"{self.constant}_{part}" for part in CONSTANTS)
        functions = (f"{self.word}_{part}" for part in FUNCTIONS)
        return frozenset((self.constant, *constants, *functions, *self.queries.values()))


def bound_by(text: str) -> frozenset[str]:
    """The names that statements of Python bind at the top of a module, and Python's own."""
    found = {*dir(builtins), *keyword.kwlist}
    for statement in ast.parse(text).body:
        match statement:
            case ast.Import(names) | ast.ImportFrom(names=names):
                found.update(alias.asname or alias.name.partition(".")[0] for alias in names)
            case ast.FunctionDef(name):
                found.add(name)
            case ast.Assign(targets):
                found.update(target.id for target in targets if isinstance(target, ast.Name))
    return frozenset(found)


def names_of(streams: Iterable[tuple[str, Sequence[str]]], taken: frozenset[str]) -> list[StreamNames]:
    """The names for each stream, given with those of its queries that have a function; none of them is among those
    taken.
    """
    found: list[StreamNames] = []
    for stream, queries in streams:
        base, number = identifier(stream), 1
        while (names := _with_word(base if number == 1 else f"{base}_{number}", queries)).all & taken:
            number += 1
        taken |= names.all
        found.append(names)
    return found


def _with_word(word: str, queries: Sequence[str]) -> StreamNames:
    functions: dict[str, str] = {}
    others = StreamNames(word, {}).all
    for query in queries:
        base, number = f"{word}_{identifier(query)}", 1
        while (name := base if number == 1 else f"{base}_{number}") in others or name in functions.values():
            number += 1
        functions[query] = name
    return StreamNames(word, functions)
