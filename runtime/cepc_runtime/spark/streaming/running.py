"""Streams that run, until they have ended."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from ...cheap_dataclass import dataclass
from .ending import ToldToEnd, heard, quiet
from .intact import state_problem
from .telling import line_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .place import Place
    from .telling import Reporter
    from .writing import Writing

POLL: Final = 0.2


@dataclass
class Running:
    """A stream that runs. `query` is Spark's own handle."""

    query: Any
    place: Place
    writing: Writing
    _reported: int = -1

    def report(self, to: Reporter) -> None:
        """The micro-batches that have ended since it was last asked."""
        for progress in self.query.recentProgress:
            if progress["batchId"] > self._reported and progress["batchId"] in self.writing.done:
                self._reported = progress["batchId"]
                to(line_of(self.place.what, progress, self.writing.done.pop(self._reported)))

    def failure(self) -> Exception | None:
        """Why it ended, or must: what was raised for the user comes before what Spark makes of it."""
        lost: Exception | None = self.writing.lease.lost
        failed: Exception | None = self.query.exception()
        if lost is not None or failed is None:
            return lost
        return self.writing.failure or state_problem(self.place.store, self.place.folder, failed) or failed

    def stop(self) -> None:
        """End it, and give the checkpoint back."""
        self.query.stop()
        self.writing.lease.release()

    def flush(self, to: Reporter, together: Sequence[str] = ()) -> None:
        """What is still open, as at the end of a batch; the checkpoint is ended by it, and the streams named in
        `together` will be. Raises JobError.
        """
        self.place.flush(self.writing, to, together)


def flush_all(streams: Sequence[Running], to: Reporter) -> None:
    """End what these streams have open, and their checkpoints; where none has read anything, there is nothing to end.
    Raises JobError.
    """
    names = [stream.place.what.streamed.stream.name for stream in streams]
    together = names if any(stream.place.has_begun() for stream in streams) else []
    for stream in streams:
        stream.flush(to, together)


def wait(streams: list[Running], to: Reporter) -> None:
    """Until all have ended. One that fails ends the others, and is raised; a signal ends all. Raises ToldToEnd."""
    with heard() as signals:
        try:
            while not signals and any(stream.query.isActive for stream in streams):
                _look(streams, to)
                time.sleep(POLL)
            if signals:
                quiet(streams[0].place.spark)
                raise ToldToEnd(signals[0])
            _look(streams, to)
        finally:
            for stream in streams:
                stream.stop()


def _look(streams: Sequence[Running], to: Reporter) -> None:
    for stream in streams:
        stream.report(to)
        if (failure := stream.failure()) is not None:
            raise failure
