"""Conditions that are computed while a match is walked: of numbers of several events, and of aggregates of a variable's
events so far. What none of them can be is decided here, from a query alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final
from typing import Literal as OneOf

from ...cheap_dataclass import dataclass
from ...sql.expression import Aggregate, Call, Field, Literal, aggregates, fields
from ...sql.types import (
    BOOLEAN,
    DOUBLE,
    FLOAT,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Decimal,
    Interval,
    is_float,
    is_integer,
    is_numeric,
    is_time,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...sql.expression import Expression, FieldKey
    from ...sql.types import DataType
    from ..count_limits import CountLimit

COMPARED: Final = frozenset(("<", "<=", ">", ">=", "="))
LOGIC: Final = frozenset(("and", "or", "not", "isnull", "isnotnull"))


@dataclass(frozen=True, slots=True)
class HeldEvent:
    """The first or last event so far that is bound to the variable, which the event read next is not."""

    variable: str
    at: OneOf["first", "last"]

    @property
    def name(self) -> str:
        """What stands for it in a formula: no variable has a space in its name there."""
        return f"{self.at} {self.variable}"


EventPlace = OneOf["later", "earlier", "first", "nowhere", "far"] | HeldEvent


@dataclass(frozen=True, slots=True)
class Formula:
    """True of numbers of the events that its fields are of, which stand in `places` and are named by them, and of
    aggregates of the events so far, with the one that is read.
    """

    expression: Expression
    places: tuple[EventPlace, ...]

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        return aggregates(self.expression)


def name_of(place: EventPlace) -> str:
    return place.name if isinstance(place, HeldEvent) else place


def formula_of(part: Expression, places: Mapping[FieldKey, EventPlace]) -> Formula | None:
    """A part of a condition whose fields are of events in these places; None where it is no formula."""
    own = {places[field.key] for field in _own_fields(part)}
    if "far" in own or not _is_number(part, places):
        return None
    return Formula(_placed(part, places), tuple(sorted(own, key=name_of)))


def at_most(limit: CountLimit) -> Formula:
    """True of matches with no more events of the variable than there may be in the end."""
    return Formula(Call("<=", (limit.count, Literal(limit.most, limit.count.type)), BOOLEAN), ())


def is_of_one_event(expression: Expression) -> bool:
    """Whether a part of a formula is of one event at most, so that it can be evaluated for all events at once."""
    return not aggregates(expression) and len({field.variable for field in fields(expression)}) <= 1


def is_real(type_: DataType) -> bool:
    """Whether numbers of the type are float64; those of all others are integers."""
    return is_float(type_)


def _placed(expression: Expression, places: Mapping[FieldKey, EventPlace]) -> Expression:
    """With the names of places as variables, but for what is added up."""
    match expression:
        case Field() as field:
            return Field(name_of(places[field.key]), field.column, "each", field.type)
        case Call(arguments=arguments):
            return replace(expression, arguments=tuple(_placed(argument, places) for argument in arguments))
    return expression


def _own_fields(expression: Expression) -> tuple[Field, ...]:
    match expression:
        case Field():
            return (expression,)
        case Call(arguments=arguments):
            return tuple(field for argument in arguments for field in _own_fields(argument))
    return ()


def _is_number(part: Expression, places: Mapping[FieldKey, EventPlace]) -> bool:
    """Whether it is computed: what is true is a number, too."""
    if not has_number(part.type):
        return False
    if _is_of_one_place(part, places):
        return True
    match part:
        case Aggregate():
            return _is_kept(part)
        case Call(function, (a, b)) if function in COMPARED and not has_number(a.type):
            return a.type == b.type and _is_of_one_place(a, places) and _is_of_one_place(b, places)
        case Call(function, arguments) if all(_is_number(argument, places) for argument in arguments):
            return _is_computed(function, [argument.type for argument in arguments], part.type)
    return False


def _is_of_one_place(part: Expression, places: Mapping[FieldKey, EventPlace]) -> bool:
    return not aggregates(part) and len({places[field.key] for field in fields(part)}) <= 1


def has_number(type_: DataType) -> bool:
    return is_numeric(type_) or is_time(type_) or type_ == BOOLEAN or isinstance(type_, Interval)


def _is_kept(aggregate: Aggregate) -> bool:
    """Whether a match can keep what it is computed from, as numbers that each event changes."""
    function, argument = aggregate.function, aggregate.argument
    if aggregate.distinct or aggregate.target is not None or not function.runs:
        return False
    if function.adds:
        return argument is not None and not isinstance(argument.type, Interval)
    return function.counts or (argument is not None and has_number(argument.type))


def widens(type_: DataType, to: DataType) -> bool:
    """Whether a cast is to a type that has the same numbers, in the same unit or a finer one."""
    if is_integer(type_):
        return is_integer(to) or to == DOUBLE or isinstance(to, Decimal)
    if isinstance(type_, Decimal):
        return isinstance(to, Decimal) and to.scale >= type_.scale
    return type_ == FLOAT and to == DOUBLE


def _is_computed(function: str, arguments: Sequence[DataType], result: DataType) -> bool:
    """Whether there are instructions for a function of numbers of these types."""
    match function, arguments:
        case "cast", [type_]:
            return widens(type_, result)
        case "+" | "-" | "*" | "/", [a, b]:
            return _is_arithmetic(function, a, b, result)
        case "negative" | "abs", [type_]:
            return type_ == result and not isinstance(type_, Interval)
        case "case", [*parts, _]:
            return all(type_ == result for type_ in (*parts[1::2], arguments[-1]))
        case "coalesce" | "greatest" | "least", _:
            return all(type_ == result for type_ in arguments)
    return function in (*COMPARED, "<=>", "in", *LOGIC) and len({*arguments}) == 1


def _is_arithmetic(sign: str, a: DataType, b: DataType, result: DataType) -> bool:
    if sign == "/":
        return a == b == result == DOUBLE
    if isinstance(a, Decimal) and isinstance(b, Decimal) and isinstance(result, Decimal):
        return result.scale == (a.scale + b.scale if sign == "*" else max(a.scale, b.scale))
    if a in (TIMESTAMP, TIMESTAMP_NTZ):
        return sign == "-" and a == b and result == Interval()
    return a == b == result and (is_integer(a) or a == DOUBLE)
