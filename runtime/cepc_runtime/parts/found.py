"""The rows that a run has found so far: in memory while they are few, and on disk from then on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..cheap_dataclass import dataclass
from .on_disk import RowFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True)
class Mapped:
    """A table of the pages of a file, which takes no memory that others need."""

    table: Any


class Found:
    """Tables by the names of queries. In memory are not more than so many bytes of them, or one table; None is no
    limit.
    """

    def __init__(self, most: int | None) -> None:
        self._most, self._size = most, 0
        self._in_memory: dict[str, list[Any]] = {}
        self._mapped: dict[str, list[Any]] = {}
        self._on_disk: dict[str, list[range]] = {}
        self._file: RowFile | None = None

    def add(self, found: Iterable[tuple[str, Any]]) -> Found:
        """Tables, or Mapped ones, with the names of their queries. Raises DiskError."""
        for name, table in found:
            if isinstance(table, Mapped):
                self._mapped.setdefault(name, []).append(table.table)
                continue
            self._in_memory.setdefault(name, []).append(table)
            self._size += table.nbytes
            if self._most is not None and self._size > self._most:
                self._to_disk()
        return self

    def _to_disk(self) -> None:
        self._file = self._file or RowFile()
        for name, tables in self._in_memory.items():
            whole = pa.concat_tables(tables)
            if whole.num_rows:
                self._on_disk.setdefault(name, []).append(self._file.add(whole))
            self._in_memory[name] = [whole.schema.empty_table()]
        self._size = 0

    def rows(self) -> Iterator[tuple[str, Any]]:
        """What `add` takes. Raises DiskError."""
        if self._file is not None:
            places = [(name, own) for name, several in self._on_disk.items() for own in several]
            read = self._file.read([own for _, own in places])
            yield from ((name, Mapped(table)) for (name, _), table in zip(places, read, strict=True))
        yield from ((name, Mapped(table)) for name, several in self._mapped.items() for table in several)
        yield from ((name, table) for name, several in self._in_memory.items() for table in several)

    def tables(self) -> dict[str, Any]:
        """One for each query. Raises DiskError."""
        found: dict[str, list[Any]] = {}
        for name, table in self.rows():
            found.setdefault(name, []).append(table.table if isinstance(table, Mapped) else table)
        return {name: several[0] if len(several) == 1 else pa.concat_tables(several) for name, several in found.items()}
