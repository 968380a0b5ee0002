"""Files of a micro-batch, as bytes: workers and the driver make them alike."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from ...results.lines import csv_lines, json_lines
from ..forms import Parquet, TextLines
from ..parquet_packing import ParquetFile, file_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...plan.physical import PhysicalPlan
    from ..forms import FileKind

OF_TEXT: Final = ".txt"


def file_of(kind: FileKind, plan: PhysicalPlan, number: int, tables: Sequence[Any]) -> Any:
    """The bytes of a file with rows of query `number`."""
    match kind:
        case Parquet():
            file = ParquetFile(file_schema(plan, number, kind), kind)
            for table in tables:
                file.add(table)
            return file.whole()
        case TextLines(form):
            lines = csv_lines if form == "csv" else json_lines
            return b"".join(lines(pa.concat_tables(tables)))


def text_file(lines: Iterable[str]) -> bytes:
    """Its bytes."""
    return "".join(f"{line}\n" for line in lines).encode()


def new_name(ending: str) -> str:
    """Of a file."""
    return f"part-{uuid.uuid4()}{ending}"


def unwritten(error: OSError, folder: str) -> str:
    """What to say of it."""
    why = f"{error.filename or folder} cannot be written: {error.strerror or error}"
    return f"{why}; the same command goes on from the checkpoint"
