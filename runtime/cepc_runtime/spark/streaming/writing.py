"""A micro-batch is written: what its buckets have told goes to where rows, late events and records that are no events
go.
"""

from __future__ import annotations

import shutil
import threading
from contextlib import ExitStack
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from ...cheap_dataclass import dataclass
from ...parts.at_once import at_once
from ..errors import SPARK_ERRORS
from ..schema import JobError
from .intact import state_problem
from .link_writes import OfLink, lost_writes
from .sinks import FLUSHED, AtOnce, Directories, OfTables
from .tells import KeptBySpark, MadeByWorkers
from .told import told_in

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import DataFrame

    from .how_written import HowWritten
    from .lease import Lease
    from .query import Continuous
    from .sinks import Sink

AT_ONCE: Final = 8
"""Writes at the same time. A small one mostly waits, for files or for a plan of Spark's."""

_STATE: Final = {"rows": "events", "panes": "panes", "waiting": "waiting", "bytes": "bytes"}
"""What progress says of the state, and what a bucket calls it."""


@dataclass
class Writing:
    """Writes the micro-batches of one stream as long as it has the lease, each after a `look` at what it is made from;
    what each did is in `done`, by its number. `failure` is why one was not written.
    """

    what: Continuous
    sink: Sink
    how: HowWritten
    lease: Lease
    folder: str
    look: Callable[[int], None]
    done: dict[int, dict[str, Any]] = field(default_factory=dict)
    failure: Exception | None = None
    _buckets: dict[tuple[int, int], dict[str, int]] = field(default_factory=dict)
    _amid: Any = field(default_factory=threading.Lock)

    def __call__(self, blobs: DataFrame, batch: int) -> None:
        with self._amid:
            try:
                self.lease.check()
                if batch != FLUSHED:
                    self.look(batch)
                self._write(blobs, batch)
            except (JobError, *SPARK_ERRORS) as error:  # Spark's own report of it has no causes any more
                self.failure = state_problem(self.lease.store, self.folder, error) or error
                raise

    @property
    def is_amid(self) -> bool:
        """Whether a micro-batch is being written: also for a while after Spark's query has become inactive."""
        return bool(self._amid.locked())

    def _write(self, blobs: DataFrame, batch: int) -> None:
        with ExitStack() as stack:
            match self.how.aside:
                case KeptBySpark():  # they are asked for again where not all was told
                    blobs = blobs.persist()
                    stack.callback(blobs.unpersist)
                case MadeByWorkers(folder=unfinished):
                    stack.callback(shutil.rmtree, unfinished, ignore_errors=True)
            links = self.what.links
            found = told_in(blobs, [link.link.number for link in links], self.how.aside)
            batches = [OfLink(link, own, blobs, self.how) for link, own in zip(links, found, strict=True)]
            rows = [write for own in batches for write in own.writes(self.sink, batch)]
            lost = [write for what, to in self.how.lost.items() for write in lost_writes(batches, what, to, batch)]
            may_be_at_once = isinstance(
                self.sink, Directories | AtOnce | OfTables
            )  # others are perhaps not made for it
            at_once([*rows, *lost], AT_ONCE if may_be_at_once else 1)
        self.done[batch] = self._summary(batches)

    def _summary(self, batches: Sequence[OfLink]) -> dict[str, Any]:
        """From what the buckets of each link did."""
        out = dict[str, int]()
        for own in batches:
            self._buckets |= {(own.link.link.number, one["bucket"]): one for one in own.metrics}
            numbered = enumerate(own.link.queries)
            out |= {name: own.counts[str(n)] for n, name in numbered if name not in own.link.link.unwritten}
        metrics = [one for own in batches for one in own.metrics]
        return {
            "late": sum(m["late"] for m in metrics),
            "ahead": sum(m["ahead"] for m in metrics),
            "malformed": sum(m["malformed"] for m in metrics),
            "out": out,
            **{f"state_{name}": sum(m[what] for m in self._buckets.values()) for name, what in _STATE.items()},
            "buckets": len(metrics),
        }
