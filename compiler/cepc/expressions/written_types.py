"""Types as written in a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cepc_grammar.diagnostic import Diagnostic
from cepc_runtime.sql.types import (
    BIGINT,
    FLOAT,
    INT,
    INTERVAL_FIELDS,
    MAX_PRECISION,
    SIMPLE_TYPES,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TINYINT,
    Array,
    DataType,
    Decimal,
    Interval,
    Map,
    Struct,
    StructField,
)

from ..diagnostics.near import nearest
from . import messages as say

if TYPE_CHECKING:
    from cepc_grammar import ast

SIMPLE: Final[dict[str, DataType]] = {
    **SIMPLE_TYPES,
    "BYTE": TINYINT,
    "SHORT": SMALLINT,
    "INTEGER": INT,
    "LONG": BIGINT,
    "REAL": FLOAT,
    "TIMESTAMP_LTZ": TIMESTAMP,
}

_DECIMALS: Final = ("DECIMAL", "DEC", "NUMERIC")
_NESTED: Final = ("ARRAY", "MAP", "STRUCT")
_TEXTS: Final = ("CHAR", "CHARACTER", "VARCHAR")
_OTHER_NAMES: Final = {
    "TEXT": "STRING", "NVARCHAR": "STRING", "BOOL": "BOOLEAN", "INT64": "BIGINT", "INT32": "INT", "INT8": "BIGINT",
    "FLOAT64": "DOUBLE", "FLOAT4": "FLOAT", "FLOAT8": "DOUBLE", "NUMBER": "DECIMAL", "DATETIME": "TIMESTAMP",
    "TIMESTAMPTZ": "TIMESTAMP", "BYTES": "BINARY", "BLOB": "BINARY", "LIST": "ARRAY", "OBJECT": "STRUCT",
    "UINT": "BIGINT",
}  # fmt: skip
"""Names that other systems use."""

_UNSUPPORTED: Final = {
    "TIME": "store a time of day as a STRING or as seconds in an INT",
    "VARIANT": "store it as a STRING, or declare the fields that are needed as a STRUCT",
    "GEOMETRY": "store it as a BINARY",
    "GEOGRAPHY": "store it as a BINARY",
}

_INTERVALS: Final = {
    Interval(i, j).sql: Interval(i, j) for i in range(len(INTERVAL_FIELDS)) for j in range(i, len(INTERVAL_FIELDS))
} | {"INTERVAL": Interval()}

_KNOWN: Final = (*SIMPLE, *_DECIMALS, *_NESTED, *_TEXTS, *_INTERVALS)

Result = tuple["DataType | None", tuple[Diagnostic, ...]]


def data_type(written: ast.TypeExpr) -> Result:
    """The type that is meant, or None with an error."""
    if written.name in _NESTED:
        return _nested(written)
    if written.name not in _KNOWN:
        return None, (_unknown(written),)
    if written.parameters or written.fields:
        return None, (_unexpected(written, f"{written.name} takes no types"),)
    if written.name in _DECIMALS:
        return _decimal(written)
    if written.name in _TEXTS:
        return _text(written)
    if written.name in _INTERVALS and not written.numbers:
        return _INTERVALS[written.name], ()
    return _simple(written)


def misspelt_type(written: ast.TypeExpr) -> tuple[Diagnostic, ...]:
    """What is wrong with a type even if nobody asks for the column: Spark has types that no column has here."""
    return () if _is_unsupported(written) else data_type(written)[1]


def _is_unsupported(written: ast.TypeExpr) -> bool:
    inner = (*written.parameters, *(field.type for field in written.fields))
    return written.name in _UNSUPPORTED or any(map(_is_unsupported, inner))


def _unknown(written: ast.TypeExpr) -> Diagnostic:
    if written.name in _UNSUPPORTED:
        return say.unsupported_type(written.span, written.name, _UNSUPPORTED[written.name])
    return say.unknown_type(written.span, written.name, _OTHER_NAMES.get(written.name) or nearest(written.name, _KNOWN))


def column_type(column: ast.Name, written: ast.TypeExpr) -> Result:
    """The type of a column of a STREAM, of which the type may be written first: `TIMESTAMP at`."""
    type_, found = data_type(written)
    if written.name not in _KNOWN and column.text.upper() in _KNOWN:
        return None, (say.type_before_name(column.span.to(written.span), column.text.upper()),)
    return type_, found


def _unexpected(written: ast.TypeExpr, problem: str) -> Diagnostic:
    return say.type_parameters(written.span, problem, written.name)


def _simple(written: ast.TypeExpr) -> Result:
    if written.numbers:
        return None, (_unexpected(written, f"{written.name} takes no numbers"),)
    return SIMPLE[written.name], ()


def _decimal(written: ast.TypeExpr) -> Result:
    if len(written.numbers) > 2:
        return None, (say.type_parameters(written.span, "DECIMAL takes a precision and a scale", "DECIMAL(10, 2)"),)
    precision, scale = (*written.numbers, *(10, 0)[len(written.numbers) :])
    if not 1 <= precision <= MAX_PRECISION:
        problem = f"the precision is {precision}; a DECIMAL has 1 to {MAX_PRECISION} digits"
        return None, (say.type_parameters(written.span, problem, f"DECIMAL({MAX_PRECISION}, {min(scale, 18)})"),)
    if scale > precision:
        problem = f"the scale {scale} is greater than the precision {precision}"
        usage = f"DECIMAL({min(precision + scale, MAX_PRECISION)}, {min(scale, MAX_PRECISION)})"
        return None, (say.type_parameters(written.span, problem, usage),)
    return Decimal(precision, scale), ()


def _text(written: ast.TypeExpr) -> Result:
    """CHAR(n) and VARCHAR(n): a STRING; the length is the business of whoever wrote the data."""
    if len(written.numbers) != 1:
        return None, (say.type_parameters(written.span, f"{written.name} takes a length", f"{written.name}(20)"),)
    return STRING, ()


def _nested(written: ast.TypeExpr) -> Result:
    usage = {"ARRAY": "ARRAY<INT>", "MAP": "MAP<STRING, INT>", "STRUCT": "STRUCT<x: INT, y: INT>"}[written.name]
    if written.numbers:
        return None, (say.type_parameters(written.span, f"{written.name} takes no numbers", usage),)
    if written.name == "STRUCT":
        return _struct(written, usage)
    wanted = 1 if written.name == "ARRAY" else 2
    if len(written.parameters) != wanted or written.fields:
        problem = f"{written.name} takes {'a type' if wanted == 1 else 'two types'} in angle brackets"
        return None, (say.type_parameters(written.span, problem, usage),)
    types, errors = _all(written.parameters)
    if errors:
        return None, errors
    return (Array(types[0]) if wanted == 1 else Map(types[0], types[1])), ()


def _struct(written: ast.TypeExpr, usage: str) -> Result:
    if written.parameters:
        return None, (say.type_parameters(written.span, "a field of a STRUCT has a name and a type", usage),)
    types, errors = _all(tuple(f.type for f in written.fields))
    seen: set[str] = set()
    for field in written.fields:
        if field.name.text.lower() in seen:
            problem = f"two fields are called `{field.name.text}`"
            errors += (say.type_parameters(field.name.span, problem, usage),)
        seen.add(field.name.text.lower())
    if errors:
        return None, errors
    return Struct(tuple(StructField(f.name.text, t) for f, t in zip(written.fields, types, strict=True))), ()


def _all(written: tuple[ast.TypeExpr, ...]) -> tuple[list[DataType], tuple[Diagnostic, ...]]:
    results = [data_type(w) for w in written]
    return [t for t, _ in results if t is not None], tuple(d for _, errors in results for d in errors)
