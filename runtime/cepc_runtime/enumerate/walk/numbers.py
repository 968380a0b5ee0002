"""What tests compare and formulas compute with, as numbers of events: integers, or float64."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from ...kernel.adjacent.tests import evaluate_side, shared_ranks
from ...numbers.columns import approximate, flat, low_words, nulls
from ...sql.expression import Field, variables
from .formulas import is_real
from .reading import NULL

if TYPE_CHECKING:
    from ...kernel.adjacent.tests import Comparison
    from ...numbers.columns import Floats, Ints
    from ...sql.expression import Expression
    from ...sql.types import DataType
    from ..timeline import Timeline
    from .neighbours import PairTest
    from .states import Walk


MOST: Final = 1 << 62
"""No integer that is added up or computed is as large."""


class NotComputedError(Exception):
    """The numbers at hand are too large, or too special, to be computed while a match is walked."""


class NumberRow(NamedTuple):
    """The numbers of all events, and between which they lie."""

    number: int
    low: float
    high: float


class NumberRows:
    """Rows of integers, NULL for null, and of reals, NaN for null."""

    def __init__(self, timeline: Timeline) -> None:
        self._length = timeline.length
        self._integers: list[Ints] = []
        self._reals: list[Floats] = []

    @property
    def integers(self) -> Ints:
        return np.stack(self._integers) if self._integers else np.empty((0, self._length), dtype=np.int64)

    @property
    def reals(self) -> Floats:
        return np.stack(self._reals) if self._reals else np.empty((0, self._length))

    def keep(self, integers: Ints) -> int:
        """A row of integers as it is."""
        self._integers.append(integers)
        return len(self._integers) - 1

    def put(self, events: Ints, integers: Ints, other: int) -> int:
        """A row of integers of these events, and of another one for all others."""
        row = np.full(self._length, other, dtype=np.int64)
        row[events] = integers
        return self.keep(row)

    def ranked(self, compared: Comparison, table: Any, later: Ints, earlier: Ints) -> tuple[int, int]:
        """Two rows of integers that compare as both sides do, of the later and the earlier events."""
        first, second = (np.where(ranks < 0, NULL, ranks) for ranks in shared_ranks(compared, table, later, earlier))
        return self.keep(first), self.keep(second)

    def of(self, events: Ints, column: Any, type_: DataType) -> NumberRow:
        """The values of these events as they are computed with: integers, of a DECIMAL unscaled, or reals. Raises
        NotComputedError.
        """
        some = ~nulls(column)
        if not is_real(type_):
            integers = integers_of(column)[some]
            row = self.put(events[some], integers, NULL)
            return NumberRow(row, int(integers.min(initial=0)), int(integers.max(initial=0)))
        found = approximate(column)[some]
        if not np.isfinite(found).all():
            raise NotComputedError
        reals = np.full(self._length, np.nan)
        reals[events[some]] = found
        self._reals.append(reals)
        return NumberRow(len(self._reals) - 1, float(found.min(initial=0)), float(found.max(initial=0)))


class Sides:
    """Both sides of each test: `rows[test]` says which two rows of integers. Sides that are the same column of the same
    events are one row. Raises EvaluationError.
    """

    def __init__(self, walk: Walk, timeline: Timeline, table: Any, rows: NumberRows) -> None:
        self._timeline, self._table, self._rows = timeline, table, rows
        self._found: dict[tuple[str | Expression, frozenset[int]], int | None] = {}
        self.rows: dict[PairTest, tuple[int, int]] = {
            test: self._of(test, walk.letters_of(test, "later"), walk.letters_of(test, test.other))
            for test in walk.tests
        }

    def _of(self, test: PairTest, later: frozenset[int], earlier: frozenset[int]) -> tuple[int, int]:
        left, right = self._side(test.comparison.later, later), self._side(test.comparison.earlier, earlier)
        if left is not None and right is not None:
            return left, right
        events = self._timeline.events_of_any(later), self._timeline.events_of_any(earlier)
        return self._rows.ranked(test.comparison, self._table, *events)

    def _side(self, expression: Expression, letters: frozenset[int]) -> int | None:
        """The row of a side's values themselves, if they are or can be seen as integers. Those of a mere column, which
        cannot fail, are of all events.
        """
        key = (expression.column, frozenset[int]()) if isinstance(expression, Field) else (expression, letters)
        if key not in self._found:
            self._found[key] = self._values(expression, letters)
        return self._found[key]

    def _values(self, expression: Expression, letters: frozenset[int]) -> int | None:
        if isinstance(expression, Field):
            every = ordered(flat(self._table.column(expression.column)))
            return None if every is None else self._rows.keep(every)
        events = self._timeline.events_of_any(letters)
        (name,) = variables(expression)
        found = ordered(evaluate_side(expression, self._table, name, events))
        return None if found is None else self._rows.put(events, found, NULL)


def integers_of(column: Any) -> Ints:
    """The values of a column as integers, of a DECIMAL unscaled, and anything for null. Raises NotComputedError."""
    if pa.types.is_date32(column.type) or pa.types.is_boolean(column.type):
        column = column.cast(pa.int32())
    if np.abs(approximate(column)).max(initial=0) >= MOST:
        raise NotComputedError
    return low_words(column)


def ordered(column: Any) -> Ints | None:
    """The values of a column as integers in the same order, NULL for null; None where they are something else."""
    kind = column.type
    if pa.types.is_float64(kind):
        values = column.fill_null(0.0).to_numpy(zero_copy_only=False) + 0.0  # -0.0 + 0.0 is 0.0
        values[np.isnan(values)] = np.nan
        bits = values.view(np.int64)
        found = np.where(bits < 0, bits ^ ((1 << 63) - 1), bits)
    elif pa.types.is_signed_integer(kind):
        found = np.asarray(column.fill_null(0).to_numpy(zero_copy_only=False), dtype=np.int64)
        if np.any(found == NULL):
            return None
    else:
        return None
    return np.where(nulls(column), NULL, found) if column.null_count else found
