"""Processor time, which other work on a machine disturbs less than the clock. Needs nothing but Linux and the standard
library.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Took:
    """Seconds on the clock, and of processors: of this process and all that it started together."""

    clock: float
    processor: float


def timed(work: Callable[[], object]) -> Took:
    clock, processor = time.perf_counter(), processor_seconds()
    work()
    return Took(time.perf_counter() - clock, processor_seconds() - processor)


def processor_seconds() -> float:
    """Of this process and all that it started, as Linux counts them."""
    parents, spent = {}, {}
    for pid in filter(str.isdecimal, os.listdir("/proc")):  # noqa: PTH208, glob asks of each whether it is there
        with contextlib.suppress(OSError):  # it has just ended, and its parent has its time
            fields = Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()
            parents[int(pid)] = int(fields[1])
            spent[int(pid)] = sum(map(int, fields[11:15]))
    ours = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sum(spent[pid] for pid in ours) / os.sysconf("SC_CLK_TCK")
