"""Where the driver's own workers find cepc_runtime. Spark starts a process of Python beside the driver for each
operator with state, and gives it none of the files of `--py-files`, which the driver and the executors have.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import cepc_runtime

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession


@contextmanager
def with_archive(spark: SparkSession) -> Iterator[None]:
    """Functions that are made meanwhile carry the path of the archive that cepc_runtime was imported from, if it was
    one. Of a folder of packages they must not, for there may be others in it on another machine.
    """
    archive = Path(cepc_runtime.__file__).absolute().parent.parent
    if not archive.is_file():
        yield
        return
    environment = spark.sparkContext.environment
    before = environment.get("PYTHONPATH")
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(archive), before)))
    try:
        yield
    finally:
        if before is None:
            del environment["PYTHONPATH"]
        else:
            environment["PYTHONPATH"] = before
