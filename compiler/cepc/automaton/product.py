"""AND as a product: at each instant, every operand may go on by events of its own, or stay.

A state has the operands' states and the set of operands that have read an event of the current instant. A step starts a
new instant, so any operand may take it; a tie belongs to the instant, so an operand takes it by a step of its own if it
has not moved yet and by a tie of its own if it has.
"""

from __future__ import annotations

from itertools import product as tuples
from typing import TYPE_CHECKING

from .fragments import End, Fragment, WayOn, through, weakest

if TYPE_CHECKING:
    from collections.abc import Callable

    from cepc_runtime.plan.positions import Guard

_State = tuple[tuple[int, ...], frozenset[int]]


def product(
    parts: list[dict[int, tuple[WayOn, ...]]], new_state: Callable[[], int], ways: dict[int, tuple[WayOn, ...]]
) -> Fragment:
    """The fragment of all operands together; `parts` has each operand's ways, by state, 0 its start."""
    start: _State = ((0,) * len(parts), frozenset())
    numbers: dict[_State, int] = {}
    inner: dict[int, tuple[WayOn, ...]] = {}
    queue: list[_State] = [start]

    def number(state: _State) -> int:
        if state not in numbers:
            numbers[state] = new_state()
            queue.append(state)
        return numbers[state]

    first: tuple[WayOn, ...] = ()
    for state in queue:
        found = _ways(parts, state, number)
        if state == start:
            first = weakest(w for w in found if isinstance(w, End) or not w.tie)
        else:
            inner[numbers[state]] = found

    def connect(onward: tuple[WayOn, ...]) -> None:
        for state, own in inner.items():
            ways[state] = through(own, onward)

    return Fragment(first, connect)


def _ways(
    parts: list[dict[int, tuple[WayOn, ...]]], state: _State, number: Callable[[_State], int]
) -> tuple[WayOn, ...]:
    """In the order of preference: what an operand prefers to stopping, stopping, and the rest."""
    at, moved = state
    eager: list[WayOn] = []
    lazy: list[WayOn] = []
    for i, part in enumerate(parts):
        ways = eager
        for option in part[at[i]]:
            if isinstance(option, End):
                ways = lazy
                continue
            there = (*at[:i], option.target, *at[i + 1 :])
            if moved and option.tie == (i in moved):  # preferred to a step, whose event is canonically later
                ways.append(option.to(number((there, moved | {i})), tie=True))
            if not option.tie:
                ways.append(option.to(number((there, frozenset((i,)))), tie=False))
    ends = (End(guards) for guards in _ends([part[s] for part, s in zip(parts, at, strict=True)]))
    return weakest((*eager, *ends, *lazy))


def _ends(ways: list[tuple[WayOn, ...]]) -> list[frozenset[Guard]]:
    """The guards under which all operands end together, for each choice of their ends."""
    ends = [[w.guards for w in own if isinstance(w, End)] for own in ways]
    return [frozenset().union(*choice) for choice in tuples(*ends)]
