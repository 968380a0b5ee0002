"""The rows of a micro-batch in files of Parquet, where workers and the driver are on one machine.

To write rows, Spark would keep those of all queries, and plan and run a job for each kind of columns. Here a bucket
tells the driver a table for each query, which one job brings, the one that computes it. Of what is more than a driver
shall hold, the worker makes files, and tells their names.
"""

from __future__ import annotations

import json
import shutil
import uuid
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.sql.utils import is_remote

from ...cheap_dataclass import dataclass
from ...parts.at_once import at_once
from ..files import UNFINISHED
from ..forms import IN_ROWS, InFiles, InRows, Placed, parquet_form
from ..parquet_packing import ParquetFile, file_schema
from ..paths import whole_path
from ..query_results import table_from
from ..rows import FAILED, result_columns, table_of, to_bytes
from ..schema import JobError
from ..sinks import path_of
from .blobs import METRICS, contents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from ...plan.physical import PhysicalPlan
    from .query import Continuous

HANDED_ON: Final = 1 << 20
"""Bytes of rows and texts that a bucket tells the driver in a micro-batch."""

FILES: Final = "files"
"""What a table is of whose rows are files, and what these are of."""

_OF: Final = b"of"
"""What says in a table what it is of: the number of a query, or a word."""

OF_TEXT: Final = ".txt"

AT_ONCE: Final = 4
"""Directories that are written at the same time."""


# ---- a worker's side -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TellsFiles:
    """What a bucket tells, as tables that say what they are of."""

    plan: PhysicalPlan
    form: InFiles

    def all_of(self, rows: Iterable[tuple[int, Any]], texts: Mapping[str, list[str]], metrics: str) -> list[bytes]:
        """Tables with the number of their query, texts by what they are, and what the bucket did."""
        tables = defaultdict[int, list[Any]](list)
        for number, table in rows:
            tables[number].append(table)
        try:
            return self._all_of(tables, texts, metrics)
        except OSError as error:
            return [self.error(_unwritten(error, self._folder))]

    def _all_of(self, tables: Mapping[int, Sequence[Any]], texts: Mapping[str, list[str]], metrics: str) -> list[bytes]:
        found, files, left = [_bytes(METRICS, _lines([metrics]))], list[tuple[str, str]](), HANDED_ON
        for number, own in tables.items():
            table = pa.concat_tables(own)
            if table.nbytes <= left:
                left -= table.nbytes
                found.append(_bytes(str(number), table))
            else:
                file = _parquet(self.plan, number, [table], self.form)
                files.append((str(number), self._placed(file, self.form.ending)))
        for what, lines in texts.items():
            if (size := sum(map(len, lines))) <= left:
                left -= size
                found.append(_bytes(what, _lines(lines)))
            else:
                files.append((what, self._placed(_text(lines), OF_TEXT)))
        if files:
            found.append(_bytes(FILES, _lines([json.dumps(file) for file in files])))
        return found

    def error(self, text: str) -> bytes:
        """Why there is nothing else."""
        return _bytes(FAILED, _lines([text]))

    def _placed(self, content: Any, ending: str) -> str:
        """The name of a new file with this content."""
        name = _new_name(ending)
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / name).write_bytes(content)
        return name

    @property
    def _folder(self) -> Path:
        assert isinstance(self.form.where, Placed)
        return Path(self.form.where.folder)


def _bytes(what: str, table: Any) -> bytes:
    return to_bytes(table.replace_schema_metadata({_OF: what}))


def _lines(lines: list[str]) -> Any:
    return pa.table({"line": pa.array(lines, pa.string())})


def _parquet(plan: PhysicalPlan, number: int, tables: Iterable[Any], form: InFiles) -> Any:
    file = ParquetFile(file_schema(plan, number, form), form)
    for table in tables:
        file.add(table)
    return file.whole()


