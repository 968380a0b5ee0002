"""Formulas as instructions for the numbers at hand: what is of one event is computed for all events at once, and each
other part gets a register. No number may come out as one that its type cannot hold, or divide by zero: that is known
from the least and the greatest that there can be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ...kernel.adjacent.tests import DIFFERENT, OPERATORS, evaluate_side
from ...numbers.columns import approximate
from ...sql.evaluate import evaluate
from ...sql.expression import Aggregate, Call, fields, variables
from ...sql.types import BIGINT, Decimal, integer_range, is_integer
from .computing import (
    ADD_INTEGERS,
    ADD_REALS,
    AND,
    AVERAGE,
    AVERAGE_OF_DECIMALS,
    AVERAGE_OF_REALS,
    COMPARE_INTEGERS,
    COMPARE_REALS,
    CONSTANT,
    DIVIDE_REALS,
    INTEGER_OF,
    KEPT,
    MULTIPLY_INTEGERS,
    MULTIPLY_REALS,
    OR,
    REAL_CONSTANT,
    REAL_OF,
    REQUIRE,
    SUBTRACT_INTEGERS,
    SUBTRACT_REALS,
    SUM_OF_REALS,
    TO_REAL,
)
from .formulas import is_of_one_event, is_real, name_of
from .numbers import MOST, NotComputedError, integers_of
from .records import NONE, PLACES
from .tallies import EXACT, LARGEST

if TYPE_CHECKING:
    from typing import Any

    from ...numbers.columns import Floats
    from ...sql.expression import Expression
    from ...sql.types import DataType
    from ..timeline import Timeline
    from .formulas import Formula
    from .numbers import NumberRow, NumberRows
    from .states import Walk
    from .tallies import Tallies

_SIGNS: Final = {
    "+": (ADD_INTEGERS, ADD_REALS),
    "-": (SUBTRACT_INTEGERS, SUBTRACT_REALS),
    "*": (MULTIPLY_INTEGERS, MULTIPLY_REALS),
    "/": (None, DIVIDE_REALS),
}
"""Of integers and of reals."""
_TRUTHS: Final = {"and": AND, "or": OR}


class Instruction(NamedTuple):
    do: int
    to: int
    a: int = 0
    b: int = 0
    c: int = 0
    d: int = 0


class Register(NamedTuple):
    """Its number, and between which numbers what it holds lies."""

    number: int
    low: float
    high: float


class Instructions:
    """Those of each formula of a walk, and the real constants that they use. Raises EvaluationError and
    NotComputedError.
    """

    def __init__(self, walk: Walk, timeline: Timeline, table: Any, rows: NumberRows, tallies: Tallies) -> None:
        self.walk, self.timeline, self.table, self.rows, self.tallies = walk, timeline, table, rows, tallies
        self._constants: list[float] = []
        self._sides: dict[tuple[Expression, frozenset[int]], NumberRow] = {}
        self.registers = 1
        self.of: dict[Formula, list[Instruction]] = {}
        for formula in walk.formulas:
            own = _OfFormula(formula, self)
            truth = own.truth(formula.expression)
            self.of[formula] = [*own.instructions, Instruction(REQUIRE, truth, truth)]
            self.registers = max(self.registers, len(own.instructions) + 1)

    @property
    def constants(self) -> Floats:
        return np.array(self._constants, dtype=np.float64)

    def constant(self, *numbers: float) -> int:
        """The number of the first of these among the constants."""
        self._constants += numbers
        return len(self._constants) - len(numbers)

    def side(self, expression: Expression, letters: frozenset[int]) -> NumberRow:
        """What is of one event, of all events that satisfy one of the letters."""
        key = expression, letters
        if key not in self._sides:
            (name,) = variables(expression)
            events = self.timeline.events_of_any(letters)
            self._sides[key] = self.rows.of(
                events, evaluate_side(expression, self.table, name, events), expression.type
            )
        return self._sides[key]


class _OfFormula:
    """A register for each part, from 1 on: the first is of reals and stays null."""

    def __init__(self, formula: Formula, means: Instructions) -> None:
        self._formula, self._means = formula, means
        self.instructions: list[Instruction] = []

    def truth(self, part: Expression) -> int:
        """The register with what is 1 if it is true."""
        match part:
            case Call("and" | "or" as word, (first, *more)):
                register = self.truth(first)
                for other in more:
                    register = self._add(_TRUTHS[word], register, self.truth(other))
                return register
            case Call("not", (Call("=", (a, b)),)):
                return self._comparison(DIFFERENT, a, b)
            case Call(sign, (a, b)):
                return self._comparison(OPERATORS[sign], a, b)
        raise ValueError(f"no condition: {part}")

    def _comparison(self, operator: int, a: Expression, b: Expression) -> int:
        do = COMPARE_REALS if is_real(a.type) else COMPARE_INTEGERS
        return self._add(do, self.number(a).number, self.number(b).number, operator)

    def number(self, part: Expression) -> Register:
        if is_of_one_event(part):
            return self._of_event(part) if fields(part) else self._constant(part)
        match part:
            case Aggregate():
                return self._aggregate(part)
            case Call("cast", (inner,), type_):
                return self._cast(self.number(inner), inner.type, type_)
            case Call(sign, (a, b), type_):
                return self._computed(sign, self._scaled(a, sign, type_), self._scaled(b, sign, type_), type_)
        raise ValueError(f"no number: {part}")

    def _of_event(self, part: Expression) -> Register:
        (name,) = variables(part)
        place = next(place for place in self._formula.places if name_of(place) == name)
        row = self._means.side(part, self._means.walk.letters_of(self._formula, place))
        do, number = REAL_OF if is_real(part.type) else INTEGER_OF, self._means.walk.number_of(place)
        return Register(self._add(do, number, row.number), row.low, row.high)

    def _constant(self, part: Expression) -> Register:
        found = evaluate(part, {}, 1)
        if found.null_count:
            raise NotComputedError
        (number,) = (approximate if is_real(part.type) else integers_of)(found).tolist()
        if is_real(part.type):
            if not abs(number) <= LARGEST:
                raise NotComputedError
            return Register(self._add(REAL_CONSTANT, self._means.constant(number)), number, number)
        return self._within(Register(self._add(CONSTANT, _word(number)), number, number), part.type)

    # ---- aggregates --------------------------------------------------------------------------------------------------

    def _aggregate(self, aggregate: Aggregate) -> Register:
        tallies, function, argument = self._means.tallies, aggregate.function, aggregate.argument
        if function.counts:
            least = 1 if aggregate.running and argument is None else 0
            return Register(self._add(KEPT, tallies.count(aggregate), NONE), least, tallies.longest)
        if function.extreme:
            slot, row = tallies.extreme(aggregate)
            do = REAL_OF if is_real(aggregate.type) else INTEGER_OF
            return Register(self._add(do, PLACES + slot, row.number), row.low, row.high)
        assert argument is not None
        count, total = tallies.count(aggregate), tallies.total(aggregate)
        divided, most = function.divided, total.most
        if total.scale is not None:
            units = self._means.constant(total.scale.higher, total.scale.unit)
            do = AVERAGE_OF_REALS if divided else SUM_OF_REALS
            return Register(self._add(do, total.slot, count, units, total.scale.bits), -most, most)
        if not divided:
            return self._within(Register(self._add(KEPT, total.slot, count), -most, most), aggregate.type)
        if is_real(aggregate.type):
            if most >= EXACT:
                raise NotComputedError
            return Register(self._add(AVERAGE, total.slot, count), -most, most)
        assert isinstance(aggregate.type, Decimal)
        factor = 10 ** (aggregate.type.scale - aggregate.scale)
        if most * factor >= MOST:
            raise NotComputedError
        found = Register(self._add(AVERAGE_OF_DECIMALS, total.slot, count, factor), -most * factor, most * factor)
        return self._within(found, aggregate.type)

    # ---- arithmetic --------------------------------------------------------------------------------------------------

    def _cast(self, found: Register, type_: DataType, to: DataType) -> Register:
        if is_real(to):
            if is_real(type_):
                return found
            return Register(self._add(TO_REAL, found.number), found.low, found.high)
        return self._within(self._times(found, 10 ** (_scale(to) - _scale(type_))), to)

    def _scaled(self, part: Expression, sign: str, type_: DataType) -> Register:
        """An operand, of a sum or a difference of DECIMAL with the digits that the result has."""
        found = self.number(part)
        return found if sign == "*" else self._times(found, 10 ** (_scale(type_) - _scale(part.type)))

    def _times(self, found: Register, factor: int) -> Register:
        if factor == 1:
            return found
        by = Register(self._add(CONSTANT, _word(factor)), factor, factor)
        return self._computed("*", found, by, BIGINT)

    def _computed(self, sign: str, a: Register, b: Register, type_: DataType) -> Register:
        match sign:
            case "+":
                low, high = a.low + b.low, a.high + b.high
            case "-":
                low, high = a.low - b.high, a.high - b.low
            case _:
                if sign == "/" and b.low <= 0 <= b.high:
                    raise NotComputedError
                ends = [x * y if sign == "*" else x / y for x in (a.low, a.high) for y in (b.low, b.high)]
                low, high = min(ends), max(ends)
        do = _SIGNS[sign][is_real(type_)]
        assert do is not None
        return self._within(Register(self._add(do, a.number, b.number), low, high), type_)

    def _within(self, found: Register, type_: DataType) -> Register:
        """Raises NotComputedError where the type may not hold the number."""
        if is_real(type_):
            low, high = -LARGEST, LARGEST
        elif is_integer(type_):
            low, high = integer_range(type_)
        elif isinstance(type_, Decimal):
            low, high = 1 - 10**type_.precision, 10**type_.precision - 1
        else:
            low, high = integer_range(BIGINT)
        if (
            found.low < max(low, -LARGEST)
            or found.high > high
            or (not is_real(type_) and not -MOST < found.low <= found.high < MOST)
        ):
            raise NotComputedError
        return found

    def _add(self, do: int, a: int = 0, b: int = 0, c: int = 0, d: int = 0) -> int:
        self.instructions.append(Instruction(do, len(self.instructions) + 1, a, b, c, d))
        return len(self.instructions)


def _scale(type_: DataType) -> int:
    return type_.scale if isinstance(type_, Decimal) else 0


def _word(number: int) -> int:
    if not -MOST < number < MOST:
        raise NotComputedError
    return number
