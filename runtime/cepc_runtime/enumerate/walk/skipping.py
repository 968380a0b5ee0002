"""Which events SELECT NEXT may not skip: plain functions, compiled like kernel/loop.py.

`t` is the table, `s` the progress.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .computing import all_true, keep
from .progress import HIGH, REACH, WORK
from .reading import WIDTH, fits, some_may_pass, wider
from .records import (
    FORMULAS,
    FORMULAS_END,
    FREE,
    LETTERS,
    LOOKED,
    NONE,
    OPTION,
    TESTS,
    TESTS_END,
    WAYS,
    WAYS_END,
)

if TYPE_CHECKING:
    from ...numbers.columns import Ints
    from .reading import WalkEvents

INLINED: Final = frozenset(["seek"])

NEAR: Final = 16
"""So many events are looked at before blocks of them are."""


def seek(t: Ints, s: Ints, events: WalkEvents, record: int, p: int, x: int, first: int) -> int:
    """Of SELECT NEXT the instant of the first event from `x` on that may not be skipped after `p`: of the piece, or of
    what a match that begins with `first` reaches. It often is near.
    """
    stop = s[HIGH] if first == NONE else s[REACH]
    near = min(x + NEAR, stop)
    while x < near:
        s[WORK] += 1
        if stays(t, events, record, p, x, first):
            return int(events.instant_start[x])
        x += 1
    return NONE if x >= stop else search(t, s, events, record, p, x, stop, first)


def search(t: Ints, s: Ints, events: WalkEvents, record: int, p: int, x: int, stop: int, first: int) -> int:
    """The same, by blocks of events, before `stop`."""
    while x < stop:
        s[WORK] += 1
        width = 0
        block = wider(events, x, x, width)
        while block != NONE and not some_may_stay(t, events, record, block, p, first):
            width += WIDTH
            block = wider(events, x, x, width)
        if width == 0 and stays(t, events, record, p, x, first):
            return int(events.instant_start[x])
        x += 1 << width
    return NONE


def stays(t: Ints, events: WalkEvents, record: int, p: int, x: int, first: int) -> bool:
    """Whether event `x` may not be skipped after event `p` in the state of the record."""
    letters = events.letters[x]
    if letters & t[record + FREE] != 0:
        return True
    if letters & t[record + LOOKED] != 0:
        for way in range(t[record + WAYS], t[record + WAYS_END], OPTION):
            if fits(t, events, way, p, x, first) and (
                t[way + FORMULAS] == t[way + FORMULAS_END] or is_true_with(t, events, way, p, x, first)
            ):
                return True
    return False


def is_true_with(t: Ints, events: WalkEvents, way: int, p: int, x: int, first: int) -> bool:
    """Whether all formulas are true with event `x`, which is not kept."""
    for slot in range(len(events.kept)):
        events.means.spare[slot] = events.kept[slot]
    keep(t, events, way, x)
    found = all_true(t, events, way, p, x, first)
    for slot in range(len(events.kept)):
        events.kept[slot] = events.means.spare[slot]
    return found


def some_may_stay(t: Ints, events: WalkEvents, record: int, block: int, p: int, first: int) -> bool:
    """Whether some event of the block may be one that may not be skipped after event `p` in the state of the record."""
    letters = events.some_letters[block]
    if letters & t[record + FREE] != 0:
        return True
    if letters & t[record + LOOKED] != 0:
        for way in range(t[record + WAYS], t[record + WAYS_END], OPTION):
            if letters & t[way + LETTERS] != 0 and some_may_pass(
                t, events, block, t[way + TESTS], t[way + TESTS_END], p, first
            ):
                return True
    return False
