"""Aggregates over the events of a list variable, one value for each match: exact, in Spark's types."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..cheap_dataclass import dataclass
from ..numbers.columns import approximate, exact_integers, flat, nulls, ranks
from ..numbers.doubles import ROUNDING, add_exactly, halves, in_units, pair, rounds_once
from ..numbers.gathered import Gathered
from ..sql.types import is_float, is_integer, to_arrow
from .ragged import from_first, from_last, starts_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..numbers.columns import Bools, Floats, Ints
    from ..sql.expression import Aggregate
    from .standing import Matches

    AnyArray = npt.NDArray[Any]

_SAFE = 1 << 62
_ROOT = 1 << 31


@dataclass(frozen=True, slots=True)
class Lists:
    """The events that a variable is bound to: `counts[i]` of match i, their positions match by match, in canonical
    order.
    """

    counts: Ints
    positions: Ints

    def first(self, places: int) -> Ints:
        """The event so many places after the first one of each match, or -1."""
        return from_first(self.counts, self.positions, places)

    def last(self, places: int) -> Ints:
        """The event so many places before the last one, or -1."""
        return from_last(self.counts, self.positions, places)


class BoundLists:
    """The events of a batch's matches by variable."""

    def __init__(self, matches: Matches) -> None:
        self._matches = matches
        self._known: dict[str, Lists] = {}

    def lists(self, variable: str) -> Lists:
        if variable not in self._known:
            matches = self._matches
            number = matches.names.index(variable) if variable in matches.names else -1
            is_bound = np.equal(matches.variables.T, number)
            self._known[variable] = Lists(is_bound.sum(axis=1, dtype=np.int64), matches.positions.T[is_bound])
        return self._known[variable]


def different(counts: Ints, values: Any) -> tuple[Ints, Any]:
    """The lists without what is equal to an earlier value of the same list: NaN equals NaN, and 0.0 -0.0."""
    rows, numbers = np.repeat(np.arange(len(counts)), counts), ranks(values).numbers
    _, first = np.unique(rows * (numbers.max(initial=0) + 2) + numbers, return_index=True)
    first.sort()
    return np.bincount(rows[first], minlength=len(counts)), flat(values).take(pa.array(first))


def aggregated(aggregate: Aggregate, counts: Ints, values: Any, by: Any = None) -> tuple[Any, Bools]:
    """The aggregate as a column, null where its value does not fit; and where it does not. `values` is its argument
    for all events of the lists (None for COUNT of events), and `by` the second one if it has two. Of MATCH_NUMBER() the
    numbers are in place of counts.
    """
    fits = np.zeros(len(counts), dtype=np.bool_)
    function = aggregate.function
    if function.numbers:
        return pa.array(counts), fits
    if aggregate.argument is None:
        return _ended(aggregate, Gathered(counts))
    values = flat(values)
    if function.by:
        places, none = _best(function.by, counts, ranks(by).numbers)
        return values.take(pa.array(places, mask=none)).cast(to_arrow(aggregate.type)), fits
    if function.combination == "list":
        offsets = np.append(starts_of(counts), len(values)).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(offsets), values).cast(to_arrow(aggregate.type)), fits
    present = ~nulls(values)
    if not present.all():
        rows = np.repeat(np.arange(len(counts)), counts)[present]
        counts, values = np.bincount(rows, minlength=len(counts)), values.filter(pa.array(present))
    if function.extreme:
        return _extreme(aggregate, counts, values), fits
    if not function.adds:
        return _ended(aggregate, Gathered(counts))
    type_ = aggregate.argument.type
    found = numbers(values, type_)
    totals, rests = (sums(counts, found), None) if not is_float(type_) else sums_of_doubles(counts, found)
    squares = (sums(counts, _squared(found)),) if function.squares else ()
    return _ended(aggregate, Gathered(counts, (totals, *squares), rests, aggregate.scale))


def _ended(aggregate: Aggregate, gathered: Gathered) -> tuple[Any, Bools]:
    assert aggregate.function.end is not None
    return aggregate.function.end(gathered, aggregate.type)


