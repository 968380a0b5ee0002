"""Settings of a session that runs nothing but a job."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from ..cheap_dataclass import dataclass
from ..enumerate.budget import PARTIAL_MATCHES
from .schema import JobError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pyspark.sql import SparkSession

    from .schema import Stream

MEANING: Final = {
    "spark.sql.ansi.enabled": "true",  # an expression that fails, fails the query
    "spark.sql.session.timeZone": "UTC",  # the language's times are
    "spark.sql.variable.substitute": "false",  # a `${…}` in SQL is part of a name here
    "spark.sql.timestampType": "TIMESTAMP_LTZ",  # what TIMESTAMP is in SQL
    "spark.sql.parser.escapedStringLiterals": "false",  # a backslash in a text of SQL escapes
}
"""What Spark makes of an expression depends on these."""

_UTC: Final = (None, "UTC", "Etc/UTC", "GMT", "Z", "+00:00")

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
    # Where no event takes part, Spark would replace the whole plan by one without rows, and with it what counts the
    # events that are dropped.
    "spark.sql.adaptive.optimizer.excludedRules": "org.apache.spark.sql.execution.adaptive.AQEPropagateEmptyRelation",
    **MEANING,
}
"""None of them changes a query's rows: where those depend on a setting, it is set for the moment (`with_meaning`)."""

OF_OUTPUT: Final = {
    # Spark's own default, INT96, is one that Parquet has given up. It has no least and greatest values, so who asks for
    # the windows of a day reads those of all days, and it takes twice the time to write.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}
"""What a job says of the files that it writes, where nobody else says anything of it."""

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
        raise JobError(f"{MOST} must be a positive whole number, not {said}")
    return int(said)


STATIC: Final = {
    # A stream writes its queries in each micro-batch, and where they have other columns each has code of its own. Of
    # 100 pieces, Spark's default, forty queries find none again, and all of it is generated and compiled anew.
    "spark.sql.codegen.cache.maxEntries": "1000",
}
"""Settings for who makes the session: in one that is there it is too late for them."""

# Java's default collector works beside the tasks, for short pauses. A job wants the rows of all tasks soon; pauses do
# no harm. Spark reads times of ORC without a zone in that of the JVM.
JVM: Final = {
    "spark.driver.defaultJavaOptions": "-Duser.timezone=UTC -XX:+UseParallelGC",
    "spark.executor.defaultJavaOptions": "-Duser.timezone=UTC -XX:+UseParallelGC",
}
"""Settings for who starts the JVM: in a session that runs it is too late for them."""

COMPILED_ONCE: Final = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
"""For a JVM with so little to do that code is never worth a second compilation. It would then keep a fifth of the room
for code, which some hundred sinks fill, and a JVM without room stops working on tasks, and says so to nobody.
"""

JVM_OF_LITTLE: Final = {name: f"{options} {COMPILED_ONCE}" for name, options in JVM.items()}
"""The same where there is little to do."""


@contextmanager
def with_meaning(spark: SparkSession, streams: Iterable[Stream]) -> Iterator[None]:
    """What is built meanwhile means what the language says, whatever the session's own settings are; it has these again
    afterwards. Spark analyses what it is given at once, and writes the settings into the expressions.

    Spark Connect analyses a plan whenever rows are asked for, so there the settings must be right. Raises JobError.
    """
    if hasattr(spark, "_jvm"):
        with held(spark, MEANING):
            yield
        return
    _check({name: spark.conf.get(name, None) for name in MEANING}, streams)
    yield


@dataclass
class _Held:
    """The settings of a session that are held, by how many, and what they were before."""

    holders: int
    before: dict[str, str | None]


_HELD: Final[dict[tuple[int, str], _Held]] = {}
_HOLDING: Final = threading.Lock()


@contextmanager
def held(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """A session has these settings meanwhile, and its own afterwards: when the last has ended of all that hold them,
    which may be threads with a job each.
    """
    session: Any = spark
    # A session of a JVM has several objects in Python.
    which = session._jsparkSession.hashCode() if hasattr(spark, "_jvm") else id(spark)
    key = (int(which), ",".join(settings))
    with _HOLDING:
        one = _HELD.setdefault(key, _Held(0, {name: spark.conf.get(name, None) for name in settings}))
        one.holders += 1
        for name, value in settings.items():
            spark.conf.set(name, value)
    try:
        yield
    finally:
        with _HOLDING:
            one.holders -= 1
            if one.holders == 0:
                del _HELD[key]
                for name, own in one.before.items():
                    if own is None:
                        spark.conf.unset(name)
                    else:
                        spark.conf.set(name, own)


def _check(found: Mapping[str, str | None], streams: Iterable[Stream]) -> None:
    """Raises JobError where a session of Spark Connect is set to something else; a server's own zone is its machine's,
    of which nothing is known.
    """
    ansi, zone, substitute, timestamps, escaped = found.values()
    if timestamps not in (None, "TIMESTAMP_LTZ"):
        raise JobError(
            f"TIMESTAMP has a time zone here: set spark.sql.timestampType to TIMESTAMP_LTZ (it is {timestamps})"
        )
    if escaped not in (None, "false"):
        raise JobError("texts of SQL have escapes here: set spark.sql.parser.escapedStringLiterals to false")
    if ansi not in (None, "true"):
        raise JobError("the queries have ANSI semantics: set spark.sql.ansi.enabled to true, as it is by default")
    if zone not in _UTC:
        raise JobError(f"the queries are computed in UTC: set spark.sql.session.timeZone to UTC (it is {zone})")
    verbatim = [stream.name for stream in streams if "${" in stream.schema.simpleString()]
    if verbatim and substitute != "false":
        raise JobError(
            f"stream {verbatim[0]} has a column with `${{` in its name, which Spark would replace: set "
            "spark.sql.variable.substitute to false"
        )
