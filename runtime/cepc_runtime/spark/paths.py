"""What the names of files and directories are to Hadoop and to Spark: URLs, patterns, or what they say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from pyspark.errors import AnalysisException
from pyspark.sql.utils import is_remote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATTERN: Final = re.compile(r"[]\\{}*?[]")
"""What Spark takes for more than itself in the name of what it reads."""
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")


def misread(path: str) -> bool:
    """Whether Hadoop refuses the path, for it takes what is before a colon for the scheme of a URL."""
    scheme, colon, rest = path.partition(":")
    is_url = rest.startswith("/") and _SCHEME.fullmatch(scheme)
    return bool(colon) and "/" not in scheme and not is_url


def whole_path(spark: SparkSession, path: str) -> tuple[str, str]:
    """The scheme of the file system that it is on, and the path there."""
    system, place = _on_its_system(spark, path)
    return system.getUri().getScheme(), system.makeQualified(place).toUri().getPath()


def exists(spark: SparkSession, path: str) -> bool:
    """Whether there is a file or a directory of this very name."""
    if is_remote():
        return _is_found(spark, _escaped(path))
    system, place = _on_its_system(spark, path)
    return bool(system.exists(place))


def _on_its_system(spark: SparkSession, path: str) -> tuple[Any, Any]:
    """Hadoop's file system that the path is on, and the path, as the JVM has them."""
    session: Any = spark
    place = session._jvm.org.apache.hadoop.fs.Path(path)
    return place.getFileSystem(session._jsparkSession.sessionState().newHadoopConf()), place


def as_itself(spark: SparkSession, path: str) -> str:
    """The path for Spark's readers: nothing in it is a pattern where there is a file or a directory of this name, and
    nothing is in the name of the directory that a relative one is below.
    """
    itself = _escaped(path) if PATTERN.search(path) and exists(spark, path) else path
    base = "" if is_remote() or _is_whole(path) else _qualified(spark, ".")
    return f"{_escaped(base)}/{itself}" if PATTERN.search(base) else itself


def is_file(spark: SparkSession, path: str) -> bool:
    """Whether it is one file, as far as that is known."""
    if is_remote():
        return False
    system, place = _on_its_system(spark, path)
    return bool(system.exists(place) and system.getFileStatus(place).isFile())


def odd_name(spark: SparkSession, path: str) -> str | None:
    """The whole name of what is there, if Spark would take it for a pattern."""
    if is_remote() or (_is_whole(path) and not PATTERN.search(path)):
        return None
    whole = _qualified(spark, path)
    return whole if PATTERN.search(whole) and exists(spark, path) else None


def _escaped(path: str) -> str:
    return PATTERN.sub(r"\\\g<0>", path)


def _is_whole(path: str) -> bool:
    return path.startswith("/") or ":" in path.partition("/")[0]


def _qualified(spark: SparkSession, path: str) -> str:
    system, place = _on_its_system(spark, path)
    return str(system.makeQualified(place).toString())


def _is_found(spark: SparkSession, pattern: str) -> bool:
    """Whether Spark could read it. It is named twice because of a single one that is not there Spark logs a page of
    stack trace, as a warning.
    """
    try:
        spark.read.format("binaryFile").load([pattern, pattern]).schema  # noqa: B018
    except AnalysisException:
        return False
    return True
