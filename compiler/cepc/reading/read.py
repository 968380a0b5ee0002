"""Events from files to one table, and from tables that a caller has."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cepc_runtime.types import STRING, is_integer, to_arrow

from ..errors import DataError
from . import messages, readers
from .find import find_files
from .reader import Columns, NotThisFormatError, Reader, Wanted
from .text_values import BadValueError, from_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_runtime.plan import StreamPlan

    from .files import DataFile


@dataclass(frozen=True, slots=True)
class Read:
    """Events that were read.

    `table` has the columns that the plan reads, in its order and types. Rows of types for which no query asks are left
    out, except those that are dropped for a null: they are in `rows`, the number of all. `types` says how often each
    occurs, None where the stream has no type column.
    """

    table: Any
    rows: int
    files: int
    types: Mapping[str, int] | None
    warnings: tuple[Diagnostic, ...] = ()


def read_events(
    path: str,
    stream: StreamPlan,
    declared: Columns,
    form: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Read:
    """The events at a path: a file, a directory, or `-` for standard input. Raises DataError.

    The columns of all files are checked before the first event is read. `progress` is called with the bytes read so far
    and how many there are.
    """
    reader, files = find_files(path, form)
    wanted = Wanted(stream.name, stream.columns, declared)
    _check(reader, files, wanted)
    collected = _Collected(stream)
    total, before = sum(file.size for file in files), 0
    keys: set[str] = set()
    for file in files:
        inside = wanted.without([name for name, _ in file.partitions])
        constants = _constants(file, stream)
        for batch in reader.batches(file, inside):
            keys |= batch.keys
            if batch.table is not None:
                collected.add(_with(batch.table, constants, stream.columns))
            if progress is not None:
                progress(before + batch.done, total)
        before += file.size
    absent = _absent(reader, files, wanted, keys, stream) if collected.rows else ()
    return replace(collected.read(), files=len(files), warnings=absent)


def _check(reader: Reader, files: tuple[DataFile, ...], wanted: Wanted) -> None:
    """Each problem once, with the first file that has it."""
    found: dict[tuple[str, str], list[Diagnostic]] = {}
    for file in files:
        inside = wanted.without([name for name, _ in file.partitions])
        try:
            problems = reader.problems(file, inside)
        except NotThisFormatError:
            others = [name for name in readers.names() if name != reader.name]
            raise DataError([messages.another_format(file.name, reader.title, others)]) from None
        for problem in problems:
            found.setdefault((problem.code, problem.title), []).append(problem)
    if found:
        raise DataError([_once(same) for same in found.values()])


def _once(same: list[Diagnostic]) -> Diagnostic:
    first, *others = same
    if not others:
        return first
    more = "1 more file" if len(others) == 1 else f"{len(others)} more files"
    return replace(first, notes=(*first.notes, f"it is so in {more}"))


def collect(stream: StreamPlan, table: Any) -> Read:
    """A table with the plan's columns and types as events that were read."""
    collected = _Collected(stream)
    collected.add(table)
    return collected.read()


# ---- columns from the names of folders -------------------------------------------------------------------------------


def _constants(file: DataFile, stream: StreamPlan) -> dict[str, Any]:
    """The plan's columns that the folders name, each as a scalar."""
    import pyarrow as pa

    types = dict(stream.columns)
    found = {}
    for name, value in file.partitions:
        if name in types:
            try:
                found[name] = from_text(pa.array([value], pa.string()), types[name])[0]
            except (BadValueError, pa.ArrowNotImplementedError):
                said = f"`{value}` in the name of a folder"
                raise DataError([messages.other_type(file.name, name, types[name], said, stream.name)]) from None
    return found


def _with(table: Any, constants: dict[str, Any], columns: Columns) -> Any:
    import pyarrow as pa

    if not constants:
        return table
    values = [
        pa.repeat(constants[name], table.num_rows) if name in constants else table.column(name) for name, _ in columns
    ]
    return pa.table(values, [name for name, _ in columns])


# ---- collecting ------------------------------------------------------------------------------------------------------


class _Collected:
    """The batches so far, without the rows that no query and no count asks for."""

    def __init__(self, stream: StreamPlan) -> None:
        import pyarrow as pa

        self.rows = 0
        self._stream = stream
        self._schema = pa.schema([pa.field(name, to_arrow(type_)) for name, type_ in stream.columns])
        self._tables: list[Any] = []
        self._types: Counter[str] = Counter()
        type_ = dict(stream.columns).get(stream.type_column) if stream.type_column is not None else None
        # The types of other columns are compared as Spark writes them as strings: that is for the runtime to do.
        self._typed = type_ is not None and (type_ == STRING or is_integer(type_))

    def add(self, table: Any) -> None:
        self.rows += table.num_rows
        self._tables.append(self._filtered(table) if self._typed else table)

    def _filtered(self, table: Any) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        kinds = pa.chunked_array(table.column(self._stream.type_column)).cast(pa.string()).combine_chunks()
        kinds = (kinds if isinstance(kinds, pa.Array) else pa.concat_arrays(kinds.chunks)).dictionary_encode()
        names, counts = kinds.dictionary.to_pylist(), pc.value_counts(kinds.indices)
        for index, count in zip(counts.field(0).to_pylist(), counts.field(1).to_pylist(), strict=True):
            if index is not None:
                self._types[names[index]] += count
        wanted = self._stream.raw_types
        if wanted is None or set(names) <= set(wanted):
            return table
        keep = pc.fill_null(pc.take(pc.is_in(kinds.dictionary, pa.array(wanted, pa.string())), kinds.indices), True)
        no_time = pc.is_null(table.column(self._stream.time_column))
        return table.filter(pc.or_(keep, no_time))

    def read(self) -> Read:
        import pyarrow as pa

        table = (
            pa.concat_tables([t.cast(self._schema) for t in self._tables])
            if self._tables
            else self._schema.empty_table()
        )
        return Read(table, self.rows, 0, dict(self._types) if self._typed else None)


# ---- columns that never occur where there is no schema ---------------------------------------------------------------


def _absent(
    reader: Reader, files: tuple[DataFile, ...], wanted: Wanted, keys: set[str], stream: StreamPlan
) -> tuple[Diagnostic, ...]:
    """A missing key is null; a column that no line has is an error where without it there are no events."""
    folders = {name for file in files for name, _ in file.partitions}
    absent = [(name, type_) for name, type_ in wanted.columns if name not in keys | folders]
    if not absent or reader.keys_of is None:
        return ()
    file = next((f for f in files if f.size), files[0])
    have = reader.keys_of(file)
    needed = {stream.time_column, stream.type_column}
    errors = [
        messages.missing_column(file.name, name, type_, wanted.stream, have) for name, type_ in absent if name in needed
    ]
    if errors:
        raise DataError(errors)
    return tuple(messages.column_never_occurs(file.name, name, type_, wanted.stream, have) for name, type_ in absent)
