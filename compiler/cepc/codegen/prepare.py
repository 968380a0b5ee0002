"""What a job needs to know of a stream: what Spark does before the kernel, and what is left for the kernel."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from cepc_runtime.letter_words import word_letters, words_needed
from cepc_runtime.plan import List
from cepc_runtime.spark.share import Class, classes_of
from cepc_runtime.sql import to_sql
from cepc_runtime.types import STRING, quote_name

from ..planning.needs import columns_needed
from .plain import column_of, plain

if TYPE_CHECKING:
    from cepc_runtime.expression import Expression
    from cepc_runtime.plan import Letter, Plan, QueryPlan
    from cepc_runtime.spark.share import Groupings

    from .. import model

RESERVED: Final = re.compile(r"_class|_pane|_segment|_window|_letters_\d+|_aggregate_\d+")
"""Columns that a job makes for itself."""

ALWAYS: Final = "TRUE"


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
class StreamJob:
    """`read` are the columns that Spark reads and `passed` those that reach the kernel, beside the letters. `kernel` is the plan with
    letters already decided, without the queries of `plain`, which Spark answers alone.
    """

    stream: model.Stream
    plan: Plan
    kernel: Plan
    plain: tuple[QueryPlan, ...]
    letters: tuple[LetterSql, ...]
    read: tuple[str, ...]
    passed: tuple[str, ...]
    classes: tuple[Class, ...]


def prepare(stream: model.Stream, plan: Plan, hot: Groupings = frozenset()) -> StreamJob:
    """`hot` are the GROUP BYs that have a group of many events. Raises ReservedColumnError."""
    words = [f"_letters_{i}" for i in range(words_needed(len(plan.letters)))]
    for name, _ in stream.columns:
        if RESERVED.fullmatch(name.lower()):
            raise ReservedColumnError(name, stream)
    untyped = replace(stream, type_column=None)
    passed = columns_needed(untyped, (), plan.queries)
    types = dict(plan.stream.columns)
    simple = tuple(q for q in plan.queries if plain(q, plan.stream) is not None)
    others = tuple(q for q in plan.queries if q not in simple)
    kernel_stream = replace(
        plan.stream,
        columns=tuple(c for c in plan.stream.columns if c[0] in passed),
        all_columns=(*plan.stream.all_columns, *words),
        type_column=None,
        single_type=stream.name,
        raw_types=None,
    )
    kept = tuple(_without_reason(query) for query in others)
    return StreamJob(
        stream=stream,
        plan=plan,
        kernel=replace(plan, stream=kernel_stream, letters=word_letters(len(plan.letters), words), queries=kept),
        plain=simple,
        letters=tuple(letter_sql(letter, stream) for letter in plan.letters),
        read=tuple(types),
        passed=tuple(name for name in types if name in passed),
        classes=classes_of(others, cut=plan.stream.unit, hot=hot),
    )


def _without_reason(query: QueryPlan) -> QueryPlan:
    """Why matches are listed is for people, and no engine reads it."""
    return replace(query, strategy=List(query.strategy.prefixes)) if isinstance(query.strategy, List) else query


def type_text(stream: model.Stream) -> str:
    """The event type as SQL; it is compared as a string."""
    assert stream.type_column is not None
    column = quote_name(stream.type_column)
    return column if dict(stream.columns)[stream.type_column] == STRING else f"CAST({column} AS STRING)"


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
