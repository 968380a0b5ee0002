"""CAST and TRY_CAST under ANSI: what does not fit, or cannot be read, is an error, or null for TRY_CAST."""

from __future__ import annotations

import decimal
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...cheap_dataclass import dataclass
from ..calendar import MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE, MICROS_PER_SECOND
from ..functions.coercion import INTEGER_AS_DECIMAL
from ..parsing import DECIMALS, MAX_LONG, MIN_LONG, read_text, to_scale
from ..text import format_double, format_value
from ..types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    NULL,
    STRING,
    TIMESTAMP,
    TINYINT,
    Array,
    DataType,
    Decimal,
    Interval,
    Map,
    Struct,
    integer_range,
    is_float,
    is_integer,
    is_numeric,
    is_time,
)
from .arrays import NumpyValues, Value, arrow_type, as_array, from_numpy, from_values, numbers, to_values, valid
from .errors import fail

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..expression import Call


@dataclass(frozen=True, slots=True)
class Cast:
    """A cast from one type to another, on behalf of a call. `safe` gives null for what fails."""

    call: Call
    source: DataType
    target: DataType
    safe: bool

    def to(self, source: DataType, target: DataType) -> Cast:
        return replace(self, source=source, target=target)

    def without(self, bad: NumpyValues, where: NumpyValues | None, reason: str) -> NumpyValues | None:
        """Where there is a value: not where it is bad, which is a failure unless the cast is safe."""
        if where is not None:
            bad = bad & where
        if not bad.any():
            return where
        if not self.safe:
            fail(self.call, reason)
        return ~bad if where is None else where & ~bad

    def overflow(self) -> str:
        return f"a value does not fit {self.target.sql}"


