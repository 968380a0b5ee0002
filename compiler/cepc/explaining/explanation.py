"""What the queries over one stream share, what that is expected to cost, and what each pass had to say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from typing import Literal as OneOf

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.streaming.size import state_size

from ..passes.engine import load
from ..passes.strategy import strategy
from ..planning.logical import is_countable
from ..shared_plans import in_streams, loads
from ..statistics import Statistics
from .automata import drawn, places, state_names
from .describe import window
from .joined import joined
from .obstacles import obstacles
from .sketches import conditions_of, end_of, sketch_of_pattern, sketch_of_states
from .strategies import explained
from .stream_state import behind, stream_state

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cepc_runtime.plan.sharing import SharedStates
    from cepc_runtime.plan.windows import Window
    from cepc_runtime.streaming.size import QuerySize

    from .. import model
    from ..passes.engine import Load
    from ..passes.workload import Context, Note, Workload
    from ..planning.logical import Countability, CountableQuery, LogicalPlan, LogicalQuery
    from ..shared_plans import SharedPlans
    from .automata import Drawn
    from .sketches import Sketch
    from .strategies import StrategyExplanation

How = OneOf["kept once", "side by side", "on basis columns", "found once"]


@dataclass(frozen=True, slots=True)
class SharedPart:
    """States that queries share, and the names that the first of the queries has for them. What is found once are the
    matches of a common part of patterns.
    """

    how: How
    queries: tuple[str, ...]
    states: tuple[str, ...]
    members: tuple[tuple[str, ...], ...]  # each query's own names


@dataclass(frozen=True, slots=True)
class QueryExplanation:
    """How a query's rows are found: by its automaton, or by listing its matches along the places of its pattern, or
    over parts of it.

    `sketch` is what is drawn of the query, `states` the automaton, the places or the parts in the same form.
    `strategy` is that of this process and of a stream, `batch` that of Spark over all events. `load` is what it would
    cost by itself, for a query with an automaton. `window_text` says the window. `state` is what it keeps as a stream,
    None if it cannot be one, and `keeps` says it.
    """

    query: str
    automaton: Drawn | None
    places: Drawn | None
    sketch: Sketch
    states: Sketch
    strategy: StrategyExplanation
    batch: StrategyExplanation
    load: Load
    window: Window
    window_text: str
    state: QuerySize | None
    keeps: tuple[str, ...]
    labels: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Of one stream. Loads are of a second of the stream, as the engine's cost model expects them; `assumed`: nothing
    is known of how frequent events are. `rows` are the streams of rows that it stands for, each with its query.
    """

    stream: str
    executions: tuple[QueryExplanation, ...]
    parts: tuple[SharedPart, ...]
    alone: Load
    together: Load
    notes: tuple[Note, ...]
    obstacles: tuple[str, ...]
    assumed: bool
    rows: tuple[tuple[str, str], ...]

    @property
    def title(self) -> str:
        """The stream, and where its events come from if these are rows."""
        of = (f"the rows of {q}" if name == self.stream else f"{name} has the rows of {q}" for name, q in self.rows)
        return ": ".join(filter(None, (self.stream, ", ".join(of))))


@dataclass(frozen=True, slots=True)
class _AsStream:
    """A query as one of a stream of Spark's: over which, what it keeps (None: it cannot be one), and how far the stream
    is behind the watermark, as `stream_state` has it.
    """

    stream: model.Stream
    size: QuerySize | None
    behind: int | None


def explain(program: model.CheckedProgram, shared: SharedPlans) -> tuple[Explanation, ...]:
    """An explanation of each stream that has queries."""
    as_streams = _as_streams(program, in_streams(program, shared).plans)
    return tuple(
        _explanation(shared.program, workload, context, as_streams)
        for workload, context in zip(shared.workloads, shared.contexts, strict=True)
    )


def _as_streams(program: model.CheckedProgram, plans: Sequence[LogicalPlan]) -> dict[str, _AsStream]:
    rows_behind = behind(program, plans)
    found: dict[str, _AsStream] = {}
    for plan in plans:
        stream, sizes = program.stream(plan.stream.name), state_size(strategy(plan, "stream"))
        by_query = {size.query: size for size in sizes}
        found |= {q.name: _AsStream(stream, by_query.get(q.name), rows_behind[stream.name]) for q in plan.queries}
    return found


