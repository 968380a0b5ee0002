"""Events and rows on disk: record batches in files of Arrow's that have no name, so that nothing is left of them
however the process ends.
"""

from __future__ import annotations

import mmap
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from ..cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ALIGNED: Final = 64
"""Where Arrow likes its buffers to begin."""


class DiskError(Exception):
    """What does not fit into memory cannot be kept in the temporary folder either."""

    def __init__(self, folder: str, error: OSError) -> None:
        super().__init__(folder, error)
        self.folder, self.error = folder, error


class EventFile:
    """Batches are added, until one is read."""

    def __init__(self, schema: Any) -> None:
        self.count = 0
        self._reader: Any = None
        try:
            self._file = tempfile.TemporaryFile(prefix="cepc-")  # noqa: SIM115 - it is closed by `close`
            self._sink = pa.PythonFile(self._file, "w")
            self._writer = pa.ipc.new_file(self._sink, schema)
        except OSError as error:
            raise _failed(error) from None

    def add(self, table: Any) -> range:
        """The numbers of its batches. Raises DiskError."""
        begun = self.count
        try:
            for batch in table.to_batches():
                self._writer.write_batch(batch)
                self.count += 1
        except OSError as error:
            raise _failed(error) from None
        return range(begun, self.count)

    def batch(self, number: int) -> Any:
        """Raises DiskError."""
        try:
            if self._reader is None:
                self._writer.close()
                self._file.flush()
                self._reader = pa.ipc.open_file(pa.PythonFile(self._file, "r"))
            return self._reader.get_batch(number)
        except OSError as error:
            raise _failed(error) from None

    def close(self) -> None:
        """The disk has its room back."""
        self._reader = None
        with suppress(OSError):  # what was not written yet is not wanted any more
            self._file.close()


class RowFile:
    """Tables one after the other. Read, they are the pages of the file: the system keeps them in memory as long as
    nobody needs that for more.
    """

    def __init__(self) -> None:
        try:
            self._file = tempfile.TemporaryFile(prefix="cepc-")  # noqa: SIM115 - what is read has it open
        except OSError as error:
            raise _failed(error) from None

    def add(self, table: Any) -> range:
        """The bytes that it has. Raises DiskError."""
        try:
            self._file.write(bytes(-self._file.tell() % ALIGNED))
            begun = self._file.tell()
            with pa.ipc.new_stream(self._file, table.schema) as writer:
                writer.write_table(table)
            return range(begun, self._file.tell())
        except OSError as error:
            raise _failed(error) from None

    def read(self, tables: Iterable[range]) -> list[Any]:
        """Tables that were added. Raises DiskError."""
        try:
            self._file.flush()
            pages = memoryview(mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ))
        except OSError as error:
            raise _failed(error) from None
        return [pa.ipc.open_stream(pa.py_buffer(pages[own.start : own.stop])).read_all() for own in tables]


@dataclass(frozen=True)
class Stored:
    """Some batches of a file, one after the other, of the schema: so many rows and bytes."""

    file: EventFile
    schema: Any
    batches: tuple[int, ...]
    rows: int
    size: int

    def tables(self) -> Iterator[Any]:
        for number in self.batches:
            yield pa.Table.from_batches([self.file.batch(number)], self.schema)

    def whole(self) -> Any:
        return _joined(self.schema, self.tables())

    def first(self, rows: int) -> Any:
        """Not more than so many."""
        found, left = [], rows
        for table in self.tables() if rows else ():
            found.append(table.slice(0, left))
            left -= found[-1].num_rows
            if not left:
                break
        return _joined(self.schema, found)

    def close(self) -> None:
        self.file.close()


class Scattering:
    """Rows that are divided among so many parts, in one file."""

    def __init__(self, file: EventFile, schema: Any, many: int) -> None:
        self._file, self._schema = file, schema
        self._batches: list[list[int]] = [[] for _ in range(many)]
        self._rows, self._sizes = [0] * many, [0] * many

    def add(self, lengths: Iterable[int], table: Any) -> None:
        """The rows of a table, so many of which are the first part's, then the second's, and so on. Raises
        DiskError.
        """
        low = 0
        for part, length in enumerate(lengths):
            if length:
                own = table.slice(low, length)
                low += length
                self._batches[part] += self._file.add(own)
                self._rows[part], self._sizes[part] = self._rows[part] + length, self._sizes[part] + own.nbytes

    def parts(self) -> list[Stored]:
        found = zip(self._batches, self._rows, self._sizes, strict=True)
        return [Stored(self._file, self._schema, tuple(batches), rows, size) for batches, rows, size in found]


@dataclass(frozen=True)
class InMemory:
    """A table in memory, as events on disk are."""

    table: Any

    @property
    def rows(self) -> int:
        return int(self.table.num_rows)

    @property
    def size(self) -> int:
        return int(self.table.nbytes)

    def tables(self) -> Iterator[Any]:
        yield self.table

    def whole(self) -> Any:
        return self.table


PartSource = Stored | InMemory


def in_chunks(tables: Iterable[Any], rows: int) -> Iterator[Any]:
    """The same rows in tables of so many; the last may have less."""
    waiting: list[Any] = []
    many = 0
    for table in tables:
        left = table
        while many + left.num_rows >= rows:
            waiting.append(left.slice(0, rows - many))
            yield pa.concat_tables(waiting)
            left, waiting, many = left.slice(rows - many), [], 0
        if left.num_rows:
            waiting.append(left)
            many += left.num_rows
    if waiting:
        yield pa.concat_tables(waiting)


def _joined(schema: Any, tables: Iterable[Any]) -> Any:
    found = list(tables)
    return pa.concat_tables(found).combine_chunks() if found else schema.empty_table()


def _failed(error: OSError) -> DiskError:
    try:
        folder = tempfile.gettempdir()
    except OSError:
        folder = "the temporary folder"
    return DiskError(folder, error)
