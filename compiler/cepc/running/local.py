"""The local engine: everything in this process, no Spark and no JVM."""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.parts.resources import ONE_THREAD, Resources

from ..errors import ProgramError, RunError
from ..model import type_of
from ..passes import SHARING
from ..passes.engine import EngineModel
from ..passes.strategy import strategy
from ..passes.worth import worth_planning
from ..planning import plan_program
from ..reading.messages import type_never_occurs
from ..shared_plans import Options, as_planned, share
from ..statistics import Statistics
from . import messages
from .computable import look_at_functions
from .loading import Loading, RowsAsEvents
from .stages import Stages
from .written import written_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.source import Source, Span
    from cepc_runtime.batch import Execution
    from cepc_runtime.kernel.run import Effort
    from cepc_runtime.plan.physical import PhysicalPlan
    from cepc_runtime.plan.stream import StreamPlan

    from .. import model
    from ..passes.rates import Rates
    from ..passes.workload import Workload
    from ..planning.logical import LogicalPlan
    from ..reading.read import Read

SAMPLE: Final = 20_000
"""So many events tell how frequent they are."""

LOOKED_AT: Final = 1_000_000
"""So many events say why a query has no rows."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a run gave: for each query, in the order of the program, its rows in order; and what became of the events.
    `program` has these queries over the streams that they were planned over.

    `efforts` is what was done for the queries of each stream, and `workloads` what they were planned to share; Spark's
    workers tell no efforts. `without_time` and `without_type` are rows that were no events, and so many bad records
    were `passed_over`. `read` and `files` are None where Spark read them: it does not count what it leaves out.
    `reads` are the events of each stream; from Spark some of them, of streams with a query that has no rows.
    """

    program: model.CheckedProgram
    tables: dict[str, Any]
    read: int | None
    files: int | None
    without_time: int
    without_type: int
    warnings: tuple[Diagnostic, ...]
    passed_over: int = 0
    efforts: Mapping[str, Effort] = field(default_factory=dict)
    workloads: tuple[Workload, ...] = ()
    reads: Mapping[str, Read] = field(default_factory=dict)

    @property
    def dropped(self) -> str:
        """How many rows were no events; empty where all were."""
        counts = ((self.without_time, "time"), (self.without_type, "type"))
        found = " and ".join(f"{count:,} without a {what}" for count, what in counts if count)
        return f"dropped {found}" if found else ""

    @property
    def shared(self) -> tuple[int, int]:
        """Of the events that several queries could share, how many were propagated once for all, and how many for
        each.
        """
        efforts = self.efforts.values()
        return sum(effort.events_shared for effort in efforts), sum(effort.events_split for effort in efforts)


class UnknownQueryError(ValueError):
    """A query was asked for that the program does not have."""


def choose(program: model.CheckedProgram, names: Sequence[str] | None) -> model.CheckedProgram:
    """The program with the queries of these names only; with all of them for None. Raises UnknownQueryError, for no
    names, too, and ProgramError where there is no query at all.
    """
    from ..diagnostics.listed import listed
    from ..diagnostics.near import did_you_mean

    if not program.queries:
        raise ProgramError([messages.nothing_to_run("QUERY", "write one; `cepc explain W0007` shows a small program")])
    if names is None:
        return program
    known = [query.name for query in program.queries]
    if not names:
        raise UnknownQueryError(
            f"no query is asked for: name some of {', '.join(f'`{k}`' for k in known)}, or give None for all"
        )
    for name in names:
        if name not in known:
            each = [part.strip() for part in name.split(",")]
            if set(each) <= set(known):
                quoted = listed([f"`{part}`" for part in each], "and")
                raise UnknownQueryError(f"there is no query `{name}`; name each by itself, {quoted}")
            near = did_you_mean(name, known) or f"there are {', '.join(f'`{k}`' for k in known)}"
            raise UnknownQueryError(f"there is no query `{name}`; {near}")
    return replace(program, queries=tuple(query for query in program.queries if query.name in names))


def streams_read(program: model.CheckedProgram) -> list[model.Stream]:
    """The streams that some query reads, or one whose rows are events of it."""
    used = {stream.name for query in program.with_needed.queries for stream in program.members(query.stream)}
    return [stream for stream in program.streams if stream.name in used and stream.query is None]


