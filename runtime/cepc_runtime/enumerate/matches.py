"""Result rows of match queries: one for each match (LANGUAGE.md §4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..columns import as_bools, flat
from ..evaluate import evaluate
from ..expression import Aggregate, Field, FieldKey, aggregates, fields
from ..results import ResultOverflowError, aggregate_text, cure
from ..types import to_arrow
from .lists import BoundLists, aggregated

if TYPE_CHECKING:
    from ..expression import Expression
    from ..plan import QueryPlan, StreamPlan
    from .evaluation import Evaluator
    from .standing import Matches
    from .timeline import Ints


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
            matches = matches.take(as_bools(self._values(self._query.having, matches)))
        columns = [self._values(output.expression, matches) for output in self._query.outputs]
        if self._query.returns_events:
            columns.append(self._events(matches))
        time = self._stream.time_column
        columns += [self._evaluator.take(time, matches.positions[0]), self._evaluator.take(time, matches.positions[-1])]
        schema = self.schema()
        return pa.table([flat(c).cast(f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)

    def _event(self) -> Any:
        columns = [pa.field(name, to_arrow(type_)) for name, type_ in self._stream.columns]
        return pa.struct([pa.field("variable", pa.string()), *columns])

    def _events(self, matches: Matches) -> Any:
        """Each match as a list of structs, in canonical order."""
        names = pa.array(matches.names, pa.string()).take(pa.array(matches.variables.T.ravel()))
        positions = matches.positions.T.ravel()
        columns = [flat(self._evaluator.take(name, positions)).cast(to_arrow(t)) for name, t in self._stream.columns]
        structs = pa.StructArray.from_arrays([names, *columns], fields=list(self._event()))
        offsets = np.arange(len(matches) + 1, dtype=np.int32) * len(matches.positions)
        return pa.ListArray.from_arrays(pa.array(offsets), structs)

    # ---- expressions -------------------------------------------------------------------------------------------------

    def _values(self, expression: Expression, matches: Matches) -> Any:
        """The expression for each match."""
        bound = BoundLists(matches)
        columns: dict[FieldKey | Aggregate, Any] = {}
        for aggregate in aggregates(expression):
            columns[aggregate] = self._aggregate(aggregate, matches, bound)
        for field in _outside_aggregates(expression):
            columns[field.key] = self._field(field, matches, bound)
        return evaluate(expression, columns, len(matches))

    def _field(self, field: Field, matches: Matches, bound: BoundLists) -> Any:
        if field.variable is None:  # all events agree on it
            return _shared(flat(self._evaluator.take(field.column, matches.positions[0])))
        lists = bound.lists(field.variable)
        return flat(self._evaluator.take(field.column, lists.last() if field.at == "last" else lists.first()))

    def _aggregate(self, aggregate: Aggregate, matches: Matches, bound: BoundLists) -> Any:
        if aggregate.variable is None:
            counts, values = np.full(len(matches), len(matches.positions)), None
        else:
            lists = bound.lists(aggregate.variable)
            counts = lists.counts
            values = None if aggregate.argument is None else self._argument(aggregate.argument, lists.positions)
        column, misfits = aggregated(aggregate, counts, values)
        if misfits.any() and not aggregate.safe:
            raise self._overflow(aggregate, matches.take(np.flatnonzero(misfits)[:1]))
        return column

    def _argument(self, argument: Expression, positions: Ints) -> Any:
        keys = {field.key: positions for field in fields(argument)}
        return self._evaluator.values(argument, keys, len(positions))

    def _overflow(self, aggregate: Aggregate, match: Matches) -> ResultOverflowError:
        def value(name: str, position: Ints) -> Any:
            return self._evaluator.take(name, position)[0].as_py()

        time = self._stream.time_column
        extent = value(time, match.positions[0]), value(time, match.positions[-1])
        group = {name: value(name, match.positions[0]) for name in self._query.partition}
        return ResultOverflowError(
            self._query.name, group, extent, aggregate_text(aggregate), aggregate.type.sql, cure(aggregate)
        )


def _outside_aggregates(expression: Expression) -> list[Field]:
    waiting, found = [expression], []
    while waiting:
        match waiting.pop():
            case Field() as field:
                found.append(field)
            case Aggregate():
                pass
            case node:
                waiting += getattr(node, "arguments", ())
    return found


def _shared(column: Any) -> Any:
    """As Spark's GROUP BY gives it: -0.0 is 0.0."""
    return pc.add(column, pa.scalar(0.0, column.type)) if pa.types.is_floating(column.type) else column
