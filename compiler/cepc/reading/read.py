"""Events from files to one table, and from tables that a caller has."""

from __future__ import annotations

from collections import Counter
from dataclasses import field, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.parts.at_once import at_once, in_turn
from cepc_runtime.parts.resources import ONE_THREAD
from cepc_runtime.sql.types import STRING, is_integer, to_arrow

from ..errors import DataError
from . import messages, readers
from .bad_records import STOP, BadRecord, BadRecords
from .computing import InputRows, with_computed
from .find import check_content, find_files
from .reader import ColumnTypes, NotThisFormatError, Reader, Wanted
from .text_values import BadValueError, from_text
from .uses import uses_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_runtime.numbers.columns import Ints
    from cepc_runtime.parts.on_disk import EventFile
    from cepc_runtime.parts.resources import Resources
    from cepc_runtime.plan.stream import StreamPlan
    from cepc_runtime.sql.computed import StreamInput

    from .bad_records import Said, Treatment, Wrong
    from .files import DataFile, EventSource
    from .find import FoundFiles
    from .reader import Batch

ROWS: Final = 1 << 16
"""Fewer rows of a table are no sooner read by a thread of their own."""
AT_ONCE: Final = 1 << 20
"""So many rows of a query are made events at once."""
SAID: Final = 3
"""Of so many rows of a query it is said why they are no events."""


@dataclass(frozen=True, slots=True)
class Read:
    """Events that were read.

    `table` has the columns that the plan reads, in its order and types; it is `Stored` where it does not fit into
    memory. Rows of types for which no query asks are left out, except those that are dropped for a null: they are in
    `rows`, the number of all. `types` says how often each occurs among rows with a time, None where the stream has no
    type column; `timeless`, how often among those without one. Records that are no events were `passed_over`, and are
    counted nowhere else.
    """

    table: Any
    rows: int
    files: int
    types: Mapping[str, int] | None
    warnings: tuple[Diagnostic, ...] = ()
    passed_over: int = 0
    timeless: Mapping[str, int] = field(default_factory=dict)


def read_events(
    source: EventSource,
    stream: StreamPlan,
    given: StreamInput,
    progress: Callable[[int, int], None] | None = None,
    treatment: Treatment = STOP,
    keep: Callable[[Any], None] | None = None,
    resources: Resources = ONE_THREAD,
) -> Read:
    """The events of a file, of a directory, or of standard input. With `keep` they are given to that, batch by batch,
    and are not in what is returned. Raises DataError, and DiskError where events do not fit into memory.

    `given` says which columns the files have, and what is computed of them. The columns of all files are checked before
    the first event is read. `progress` is called with the bytes read so far and how many there are; `treatment` says
    what becomes of records that are no events. What is read is the same on any number of threads.
    """
    needed = given.needed([name for name, _ in stream.given])
    (reader, files, warnings), wanted = _checked(source, stream, given, needed)
    collected = _Collected(stream, needed, keep, resources)
    certain = {given.source_of(name) for name in (stream.time_column, stream.type_column) if name is not None}
    try:
        read = _read(reader, files, wanted, collected, progress, treatment, certain)
        return replace(read, warnings=(*warnings, *read.warnings))
    except BaseException:
        collected.close()
        raise


def check_columns(source: EventSource, stream: StreamPlan, given: StreamInput) -> None:
    """Those of all files, as `read_events` does, which then reads. Raises DataError."""
    _checked(source, stream, given, given.needed([name for name, _ in stream.given]))


def _checked(
    source: EventSource, stream: StreamPlan, given: StreamInput, needed: StreamInput
) -> tuple[FoundFiles, Wanted]:
    found = find_files(source)
    encoded = next((name for name, type_ in needed.columns if name == stream.type_column and type_ == STRING), None)
    wanted = Wanted(stream.name, needed.columns, given.columns, encoded=encoded, uses=uses_of(stream, given, needed))
    _check(found.reader, found.files, wanted)
    return found, wanted