def run(
    program: model.CheckedProgram,
    load: Callable[[model.Stream, StreamPlan], Read],
    sources: Mapping[str, Source],
    running: Callable[[int], Callable[[float], None]] = lambda _events: lambda _fraction: None,
    options: Options | None = None,
    stages: Stages | None = None,
    resources: Resources = ONE_THREAD,
) -> Report:
    """Run the program's queries, of which there is one at least, on the events that `load` gives for each stream.

    `running` is called with the number of events before the queries of a stream begin, and gives what is to be told the
    fraction of their work that is done. `stages` learns how long each took. The report is the same on any number of
    threads, and in any memory. Raises ProgramError, DataError and RunError; `sources` are the program's texts, for what
    these show.
    """
    from cepc_runtime.parts.at_once import at_once

    from ..writing.order import first_columns

    options, stages = options or Options(), stages or Stages()
    asked = program
    with stages("planning"):
        program = as_planned(program.with_needed, options)
        planned = plan_program(program)
    if not planned.plans:
        raise ProgramError(planned.diagnostics, sources)
    with results_said(program.queries, sources):
        look_at_functions(planned.plans)
    warnings = list(planned.diagnostics)
    executed = []
    rows = RowsAsEvents(load, resources)
    loading = Loading(program, [plan.stream for plan in planned.plans], rows, resources)
    for plan in planned.plans:
        stream = program.stream(plan.stream.name)
        with _disks_said(), closing_on_error(loading):
            with stages("reading events"):
                read = loading.events(plan.stream)
            warnings += [*read.warnings, *types_that_never_occur(program, stream, program.queries, read)]
            with _closed_in_the_end(read):
                with stages("deciding what to share"):
                    workload = share_for(program, plan, read, options)
                with stages("finding matches"):
                    physical = strategy(workload.plan, "local")
                    tell = running(read.rows)
                    execution = execute_plan(physical, read, program.queries, sources, tell, resources)
                is_empty = any(not table.num_rows for table in execution.tables.values())
                executed.append((_with_the_first(read, is_empty), workload, execution.effort))
                rows.found(execution.tables)
                if not stream.members:
                    loading.dropped[stream.name] = execution.dropped
                del execution  # its tables are let go one by one, as they are sorted
    with stages("sorting rows"), _disks_said():
        names = [query.name for query in asked.queries]
        first = [first_columns(query, asked.stream(query.stream)) for query in asked.queries]
        sorts = [partial(_in_order, rows, name, resources, by) for name, by in zip(names, first, strict=True)]
        ordered = dict(zip(names, at_once(sorts, resources.threads), strict=True))
    read_here = [read for name, read in loading.read.items() if program.stream(name).query is None]
    return Report(
        program=replace(program, queries=tuple(query for query in program.queries if query.name in ordered)),
        tables=ordered,
        read=sum(read.rows for read in read_here),
        files=sum(read.files for read in read_here),
        without_time=sum(dropped.null_time for dropped in loading.dropped.values()),
        without_type=sum(dropped.null_type for dropped in loading.dropped.values()),
        warnings=tuple(warnings),
        passed_over=sum(read.passed_over for read in loading.read.values()),
        efforts={workload.plan.stream.name: effort for _, workload, effort in executed},
        workloads=tuple(workload for _, workload, _ in executed),
        reads={workload.plan.stream.name: read for read, workload, _ in executed},
    )


def _in_order(rows: RowsAsEvents, query: str, resources: Resources, first: Sequence[str]) -> Any:
    from ..writing.order import in_order

    return in_order(rows.taken(query), resources.sorting, first)


@contextmanager
def _disks_said() -> Iterator[None]:
    """Raises RunError where what does not fit into memory cannot be kept on disk."""
    from cepc_runtime.parts.on_disk import DiskError

    try:
        yield
    except DiskError as error:
        raise RunError([messages.not_on_disk(error.folder, error.error)]) from None


@contextmanager
def closing_on_error(loading: Loading) -> Iterator[None]:
    try:
        yield
    except BaseException:
        loading.close()
        raise


@contextmanager
def _closed_in_the_end(read: Read) -> Iterator[None]:
    """Events on disk are there no longer than they are needed."""
    from cepc_runtime.parts.on_disk import Stored

    try:
        yield
    finally:
        if isinstance(read.table, Stored):
            read.table.close()


