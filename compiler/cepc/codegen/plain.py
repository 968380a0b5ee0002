"""Plain aggregates over single events: a query that Spark answers without the kernel, first by panes, then by windows.

A pane is as long as the greatest common divisor of WITHIN and SLIDE, so that every window is a whole number of panes and an event
is looked at once, in however many windows it counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING, Final

from cepc_runtime.expression import Aggregate, Field, aggregates
from cepc_runtime.literal import string_literal
from cepc_runtime.results import aggregate_text, cure
from cepc_runtime.sql import to_sql
from cepc_runtime.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    TIMESTAMP,
    DataType,
    Decimal,
    is_float,
    is_integer,
    is_numeric,
    quote_name,
)

if TYPE_CHECKING:
    from cepc_runtime.plan import QueryPlan, StreamPlan

WIDEST: Final = 18
"""Digits of a DECIMAL of which so many can be added, twice, within 38 digits that no input is long enough."""


@dataclass(frozen=True, slots=True)
class Part:
    """An aggregate as Spark computes it: of the events of a pane, then of the panes of a window, then in its type."""

    name: str
    of_events: str
    of_panes: str
    value: str


@dataclass(frozen=True, slots=True)
class Plain:
    """The query in Spark's SQL. `windows` is None where panes are the windows."""

    letter: int
    keys: tuple[str, ...]
    pane: str
    windows: str | None
    parts: tuple[Part, ...]
    having: str | None
    outputs: tuple[tuple[str, str], ...]


def plain(query: QueryPlan, stream: StreamPlan) -> Plain | None:
    """How Spark alone answers the query, or None where it takes the kernel."""
    automaton = query.automaton
    time = dict(stream.columns)[stream.time_column]
    if (
        query.kind != "aggregate" or automaton is None or len(automaton.steps) != 1 or automaton.accepting != (1,)
        or automaton.ties or automaton.moves or automaton.new_moves or automaton.kills
        or not (time in (TIMESTAMP, DATE) or is_integer(time))
    ):  # fmt: skip
        return None
    shown = [output.expression for output in query.outputs] + ([query.having] if query.having is not None else [])
    found = list(dict.fromkeys(a for expression in shown for a in aggregates(expression)))
    if not all(map(_is_plain, found)):
        return None
    names = {aggregate: f"_aggregate_{i}" for i, aggregate in enumerate(found)}
    start, end = _edges(query, time)

    def named(leaf: Field | Aggregate) -> str:
        return names[leaf] if isinstance(leaf, Aggregate) else leaf.column

    return Plain(
        letter=automaton.steps[0].letter,
        keys=query.group_by,
        pane=_pane(stream, time, query),
        windows=_windows(query),
        parts=tuple(_part(a, name, _value(query, a, name, start, end)) for a, name in names.items()),
        having=None if query.having is None else to_sql(query.having, named),
        outputs=(
            *((o.name, to_sql(o.expression, named)) for o in query.outputs),
            ("window_start", start),
            ("window_end", end),
        ),
    )


def _is_plain(aggregate: Aggregate) -> bool:
    """Does Spark compute it exactly as the kernel does? An average of integers or decimals it rounds on the way."""
    argument = aggregate.argument
    if argument is None:
        return True
    match aggregate.function:
        case "count":
            return True
        case "sum":
            return is_integer(argument.type) or is_float(argument.type) or _is_narrow(argument.type)
        case "avg":
            return is_float(argument.type)
        case "min" | "max":
            return (
                is_numeric(argument.type)
                or argument.type in (BOOLEAN, DATE, TIMESTAMP)
                or argument.type.sql == "STRING"
            )
    return False


def _is_narrow(type_: DataType) -> bool:
    return isinstance(type_, Decimal) and type_.precision <= WIDEST


# ---- from events to panes, from panes to windows ---------------------------------------------------------------------


