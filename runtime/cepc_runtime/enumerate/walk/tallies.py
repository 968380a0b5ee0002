"""What a match keeps in mind of a variable's events: how many there are, their sum, the least and the greatest of them.
Each is one or two integers, *slots*, which an event changes.

Sums are exact. Doubles are added up as integers: each is so many times a power of two, in two parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from ...numbers.columns import approximate, nulls, ranks
from ..running import chosen_by
from .formulas import is_real
from .numbers import MOST, NotComputedError, NumberRow, integers_of, ordered
from .reading import NULL
from .records import ADD, COUNT, GREATEST, HOLD, HOLD_FIRST, LEAST, NONE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...numbers.columns import Floats, Ints
    from ...sql.expression import Aggregate, Expression
    from ..evaluation import Evaluator
    from ..timeline import Timeline
    from .formulas import HeldEvent
    from .numbers import NumberRows

LARGEST: Final = 2.0**500
"""Between this and its inverse doubles are added up and divided without overflow or loss."""
EXACT: Final = 2.0**53
PART: Final = 52
"""Bits of the lower part of a double at most."""


class Keep(NamedTuple):
    """How an event changes a slot: by one more, by the number of a row of integers, or by being the one of which that
    is the least so far, or the greatest.
    """

    kind: int
    slot: int
    row: int


class Total(NamedTuple):
    """A sum in a slot, `most` at most in size. One of doubles is in two: so many of both units of its `scale`."""

    slot: int
    most: float
    scale: UnitsOfDouble | None = None


class UnitsOfDouble(NamedTuple):
    """A double is so many of a power of two, and so many of one that is so many `bits` larger."""

    unit: float
    bits: int

    @property
    def higher(self) -> float:
        return self.unit * 2.0**self.bits


class Tallies:
    """The slots of what is held, and those of all variables, to which these events may be bound. `keeps` says for each
    variable how an event changes them; `fresh` is what they are without events.
    """

    def __init__(
        self,
        events: Mapping[str, Ints],
        held: Sequence[HeldEvent],
        rows: NumberRows,
        timeline: Timeline,
        evaluator: Evaluator,
    ) -> None:
        self._events, self._rows, self._timeline, self._evaluator = events, rows, timeline, evaluator
        self.fresh: list[int] = []
        self.keeps: dict[str, list[Keep]] = {}
        for event in held:
            self._kept(event.variable, HOLD if event.at == "last" else HOLD_FIRST, NONE, NONE)
        self._columns: dict[tuple[str, Expression], Any] = {}
        self._counts: dict[tuple[str, Expression | None], int] = {}
        self._totals: dict[tuple[str, Expression], Total] = {}
        self._rows_of_values: dict[tuple[str, Expression], NumberRow] = {}
        self._extremes: dict[tuple[str, Expression, int], int] = {}
        self.longest = int(np.diff(timeline.group_starts).max(initial=1))
        """How many events a match has at most."""

    def count(self, aggregate: Aggregate) -> int:
        """The slot in which its values are counted, or events."""
        variable, argument = _of(aggregate)
        if (variable, argument) not in self._counts:
            row = NONE
            if argument is not None:
                present = ~nulls(self._values(aggregate))
                row = self._rows.put(self._events[variable], present.astype(np.int64), 0)
            slot = self._kept(variable, COUNT if row == NONE else ADD, row, 0)
            self._counts[variable, argument] = slot
        return self._counts[variable, argument]

    def counts_all(self, aggregate: Aggregate) -> bool:
        """Whether no event of its variable lacks a value, so that up to any of them there is one."""
        return aggregate.argument is None or not self._values(aggregate).null_count

    def total(self, aggregate: Aggregate) -> Total:
        """Its sum, of a DECIMAL unscaled. Raises NotComputedError."""
        variable, argument = _of(aggregate)
        assert argument is not None
        if (variable, argument) not in self._totals:
            values = self._values(aggregate)
            some = ~nulls(values)
            events = self._events[variable][some]
            if is_real(argument.type):
                total = self._of_doubles(variable, events, approximate(values)[some])
            else:
                total = self._of_integers(variable, events, integers_of(values)[some])
            self._totals[variable, argument] = total
        return self._totals[variable, argument]

    def extreme(self, aggregate: Aggregate) -> tuple[int, NumberRow]:
        """The slot of the event of which it is, and its value of each. Raises NotComputedError."""
        variable, argument = _of(aggregate)
        assert argument is not None
        kind = LEAST if aggregate.function.chosen == "least" else GREATEST
        events = self._events[variable]
        if (variable, argument) not in self._rows_of_values:
            self._rows_of_values[variable, argument] = self._rows.of(events, self._values(aggregate), argument.type)
        row = self._rows_of_values[variable, argument]
        key = variable, chosen_by(aggregate), kind
        if key not in self._extremes:
            self._extremes[key] = self._kept(variable, kind, self._compared(aggregate, row), NONE)
        return self._extremes[key], row

    # ---- parts -------------------------------------------------------------------------------------------------------

    def _values(self, aggregate: Aggregate) -> Any:
        """The argument of the variable's events."""
        variable, argument = _of(aggregate)
        assert argument is not None
        if (variable, argument) not in self._columns:
            self._columns[variable, argument] = self._evaluator.of_events(argument, self._events[variable])
        return self._columns[variable, argument]

    def _compared(self, aggregate: Aggregate, row: NumberRow) -> int:
        """The row of integers the least or greatest of which says which event it is."""
        assert aggregate.variable is not None
        events = self._events[aggregate.variable]
        if aggregate.by is not None:
            values = self._evaluator.of_events(aggregate.by, events)
            return self._rows.put(events, np.where(nulls(values), NULL, ranks(values).numbers), NULL)
        if not is_real(aggregate.type):
            return row.number
        found = ordered(self._values(aggregate).cast(pa.float64()))
        assert found is not None
        return self._rows.put(events, found, NULL)

    def _of_integers(self, variable: str, events: Ints, found: Any) -> Total:
        most = self._most(events, np.abs(found.astype(np.float64)))
        if most >= MOST:
            raise NotComputedError
        return Total(self._kept(variable, ADD, self._rows.put(events, found, 0), 0), most)

    def _of_doubles(self, variable: str, events: Ints, found: Floats) -> Total:
        sizes = np.abs(found)
        if not np.isfinite(found).all() or sizes.max(initial=0.0) > LARGEST:
            raise NotComputedError
        most, scale = self._most(events, sizes), UnitsOfDouble(_unit(found), min(PART, 62 - self.longest.bit_length()))
        if scale.unit < 1 / LARGEST or most >= EXACT * scale.higher:
            raise NotComputedError
        many = np.trunc(found / scale.higher)
        parts = many, (found - many * scale.higher) / scale.unit
        slot, _ = (self._kept(variable, ADD, self._rows.put(events, part.astype(np.int64), 0), 0) for part in parts)
        return Total(slot, most, scale)

    def _most(self, events: Ints, sizes: Floats) -> float:
        """No less than all sizes of any group together."""
        upto = np.zeros(self._timeline.length + 1)
        upto[events + 1] = sizes
        upto = np.cumsum(upto)
        starts = self._timeline.group_starts
        return float((upto[starts[1:]] - upto[starts[:-1]]).max(initial=0.0) + 1e-9 * upto[-1])

    def _kept(self, variable: str, kind: int, row: int, fresh: int) -> int:
        self.fresh.append(fresh)
        self.keeps.setdefault(variable, []).append(Keep(kind, len(self.fresh) - 1, row))
        return len(self.fresh) - 1


def _of(aggregate: Aggregate) -> tuple[str, Expression | None]:
    assert aggregate.variable is not None
    return aggregate.variable, aggregate.argument


def _unit(values: Floats) -> float:
    """The largest power of two that all are multiples of."""
    mantissas, exponents = np.frexp(values[values != 0])
    if not len(exponents):
        return 1.0
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    zeros = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return float(np.ldexp(1.0, int((exponents - 53 + zeros).min())))
