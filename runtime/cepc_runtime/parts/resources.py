"""What a batch in one process may take. Imports no numpy."""

from __future__ import annotations

from typing import Final

from ..cheap_dataclass import dataclass
from ..enumerate.budget import PARTIAL_MATCHES

FEW: Final = 1 << 14
"""A part of fewer events takes its thread about as long as what is done for each part."""

MANY: Final = 1 << 20
"""Of parts with more events, what is made on the way to rows takes memory, and new memory takes time."""

PROGRAM: Final = 300_000_000
"""Bytes of the process without events: Python, numpy, Arrow and numba."""

OF_AN_EVENT: Final = 200
COPIES: Final = 3
"""Bytes that the most of an event's sorting and counting takes at once, beside so many copies of its columns."""

OF_ROWS: Final = 8
"""Rows that are found may have one part in so many of the memory."""

LEAST: Final = 1 << 24
"""Bytes for events, however little memory there is: of smaller parts there are so many that none has rows of a key."""


@dataclass(frozen=True, slots=True)
class Resources:
    """The partial matches of a query that are listed at `most`, and the threads, of which none gets fewer events than
    `few`; whole groups are also in parts of no more than `many` events. In `memory`, the bytes of the whole process,
    are only as many events at once as fit, but in any case those of `least` bytes; None is no limit.
    """

    most: int = PARTIAL_MATCHES
    threads: int = 1
    few: int = FEW
    many: int = MANY
    memory: int | None = None
    least: int = LEAST

    def parts(self, rows: int, size: int) -> float:
        """In how many parts so many events, whose columns have so many bytes, fit; not more than 1 if all do."""
        if self.memory is None:
            return 0
        return (OF_AN_EVENT * rows + COPIES * size) / self._left

    @property
    def found(self) -> int | None:
        """Bytes of rows that are kept beside the events; None is no limit."""
        return None if self.memory is None else int(self._left // OF_ROWS)

    @property
    def sorting(self) -> int | None:
        """Bytes that may be taken to sort the rows of a query, while others are sorted on other threads; None is no
        limit.
        """
        return None if self.memory is None else int(self._left // self.threads)

    @property
    def _left(self) -> int:
        """Bytes beside the program's own."""
        return max((self.memory or 0) - PROGRAM, self.least)


ONE_THREAD: Final = Resources()
