"""Which columns stand for a declared type: those of that type, and those that Spark widens to it without a word.

Tried on Spark 4.3 with a Parquet file of each type read as each other: all that is allowed here Spark allows. What
Spark takes besides, it takes for something else (a DATE for an INT, an INT for a TINYINT whatever its value), and is
refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .types import (
    BINARY,
    DATE,
    DOUBLE,
    FLOAT,
    INTEGER_BITS,
    NULL,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Array,
    Decimal,
    Map,
    Struct,
    is_integer,
)

if TYPE_CHECKING:
    from .types import DataType

DIGITS = {8: 10, 16: 10, 32: 10, 64: 20}
"""How many digits before the point a DECIMAL needs, by Spark's rule, to take an integer of so many bits."""


def widens(found: DataType, declared: DataType) -> bool:
    """Whether every value of the type found is one of the declared type.

    >>> widens(FLOAT, DOUBLE), widens(DOUBLE, FLOAT), widens(DATE, TIMESTAMP)
    (True, False, False)
    """
    if found in (declared, NULL):
        return True
    match found, declared:
        case Array(one), Array(other):
            return widens(one, other)
        case Map(key, value), Map(other_key, other_value):
            return widens(key, other_key) and widens(value, other_value)
        case Struct(), Struct(fields):
            return all((inner := found.field(f.name)) is not None and widens(inner, f.type) for f in fields)
        case Decimal(precision, scale), Decimal(wider, other_scale):
            return other_scale >= scale and wider - other_scale >= precision - scale
        case _, Decimal(precision, scale) if is_integer(found):
            return precision - scale >= DIGITS[INTEGER_BITS[found]]
    if is_integer(found) and is_integer(declared):
        return INTEGER_BITS[found] <= INTEGER_BITS[declared]
    return (found, declared) in _SIMPLE or (declared == DOUBLE and is_integer(found) and INTEGER_BITS[found] <= 32)


_SIMPLE = {
    (FLOAT, DOUBLE),
    (BINARY, STRING),
    (TIMESTAMP_NTZ, TIMESTAMP),
    (TIMESTAMP, TIMESTAMP_NTZ),
    (DATE, TIMESTAMP_NTZ),
}
