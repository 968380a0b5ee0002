"""Nulls, extremes, elements of arrays and maps, fields of structs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..types import BOOLEAN, INT, Map, is_integer
from .arrays import Value, as_array, from_values, parameter, to_values
from .comparison import compare, order
from .errors import fail

if TYPE_CHECKING:
    from ..expression import Call


def is_null(_call: Call, arguments: tuple[Value, ...], _length: int) -> Value:
    return pc.is_null(arguments[0])


def is_not_null(_call: Call, arguments: tuple[Value, ...], _length: int) -> Value:
    return pc.is_valid(arguments[0])


def is_nan(_call: Call, arguments: tuple[Value, ...], _length: int) -> Value:
    return pc.fill_null(pc.is_nan(arguments[0]), False)


def nanvl(_call: Call, arguments: tuple[Value, ...], _length: int) -> Value:
    x, y = arguments
    return pc.if_else(pc.fill_null(pc.is_nan(x), False), y, x)


def logical_not(_call: Call, arguments: tuple[Value, ...], _length: int) -> Value:
    return pc.invert(arguments[0])


def comparison(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    return compare(call.function, arguments[0], arguments[1], call.arguments[0].type, length)


def extreme(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    """GREATEST and LEAST of what is not null."""
    operator = ">" if call.function == "greatest" else "<"
    best = arguments[0]
    for other in arguments[1:]:
        better = pc.fill_null(compare(operator, other, best, call.type, length), False)
        take = pc.or_(pc.is_null(best), pc.and_(better, pc.is_valid(other)))
        best = pc.if_else(take, other, best)
    return best


def membership(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    """`x IN (…)`: null where nothing is equal but something is null."""
    x, *options = arguments
    type_ = call.arguments[0].type
    if (
        len(options) > 8
        and all(isinstance(o, pa.Scalar) for o in options)
        and (is_integer(type_) or type_.sql == "STRING")
    ):
        return _in_constants(x, options)
    found: Value = compare("=", x, options[0], type_, length)
    for option in options[1:]:
        found = pc.or_kleene(found, compare("=", x, option, type_, length))
    return found


def _in_constants(x: Value, options: list[Value]) -> Value:
    known = [o for o in options if o.is_valid]
    found = pc.is_in(x, value_set=pa.array(known, x.type))
    if len(known) < len(options):
        found = pc.if_else(found, found, pa.scalar(None, pa.bool_()))
    return pc.if_else(pc.is_valid(x), found, pa.scalar(None, pa.bool_()))


# ---- arrays, maps, structs -------------------------------------------------------------------------------------------


def field(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    structs = as_array(arguments[0], length)
    inside = structs.field(parameter(call, 1))
    if structs.null_count == 0:
        return inside
    return pc.if_else(structs.is_valid(), inside, pa.nulls(length, inside.type))


def item(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    """`a[i]`, from 0 in an array; outside it is an error, a key that is not in a map gives null."""
    return _elements(call, arguments, length, first=0)


def element_at(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    """The same from 1 in an array, from its end if negative."""
    return _elements(call, arguments, length, first=1)


def _elements(call: Call, arguments: tuple[Value, ...], length: int, *, first: int) -> Value:
    rows, keys = (as_array(argument, length) for argument in arguments)
    if not isinstance(call.arguments[0].type, Map):
        return _of_arrays(call, rows, keys, first)
    pairs = to_values(rows, call.arguments[0].type)
    asked = to_values(keys, call.arguments[1].type)
    found = [None if r is None or k is None else _of_map(r, k) for r, k in zip(pairs, asked, strict=True)]
    return from_values(found, call.type)


def _of_map(pairs: list[tuple[object, object]], key: object) -> object:
    return next((value for k, value in pairs if order(k, key) == 0), None)


def _of_arrays(call: Call, rows: pa.Array, keys: pa.Array, first: int) -> pa.Array:
    asked = pc.and_(pc.is_valid(rows), pc.is_valid(keys)).to_numpy(zero_copy_only=False)
    index = pc.fill_null(keys, first).to_numpy(zero_copy_only=False).astype(np.int64)
    starts = rows.offsets.to_numpy()[: len(rows)]
    counts = pc.fill_null(pc.list_value_length(rows), 0).to_numpy(zero_copy_only=False)
    places = np.where((index < 0) & (first == 1), counts + index, index - first)
    if first == 1 and (asked & (index == 0)).any():
        fail(call, "elements are counted from 1")
    outside = asked & ((places < 0) | (places >= counts))
    if outside.any():
        row = int(np.argmax(outside))
        fail(call, f"there is no element {index[row]} in an array of {counts[row]}")
    return rows.values.take(pa.array(np.where(asked, starts + places, 0), mask=~asked))


def size(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    rows = to_values(as_array(arguments[0], length), call.arguments[0].type)
    return from_values([None if r is None else len(r) for r in rows], INT)


def array_contains(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    """Null where it is not found but the array has a null."""
    rows = to_values(as_array(arguments[0], length), call.arguments[0].type)
    values = to_values(as_array(arguments[1], length), call.arguments[1].type)

    def contains(row: list[object] | None, value: object) -> bool | None:
        if row is None or value is None:
            return None
        if any(x is not None and order(x, value) == 0 for x in row):
            return True
        return None if None in row else False

    return from_values([contains(r, v) for r, v in zip(rows, values, strict=True)], BOOLEAN)
