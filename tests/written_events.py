"""Events as files of each format that can hold them."""

from __future__ import annotations

import base64
import datetime as dt
import json
import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pathlib import Path


def formats_of(schema: pa.Schema) -> tuple[str, ...]:
    """CSV holds no values with parts, and neither it nor JSON holds spans of time."""
    types = [field.type for field in schema]
    if any(_holds(type_, pa.types.is_duration) for type_ in types):
        return ("parquet",)
    flat = not any(pa.types.is_nested(type_) or pa.types.is_binary(type_) for type_ in types)
    return ("parquet", "json", "csv") if flat else ("parquet", "json")


def write(events: pa.Table, form: str, path: Path) -> None:
    match form:
        case "parquet":
            pq.write_table(events, path)
        case "csv":
            pacsv.write_csv(events, path)
        case "json":
            lines = [json.dumps({name: _plain(value) for name, value in row.items()}) for row in events.to_pylist()]
            path.write_text("".join(f"{line}\n" for line in lines))


def _holds(type_: pa.DataType, is_one: Any) -> bool:
    return is_one(type_) or any(_holds(type_.field(i).type, is_one) for i in range(type_.num_fields))


def _plain(value: Any) -> Any:
    """A value as JSON has it; a map is a list of pairs to Arrow."""
    match value:
        case float() if not math.isfinite(value):
            return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
        case Decimal():
            return str(value)
        case dt.datetime() | dt.date():
            return value.isoformat()
        case bytes():
            return base64.b64encode(value).decode()
        case dict():
            return {name: _plain(part) for name, part in value.items()}
        case [(str(), _), *_]:
            return {key: _plain(part) for key, part in value}
        case list():
            return [_plain(part) for part in value]
    return value
