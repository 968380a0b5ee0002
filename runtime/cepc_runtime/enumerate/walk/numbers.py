"""Both sides of each test as numbers that compare as the values do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ...kernel.adjacent.tests import evaluate_side, shared_ranks
from ...numbers.columns import flat, nulls
from ...sql.expression import Field, variables
from .reading import NULL

if TYPE_CHECKING:
    from ...numbers.columns import Ints
    from ...sql.expression import Expression
    from ..timeline import Timeline
    from .neighbours import PairTest
    from .states import Walk


class Sides:
    """The numbers, a row for each side of a test: `rows[test]` says which two. Sides that are the same column of the
    same events are one row. Raises EvaluationError.
    """

    def __init__(self, walk: Walk, timeline: Timeline, table: Any) -> None:
        self._timeline, self._table = timeline, table
        self._found: dict[tuple[str | Expression, frozenset[int]], int | None] = {}
        self._numbers: list[Ints] = []
        self.rows: dict[PairTest, tuple[int, int]] = {test: self._of(test, *walk.tested(test)) for test in walk.tests}

    @property
    def numbers(self) -> Ints:
        shape = len(self._numbers), self._timeline.length
        return np.stack(self._numbers) if self._numbers else np.empty(shape, dtype=np.int64)

    def _of(self, test: PairTest, later: frozenset[int], earlier: frozenset[int]) -> tuple[int, int]:
        left, right = self._side(test.comparison.later, later), self._side(test.comparison.earlier, earlier)
        if left is not None and right is not None:
            return left, right
        ranks = shared_ranks(test.comparison, self._table, self._events(later), self._events(earlier))
        return self._kept(np.where(ranks[0] < 0, NULL, ranks[0])), self._kept(np.where(ranks[1] < 0, NULL, ranks[1]))

    def _side(self, expression: Expression, letters: frozenset[int]) -> int | None:
        """The row of a side's values themselves, if they are or can be seen as integers. Those of a mere column, which
        cannot fail, are of all events.
        """
        key = (expression.column, frozenset[int]()) if isinstance(expression, Field) else (expression, letters)
        if key not in self._found:
            numbers = self._values(expression, letters)
            self._found[key] = None if numbers is None else self._kept(numbers)
        return self._found[key]

    def _values(self, expression: Expression, letters: frozenset[int]) -> Ints | None:
        if isinstance(expression, Field):
            return ordered(flat(self._table.column(expression.column)))
        events = self._events(letters)
        (name,) = variables(expression)
        found = ordered(evaluate_side(expression, self._table, name, events))
        if found is None:
            return None
        numbers = np.full(self._timeline.length, NULL, dtype=np.int64)
        numbers[events] = found
        return numbers

    def _kept(self, numbers: Ints) -> int:
        self._numbers.append(numbers)
        return len(self._numbers) - 1

    def _events(self, letters: frozenset[int]) -> Ints:
        """The events that satisfy one of the letters."""
        some = np.zeros(self._timeline.length, dtype=np.bool_)
        for letter in letters:
            some |= self._timeline.satisfies(letter)
        return np.flatnonzero(some)


def ordered(column: Any) -> Ints | None:
    """The values of a column as integers in the same order, NULL for null; None where they are something else."""
    kind = column.type
    if pa.types.is_float64(kind):
        values = column.fill_null(0.0).to_numpy(zero_copy_only=False) + 0.0  # -0.0 + 0.0 is 0.0
        values[np.isnan(values)] = np.nan
        bits = values.view(np.int64)
        numbers = np.where(bits < 0, bits ^ ((1 << 63) - 1), bits)
    elif pa.types.is_signed_integer(kind):
        numbers = np.asarray(column.fill_null(0).to_numpy(zero_copy_only=False), dtype=np.int64)
        if np.any(numbers == NULL):
            return None
    else:
        return None
    return np.where(nulls(column), NULL, numbers) if column.null_count else numbers