def cast(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    how = Cast(call, call.arguments[0].type, call.type, call.function == "try_cast")
    return cast_array(how, as_array(arguments[0], length))


def cast_array(how: Cast, array: pa.Array) -> pa.Array:
    """The column in the target type."""
    source, target = how.source, how.target
    if source == target:
        return array
    if source == NULL:
        return pa.nulls(len(array), arrow_type(target))
    if target == STRING:
        return _to_string(how, array)
    if source == STRING:
        return _from_string(how, array)
    if is_numeric(source) and is_numeric(target):
        return _number(how, array)
    match source, target:
        case Array(), Array():
            return _array(how, array)
        case Map() | Struct(), _:
            return _nested(how, array)
    return _between_kinds(how, array)


# ---- text ------------------------------------------------------------------------------------------------------------


def _to_string(how: Cast, array: pa.Array) -> pa.Array:
    if is_integer(how.source) or how.source == BOOLEAN:
        return array.cast(pa.string())
    distinct = array.dictionary_encode() if how.source not in (BINARY, DOUBLE) and _is_flat(how.source) else None
    if distinct is None or len(distinct.dictionary) > len(array) // 2:
        return from_values(_texts(array, how.source), STRING)
    return from_values(_texts(distinct.dictionary, how.source), STRING).take(distinct.indices)


def _is_flat(type_: DataType) -> bool:
    return not isinstance(type_, Array | Map | Struct)


def _texts(array: pa.Array, type_: DataType) -> list[str | None]:
    if type_ == DOUBLE:
        return [None if v is None else format_double(v) for v in array.to_pylist()]
    return [None if v is None else format_value(v, type_) for v in to_values(array, type_)]


def _from_string(how: Cast, array: pa.Array) -> pa.Array:
    """Each different text is read once."""
    if how.target == BINARY:
        return array.cast(pa.binary())
    distinct = array.dictionary_encode()
    plain = _plain_integers(distinct.dictionary, how.target) if is_integer(how.target) else None
    if plain is not None:
        return plain.take(distinct.indices)
    texts = distinct.dictionary.to_pylist()
    values = [read_text(t, how.target) for t in texts]
    if not how.safe and None in values:
        bad = texts[values.index(None)]
        fail(how.call, f"'{bad}' cannot be read as {how.target.sql}")
    return from_values(values, how.target).take(distinct.indices)


def _plain_integers(texts: pa.Array, target: DataType) -> pa.Array | None:
    """As Arrow reads them, in a fortieth of the time, where all are so few digits that it reads them as Spark does."""
    if not len(texts) or not pc.all(pc.match_substring_regex(texts, "^-?[0-9]{1,18}$")).as_py():
        return None
    numbers, (low, high) = texts.cast(pa.int64()), integer_range(target)
    least, greatest = pc.min_max(numbers).values()
    return numbers.cast(arrow_type(target)) if low <= least.as_py() and greatest.as_py() <= high else None


# ---- numbers ---------------------------------------------------------------------------------------------------------


def _number(how: Cast, array: pa.Array) -> pa.Array:
    source, target = how.source, how.target
    if isinstance(source, Decimal):
        return _from_decimal(how, array)
    if isinstance(target, Decimal):
        return _to_decimal(how, array)
    if is_float(target):
        with np.errstate(over="ignore"):
            return array.cast(arrow_type(target), safe=False)
    if is_float(source):
        return _float_to_integer(how, array)
    try:
        return array.cast(arrow_type(target))
    except pa.ArrowInvalid:
        low, high = integer_range(target)
        values, where = numbers(array).astype(np.int64), valid(array)
        where = how.without((values < low) | (values > high), where, how.overflow())
        return from_numpy(values.astype(arrow_type(target).to_pandas_dtype()), where, target)


def _float_to_integer(how: Cast, array: pa.Array) -> pa.Array:
    """Toward zero. Spark compares with the bounds as doubles, so that 2^63 becomes the greatest BIGINT."""
    low, high = integer_range(how.target)
    values, where = numbers(array).astype(np.float64), valid(array)
    with np.errstate(invalid="ignore"):
        bad = ~((np.floor(values) <= float(high)) & (np.ceil(values) >= float(low)))
        where = how.without(bad, where, how.overflow())
        whole = np.where(bad, 0.0, np.trunc(values))
        integers = np.where(whole >= 2.0**63, MAX_LONG, whole.astype(np.int64))
    return from_numpy(integers.astype(arrow_type(how.target).to_pandas_dtype()), where, how.target)


def _to_decimal(how: Cast, array: pa.Array) -> pa.Array:
    assert isinstance(how.target, Decimal)
    if is_integer(how.source):
        exact = INTEGER_AS_DECIMAL[how.source]
        return _rescaled(how, array.cast(arrow_type(exact)), exact, how.target)
    return from_values([_fitting(how, v) for v in array.to_pylist()], how.target)


def _fitting(how: Cast, value: float | None) -> decimal.Decimal | None:
    """The shortest decimal that reads as the double, rounded to the scale; null for NaN and the infinities."""
    assert isinstance(how.target, Decimal)
    if value is None or not math.isfinite(value):
        return None
    fitting = to_scale(decimal.Decimal(repr(value)), how.target)
    if fitting is None and not how.safe:
        fail(how.call, how.overflow())
    return fitting


def _rescaled(how: Cast, array: pa.Array, source: Decimal, target: Decimal) -> pa.Array:
    """From DECIMAL to DECIMAL, rounded HALF_UP."""
    if target.scale >= source.scale and target.precision - target.scale >= source.precision - source.scale:
        return array.cast(arrow_type(target))
    wide = array.cast(pa.decimal256(source.precision + 1, source.scale))  # rounding up may take one more digit
    if target.scale < source.scale:
        wide = pc.round(wide, ndigits=target.scale, round_mode="half_towards_infinity")
    try:
        return wide.cast(arrow_type(target))
    except pa.ArrowInvalid:
        fitting = [None if v is None else to_scale(v, target) for v in array.to_pylist()]
        if not how.safe:
            fail(how.call, how.overflow())
        return from_values(fitting, target)


def _from_decimal(how: Cast, array: pa.Array) -> pa.Array:
    assert isinstance(how.source, Decimal)
    if isinstance(how.target, Decimal):
        return _rescaled(how, array, how.source, how.target)
    if is_float(how.target):
        return from_values([None if v is None else float(v) for v in array.to_pylist()], DOUBLE).cast(
            arrow_type(how.target), safe=False
        )
    return from_values(_in_range(how, [None if v is None else int(v) for v in array.to_pylist()]), how.target)


def _in_range(how: Cast, values: list[Any]) -> list[Any]:
    """Integers that fit the target; the others are null, or fail."""
    low, high = integer_range(how.target)
    fits = [v is None or low <= v <= high for v in values]
    if all(fits):
        return values
    if not how.safe:
        fail(how.call, how.overflow())
    return [v if f else None for v, f in zip(values, fits, strict=True)]


# ---- truth, times, intervals -----------------------------------------------------------------------------------------


def _between_kinds(how: Cast, array: pa.Array) -> pa.Array:
    source, target = how.source, how.target
    if target == BOOLEAN:
        return _row(array, source, BOOLEAN, lambda x: x != 0)
    if source == BOOLEAN:
        return cast_array(how.to(TINYINT, target), array.cast(pa.int8()))
    if is_time(source) and is_time(target):
        return _time(how, array)
    if target == TIMESTAMP:
        return _to_timestamp(how, array)
    if source == TIMESTAMP:
        return _from_timestamp(how, array)
    if isinstance(source, Interval) and isinstance(target, Interval):
        size = 1 if target.end == 3 else _UNITS[target.end]
        return _row(array, source, target, lambda m: _quotient(m, size) * size)
    if isinstance(target, Interval):
        return _to_interval(how, array, target)
    if isinstance(source, Interval):
        return _from_interval(how, array, source)
    raise TypeError(f"no cast from {source.sql} to {target.sql}")


_UNITS: Final = (MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE, MICROS_PER_SECOND)


def _row(array: pa.Array, source: DataType, target: DataType, function: Callable[[Any], Any]) -> pa.Array:
    return from_values([None if v is None else function(v) for v in to_values(array, source)], target)


def _time(how: Cast, array: pa.Array) -> pa.Array:
    """Between DATE and timestamps; the zone is UTC, in which local time is the same."""
    where = valid(array)
    if how.source == DATE:
        days = numbers(array).astype(np.int64)
        bad = np.abs(days) > MAX_LONG // MICROS_PER_DAY
        where = how.without(bad, where, how.overflow())
        return from_numpy(np.where(bad, 0, days) * MICROS_PER_DAY, where, how.target)
    if how.target == DATE:
        return from_numpy(numbers(array) // MICROS_PER_DAY, where, DATE)
    return array.view(arrow_type(how.target))


def _to_timestamp(how: Cast, array: pa.Array) -> pa.Array:
    """From a number of seconds."""

    def moment(seconds: int | float | decimal.Decimal) -> int | None:
        if isinstance(seconds, int):
            return max(MIN_LONG, min(MAX_LONG, seconds * MICROS_PER_SECOND))
        if isinstance(seconds, decimal.Decimal):
            return _wrapped(int(DECIMALS.multiply(seconds, decimal.Decimal(MICROS_PER_SECOND))))
        micros = seconds * MICROS_PER_SECOND
        if not (np.floor(micros) <= 2.0**63 and np.ceil(micros) >= -(2.0**63)):
            if how.safe:
                return None
            fail(how.call, how.overflow())
        return max(MIN_LONG, min(MAX_LONG, int(micros)))

    return _row(array, how.source, how.target, moment)


def _wrapped(value: int) -> int:
    """As Java cuts an integer down to 64 bits."""
    return (value + 2**63) % 2**64 - 2**63


_SECONDS: Final = Decimal(19, 6)


def _from_timestamp(how: Cast, array: pa.Array) -> pa.Array:
    """To a number of seconds: whole ones rounded down, or with a fraction."""
    micros, where = numbers(array), valid(array)
    if is_integer(how.target):
        seconds = from_numpy(micros // MICROS_PER_SECOND, where, BIGINT)
        return cast_array(how.to(BIGINT, how.target), seconds)
    if isinstance(how.target, Decimal):
        exact = _row(array, TIMESTAMP, _SECONDS, lambda m: decimal.Decimal(m).scaleb(-6))
        return _rescaled(how, exact, _SECONDS, how.target)
    return cast_array(how.to(DOUBLE, how.target), from_numpy(micros / 1e6, where, DOUBLE))


def _to_interval(how: Cast, array: pa.Array, target: Interval) -> pa.Array:
    """From a number of the last field's unit."""
    size = _UNITS[target.end]

    def interval(count: int | decimal.Decimal) -> int | None:
        exact = DECIMALS.multiply(decimal.Decimal(count), decimal.Decimal(size))
        micros = int(exact.to_integral_value(decimal.ROUND_HALF_UP))
        if MIN_LONG <= micros <= MAX_LONG:
            return micros
        if how.safe:
            return None
        fail(how.call, how.overflow())
        return None

    return _row(array, how.source, target, interval)


def _from_interval(how: Cast, array: pa.Array, source: Interval) -> pa.Array:
    size = _UNITS[source.end]
    if isinstance(how.target, Decimal):
        seconds = _SECONDS if source.end == 3 else Decimal(19, 0)
        exact = _row(array, source, seconds, lambda m: _in_units(m, size, seconds))
        return _rescaled(how, exact, seconds, how.target)
    counts = [None if m is None else _quotient(m, size) for m in to_values(array, source)]
    return from_values(_in_range(how, counts), how.target)


def _in_units(micros: int, size: int, type_: Decimal) -> decimal.Decimal:
    if type_.scale == 6:
        return decimal.Decimal(micros).scaleb(-6)
    return decimal.Decimal(_quotient(micros, size))


def _quotient(micros: int, size: int) -> int:
    return micros // size if micros >= 0 else -(-micros // size)


# ---- nested values ---------------------------------------------------------------------------------------------------


def _array(how: Cast, array: pa.Array) -> pa.Array:
    assert isinstance(how.source, Array)
    assert isinstance(how.target, Array)
    elements = cast_array(how.to(how.source.element, how.target.element), array.flatten())
    lengths = pc.list_value_length(array).to_pylist()
    offsets: list[int | None] = []
    position = 0
    for length in lengths:
        offsets.append(None if length is None else position)
        position += length or 0
    return pa.ListArray.from_arrays(pa.array([*offsets, position], pa.int32()), elements, type=arrow_type(how.target))


def _nested(how: Cast, array: pa.Array) -> pa.Array:
    """Maps and structs, part by part."""
    values = to_values(array, how.source)
    match how.source, how.target:
        case Struct(fields), Struct(others):
            columns = [
                to_values(cast_array(how.to(f.type, g.type), from_values([r and r[i] for r in values], f.type)), g.type)
                for i, (f, g) in enumerate(zip(fields, others, strict=True))
            ]
            rows = list(zip(*columns, strict=True)) if columns else [() for _ in values]
            return from_values([None if v is None else row for v, row in zip(values, rows, strict=True)], how.target)
        case Map(key, value), Map(new_key, new_value):
            return from_values([_map(how, v, (key, value), (new_key, new_value)) for v in values], how.target)
    raise TypeError(f"no cast from {how.source.sql} to {how.target.sql}")


def _map(how: Cast, pairs: Any, source: tuple[DataType, DataType], target: tuple[DataType, DataType]) -> Any:
    if pairs is None:
        return None
    columns = [
        to_values(cast_array(how.to(s, t), from_values([p[i] for p in pairs], s)), t)
        for i, (s, t) in enumerate(zip(source, target, strict=True))
    ]
    return list(zip(*columns, strict=True))
