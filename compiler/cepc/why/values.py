"""Events, conditions and their values as text."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from cepc_grammar.spelling import string_text
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.enumerate.condition import AT_HAND, Condition
from cepc_runtime.enumerate.evaluation import Evaluator
from cepc_runtime.enumerate.ragged import from_first, from_last
from cepc_runtime.plan.positions import ConditionPlan
from cepc_runtime.results.as_text import as_text
from cepc_runtime.sql.evaluate import EvaluationError, evaluate
from cepc_runtime.sql.expression import Aggregate, Call, Field, FieldKey, fields, fields_outside_aggregates
from cepc_runtime.sql.spark_sql import describe

from .constraints import Joint, Local, tells_iterations_apart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from cepc_runtime.events.grouped import Reading
    from cepc_runtime.numbers.columns import Ints
    from cepc_runtime.plan.stream import StreamPlan
    from cepc_runtime.sql.expression import Expression

    from .. import model
    from .constraints import Constraint
    from .finder import Match


@dataclass(frozen=True, slots=True)
class Tried:
    """A condition for one tuple of events: the rows that it is about, its text with their values, and whether it is
    true.
    """

    rows: tuple[int, ...]
    text: str
    holds: bool


class ValueTexts:
    """Shows events of a reading, and what conditions make of them."""

    def __init__(
        self,
        reading: Reading,
        stream: StreamPlan,
        shown: Sequence[str],
        own: Callable[[str], Mapping[str, str]] | None = None,
    ) -> None:
        """`shown` are the columns that an event is shown with, besides its time and type. Of several streams each event
        has some of them: `own` says for a type which, and what they are called there.
        """
        self._reading, self._stream, self._own = reading, stream, own
        hidden = {stream.time_column, stream.type_column}
        self._shown = [name for name in shown if name not in hidden]

    def event_lines(self, bound: Iterable[tuple[int, str]]) -> list[str]:
        """Events, each with what it is called, one below the other."""
        rows = list(bound)
        times, names = [self.time(row) for row, _ in rows], [self._called(row, name) for row, name in rows]
        long, wide = (max(map(len, texts), default=0) for texts in (times, names))
        return [
            f"{time:{long}}  {name:{wide}}  {self.columns(row)}".rstrip()
            for time, name, (row, _) in zip(times, names, rows, strict=True)
        ]

    def match_lines(self, match: Match) -> list[str]:
        return self.event_lines((bound.row, bound.variable) for bound in match)

    def time(self, row: int) -> str:
        return self.value(row, self._stream.time_column)

    def type(self, row: int) -> str:
        return str(self._reading.names[self._reading.types[row]])

    def columns(self, row: int) -> str:
        called = {name: name for name in self._shown}
        if self._own is not None:
            own = self._own(self.type(row))
            called = {own[name]: name for name in self._shown if name in own}
        return ", ".join(f"{shown} = {self.value(row, name)}" for shown, name in called.items())

    def value(self, row: int, name: str) -> str:
        """A value as in a program, so that a string is told from a number; times without quotes, as in tables."""
        column = self._reading.table.column(name)
        return text_of(column.slice(row, 1))

    def named(self, row: int) -> str:
        """`Travel at 10:40:00`."""
        return f"{self.type(row)} at {self.time(row)}"

    # ---- conditions --------------------------------------------------------------------------------------------------

    def local(self, condition: Expression, row: int, variable: str | None = None) -> Tried:
        """A condition on a single event, shown as of a variable."""
        keys = {field.key: np.array([row]) for field in fields(condition)}
        return self._tried(_of(condition, variable), {_of_key(k, variable): at for k, at in keys.items()}, 0)

    def joint(self, condition: Expression, match: Match) -> list[Tried]:
        """A condition over several events, for every tuple of the match (in canonical order) that it is about."""
        asked = Condition(ConditionPlan(condition, (), None, None, ""))
        bound = _OneMatch([b.variable for b in match])
        instants = [self._instant(b.row) for b in match]
        begins = np.array([*map(instants.index, instants), len(match)], dtype=np.int64)
        rows = np.array([b.row for b in match], dtype=np.int64)
        found = []
        evaluator = Evaluator(self._reading.table.take(pa.array(rows)))
        for tuples, positions in asked.tuples(bound, begins):
            places = {k: np.where(at < 0, -1, rows[at]) for k, at in positions.items() if k != AT_HAND}
            values = asked.values(bound, tuples, positions, evaluator)
            found += [
                self._tried(condition, places, i, {a: values[a].slice(i, 1) for a in asked.aggregates})
                for i in range(len(tuples))
            ]
        return found

    def _tried(
        self,
        condition: Expression,
        places: Mapping[FieldKey, Ints],
        i: int,
        known: Mapping[Aggregate, Any] = MappingProxyType({}),
    ) -> Tried:
        at = {key: int(rows[i]) for key, rows in places.items()}
        about = tuple(dict.fromkeys(row for row in at.values() if row >= 0))
        columns = {key: self._of_row(key.column, row) for key, row in at.items()}
        texts: dict[Field | Aggregate, str] = {f: text_of(columns[f.key]) for f in fields_outside_aggregates(condition)}
        texts |= {a: text_of(column) for a, column in known.items()}
        try:
            plain: dict[FieldKey | Aggregate, Any] = {
                key: pa.concat_arrays(column.chunks) for key, column in columns.items()
            }
            plain.update(known.items())
            holds = evaluate(condition, plain, 1)[0].as_py() is True
        except EvaluationError as error:
            return Tried(about, f"{with_values(condition, texts)}: {error.reason}", False)
        return Tried(about, with_values(condition, texts), holds)

    def _of_row(self, column: str, row: int) -> Any:
        """A column of one row, null where there is none."""
        values = self._reading.table.column(column)
        return values.slice(row, 1) if row >= 0 else pa.chunked_array([pa.nulls(1, values.type)])

    def _instant(self, row: int) -> tuple[Any, ...]:
        ordering = (self.value(row, name) for name in self._stream.order_by)
        return (int(self._reading.ticks[row]), *ordering)

    def _called(self, row: int, name: str) -> str:
        type_ = self.type(row)
        return name if name == type_ else f"{name} ({type_})"


def text_of(column: Any) -> str:
    """The only value of a column."""
    value = as_text(column, iso=False)[0]
    if value is None:
        return "NULL"
    return string_text(value) if pa.types.is_string(column.type) else value or NO_BYTES


NO_BYTES: Final = "''"
"""An empty BINARY: its base64 is nothing at all."""


def with_values(expression: Expression, values: Mapping[Field | Aggregate, str]) -> str:
    """The expression as text, with values in the place of what they are of.

    >>> from cepc_runtime.sql.expression import Literal
    >>> from cepc_runtime.sql.types import BOOLEAN, INT
    >>> x = Field("a", "x", "each", INT)
    >>> with_values(Call(">", (x, Literal(3, INT)), BOOLEAN), {x: "2"})
    '2 > 3'
    """

    def filled(node: Expression) -> Expression:
        match node:
            case Field() | Aggregate() if node in values:
                return Field(None, values[node], "each", node.type)
            case Call(arguments=arguments):
                return replace(node, arguments=tuple(map(filled, arguments)))
        return node

    return describe(filled(expression))


def _of(condition: Expression, variable: str | None) -> Expression:
    """A condition on the event at hand as one on a variable."""
    match condition:
        case Field(None, column, at, type_):
            return Field(variable, column, at, type_)
        case Call(arguments=arguments):
            return replace(condition, arguments=tuple(_of(a, variable) for a in arguments))
    return condition


def _of_key(key: FieldKey, variable: str | None) -> FieldKey:
    return FieldKey(variable, key.column, key.at)


def local_text(condition: Expression, variable: str) -> str:
    """A condition on single events as one of a variable: `Travel.duration > 3`."""
    return describe(_of(condition, variable))


def condition_values(values: ValueTexts, query: model.Query, constraint: Constraint, match: Match) -> list[Tried]:
    """A condition's values for each tuple of a match's events; none for what is no condition, or is one of iterations
    that the match does not tell apart.
    """
    if not tells_iterations_apart(query, constraint):
        return []
    match constraint:
        case Local(variable, condition):
            return [values.local(condition, bound.row, variable) for bound in match if bound.variable == variable]
        case Joint(condition):
            return values.joint(condition.expression, match)
    return []


class _OneMatch:
    """What one match binds, by places in the order of time."""

    count = 1

    def __init__(self, variables: Sequence[str]) -> None:
        self._variables = variables

    def first(self, variable: str, places: int = 0) -> Ints:
        return from_first(*self.every(variable), places)

    def last(self, variable: str, places: int = 0) -> Ints:
        return from_last(*self.every(variable), places)

    def one(self, variable: str) -> Ints | None:  # noqa: ARG002
        return None

    def before(self, variable: str, places: int = 0) -> Ints:  # noqa: ARG002
        return np.array([-1])

    def every(self, variable: str) -> tuple[Ints, Ints]:
        places = self._places(variable)
        return np.array([len(places)]), places

    def newest(self) -> None:
        """Every event is looked at."""

    def any_event(self) -> Ints:
        return np.array([0])

    def aggregate(self, aggregate: Aggregate) -> None:
        """Nobody keeps it."""

    def _places(self, variable: str) -> Ints:
        return np.flatnonzero(np.array([v == variable for v in self._variables], dtype=np.bool_))