def _explanation(
    program: model.CheckedProgram, workload: Workload, context: Context, as_streams: Mapping[str, _AsStream]
) -> Explanation:
    plan, stream = workload.plan, program.stream(workload.plan.stream.name)
    alone, together = loads(workload, context)
    here, batch = strategy(plan, "local"), strategy(plan, "batch")
    of_parts = {name: found for one in joined(workload) for name, found in one.drawn}
    asked = {query.name: query for query in program.queries}
    rows = tuple((one.name, one.query.name) for one in program.members(stream.name) if one.query is not None)
    around = _Around(stream, workload, context, as_streams, of_parts)
    return Explanation(
        plan.stream.name,
        tuple(
            _execution(asked[query.name], query, (explained(local), explained(on_spark)), around)
            for query, local, on_spark in zip(plan.queries, here.queries, batch.queries, strict=True)
        ),
        parts(workload),
        alone,
        together,
        workload.notes,
        obstacles(program, workload),
        context.rates == Statistics(),
        rows,
    )


def parts(workload: Workload) -> tuple[SharedPart, ...]:
    """What its queries share."""
    plan = workload.plan
    found = (
        SharedPart("found once", users, (label,), ((label,),) * len(users))
        for one in joined(workload)
        for label, users in zip(one.labels, one.users, strict=True)
        if len(users) > 1
    )
    names = {query.name: _names(query) for query in plan.queries if is_countable(query)} if plan.sharing else {}
    return (*(_part(part, names) for part in plan.sharing), *found)


@dataclass(frozen=True, slots=True)
class _Around:
    """What queries of a stream are explained with: each as one of a stream of Spark's, and drawings of what is joined,
    by names of queries.
    """

    stream: model.Stream
    workload: Workload
    context: Context
    as_streams: Mapping[str, _AsStream]
    of_parts: Mapping[str, Drawn]


def _execution(
    asked: model.Query,
    query: LogicalQuery[Countability],
    strategies: tuple[StrategyExplanation, StrategyExplanation],
    around: _Around,
) -> QueryExplanation:
    """`strategies` are that of this process, and that of Spark over all events."""
    automaton, own, of_parts = drawn(query), around.as_streams[query.name], around.of_parts.get(query.name)
    single = replace(around.workload.plan, queries=(query,), sharing=())
    context, stream = around.context, around.stream
    alone = load(single, context.rates, context.model, context.second)
    states_of = automaton or of_parts or places(query)
    shown = window(query, stream)
    keeps = tuple(stream_state(own.size, query, own.stream, own.behind))
    sketch, states = _sketches(asked, stream, automaton, of_parts, states_of)
    here, on_spark = strategies
    return QueryExplanation(
        query=query.name,
        automaton=automaton,
        places=None if automaton else states_of,
        sketch=sketch,
        states=states,
        strategy=here,
        batch=on_spark,
        load=alone,
        window=query.window,
        window_text=shown,
        state=own.size,
        keeps=keeps,
        labels=asked.labels,
    )


def _sketches(
    query: model.Query, stream: model.Stream, automaton: Drawn | None, of_parts: Drawn | None, states_of: Drawn
) -> tuple[Sketch, Sketch]:
    """What is drawn of a query, and its states. Where matches are made of those of parts that several queries have, the
    parts are drawn in both.
    """
    end = end_of(query, stream)
    last = " AND ".join(condition.text for condition in conditions_of(query))
    states = sketch_of_states(states_of, end, last if of_parts and not automaton else "")
    return (states if of_parts and not automaton else sketch_of_pattern(query, stream, automaton)), states


def _part(part: SharedStates, names: Mapping[str, Sequence[str]]) -> SharedPart:
    members = tuple(tuple(names[m.query][state] for state in m.states) for m in part.members)
    how: How = "kept once" if part.equal else "on basis columns" if part.basis else "side by side"
    return SharedPart(how, tuple(m.query for m in part.members), members[0], members)


def _names(query: CountableQuery) -> tuple[str, ...]:
    return state_names(query.automaton)