def _read(
    reader: Reader,
    files: tuple[DataFile, ...],
    wanted: Wanted,
    collected: _Collected,
    progress: Callable[[int, int], None] | None,
    treatment: Treatment,
    certain: Collection[str | None],
) -> Read:
    total, before = sum(file.size for file in files), 0
    keys: set[str] = set()
    cut: dict[str, str] = {}
    bad = BadRecords(wanted.stream, treatment)
    for file in files:
        without = wanted.without([name for name, _ in file.partitions])
        inside = replace(without, most=bad.most, threads=collected.threads)
        constants = _constants(file, wanted)
        wrong: list[Wrong] = []
        collected.begin(file.name)

        def placed(batch: Batch, constants: dict[str, Any] = constants) -> InputRows | None:
            if batch.table is None:
                return None
            return collected.placed(_with(batch.table, constants, wanted.columns), batch.numbers)

        def kept_of(one: tuple[Batch, InputRows | None]) -> _Kept | None:
            return None if one[1] is None else collected.kept(one[1], bad.most)

        batches = ((batch, placed(batch)) for batch in reader.batches(file, inside))
        for (batch, _), kept in in_turn(batches, kept_of, collected.threads):
            keys |= batch.keys
            cut = dict.fromkeys(batch.cut, file.name) | cut
            wrong += batch.wrong
            if kept is not None:
                wrong += collected.add(kept)
            if bad.most is not None and len(wrong) >= bad.most:
                break
            if progress is not None:
                progress(before + batch.done, total)
        bad.take(wrong, partial(reader.shown, file))
        before += file.size
    warnings = (*bad.end(), *(messages.nanoseconds(name, column) for column, name in cut.items()))
    absent = _absent(reader, files, wanted, keys, certain) if collected.rows else ()
    return replace(collected.read(), files=len(files), warnings=(*absent, *warnings), passed_over=bad.count)


def _check(reader: Reader, files: tuple[DataFile, ...], wanted: Wanted) -> None:
    """Each problem once, with the first file that has it."""
    found: dict[tuple[str, str], list[Diagnostic]] = {}
    for file in files:
        inside = wanted.without([name for name, _ in file.partitions])
        check_content(reader, file)
        try:
            problems = reader.problems(file, inside)
        except NotThisFormatError:
            others = [other.name for other in readers.READERS if other is not reader]
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


def collect(stream: StreamPlan, needed: StreamInput, table: Any, treatment: Treatment = STOP, threads: int = 1) -> Read:
    """A table with the columns needed of the input, in their types, as events that were read."""
    collected, bad = _Collected(stream, needed), BadRecords(stream.name, treatment)
    every = [collected.placed(part, None) for part in _ranges(table, threads)]
    found = at_once([partial(collected.kept, rows, bad.most) for rows in every], threads)
    if len(found) > 1 and any(kept.wrong for kept in found):  # which is said first, all rows decide together
        return collect(stream, needed, table, treatment)
    wrong = [said for kept in found for said in collected.add(kept)]
    bad.take(wrong, lambda wrong: (BadRecord("", one) for one in wrong))
    warnings = bad.end()
    return replace(collected.read(), warnings=warnings, passed_over=bad.count)


def read_rows(table: Any, stream: StreamPlan, given: StreamInput, resources: Resources = ONE_THREAD) -> Read:
    """The rows of a query as the events of a stream. Raises DataError where a column of one cannot be computed, of the
    first few.
    """
    import pyarrow as pa

    needed = given.needed([name for name, _ in stream.given])
    schema = pa.schema([pa.field(name, to_arrow(type_)) for name, type_ in needed.columns])
    collected = _Collected(stream, needed, resources=resources)
    try:
        table = table.select(schema.names)
        parts = (table.slice(low, AT_ONCE).cast(schema) for low in range(0, table.num_rows, AT_ONCE))
        placed = (collected.placed(part, None) for part in parts)
        for _, kept in in_turn(placed, lambda rows: collected.kept(rows, SAID), resources.threads):
            if wrong := collected.add(kept):
                first = sorted(wrong, key=lambda one: one.record)[:SAID]
                raise DataError([one.problem for one in first])
        return collected.read()
    except BaseException:
        collected.close()
        raise


# ---- columns from the names of folders -------------------------------------------------------------------------------


def _constants(file: DataFile, wanted: Wanted) -> dict[str, Any]:
    """The wanted columns that the folders name, each as a scalar."""
    import pyarrow as pa

    types = dict(wanted.columns)
    found = {}
    for name, value in file.partitions:
        if name in types:
            try:
                found[name] = from_text(pa.array([value], pa.string()), types[name])[0]
            except (BadValueError, pa.ArrowNotImplementedError):
                raise DataError([messages.other_folder(file.name, name, types[name], value, wanted.stream)]) from None
    return found


