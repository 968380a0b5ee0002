"""Spark's side of the stateful operator: state and timers. Imported where a stream starts, for pyspark has it from 4.0
on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pandas as pd
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from ...streaming.ticks import BEGIN
from ..worker import settled
from .blobs import PASSING
from .time import timer_for, watermark_in_ticks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ...plan.stream import StreamPlan
    from .operator import Answer, Answering, Blob

STATE: Final = T.StructType([T.StructField("blob", T.BinaryType())])
"""As DDL, the JVM would be asked what it means in each task."""


class Buckets(StatefulProcessor):
    """Timers fire when the watermark closes something in a bucket that gets no events."""

    def __init__(self, answering: Answering) -> None:
        self._answering = answering

    def init(self, handle: Any) -> None:
        self._handle = handle
        self._state = handle.getValueState(self._answering.link.state, STATE)

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: N802, N803
        # Of the columns of PACKED, whose names do not come along.
        blobs = [
            (int(kind), blob) for frame in rows for kind, blob in zip(frame.iloc[:, -2], frame.iloc[:, -1], strict=True)
        ]
        if passing := [blob for kind, blob in blobs if kind == PASSING]:
            yield pd.DataFrame({"blob": passing})
            blobs = [(kind, blob) for kind, blob in blobs if kind != PASSING]
        if blobs:
            done = self._step(key, blobs, timerValues)
            self._forget(done)
            yield pd.DataFrame({"blob": done.rows})

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[pd.DataFrame]:  # noqa: ARG002, N802, N803
        yield pd.DataFrame({"blob": self._step(key, [], timerValues).rows})

    def close(self) -> None:
        settled()

    def _step(self, key: Any, blobs: Iterable[Blob], times: Any) -> Answer:
        old = self._state.get()
        shown, shift = times.getCurrentWatermarkInMs(), self._answering.shift
        # Spark's first watermark is that of 1970, which says nothing; where that is no time of ours, it is said here.
        watermark = BEGIN if shown <= shift == 0 else watermark_in_ticks(self._stream, shown, shift) - self._behind
        done = self._answering.step(int(key[0]), bytes(old[0]) if old else None, blobs, watermark)
        if done.data is not None:
            self._state.update((done.data,))
        if done.due is not None:
            self._handle.registerTimer(self._timer(done.due))
        return done

    def _forget(self, done: Answer) -> None:
        """The timer of before, also one that has expired: what it was for is done now. To be told by the state which
        it was is cheaper than to have the state store look for the timers of a key.
        """
        if done.was_due is not None:
            timer = self._timer(done.was_due)
            if done.due is None or timer != self._timer(done.due):
                self._handle.deleteTimer(timer)

    def _timer(self, due: int) -> int:
        return timer_for(self._stream, due + self._behind, self._answering.shift)

    @property
    def _behind(self) -> int:
        return self._answering.link.behind

    @property
    def _stream(self) -> StreamPlan:
        return self._answering.program.plan.stream
