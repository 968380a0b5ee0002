"""Avro files, which take the package fastavro. Their schema becomes one of Arrow's, and is checked before a row is
read.
"""

from __future__ import annotations

from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..errors import DataError
from . import messages
from .conform import check_schema, conformed
from .files import reason
from .reader import Batch, Looked, NotThisFormatError, Reader, Wanted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc_grammar.diagnostic import Diagnostic

    from .files import DataFile

MAGIC = b"Obj\x01"
ROWS = 1 << 14  # in a batch


def problems(file: DataFile, wanted: Wanted) -> list[Diagnostic]:
    """What is wrong with the columns of the file. Raises DataError where it cannot be read."""
    if file.size == 0:
        return []
    raw, _, schema = _open(file)
    raw.close()
    return check_schema(file.name, schema, wanted)


def batches(file: DataFile, wanted: Wanted) -> Iterator[Batch]:
    """The schema must be right."""
    import pyarrow as pa

    if file.size == 0:
        return
    names = [name for name, _ in wanted.columns]
    raw, avro, schema = _open(file)
    with raw:
        there = pa.schema([schema.field(name) for name in names])
        try:
            while rows := list(islice(avro, ROWS)):
                table = pa.Table.from_pylist(rows, there) if names else pa.table({"": pa.nulls(len(rows))}).select([])
                columns = [conformed(file.name, table.column(n), n, t, wanted.stream) for n, t in wanted.columns]
                yield Batch(pa.table(columns, names) if names else table, raw.tell())
        except DataError:
            raise
        except Exception as error:  # fastavro has no class of its own for what a damaged file leads to
            raise DataError([_damaged(file, error)]) from None


def look(file: DataFile, records: int) -> Looked:
    """The first."""
    import pyarrow as pa

    raw, avro, schema = _open(file)
    with raw:
        try:
            rows = list(islice(avro, records + 1))
            return Looked(pa.Table.from_pylist(rows[:records], schema), len(rows) <= records)
        except Exception as error:  # as above
            raise DataError([_damaged(file, error)]) from None


def _open(file: DataFile) -> tuple[Any, Any, Any]:
    """The bytes, the records in them, and their schema as one of Arrow's."""
    if find_spec("fastavro") is None:
        hint = "`pip install 'cepc[avro]'` brings it"
        raise DataError(
            [messages.unreadable(file.name, "Avro needs the package fastavro, which is not installed", hint)]
        )
    if not file.starts_with(MAGIC):
        raise NotThisFormatError(file.name)
    import fastavro

    raw = file.open_raw()
    try:
        avro = fastavro.reader(raw)
        return raw, avro, _schema(avro.writer_schema)
    except Exception as error:
        raw.close()
        raise DataError([_damaged(file, error)]) from None


def _damaged(file: DataFile, error: Exception) -> Diagnostic:
    said = reason(error) if isinstance(error, OSError) else (str(error).splitlines() or [type(error).__name__])[0]
    return messages.unreadable(file.name, f"it is damaged, or cut off ({said.rstrip('.')})", messages.CUT)


# ---- types -----------------------------------------------------------------------------------------------------------


def _schema(record: Any) -> Any:
    import pyarrow as pa

    fields = record["fields"] if isinstance(record, dict) and record.get("type") == "record" else []
    return pa.schema([pa.field(field["name"], _type(field["type"], {})) for field in fields])


def _type(avro: Any, named: dict[str, Any]) -> Any:
    """The Arrow type of one of Avro's; of a union with null the other's. What has none is null's, which fits no column
    that is declared otherwise.
    """
    import pyarrow as pa

    if isinstance(avro, list):
        others = [one for one in avro if one != "null"]
        return _type(others[0], named) if len(others) == 1 else pa.null()
    if isinstance(avro, str):
        return named.get(avro) or _plain(avro)
    if (logical := _logical(avro)) is not None:
        return logical
    found = _of_parts(avro, named)
    if "name" in avro:
        named[avro["name"]] = found
    return found


def _of_parts(avro: dict[str, Any], named: dict[str, Any]) -> Any:
    import pyarrow as pa

    match avro["type"]:
        case "array":
            return pa.list_(_type(avro["items"], named))
        case "map":
            return pa.map_(pa.string(), _type(avro["values"], named))
        case "record":
            return pa.struct([pa.field(field["name"], _type(field["type"], named)) for field in avro["fields"]])
        case "enum":
            return pa.string()
        case "fixed":
            return pa.binary()
        case other:
            return _type(other, named)


def _plain(name: str) -> Any:
    import pyarrow as pa

    plain = {
        "boolean": pa.bool_(), "int": pa.int32(), "long": pa.int64(), "float": pa.float32(), "double": pa.float64(),
        "bytes": pa.binary(), "string": pa.string(),
    }  # fmt: skip
    return plain.get(name, pa.null())


def _logical(avro: dict[str, Any]) -> Any | None:
    """As fastavro gives them: the types of Python's own library."""
    import pyarrow as pa

    match avro.get("logicalType"):
        case "date":
            return pa.date32()
        case "timestamp-millis" | "timestamp-micros":
            return pa.timestamp("us", "UTC")
        case "local-timestamp-millis" | "local-timestamp-micros":
            return pa.timestamp("us")
        case "decimal":
            return pa.decimal128(avro["precision"], avro.get("scale", 0))
        case "uuid":
            return pa.string()
    return None


READER = Reader(
    "avro", "Avro", (".avro",), lambda first: first.startswith(MAGIC), problems, batches, is_text=False, look=look,
)  # fmt: skip
