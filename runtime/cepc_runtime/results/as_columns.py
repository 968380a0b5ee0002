"""Aggregates of a query as columns, and what happens when a value does not fit."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..cheap_dataclass import dataclass
from ..events.grouped import times_of
from ..events.sessions import SESSION
from ..kernel.planes import CountPlane, ExtremePlane, SumPlanes
from ..numbers.columns import Bools, Ints, flat, plain_floats
from ..numbers.gathered import Gathered
from ..plan.stream import TIME
from ..plan.windows import Sessions, Sliding
from ..sql.aggregate_texts import aggregate_text, cure
from ..sql.evaluate import evaluate
from ..sql.expression import Aggregate, FieldKey, aggregates, counted, fields
from ..sql.types import DOUBLE, to_arrow

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..kernel.planes import MeasurePlanes
    from ..plan.query import QueryPlan
    from ..plan.stream import StreamPlan
    from ..sql.expression import Expression
    from ..sql.types import DataType
    from .totals import Totals


class ResultOverflowError(ArithmeticError):
    """A value of a result does not fit its type."""

    def __init__(
        self, query: str, group: dict[str, Any], window: tuple[Any, Any], aggregate: str, type_: str, cure: str
    ):
        self.query, self.group, self.window, self.aggregate, self.type, self.cure = (
            query,
            group,
            window,
            aggregate,
            type_,
            cure,
        )
        where = ", ".join(f"{name} = {value}" for name, value in group.items())
        start, end = window
        window_text = "the whole input" if start is None else f"the window from {start} to {end}"
        super().__init__(
            f"query {query}: {aggregate} does not fit {type_} in {window_text}{f' for {where}' if where else ''};"
            f" {cure}"
        )


class WindowEdgeError(ArithmeticError):
    """An edge of a window is beyond what the event-time column's type can hold."""

    def __init__(self, query: str, column: str, type_: str) -> None:
        super().__init__(query, column, type_)
        self.query, self.type = query, type_
        self.column = "the event time of each stream" if column == TIME else column
        self.shown = "the event time" if column == TIME else f"`{column}`"

    @property
    def cure(self) -> str:
        look = "look for events with a wrong time"
        return look if self.type == "BIGINT" else f"declare {self.column} with a larger type, or {look}"

    def __str__(self) -> str:
        return f"query {self.query}: an edge of a window is no {self.type}, the type of {self.column}; {self.cure}"


def check_edges(ticks: Ints, queries: Iterable[QueryPlan], stream: StreamPlan) -> None:
    """Windows are computed with in ticks of 64 bits. Raises WindowEdgeError where those around the events do not fit,
    of the first such query.
    """
    if not len(ticks):
        return
    first, last = int(ticks.min()), int(ticks.max())
    for query in queries:
        if isinstance(query.window, Sliding | Sessions) and _leave(first, last, query.window.reach):
            raise WindowEdgeError(query.name, stream.time_column, dict(stream.columns)[stream.time_column].sql)


def _leave(first: int, last: int, reach: int) -> bool:
    return first - reach < -(2**63) or last + reach >= 2**63


def measure_of(query: QueryPlan, aggregate: Aggregate) -> int:
    """The place of the measure that the aggregate is computed from: of two that differ in exactness, the exact one
    unless DOUBLE is asked for.
    """
    wanted = aggregate.function, aggregate.variable, aggregate.argument
    found = [i for i, m in enumerate(query.measures) if (m.function, m.variable, m.argument) == wanted]
    if not found:
        raise KeyError(f"query {query.name} has no measure for {wanted}")
    return min(found, key=lambda i: query.measures[i].exact == (aggregate.target == DOUBLE))


