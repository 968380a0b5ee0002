"""Of the processes that want the same file at once, one makes it, and the others have what it made."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATIENCE: Final = 120.0
"""Seconds: one that has been stopped keeps its lock."""


@contextmanager
def only_maker(file: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Waits for a process that makes the file. The lock ends with the process that has it; where there are no locks, or
    after much patience, several may make it, which costs time alone.
    """
    lock = file.parent / f".{file.name}.lock"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:  # read-only
        yield
        return
    try:
        _wait_for(handle, time.monotonic() + patience)
        yield
    finally:
        with suppress(OSError):
            lock.unlink()  # who waits for it finds the file made
        os.close(handle)


def _wait_for(handle: int, until: float) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        return
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                return
            time.sleep(0.05)
        except OSError:  # a file system without locks
            return
        else:
            return
