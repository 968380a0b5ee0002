"""Literals as Spark SQL text.

The text means the same value whatever the session's time zone, and no value can end the literal early: not by quotes
and backslashes, and not by `${…}`, which Spark replaces even inside a string.
"""

from __future__ import annotations

import decimal
import math
from typing import TYPE_CHECKING, Final

from .calendar import format_date, format_interval, format_timestamp
from .types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    Decimal,
    Interval,
)  # fmt: skip

if TYPE_CHECKING:
    from .expression import Literal
    from .types import DataType

_SUFFIXES: Final[dict[DataType, str]] = {TINYINT: "Y", SMALLINT: "S", INT: "", BIGINT: "L", FLOAT: "F", DOUBLE: "D"}


def literal_sql(literal: Literal) -> str:
    """The literal, of exactly its type."""
    value, type_ = literal.value, literal.type
    if value is None:
        return "NULL" if type_.sql == "VOID" else f"CAST(NULL AS {type_.sql})"
    match type_:
        case Decimal():
            assert isinstance(value, decimal.Decimal)
            return _decimal(value, type_)
        case Interval():
            assert isinstance(value, int)
            return interval_sql(value, type_)
    return _simple(value, type_)


def _simple(value: object, type_: DataType) -> str:
    if type_ == BOOLEAN:
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return string_literal(value)
    if isinstance(value, bytes):
        return f"X'{value.hex().upper()}'"
    if isinstance(value, float) and not math.isfinite(value):
        name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return f"CAST('{name}' AS {type_.sql})"
    if isinstance(value, int | float):
        if type_ == DATE:
            return f"DATE '{format_date(int(value))}'"
        if type_ == TIMESTAMP:
            return f"TIMESTAMP '{format_timestamp(int(value))}Z'"
        if type_ == TIMESTAMP_NTZ:
            return f"TIMESTAMP_NTZ '{format_timestamp(int(value))}'"
        text = f"{value!r}{_SUFFIXES[type_]}"
        return f"({text})" if text.startswith("-") else text
    raise ValueError(f"not a value of {type_.sql}: {value!r}")


def _decimal(value: decimal.Decimal, type_: Decimal) -> str:
    """Spark reads `1.50BD` as DECIMAL(3,2), so that most types take a cast."""
    exact = format(value.quantize(decimal.Decimal(1).scaleb(-type_.scale), context=decimal.Context(prec=60)), "f")
    digits = exact.lstrip("-").replace(".", "").lstrip("0")
    if (max(len(digits), type_.scale, 1), type_.scale) == (type_.precision, type_.scale):
        return f"({exact}BD)" if exact.startswith("-") else f"{exact}BD"
    return f"CAST({exact}BD AS {type_.sql})"


def interval_sql(value: int, type_: Interval) -> str:
    """As Spark prints it, of exactly the fields of the type.

    >>> interval_sql(5_400_000_000, Interval(2, 2))
    "INTERVAL '90' MINUTE"
    """
    return f"INTERVAL '{format_interval(value, type_.start, type_.end)}' {type_.sql.removeprefix('INTERVAL ')}"


_ESCAPES: Final = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", "$": "\\u0024"}


def string_literal(text: str) -> str:
    """The string between single quotes.

    >>> print(string_literal("it's"), string_literal("${x}"), string_literal("a%_"))
    'it\\'s' '\\u0024{x}' 'a%_'
    """
    return "'" + "".join(_escaped(c) for c in text) + "'"


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