def _text(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _new_name(ending: str) -> str:
    return f"part-{uuid.uuid4()}{ending}"


def _unwritten(error: OSError, folder: Path) -> str:
    why = f"{error.filename or folder} cannot be written: {error.strerror or error}"
    return f"{why}; the same command goes on from the checkpoint"


# ---- the driver's side -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Told:
    """What the buckets told of a micro-batch: tables and names of files, by what they are of."""

    tables: Mapping[str, Sequence[Any]]
    files: Mapping[str, Sequence[str]]

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """What each bucket did."""
        return [json.loads(line) for line in self.lines(METRICS)]

    def lines(self, what: str) -> list[str]:
        return [line for table in self.tables.get(what, ()) for line in table.column("line").to_pylist()]


def told(blobs: Iterable[Any]) -> Told:
    """What buffers say. Raises JobError where a bucket has failed."""
    tables, files = defaultdict[str, list[Any]](list), defaultdict[str, list[str]](list)
    for blob in blobs:
        table = table_of(blob)
        tables[table.schema.metadata[_OF].decode()].append(table)
    found = Told(tables, files)
    if errors := found.lines(FAILED):
        raise JobError(errors[0])
    for line in found.lines(FILES):
        what, name = json.loads(line)
        files[what].append(name)
    return found


@dataclass(frozen=True)
class OneMachine:
    """Where files go: `unfinished` and `output` are folders of this machine's disk, and so are those of what is `lost`,
    LATE or DEAD, if that is written.
    """

    form: InFiles
    unfinished: Path
    output: Path
    lost: Mapping[str, Path]

    def told(self, blobs: DataFrame, links: Iterable[Continuous]) -> list[Told]:
        """By each of these, by one job, which computes it. Raises JobError."""
        found = table_from(blobs).column(0)
        return [told(contents(link.link.number, found)) for link in links]

    def write(self, found: Sequence[Told], plans: Sequence[PhysicalPlan], batch: str) -> None:
        """Give each query of these plans that has rows, and what is lost, a directory of this name, in the place of an
        older one. Raises JobError.
        """
        rows = [
            self._rows(own, plan, number, batch)
            for own, plan in zip(found, plans, strict=True)
            for number in range(len(plan.queries))
        ]
        lost = [self._texts(found, what, folder / batch) for what, folder in self.lost.items()]
        try:
            at_once([write for write in (*rows, *lost) if write is not None], AT_ONCE)
        except OSError as error:
            raise JobError(_unwritten(error, self.output)) from error
        finally:
            shutil.rmtree(self.unfinished, ignore_errors=True)

    def _rows(self, found: Told, plan: PhysicalPlan, number: int, batch: str) -> Callable[[], None] | None:
        tables, files = found.tables.get(str(number)), found.files.get(str(number), ())
        if not (tables or files):
            return None
        content = partial(_parquet, plan, number, tables, self.form) if tables else None
        place = Path(path_of(str(self.output), plan.queries[number].name), batch)
        return partial(self._put, place, files, content, self.form.ending)

    def _texts(self, found: Sequence[Told], what: str, place: Path) -> Callable[[], None] | None:
        lines = [line for own in found for line in own.lines(what)]
        files = [file for own in found for file in own.files.get(what, ())]
        if not (lines or files):
            return None
        return partial(self._put, place, files, partial(_text, lines) if lines else None, OF_TEXT)

    def _put(self, place: Path, files: Iterable[str], content: Callable[[], Any] | None, ending: str) -> None:
        """A directory of these unfinished files and one with this content. It is complete when it has its name."""
        made = place.with_name(f"_{place.name}")  # which Spark does not see
        shutil.rmtree(made, ignore_errors=True)  # what was left by a kill
        made.mkdir(parents=True)
        for name in files:
            shutil.move(self.unfinished / name, made / name)
        if content is not None:
            (made / _new_name(ending)).write_bytes(content())
        (made / "_SUCCESS").touch()
        if place.exists():
            shutil.rmtree(place)
        made.rename(place)


def one_machine(spark: SparkSession, what: Continuous, output: str, lost: Mapping[str, str]) -> OneMachine | InRows:
    """How the rows of a stream get into files of Parquet: as rows, of which Spark makes them, where the session says
    more of them than we know to do, or not all that is written is on one machine with the workers.
    """
    if is_remote():
        return IN_ROWS
    plans = [link.plan for link in what.links]
    types = frozenset(
        type_ for plan in plans for query in plan.queries for _, type_ in result_columns(query, plan.stream)
    )
    form = parquet_form(spark, path_of(f"{output.rstrip('/')}/{UNFINISHED}", what.queries[0]), types)
    places = {name: whole_path(spark, folder) for name, folder in lost.items()}
    if any(scheme != "file" for scheme, _ in places.values()):
        return IN_ROWS
    match form:
        case InFiles(where=Placed(unfinished)):
            folders = {name: Path(path) for name, (_, path) in places.items()}
            return OneMachine(form, Path(unfinished), Path(whole_path(spark, output)[1]), folders)
        case _:
            return IN_ROWS
