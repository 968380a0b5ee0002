"""What a format of events is: a `Reader`, at the end of the module that reads it. `readers.py` lists them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cepc_grammar.diagnostic import Diagnostic

    from .files import DataFile
    from .wanted import Wanted


@dataclass(frozen=True, slots=True)
class Batch:
    """`table` has the wanted columns, and is None where nothing was found; so much of the file's bytes is `done`."""

    table: Any
    done: int
    keys: frozenset[str] = frozenset()
    """Of a format without a schema: which of the wanted columns occur."""


class NotThisFormatError(Exception):
    """The content of a file is of another format than its reader's."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A format. `problems` and `batches` raise DataError, and NotThisFormatError for a file of another format."""

    name: str
    """In `--input-format`, in FROM, and for Spark."""
    title: str
    """In messages."""
    suffixes: tuple[str, ...]
    """What the names of its files end with; messages show these, but not the `aliases`."""
    looks_like: Callable[[bytes], bool]
    """Whether the first bytes of a file may be its."""
    problems: Callable[[DataFile, Wanted], list[Diagnostic]]
    """What is wrong with a file's columns, said before a row of any file is read."""
    batches: Callable[[DataFile, Wanted], Iterator[Batch]]
    """The wanted columns of a file without problems, in the Arrow types of their declared types."""
    keys_of: Callable[[DataFile], list[str]] | None = None
    """Of a format without a schema, where a column that a row does not have is null: the columns of the first rows."""
    aliases: tuple[str, ...] = ()
    is_text: bool = True
    """Text may be compressed as a whole, as in `.csv.gz`."""
    detail: str = ""
    """What `--help` says after the title."""
