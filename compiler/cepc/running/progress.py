"""What a run shows while it lasts: a bar at a terminal, on input that takes a while, and anywhere what takes long just
once.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self, TextIO

RUNTIME = logging.getLogger("cepc_runtime")
AFTER = 0.5  # seconds; what is done by then needs no bar


class Progress:
    """A context. `reading` is told of bytes, `running` of the events that the queries begin to run on.

    While queries run the bar shows how many are done, and how far the pass is that counts matches or the search that
    lists them.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._once = logging.StreamHandler(stream)
        self._stream = stream if stream is not None and stream.isatty() else None
        self._begun: float | None = None
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        RUNTIME.addHandler(self._once)
        RUNTIME.setLevel(logging.INFO)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        RUNTIME.removeHandler(self._once)

    def reading(self, done: int, total: int) -> None:
        self._begun = time.monotonic() if self._begun is None else self._begun
        if self._stream is None or (self._bar is None and time.monotonic() - self._begun < AFTER):
            return
        if self._bar is None:
            self._start("reading events")
        self._bar.update(self._task, completed=done, total=total)

    def running(self, events: int) -> Callable[[float], None]:
        """What is to be told the fraction done; until then the bar pulses."""
        self._stop()
        if self._stream is not None and events > 100_000:
            self._start(f"running the queries on {events:,} events")
        return self._done

    def _done(self, fraction: float) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=fraction, total=1.0)

    def _start(self, what: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            console=Console(file=self._stream),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(what, total=None)

    def _stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
