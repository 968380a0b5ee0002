"""Settings of a session that runs nothing but a job."""

from __future__ import annotations

from typing import Final

from ..enumerate.budget import PARTIAL_MATCHES
from .schema import JobError

SETTINGS: Final = {
    # Without a limit Spark does not ask after each row how many bytes a batch for Python has by now, which is dearer
    # than to write the row. A batch has 10,000 rows at most, and the kernel holds many more.
    "spark.sql.execution.arrow.maxBytesPerBatch": str((1 << 31) - 1),
    # Spark joins small partitions to about as many as there are cores; three on two cores leave one of them waiting. So
    # it joins them to no more than this, some hundred thousand events.
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "4m",
    # What Spark makes of hundreds of conditions is otherwise one method, too long for a JVM to compile.
    "spark.sql.codegen.hugeMethodLimit": "8000",
    # A query's rows are found among those of all: Spark passes over the blocks of the cache that have none of them.
    "spark.sql.inMemoryColumnarStorage.batchSize": "2000",
    "spark.sql.variable.substitute": "false",  # a `${…}` in SQL is part of a name here
    "spark.sql.session.timeZone": "UTC",  # the language's times are
}
"""None of them changes what a query's rows are, but for the last two, which `build` asks for where they matter."""

MOST: Final = "spark.cepc.most"
"""How many partial matches of a query a task lists at a time, as `--most` of a job says."""


def most() -> int:
    """What the session says, where there is one."""
    from pyspark.sql import SparkSession  # which the workers do not need

    session = SparkSession.getActiveSession()
    said = None if session is None else session.conf.get(MOST, None)
    if said is None:
        return PARTIAL_MATCHES
    if not said.isdecimal() or int(said) == 0:
        raise JobError(f"{MOST} is a number of partial matches, and {said} is none")
    return int(said)


# Java's default collector works beside the tasks, for short pauses. A job wants the rows of all tasks soon; pauses do
# no harm.
JVM: Final = {
    "spark.driver.defaultJavaOptions": "-XX:+UseParallelGC",
    "spark.executor.defaultJavaOptions": "-XX:+UseParallelGC",
}
"""Settings for who starts the JVM: in a session that runs it is too late for them."""
