"""What parts have told of a query, as columns by plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..columns import ranks
from ..exactness import EXACT
from ..types import Decimal, is_float
from .numbers import MATCHES, names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..exactness import Column
    from ..kernel.planes import QueryPlanes
    from ..plan import QueryPlan


def planes_told(query: QueryPlan, layout: QueryPlanes, table: Any) -> tuple[tuple[Column, ...], dict[Any, Any]]:
    """For each plane a number for each row of what `numbers_of` tells; planes that are not told are 0. Then the values by place."""
    planes: list[Column] = [np.zeros(table.num_rows, dtype=np.int64)] * layout.count
    planes[0] = number_column([int(count) for count in table.column(MATCHES).to_pylist()])
    extremes: dict[Any, Any] = {}
    for number, (measure, places) in enumerate(zip(query.measures, layout.measures, strict=True)):
        count, total, extreme = (
            table.column(name) if name in table.column_names else None for name in names(number)
        )  # fmt: skip
        if places.extreme is not None:
            key = layout.planes[places.extreme - 1].value
            planes[places.extreme], extremes[key] = places_of(extreme, key.role == "greatest")
            continue
        if places.count is not None and count is not None:
            planes[places.count] = number_column([int(text) for text in count.to_pylist()])
        if places.total is not None and total is not None and measure.argument is not None:
            type_ = measure.argument.type
            scale = type_.scale if isinstance(type_, Decimal) else 0
            planes[places.total] = number_column([
                0 if value is None else value if is_float(type_) else _scaled(value, scale)
                for value in total.to_pylist()
            ])  # fmt: skip
    return tuple(planes), extremes


def places_of(values: Any, greatest: bool) -> tuple[Column, Any]:
    """The places of values in a minimum plane, inf for null, and the values by place."""
    ranked = ranks(values)
    sign = -1.0 if greatest else 1.0
    return np.where(ranked.numbers < 0, np.inf, sign * ranked.numbers), ranked.values


def _scaled(text: str, scale: int) -> int:
    """A decimal number as written, times 10**scale."""
    whole, _, fraction = text.partition(".")
    return int(whole + fraction.ljust(scale, "0"))


def number_column(numbers: Sequence[Any]) -> Column:
    """float64 where a number is one, int64 where all fit, else Python's integers."""
    if any(isinstance(number, float) for number in numbers):
        return np.array(numbers, dtype=np.float64)
    if all(-EXACT < number < EXACT for number in numbers):
        return np.array(numbers, dtype=np.int64)
    return np.array([*numbers, None], dtype=object)[:-1]
