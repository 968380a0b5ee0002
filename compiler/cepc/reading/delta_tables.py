"""Delta tables, which take the package deltalake: their log says which Parquet files are the newest version."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from .. import run_settings as settings
from ..errors import DataError
from . import messages, parquet_files
from .reader import Reader

if TYPE_CHECKING:
    from collections.abc import Iterator

LOG = "_delta_log"
NOT_READ = ("deletionVectors", "columnMapping")
"""Features of tables by which a row of a file may be none of the table's, or a column have another name."""

_BY_SPARK: Final = f"{settings.ON_SPARK.of()}, with Spark's package for Delta,"


def is_table(folder: Path) -> bool:
    return (folder / LOG).is_dir()


def files_of(folder: Path) -> Iterator[Path]:
    """Those of the newest version, by their names. Raises DataError."""
    name = str(folder)
    if find_spec("deltalake") is None:
        hint = f"`pip install 'cepc[delta]'` brings it; {_BY_SPARK} reads the table"
        raise DataError(
            [messages.unreadable(name, "a Delta table needs the package deltalake, which is not installed", hint)]
        )
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    try:
        table = DeltaTable(name)
        there = set(table.protocol().reader_features or ()) & set(NOT_READ)
        files = sorted(table.file_uris())
    except (DeltaError, OSError) as error:
        said = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError([messages.unreadable(name, f"its log cannot be read ({said.rstrip('.')})")]) from None
    if there:
        why = f"the table has {' and '.join(sorted(there))}, which are read by Spark alone"
        raise DataError([messages.unreadable(name, why, f"{_BY_SPARK} reads it")])
    # A name in the log is quoted once more than in the folder.
    return (Path(file) if Path(file).exists() else Path(unquote(file)) for file in files)


READER = Reader(
    "delta",
    "Delta",
    (),
    lambda _first: False,
    parquet_files.problems,
    parquet_files.batches,
    is_text=False,
    look=parquet_files.look,
)
