"""The values of a column as text: as JSON, and as CSV and tables show them.

Nothing is rounded: integers and DECIMALs have all their digits, floating-point numbers the fewest that read back as the
same. Times are ISO 8601, with a Z for a TIMESTAMP and without for a TIMESTAMP_NTZ. What JSON has no number for (NaN,
Infinity) is a string, as in Spark's to_json; binary values are base64.
"""

from __future__ import annotations

import base64
import json
import math
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..sql.calendar import format_date, format_interval, format_timestamp
from ..sql.text import format_double, java_digits, special

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


def as_json(column: Any) -> list[str]:
    """Each value as JSON."""
    import pyarrow as pa

    from ..numbers.columns import flat

    column = flat(column)
    type_ = column.type
    if pa.types.is_map(type_):
        return _maps(column)
    if pa.types.is_list(type_) or pa.types.is_large_list(type_) or pa.types.is_fixed_size_list(type_):
        return _lists(column)
    if pa.types.is_struct(type_):
        return _structs(column)
    quote = json.encoder.encode_basestring
    if pa.types.is_floating(type_):
        return _each(column, lambda v: _digits(v) if math.isfinite(v) else quote(special(v)))
    if pa.types.is_boolean(type_) or pa.types.is_integer(type_) or pa.types.is_decimal(type_):
        return ["null" if text is None else text for text in as_text(column)]
    return ["null" if text is None else quote(text) for text in as_text(column)]


def as_text(column: Any, *, iso: bool = True) -> list[str | None]:
    """Each value as Spark's CAST to STRING writes it, save that nested values are JSON and times ISO 8601, unless `iso`
    is false.
    """
    import pyarrow as pa

    from ..numbers.columns import flat

    column = flat(column)
    type_ = column.type
    if pa.types.is_nested(type_):
        texts = as_json(column)
        return [None if null else text for null, text in zip(column.is_null().to_pylist(), texts, strict=True)]
    if pa.types.is_floating(type_):
        return _optional(column, lambda v: format_double(v) if type(v) is float else _java_float(v))
    if pa.types.is_timestamp(type_):
        between, zone = ("T", "Z" if type_.tz is not None else "") if iso else (" ", "")
        instants = column.cast(pa.timestamp("us", type_.tz)).cast(pa.int64())
        return _optional(instants, lambda v: format_timestamp(v).replace(" ", between) + zone)
    if pa.types.is_date(type_):
        return _optional(column.cast(pa.date32()).cast(pa.int32()), format_date)
    if pa.types.is_duration(type_):
        return _optional(column.cast(pa.duration("us")).cast(pa.int64()), _interval)
    return _optional(column, _writer(type_))


def _writer(type_: Any) -> Callable[[Any], str]:
    import pyarrow as pa

    if pa.types.is_boolean(type_):
        return lambda v: "true" if v else "false"
    if pa.types.is_decimal(type_):
        return lambda v: format(v, "f")
    if pa.types.is_binary(type_) or pa.types.is_large_binary(type_):
        return lambda v: base64.b64encode(v).decode("ascii")
    return str


def _optional(column: Any, write: Callable[[Any], str]) -> list[str | None]:
    return [None if value is None else write(value) for value in _values(column)]


def _each(column: Any, write: Callable[[Any], str]) -> list[str]:
    return ["null" if value is None else write(value) for value in _values(column)]


def _values(column: Any) -> list[Any]:
    """As Python values, but a FLOAT as numpy's, which knows its fewest digits."""
    import numpy as np
    import pyarrow as pa

    values: list[Any] = column.to_pylist()
    if pa.types.is_float32(column.type):
        return [None if v is None else np.float32(v) for v in values]
    return values


def _digits(value: Any) -> str:
    return repr(value) if type(value) is float else str(value)


def _java_float(value: Any) -> str:
    return java_digits(str(value)) if math.isfinite(value) else special(value)


def _interval(micros: int) -> str:
    return f"INTERVAL '{format_interval(micros)}' DAY TO SECOND"


# ---- nested ----------------------------------------------------------------------------------------------------------


def _lists(column: Any) -> list[str]:
    import pyarrow.compute as pc

    parts = iter(as_json(column.flatten()))
    return [
        "null" if length is None else f"[{_joined(parts, length)}]"
        for length in pc.list_value_length(column).to_pylist()
    ]


def _maps(column: Any) -> list[str]:
    """As objects: the keys become strings."""
    import pyarrow as pa

    column = pa.concat_arrays([column])
    offsets = column.offsets.to_pylist()
    keys = [json.encoder.encode_basestring(str(key)) for key in as_text(column.keys)]
    parts = [f"{key}:{item}" for key, item in zip(keys, as_json(column.items), strict=True)]
    nulls = column.is_null().to_pylist()
    return [
        "null" if null else f"{{{','.join(parts[start:stop])}}}"
        for null, start, stop in zip(nulls, offsets, offsets[1:], strict=False)
    ]


def _structs(column: Any) -> list[str]:
    import pyarrow.compute as pc

    names = [json.encoder.encode_basestring(field.name) for field in column.type]
    fields = [as_json(pc.struct_field(column, [i])) for i in range(len(names))]
    nulls = column.is_null().to_pylist()
    return [
        "null" if null else json_object(names, row) for null, row in zip(nulls, _rows(fields, len(nulls)), strict=True)
    ]


def _rows(columns: list[list[str]], length: int) -> Iterator[tuple[str, ...]]:
    return zip(*columns, strict=True) if columns else iter([()] * length)


def _joined(parts: Iterator[str], length: int) -> str:
    return ",".join(islice(parts, length))


def json_object(names: list[str], values: tuple[str, ...]) -> str:
    """An object of names and values that are JSON already."""
    return "".join(object_parts(names, values))


def object_parts(names: Sequence[str], values: Sequence[Any]) -> list[Any]:
    """What stands one after the other in it, where a value may be a whole column of such."""
    parts: list[Any] = ["{"]
    for name, value in zip(names, values, strict=True):
        parts += [f"{name}:" if len(parts) == 1 else f",{name}:", value]
    return [*parts, "}"]
