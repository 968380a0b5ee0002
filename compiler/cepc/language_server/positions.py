"""Places in a text as the Language Server Protocol has them: a line, and a column in units of an encoding.

The protocol ends lines at CR LF, LF and CR, and at nothing else.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import Final

from cepc_runtime.cheap_dataclass import dataclass

_LINE_END = re.compile(r"\r\n|\n|\r")
_BYTES_OF_A_UNIT: Final = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
_CODECS: Final = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}


@dataclass(frozen=True)
class ClientPositions:
    """Turns offsets of a text into lines and columns, both from 0, and back.

    >>> ClientPositions("a = '\U0001f600' + x", "utf-16").place(10)
    (0, 11)
    """

    text: str
    encoding: str = "utf-16"

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        return (0, *(found.end() for found in _LINE_END.finditer(self.text)))

    def place(self, offset: int) -> tuple[int, int]:
        """The line and the column of an offset."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self._starts, offset) - 1
        return line, self._units(self.text[self._starts[line] : offset])

    def offset(self, line: int, column: int) -> int:
        """The offset of a line and a column; behind the end of a line or of the text it is that end."""
        if line >= len(self._starts):
            return len(self.text)
        start = self._starts[max(line, 0)]
        end = self._starts[line + 1] if line + 1 < len(self._starts) else len(self.text)
        here = self.text[start:end].rstrip("\r\n")
        if here.isascii():
            return start + min(column, len(here))
        units = 0
        for i, character in enumerate(here):
            if units >= column:
                return start + i
            units += self._units(character)
        return start + len(here)

    def _units(self, text: str) -> int:
        if text.isascii():
            return len(text)
        return len(text.encode(_CODECS[self.encoding], "surrogatepass")) // _BYTES_OF_A_UNIT[self.encoding]
