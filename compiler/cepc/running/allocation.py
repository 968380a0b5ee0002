"""Memory that a run has had once is kept until it ends.

Columns of millions of events are allocated and freed by the hundred, and by default each is the system's for a moment
in between: its pages are taken away and are made again, filled with zeros, which is a third of the time of a long run.
"""

from __future__ import annotations

import ctypes
import os
from typing import Final

_TRIM_THRESHOLD: Final = -1
_MMAP_MAX: Final = -4
_LARGEST: Final = (1 << 31) - 1

ARROW: Final = ("MIMALLOC_PURGE_DELAY", "10000")
"""Of Arrow's allocator, in milliseconds; it is read as Arrow is first imported."""


def keep_what_is_freed() -> bool:
    """For numpy's arrays by glibc, for Arrow's by what that reads from the environment. Whether the former was done; it
    is for a process of one's own.
    """
    os.environ.setdefault(*ARROW)
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library
        return False
    return bool(mallopt(_MMAP_MAX, 0) and mallopt(_TRIM_THRESHOLD, _LARGEST))
