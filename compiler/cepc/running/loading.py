"""The events of each plan: each declared stream is read once, whichever plans want it, and those of a query over
several are merged; the rows of queries are the events of others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cepc_runtime.parts.resources import ONE_THREAD

from .. import model
from ..errors import DataError
from ..planning.plan import member_plan, stream_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_runtime.events.grouped import Dropped
    from cepc_runtime.parts.resources import Resources
    from cepc_runtime.plan.stream import StreamPlan
    from cepc_runtime.sql.computed import Computed

    from ..reading.read import Read

    LoadEvents = Callable[[model.Stream, StreamPlan], Read]


class RowsAsEvents:
    """Loads the events of streams: of the rows of a query that has run, or else as `load` does."""

    def __init__(self, load: LoadEvents, resources: Resources = ONE_THREAD) -> None:
        self._load, self._resources = load, resources
        self._rows: dict[str, Any] = {}

    def found(self, tables: Mapping[str, Any]) -> None:
        """The rows of queries."""
        self._rows |= tables

    def taken(self, query: str) -> Any:
        """The rows of a query, which are nobody's events any more."""
        return self._rows.pop(query)

    def __call__(self, stream: model.Stream, plan: StreamPlan) -> Read:
        from ..reading.read import read_rows
        from ..writing.order import in_order

        if stream.query is None:
            return self._load(stream, plan)
        rows = self._rows[stream.query.name]
        try:
            return read_rows(rows, plan, stream.input, self._resources)
        except DataError:  # of the same rows on any number of threads
            return read_rows(in_order(rows, self._resources.sorting), plan, stream.input)


class Loading:
    """Reads what plans want, in their order."""

    def __init__(
        self,
        program: model.CheckedProgram,
        plans: Iterable[StreamPlan],
        load: LoadEvents,
        resources: Resources = ONE_THREAD,
    ) -> None:
        self._program, self._load, self._resources = program, load, resources
        self._wanted: dict[str, list[StreamPlan]] = {}
        self._waiting: dict[str, int] = {}
        self._held: dict[str, Read] = {}
        self.read: dict[str, Read] = {}
        self.dropped: dict[str, Dropped] = {}
        for plan in plans:
            for stream, own in _wanted(program, plan):
                self._wanted.setdefault(stream.name, []).append(own)
                self._waiting[stream.name] = self._waiting.get(stream.name, 0) + 1

    def events(self, plan: StreamPlan) -> Read:
        """Raises DataError, and DiskError. A declared stream's warnings come with the first plan that wants it."""
        stream = self._program.stream(plan.name)
        if stream.members:
            return self._merged(stream, plan)
        read = self._of_stream(stream)
        if len(self._wanted[stream.name]) == 1:
            return read
        try:
            return self._narrowed(read, plan)
        finally:
            self._done(stream)

    def close(self) -> None:
        """Events on disk that another plan would have wanted are there no longer."""
        for read in self._held.values():
            _close(read)
        self._held.clear()

    def _of_stream(self, stream: model.Stream) -> Read:
        if stream.name in self._held:
            return replace(self._held[stream.name], warnings=())
        wanted = self._wanted[stream.name]
        columns = {name for plan in wanted for name, _ in plan.given}
        some = (
            None if any(plan.raw_types is None for plan in wanted) else {t for p in wanted for t in p.raw_types or ()}
        )
        read = self._load(stream, stream_plan(stream, columns, None if some is None else tuple(sorted(some))))
        self.read[stream.name] = read
        if len(wanted) > 1:
            self._held[stream.name] = read
        return read

    def _done(self, stream: model.Stream) -> None:
        self._waiting[stream.name] -= 1
        if not self._waiting[stream.name]:
            _close(self._held.pop(stream.name))

    def _narrowed(self, read: Read, plan: StreamPlan) -> Read:
        """Of what several plans want what one does."""
        names = [name for name, _ in plan.given]
        held = self._holding(plan)
        for table in _tables(read.table):
            held.add(table.select(names))
        return replace(read, table=held.end())

    def _merged(self, stream: model.Stream, plan: StreamPlan) -> Read:
        """The events of several streams, with what each has in the columns of all."""
        from cepc_runtime.events.grouped import Dropped

        held = self._holding(plan)
        found: list[tuple[model.Stream, Read]] = []
        try:
            for member in stream.members:
                declared = self._program.stream(member.stream)
                read = self._of_stream(declared)
                wanted = member.needed([name for name, _ in plan.given])
                dropped = Dropped()
                for table in _tables(read.table):
                    held.add(project(table, wanted, plan))
                    dropped += _dropped(table, declared)
                self.dropped[declared.name] = dropped
                found.append((declared, replace(read, table=None)))
                if declared.name in self._held:
                    self._done(declared)
                else:
                    _close(read)
        except BaseException:
            held.close()
            raise
        return together(found, held.end())

    def _holding(self, plan: StreamPlan) -> Any:
        import pyarrow as pa

        from cepc_runtime.sql.types import to_arrow

        from ..reading.read import HeldEvents

        return HeldEvents(pa.schema([pa.field(name, to_arrow(type_)) for name, type_ in plan.given]), self._resources)


