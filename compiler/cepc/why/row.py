"""Rows of a query for a group and a window, with HAVING or without."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.enumerate.evaluation import Evaluator
from cepc_runtime.enumerate.matches import EventValues, MatchValues
from cepc_runtime.enumerate.standing import Matches
from cepc_runtime.events.grouped import ticks_of
from cepc_runtime.numbers.columns import flat
from cepc_runtime.plan.query import numbers_matches
from cepc_runtime.plan.windows import Sessions, Sliding
from cepc_runtime.results.having import kept
from cepc_runtime.sql.expression import Aggregate, Field, walk
from cepc_runtime.sql.types import STRING

from .. import model
from ..passes.strategy import strategy
from ..planning import plan_program
from ..reading.read import Read
from ..running.local import execute_plan
from ..writing.order import in_order
from .values import text_of
from .wording import scalar_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cepc_grammar.source import Source
    from cepc_runtime.numbers.columns import Ints
    from cepc_runtime.results.as_columns import Results
    from cepc_runtime.sql.expression import Expression

    from .finder import Finder, Match

GROUP = "\0group "
"""Before the name of a column that says which group a row is of, whatever RETURN calls it."""


@dataclass(frozen=True)
class ResultRow:
    """A row of an aggregate query. `start` is where its window begins, None for UNBOUNDED; `values` are texts by
    column.
    """

    group: Mapping[str, Any]
    start: int | None
    values: Mapping[str, str]


def aggregate_rows(
    finder: Finder, query: model.Query, rows: Ints, start: int | None, sources: Mapping[str, Source]
) -> list[ResultRow]:
    """The rows of an aggregate query over some events, in the order in which `cepc run` prints them; with `start`,
    those of the window that begins there. Raises RunError.
    """
    table = _table(finder, query, rows, sources)
    places: Sequence[int] = range(table.num_rows)
    if start is not None and table.num_rows:
        several = isinstance(query.window, Sliding | Sessions)
        places = np.flatnonzero(ticks_of(table.column("window_start")) == start).tolist() if several else ()
    return [_row(query, table, place) for place in places]


def first_row(
    finder: Finder, query: model.Query, rows: Ints, sources: Mapping[str, Source]
) -> tuple[ResultRow | None, int]:
    """The first of these rows, of all windows, and how many there are. Raises RunError."""
    table = _table(finder, query, rows, sources)
    return (_row(query, table, 0) if table.num_rows else None), table.num_rows


def _table(finder: Finder, query: model.Query, rows: Ints, sources: Mapping[str, Source]) -> Any:
    types = finder.program.stream(query.stream).column_types
    keys = tuple(model.Output(GROUP + n, Field(None, n, "each", t)) for n, t in types.items() if n in query.group_by)
    asked = replace(query, outputs=(*query.outputs, *keys))
    (plan,) = plan_program(replace(finder.program, queries=(asked,))).plans  # of its pattern there is one
    events = Read(finder.reading.table.take(pa.array(rows)), len(rows), 0, None)
    return in_order(execute_plan(strategy(plan, "local"), events, [query], sources).tables[query.name])


def _row(query: model.Query, table: Any, number: int) -> ResultRow:
    one = table.slice(number, 1)
    start = int(ticks_of(one.column("window_start"))[0]) if isinstance(query.window, Sliding | Sessions) else None
    group = {n.removeprefix(GROUP): one.column(n)[0] for n in table.column_names if n.startswith(GROUP)}
    texts = {n: text_of(one.column(n)) for n in table.column_names if not n.startswith(GROUP)}
    return ResultRow(group, start, texts)


def having_query(query: model.Query, having: Expression) -> model.Query:
    """The query that returns the aggregates of its HAVING, and has none."""
    outputs = tuple(model.Output(_name(i), _of_any_size(a)) for i, a in enumerate(_aggregates(having)))
    return replace(query, having=None, outputs=outputs)


def having_values(having: Expression, row: ResultRow) -> dict[Field | Aggregate, str]:
    """What HAVING's aggregates and columns are in a row of its `having_query`."""
    found: dict[Field | Aggregate, str] = {
        aggregate: _number(aggregate, row.values[_name(i)]) for i, aggregate in enumerate(_aggregates(having))
    }
    found |= {f: scalar_text(row.group[f.column]) for f in _shared(having) if f.column in row.group}
    return found


def match_having_values(
    finder: Finder, query: model.Query, having: Expression, match: Match
) -> dict[Field | Aggregate, str]:
    """The same for a match of a match query."""
    values = _match_values(finder, query, match)
    found: dict[Field | Aggregate, str] = {
        f: text_of(pa.chunked_array([values.evaluate(f)])) for f in walk(having) if isinstance(f, Field)
    }
    for aggregate in _aggregates(having):
        text = text_of(pa.chunked_array([values.evaluate(_of_any_size(aggregate))]))
        found[aggregate] = _number(aggregate, text)
    return found


def rows_of_match(finder: Finder, query: model.Query, match: Match) -> list[dict[str, str]]:
    """What a match query returns for a match: one row, or one for each event."""
    values = _match_values(finder, query, match, EventValues if query.each else MatchValues)
    columns = {o.name: flat(values.evaluate(o.expression)) for o in query.outputs}
    return [
        {name: text_of(pa.chunked_array([column.slice(row, 1)])) for name, column in columns.items()}
        for row in range(len(values.of_match))
    ]


def is_kept(finder: Finder, query: model.Query, match: Match) -> bool:
    """Whether HAVING is true for a match of a match query."""
    if query.having is None:
        return True
    values = _match_values(finder, query, match)
    return bool(kept(cast("Results", values), query.having)[0])


def _match_values(finder: Finder, query: model.Query, match: Match, of: type[MatchValues] = MatchValues) -> MatchValues:
    (plan,) = plan_program(replace(finder.program, queries=(query,))).plans
    names = tuple(dict.fromkeys(bound.variable for bound in match))
    positions = np.array([[bound.row] for bound in match], dtype=np.int64)
    variables = np.array([[names.index(bound.variable)] for bound in match], dtype=np.int32)
    evaluator = Evaluator(finder.reading.table)
    number = np.array([finder.number(query, match)]) if numbers_matches(plan.queries[0]) else None
    return of(plan.queries[0], finder.stream, evaluator, Matches(names, positions, variables, number))


def _aggregates(having: Expression) -> list[Aggregate]:
    return list(dict.fromkeys(n for n in walk(having) if isinstance(n, Aggregate)))


def _of_any_size(aggregate: Aggregate) -> Aggregate:
    """A number that HAVING compares whether it fits its type or not: as text it always fits."""
    return replace(aggregate, target=STRING, type=STRING) if _is_exact(aggregate) else aggregate


def _is_exact(aggregate: Aggregate) -> bool:
    argument = None if aggregate.argument is None else aggregate.argument.type
    return aggregate.target is None and aggregate.function.of_any_size and aggregate.function.is_whole(argument)


def _number(aggregate: Aggregate, text: str) -> str:
    return text.strip("'") if _is_exact(aggregate) else text


def _shared(having: Expression | None) -> list[Field]:
    return [n for n in walk(having) if isinstance(n, Field) and n.variable is None] if having is not None else []


def _name(i: int) -> str:
    return f"aggregate {i}"
