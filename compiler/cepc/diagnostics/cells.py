"""Characters as a terminal shows them: widths, tabs, controls, and lines too long to print."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

TAB = "    "
LONGEST = 120  # cells of a source line that are printed as they are
CROPPED = 100  # cells kept of a longer one
BEFORE = 40  # cells kept before the span in a longer one


@dataclass(frozen=True, slots=True)
class Shown:
    """A line as printed. `cells[i]` is where character i of the line starts, one more entry for the end.

    A character that was cropped away starts where the crop mark stands.
    """

    text: str
    cells: tuple[int, ...]
    first: int
    """The first character that is printed,"""
    last: int
    """and the first after it that is not."""


def show(line: str, around: int = 0) -> Shown:
    """The line as printed; one that is too long is cropped so that the character `around` stays visible."""
    pieces = [printed(c) for c in line]
    starts = [0]
    for _, width in pieces:
        starts.append(starts[-1] + width)
    first, last = 0, len(line)
    if starts[-1] > LONGEST:
        around = min(around, len(line))
        low = max(0, min(starts[around] - BEFORE, starts[-1] - CROPPED))
        first = next(i for i, cell in enumerate(starts) if cell >= low)
        last = max(i for i, cell in enumerate(starts) if cell <= starts[first] + CROPPED)
    head = "…" if first else ""
    tail = "…" if last < len(line) else ""
    text = head + "".join(piece for piece, _ in pieces[first:last]) + tail
    width = starts[last] - starts[first]

    def cell(i: int) -> int:
        if i < first:
            return 0
        if i > last:
            return len(head) + width
        return len(head) + starts[i] - starts[first]

    return Shown(text, tuple(cell(i) for i in range(len(line) + 1)), first, last)


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
