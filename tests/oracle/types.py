"""SQL types as `ast.TypeExpr`s with one spelling each, and Spark's ANSI rules for the type that two types have in
common.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from cepc_grammar.ast import TypeExpr, TypeField

from .errors import Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterable

Type = TypeExpr

NULL, BOOLEAN, STRING, BINARY = (Type(name) for name in ("NULL", "BOOLEAN", "STRING", "BINARY"))
TINYINT, SMALLINT, INT, BIGINT = (Type(name) for name in ("TINYINT", "SMALLINT", "INT", "BIGINT"))
FLOAT, DOUBLE = Type("FLOAT"), Type("DOUBLE")
DATE, TIMESTAMP, TIMESTAMP_NTZ, INTERVAL = (Type(name) for name in ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "INTERVAL"))

BITS = {TINYINT: 8, SMALLINT: 16, INT: 32, BIGINT: 64}
_INTEGRAL = frozenset(kind.name for kind in BITS)
DIGITS = {TINYINT: 3, SMALLINT: 5, INT: 10, BIGINT: 20}
TEMPORAL = (DATE, TIMESTAMP_NTZ, TIMESTAMP)  # each may become a later one

_SPELLINGS = {
    "BYTE": "TINYINT", "SHORT": "SMALLINT", "INTEGER": "INT", "LONG": "BIGINT", "REAL": "FLOAT", "DEC": "DECIMAL",
    "NUMERIC": "DECIMAL", "VARCHAR": "STRING", "CHAR": "STRING", "CHARACTER": "STRING", "TIMESTAMP_LTZ": "TIMESTAMP", "VOID": "NULL",
}  # fmt: skip


def decimal(precision: int, scale: int) -> Type:
    return Type("DECIMAL", (precision, scale))


def array(element: Type) -> Type:
    return Type("ARRAY", parameters=(element,))


def normal(written: Type) -> Type:
    """A type as written, with one spelling for each type."""
    name = _SPELLINGS.get(written.name, written.name)
    if name == "STRING":
        return STRING
    numbers = ((*written.numbers, 0)[:2] if written.numbers else (10, 0)) if name == "DECIMAL" else ()
    fields = tuple(TypeField(field.name, normal(field.type)) for field in written.fields)
    return Type(name, numbers, tuple(normal(p) for p in written.parameters), fields)


def is_integral(kind: Type) -> bool:
    return kind.name in _INTEGRAL


def is_decimal(kind: Type) -> bool:
    return kind.name == "DECIMAL"


def is_fractional(kind: Type) -> bool:
    return kind in (FLOAT, DOUBLE)


def is_numeric(kind: Type) -> bool:
    return is_integral(kind) or is_decimal(kind) or is_fractional(kind)


def as_decimal(kind: Type) -> Type:
    """The decimal type that holds every value of an integral type."""
    return kind if is_decimal(kind) else decimal(DIGITS[kind], 0)


def wider_decimal(a: Type, b: Type) -> Type:
    """Holds both; past 38 digits it keeps those before the point (Spark's boundedPreferIntegralDigits)."""
    scale = max(a.numbers[1], b.numbers[1])
    integral = max(a.numbers[0] - a.numbers[1], b.numbers[0] - b.numbers[1])
    return decimal(integral + scale, scale) if integral + scale <= 38 else decimal(38, max(38 - integral, 0))


def adjusted_decimal(precision: int, scale: int) -> Type:
    """Spark's adjustPrecisionScale: past 38 digits an arithmetic result loses scale, but keeps at least 6 digits of
    it.
    """
    if precision <= 38:
        return decimal(precision, scale)
    return decimal(38, max(38 - (precision - scale), min(scale, 6)))


def common(a: Type, b: Type) -> Type:
    """The least common type of Spark's ANSI mode."""
    match a, b:
        case _ if a == b or b == NULL:
            return a
        case _ if a == NULL:
            return b
        case _ if is_numeric(a) and is_numeric(b):
            return _common_number(a, b)
        case _ if a in TEMPORAL and b in TEMPORAL:
            return max(a, b, key=TEMPORAL.index)
        case _ if a == STRING:
            return _with_string(b)
        case _ if b == STRING:
            return _with_string(a)
    raise Unsupported(f"no common type of {a.name} and {b.name}")


def common_of(kinds: Iterable[Type]) -> Type:
    return reduce(common, kinds)


def _common_number(a: Type, b: Type) -> Type:
    if is_integral(a) and is_integral(b):
        return max(a, b, key=BITS.__getitem__)
    if is_fractional(a) or is_fractional(b):
        return DOUBLE  # also for FLOAT and an integer or a decimal
    return wider_decimal(as_decimal(a), as_decimal(b))


def _with_string(other: Type) -> Type:
    """A string beside another type becomes BIGINT beside integers, DOUBLE beside other numbers, else the other type."""
    if is_integral(other):
        return BIGINT
    return DOUBLE if is_numeric(other) else other
