"""The files that a micro-batch takes. Is one's name a pattern to Spark, which then reads the others again? Have those
of Parquet and ORC the columns that Spark is told to read? It asks none of those that come later, and of an INT that is
read as a TINYINT it keeps the lower byte.
"""

from __future__ import annotations

import json
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark.sql import types as T  # noqa: N812

from ...cheap_dataclass import dataclass
from ..footers import FORMS, check, footers
from ..paths import PATTERN
from ..schema import JobError
from .intact import CURE, each_once, entries_of, files_read
from .relations import sources_of
from .source import OF_FILES, read_again

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
    with its name or its columns. `events` are those of each stream that a query reads, in the order in which it does;
    of a chain there are `reads`.
    """
    looks: list[Callable[[int], None]] = []
    place = 0
    for stream, frame in events.items():
        sources = sources_of(frame)
        columns = file_source(sources)
        for number, source in enumerate(sources, start=place):
            if source is not None and str(source.className()).lower() in OF_FILES:
                look = LookAtFiles(frame.sparkSession, store, folder, stream, columns, number, reads)
                looks.append(look.at)
        place += len(sources)
    return partial(_each, looks)


def _each(looks: Sequence[Callable[[int], None]], batch: int) -> None:
    for look in looks:
        look(batch)


@dataclass(frozen=True)
class LookAtFiles:
    """At the files of one source of a checkpoint. `passed` are the texts of footers that were looked at before: files
    of one writer mostly have the same.
    """

    spark: SparkSession
    store: Store
    folder: str
    stream: str
    columns: FileSource | None
    place: int
    reads: Sequence[int] | None
    passed: set[str] = field(default_factory=set)

    def at(self, batch: int) -> None:
        files = new_files(self.store, self.folder, batch, self.place, self.reads)
        if len(files) > 1 and (odd := next(filter(PATTERN.search, files), None)) is not None:
            raise JobError(f"{read_again(odd)}: {self._cure(batch)}")
        if self.columns is not None:
            self._look_at_columns(files, self.columns)

    def _cure(self, batch: int) -> str:
        """The micro-batch has done nothing yet: without what Spark has planned of it, it is planned anew."""
        log = f"{self.folder}/sources/{self.place}"
        entries = entries_of(self.store, log)
        newest = entries[max(entries)]
        if not newest.isdecimal():  # it is compact, and has all files that were ever read
            return f"give it another name, and {CURE}"
        return f"give it another name, delete {self.folder}/offsets/{batch} and {log}/{newest}, and start the job again"

    def _look_at_columns(self, files: Sequence[str], columns: FileSource) -> None:
        found = footers(self.spark, columns.form, files, self.passed)
        try:
            check(self.stream, columns.schema.fields, found)
        except JobError as error:
            raise JobError(
                f"{error}; put a file with the declared columns in its place, under the same name"
            ) from error
        self.passed.update(footer.text for footer in found)


def file_source(sources: Sequence[Any]) -> FileSource | None:
    """That of a streaming DataFrame with these sources; None where it has another, or several."""
    source, *others = sources
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
