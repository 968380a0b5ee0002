"""Queries of a stream and the checkpoint that they run on, which a flush ends."""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812

from ...cheap_dataclass import dataclass
from ..errors import SPARK_ERRORS
from ..settings import held, with_meaning
from . import checkpoint
from .blobs import BLOB, BUCKET, HELD, KIND
from .intact import numbers_of, state_problem
from .lease import take
from .operator import flush, flush_link
from .query import settings_of_stream
from .sinks import FLUSHED
from .state_path import readable
from .store import HadoopStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

    from .lease import Lease
    from .query import Continuous
    from .store import Store
    from .telling import Reporter
    from .tells import Aside
    from .writing import Writing


@dataclass(frozen=True)
class Place:
    """Queries and the checkpoint that they run on."""

    spark: SparkSession
    what: Continuous
    folder: str

    @property
    def store(self) -> Store:
        return HadoopStore(self.spark)

    def has_begun(self) -> bool:
        """Whether there was a micro-batch."""
        return bool(numbers_of(self.store, self.folder, "offsets"))

    def lease(self) -> Lease:
        """Raises JobError."""
        jvm: Any = self.spark._jvm
        mine = [os.getpid(), int(jvm.java.lang.ProcessHandle.current().pid())]
        return take(self.store, self.folder, mine, lambda text: print(text, file=sys.stderr, flush=True))

    def flush(self, writing: Writing, to: Reporter, together: Sequence[str] = (), *, resumed: bool = False) -> None:
        """A flush that was cut short is begun again at the same micro-batch, and writes the same rows in the same
        places.
        """
        writing.lease.release()
        writing.lease = self.lease()
        over = threading.Event()
        writing.lease.keep(lambda: not over.is_set())
        try:
            with (
                with_meaning(self.spark, self.what.sources),
                held(self.spark, settings_of_stream(self.spark, self.what.buckets)),
                readable(self.spark, self.folder) as state,
            ):
                done = checkpoint.flush(
                    self.store,
                    self.folder,
                    lambda batch: self._open(state, batch, writing.how.aside),
                    lambda rows: _flushed(writing, rows),
                    together,
                )
        except SPARK_ERRORS as error:
            raise state_problem(self.store, self.folder, error) or error from error
        finally:
            over.set()
            writing.lease.release()
        written = (name for link in self.what.links for name in link.written)
        out = done["out"] if done is not None else dict.fromkeys(written, 0)
        line = {"stream": self.what.streamed.stream.name, "flush": True, "out": out}
        to({**line, "resumed": True} if resumed else line)

    def _open(self, state: str, batch: int, aside: Aside) -> DataFrame:
        """What all links tell of what is open after a micro-batch; Spark has found the state of it by then."""
        held = self._held(state, self.what, batch).select(F.col("value.blob").alias("blob"))
        told = held.mapInArrow(flush(self.what.answering(aside)), BLOB)
        for link in self.what.later:
            key, own = F.col("key").getField(BUCKET), self._held(state, link, batch)
            states = own.select(key.alias(BUCKET), F.lit(HELD).alias(KIND), F.col("value.blob").alias("blob"))
            buckets = states.unionAll(link.rows_packed(told)).groupBy(BUCKET)
            told = buckets.applyInArrow(flush_link(link.answering(aside)), BLOB)
        return told

    def _held(self, state: str, link: Continuous, batch: int) -> DataFrame:
        states = self.spark.read.format("statestore").option("stateVarName", link.link.state).option("batchId", batch)
        if self.what.later:
            states = states.option("operatorId", self._operator(state, link))
        return states.load(state)

    def _operator(self, state: str, link: Continuous) -> int:
        """The number that Spark has given to the operator of a link."""
        known = (
            self.spark.read.format("state-metadata").load(state).select("operatorId", "operatorProperties").collect()
        )
        named = f'"stateName":"{link.link.state}"'
        return next(int(number) for number, said in known if named in said)


def _flushed(writing: Writing, rows: DataFrame) -> dict[str, Any]:
    writing(rows, FLUSHED)
    return writing.done.pop(FLUSHED)
