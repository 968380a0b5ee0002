"""How rows are written: a `Writer`, at the end of the module that writes so. `writers.py` lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import BinaryIO, TextIO


@dataclass(frozen=True, slots=True)
class Writer:
    """A format for printing, for files, or for both."""

    name: str
    """In `--format`, and what the names of files end with."""
    show: Callable[[Mapping[str, Any], TextIO, int | None, bool], None] | None = None
    """Print the queries' tables, of each at most so many rows where a limit is given, in colour or not."""
    save: Callable[[Any, BinaryIO], None] | None = None
    """Write one table to a file."""
    is_of_one_query: bool = False
    """What is printed has the columns of one query."""