@dataclass(frozen=True)
class Results:
    """The rows of a query before they are expressions: its totals, and the edges of their windows."""

    totals: Totals
    stream: StreamPlan

    @property
    def time(self) -> DataType:
        """The event-time column's type, which is that of the edges."""
        return dict(self.stream.columns)[self.stream.time_column]

    def of_rows(self, rows: Ints) -> Results:
        """Those of some rows."""
        return replace(self, totals=self.totals.take(rows))

    def window_edges(self) -> tuple[Any, Any]:
        """`window_start` and `window_end`, in the event-time column's type; null for WITHIN UNBOUNDED. Raises
        WindowEdgeError.
        """
        query, type_, windows = self.totals.query, to_arrow(self.time), self.totals.windows
        try:
            if SESSION[0] in self.totals.keys:
                start, end = (flat(self.totals.keys[name]).to_numpy()[self.totals.groups] for name in SESSION)
                return times_of(start, type_), times_of(end, type_)
            if not isinstance(query.window, Sliding):
                return pa.nulls(len(windows), type_), pa.nulls(len(windows), type_)
            return times_of(query.window.begin(windows), type_), times_of(query.window.end(windows), type_)
        except pa.ArrowInvalid:
            raise WindowEdgeError(query.name, self.stream.time_column, self.time.sql) from None

    def key_column(self, name: str) -> Any:
        """A group is of values that are equal, and has one of them, whichever came first: 0.0 for 0.0 and -0.0."""
        return plain_floats(flat(self.totals.keys[name]).take(pa.array(self.totals.groups)))

    def evaluate(self, expression: Expression) -> Any:
        """An expression over grouping attributes and aggregates, for each row. Raises ResultOverflowError."""
        return self._evaluate(expression)[0]

    def fitting(self, expression: Expression) -> tuple[Any, Bools]:
        """The same, and in which rows an aggregate does not fit and was null instead."""
        return self._evaluate(expression, strict=False)

    def _evaluate(self, expression: Expression, *, strict: bool = True) -> tuple[Any, Bools]:
        columns: dict[FieldKey | Aggregate, Any] = {}
        misfits = np.zeros(len(self.totals), dtype=np.bool_)
        for aggregate in aggregates(expression):
            columns[aggregate], misfit = self.aggregate(aggregate)
            if strict and misfit.any():
                raise self._overflow(aggregate, expression, int(np.argmax(misfit)))
            misfits |= misfit
        for field in fields(expression):
            if field.variable is None and field.column in self.totals.keys:  # else it is of an aggregate's events
                columns[field.key] = self.key_column(field.column)
        return flat(evaluate(expression, columns, len(self.totals))), misfits

    def aggregate(self, aggregate: Aggregate) -> tuple[Any, Bools]:
        """The column of an aggregate, null where it does not fit; and where that is to be an error."""
        column, misfits = self._computed(aggregate)
        return column, np.zeros_like(misfits) if aggregate.safe else misfits

    def exact(self, aggregate: Aggregate, row: int) -> Any:
        """A COUNT or SUM in one row as an exact number; None for null."""
        match self._planes(aggregate):
            case CountPlane(count):
                return int(self.totals.planes[count][row])
            case SumPlanes(count, plane) if self.totals.planes[count][row]:
                total = self.totals.sums(plane)[row]
                return float(total) if isinstance(total, float) else Fraction(int(total), 10**aggregate.scale)
        return None

    def first_overflow(self, expression: Expression, row: int) -> ResultOverflowError:
        """The error of an aggregate that does not fit in a row."""
        one = self.of_rows(np.array([row]))
        aggregate = next(a for a in aggregates(expression) if one.aggregate(a)[1].any())
        return self._overflow(aggregate, expression, row)

    def _planes(self, aggregate: Aggregate) -> MeasurePlanes:
        """What the aggregate is computed from."""
        return self.totals.layout.measures[measure_of(self.totals.query, aggregate)]

    def _computed(self, aggregate: Aggregate) -> tuple[Any, Bools]:
        planes, *squared = map(self._planes, counted(aggregate))
        if isinstance(planes, ExtremePlane):
            found = self.totals.extreme(planes.extreme).cast(to_arrow(aggregate.type))
            return found, np.zeros(len(found), dtype=np.bool_)
        of = [own for own in (planes, *squared) if isinstance(own, SumPlanes)]
        sums = tuple(self.totals.planes[own.total] for own in of)
        rests = next((self.totals.planes[own.rest] for own in of if own.rest is not None), None)
        gathered = Gathered(self.totals.planes[planes.count], sums, rests, aggregate.scale)
        assert aggregate.function.end is not None
        return aggregate.function.end(gathered, aggregate.type)

    def _overflow(self, aggregate: Aggregate, shown: Expression, row: int) -> ResultOverflowError:
        one = self.of_rows(np.array([row]))
        start, end = (edge[0].as_py() for edge in one.window_edges())
        names = [name for name in self.totals.keys if name not in SESSION]
        group = {name: one.key_column(name)[0].as_py() for name in names}
        text, type_, how = aggregate_text(aggregate), aggregate.type.sql, cure(aggregate, (shown,))
        return ResultOverflowError(self.totals.query.name, group, (start, end), text, type_, how)