def _with(table: Any, constants: dict[str, Any], columns: ColumnTypes) -> Any:
    import pyarrow as pa

    if not constants:
        return table
    values = [
        pa.repeat(constants[name], table.num_rows) if name in constants else table.column(name) for name, _ in columns
    ]
    return pa.table(values, [name for name, _ in columns])


# ---- collecting ------------------------------------------------------------------------------------------------------


def _ranges(table: Any, threads: int) -> list[Any]:
    """The rows in as many parts as there are threads, if these are large."""
    pieces = max(min(threads, table.num_rows // ROWS), 1)
    bounds = [table.num_rows * i // pieces for i in range(pieces + 1)]
    return [table.slice(low, high - low) for low, high in pairwise(bounds)]


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is kept of some rows, how often each type occurs in them, with a time and without one, and what is wrong
    with those that can be no events, because a column of them cannot be computed.
    """

    table: Any
    types: Counter[str]
    timeless: Counter[str]
    wrong: list[Said]


class _Collected:
    """The batches so far, without the rows that no query and no count asks for; of the others columns are computed."""

    def __init__(
        self,
        stream: StreamPlan,
        needed: StreamInput,
        keep: Callable[[Any], None] | None = None,
        resources: Resources = ONE_THREAD,
    ) -> None:
        import pyarrow as pa

        self.rows, self.threads = 0, resources.threads
        self._wrong = 0
        self._stream = stream
        first = needed.needed([name for name in (stream.time_column, stream.type_column) if name is not None]).computed
        self._first, self._then = first, tuple(column for column in needed.computed if column not in first)
        self._columns = [name for name, _ in stream.given]
        self._file, self._rows_before = "", 0
        self._schema = pa.schema([pa.field(name, to_arrow(type_)) for name, type_ in stream.given])
        self._held = HeldEvents(self._schema, resources)
        self._keep = self._held.add if keep is None else keep
        self._types: Counter[str] = Counter()
        self._timeless: Counter[str] = Counter()
        type_ = dict(stream.columns).get(stream.type_column) if stream.type_column is not None else None
        # The types of other columns are compared as Spark writes them as strings: that is for the runtime to do.
        self._typed = type_ is not None and (type_ == STRING or is_integer(type_))

    def begin(self, file: str) -> None:
        self._file, self._rows_before = file, self.rows

    def placed(self, table: Any, numbers: Ints | None) -> InputRows:
        """The next rows of the file; without numbers they follow each other."""
        first = self.rows - self._rows_before + 1
        self.rows += table.num_rows
        following = range(first, first + table.num_rows)
        return InputRows(self._stream.name, self._file, table, following if numbers is None else numbers)

    def kept(self, placed: InputRows, most: int | None) -> _Kept:
        """What is to be added of some rows: several threads may look at some at once."""
        rows, wrong = with_computed(placed, self._first, most)
        kinds = self._kinds(rows.table)
        types, timeless = self._counted(rows.table, kinds)
        asked = None if kinds is None else self._asked_for(rows.table, kinds)
        if not self._then:  # and nobody asks for the numbers of records
            table = rows.table if asked is None else rows.table.filter(asked)
            return _Kept(table.select(self._columns).cast(self._schema), types, timeless, wrong)
        asking = rows if asked is None else rows.where(asked)
        rows, more = with_computed(asking, self._then, most)
        if more:
            asked_types, asked_timeless = self._counted(asking.table, self._kinds(asking.table))
            good_types, good_timeless = self._counted(rows.table, self._kinds(rows.table))
            types, timeless = types - (asked_types - good_types), timeless - (asked_timeless - good_timeless)
        return _Kept(rows.table.select(self._columns).cast(self._schema), types, timeless, wrong + more)

    def add(self, kept: _Kept) -> list[Said]:
        """What is wrong."""
        self._keep(kept.table)
        self._types.update(kept.types)
        self._timeless.update(kept.timeless)
        self._wrong += len(kept.wrong)
        return kept.wrong

    def _kinds(self, table: Any) -> Any:
        """The types of rows, encoded; None where they are not counted."""
        return _encoded(table.column(self._stream.type_column)) if self._typed else None

    def _counted(self, table: Any, kinds: Any) -> tuple[Counter[str], Counter[str]]:
        """How often each type occurs with a time, and without one."""
        import pyarrow.compute as pc

        times = table.column(self._stream.time_column)
        if kinds is None:
            return Counter(), Counter()
        if not times.null_count:
            return _occurring(kinds.dictionary, kinds.indices), Counter()
        no_time = pc.is_null(times)
        with_time, without = (kinds.indices.filter(mask) for mask in (pc.invert(no_time), no_time))
        return _occurring(kinds.dictionary, with_time), _occurring(kinds.dictionary, without)

    def _asked_for(self, table: Any, kinds: Any) -> Any:
        """Which rows are of a type that some query asks for, or lack a time or a type; None: all of them."""
        import pyarrow as pa
        import pyarrow.compute as pc

        wanted = self._stream.raw_types
        if wanted is None or set(kinds.dictionary.to_pylist()) <= set(wanted):
            return None
        keep = pc.fill_null(pc.take(pc.is_in(kinds.dictionary, pa.array(wanted, pa.string())), kinds.indices), True)
        return pc.or_(keep, pc.is_null(table.column(self._stream.time_column)))

    def read(self) -> Read:
        types = dict(self._types) if self._typed else None
        return Read(self._held.end(), self.rows - self._wrong, 0, types, timeless=dict(self._timeless))

    def close(self) -> None:
        self._held.close()


def _occurring(dictionary: Any, indices: Any) -> Counter[str]:
    import pyarrow.compute as pc

    names, counts = dictionary.to_pylist(), pc.value_counts(indices)
    occur = zip(counts.field(0).to_pylist(), counts.field(1).to_pylist(), strict=True)
    return Counter({names[index]: count for index, count in occur if index is not None})


def _encoded(column: Any) -> Any:
    """A column of strings or integers as one array of strings with a dictionary."""
    import pyarrow as pa

    column = pa.chunked_array(column)
    if not pa.types.is_dictionary(column.type):
        column = column.cast(pa.string()).dictionary_encode()
    column = column.combine_chunks()
    return column if isinstance(column, pa.Array) else pa.concat_arrays(column.unify_dictionaries().chunks)


class HeldEvents:
    """Events in memory or, as soon as they do not fit, all of them on disk."""

    def __init__(self, schema: Any, resources: Resources) -> None:
        self._schema, self._resources = schema, resources
        self._tables: list[Any] = []
        self._file: EventFile | None = None
        self._rows, self._size = 0, 0

    def add(self, table: Any) -> None:
        from cepc_runtime.parts.on_disk import EventFile

        self._rows, self._size = self._rows + table.num_rows, self._size + table.nbytes
        self._tables.append(table)
        if self._file is None and self._resources.parts(self._rows, self._size) > 1:
            self._file = EventFile(self._schema)
        if self._file is not None:
            for one in self._tables:
                self._file.add(one)
            self._tables.clear()

    def end(self) -> Any:
        """A table, or `Stored` ones."""
        import pyarrow as pa

        from cepc_runtime.parts.on_disk import Stored

        if self._file is not None:
            return Stored(self._file, self._schema, tuple(range(self._file.count)), self._rows, self._size)
        return pa.concat_tables(self._tables) if self._tables else self._schema.empty_table()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


# ---- columns that never occur where there is no schema ---------------------------------------------------------------


def _absent(
    reader: Reader, files: tuple[DataFile, ...], wanted: Wanted, keys: set[str], certain: Collection[str | None]
) -> tuple[Diagnostic, ...]:
    """A missing key is null; a column that no line has is an error if it is `certain` that there are no events then."""
    folders = {name for file in files for name, _ in file.partitions}
    absent = [(name, type_) for name, type_ in wanted.columns if name not in keys | folders]
    if not absent or reader.keys_of is None:
        return ()
    file = next((f for f in files if f.size), files[0])
    have = reader.keys_of(file)
    errors = [
        messages.missing_column(file.name, name, type_, wanted.stream, have, wanted.uses)
        for name, type_ in absent
        if name in certain
    ]
    if errors:
        raise DataError(errors)
    return tuple(messages.column_never_occurs(file.name, name, type_, wanted.stream, have) for name, type_ in absent)
