"""Spark's side of the stateful operator: state and timers. Imported where a stream starts, for pyspark has it from 4.0
on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from ..worker import settled
from .time import timer_for, watermark_in_ticks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .operator import Answering, Blob


class Buckets(StatefulProcessor):
    """Timers fire when the watermark closes something in a bucket that gets no events."""

    def __init__(self, answering: Answering) -> None:
        self._answering = answering

    def init(self, handle: Any) -> None:
        self._handle = handle
        self._state = handle.getValueState("state", "blob BINARY")

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: N802, N803
        # Of the columns of PACKED, whose names do not come along.
        blobs = [
            (None if pd.isna(ahead) else bool(ahead), blob)
            for frame in rows
            for ahead, blob in zip(frame.iloc[:, -2], frame.iloc[:, -1], strict=True)
        ]
        for timer in list(self._handle.listTimers()):  # also one that has expired: what it was for is done now
            self._handle.deleteTimer(timer)
        yield self._step(key, blobs, timerValues)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[pd.DataFrame]:  # noqa: ARG002, N802, N803
        yield self._step(key, [], timerValues)

    def close(self) -> None:
        settled()

    def _step(self, key: Any, blobs: Iterable[Blob], times: Any) -> pd.DataFrame:
        plan = self._answering.program.plan.stream
        old = self._state.get()
        watermark = watermark_in_ticks(plan, times.getCurrentWatermarkInMs())
        done = self._answering.step(int(key[0]), bytes(old[0]) if old else None, blobs, watermark)
        if done.data is not None:
            self._state.update((done.data,))
        if done.due is not None:
            self._handle.registerTimer(timer_for(plan, done.due))
        return pd.DataFrame({"blob": done.rows})
