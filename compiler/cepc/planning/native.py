"""Native aggregation: a query over single events that Spark answers without the kernel, first by panes, then by
windows.

A pane is as long as the greatest common divisor of WITHIN and SLIDE, so that every window is a whole number of panes
and an event is looked at once, in however many windows it counts. Imports no numpy, like all that plans.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_runtime.plan.strategy import Fitting, Native, NativeAggregate
from cepc_runtime.plan.windows import Sessions, Sliding
from cepc_runtime.sql.aggregate_texts import aggregate_text, cure
from cepc_runtime.sql.expression import Aggregate, Field, aggregates
from cepc_runtime.sql.spark_sql import to_sql
from cepc_runtime.sql.types import BIGINT, DATE, TIMESTAMP, DataType, is_integer

from .event_sql import column_of, ticks

if TYPE_CHECKING:
    from cepc_runtime.plan.query import QueryPlan
    from cepc_runtime.plan.stream import StreamPlan
    from cepc_runtime.sql.aggregate_functions import NativeSql

    from .logical import CountableQuery


def native_aggregation(query: CountableQuery, stream: StreamPlan) -> Native | None:
    """How Spark alone answers the query, or None where its result would not be the kernel's to the last bit."""
    automaton = query.automaton
    time = dict(stream.columns)[stream.time_column]
    guarded = automaton.ties or automaton.moves or automaton.new_moves or automaton.kills
    if isinstance(query.window, Sessions) or len(automaton.steps) != 1 or automaton.accepting != (1,) or guarded:
        return None
    if not (time in (TIMESTAMP, DATE) or is_integer(time)):
        return None
    shown = [output.expression for output in query.outputs] + ([query.having] if query.having is not None else [])
    found = list(dict.fromkeys(a for expression in shown for a in aggregates(expression)))
    natives = {aggregate: native for aggregate in found if (native := _native(aggregate)) is not None}
    if len(natives) < len(found):
        return None
    names = {aggregate: f"_aggregate_{i}" for i, aggregate in enumerate(found)}
    start, end = _edges(query, time)
    window = query.window

    def named(leaf: Field | Aggregate) -> str:
        return names[leaf] if isinstance(leaf, Aggregate) else leaf.column

    return Native(
        letter=automaton.steps[0].letter,
        pane=_pane(stream, time, query),
        windows=window if isinstance(window, Sliding) and not window.is_pane else None,
        edges=(start, end),
        aggregates=tuple(_aggregate(a, natives[a], name, _fitting(query, a)) for a, name in names.items()),
        having=None if query.having is None else to_sql(query.having, named),
        outputs=(
            *((o.name, to_sql(o.expression, named)) for o in query.outputs),
            ("window_start", start),
            ("window_end", end),
        ),
    )


def _native(aggregate: Aggregate) -> NativeSql | None:
    """Its SQL, where Spark computes it exactly as the kernel does."""
    native = aggregate.function.native
    fits = native is not None and (aggregate.argument is None or native.of(aggregate.argument.type))
    return native if fits else None


# ---- from events to panes, from panes to windows ---------------------------------------------------------------------


def _aggregate(aggregate: Aggregate, native: NativeSql, name: str, fitting: Fitting | None) -> NativeAggregate:
    argument = aggregate.argument
    text, type_ = ("1", BIGINT) if argument is None else (to_sql(argument, column_of), argument.type)
    return NativeAggregate(name, native.of_events(text, type_), native.of_panes(name), fitting)


def _pane(stream: StreamPlan, time: DataType, query: QueryPlan) -> str:
    """Where the pane of an event begins; one pane holds everything where one window does."""
    if not isinstance(query.window, Sliding):
        return "0L"
    return query.window.pane_sql(ticks(stream, time))


def _edges(query: QueryPlan, time: DataType) -> tuple[str, str]:
    if not isinstance(query.window, Sliding):
        return (f"CAST(NULL AS {time.sql})",) * 2
    ends = "_window", query.window.end_sql("_window")
    if time == TIMESTAMP:
        return f"TIMESTAMP_MICROS({ends[0]})", f"TIMESTAMP_MICROS({ends[1]})"
    if time == DATE:
        return f"DATE_FROM_UNIX_DATE(CAST({ends[0]} AS INT))", f"DATE_FROM_UNIX_DATE(CAST({ends[1]} AS INT))"
    return f"CAST({ends[0]} AS {time.sql})", f"CAST({ends[1]} AS {time.sql})"


# ---- results ---------------------------------------------------------------------------------------------------------


def _fitting(query: QueryPlan, aggregate: Aggregate) -> Fitting | None:
    """Where Spark computes in a wider type than the query's: what does not fit is null, or an error with the words of
    the kernel.
    """
    function, argument = aggregate.function, aggregate.argument
    if function.counts and aggregate.type == BIGINT:
        return None
    if not (function.of_any_size and function.is_whole(None if argument is None else argument.type)):
        return None
    said = f"query {query.name}: {aggregate_text(aggregate)} does not fit {aggregate.type.sql}"
    of_outputs = [one for output in query.outputs if aggregate in aggregates(one := output.expression)]
    of_having = [] if of_outputs or query.having is None else [query.having]
    return Fitting(aggregate.type.sql, None if aggregate.safe else said, cure(aggregate, of_outputs or of_having))
