"""Result rows of match queries: one for each match, or for each event of it (docs/language.md, "Results")."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..numbers.columns import flat, nulls
from ..results.as_columns import ResultOverflowError
from ..results.having import kept
from ..sql.aggregate_texts import aggregate_text, cure
from ..sql.evaluate import evaluate
from ..sql.expression import Aggregate, Call, aggregates, fields_outside_aggregates, outside_aggregates
from ..sql.types import Array, is_float, to_arrow
from .lists import BoundLists, aggregated, different, numbers, sums
from .match_events import EventsOfMatches
from .ragged import starts_of
from .running import up_to_each

if TYPE_CHECKING:
    from ..numbers.columns import Bools, Ints
    from ..plan.query import QueryPlan
    from ..plan.stream import StreamPlan
    from ..results.as_columns import Results
    from ..sql.expression import Expression, Field, FieldKey
    from .evaluation import Evaluator, OfEvents
    from .lists import Lists
    from .standing import Matches


class MatchRows:
    """Makes tables of a match query's rows from batches of its matches."""

    def __init__(self, query: QueryPlan, stream: StreamPlan, evaluator: Evaluator) -> None:
        self._query, self._stream, self._evaluator = query, stream, evaluator
        self._types = dict(stream.columns)

    def schema(self) -> Any:
        """The columns of every table."""
        time = to_arrow(self._types[self._stream.time_column])
        found = [pa.field(output.name, to_arrow(output.expression.type)) for output in self._query.outputs]
        if self._query.returns_events:
            found.append(pa.field("events", pa.list_(self._event())))
        return pa.schema([*found, pa.field("match_start", time), pa.field("match_end", time)])

    def table(self, matches: Matches) -> Any:
        """The rows that HAVING keeps: outputs, or `events`, and then `match_start` and `match_end`.

        Raises ResultOverflowError, and what an expression fails with.
        """
        if self._query.having is not None:
            values = MatchValues(self._query, self._stream, self._evaluator, matches)
            matches = matches.take(kept(cast("Results", values), self._query.having))
        of = EventValues if self._query.each else MatchValues
        values = of(self._query, self._stream, self._evaluator, matches)
        columns = [values.evaluate(output.expression) for output in self._query.outputs]
        if self._query.returns_events:
            columns.append(self._events(matches))
        for edge in matches.positions[[0, -1]]:
            columns.append(self._evaluator.take(self._stream.time_column, edge[values.of_match]))
        schema = self.schema()
        return pa.table([flat(c).cast(f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)

    def _event(self) -> Any:
        columns = [pa.field(name, to_arrow(type_)) for name, type_ in self._stream.shown]
        return pa.struct([pa.field("variable", pa.string()), *columns])

    def _events(self, matches: Matches) -> Any:
        """Each match as a list of structs, in canonical order."""
        names = pa.array(matches.names, pa.string()).take(pa.array(matches.variables.T.ravel()))
        positions = matches.positions.T.ravel()
        columns = [flat(self._evaluator.take(name, positions)).cast(to_arrow(t)) for name, t in self._stream.shown]
        structs = pa.StructArray.from_arrays([names, *columns], fields=list(self._event()))
        offsets = np.arange(len(matches) + 1, dtype=np.int32) * len(matches.positions)
        return pa.ListArray.from_arrays(pa.array(offsets), structs)


class MatchValues:
    """Expressions over the matches of a batch; what HAVING needs is named as in `Results`. `of_match` says of which of
    the matches each value is.
    """

    def __init__(self, query: QueryPlan, stream: StreamPlan, evaluator: Evaluator, matches: Matches) -> None:
        self._query, self._stream, self._evaluator, self._matches = query, stream, evaluator, matches
        self._bound = BoundLists(matches)
        self._every = EventsOfMatches(matches, evaluator)
        self.of_match = np.arange(len(matches))

    def of_rows(self, rows: Ints) -> MatchValues:
        """Those of some matches."""
        return MatchValues(self._query, self._stream, self._evaluator, self._matches.take(rows))

    def evaluate(self, expression: Expression) -> Any:
        """The expression for each match. Raises ResultOverflowError."""
        column, misfits = self.fitting(expression)
        if misfits.any():
            raise self.first_overflow(expression, int(np.argmax(misfits)))
        return column

    def fitting(self, expression: Expression) -> tuple[Any, Bools]:
        """The same, and for which matches an aggregate does not fit and was null instead."""
        columns: dict[FieldKey | Aggregate, Any] = {}
        misfits = np.zeros(len(self.of_match), dtype=np.bool_)
        picked = asked_by_element(expression)
        for aggregate in aggregates(expression):
            columns[aggregate], misfit = self._list(aggregate) if aggregate in picked else self._aggregate(aggregate)
            misfits |= misfit
        for field in fields_outside_aggregates(expression):
            columns[field.key] = self._field(field)
        return flat(evaluate(expression, columns, len(self.of_match))), misfits

    def exact(self, aggregate: Aggregate, row: int) -> Any:
        """A COUNT or SUM of one match as an exact number; None for null."""
        counts, values = self.of_rows(np.array([row]))._of(aggregate)
        if aggregate.argument is None:
            return int(counts[0])
        present = values.filter(pa.array(~nulls(values)))
        if aggregate.function.counts:
            return len(present)
        if not len(present):
            return None
        type_ = aggregate.argument.type
        total = sums(np.array([len(present)]), numbers(present, type_))[0]
        return float(total) if is_float(type_) else Fraction(int(total), 10**aggregate.scale)

    def first_overflow(self, expression: Expression, row: int) -> ResultOverflowError:
        """The error of an aggregate that does not fit for a match."""
        aggregate = next(a for a in aggregates(expression) if a.function.countable and self._aggregate(a)[1][row])
        first, last = self._matches.positions[[0, -1], self.of_match[row]][:, None]

        def value(name: str, position: Ints) -> Any:
            return self._evaluator.take(name, position)[0].as_py()

        time, text = self._stream.time_column, aggregate_text(aggregate)
        group = {name: value(name, first) for name in self._query.partition}
        extent = value(time, first), value(time, last)
        how = cure(aggregate, (expression,))
        return ResultOverflowError(self._query.name, group, extent, text, aggregate.type.sql, how)

    # ---- leaves ------------------------------------------------------------------------------------------------------

    def _field(self, field: Field) -> Any:
        if field.variable is None:  # all events agree on it
            return _shared(flat(self._evaluator.take(field.column, self._matches.positions[0])))
        lists = self._bound.lists(field.variable)
        events = lists.last(field.places) if field.at == "last" else lists.first(field.places)
        return flat(self._evaluator.take(field.column, events))

    def _aggregate(self, aggregate: Aggregate) -> tuple[Any, Bools]:
        """The aggregate's column, and where it is to be an error that it does not fit."""
        by = None
        if aggregate.by is not None:
            lists, evaluator = self._lists(aggregate)
            by = evaluator.of_events(aggregate.by, lists.positions)
        column, misfits = aggregated(aggregate, *self._of(aggregate), by)
        return column, np.zeros_like(misfits) if aggregate.safe else misfits

    def _list(self, aggregate: Aggregate) -> tuple[Any, Bools]:
        """The same of an array of which only elements are asked for."""
        return self._aggregate(aggregate)

    def _of(self, aggregate: Aggregate) -> tuple[Ints, Any]:
        """How many events each match gives to the aggregate, and its argument for them (None if it has none)."""
        if aggregate.function.numbers:
            if self._matches.number is None:
                raise ValueError(f"the matches of {self._query.name} have no numbers")
            return self._matches.number, None
        if aggregate.argument is None and aggregate.variable is None:
            return self._every.counts(aggregate.among), None
        lists, evaluator = self._lists(aggregate)
        if aggregate.argument is None:
            return lists.counts, None
        values = evaluator.of_events(aggregate.argument, lists.positions)
        return different(lists.counts, values) if aggregate.distinct else (lists.counts, values)

    def _lists(self, aggregate: Aggregate) -> tuple[Lists, OfEvents]:
        """The events that each match gives to the aggregate, and what evaluates its argument for them."""
        if aggregate.variable is not None:
            return self._bound.lists(aggregate.variable), self._evaluator
        return self._every.lists(aggregate.among), self._every


class EventValues(MatchValues):
    """Expressions over the events of the matches of a batch, match by match, in canonical order: what is of a whole
    match is the same for its events.
    """

    def __init__(self, query: QueryPlan, stream: StreamPlan, evaluator: Evaluator, matches: Matches) -> None:
        super().__init__(query, stream, evaluator, matches)
        self.of_match = np.repeat(np.arange(len(matches)), len(matches.positions))

    def _field(self, field: Field) -> Any:
        if field.at != "each":
            return super()._field(field).take(pa.array(self.of_match))
        if field.variable is None:
            return flat(self._evaluator.take(field.column, self._every.positions))
        own = self._every.are_bound((field.variable,))
        return flat(self._evaluator.take(field.column, np.where(own, self._every.positions, -1)))

    def _aggregate(self, aggregate: Aggregate) -> tuple[Any, Bools]:
        if aggregate.function.names:
            every = np.arange(len(self._every))
            return self._every.variables(every), np.zeros(len(every), dtype=np.bool_)
        if aggregate.running:
            return self._running(aggregate)
        column, misfits = super()._aggregate(aggregate)
        return flat(column).take(pa.array(self.of_match)), misfits[self.of_match]

    def _list(self, aggregate: Aggregate) -> tuple[Any, Bools]:
        """A view for each event: with the array itself, a match would take the square of its length."""
        column, misfits = super()._aggregate(aggregate)
        lists = flat(column)
        starts, counts = lists.offsets.to_numpy()[:-1], np.diff(lists.offsets.to_numpy())
        places = (pa.array(numbers[self.of_match]) for numbers in (starts, counts))
        return pa.ListViewArray.from_arrays(*places, lists.values), misfits[self.of_match]

    def _running(self, aggregate: Aggregate) -> tuple[Any, Bools]:
        """Of each match's events up to one."""
        lists, evaluator = self._lists(aggregate)
        own = self._every.are_bound(aggregate.among if aggregate.variable is None else (aggregate.variable,))
        so_far = np.cumsum(own.reshape(self._matches.positions.T.shape), axis=1)
        column, misfits = up_to_each(aggregate, lists.counts, lists.positions, evaluator)
        found = (starts_of(lists.counts + 1)[:, None] + so_far).ravel()
        return flat(column).take(pa.array(found)), misfits[found]


def asked_by_element(expression: Expression) -> frozenset[Aggregate]:
    """The arrays in it of which it asks for elements, `COLLECT(x)[i]`, and for nothing else."""
    asked, by_element = Counter[Aggregate](), Counter[Aggregate]()
    for node in outside_aggregates(expression):
        match node:
            case Call("item" | "element_at", (Aggregate(by=None, type=Array()) as array, _)):
                by_element[array] += 1
            case Aggregate():
                asked[node] += 1
    return frozenset(array for array, times in by_element.items() if times == asked[array])


def _shared(column: Any) -> Any:
    """As Spark's GROUP BY gives it: -0.0 is 0.0."""
    return pc.add(column, pa.scalar(0.0, column.type)) if pa.types.is_floating(column.type) else column
