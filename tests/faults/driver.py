"""A job that is killed at a named place: `python -m tests.faults.driver PLACE TIME TARGET job.py ARGUMENT…`.

When it is killed it says which of its streams ran, and which place each had come to last.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import sys
import threading
import time
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cepc_runtime.spark.streaming import checkpoint
from cepc_runtime.spark.streaming import place as place_of_stream
from cepc_runtime.spark.streaming.directories import ByHadoop, OnDisk
from cepc_runtime.spark.streaming.running import Running
from cepc_runtime.spark.streaming.sinks import FLUSHED, Directories, place
from cepc_runtime.spark.streaming.writing import Writing

if TYPE_CHECKING:
    from collections.abc import Callable

AT_RANDOM: Final = "some time"
"""After as many seconds as TIME says."""
PLACES: Final = (
    "the lease is taken", "the checkpoint is claimed", "a micro-batch begins", "before rows are written", "amid rows",
    "after rows are written", "before a commit", "after a commit", "the flush begins", "before rows are flushed", "amid flushed rows",
    "after rows are flushed", "the flush ends",
)  # fmt: skip
ENDED: Final = PLACES[-1]
ONCE: Final = (*PLACES[:2], "the flush begins", ENDED)
"""Where each stream comes once in a run."""
TARGETS: Final = ("driver", "jvm", "worker")
SAID: Final = "killed at the place"


class Killer:
    """Kills `target` when a place is come to for the n-th time."""

    def __init__(self, place: str, number: int, target: str) -> None:
        self._place, self._left, self._target = place, number, target
        self._running: dict[str, str] = {}
        self._ended: set[str] = set()

    def at(self, place: str, stream: str) -> None:
        if stream in self._ended:
            return
        self._running[stream] = place
        if place == self._place:
            self._left -= 1
            if self._left == 0:
                self.kill()
        if place == ENDED:
            self.over(stream)

    def amid(self, place: str, stream: str) -> None:
        """Soon after this."""
        threading.Timer(0.05, self.at, [place, stream]).start()

    def over(self, stream: str) -> None:
        """It ends, or fails."""
        self._ended.add(stream)
        self._running.pop(stream, None)

    def kill(self) -> None:
        found = {pid: command(pid) for pid in descendants(os.getpid())}
        if self._target == "worker":
            found = {pid: said for pid, said in found.items() if "pyspark.daemon" in said}
        elif self._target == "jvm":
            found = {pid: said for pid, said in found.items() if "java" in said.partition(" ")[0]}
        if not found and self._target != "driver":
            return
        print(SAID, json.dumps({**self._running}), file=sys.stderr, flush=True)
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

    def around(of: Any, name: str, stream: Callable[..., str], before: str, after: str) -> None:
        whole = getattr(of, name)

        @wraps(whole)
        def call(*given: Any, **named: Any) -> Any:
            if before:
                killer.at(before, stream(*given))
            try:
                done = whole(*given, **named)
            except BaseException:
                killer.over(stream(*given))
                raise
            killer.at(after, stream(*given))
            return done

        setattr(of, name, call)

    around(place_of_stream, "take", _of_folder, "", "the lease is taken")
    around(checkpoint, "claim", _of_folder, "", "the checkpoint is claimed")
    around(checkpoint, "flush", _of_folder, "the flush begins", ENDED)
    around(Writing, "__call__", _of_stream, "a micro-batch begins", "before a commit")
    around(Running, "report", _of_running, "", "after a commit")  # often, and so a moment after it
    written(killer, Directories, "__call__", lambda query, _rows, batch: (query, batch == FLUSHED))
    written(
        killer, Directories, "together", lambda alike, batch: (next(iter(alike.queries.values())), batch == FLUSHED)
    )
    for of in (OnDisk, ByHadoop):
        written(killer, of, "put", lambda inside, *_: (inside.partition("/")[0], inside.endswith(place(FLUSHED))))


def written(killer: Killer, of: Any, name: str, about: Callable[..., tuple[str, bool]]) -> None:
    """Let the killer hear of a way in which rows are written, which is `about` a query, and amid a flush or not."""
    whole = getattr(of, name)

    @wraps(whole)
    def call(one: Any, *given: Any) -> None:
        query, flushed = about(*given)
        stream = query.rpartition("_of_")[2]
        killer.at("before rows are flushed" if flushed else "before rows are written", stream)
        killer.amid("amid flushed rows" if flushed else "amid rows", stream)
        whole(one, *given)
        killer.at("after rows are flushed" if flushed else "after rows are written", stream)

    setattr(of, name, call)


def _of_folder(_: object, folder: str, *_more: object) -> str:
    """The stream of a checkpoint."""
    return Path(folder).name


def _of_stream(writing: Writing, *_: object) -> str:
    return writing.what.streamed.stream.name


def _of_running(running: Running, *_: object) -> str:
    return running.place.what.streamed.stream.name


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
