"""Directories of a micro-batch that the driver makes: complete when they have their names, or their `_SUCCESS`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...cheap_dataclass import dataclass
from ..errors import Py4JJavaError
from ..files import COMPLETE
from ..forms import MOVED
from ..paths import whole_path
from ..schema import JobError
from .made_files import new_name, unwritten
from .store import failed, fill

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class OnDisk:
    """In a folder of this machine's disk, which has this path there."""

    folder: str
    path: str

    def put(self, inside: str, ending: str, contents: Sequence[Callable[[], bytes]], made: Iterable[Path] = ()) -> None:
        """A directory of this name, in the place of an older one: it has files with these contents, and those that
        others have made. Raises JobError.
        """
        at = Path(self.path, inside)
        unfinished = at.with_name(f"_{at.name}")  # which Spark does not see
        try:
            shutil.rmtree(unfinished, ignore_errors=True)  # what was left by a kill
            unfinished.mkdir(parents=True)
            for file in made:
                shutil.move(file, unfinished / file.name)
            for content in contents:
                (unfinished / new_name(ending)).write_bytes(content())
            (unfinished / COMPLETE).touch()
            if at.exists():
                shutil.rmtree(at)
            unfinished.rename(at)
        except OSError as error:
            raise JobError(unwritten(error, self.path)) from error


class ByHadoop:
    """In a folder of any other file system that Hadoop knows."""

    def __init__(self, spark: SparkSession, folder: str) -> None:
        session: Any = spark
        self.folder = folder
        self._hadoop = session._jvm.org.apache.hadoop.fs
        self._conf = session._jsparkSession.sessionState().newHadoopConf()

    def put(self, inside: str, ending: str, contents: Sequence[Callable[[], bytes]]) -> None:
        """A directory of this name, in the place of an older one: it has files with these contents. Where a file would
        be copied to get another name, it has its own from the start, and is there when it is whole. Raises JobError.
        """
        found, place = [content() for content in contents], f"{self.folder.rstrip('/')}/{inside}"
        try:
            at = self._hadoop.Path(place)
            system = at.getFileSystem(self._conf)
            is_moved = system.getUri().getScheme() in MOVED
            unfinished = self._hadoop.Path(at.getParent(), f"_{at.getName()}") if is_moved else at
            system.delete(unfinished, True)
            for content in found:
                fill(system.create(self._hadoop.Path(unfinished, new_name(ending)), True), content)
            fill(system.create(self._hadoop.Path(unfinished, COMPLETE), True), b"")
            if is_moved:
                system.delete(at, True)
                if not system.rename(unfinished, at):
                    raise JobError(f"{place} cannot be written: {unfinished} cannot be moved there")
        except Py4JJavaError as error:
            raise failed("written", place, error) from error


def directories_in(spark: SparkSession, folder: str) -> OnDisk | ByHadoop:
    """How they are made in the folder."""
    scheme, path = whole_path(spark, folder)
    return OnDisk(folder, path) if scheme == "file" else ByHadoop(spark, folder)
