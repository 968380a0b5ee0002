"""What the pass knows of a query, and the names it gives to the places of its pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from ..pattern import PlannedPattern


@dataclass(frozen=True, slots=True)
class Query:
    """`columns` are the numbers that the query keeps for each state: its open windows times its aggregates."""

    name: str
    pattern: PlannedPattern
    columns: int = 1


class Type(NamedTuple):
    """What the paper calls an event type: a letter, and which of its places in a pattern is meant.

    The paper lets a type stand in a query once (§6, assumption 2). Here the second place of a letter is a type of its
    own, which corresponds to the second place of that letter in other queries. A part under AND, SOME, NEXT or
    CONTIGUOUS is reduced to one type with all its letters, which belongs to its query (`owner`) and is never shared.
    """

    letters: tuple[int, ...]
    nth: int = 0
    owner: str = ""


class WrittenPlace(NamedTuple):
    """A place of the written-out pattern: event number `event` in the order of `pattern.events`, its copy number
    `copy`.

    Copies come from bounded repetition: `B{2}` is written `B B`, whose second B is copy 1. All else has copy 0.
    """

    event: int
    copy: int = 0
