"""Which type values have that are written as text, or in JSON."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from cepc_runtime.sql.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    NULL,
    STRING,
    TIMESTAMP,
    Array,
    Map,
    Struct,
    StructField,
    integer_range,
)

from ..reading.json_values import Exact, is_unicode
from ..reading.text_values import BadValueError, from_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cepc_runtime.sql.types import DataType

MOST_FIELDS = 50  # an object with more keys is a MAP: they are data
_FROM_TEXT = (BOOLEAN, BIGINT, DOUBLE, DATE, TIMESTAMP)
_INTEGER = re.compile(r"[+-]?\d+")
_CODE = re.compile(r"[+-]?0\d+")  # zeros in front are part of it


def type_of_text(values: Iterable[str | None], types: Sequence[DataType] = _FROM_TEXT) -> DataType:
    """The first of the types that all values have, or STRING. What digits would be lost of is a STRING too.

    >>> [type_of_text(v).sql for v in (["1", None], ["1", "1.5"], ["007", "8"], ["2026-01-01"], ["9" * 30], [None])]
    ['BIGINT', 'DOUBLE', 'STRING', 'DATE', 'STRING', 'STRING']
    """
    import pyarrow as pa

    distinct = {value for value in values if value is not None}
    digits = [bool(_INTEGER.fullmatch(value)) for value in distinct]
    if not distinct or not any(c.isdigit() or c in "eE" for value in distinct for c in value):
        return STRING
    if any(_CODE.fullmatch(value) for value in distinct):
        return STRING
    column = pa.array(sorted(distinct), pa.string())
    for type_ in types:
        if type_ == DOUBLE and all(digits):
            return STRING  # integers that are none of BIGINT
        try:
            from_text(column, type_)
        except (BadValueError, pa.ArrowException):
            continue
        return type_
    return STRING


def type_of_json(values: Iterable[Any]) -> DataType:
    """The type of parsed values; STRING, which takes all, where they have none in common.

    >>> type_of_json([{"a": 1}, {"a": 1.5, "b": [True]}]).sql
    'STRUCT<`a`: DOUBLE, `b`: ARRAY<BOOLEAN>>'
    """
    there = [value for value in values if value is not None]
    kinds = set(map(type, there))
    if kinds == {bool}:
        return BOOLEAN
    if kinds == {int}:
        low, high = integer_range(BIGINT)
        return BIGINT if low <= min(there) <= max(there) <= high else STRING
    if kinds and kinds <= {int, float, Exact}:
        return DOUBLE
    if kinds == {str}:
        return type_of_text(there, (DATE, TIMESTAMP)) if all(is_unicode(v) for v in there) else STRING
    if kinds == {list}:
        return Array(type_of_json(one for value in there for one in value))
    return _of_objects(there) if kinds == {dict} else STRING


def _of_objects(objects: list[dict[str, Any]]) -> DataType:
    keys = dict.fromkeys(key for value in objects for key in value)
    if len(keys) > MOST_FIELDS:
        return Map(STRING, type_of_json(one for value in objects for one in value.values()))
    fields = [StructField(key, type_of_json(value.get(key) for value in objects)) for key in keys]
    return nameable(Struct(tuple(fields))) or STRING


# ---- what a program can name -----------------------------------------------------------------------------------------


def is_nameable(name: str) -> bool:
    """Whether a program can have the name: no quoted name holds the end of a line or half of a character."""
    return bool(name) and name.isprintable()


def nameable(type_: DataType | None) -> DataType | None:
    """The type without the fields that no program can name, or that differ from one before in case alone; None where
    nothing is left.
    """
    match type_:
        case Struct(fields):
            kept: dict[str, StructField] = {}
            for field in fields:
                inner = nameable(field.type)
                if inner is not None and is_nameable(field.name):
                    kept.setdefault(field.name.casefold(), StructField(field.name, inner))
            return Struct(tuple(kept.values())) if kept else None
        case Array(element):
            inner = nameable(element)
            return None if inner is None else Array(inner)
        case Map(key, value):
            key_, value_ = nameable(key), nameable(value)
            return None if key_ is None or value_ is None else Map(key_, value_)
    return STRING if type_ == NULL else type_