def _part(aggregate: Aggregate, name: str, value: str) -> Part:
    if aggregate.argument is None:
        return Part(name, "COUNT(1)", f"SUM({name})", value)
    argument = to_sql(aggregate.argument, column_of)
    match aggregate.function:
        case "count":
            return Part(name, f"COUNT({argument})", f"SUM({name})", value)
        case "min" | "max" as function:
            return Part(name, f"{function.upper()}({argument})", f"{function.upper()}({name})", value)
        case "avg":
            pair = f"NAMED_STRUCT('sum', SUM({argument}), 'count', COUNT({argument}))"
            return Part(name, pair, f"SUM({name}.sum) / NULLIF(SUM({name}.count), 0)", value)
    if aggregate.argument.type == BIGINT:  # its sums may pass 64 bits on the way
        argument = f"CAST({argument} AS DECIMAL(20,0))"
    return Part(name, f"SUM({argument})", f"SUM({name})", value)


def _ticks(stream: StreamPlan, time: DataType) -> str:
    column = quote_name(stream.time_column)
    if time == TIMESTAMP:
        return f"UNIX_MICROS({column})"
    return f"UNIX_DATE({column})" if time == DATE else f"CAST({column} AS BIGINT)"


def _pane(stream: StreamPlan, time: DataType, query: QueryPlan) -> str:
    """Where the pane of an event begins; one pane holds everything where one window does."""
    if query.within is None:
        return "0L"
    length = gcd(query.within, query.slide or query.within)
    ticks = _ticks(stream, time)
    return f"{ticks} - PMOD({ticks}, {length}L)"


def _windows(query: QueryPlan) -> str | None:
    """The starts of the windows that the pane `_pane` lies in, as an array."""
    if query.within is None or query.slide in (None, query.within):
        return None
    assert query.slide is not None
    most = (query.within - 1) // query.slide
    pane = gcd(query.within, query.slide)
    starts = f"TRANSFORM(SEQUENCE(0, {most}), i -> _pane - PMOD(_pane, {query.slide}L) - i * {query.slide}L)"
    return f"FILTER({starts}, w -> w + {query.within}L >= _pane + {pane}L)"


def _edges(query: QueryPlan, time: DataType) -> tuple[str, str]:
    if query.within is None:
        return (f"CAST(NULL AS {time.sql})",) * 2
    ends = "_window", f"_window + {query.within}L"
    if time == TIMESTAMP:
        return f"TIMESTAMP_MICROS({ends[0]})", f"TIMESTAMP_MICROS({ends[1]})"
    if time == DATE:
        return f"DATE_FROM_UNIX_DATE(CAST({ends[0]} AS INT))", f"DATE_FROM_UNIX_DATE(CAST({ends[1]} AS INT))"
    return f"CAST({ends[0]} AS {time.sql})", f"CAST({ends[1]} AS {time.sql})"


# ---- results ---------------------------------------------------------------------------------------------------------


def _value(query: QueryPlan, aggregate: Aggregate, name: str, start: str, end: str) -> str:
    """The aggregate in its type; what does not fit is null, or an error with the words of the kernel."""
    if aggregate.function == "count" and aggregate.type == BIGINT:
        return name
    exact = aggregate.argument is not None and not is_float(aggregate.argument.type)
    if aggregate.function != "count" and not (aggregate.function == "sum" and exact):
        return name
    fitting = f"TRY_CAST({name} AS {aggregate.type.sql})"
    if aggregate.safe:
        return fitting
    error = _error(query, aggregate, start, end)
    return f"CASE WHEN {name} IS NULL OR {fitting} IS NOT NULL THEN {fitting} ELSE RAISE_ERROR({error}) END"


def _error(query: QueryPlan, aggregate: Aggregate, start: str, end: str) -> str:
    said = string_literal(f"query {query.name}: {aggregate_text(aggregate)} does not fit {aggregate.type.sql} in ")
    window = "'the whole input'"
    if query.within is not None:
        window = f"'the window from ', CAST({start} AS STRING), ' to ', CAST({end} AS STRING)"
    group = ", ', ', ".join(
        f"{string_literal(f'{key} = ')}, COALESCE(CAST({quote_name(key)} AS STRING), 'None')" for key in query.group_by
    )
    where = f", ' for ', {group}" if group else ""
    return f"CONCAT({said}, {window}{where}, {string_literal(f'; {cure(aggregate)}')})"


def column_of(leaf: Field | Aggregate) -> str:
    """The column of a field of the event at hand."""
    name = getattr(leaf, "column", None)
    assert isinstance(name, str), leaf
    return name
