"""The rows of many queries at once. Results that are made alike, of the same aggregates by the same expressions, are
computed together and cut apart again: of hundreds of queries each has few rows in a stretch of events, and to begin a
table takes longer than its rows.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from ..cheap_dataclass import dataclass
from ..numbers.columns import flat
from ..plan.query import OutputPlan
from ..sql.evaluate.errors import EvaluationError, about
from ..sql.evaluate.evaluator import constant
from ..sql.expression import Aggregate, Call, Field, Literal, counted
from .as_columns import ResultOverflowError, Results, WindowEdgeError, measure_of
from .result_rows import result_table, rows_kept
from .totals import Totals

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from ..kernel.planes import ValueKey
    from ..numbers.columns import ExactColumn
    from ..plan.query import QueryPlan
    from ..sql.expression import Expression

FEW: Final = 1 << 12
"""Rows. A table of more is made by itself: what it takes is for its rows."""

WAITING: Final = 1 << 16
"""Rows that wait for others at most, about."""

_COMPARISONS: Final = frozenset(("=", "<", "<=", ">", ">="))


def result_tables(found: Iterable[Results]) -> Iterator[tuple[str, Any]]:
    """The table of each, with its query's name. Those that wait for each other come in any order.

    An error is that of the first query, in the order given, that has one.
    """
    for batch in _batches(found):
        try:
            made = [table for alike in _alike(batch) for table in _together(alike)]
        except (ResultOverflowError, WindowEdgeError, EvaluationError):
            made = []
            for results in batch:
                with about(results.totals.query.name):
                    made.append((results.totals.query.name, result_table(results)))
        yield from made


def _batches(found: Iterable[Results]) -> Iterator[Sequence[Results]]:
    waiting: list[Results] = []
    rows = 0
    try:
        for results in found:
            waiting.append(results)
            rows += len(results.totals)
            if rows > WAITING:
                yield waiting
                waiting, rows = [], 0
    except Exception:
        yield waiting  # what is wrong with these was there before
        raise
    yield waiting


def _alike(batch: Sequence[Results]) -> Iterable[Sequence[Results]]:
    found: dict[Hashable, list[Results]] = {}
    for place, results in enumerate(batch):
        totals = results.totals
        alone = not totals.query.outputs or len(totals) > FEW
        found.setdefault(place if alone else _shape(totals), []).append(results)
    return found.values()


def _together(alike: Sequence[Results]) -> Iterator[tuple[str, Any]]:
    if len(alike) == 1:
        yield alike[0].totals.query.name, result_table(alike[0])
        return
    totals = [results.totals for results in alike]
    rows, table = rows_kept(Results(_joined(totals), alike[0].stream))
    ends = np.searchsorted(rows, np.cumsum([len(one) for one in totals])).tolist()
    for one, start, end in zip(totals, [0, *ends], ends, strict=False):
        names = [output.name for output in one.query.outputs]
        yield one.query.name, table.slice(start, end - start).rename_columns([*names, "window_start", "window_end"])


def _joined(totals: Sequence[Totals]) -> Totals:
    """One with the rows of all, as if of the first one's query, with a column for each constant."""
    first = totals[0]
    keys = {
        name: pa.concat_arrays([flat(one.keys[name]).take(pa.array(one.groups)) for one in totals])
        for name in first.keys
    }
    recipes = [recipe_of(one.query) for one in totals]
    for i in range(len(recipes[0].constants)):
        keys[_column(i)] = pa.concat_arrays(
            [pa.repeat(constant(own.constants[i]), len(one)) for own, one in zip(recipes, totals, strict=True)]
        )
    planes, extremes = _planes(totals)
    windows = np.concatenate([one.windows for one in totals])
    query = replace(
        first.query,
        outputs=tuple(map(OutputPlan, (output.name for output in first.query.outputs), recipes[0].outputs)),
        having=recipes[0].having,
    )
    return Totals(query, first.layout, np.arange(len(windows)), windows, keys, planes, extremes)


def _planes(totals: Sequence[Totals]) -> tuple[tuple[ExactColumn, ...], dict[ValueKey, Any]]:
    """Their planes, and values of those that have places: no others than the rows have, so that all have a few."""
    planes = [np.concatenate(columns) for columns in zip(*(one.planes for one in totals), strict=True)]
    extremes: dict[ValueKey, Any] = {}  # a key is of one plane: its argument has a variable
    for p, plane in enumerate(totals[0].layout.planes, start=1):
        if not plane.additive:
            extremes[plane.value] = pa.concat_arrays([one.extreme(p) for one in totals])
            planes[p] = np.where(np.isinf(planes[p]), np.inf, np.arange(len(planes[p])))
    return tuple(planes), extremes


# ---- what is made alike ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recipe:
    """How a query's rows are made: by these expressions, with a column in the place of each of its `constants`. Queries
    of one `shape` are made alike, whatever their constants are.
    """

    outputs: tuple[Expression, ...]
    having: Expression | None
    constants: tuple[Literal, ...]
    shape: Hashable


@lru_cache(maxsize=1 << 14)
def recipe_of(query: QueryPlan) -> Recipe:
    """That of an aggregate query."""
    constants: list[Literal] = []

    def column(literal: Literal) -> Field:
        constants.append(literal)
        return Field(None, _column(len(constants) - 1), "each", literal.type)

    def compared(node: Expression) -> Expression:
        match node:
            case Call(name, (left, Literal() as right), type_) if name in _COMPARISONS:
                return Call(name, (left, column(right)), type_)
        return node

    def placed(node: Expression) -> Expression:
        if not isinstance(node, Aggregate):
            return node
        places = [measure_of(query, own) for own in counted(node)]
        text = f"{node.function.name} of {places} times {node.scale}, {node.target}, {node.safe}"
        return Field(None, text, "each", node.type)

    shown = [output.expression for output in query.outputs]
    outputs = tuple(column(e) if isinstance(e, Literal) and not _negative_zero(e) else e for e in shown)
    having = None if query.having is None else _around_aggregates(query.having, compared)
    made = tuple(_around_aggregates(e, placed) for e in (*outputs, *([] if having is None else [having])))
    return Recipe(outputs, having, tuple(constants), (made, having is None, query.window))


def _negative_zero(literal: Literal) -> bool:
    """Columns beside the totals are those of groups, whose zeros are all 0.0."""
    return isinstance(literal.value, float) and repr(literal.value) == "-0.0"


def _around_aggregates(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The expression with `change` applied to every node, the inner before the outer, and aggregates as they are."""
    match expression:
        case Call(function, arguments, type_):
            expression = Call(function, tuple(_around_aggregates(a, change) for a in arguments), type_)
    return change(expression)


def _column(constant: int) -> str:
    """No column of a stream has such a name."""
    return f"\0constant {constant}"


def _shape(totals: Totals) -> Hashable:
    """Equal where rows are made alike, whatever the variables and the columns of the result are called."""
    kinds = "".join(plane.dtype.char for plane in totals.planes)
    return recipe_of(totals.query).shape, totals.layout.measures, kinds, tuple(totals.keys)
