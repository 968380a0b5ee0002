"""What a part of a group has to tell of a query: exact numbers, as the results of another query. Imports no numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..aggregate_functions import COUNT, SUM
from ..expression import Aggregate
from ..plan import Measure, OutputPlan
from ..types import DOUBLE, STRING, is_float, is_numeric

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..plan import QueryPlan

MATCHES: Final = "matches"


def has_numbers(query: QueryPlan) -> bool:
    """Whether its sums are over numbers, which text can hold whatever their size."""
    return all(m.argument is None or not m.function.adds or is_numeric(m.argument.type) for m in query.measures)


def names(measure: int) -> tuple[str, str, str]:
    """The columns of a measure's count, total and extreme, as far as it has them."""
    return f"count_{measure}", f"total_{measure}", f"extreme_{measure}"


def numbers_of(query: QueryPlan) -> Iterator[OutputPlan]:
    """What an entry of the matrix holds: exact numbers as text, which has no bounds."""
    yield OutputPlan(MATCHES, Aggregate(COUNT, None, None, False, STRING, STRING))
    for number, measure in enumerate(query.measures):
        count, total, extreme = names(number)
        if measure.function.extreme:
            assert measure.argument is not None
            type_ = measure.argument.type
            yield OutputPlan(
                extreme, Aggregate(measure.function, measure.variable, measure.argument, False, None, type_)
            )
        elif measure.variable is not None:
            yield OutputPlan(count, Aggregate(COUNT, measure.variable, measure.argument, False, STRING, STRING))
        if measure.function.adds:
            yield OutputPlan(total, _total(measure))


def _total(measure: Measure) -> Aggregate:
    assert measure.argument is not None
    if is_float(measure.argument.type):
        return Aggregate(SUM, measure.variable, measure.argument, False, None, DOUBLE)
    return Aggregate(SUM, measure.variable, measure.argument, False, STRING, STRING)


def measures_of(outputs: tuple[OutputPlan, ...]) -> tuple[Measure, ...]:
    found: dict[tuple[object, ...], Measure] = {}
    for output in outputs:
        a = output.expression
        assert isinstance(a, Aggregate)
        found.setdefault(
            (a.function, a.variable, a.argument), Measure(a.function, a.variable, a.argument, a.type != DOUBLE)
        )
    return tuple(found.values())