def numbers(values: Any, type_: Any) -> AnyArray:
    """Floats as such; anything else as exact integers (of a DECIMAL the unscaled value), in 64 bits where they fit."""
    if is_float(type_):
        return approximate(values)
    if is_integer(type_):
        return np.asarray(values.cast(pa.int64()).to_numpy(zero_copy_only=False), dtype=np.int64)
    exact = exact_integers(values)
    try:
        return np.array(exact, dtype=np.int64)
    except OverflowError:
        return np.array([*exact, None], dtype=object)[:-1]


def sums(counts: Ints, values: AnyArray) -> AnyArray:
    """The sum of each list of integers, 0 of an empty one, exact whatever its size."""
    some = counts > 0
    starts = starts_of(counts)[some]
    totals: AnyArray = np.zeros(len(counts), dtype=values.dtype)
    if not len(starts):
        return totals
    if values.dtype == np.int64 and _largest(values) * int(counts.max()) >= _SAFE:
        values, totals = values.astype(object), totals.astype(object)
    totals[some] = np.add.reduceat(values, starts)
    return totals


def sums_of_doubles(counts: Ints, values: Floats) -> tuple[AnyArray, Floats]:
    """The total and the rest (doubles.py) of each list, 0 of an empty one; they round to the exact sum and average."""
    some = np.flatnonzero(counts)
    starts = starts_of(counts)[some]
    totals, rests = np.zeros(len(counts)), np.zeros(len(counts))
    if not len(some):
        return totals, rests
    with np.errstate(invalid="ignore", over="ignore"):
        first, left = halves(values, starts)
        totals[some], rests[some] = np.add.reduceat(first, starts), np.add.reduceat(left, starts)
        # One number is its parts; the rests of several are rounded once for each but the first.
        sizes = np.where(counts[some] > 1, np.add.reduceat(np.abs(left), starts), 0.0)
        most = np.asarray(ROUNDING * counts[some] * sizes, dtype=np.float64)
        lost = ~np.isfinite(totals[some]) & np.isfinite(np.maximum.reduceat(np.abs(values), starts))
        sure = rounds_once(totals[some], rests[some], most, counts[some].astype(np.float64))
    exact: dict[int, Fraction] = {}
    for place in np.flatnonzero(~sure | lost).tolist():
        row, start = int(some[place]), int(starts[place])
        number = Fraction(add_exactly(values[start : start + int(counts[row])].tolist()))
        totals[row], rests[row] = pair(in_units(number))
        if not np.isfinite(totals[row]):
            exact[row] = number
    if not exact:
        return totals, rests
    column = totals.astype(object)
    for row, number in exact.items():
        column[row] = number
    return column, rests


def _squared(integers: AnyArray) -> AnyArray:
    return np.square(integers if _largest(integers) < _ROOT else integers.astype(object))


def _largest(numbers: AnyArray) -> int:
    return max(abs(int(numbers.min())), abs(int(numbers.max()))) if len(numbers) else 0


def _best(which: str, counts: Ints, numbers: Ints) -> tuple[Ints, Bools]:
    """Of each list the place of the first of its least or greatest numbers; and where there is none but -1, null."""
    rows, worst = np.repeat(np.arange(len(counts)), counts), int(numbers.max(initial=0)) + 1
    order = np.where(numbers < 0, worst, numbers if which == "least" else worst - 1 - numbers)
    sorted_ = np.lexsort((np.arange(len(rows)), order, rows))
    places, some = np.zeros(len(counts), dtype=np.int64), counts > 0
    places[some] = sorted_[starts_of(counts)[some]]
    none = ~some
    none[some] = numbers[places[some]] < 0
    return places, none


def _extreme(aggregate: Aggregate, counts: Ints, values: Any) -> Any:
    """The least or greatest value of each list, null of an empty one."""
    some = counts > 0
    ranked = ranks(values)
    reduce = np.minimum.reduceat if aggregate.function.extreme == "least" else np.maximum.reduceat
    places = np.zeros(len(counts), dtype=np.int64)
    if some.any():
        places[some] = reduce(ranked.numbers, starts_of(counts)[some])
    return flat(ranked.values.take(pa.array(places, mask=~some))).cast(to_arrow(aggregate.type))
