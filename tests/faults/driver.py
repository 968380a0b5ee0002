"""A job that is killed at a named place: `python -m tests.faults.driver PLACE TIME TARGET job.py ARGUMENT…`."""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading
import time
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cepc_runtime.spark.streaming import checkpoint, outputs, run
from cepc_runtime.spark.streaming.sinks import FLUSHED, Writing

if TYPE_CHECKING:
    from collections.abc import Callable

AT_RANDOM: Final = "some time"
"""After as many seconds as TIME says."""
PLACES: Final = (
    "the lease is taken", "the checkpoint is claimed", "a micro-batch begins", "before rows are written", "amid rows",
    "after rows are written", "before a commit", "after a commit", "the flush begins", "before rows are flushed", "amid flushed rows",
    "after rows are flushed", "the flush ends",
)  # fmt: skip
TARGETS: Final = ("driver", "jvm", "worker")
SAID: Final = "killed at the place"


class Killer:
    """Kills `target` when a place is come to for the n-th time."""

    def __init__(self, place: str, number: int, target: str) -> None:
        self._place, self._left, self._target = place, number, target

    def at(self, place: str) -> None:
        if place == self._place:
            self._left -= 1
            if self._left == 0:
                self.kill()

    def amid(self, place: str) -> None:
        """Soon after this."""
        threading.Timer(0.05, self.at, [place]).start()

    def kill(self) -> None:
        found = {pid: command(pid) for pid in descendants(os.getpid())}
        if self._target == "worker":
            found = {pid: said for pid, said in found.items() if "pyspark.daemon" in said}
        elif self._target == "jvm":
            found = {pid: said for pid, said in found.items() if "java" in said.partition(" ")[0]}
        if not found and self._target != "driver":
            return
        print(SAID, self._target, file=sys.stderr, flush=True)
        for pid in found:
            end(pid)
        if self._target == "driver":
            end(os.getpid())


def descendants(pid: int) -> list[int]:
    """Of a process that this one started: children, and theirs."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        children = [child for child, parent in parents.items() if parent == one]
        found += children
        waiting += children
    return found


def command(pid: int) -> str:
    try:
        return (Path("/proc") / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def end(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def watched(killer: Killer) -> None:
    """Let the killer hear of the places."""

    def around(of: Any, name: str, before: str, after: str) -> None:
        whole = getattr(of, name)

        @wraps(whole)
        def call(*given: Any, **named: Any) -> Any:
            killer.at(before)
            done = whole(*given, **named)
            killer.at(after)
            return done

        setattr(of, name, call)

    around(run, "take", "", "the lease is taken")
    around(checkpoint, "claim", "", "the checkpoint is claimed")
    around(checkpoint, "flush", "the flush begins", "the flush ends")
    around(Writing, "__call__", "a micro-batch begins", "before a commit")
    around(run.Running, "report", "", "after a commit")  # often, and so a moment after it
    module: Any = outputs
    files = module.files

    def files_watched(*given: Any) -> Callable[..., None]:
        write = files(*given)

        def call(query: str, rows: Any, batch: int) -> None:
            flushed = batch == FLUSHED
            killer.at("before rows are flushed" if flushed else "before rows are written")
            killer.amid("amid flushed rows" if flushed else "amid rows")
            write(query, rows, batch)
            killer.at("after rows are flushed" if flushed else "after rows are written")

        return call

    module.files = files_watched


def main() -> None:
    place, number, target, job, *rest = sys.argv[1:]
    killer = Killer(place, int(number), target)
    watched(killer)
    if place == AT_RANDOM:

        def later() -> None:
            time.sleep(int(number))
            killer.kill()

        threading.Thread(target=later, daemon=True).start()
    sys.argv = [job, *rest]
    runpy.run_path(job, run_name="__main__")


if __name__ == "__main__":
    main()
