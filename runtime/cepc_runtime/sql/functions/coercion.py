"""Spark's implicit conversions under ANSI: which type two operands meet in, and what an argument may become.

Checked against a live Spark by `tests/test_evaluate_spark.py` over every pair of types.
"""

from __future__ import annotations

import decimal
from functools import reduce
from typing import TYPE_CHECKING, Final

from ...cheap_dataclass import dataclass
from ..expression import Call, ConstantValue, Expression, Literal
from ..parsing import read_text, to_scale
from ..types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    INTEGER_BITS,
    INTEGERS,
    MAX_PRECISION,
    NULL,
    SMALLINT,
    STRING,
    TIMES,
    TIMESTAMP,
    TINYINT,
    Array,
    DataType,
    Decimal,
    Interval,
    Map,
    Struct,
    StructField,
    is_atomic,
    is_float,
    is_integer,
    is_numeric,
    is_orderable,
    is_time,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

INTEGER_AS_DECIMAL: Final[dict[DataType, Decimal]] = {
    TINYINT: Decimal(3, 0), SMALLINT: Decimal(5, 0), INT: Decimal(10, 0), BIGINT: Decimal(20, 0)
}  # fmt: skip

_NUMBERS: Final = (*INTEGERS, FLOAT, DOUBLE)


# ---- two types -------------------------------------------------------------------------------------------------------


def tightest_type(a: DataType, b: DataType) -> DataType | None:
    """The type that holds every value of both, where there is one without loss."""
    if a == b or b == NULL:
        return a
    if a == NULL:
        return b
    if isinstance(a, Decimal) != isinstance(b, Decimal):
        return _holding_integers(a, b) or _holding_integers(b, a)
    if a in _NUMBERS and b in _NUMBERS:
        wider = max(a, b, key=_NUMBERS.index)
        return DOUBLE if wider == FLOAT else wider  # FLOAT does not hold every INT
    if is_time(a) and is_time(b):
        return max(a, b, key=TIMES.index)
    if isinstance(a, Interval) and isinstance(b, Interval):
        return Interval(min(a.start, b.start), max(a.end, b.end))
    return _nested(a, b, tightest_type)


def _holding_integers(a: DataType, b: DataType) -> DataType | None:
    if isinstance(a, Decimal) and is_integer(b) and a.precision - a.scale >= INTEGER_AS_DECIMAL[b].precision:
        return a
    return None


def wider_type(a: DataType, b: DataType) -> DataType | None:
    """The type of a column that has values of both: as UNION makes it, but no text is read as anything else."""
    return tightest_type(a, b) or _with_decimal(a, b)


def common_type(a: DataType, b: DataType) -> DataType | None:
    """The type in which Spark compares values of both, or returns one or the other."""
    return tightest_type(a, b) or _with_decimal(a, b) or _with_string(a, b) or _nested(a, b, common_type)


def common_type_of_all(types: Iterable[DataType], *, strings: bool = True) -> DataType | None:
    """The same for many; without `strings`, a STRING is not read as another type (GREATEST and LEAST)."""

    def step(a: DataType | None, b: DataType) -> DataType | None:
        if a is None or (not strings and STRING in (a, b) and {a, b} - {STRING, NULL}):
            return None
        return common_type(a, b)

    start: DataType | None = NULL
    return reduce(step, types, start)


def _with_decimal(a: DataType, b: DataType) -> DataType | None:
    if not (is_numeric(a) and is_numeric(b)):
        return None
    if is_float(a) or is_float(b):
        return DOUBLE
    first, second = as_decimal(a), as_decimal(b)
    scale = max(first.scale, second.scale)
    whole = max(first.precision - first.scale, second.precision - second.scale)
    excess = max(0, whole + scale - MAX_PRECISION)
    return Decimal(min(whole + scale, MAX_PRECISION), max(0, scale - excess))


def as_decimal(type_: DataType) -> Decimal:
    """The DECIMAL that a DECIMAL or an integral type is in arithmetic with one."""
    return type_ if isinstance(type_, Decimal) else INTEGER_AS_DECIMAL[type_]


def _with_string(a: DataType, b: DataType) -> DataType | None:
    if a != STRING:
        a, b = b, a
    if a != STRING:
        return None
    if is_integer(b):
        return BIGINT
    if is_numeric(b):
        return DOUBLE
    return b if is_atomic(b) and not isinstance(b, Interval) else None


def _nested(a: DataType, b: DataType, meet: Callable[[DataType, DataType], DataType | None]) -> DataType | None:
    match a, b:
        case Array(x), Array(y):
            element = meet(x, y)
            return None if element is None else Array(element)
        case Map(k, v), Map(l, w):
            key, value = meet(k, l), meet(v, w)
            return None if key is None or value is None else Map(key, value)
        case Struct(f), Struct(g) if [x.name for x in f] == [y.name for y in g]:
            types = [meet(x.type, y.type) for x, y in zip(f, g, strict=True)]
            if None not in types:
                return Struct(tuple(StructField(x.name, t) for x, t in zip(f, types, strict=True) if t is not None))
    return None


# ---- an argument and what is expected --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Kind:
    """A set of types that a function accepts, and what NULL (and a STRING, where `strings`) becomes."""

    name: str
    accepts: Callable[[DataType], bool]
    default: DataType
    strings: bool = True


