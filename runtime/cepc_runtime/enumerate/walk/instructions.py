"""Formulas as instructions for the numbers at hand: what is of one event is computed for all events at once, and each
other part gets a register. No number may come out as one that its type cannot hold, or divide by zero: that is known
from the least and the greatest that there can be.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ...kernel.adjacent.tests import (
    DIFFERENT,
    EQUAL,
    GREATER,
    LESS,
    OPERATORS,
    Comparison,
    evaluate_side,
)
from ...numbers.columns import approximate
from ...sql.evaluate import evaluate
from ...sql.expression import Aggregate, Call, Field, fields, rewrite, variables
from ...sql.types import BIGINT, Decimal, integer_range, is_integer
from .computing import (
    ADD_INTEGERS,
    ADD_REALS,
    AND,
    AVERAGE,
    AVERAGE_OF_DECIMALS,
    AVERAGE_OF_REALS,
    CHOOSE,
    COMPARE_INTEGERS,
    COMPARE_REALS,
    CONSTANT,
    DIVIDE_REALS,
    INTEGER_OF,
    IS_NULL_INTEGER,
    IS_NULL_REAL,
    KEPT,
    MULTIPLY_INTEGERS,
    MULTIPLY_REALS,
    NOT,
    OR,
    REAL_CONSTANT,
    REAL_OF,
    REQUIRE,
    SUBTRACT_INTEGERS,
    SUBTRACT_REALS,
    SUM_OF_REALS,
    TO_REAL,
)
from .formulas import has_number, is_of_one_event, is_real, name_of
from .numbers import MOST, NotComputedError, integers_of
from .reading import NULL
from .records import NONE, PLACES
from .tallies import EXACT, LARGEST

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ...numbers.columns import Floats
    from ...sql.expression import Expression
    from ...sql.types import DataType
    from ..timeline import Timeline
    from .formulas import EventPlace, Formula
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


class Instruction(NamedTuple):
    do: int
    to: int
    a: int = 0
    b: int = 0
    c: int = 0
    d: int = 0


class Register(NamedTuple):
    """Its number, and between which numbers what it holds lies where it is not null. One that is `sure` never is."""

    number: int
    low: float
    high: float
    sure: bool = False


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
            truth = own.number(formula.expression).number
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

    def ranked(
        self, operator: int, a: Expression, b: Expression, left: frozenset[int], right: frozenset[int]
    ) -> tuple[int, int]:
        """The rows of two sides, each of one event, as integers that compare as they do."""
        compared = Comparison(operator, _of("later", a), _of("earlier", b))
        events = self.timeline.events_of_any(left), self.timeline.events_of_any(right)
        return self.rows.ranked(compared, self.table, *events)


class _OfFormula:
    """A register for each part, from 1 on: the first is of reals and stays null."""

    def __init__(self, formula: Formula, means: Instructions) -> None:
        self._formula, self._means = formula, means
        self.instructions: list[Instruction] = []

    def number(self, part: Expression) -> Register:
        """The register with what comes of it; of a condition 1 if it is true."""
        if is_of_one_event(part):
            return self._of_event(part) if fields(part) else self._constant(part)
        match part:
            case Aggregate():
                return self._aggregate(part)
            case Call("cast", (inner,), type_):
                return self._cast(self.number(inner), inner.type, type_)
            case Call("+" | "-" | "*" | "/" as sign, (a, b), type_):
                return self._computed(sign, self._scaled(a, sign, type_), self._scaled(b, sign, type_), type_)
            case Call("not", (Call("=", (a, b)),)):
                return self._comparison(DIFFERENT, a, b)
            case Call(sign, (a, b)) if sign in OPERATORS:
                return self._comparison(OPERATORS[sign], a, b)
            case Call(function, arguments):
                found = [self.number(argument) for argument in arguments]
                return self._function(function, found, [argument.type for argument in arguments], part.type)
        raise ValueError(f"no number: {part}")

    def _function(
        self, function: str, found: Sequence[Register], types: Sequence[DataType], type_: DataType
    ) -> Register:
        real, (first, *more) = is_real(types[-1]), found
        match function:
            case "and" | "or":
                return reduce(lambda a, b: self._truth(AND if function == "and" else OR, a, b), more, first)
            case "not":
                return self._truth(NOT, first, first)
            case "isnull":
                return self._is_null(first, real)
            case "isnotnull":
                is_null = self._is_null(first, real)
                return self._truth(NOT, is_null, is_null)
            case "<=>":
                nulls = self._truth(AND, self._is_null(first, real), self._is_null(more[0], real))
                equal = self._compared(EQUAL, first, more[0], real)
                return self._chosen(equal, equal, nulls)
            case "in":
                return reduce(partial(self._truth, OR), (self._compared(EQUAL, first, one, real) for one in more))
            case "case":
                *parts, chosen = found
                for number in range(len(parts) - 2, -1, -2):
                    chosen = self._chosen(parts[number], parts[number + 1], chosen)
                return chosen
            case "coalesce":
                chosen = found[-1]
                for one in reversed(found[:-1]):
                    chosen = self._chosen(self._is_null(one, real), chosen, one)
                return chosen
            case "greatest" | "least":
                operator = GREATER if function == "greatest" else LESS
                return reduce(lambda a, b: self._preferred(operator, a, b, real), more, first)
            case "negative":
                return self._computed("-", self._zero(real), first, type_)
            case "abs":
                below = self._compared(LESS, first, self._zero(real), real)
                return self._chosen(below, self._computed("-", self._zero(real), first, type_), first)
        raise ValueError(f"no instruction: {function}")

    def _truth(self, do: int, *of: Register) -> Register:
        return Register(self._add(do, *(register.number for register in of)), 0, 1)

    def _is_null(self, found: Register, real: bool) -> Register:
        return self._truth(IS_NULL_REAL if real else IS_NULL_INTEGER, found)

    def _compared(self, operator: int, a: Register, b: Register, real: bool) -> Register:
        do = COMPARE_REALS if real else COMPARE_INTEGERS
        return Register(self._add(do, a.number, b.number, operator), 0, 1)

    def _chosen(self, truth: Register, a: Register, b: Register) -> Register:
        """One where something is true, and another one elsewhere."""
        return Register(self._add(CHOOSE, a.number, b.number, truth.number), min(a.low, b.low), max(a.high, b.high))

    def _preferred(self, operator: int, a: Register, b: Register, real: bool) -> Register:
        """The second where it compares so to the first, or that is null."""
        better = self._truth(OR, self._is_null(a, real), self._compared(operator, b, a, real))
        found, sure = self._chosen(better, b, a), [register for register in (a, b) if register.sure]
        if operator == GREATER:
            return found._replace(low=max((found.low, *(register.low for register in sure))), sure=bool(sure))
        return found._replace(high=min((found.high, *(register.high for register in sure))), sure=bool(sure))

    def _null(self, real: bool) -> int:
        return self._add(REAL_CONSTANT, self._means.constant(math.nan)) if real else self._add(CONSTANT, NULL)

    def _zero(self, real: bool) -> Register:
        if real:
            return Register(self._add(REAL_CONSTANT, self._means.constant(0.0)), 0, 0)
        return Register(self._add(CONSTANT, 0), 0, 0)

    def _comparison(self, operator: int, a: Expression, b: Expression) -> Register:
        if has_number(a.type):
            return self._compared(operator, self.number(a), self.number(b), is_real(a.type))
        places = [self._place_of(side) for side in (a, b)]
        letters = [self._means.walk.letters_of(self._formula, place) for place in places]
        rows = self._means.ranked(operator, a, b, *letters)
        sides = [
            Register(self._add(INTEGER_OF, self._means.walk.number_of(place), row), 0, 1)
            for place, row in zip(places, rows, strict=True)
        ]
        return self._compared(operator, sides[0], sides[1], real=False)

    def _place_of(self, part: Expression) -> EventPlace:
        (name,) = variables(part)
        return next(place for place in self._formula.places if name_of(place) == name)

    def _of_event(self, part: Expression) -> Register:
        place = self._place_of(part)
        row = self._means.side(part, self._means.walk.letters_of(self._formula, place))
        do, number = REAL_OF if is_real(part.type) else INTEGER_OF, self._means.walk.number_of(place)
        return Register(self._add(do, number, row.number), row.low, row.high)

    def _constant(self, part: Expression) -> Register:
        found = evaluate(part, {}, 1)
        if found.null_count:
            return Register(self._null(is_real(part.type)), 0, 0)
        (number,) = (approximate if is_real(part.type) else integers_of)(found).tolist()
        if is_real(part.type):
            if not abs(number) <= LARGEST:
                raise NotComputedError
            return Register(self._add(REAL_CONSTANT, self._means.constant(number)), number, number, sure=True)
        return self._within(Register(self._add(CONSTANT, _word(number)), number, number, sure=True), part.type)

    # ---- aggregates --------------------------------------------------------------------------------------------------

    def _aggregate(self, aggregate: Aggregate) -> Register:
        tallies, function, argument = self._means.tallies, aggregate.function, aggregate.argument
        if function.counts:
            least = 1 if aggregate.running and tallies.counts_all(aggregate) else 0
            return Register(self._add(KEPT, tallies.count(aggregate), NONE), least, tallies.longest, sure=True)
        if function.chosen:
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


def _of(role: str, side: Expression) -> Expression:
    """A side of a comparison as one of the event that is called so there."""
    return rewrite(side, lambda node: replace(node, variable=role) if isinstance(node, Field) else node)


def _scale(type_: DataType) -> int:
    return type_.scale if isinstance(type_, Decimal) else 0


def _word(number: int) -> int:
    if not -MOST < number < MOST:
        raise NotComputedError
    return number
