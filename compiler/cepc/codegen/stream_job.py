"""What a job needs to know of a stream: what Spark does before the kernel, and what is left for the kernel."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.events.letter_words import word_letters, words_needed
from cepc_runtime.parts.classes import Class, classes_of
from cepc_runtime.plan.columns_read import beside_read
from cepc_runtime.plan.physical import PhysicalPlan
from cepc_runtime.plan.strategy import is_native
from cepc_runtime.sql.spark_sql import to_sql
from cepc_runtime.sql.types import STRING, is_orderable, quote_name

from ..passes.strategy import strategy
from ..planning.event_sql import column_of
from ..planning.needs import columns_needed
from ..statistics import Statistics
from .hot import hot_groupings
from .lag_letters import parted
from .rare import with_able

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cepc_runtime.plan.strategy import NativeQuery
    from cepc_runtime.plan.stream import Beside, Letter, StreamPlan
    from cepc_runtime.sql.computed import StreamInput
    from cepc_runtime.sql.expression import Expression

    from .. import model
    from ..passes.rates import Rates
    from ..planning.logical import LogicalPlan

RESERVED: Final = re.compile(
    r"_class|_pane|_segment|_window|_bucket|_letters_\d+|_aggregate_\d+|_able_.*|_input_.*|_cepc_.*"
)
"""Columns that a job makes for itself."""

ALWAYS: Final = "TRUE"

Labels: TypeAlias = tuple[tuple[str, str], ...]
"""Of a query: names, and what they say."""


class ReservedColumnError(ValueError):
    """The stream has a column of a name that the job needs."""

    def __init__(self, column: str, stream: model.Stream) -> None:
        super().__init__(column, stream)
        self.column, self.stream = column, stream


@dataclass(frozen=True, slots=True)
class LetterSql:
    """The events of a type (None: of any) for which the condition is true."""

    type: str | None
    condition: str


@dataclass(frozen=True, slots=True)
class BesideSql:
    """A column that is of other events: its SQL over all of them, and the queries that ask for it."""

    name: str
    sql: str
    queries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StreamJob:
    """`input` is what Spark reads and what it computes of it, `read` are the columns that it has then, and `passed`
    those that reach the kernel, beside the letters. `beside` are columns that are of other events. `plan` is that of a
    stream, `batch` that of a batch, `kernel` that of the workers in a batch: its letters are decided, and it is without
    the queries that Spark answers alone. `labels` are those of each query that has some. With columns
    `beside`, `known` is what a stream knows of each letter as an event comes, and `lags` a plan without queries: all
    columns but those with LEAD, and what is left of each letter.
    """

    stream: model.Stream
    plan: PhysicalPlan
    batch: PhysicalPlan
    kernel: PhysicalPlan
    letters: tuple[LetterSql, ...]
    input: StreamInput
    read: tuple[str, ...]
    passed: tuple[str, ...]
    classes: tuple[Class, ...]
    labels: tuple[tuple[str, Labels], ...]
    beside: tuple[BesideSql, ...]
    known: tuple[LetterSql, ...]
    lags: PhysicalPlan | None

    @property
    def native(self) -> tuple[NativeQuery, ...]:
        return tuple(query for query in self.batch.queries if is_native(query))


def stream_job(
    stream: model.Stream, plan: LogicalPlan, rates: Rates | None = None, labels: Mapping[str, Labels] | None = None
) -> StreamJob:
    """`rates` say how the events are spread over groups, as far as it is known; `labels` are those of the queries that
    have some. Raises ReservedColumnError.
    """
    rates = rates or Statistics()
    words = [f"_letters_{i}" for i in range(words_needed(len(plan.letters)))]
    check_names(stream)
    untyped = replace(stream, type_column=None)
    passed = columns_needed(untyped, (), plan.queries)
    types = dict(plan.stream.columns)
    batch = strategy(plan, "batch")
    others = tuple(query for query in batch.queries if not is_native(query))
    kernel_stream = replace(
        plan.stream,
        columns=tuple(c for c in plan.stream.columns if c[0] in passed),
        all_columns=(*plan.stream.all_columns, *words),
        type_column=None,
        single_type=stream.name,
        raw_types=None,
        beside=(),
    )
    letters = parted(plan.letters, plan.stream.beside)
    return StreamJob(
        stream=stream,
        plan=strategy(plan, "stream"),
        batch=batch,
        kernel=replace(batch, stream=kernel_stream, letters=word_letters(len(plan.letters), words), queries=others),
        letters=tuple(letter_sql(letter, stream) for letter in plan.letters),
        input=stream.input.needed(types),
        beside=tuple(_other(column, plan) for column in plan.stream.beside),
        read=tuple(name for name, _ in plan.stream.given),
        passed=tuple(name for name in types if name in passed),
        classes=with_able(
            classes_of(others, cut=plan.stream.unit, hot=hot_groupings(plan, rates)), others, plan, rates
        ),
        labels=tuple((query.name, labels[query.name]) for query in plan.queries if labels and query.name in labels),
        known=tuple(letter_sql(known, stream) for known, _ in letters) if plan.stream.beside else (),
        lags=_lags(plan, kernel_stream, tuple(left for _, left in letters)) if plan.stream.beside else None,
    )


def _lags(plan: LogicalPlan, kernel: StreamPlan, left: tuple[Letter, ...]) -> PhysicalPlan:
    lags = tuple(column for column in plan.stream.beside if column.places < 0)
    columns = (*plan.stream.given, *((column.name, column.type) for column in lags))
    return PhysicalPlan(replace(kernel, columns=columns, beside=lags), left, ())


def check_names(stream: model.Stream) -> None:
    """Raises ReservedColumnError."""
    for name, _ in (*stream.input.columns, *stream.columns):
        if RESERVED.fullmatch(name.lower()):
            raise ReservedColumnError(name, stream)


def _other(column: Beside, plan: LogicalPlan) -> BesideSql:
    """Canonical order is Spark's own: nulls first, and columns of a type without order take no part."""
    stream = plan.stream
    keys = f"PARTITION BY {_names(column.partition)} " if column.partition else ""
    ordered = (name for name, type_ in stream.columns if name in stream.all_columns and is_orderable(type_))
    order = dict.fromkeys((stream.time_column, *stream.order_by, *ordered))
    function = "LAG" if column.places < 0 else "LEAD"
    sql = f"{function}({quote_name(column.column)}, {abs(column.places)}) OVER ({keys}ORDER BY {_names(order)})"
    asking = (query.name for query in plan.queries if beside_read(query, plan.letters, (column,)))
    return BesideSql(column.name, sql, tuple(asking))


def _names(columns: Iterable[str]) -> str:
    return ", ".join(map(quote_name, columns))


def type_text(stream: model.Stream, type_column: str) -> str:
    """The event type as SQL; it is compared as a string."""
    column = quote_name(type_column)
    return column if stream.column_types[type_column] == STRING else f"CAST({column} AS STRING)"


def letter_sql(letter: Letter, stream: model.Stream) -> LetterSql:
    """Conditions are evaluated on events of the letter's type alone."""
    tests = [_sql(condition) for condition in letter.conditions]
    tests += [f"NOT COALESCE({_all(excluded)}, FALSE)" for excluded in letter.excluded]
    return LetterSql(None if stream.type_column is None else letter.raw_type, _joined(tests))


def _joined(tests: list[str]) -> str:
    return " AND ".join(tests) if tests else ALWAYS


def _all(conditions: tuple[Expression, ...]) -> str:
    return f"({_joined([_sql(c) for c in conditions])})"


def _sql(condition: Expression) -> str:
    return to_sql(condition, column_of)
