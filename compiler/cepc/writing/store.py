"""Results as files, one for each query: all of them or, where something goes wrong, none."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .lines import csv_lines, json_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def store(tables: Mapping[str, Any], folder: str, form: str) -> list[Path]:
    """Write `folder/QUERY.FORM` for each query, replacing what is there. Raises OSError.

    A file has its name only when it and all the others are complete: what a reader sees is never half of a result.
    """
    root = Path(folder)
    root.mkdir(parents=True, exist_ok=True)
    finished = [root / f"{file_name(name)}.{form}" for name in tables]
    begun = [path.with_name(f".{path.name}.{os.getpid()}.tmp") for path in finished]
    try:
        for path, table in zip(begun, tables.values(), strict=True):
            _write(table, path, form)
        for path, name in zip(begun, finished, strict=True):
            path.replace(name)
    except BaseException:
        for path in begun:
            with suppress(OSError):
                path.unlink()
        raise
    return finished


def file_name(query: str) -> str:
    """The query's name, its punctuation written as in a URL."""
    name = "".join(c if ord(c) > 127 else quote(c, safe=" ()+,-_@!=") for c in query)
    return name.replace(".", "%2E", 1) if name.startswith(".") else name


def _write(table: Any, path: Path, form: str) -> None:
    if form == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(table, path)
        with path.open("rb+") as file:
            os.fsync(file.fileno())
        return
    lines: Iterable[str] = csv_lines(table) if form == "csv" else json_lines(table)
    with path.open("w", encoding="utf-8", newline="") as text:
        text.writelines(f"{line}\n" for line in lines)
        text.flush()
        os.fsync(text.fileno())
