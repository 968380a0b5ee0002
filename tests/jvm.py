"""The JVMs of tests, those of jobs that tests submit among them: what they have to do is little beside their start.

Code is compiled once, as where `cepc run --engine spark` has few events, and the classes are those that another JVM has
read, checked and laid out before: that of the session of the tests, when it ends. A submitted job takes a third of the
time so.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cepc.java import JavaNotFoundError, spark_environment
from cepc.running.class_archive import ClassArchive, archive_path
from cepc_runtime.spark.settings import COMPILED_ONCE

SECONDS = 300
"""A JVM writes the archive in some twenty."""


def class_archive(folder: Path) -> ClassArchive | None:
    """That of the Java and the pyspark at hand, kept in a folder: to use, or to make where there is none. None where
    there can be none.
    """
    with suppress(JavaNotFoundError, OSError):
        env = {**spark_environment(), "XDG_CACHE_HOME": str(folder)}
        spark = find_spec("pyspark")
        if spark is None or spark.origin is None:
            return None
        path = archive_path(env, Path(spark.origin).parent, version("pyspark"))
        if path.exists():
            return ClassArchive(path, is_made=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        return None if " " in str(path) else ClassArchive(path.with_suffix(f".{os.getpid()}"), is_made=True)
    return None


def options(archive: ClassArchive | None) -> str:
    """Those of each JVM, which spark-submit is given."""
    return COMPILED_ONCE if archive is None or archive.is_made else f"{COMPILED_ONCE} {archive.options}"


def end(archive: ClassArchive) -> None:
    """End the JVM of this process, which makes the archive meanwhile; others see it when it is whole."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    gateway.shutdown()
    gateway.proc.stdin.close()
    with suppress(subprocess.TimeoutExpired):  # tests need no archive
        if gateway.proc.wait(SECONDS) == 0 and archive.path.exists():
            archive.path.replace(archive.path.with_suffix(".jsa"))