def _wanted(program: model.CheckedProgram, plan: StreamPlan) -> list[tuple[model.Stream, StreamPlan]]:
    """The declared streams that a plan wants, and what it wants of each."""
    stream = program.stream(plan.name)
    if not stream.members:
        return [(stream, plan)]
    return [(program.stream(member.stream), member_plan(program, member, plan)) for member in stream.members]


def of_streams(program: model.CheckedProgram, plans: Iterable[StreamPlan]) -> dict[str, StreamPlan]:
    """What all plans together want of each declared stream."""
    found: dict[str, list[StreamPlan]] = {}
    for plan in plans:
        for stream, own in _wanted(program, plan):
            found.setdefault(stream.name, []).append(own)
    return {name: plans[0] if len(plans) == 1 else _whole(program.stream(name), plans) for name, plans in found.items()}


def _whole(stream: model.Stream, plans: Iterable[StreamPlan]) -> StreamPlan:
    columns = {name for plan in plans for name, _ in plan.given}
    types = tuple(sorted({type_ for plan in plans for type_ in plan.raw_types or ()}))
    every = any(plan.raw_types is None for plan in plans)
    return stream_plan(stream, columns, None if every else types)


def project(table: Any, columns: Iterable[Computed], plan: StreamPlan) -> Any:
    """A table of one of several streams with the columns of all, in the plan's order."""
    import pyarrow as pa

    from cepc_runtime.numbers.columns import flat
    from cepc_runtime.sql.evaluate import evaluate
    from cepc_runtime.sql.expression import Field, Literal, fields
    from cepc_runtime.sql.types import to_arrow

    types, found = dict(plan.given), {}
    for column in columns:
        type_ = to_arrow(types[column.name])
        match column.expression:
            case Field(_, name):
                found[column.name] = table.column(name)
            case Literal(None):
                found[column.name] = pa.nulls(table.num_rows, type_)
            case expression:
                values = {field.key: flat(table.column(field.column)) for field in fields(expression)}
                found[column.name] = evaluate(expression, values, table.num_rows)
        found[column.name] = found[column.name].cast(type_)
    return pa.table([found[name] for name, _ in plan.given], [name for name, _ in plan.given])


def together(found: Iterable[tuple[model.Stream, Read]], table: Any) -> Read:
    """What was read of several streams as what was read of one."""
    from ..reading.read import Read

    reads = list(found)
    types: dict[str, int] = {}
    timeless: dict[str, int] = {}
    for stream, read in reads:
        for into, counts in ((types, read.types), (timeless, read.timeless)):
            into |= {model.type_of(stream.name, name): count for name, count in (counts or {}).items()}
    warnings: tuple[Diagnostic, ...] = tuple(warning for _, read in reads for warning in read.warnings)
    return Read(
        table,
        sum(read.rows for _, read in reads),
        sum(read.files for _, read in reads),
        types,
        warnings,
        sum(read.passed_over for _, read in reads),
        timeless,
    )


def _dropped(table: Any, stream: model.Stream) -> Dropped:
    """How many rows of a stream are no events, as `events.grouped.read` says."""
    import pyarrow.compute as pc

    from cepc_runtime.events.grouped import Dropped

    time = table.column(stream.time.column)
    without = time.null_count
    if stream.type_column is None or not table.column(stream.type_column).null_count:
        return Dropped(without, 0)
    typeless = pc.and_(pc.is_null(table.column(stream.type_column)), pc.is_valid(time))
    return Dropped(without, int(pc.sum(typeless).as_py() or 0))


def _tables(table: Any) -> Iterable[Any]:
    from cepc_runtime.parts.on_disk import Stored

    return table.tables() if isinstance(table, Stored) else (table,)


def _close(read: Read) -> None:
    from cepc_runtime.parts.on_disk import Stored

    if isinstance(read.table, Stored):
        read.table.close()