def _with_the_first(read: Read, is_empty: bool) -> Read:
    """Of events on disk those that are looked at to say why a query is empty, if one is."""
    from cepc_runtime.parts.on_disk import Stored

    if not isinstance(read.table, Stored):
        return read
    return replace(read, table=read.table.first(LOOKED_AT + 1 if is_empty else 0))


def share_for(program: model.CheckedProgram, plan: LogicalPlan, read: Read, options: Options) -> Workload:
    """The plan with what its queries share on these events, of which the first say how frequent they are unless that is
    known. Without a budget of the user's it is no more than what can pay on these events.
    """
    own = options.seconds is not None and options.optimiser is None
    if own and options.passes() and not worth_planning(plan, read.rows, SAMPLE, EngineModel()):
        text = "did nothing: with so few events, planning would cost more than it saves"
        alone = replace(options, level=1, without=(*options.without, *SHARING))
        return share(program, plan, alone)[0].noted("choose", (), text)
    if options.passes() and len(plan.queries) > 1 and plan.stream.name not in options.statistics:
        from cepc_runtime.sql.evaluate.errors import EvaluationError

        from ..statistics.measure import measure

        with suppress(EvaluationError):  # running the plan says which query it is about
            known = {plan.stream.name: measure(plan, _first(read, SAMPLE))}
            options = replace(options, statistics={**options.statistics, **known})
    deadline = None if options.seconds is None else time.monotonic() + options.seconds
    lasting = _lasting(options.statistics.get(plan.stream.name), read.rows) if own else None
    return share(program, plan, options, deadline, lasting=lasting)[0]


def _first(read: Read, rows: int) -> Any:
    from cepc_runtime.parts.on_disk import Stored

    return read.table.first(rows) if isinstance(read.table, Stored) else read.table.slice(0, rows)


def _lasting(known: Rates | None, events: int) -> float | None:
    """About how many seconds so many events last, if events were counted."""
    if not isinstance(known, Statistics) or not known.events or known.seconds <= 0:
        return None
    return known.seconds * events / known.events


def execute_plan(
    plan: PhysicalPlan,
    read: Read,
    queries: Iterable[model.Query],
    sources: Mapping[str, Source],
    tell: Callable[[float], None] = lambda _fraction: None,
    resources: Resources = ONE_THREAD,
) -> Execution:
    """The plan's result on events that were read. Raises RunError."""
    from cepc_runtime.batch import execute

    with results_said(queries, sources):
        return execute(plan, read.table, resources=resources, tell=tell)


@contextmanager
def results_said(queries: Iterable[model.Query], sources: Mapping[str, Source]) -> Iterator[None]:
    """Raises RunError where one of the queries has no result on the events."""
    from cepc_runtime.enumerate.budget import TooManyPartialMatchesError
    from cepc_runtime.results.as_columns import ResultOverflowError, WindowEdgeError
    from cepc_runtime.sql.evaluate.errors import EvaluationError

    places: dict[str, Span] = {query.name: query.span for query in queries}
    try:
        yield
        return
    except ResultOverflowError as error:
        problem = messages.overflow(error, written_in(places[error.query], sources, error.aggregate))
    except TooManyPartialMatchesError as error:
        problem = messages.too_many_matches(error, places[error.listed.query])
    except EvaluationError as error:
        casts = any("CAST" in source.text.upper() for source in sources.values())
        place = written_in(places[error.query], sources, error.expression)
        problem = messages.no_value(error, place, casts=casts)
    except WindowEdgeError as error:
        problem = messages.edge_overflow(error, places[error.query])
    raise RunError([problem], sources)


def types_that_never_occur(
    program: model.CheckedProgram, stream: model.Stream, queries: Iterable[model.Query], read: Read
) -> list[Diagnostic]:
    """Where the program lists the types, a wrong name is an error; where it does not, the events have to tell."""
    if stream.types is not None or read.types is None or not read.rows:
        return []
    told = {type_of(one.name, "") for one in program.members(stream.name) if one.types is None and one.type_column}
    asked: dict[str, Span] = {}
    for query in queries:
        if query.stream == stream.name:
            for variable in query.variables:
                type_ = variable.test.raw_type
                if type_ is not None and (not stream.members or any(map(type_.startswith, told))):
                    asked.setdefault(type_, variable.span)
    occur = sorted({*read.types, *read.timeless})
    return [type_never_occurs(type_, place, occur) for type_, place in asked.items() if type_ not in occur]
