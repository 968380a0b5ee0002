"""Where Spark's reader of state finds a checkpoint."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ..schema import JobError
from .spread import cores_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession


@contextmanager
def readable(spark: SparkSession, folder: str) -> Iterator[str]:
    """A name for the folder of a checkpoint by which its state can be read meanwhile. Raises JobError.

    Spark's reader of state escapes a path as in a URL and then looks for what it has made of it. No spelling of a path
    with a space, a percent sign or a bracket gets through that, so such a folder is read by a link to it.
    """
    path = _qualified(spark, folder)
    if _is_plain(path):
        yield folder
        return
    check_readable(spark, folder)
    with TemporaryDirectory(prefix="cepc-") as place:
        link = Path(place, "checkpoint")
        if not _is_plain(_qualified(spark, f"file:{link}")):
            raise JobError(f"{folder} is read by a link in {place}, which needs a plain name too: set TMPDIR to /tmp")
        link.symlink_to(path.toUri().getPath(), target_is_directory=True)
        yield f"file:{link}"


def check_readable(spark: SparkSession, folder: str) -> None:
    """Raises JobError where the state in such a folder could never be read, so `--flush` could not end it: links are
    of local disks, and nobody but a Spark in one process sees those of the driver.
    """
    path = _qualified(spark, folder)
    if _is_plain(path) or (path.toUri().getScheme() == "file" and cores_of(spark) is not None):
        return
    if _is_plain(path.getParent()):
        cure = f"give the stream of {path.getName()} a name of letters, digits and _"
    else:
        cure = "name another --checkpoint"
    raise JobError(
        f"--flush could not read the state in {folder}: on a cluster Spark does not find it below a name"
        f" with spaces, brackets, braces, % or the like; {cure}"
    )


def whole_name(spark: SparkSession, folder: str) -> str:
    """Of a folder, with its file system."""
    return str(_qualified(spark, folder).toString())


def _qualified(spark: SparkSession, folder: str) -> Any:
    """Hadoop's path, with its file system."""
    session: Any = spark
    path = session._jvm.org.apache.hadoop.fs.Path(folder)
    system = path.getFileSystem(session._jsparkSession.sessionState().newHadoopConf())
    return path.makeQualified(system.getUri(), system.getWorkingDirectory())


def _is_plain(path: Any) -> bool:
    """Whether it is written in a URL as it is."""
    return bool(path.toUri().getRawPath() == path.toUri().getPath())
