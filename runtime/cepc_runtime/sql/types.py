"""Spark SQL's data types as values.

`.sql` is the type as Spark SQL writes it, and `from_text(t.sql) == t`: that text is how a type travels as data. pyarrow
is imported only inside the functions that need it, so that checking a program loads neither numpy nor pyarrow.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from ..cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_PRECISION: Final = 38


@dataclass(frozen=True, slots=True)
class Simple:
    """A type without parameters; use the constants below."""

    name: str

    @property
    def sql(self) -> str:
        return self.name

    def __str__(self) -> str:
        return self.sql


BOOLEAN: Final = Simple("BOOLEAN")
TINYINT: Final = Simple("TINYINT")
SMALLINT: Final = Simple("SMALLINT")
INT: Final = Simple("INT")
BIGINT: Final = Simple("BIGINT")
FLOAT: Final = Simple("FLOAT")
DOUBLE: Final = Simple("DOUBLE")
STRING: Final = Simple("STRING")
BINARY: Final = Simple("BINARY")
DATE: Final = Simple("DATE")
TIMESTAMP: Final = Simple("TIMESTAMP")
TIMESTAMP_NTZ: Final = Simple("TIMESTAMP_NTZ")
NULL: Final = Simple("VOID")
"""The type of a bare NULL."""

SIMPLE_TYPES: Final[dict[str, Simple]] = {
    t.name: t
    for t in (
        BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, STRING, BINARY, DATE, TIMESTAMP, TIMESTAMP_NTZ, NULL,
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Decimal:
    """DECIMAL(precision, scale)."""

    precision: int
    scale: int

    def __post_init__(self) -> None:
        if not (1 <= self.precision <= MAX_PRECISION and 0 <= self.scale <= self.precision):
            raise ValueError(f"no such type: DECIMAL({self.precision}, {self.scale})")

    @property
    def sql(self) -> str:
        return f"DECIMAL({self.precision},{self.scale})"

    def __str__(self) -> str:
        return self.sql


INTERVAL_FIELDS: Final = ("DAY", "HOUR", "MINUTE", "SECOND")


@dataclass(frozen=True, slots=True)
class Interval:
    """A day-time interval from field `start` to field `end`, indexes into INTERVAL_FIELDS. Its value is in µs."""

    start: int = 0
    end: int = 3

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end <= 3:
            raise ValueError(f"no such interval: {self.start} to {self.end}")

    @property
    def sql(self) -> str:
        first, last = INTERVAL_FIELDS[self.start], INTERVAL_FIELDS[self.end]
        return f"INTERVAL {first}" if first == last else f"INTERVAL {first} TO {last}"

    def __str__(self) -> str:
        return self.sql


INTERVAL: Final = Interval()


@dataclass(frozen=True, slots=True)
class Array:
    element: DataType

    @property
    def sql(self) -> str:
        return f"ARRAY<{self.element.sql}>"

    def __str__(self) -> str:
        return self.sql


@dataclass(frozen=True, slots=True)
class Map:
    key: DataType
    value: DataType

    @property
    def sql(self) -> str:
        return f"MAP<{self.key.sql}, {self.value.sql}>"

    def __str__(self) -> str:
        return self.sql


@dataclass(frozen=True, slots=True)
class StructField:
    name: str
    type: DataType


@dataclass(frozen=True, slots=True)
class Struct:
    fields: tuple[StructField, ...]

    @property
    def sql(self) -> str:
        return f"STRUCT<{', '.join(f'{quote_name(f.name)}: {f.type.sql}' for f in self.fields)}>"

    def __str__(self) -> str:
        return self.sql

    def field(self, name: str) -> DataType | None:
        """The type of the field of that name, or None."""
        return next((f.type for f in self.fields if f.name == name), None)


DataType = Simple | Decimal | Interval | Array | Map | Struct

INTEGERS: Final = (TINYINT, SMALLINT, INT, BIGINT)
"""Integral types, the narrowest first."""

INTEGER_BITS: Final[dict[DataType, int]] = {TINYINT: 8, SMALLINT: 16, INT: 32, BIGINT: 64}

FLOATS: Final = (FLOAT, DOUBLE)

TIMES: Final = (DATE, TIMESTAMP_NTZ, TIMESTAMP)
"""Types of a point in time, the one that others widen to last."""


def is_integer(type_: DataType) -> bool:
    return type_ in INTEGERS


def is_float(type_: DataType) -> bool:
    return type_ in FLOATS


def varies(type_: DataType) -> bool:
    """Whether values of the type may be equal and not the same, as 0.0 and -0.0."""
    return is_float(type_) or isinstance(type_, Array | Map | Struct)


def is_numeric(type_: DataType) -> bool:
    return is_integer(type_) or is_float(type_) or isinstance(type_, Decimal)


def is_time(type_: DataType) -> bool:
    """Whether it is a DATE or one of the TIMESTAMPs."""
    return type_ in TIMES


def is_atomic(type_: DataType) -> bool:
    return not isinstance(type_, Array | Map | Struct) and type_ != NULL


def is_orderable(type_: DataType) -> bool:
    """Whether `<` is defined: everything but maps and what contains one."""
    match type_:
        case Map():
            return False
        case Array(element):
            return is_orderable(element)
        case Struct(fields):
            return all(is_orderable(f.type) for f in fields)
    return True


def integer_range(type_: DataType) -> tuple[int, int]:
    """The least and the greatest value of an integral type."""
    half = 1 << (INTEGER_BITS[type_] - 1)
    return -half, half - 1


# ---- text ------------------------------------------------------------------------------------------------------------


def quote_name(name: str) -> str:
    """The name between backquotes, whatever it contains."""
    return "`" + name.replace("`", "``") + "`"


_TOKEN = re.compile(r"\s*(`(?:[^`]|``)*`|[A-Za-z_0-9]+|[<>(),:])")


def from_text(text: str) -> DataType:
    """The type that `DataType.sql` wrote. Raises ValueError for any other text."""
    tokens = list(_tokens(text))
    try:
        type_, position = _parse(tokens, 0)
    except IndexError:
        raise ValueError(f"not a type: {text!r}") from None
    if position != len(tokens):
        raise ValueError(f"not a type: {text!r}")
    return type_


def _tokens(text: str) -> Iterator[str]:
    position = 0
    text = text.rstrip()
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise ValueError(f"not a type: {text!r}")
        yield found[1]
        position = found.end()


def _parse(tokens: list[str], i: int) -> tuple[DataType, int]:
    """The type that starts at token `i`, and where the next token is."""
    match tokens[i : i + 2]:
        case ["ARRAY", "<"]:
            element, i = _parse(tokens, i + 2)
            return Array(element), _expect(tokens, i, ">")
        case ["MAP", "<"]:
            key, i = _parse(tokens, i + 2)
            value, i = _parse(tokens, _expect(tokens, i, ","))
            return Map(key, value), _expect(tokens, i, ">")
        case ["STRUCT", "<"]:
            return _parse_struct(tokens, i + 2)
        case ["DECIMAL", "("]:
            precision, scale = int(tokens[i + 2]), int(tokens[_expect(tokens, i + 3, ",")])
            return Decimal(precision, scale), _expect(tokens, i + 5, ")")
        case ["INTERVAL", first]:
            start = INTERVAL_FIELDS.index(first)
            if tokens[i + 2 : i + 3] == ["TO"]:
                return Interval(start, INTERVAL_FIELDS.index(tokens[i + 3])), i + 4
            return Interval(start, start), i + 2
        case [name, *_] if name in SIMPLE_TYPES:
            return SIMPLE_TYPES[name], i + 1
    raise ValueError(f"not a type: {' '.join(tokens[i:])!r}")


def _parse_struct(tokens: list[str], i: int) -> tuple[DataType, int]:
    fields: list[StructField] = []
    while tokens[i : i + 1] != [">"]:
        if fields:
            i = _expect(tokens, i, ",")
        name = tokens[i][1:-1].replace("``", "`")
        type_, i = _parse(tokens, _expect(tokens, i + 1, ":"))
        fields.append(StructField(name, type_))
    return Struct(tuple(fields)), i + 1


def _expect(tokens: list[str], i: int, token: str) -> int:
    if tokens[i : i + 1] != [token]:
        raise ValueError(f"expected {token!r} in {' '.join(tokens)!r}")
    return i + 1


# ---- pyarrow ---------------------------------------------------------------------------------------------------------


def to_arrow(type_: DataType) -> Any:
    """The pyarrow type in which the runtime keeps values of this type. TIMESTAMP is in microseconds, in UTC."""
    import pyarrow as pa

    match type_:
        case Decimal(precision, scale):
            return pa.decimal128(precision, scale)
        case Interval():
            return pa.duration("us")
        case Array(element):
            return pa.list_(to_arrow(element))
        case Map(key, value):
            return pa.map_(to_arrow(key), to_arrow(value))
        case Struct(fields):
            return pa.struct([pa.field(f.name, to_arrow(f.type)) for f in fields])
        case Simple(name):
            return _simple_in_arrow()[name]


@cache
def _simple_in_arrow() -> dict[str, Any]:
    import pyarrow as pa

    return {
        "BOOLEAN": pa.bool_(), "TINYINT": pa.int8(), "SMALLINT": pa.int16(), "INT": pa.int32(), "BIGINT": pa.int64(),
        "FLOAT": pa.float32(), "DOUBLE": pa.float64(), "STRING": pa.string(), "BINARY": pa.binary(),
        "DATE": pa.date32(), "TIMESTAMP": pa.timestamp("us", tz="UTC"), "TIMESTAMP_NTZ": pa.timestamp("us"),
        "VOID": pa.null(),
    }  # fmt: skip


def from_arrow(type_: Any) -> DataType | None:
    """The Spark type that Spark itself reads such Arrow (or Parquet) data as, or None where it has none."""
    import pyarrow as pa

    is_ = pa.types
    simple: dict[Any, DataType] = {
        pa.bool_(): BOOLEAN, pa.int8(): TINYINT, pa.int16(): SMALLINT, pa.int32(): INT, pa.int64(): BIGINT,
        pa.uint8(): SMALLINT, pa.uint16(): INT, pa.uint32(): BIGINT, pa.uint64(): Decimal(20, 0),
        pa.float32(): FLOAT, pa.float64(): DOUBLE, pa.string(): STRING, pa.large_string(): STRING,
        pa.string_view(): STRING, pa.binary(): BINARY, pa.large_binary(): BINARY, pa.binary_view(): BINARY,
        pa.date32(): DATE, pa.null(): NULL,
    }  # fmt: skip
    if type_ in simple:
        return simple[type_]
    if is_.is_timestamp(type_):
        return TIMESTAMP if type_.tz is not None else TIMESTAMP_NTZ
    if is_.is_duration(type_):
        return INTERVAL
    if is_.is_decimal(type_) and type_.precision <= MAX_PRECISION and 0 <= type_.scale <= type_.precision:
        return Decimal(type_.precision, type_.scale)
    if is_.is_fixed_size_binary(type_):
        return BINARY
    if is_.is_dictionary(type_):
        return from_arrow(type_.value_type)
    return _from_nested_arrow(type_)


def _from_nested_arrow(type_: Any) -> DataType | None:
    import pyarrow as pa

    is_ = pa.types
    if is_.is_list(type_) or is_.is_large_list(type_) or is_.is_fixed_size_list(type_):
        element = from_arrow(type_.value_type)
        return None if element is None else Array(element)
    if is_.is_map(type_):
        key, value = from_arrow(type_.key_type), from_arrow(type_.item_type)
        return None if key is None or value is None else Map(key, value)
    if is_.is_struct(type_):
        fields: list[StructField] = []
        for i in range(type_.num_fields):
            field = from_arrow(type_.field(i).type)
            if field is None:
                return None
            fields.append(StructField(type_.field(i).name, field))
        return Struct(tuple(fields))
    return None
