"""Aggregates of the events bound to a variable up to the newest, in conditions carried along partial matches. When
nothing more can be bound to the variable, that is of all of them.

A partial match keeps a few integers for each, its *parts*, which a new event changes by what it adds, whatever the
match's length. Sums are exact: of large integers a part has the digits between two powers of two, of doubles a bin of
their bits (bins.py).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from ..numbers.columns import nulls, ranks
from ..numbers.gathered import Gathered
from ..sql.types import is_float
from .bins import Binned, binned, rounded
from .lists import aggregated, numbers
from .ragged import starts_of

if TYPE_CHECKING:
    from ..numbers.columns import Bools, Ints
    from ..sql.expression import Aggregate, Expression
    from .evaluation import Evaluator, OfEvents
    from .lists import AnyArray
    from .pattern import IndexedPositions
    from .timeline import Timeline

DIGIT: Final = 32
"""Bits of a part of large integers: so many events can be added that no memory holds them."""
SAFE: Final = 1 << 62


def over(aggregate: Aggregate, counts: Ints, positions: Ints, evaluator: OfEvents) -> tuple[Any, Bools]:
    """The aggregate of each list of events as a column, and where it does not fit."""
    if aggregate.argument is None:
        return aggregated(aggregate, counts, None)
    by = None if aggregate.by is None else evaluator.of_events(aggregate.by, positions)
    return aggregated(aggregate, counts, evaluator.of_events(aggregate.argument, positions), by)


def chosen_by(aggregate: Aggregate) -> Expression:
    """Whose least or greatest value says which event it is of."""
    found = aggregate.by or aggregate.argument
    assert found is not None
    return found


def up_to_each(aggregate: Aggregate, counts: Ints, positions: Ints, evaluator: OfEvents) -> tuple[Any, Bools]:
    """The aggregate of the first events of each list as a column, of none, of one and so on up to all of them, list by
    list; and where it does not fit.
    """
    longer, rows = counts + 1, np.repeat(np.arange(len(counts)), counts)
    events, places = len(positions), np.arange(len(positions)) + rows + 1
    if aggregate.function.chosen:
        # each list has larger numbers than those behind it, so that the least so far is one of its own
        base = (len(counts) - np.repeat(np.arange(len(counts)), longer)) * (events + 1)
        found, order = base + events, _preferred(aggregate, positions, evaluator)
        found[places] = base[places] + order
        best = np.minimum.accumulate(found) - base
        some = best < events
        chosen = np.zeros(events, dtype=np.int64)
        chosen[order[order < events]] = np.flatnonzero(order < events)
        return over(aggregate, some.astype(np.int64), positions[chosen[best[some]]], evaluator)
    values = None if aggregate.argument is None else evaluator.of_events(aggregate.argument, positions)
    parts, names = added(aggregate, events, values)
    so_far = np.zeros((len(parts), int(longer.sum())), dtype=np.int64)
    so_far[:, places] = parts
    so_far = np.cumsum(so_far, axis=1)
    return ended(aggregate, so_far - np.repeat(so_far[:, starts_of(longer)], longer, axis=1), names)


def _preferred(aggregate: Aggregate, positions: Ints, evaluator: OfEvents) -> Ints:
    """For each of the events its place among them when the preferred one comes first, of equal ones the earlier; their
    number for one whose value is null.
    """
    numbers = np.asarray(ranks(evaluator.of_events(chosen_by(aggregate), positions)).numbers, dtype=np.int64)
    best = numbers if aggregate.function.chosen == "least" else -numbers
    found = np.empty(len(positions), dtype=np.int64)
    found[np.lexsort((np.arange(len(positions)), best))] = np.arange(len(positions))
    return np.where(numbers < 0, len(positions), found)


class RunningAggregate:
    """One aggregate of a variable's events, in the current instance of the scope if there is one."""

    def __init__(
        self,
        aggregate: Aggregate,
        scope: int | None,
        pattern: IndexedPositions,
        timeline: Timeline,
        evaluator: Evaluator,
    ) -> None:
        assert aggregate.variable is not None
        self.aggregate, self.scope = aggregate, scope
        self.binds = pattern.binds(aggregate.variable, scope)
        self.enters = None if scope is None else pattern.enters(scope)
        letters = {edge.letter for edge, own in zip(pattern.edges, self.binds, strict=True) if own}
        self._timeline, self._evaluator, self._letters = timeline, evaluator, sorted(letters)

    @cached_property
    def _events(self) -> Ints:
        """Those that may be bound to the variable."""
        own = np.zeros(self._timeline.length, dtype=np.bool_)
        for letter in self._letters:
            own[self._timeline.events_of(letter)] = True
        return np.flatnonzero(own)

    @cached_property
    def _values(self) -> Any:
        """The argument of these events."""
        assert self.aggregate.argument is not None
        return self._evaluator.of_events(self.aggregate.argument, self._events)

    @cached_property
    def _ranks(self) -> Ints:
        """Of all events, larger for what is preferred; -1 for null."""
        found = np.full(self._timeline.length, -1, dtype=np.int64)
        values = self._evaluator.of_events(chosen_by(self.aggregate), self._events)
        places = np.asarray(ranks(values).numbers, dtype=np.int64)
        best = places if self.aggregate.function.chosen == "greatest" else int(places.max(initial=0)) - places
        found[self._events] = np.where(nulls(values), -1, best)
        return found

    @cached_property
    def _added(self) -> tuple[Ints, tuple[int, ...]]:
        """What each event adds to the parts, and which parts those are."""
        values = None if self.aggregate.argument is None else self._values
        parts, names = added(self.aggregate, len(self._events), values)
        placed = np.zeros((len(parts), self._timeline.length), dtype=np.int64)
        placed[:, self._events] = parts
        return placed, names

    @cached_property
    def size(self) -> int:
        """How many parts there are."""
        return 1 if self.aggregate.function.chosen else len(self._added[0])

    @property
    def nothing(self) -> int:
        """What the parts are before the first event: no event is the best, or nothing is added up."""
        return -1 if self.aggregate.function.chosen else 0

    def add(self, parts: Ints, rows: Ints, positions: Ints) -> None:
        """Changes the parts of some rows, which have bound these events."""
        if not self.aggregate.function.chosen:
            parts[:, rows] += self._added[0][:, positions]
            return
        best, rank = parts[0, rows], self._ranks
        better = (rank[positions] >= 0) & ((best < 0) | (rank[positions] > rank[best]))
        parts[0, rows[better]] = positions[better]

    def values(self, parts: Ints) -> tuple[Any, Bools]:
        """The aggregate of each row as a column, and where it does not fit."""
        if self.aggregate.function.chosen:
            some = parts[0] >= 0
            return over(self.aggregate, some.astype(np.int64), parts[0][some], self._evaluator)
        return ended(self.aggregate, parts, self._added[1])