Expected = DataType | Kind | tuple[DataType | Kind, ...]
"""What an argument must be, or must become by an implicit cast; a tuple is a choice, the first one preferred."""

ANY: Final = Kind("any type", lambda _: True, NULL)
NUMERIC: Final = Kind("a number", is_numeric, DOUBLE)
INTEGRAL: Final = Kind("an integer", is_integer, INT, strings=False)
INTERVALS: Final = Kind("an interval", lambda t: isinstance(t, Interval), Interval(), strings=False)
TIMESTAMPS: Final = Kind("a timestamp", lambda t: t in TIMES[1:], TIMESTAMP)
ORDERABLE: Final = Kind("a type with an order", is_orderable, NULL, strings=False)
ARRAYS: Final = Kind("an array", lambda t: isinstance(t, Array), Array(NULL), strings=False)
MAPS: Final = Kind("a map", lambda t: isinstance(t, Map), Map(NULL, NULL), strings=False)


def describe(expected: Expected) -> str:
    """What is expected, in words."""
    match expected:
        case Kind(name):
            return name
        case tuple():
            return " or ".join(describe(e) for e in expected)
    return expected.sql


def accepts(expected: Expected, type_: DataType) -> bool:
    """Whether a value of the type is what is expected, as it is."""
    match expected:
        case Kind():
            return expected.accepts(type_)
        case tuple():
            return any(accepts(e, type_) for e in expected)
    return expected == type_


def implicit_type(type_: DataType, expected: Expected) -> DataType | None:
    """The type that Spark gives to an argument of `type_` where `expected` is, or None where it refuses."""
    if accepts(expected, type_):
        return type_
    match expected:
        case tuple():
            return next((t for e in expected if (t := implicit_type(type_, e)) is not None), None)
        case Kind():
            if type_ == NULL or (type_ == STRING and expected.strings):
                return expected.default
            if expected is TIMESTAMPS and type_ == DATE:
                return TIMESTAMP
            return None
    if type_ == STRING:
        return expected if is_atomic(expected) else None
    return expected if can_store(type_, expected) else None


def can_store(type_: DataType, target: DataType) -> bool:
    """Whether Spark would write a value of the type into a column of the target without a cast."""
    if type_ in (NULL, target):
        return True
    if is_numeric(target):
        return is_numeric(type_)
    if target == STRING:
        return is_atomic(type_)
    if is_time(target):
        return is_time(type_)
    match type_, target:
        case Interval(), Interval():
            return True
        case Array(a), Array(b):
            return can_store(a, b)
    return False


# ---- casts -----------------------------------------------------------------------------------------------------------


def can_cast(type_: DataType, target: DataType) -> bool:
    """Whether CAST is defined under ANSI."""
    if type_ in (target, NULL) or target == STRING:
        return True
    if type_ == STRING:
        return is_atomic(target)
    if is_numeric(type_):
        return (
            is_numeric(target)
            or target in (BOOLEAN, TIMESTAMP)
            or (isinstance(target, Interval) and not is_float(type_))
        )
    if type_ == BOOLEAN:
        return is_numeric(target)
    if is_time(type_):
        return is_time(target) or (type_ == TIMESTAMP and is_numeric(target))
    return _can_cast_nested(type_, target)


def _can_cast_nested(type_: DataType, target: DataType) -> bool:
    match type_, target:
        case Interval(), Interval():
            return True
        case Interval(), _:
            return is_integer(target) or isinstance(target, Decimal)
        case Array(a), Array(b):
            return can_cast(a, b)
        case Map(k, v), Map(l, w):
            return can_cast(k, l) and can_cast(v, w)
        case Struct(f), Struct(g) if len(f) == len(g):
            return all(can_cast(x.type, y.type) for x, y in zip(f, g, strict=True))
    return False


def cast_to(expression: Expression, type_: DataType) -> Expression:
    """The expression as a value of the type, by a cast where it needs one. A literal is converted at once if it can
    be.
    """
    if expression.type == type_:
        return expression
    if isinstance(expression, Literal) and expression.label is None:
        value = _converted(expression, type_)
        if value is not None or expression.value is None:
            return Literal(value, type_)
    return Call("cast", (expression,), type_)


def _converted(literal: Literal, type_: DataType) -> ConstantValue:
    """The value of a text, or of an integer in a wider type; None where a cast has to do it."""
    match literal.value:
        case str(text):
            return read_text(text, type_)
        case bool() | None:
            return None
        case int(number) if is_integer(literal.type):
            return _wider(number, literal.type, type_)
        case int(micros) if isinstance(literal.type, Interval) and isinstance(type_, Interval):
            return micros if type_.end >= literal.type.end else None
        case decimal.Decimal() as number:
            return _wider_decimal(number, type_)
    return None


def _wider_decimal(number: decimal.Decimal, to: DataType) -> ConstantValue:
    if to == DOUBLE:
        return float(number)
    if isinstance(to, Decimal):
        exact = to_scale(number, to)
        return exact if exact == number else None
    return None


def _wider(number: int, from_: DataType, to: DataType) -> ConstantValue:
    if is_integer(to) and INTEGER_BITS[to] > INTEGER_BITS[from_]:
        return number
    if to == DOUBLE:
        return float(number)
    if isinstance(to, Decimal) and len(str(abs(number))) <= to.precision - to.scale:
        return decimal.Decimal(number)
    return None
