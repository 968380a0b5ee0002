"""What a run shows while it lasts: a bar at a terminal, on input that takes a while, elsewhere a line now and then; and
anywhere what takes long just once.
"""

from __future__ import annotations

import logging
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self, TextIO

RUNTIME = logging.getLogger("cepc_runtime")
AFTER = 0.5  # seconds; what is done by then needs no bar
EVERY = 10.0  # seconds between two lines where there are no bars


class Progress:
    """A context. `reading` receives numbers of bytes, `running` those of events that the queries begin to run on.

    While queries run the bar shows how many are done, and how far the pass is that counts matches or the search that
    lists them. In a log a line says so, every ten seconds.
    """

    def __init__(self, stream: TextIO | None, every: float = EVERY) -> None:
        self._once = logging.StreamHandler(stream)
        at_terminal = stream is not None and stream.isatty()
        self._stream = stream if at_terminal else None
        self._lines = None if at_terminal or stream is None else _Lines(stream, every)
        self._begun: float | None = None
        self._what = ""
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        RUNTIME.addHandler(self._once)
        RUNTIME.setLevel(logging.INFO)
        if self._lines is not None:
            self._lines.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        if self._lines is not None:
            self._lines.stop()
        RUNTIME.removeHandler(self._once)

    def reading(self, done: int, total: int) -> None:
        if self._lines is not None:
            self._lines.say("reading events", done / max(total, 1))
        self._begun = time.monotonic() if self._begun is None else self._begun
        if self._stream is None or (self._bar is None and time.monotonic() - self._begun < AFTER):
            return
        if self._bar is None:
            self._start("reading events")
        self._bar.update(self._task, completed=done, total=total)

    def running(self, events: int) -> Callable[[float], None]:
        """What is to be told the fraction done; until then the bar pulses."""
        self._stop()
        self._what = f"running the queries on {events:,} events"
        if self._lines is not None:
            self._lines.say(self._what, 0.0)
        if self._stream is not None and events > 100_000:
            self._start(self._what)
        return self._done

    def _done(self, fraction: float) -> None:
        if self._lines is not None:
            self._lines.say(self._what, fraction)
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


class _Lines:
    """Writes what was last said, each time that so many seconds have passed."""

    def __init__(self, stream: TextIO, every: float) -> None:
        self._stream, self._every = stream, every
        self._line = ""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write, name="progress", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def say(self, what: str, fraction: float) -> None:
        self._line = f"{what}: {fraction:.0%}"

    def _write(self) -> None:
        begun = time.monotonic()
        with suppress(OSError, ValueError):  # nobody reads it any more
            while not self._ended.wait(self._every):
                if self._line:
                    self._stream.write(f"{self._line} after {time.monotonic() - begun:.0f} s\n")
                    self._stream.flush()
