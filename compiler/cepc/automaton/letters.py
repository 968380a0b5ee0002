"""The letters of a plan: classes of events, numbered; equal classes of different queries are one letter."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.stream import Letter

if TYPE_CHECKING:
    from cepc_runtime.sql.expression import Expression

    from ..model import EventTest


@dataclass(slots=True)
class Letters:
    """Numbers letters in the order of first use."""

    numbers: dict[Letter, int] = field(default_factory=dict)

    def number(self, letter: Letter) -> int:
        return self.numbers.setdefault(letter, len(self.numbers))

    def all(self) -> tuple[Letter, ...]:
        return tuple(self.numbers)

    def __getitem__(self, number: int) -> Letter:
        return tuple(self.numbers)[number]


def letter_of(test: EventTest, more: tuple[Expression, ...] = ()) -> Letter:
    """The events that pass a variable's test and the conditions `more` of one occurrence; each condition once."""
    return Letter(test.raw_type, tuple(dict.fromkeys((*test.conditions, *more))))
