"""Parquet files. Their schemas are checked before a row is read, and only the wanted columns are decoded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cepc_runtime.types import TIMESTAMP, from_arrow

from ..errors import DataError
from . import messages
from .conform import conform
from .files import reason
from .widening import widens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_runtime.types import DataType

    from .files import DataFile
    from .wanted import Wanted

MAGIC = b"PAR1"
ROWS = 1 << 17  # in a batch


def problems(file: DataFile, wanted: Wanted) -> list[Diagnostic]:
    """What is wrong with the columns of the file. Raises DataError where it cannot be read."""
    if file.size == 0:
        return []
    with _open(file) as parquet:
        return check_schema(file.name, parquet.schema_arrow, wanted, _instants(parquet))


def check_schema(name: str, schema: Any, wanted: Wanted, instants: Sequence[str] = ()) -> list[Diagnostic]:
    """What is wrong with the columns of an Arrow schema; `instants` are times that stand for a TIMESTAMP whatever Arrow says."""
    found: list[Diagnostic] = []
    for column, type_ in wanted.declared:
        count = schema.names.count(column)
        if count == 0:
            found.append(messages.missing_column(name, column, type_, wanted.stream, schema.names))
        elif count > 1:
            found.append(messages.twice(name, column))
        else:
            found += _check(name, column, type_, schema.field(column).type, wanted.stream, column in instants)
    return found


def _check(name: str, column: str, type_: DataType, arrow: Any, stream: str, instant: bool) -> list[Diagnostic]:
    found = TIMESTAMP if instant else from_arrow(arrow)
    if found is not None and widens(found, type_):
        return []
    return [messages.other_type(name, column, type_, found.sql if found else str(arrow), stream)]


def batches(file: DataFile, wanted: Wanted) -> Iterator[tuple[Any, int]]:
    """Tables of the wanted columns, and how many bytes of the file they come from, about. The schema must be right."""
    import pyarrow as pa

    if file.size == 0:
        return
    names = [name for name, _ in wanted.columns]
    with _open(file) as parquet:
        rows, done = parquet.metadata.num_rows, 0
        try:
            for batch in parquet.iter_batches(batch_size=ROWS, columns=names):
                done += batch.num_rows
                columns = [_conform(file.name, batch.column(n), n, t, wanted) for n, t in wanted.columns]
                table = pa.table(columns, names) if names else pa.Table.from_batches([batch]).select([])
                yield table, file.size * done // max(rows, 1)
        except (OSError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise DataError([_damaged(file, error)]) from None


def _conform(name: str, column: Any, label: str, type_: DataType, wanted: Wanted) -> Any:
    import pyarrow as pa

    try:
        return conform(column, type_)
    except pa.ArrowInvalid as error:
        raise DataError([not_conforming(name, label, type_, column.type, wanted.stream, error)]) from None


def not_conforming(name: str, column: str, type_: DataType, arrow: Any, stream: str, error: Exception) -> Diagnostic:
    """Of a column whose type is right, but not all its values: times in nanoseconds, binary that is no text."""
    import pyarrow as pa

    hint = ""
    if pa.types.is_timestamp(arrow):
        hint = "Spark has microseconds: write the times with `coerce_timestamps='us'`, or round them"
    return messages.other_type(name, column, type_, f"{arrow} with values that are none ({error})", stream, hint)


def _open(file: DataFile) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(file.open_raw(), coerce_int96_timestamp_unit="us")
    except (OSError, pa.ArrowInvalid) as error:
        raise DataError([_damaged(file, error)]) from None


def _damaged(file: DataFile, error: Exception) -> Diagnostic:
    if file.starts_with(MAGIC) and not file.ends_with(MAGIC):
        return messages.cut(file.name, "its end, where Parquet says what there is, is missing")
    if "magic bytes not found" in str(error):
        return messages.unreadable(
            file.name, "it is no Parquet file", "`--input-format csv` or `json` names another format"
        )
    said = reason(error) if isinstance(error, OSError) else str(error).splitlines()[0]
    return messages.unreadable(file.name, f"it is damaged, or no Parquet file ({said.rstrip('.')})", messages.CUT)


def _instants(parquet: Any) -> list[str]:
    """INT96 is how Spark long wrote a TIMESTAMP; Arrow takes it for a time without a zone."""
    schema = parquet.schema
    columns = (schema.column(i) for i in range(len(schema)))
    return [c.path for c in columns if c.physical_type == "INT96" and "." not in c.path]
