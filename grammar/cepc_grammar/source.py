"""Where text came from: a source, a span of it, and a line and column for people."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` up to, not including, `end` of the source called `source`."""

    start: int
    end: int
    source: str = ""

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of the other."""
        return Span(self.start, other.end, self.source)


NOWHERE = Span(0, 0)


@dataclass(frozen=True)
class Source:
    """A named text. The name is what diagnostics print: a path, or `<stdin>`."""

    name: str
    text: str

    @cached_property
    def line_starts(self) -> Sequence[int]:
        return array("q", chain((0,), (found.end() for found in re.finditer("\n", self.text))))

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both counted from 1."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its line end."""
        start = self.line_starts[number - 1]
        end = self.line_starts[number] - 1 if number < len(self.line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r")
