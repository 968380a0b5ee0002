"""Which events a match may skip."""

from __future__ import annotations

from typing import TYPE_CHECKING
from typing import Literal as OneOf

from ..cheap_dataclass import dataclass

if TYPE_CHECKING:
    from .automaton import Automaton


@dataclass(frozen=True, slots=True)
class SelectAny:
    """Whichever it likes."""

    @property
    def word(self) -> OneOf["ANY"]:
        return "ANY"


@dataclass(frozen=True, slots=True)
class SelectContiguous:
    """None of the partition, of whatever type."""

    @property
    def word(self) -> OneOf["CONTIGUOUS"]:
        return "CONTIGUOUS"


@dataclass(frozen=True, slots=True)
class SelectNext:
    """None that could have come next. `prefixes`: which words are prefixes of the pattern, whatever NOT says."""

    prefixes: Automaton

    @property
    def word(self) -> OneOf["NEXT"]:
        return "NEXT"


Select = SelectAny | SelectContiguous | SelectNext
