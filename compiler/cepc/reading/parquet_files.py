"""Parquet files. Their schemas are checked before a row is read, and only the wanted columns are decoded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import DataError
from . import messages
from .conform import check_schema, conformed_batch
from .files import reason
from .reader import Batch, Looked, NotThisFormatError, Reader, Wanted, spread

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cepc_grammar.diagnostic import Diagnostic

    from .files import DataFile

MAGIC = b"PAR1"
ROWS = 1 << 17  # in a batch
BUFFER = 1 << 20  # bytes of a column that are read at once; Arrow would keep all that was read of the file


def problems(file: DataFile, wanted: Wanted) -> list[Diagnostic]:
    """What is wrong with the columns of the file. Raises DataError where it cannot be read."""
    if file.size == 0:
        return []
    with _open(file) as parquet:
        try:
            return check_schema(file.name, parquet.schema_arrow, wanted, _instants(parquet))
        except UnicodeDecodeError as error:  # in the name of a zone
            raise DataError([_damaged(file, error)]) from None


def batches(file: DataFile, wanted: Wanted) -> Iterator[Batch]:
    """How many bytes of the file a batch comes from is about right. The schema must be right."""
    import pyarrow as pa

    if file.size == 0:
        return
    names = [name for name, _ in wanted.columns]
    with _open(file, [name for name in names if name == wanted.encoded]) as parquet:
        rows, done = parquet.metadata.num_rows, 0
        try:
            for batch in parquet.iter_batches(batch_size=ROWS, columns=names):
                done += batch.num_rows
                if wanted.encoded in names:  # Arrow does not look whether each number is one of the dictionary's
                    batch.column(wanted.encoded).validate(full=True)
                yield conformed_batch(file, batch, wanted, file.size * done // max(rows, 1))
        except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
            raise DataError([_damaged(file, error)]) from None


def look(file: DataFile, records: int) -> Looked:
    """Of row groups that are spread over the file."""
    import pyarrow as pa

    with _open(file) as parquet:
        groups = spread(parquet.num_row_groups)
        each = -(-records // max(len(groups), 1))
        try:
            batches = [next(parquet.iter_batches(each, [group]), None) for group in groups]
        except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
            raise DataError([_damaged(file, error)]) from None
        table = pa.Table.from_batches([b for b in batches if b is not None], parquet.schema_arrow)
        return Looked(table, table.num_rows == parquet.metadata.num_rows, instants=tuple(_instants(parquet)))


def _open(file: DataFile, encoded: Sequence[str] = ()) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(
            file.open_raw(), coerce_int96_timestamp_unit="us", read_dictionary=list(encoded),
            pre_buffer=False, buffer_size=BUFFER,
        )  # fmt: skip
    except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
        raise DataError([_damaged(file, error)]) from None


def _damaged(file: DataFile, error: Exception) -> Diagnostic:
    if file.starts_with(MAGIC) and not file.ends_with(MAGIC):
        return messages.cut(file.name, "its end, where Parquet says what there is, is missing")
    if "magic bytes not found" in str(error):
        raise NotThisFormatError(file.name) from None
    said = reason(error) if isinstance(error, OSError) else str(error).splitlines()[0]
    return messages.unreadable(file.name, f"it is damaged, or no Parquet file ({said.rstrip('.')})", messages.CUT)


def _instants(parquet: Any) -> list[str]:
    """INT96 is how Spark long wrote a TIMESTAMP; Arrow takes it for a time without a zone."""
    schema = parquet.schema
    columns = (schema.column(i) for i in range(len(schema)))
    return [c.path for c in columns if c.physical_type == "INT96" and "." not in c.path]


READER = Reader(
    "parquet", "Parquet", (".parquet",), lambda first: first.startswith(MAGIC), problems, batches,
    aliases=(".parq", ".pq"), is_text=False, look=look,
)  # fmt: skip
