"""One job at a time for a checkpoint: who runs on it says so in a file beside the state, again and again.

No two clocks are compared. Who finds another's lease looks whether it is renewed, and takes over what is not for STALE
seconds; a process of this machine that has ended is known at once. A lease that was taken over is seen by its owner
before the next rows are written.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
import uuid
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ...cheap_dataclass import dataclass
from ..schema import JobError
from .store import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .store import Store

NAME: Final = "cepc/lease.json"
BEAT: Final = 10.0
"""Seconds from one renewal to the next."""
STALE: Final = 60.0
"""A lease that was not renewed for so long has lost its owner."""
LOOK: Final = 1.0
"""Seconds between two looks at another's lease."""
PATIENCE: Final = 12.0
"""Seconds after which a job that runs would have been heard of, and a user wonders."""
_LARGEST: Final = (1 << 31) - 1
"""The largest number that a process can have."""


@dataclass(frozen=True)
class Holder:
    """Who has a lease. `machine` tells processes of one kernel and one container from all others, and is empty where
    they cannot be told; `processes` are numbers with when they began. `beat` goes up by one with each renewal.
    """

    id: str
    host: str
    machine: str
    processes: tuple[tuple[int, str], ...]
    since: str
    beat: int = 0

    @classmethod
    def here(cls, processes: Sequence[int]) -> Holder:
        """For these processes of this machine."""
        began = tuple((number, _began(number) or "") for number in processes)
        since = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        return cls(uuid.uuid4().hex, socket.gethostname(), _machine(), began, since)

    def to_text(self) -> str:
        return json.dumps(asdict(self))

    def has_ended(self) -> bool:
        """Whether the processes are known to be gone: never of another machine's."""
        here = bool(self.machine) and self.machine == _machine()
        return here and all(_is_gone(number, began) for number, began in self.processes)

    def __str__(self) -> str:
        return f"process {self.processes[0][0]} on {self.host}, since {self.since}"


def from_text(text: str) -> Holder | None:
    """None where it is torn: its owner was ended while it wrote, or writes still."""
    try:
        data = json.loads(text)
        processes = tuple((int(number), str(began)) for number, began in data["processes"])
        return Holder(**{**data, "processes": processes}) if all(0 < n <= _LARGEST for n, _ in processes) else None
    except (ValueError, TypeError, KeyError, OverflowError):
        return None


@dataclass
class Lease:
    """A checkpoint that is this job's own, until `release`."""

    store: Store
    path: str
    holder: Holder
    lost: JobError | None = None
    _over: threading.Event = field(default_factory=threading.Event)
    _one: AbstractContextManager[Any] = field(default_factory=threading.RLock)

    def check(self) -> None:
        """Raises JobError where another job has taken it over, or it was released."""
        with self._one:
            if self._over.is_set():
                raise JobError(f"the job on {_folder(self.path)} was stopped: it writes nothing more")
            if self.lost is None and not self._is_mine():
                text = self.store.read(self.path)
                other = None if text is None else from_text(text)
                self.lost = JobError(
                    f"{_folder(self.path)} was taken over by {other or 'another job'}, when this job had not"
                    " renewed its lease for"
                    f" {STALE:.0f} seconds; nothing is written twice: let one of the two jobs run, and this one end"
                )
        if self.lost is not None:
            raise self.lost

    def _is_mine(self) -> bool:
        """One that is gone is made again: whoever takes over what he thinks is left sees that it is not."""
        text = self.store.read(self.path)
        if text is None:
            return self.store.create(self.path, self.holder.to_text())
        holder = from_text(text)
        return holder is not None and holder.id == self.holder.id

    def renew(self) -> None:
        """Raises JobError where it was lost, or cannot be renewed."""
        with self._one:
            if not self._over.is_set():
                self.check()
                self.holder = replace(self.holder, beat=self.holder.beat + 1)
                self.store.replace(self.path, self.holder.to_text())

    def keep(self, needed: Callable[[], bool]) -> None:
        """Renew it in the background as long as it is needed, and then release it."""
        threading.Thread(target=self._keep, args=(needed,), name="cepc lease", daemon=True).start()

    def _keep(self, needed: Callable[[], bool]) -> None:
        renewed = time.monotonic()
        while not self._over.wait(LOOK):
            try:
                if not needed():
                    self.release()
                elif time.monotonic() >= renewed + BEAT:
                    self.renew()
                    renewed = time.monotonic()
            except StoreError:
                continue  # the store may answer again before others take over
            except Exception:  # it is lost, as `check` says where rows are written; or the JVM is gone
                return

    def release(self) -> None:
        """Let the next job begin at once. What cannot be deleted becomes stale."""
        with self._one:
            if not self._over.is_set():
                with suppress(Exception):
                    self.check()
                    self.store.delete(self.path)
                self._over.set()


def take(
    store: Store,
    folder: str,
    processes: Sequence[int] | None = None,
    say: Callable[[str], object] = lambda _: None,
    wait: Callable[[float], object] = time.sleep,
) -> Lease:
    """The lease of a checkpoint, for this process if no others are named. Raises JobError where another job runs on it.

    Where that takes a while to find out, `say` is called with the reason.
    """
    path, mine = f"{folder}/{NAME}", Holder.here(processes or [os.getpid()])
    waited, deleted, last = 0.0, False, store.read(path)
    while not store.create(path, mine.to_text()):
        text = store.read(path)
        if text is None:  # it was given back just now
            wait(LOOK)
            continue
        other = from_text(text)
        if not deleted and ((other is not None and other.has_ended()) or waited >= STALE):
            store.delete(path)
            deleted = True
            continue
        if text != last or deleted:
            whom = f": {other}" if other is not None else ""
            raise JobError(
                f"another job runs on the checkpoint {folder}{whom}; end that job first, or name another"
                " directory as --checkpoint"
            )
        wait(LOOK)
        waited += LOOK
        if waited == PATIENCE:
            say(
                f"the checkpoint {folder} was not given back by a job ({other or 'unknown'}); if it is not heard"
                f" of for {STALE:.0f}"
                " seconds, this one begins"
            )
    lease = Lease(store, path, mine)
    lease.check()
    return lease


def _folder(path: str) -> str:
    return path.removesuffix(f"/{NAME}")


def _machine() -> str:
    """Of processes that see each other; nothing where that cannot be known."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def _began(process: int) -> str | None:
    """When a process of this machine began, in the kernel's ticks; None of one that has ended."""
    try:
        fields = (
            (Path("/proc") / str(process) / "stat")
            .read_text(encoding="utf-8", errors="replace")
            .rpartition(")")[2]
            .split()
        )
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]


def _is_gone(process: int, began: str) -> bool:
    """Whether no process of this machine has this number that began then."""
    now = _began(process)
    if now is not None:
        return now != began
    try:
        os.kill(process, 0)  # nothing is sent; who may not see another's process learns so that there is one
    except PermissionError:
        return False
    except OSError:
        return True
    return True  # it has ended, and nobody has asked for its code yet
