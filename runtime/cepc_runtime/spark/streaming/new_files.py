"""The files of Parquet and ORC that a micro-batch takes: have they the columns that Spark is told to read? It asks none
of those that come later, and of an INT that is read as a TINYINT it keeps the lower byte.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

from pyspark.sql import types as T  # noqa: N812

from ...cheap_dataclass import dataclass
from ..footers import FORMS, check, footers
from ..schema import JobError
from .intact import each_once, files_read
from .relations import sources_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from .store import Store


@dataclass(frozen=True)
class FileSource:
    """What Spark reads a stream from, if that is files with columns of their own: their format, and the columns."""

    form: str
    schema: T.StructType


def look_at_new_files(
    events: Mapping[str, DataFrame], store: Store, folder: str, reads: Sequence[int] | None
) -> Callable[[int], None]:
    """What looks at the files of a micro-batch, by its number: it raises JobError, which names a file and what is wrong
    with its columns. `events` are those of each stream that a query reads, in the order in which it does; of a chain
    there are `reads`.
    """
    looks, place = [], 0
    for stream, frame in events.items():
        if (source := file_source(frame)) is not None:
            looks.append(partial(_look, frame.sparkSession, store, folder, stream, source, place, set(), reads))
        place += len(sources_of(frame))
    return partial(_each, looks)


def _each(looks: Sequence[Callable[[int], None]], batch: int) -> None:
    for look in looks:
        look(batch)


def _look(
    spark: SparkSession,
    store: Store,
    folder: str,
    stream: str,
    source: FileSource,
    place: int,
    passed: set[str],
    reads: Sequence[int] | None,
    batch: int,
) -> None:
    """`passed` are the texts of footers that were looked at before: files of one writer mostly have the same."""
    found = footers(spark, source.form, new_files(store, folder, batch, place, reads), passed)
    try:
        check(stream, source.schema.fields, found)
    except JobError as error:
        raise JobError(f"{error}; put a file with the declared columns in its place, under the same name") from error
    passed.update(footer.text for footer in found)


def file_source(events: DataFrame) -> FileSource | None:
    """That of a streaming DataFrame; None where it has another, or several."""
    source, *others = sources_of(events)
    if source is None or others:
        return None
    form, schema = str(source.className()).lower(), source.userSpecifiedSchema()
    if form not in FORMS or schema.isEmpty():
        return None
    return FileSource(form, T.StructType.fromJson(json.loads(schema.get().json())))


def new_files(store: Store, folder: str, batch: int, place: int, reads: Sequence[int] | None) -> list[str]:
    """The files that a source of a checkpoint takes into a micro-batch, the newest one that has begun."""
    lines = (store.read(f"{folder}/offsets/{batch - 1}") or "").splitlines()[2:]  # a version, and what is of all
    offsets = each_once(lines, reads)
    last = offsets[place] if place < len(offsets) else ""
    done = json.loads(last).get("logOffset", -1) if last.startswith("{") else -1
    return files_read(store, folder, place, done, reads)
