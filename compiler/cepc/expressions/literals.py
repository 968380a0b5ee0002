"""Constants as values of their types."""

from __future__ import annotations

import decimal
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from cepc_grammar import ast
from cepc_grammar.ast import MICROSECONDS
from cepc_grammar.printer import to_text
from cepc_runtime.sql.calendar import MICROS_PER_DAY
from cepc_runtime.sql.expression import Literal
from cepc_runtime.sql.parsing import MAX_LONG, parse_double, read_text, to_float
from cepc_runtime.sql.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    INTERVAL_FIELDS,
    MAX_PRECISION,
    NULL,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    DataType,
    Decimal,
    Interval,
    integer_range,
)

from . import messages as say

if TYPE_CHECKING:
    from cepc_grammar.diagnostic import Diagnostic

_INTEGERS: Final[dict[str, DataType]] = {"tinyint": TINYINT, "smallint": SMALLINT, "bigint": BIGINT}

_TIMES: Final[dict[str, DataType]] = {"date": DATE, "timestamp": TIMESTAMP, "timestamp_ntz": TIMESTAMP_NTZ}

EXAMPLES: Final[dict[DataType, str]] = {
    DATE: "'2024-05-31'",
    TIMESTAMP: "'2024-05-31 12:30:00'",
    TIMESTAMP_NTZ: "'2024-05-31 12:30:00'",
    BOOLEAN: "TRUE or FALSE",
}
"""How a value of the type is written, for hints."""


def literal(written: ast.Literal, sign: str = "") -> Literal | Diagnostic:
    """The constant; `sign` is a minus that stands before a number."""
    match written.kind:
        case "null":
            return Literal(None, NULL)
        case "boolean":
            return Literal(written.text.upper() == "TRUE", BOOLEAN)
        case "string":
            return Literal(written.text, STRING)
        case "binary":
            return _binary(written)
        case "date" | "timestamp" | "timestamp_ntz":
            return _time(written)
        case "double" | "float":
            return _float(written, sign)
        case "decimal":
            return _decimal(written, sign)
    return _integer(written, sign)


def is_number(written: ast.Literal) -> bool:
    return written.kind in ("integer", "bigint", "smallint", "tinyint", "decimal", "double", "float")


_DIGITS: Final = 40  # more than any type of numbers has


def _integer(written: ast.Literal, sign: str) -> Literal | Diagnostic:
    digits = written.text.lstrip("0") or "0"
    value = int(sign + (digits if len(digits) < _DIGITS else "9" * _DIGITS))  # Python reads no more than some thousand
    if written.kind != "integer":
        type_ = _INTEGERS[written.kind]
        low, high = integer_range(type_)
        if low <= value <= high:
            return Literal(value, type_)
        return say.bad_literal(
            written.span, f"{article_range(type_)}", hint="a number without suffix takes the type it needs"
        )
    for type_ in (INT, BIGINT):
        low, high = integer_range(type_)
        if low <= value <= high:
            return Literal(value, type_)
    return _decimal(written, sign)


def article_range(type_: DataType) -> str:
    low, high = integer_range(type_)
    return f"{say.article(type_.sql)} is between {low} and {high}"


def _decimal(written: ast.Literal, sign: str) -> Literal | Diagnostic:
    value = decimal.Decimal(sign + written.text)
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    if exponent > MAX_PRECISION or len(digits) + max(0, exponent) > MAX_PRECISION or -exponent > MAX_PRECISION:
        return say.bad_literal(
            written.span,
            f"a DECIMAL has at most {MAX_PRECISION} digits",
            hint="an exponent makes it a DOUBLE: `1e50`",
        )
    if exponent > 0:
        value, exponent = value.quantize(decimal.Decimal(1)), 0
        digits = value.as_tuple().digits
    return Literal(value, Decimal(max(len(digits), -exponent, 1), -exponent))


def _float(written: ast.Literal, sign: str) -> Literal | Diagnostic:
    value = parse_double(sign + written.text)
    if value is not None and written.kind == "float":
        value = to_float(value)
    if value is None or not math.isfinite(value):
        type_ = FLOAT if written.kind == "float" else DOUBLE
        return say.bad_literal(written.span, f"this is beyond the greatest {type_.sql}")
    return Literal(value, FLOAT if written.kind == "float" else DOUBLE)


def _binary(written: ast.Literal) -> Literal | Diagnostic:
    text = written.text if len(written.text) % 2 == 0 else "0" + written.text
    try:
        return Literal(bytes.fromhex(text), BINARY)
    except ValueError:
        return say.bad_literal(written.span, "a BINARY is written in hexadecimal digits", hint="X'1F0A'")


def _time(written: ast.Literal) -> Literal | Diagnostic:
    type_ = _TIMES[written.kind]
    value = read_text(written.text, type_)
    if value is None:
        label = f"there is no {type_.sql} '{written.text}'"
        return say.bad_literal(written.span, label, hint=f"{say.article(type_.sql)} is written {EXAMPLES[type_]}")
    return Literal(value, type_)


# ---- intervals -------------------------------------------------------------------------------------------------------

_FIELD: Final = {
    "WEEK": "DAY", "DAY": "DAY", "HOUR": "HOUR", "MINUTE": "MINUTE",
    "SECOND": "SECOND", "MILLISECOND": "SECOND", "MICROSECOND": "SECOND",
}  # fmt: skip


def interval(written: ast.Interval) -> Literal | Diagnostic:
    """`INTERVAL 1 HOUR 30 MINUTES`, of the fields from its longest unit to its shortest, as in Spark."""
    for part in written.parts:
        if part.unit not in MICROSECONDS:
            return say.bad_literal(
                part.span,
                f"a {part.unit} has no fixed length",
                hint="use `add_months(date, n)`, or a number of days",
                notes=("intervals are of days and shorter units",),
            )
        if len(part.amount) > _DIGITS:
            return say.bad_literal(part.span, "this interval is too long")
        if part.unit != "SECOND" and not part.amount.isdigit() and (whole := part.whole) is not None:
            return say.fraction_in_interval(part.span, _with(written, part, whole))
    total = sum((part.microseconds or Fraction(0) for part in written.parts), Fraction(0))
    if total.denominator != 1:
        nearest = ast.Interval((ast.Duration(str(max(int(total), 1)), "MICROSECOND"),))
        hint = f"write `{to_text(nearest)}`, say"
        return say.bad_literal(written.span, "an interval is a whole number of microseconds", hint)
    if abs(total) > MAX_LONG:
        return say.bad_literal(written.span, "this interval is too long", hint=_longest())
    fields = [INTERVAL_FIELDS.index(_FIELD[part.unit]) for part in written.parts]
    return Literal(int(total), Interval(min(fields), max(fields)))


def _with(written: ast.Interval, part: ast.Duration, other: ast.Duration) -> str:
    """The interval's text, with another part in the place of one."""
    return to_text(ast.Interval(tuple(other if p is part else p for p in written.parts)))


def _longest() -> str:
    return f"an interval has at most {MAX_LONG // MICROS_PER_DAY} days"