def added(aggregate: Aggregate, events: int, values: Any) -> tuple[list[Ints], tuple[int, ...]]:
    """What each of so many events, with these values of the argument, adds to the parts: to how many there are, then to
    the sum; and which parts those are.
    """
    if aggregate.argument is None:
        return [np.ones(events, dtype=np.int64)], ()
    present = ~nulls(values)
    parts = [present.astype(np.int64)]
    if not aggregate.function.adds:
        return parts, ()
    own = np.flatnonzero(present)
    found = numbers(values.take(pa.array(own)), aggregate.argument.type)
    digits, names = _of_doubles(found) if is_float(aggregate.argument.type) else _of_integers(found)
    for digit in digits:
        part = np.zeros(events, dtype=np.int64)
        part[own] = digit
        parts.append(part)
    return parts, names


def ended(aggregate: Aggregate, parts: Ints, names: tuple[int, ...]) -> tuple[Any, Bools]:
    """The aggregate as a column from what has been added to the parts, and where it does not fit."""
    counts, digits, function = parts[0], parts[1:], aggregate.function
    assert function.end is not None
    if not function.adds:
        return function.end(Gathered(counts), aggregate.type)
    assert aggregate.argument is not None
    totals: AnyArray
    if is_float(aggregate.argument.type):
        nan, most, least, *bins = digits
        special = np.where(most > 0, np.inf, 0.0)
        special = np.where(least > 0, -np.inf, special)
        special = np.where((nan > 0) | ((most > 0) & (least > 0)), np.nan, special)
        totals, rests = rounded(Binned(dict(zip(names, bins, strict=True)), special))
        return function.end(Gathered(counts, (totals,), rests, 0), aggregate.type)
    totals = digits[0]
    if len(digits) > 1:
        totals = np.array([0, None], dtype=object)[:-1].repeat(len(counts))
        for digit, shift in zip(digits, names, strict=True):
            totals = totals + digit.astype(object) * (1 << shift)
    return function.end(Gathered(counts, (totals,), None, aggregate.scale), aggregate.type)


def _of_integers(found: AnyArray) -> tuple[list[Ints], tuple[int, ...]]:
    """Parts whose sums are exact, and how many bits each is shifted."""
    largest = max((abs(int(n)) for n in (found.min(initial=0), found.max(initial=0))), default=0) if len(found) else 0
    if largest * max(len(found), 1) < SAFE:
        return [found.astype(np.int64)], (0,)
    whole = [int(number) for number in found.tolist()]
    count = largest.bit_length() // DIGIT + 1
    digits = [
        np.array([number >> DIGIT * i & (1 << DIGIT) - 1 for number in whole], dtype=np.int64) for i in range(count)
    ]
    digits.append(np.array([number >> DIGIT * count for number in whole], dtype=np.int64))  # the sign
    return digits, tuple(DIGIT * i for i in range(count + 1))


def _of_doubles(found: AnyArray) -> tuple[list[Ints], tuple[int, ...]]:
    """How many are NaN and infinite, and the bins of the others, with their numbers."""
    split = binned(np.ones(len(found), dtype=np.int64), found)
    names = tuple(split.bins)
    special = [np.isnan(found), found == np.inf, found == -np.inf]
    return [*(kind.astype(np.int64) for kind in special), *(split.bins[name] for name in names)], names
