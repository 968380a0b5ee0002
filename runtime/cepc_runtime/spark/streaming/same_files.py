"""Does a source read from where its checkpoint has read before? Spark knows the files it has seen by their whole names:
below another one it would read them again.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

from ..schema import JobError
from .intact import files_read, numbers_of, reads_of
from .relations import sources_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from .store import Store

BY_NAME: Final = "fileNameOnly"
"""Spark's option: whether names alone, without folders, tell one file from another. Of two files of one name in two
folders the second is then never read.
"""
_PATTERN: Final = re.compile(r"(?<!\\)[]{}*?[]")
_ESCAPED: Final = re.compile(r"\\(.)")


def folders_read(events: DataFrame) -> list[str]:
    """Where a stream's files lie, with the file system: up to the first pattern. None of what is no files, nor where
    the user has said what tells one file from another.
    """
    frame: Any = events
    jvm: Any = events.sparkSession._jvm
    conf = frame.sparkSession._jsparkSession.sessionState().newHadoopConf()
    found = []
    for source in filter(None, sources_of(events)):
        given = source.options().toSeq()
        options = {str(one._1()).lower(): str(one._2()) for one in map(given.apply, range(given.size()))}
        if BY_NAME.lower() in options:
            return []
        if "path" in options:
            path = jvm.org.apache.hadoop.fs.Path(above_patterns(options["path"]))
            found.append(path.getFileSystem(conf).makeQualified(path).toString())
    return found


def above_patterns(path: str) -> str:
    """The folder of all that a pattern may find."""
    parts = takewhile(lambda part: not _PATTERN.search(part), path.split("/"))
    return _ESCAPED.sub(r"\1", "/".join(parts)) or ("/" if path.startswith("/") else ".")


def check_same(store: Store, checkpoint: str, folders: Sequence[str]) -> None:
    """Raises JobError where the checkpoint has read files that lie in none of these folders, if there are any."""
    within = tuple(f"{_plain(folder).rstrip('/')}/" for folder in folders)
    if not within:
        return
    reads, places = reads_of(store, checkpoint), numbers_of(store, checkpoint, "sources")
    read = [file for place in places for file in files_read(store, checkpoint, place, reads=reads)]
    if other := next((_plain(file) for file in read if not _plain(file).startswith(within)), None):
        raise JobError(
            f"{checkpoint} has read {other}, and this run reads {', '.join(folder[:-1] for folder in within)}: if the"
            f" files that were read are there now, and no two files of the stream have the same name, write --option"
            f" {BY_NAME}=true, for Spark would read them again; if there are only others, write --option"
            f" {BY_NAME}=false"
        )


def _plain(url: str) -> str:
    """Hadoop writes a file system without a host in two ways."""
    return url.replace(":///", ":/", 1)
