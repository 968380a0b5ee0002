"""Words of a message for which others stand where another way of running cepc is spoken of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class OtherWords:
    """What stands in texts first, and what stands there instead; the second has fields in braces of the first."""

    said: str
    instead: str

    def of(self, **fields: str) -> str:
        """As it is said first.

        >>> OtherWords("`--most {number}`", "`most={number}`").of(number="100")
        '`--most 100`'
        """
        return self.said.format(**fields)

    def exchanged(self, text: str) -> str:
        """The text with the other words.

        >>> OtherWords("`--most {number}`", "`most={number}`").exchanged("too many: `--most 100` lets the run go on")
        'too many: `most=100` lets the run go on'
        """
        return re.sub(self._pattern(), lambda found: self.instead.format(**found.groupdict()), text)

    def _pattern(self) -> str:
        names: set[str] = set()
        parts = []
        for place, part in enumerate(re.split(r"\{(\w+)\}", self.said)):
            if place % 2 == 0:
                parts.append(re.escape(part))
            else:
                parts.append(f"(?P={part})" if part in names else f"(?P<{part}>.*?)")
                names.add(part)
        return "".join(parts)


def in_other_words(text: str, every: Iterable[OtherWords]) -> str:
    """The text with all of them exchanged, one after the other."""
    for words in every:
        text = words.exchanged(text)
    return text
