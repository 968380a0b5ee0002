"""What a part of a group tells of a query: exact numbers as columns, from which others are made before they become results."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..columns import ranks
from ..exactness import EXACT
from ..expression import Aggregate
from ..plan import Measure, OutputPlan
from ..types import DOUBLE, STRING, Decimal, is_float, is_numeric

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..exactness import Column
    from ..kernel.planes import QueryPlanes
    from ..plan import QueryPlan

    Entry = tuple[Any, ...]  # by plane: the count, sums, then places, inf where there is none

MATCHES: Final = "matches"


def has_numbers(query: QueryPlan) -> bool:
    """Whether its sums are over numbers, which text can hold whatever their size."""
    return all(
        m.argument is None or m.function not in ("sum", "avg") or is_numeric(m.argument.type) for m in query.measures
    )


def names(measure: int) -> tuple[str, str, str]:
    """The columns of a measure's count, total and extreme, as far as it has them."""
    return f"count_{measure}", f"total_{measure}", f"extreme_{measure}"


def numbers_of(query: QueryPlan) -> Iterator[OutputPlan]:
    """What an entry of the matrix holds: exact numbers as text, which has no bounds."""
    yield OutputPlan(MATCHES, Aggregate("count", None, None, False, STRING, STRING))
    for number, measure in enumerate(query.measures):
        count, total, extreme = names(number)
        if measure.function in ("min", "max"):
            assert measure.argument is not None
            type_ = measure.argument.type
            yield OutputPlan(
                extreme, Aggregate(measure.function, measure.variable, measure.argument, False, None, type_)
            )
        elif measure.variable is not None:
            yield OutputPlan(count, Aggregate("count", measure.variable, measure.argument, False, STRING, STRING))
        if measure.function in ("sum", "avg"):
            yield OutputPlan(total, _total(measure))


def _total(measure: Measure) -> Aggregate:
    assert measure.argument is not None
    if is_float(measure.argument.type):
        return Aggregate("sum", measure.variable, measure.argument, False, None, DOUBLE)
    return Aggregate("sum", measure.variable, measure.argument, False, STRING, STRING)


def measures_of(outputs: tuple[OutputPlan, ...]) -> tuple[Measure, ...]:
    found: dict[tuple[object, ...], Measure] = {}
    for output in outputs:
        a = output.expression
        assert isinstance(a, Aggregate)
        assert a.function != "collect"
        found.setdefault(
            (a.function, a.variable, a.argument), Measure(a.function, a.variable, a.argument, a.type != DOUBLE)
        )
    return tuple(found.values())


@dataclass(frozen=True, slots=True)
class Numbers:
    """The entry of each row, and the values by place."""

    entries: list[Entry]
    extremes: dict[Any, Any]

    @staticmethod
    def of(query: QueryPlan, layout: QueryPlanes, matrices: Any) -> Numbers:
        zeros = [0] * matrices.num_rows
        columns: list[list[Any]] = [zeros] * layout.count
        columns[0] = [int(count) for count in matrices.column(MATCHES).to_pylist()]
        extremes: dict[Any, Any] = {}
        for number, (measure, planes) in enumerate(zip(query.measures, layout.measures, strict=True)):
            count, total, extreme = (
                matrices.column(name) if name in matrices.column_names else None for name in names(number)
            )
            if planes.extreme is not None:
                key = layout.planes[planes.extreme - 1].value
                ranked = ranks(extreme)
                extremes[key] = ranked.values
                sign = -1.0 if measure.function == "max" else 1.0
                columns[planes.extreme] = np.where(ranked.numbers < 0, math.inf, sign * ranked.numbers).tolist()
                continue
            if planes.count is not None and count is not None:
                columns[planes.count] = [int(text) for text in count.to_pylist()]
            if planes.total is not None and total is not None and measure.argument is not None:
                type_ = measure.argument.type
                scale = type_.scale if isinstance(type_, Decimal) else 0
                columns[planes.total] = [
                    0 if value is None else value if is_float(type_) else _scaled(value, scale)
                    for value in total.to_pylist()
                ]
        return Numbers(list(zip(*columns, strict=True)), extremes)


def _scaled(text: str, scale: int) -> int:
    """A decimal number as written, times 10**scale."""
    whole, _, fraction = text.partition(".")
    return int(whole + fraction.ljust(scale, "0"))


def number_column(numbers: Sequence[Any], places: bool) -> Column:
    """float64 where a number is one, int64 where all fit, else Python's integers."""
    if places or any(isinstance(number, float) for number in numbers):
        return np.array(numbers, dtype=np.float64)
    if all(-EXACT < number < EXACT for number in numbers):
        return np.array(numbers, dtype=np.int64)
    return np.array([*numbers, None], dtype=object)[:-1]
