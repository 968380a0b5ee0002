"""ORC files. Their schemas are checked before a row is read, and only the wanted columns are decoded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import DataError
from . import messages
from .conform import check_schema, conformed_batch
from .files import reason
from .reader import Batch, Looked, NotThisFormatError, Reader, Wanted, spread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc_grammar.diagnostic import Diagnostic

    from .files import DataFile

MAGIC = b"ORC"


def problems(file: DataFile, wanted: Wanted) -> list[Diagnostic]:
    """What is wrong with the columns of the file. Raises DataError where it cannot be read."""
    if file.size == 0:
        return []
    import pyarrow as pa

    raw, orc = _open(file)
    with raw:
        try:
            # ORC's plain timestamps are instants for Spark, and Arrow says that they have no zone.
            return check_schema(file.name, orc.schema, wanted, _times(orc.schema))
        except (UnicodeDecodeError, pa.ArrowException) as error:  # in a name, or no struct
            raise DataError([_damaged(file, error)]) from None


def batches(file: DataFile, wanted: Wanted) -> Iterator[Batch]:
    """A batch for each stripe. The schema must be right."""
    import pyarrow as pa

    if file.size == 0:
        return
    names = [name for name, _ in wanted.columns]
    raw, orc = _open(file)
    with raw:
        try:
            for stripe in range(orc.nstripes):
                batch = orc.read_stripe(stripe, columns=names or None)
                batch.validate(full=True)  # which Arrow's reader of ORC leaves out: text may be no UTF-8
                yield conformed_batch(file, batch, wanted, file.size * (stripe + 1) // orc.nstripes)
        except (OSError, pa.ArrowException) as error:
            raise DataError([_damaged(file, error)]) from None


def look(file: DataFile, records: int) -> Looked:
    """Of stripes that are spread over the file."""
    import pyarrow as pa

    raw, orc = _open(file)
    with raw:
        stripes = spread(orc.nstripes)
        each = -(-records // max(len(stripes), 1))
        try:
            batches = [orc.read_stripe(stripe).slice(0, each) for stripe in stripes]
            table = pa.Table.from_batches(batches, orc.schema)
            return Looked(table, table.num_rows == orc.nrows, instants=tuple(_times(orc.schema)))
        except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
            raise DataError([_damaged(file, error)]) from None


def _open(file: DataFile) -> tuple[Any, Any]:
    import pyarrow as pa
    import pyarrow.orc as pa_orc

    raw = file.open_raw()
    try:
        return raw, pa_orc.ORCFile(raw)
    except (OSError, pa.ArrowException) as error:
        raw.close()
        if not file.starts_with(MAGIC):
            raise NotThisFormatError(file.name) from None
        raise DataError([_damaged(file, error)]) from None


def _damaged(file: DataFile, error: Exception) -> Diagnostic:
    said = reason(error) if isinstance(error, OSError) else str(error).splitlines()[0]
    if "out of range for nanosecond" in said:  # as Arrow keeps them
        return messages.far_times(file.name)
    return messages.unreadable(file.name, f"it is damaged, or cut off ({said.rstrip('.')})", messages.CUT)


def _times(schema: Any) -> list[str]:
    import pyarrow as pa

    return [field.name for field in schema if pa.types.is_timestamp(field.type) and field.type.tz is None]


READER = Reader(
    "orc", "ORC", (".orc",), lambda first: first.startswith(MAGIC), problems, batches, is_text=False, look=look,
)  # fmt: skip
