"""What a pattern of times was meant to be, where its letters say something else: other systems write months `mm`, and
years `YYYY`.

>>> meant("YYYY-MM-DD HH:MM:SS")
MeantPattern(written='YYYY', says='is refused by Spark', letters='yyyy', unit='years', pattern='yyyy-MM-dd HH:mm:ss')
>>> meant("HH:mm dd.MM.yyyy") is None
True
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

_PART: Final = re.compile(r"'[^']*'|([A-Za-z])\1*|[^A-Za-z']+|'")
_DATE: Final = frozenset("yYdD")
_SAYS: Final = {
    "Y": "is refused by Spark", "D": "is the day of the year", "m": "is minutes", "M": "is months",
    "h": "counts hours to 12", "S": "is parts of a second",
}  # fmt: skip
_UNITS: Final = {
    "y": "years",
    "d": "days of the month",
    "M": "months",
    "m": "minutes",
    "H": "hours of the day",
    "s": "seconds",
}


@dataclass(frozen=True, slots=True)
class MeantPattern:
    """The first letters of a pattern that mean something else, those that were meant, and the whole pattern with all
    that were.
    """

    written: str
    says: str
    letters: str
    unit: str
    pattern: str


def meant(pattern: str) -> MeantPattern | None:
    parts = [found.group() for found in _PART.finditer(pattern)]
    fields = [number for number, part in enumerate(parts) if part[0].isalpha()]
    letters = [parts[number] for number in fields]
    instead = [_instead(letters, at) for at in range(len(letters))]
    first = next((at for at, (old, new) in enumerate(zip(letters, instead, strict=True)) if old != new), None)
    if first is None:
        return None
    for number, new in zip(fields, instead, strict=True):
        parts[number] = new
    old, new = letters[first], instead[first]
    return MeantPattern(old, _SAYS[old[0]], new, _UNITS[new[0]], "".join(parts))


def _instead(letters: Sequence[str], at: int) -> str:
    """What one field of a pattern was meant to be, which its neighbours show."""
    written = letters[at]
    before, after = letters[at - 1][0] if at else "", letters[at + 1][0] if at + 1 < len(letters) else ""
    match written:
        case "YYYY":
            return "yyyy"
        case "DD":
            return "dd"
        case "mm" if before not in ("h", "H") and after not in ("s", "S") and not _DATE.isdisjoint((before, after)):
            return "MM"
        case "MM" if before in ("h", "H"):
            return "mm"
        case "hh" if "a" not in letters:
            return "HH"
        case "SS" if before in ("m", "M"):
            return "ss"
    return written
