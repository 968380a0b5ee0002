"""Characters as a terminal shows them: widths, tabs, controls, and lines too long to print."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import overload

from cepc_runtime.cheap_dataclass import dataclass

TAB = "    "
LONGEST = 120  # cells of a source line that are printed as they are
CROPPED = 100  # cells kept of a longer one
MEASURED = 4096  # characters on each side of the span in a line that is far too long to be printed
BEFORE = 40  # cells kept before the span in a longer one


@dataclass(frozen=True, slots=True)
class PrintedLine:
    """A line as printed. `cells[i]` is where character i of the line starts, one more entry for the end."""

    text: str
    cells: Cells
    first: int
    """The first character that is printed,"""
    last: int
    """and the first after it that is not."""


@dataclass(frozen=True, slots=True)
class Cells(Sequence[int]):
    """Where each character of a line starts. One that was cropped away starts where the crop mark stands."""

    starts: tuple[int, ...]
    first: int
    last: int
    length: int
    skipped: int = 0
    """Characters before those that were measured."""

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, i: int) -> int: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[int, ...]: ...
    def __getitem__(self, i: int | slice) -> int | tuple[int, ...]:
        if isinstance(i, slice):
            return tuple(self[at] for at in range(len(self))[i])
        at = range(len(self))[i]
        if at < self.first:
            return 0
        return bool(self.first) + self._start(min(at, self.last)) - self._start(self.first)

    def _start(self, at: int) -> int:
        return self.starts[at - self.skipped]


def show(line: str, around: int = 0) -> PrintedLine:
    """The line as printed; one that is too long is cropped so that the character `around` stays visible."""
    # Of a line of megabytes no more is measured than can be shown.
    skipped = max(0, min(around, len(line)) - MEASURED) if len(line) > 4 * MEASURED else 0
    cut = line[skipped : skipped + 2 * MEASURED] if len(line) > 4 * MEASURED else line
    pieces, starts = _measured(cut)
    first, last = 0, len(cut)
    around -= skipped
    if starts[-1] > LONGEST:
        around = min(around, len(cut))
        low = max(0, min(starts[around] - BEFORE, starts[-1] - CROPPED))
        first = bisect_left(starts, low)
        last = bisect_right(starts, starts[first] + CROPPED) - 1
    shown = "".join(pieces[first:last])
    first, last = first + skipped, last + skipped
    head = "…" if first else ""
    tail = "…" if last < len(line) else ""
    return PrintedLine(head + shown + tail, Cells(starts, first, last, len(line) + 1, skipped), first, last)


@lru_cache(maxsize=8)  # a line in which everything is wrong, of thousands of statements say, is measured once
def _measured(line: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """What is printed for each character, and where each starts in the whole line."""
    pieces = [printed(c) for c in line]
    return tuple(piece for piece, _ in pieces), tuple(accumulate((width for _, width in pieces), initial=0))


def printed(c: str) -> tuple[str, int]:
    """What to print for a character and how many cells it takes; nothing a terminal would act on is let through.

    >>> printed("a"), printed("語"), printed("\\t"), printed("\\0")
    (('a', 1), ('語', 2), ('    ', 4), ('␀', 1))
    """
    if " " <= c < "\x7f":
        return c, 1
    if c == "\t":
        return TAB, len(TAB)
    if c < " ":
        return chr(0x2400 + ord(c)), 1
    category = unicodedata.category(c)
    if category in ("Mn", "Me") or c in "\u200b\u200c\u200d":
        return c, 0
    # Controls, line separators, surrogates and the marks that turn the direction of text would act on the terminal.
    if category in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return "�", 1
    return c, 2 if unicodedata.east_asian_width(c) in "WF" else 1


def clean(text: str) -> str:
    """A text without what a terminal would act on; what a message quotes may come from the program.

    >>> clean("a\\0b\\x1b[2J")
    'a␀b␛[2J'
    """
    return text if text.isprintable() else "".join(printed(c)[0] for c in text)


def width(text: str) -> int:
    """The cells a text takes."""
    return sum(printed(c)[1] for c in text)
