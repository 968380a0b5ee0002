"""Slow and obvious executions of both kinds of automaton, for tests: events are (instant, raw type), in canonical
order.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc_runtime.plan.automaton import Automaton
    from cepc_runtime.plan.positions import Guard, Positions
    from cepc_runtime.plan.stream import Letter

Event = tuple[int, str]
Bound = tuple[tuple[int, str], ...]
Match = frozenset[tuple[int, str]]

FOREVER = float("inf")


def matches(positions: Positions, letters: tuple[Letter, ...], events: list[Event]) -> set[Match]:
    """The matches over all events as one window: each the set of its (event index, variable)."""
    return {frozenset(m) for m in _derivations(positions, letters, events)}


def _derivations(positions: Positions, letters: tuple[Letter, ...], events: list[Event]) -> Iterator[Bound]:
    spans = [
        [(min(t), max(t)) for m in matches(n.positions, letters, events) if (t := [events[i][0] for i, _ in m])]
        for n in positions.negations
    ]

    def holds(guard: Guard, last: dict[int, int], end: float) -> bool:
        wide = positions.negations[guard.negation].window_wide
        start = -FOREVER if wide else last.get(guard.track, -FOREVER)
        return not any(start < first and final < (FOREVER if wide else end) for first, final in spans[guard.negation])

    def go(state: int, bound: Bound, last: dict[int, int]) -> Iterator[Bound]:
        ends = (a for a in positions.acceptances if a.state == state)
        if bound and any(all(holds(g, last, FOREVER) for g in a.guards) for a in ends):
            yield bound
        for edge in (e for e in positions.edges if e.source == state):
            for i, (instant, raw_type) in enumerate(events):
                if raw_type != letters[edge.letter].raw_type or not _may_follow(events, bound, i, edge.tie):
                    continue
                if all(holds(g, last, instant) for g in edge.guards):
                    after = {**last, **dict.fromkeys(edge.tracks, instant)}
                    yield from go(edge.target, (*bound, (i, edge.variable)), after)

    yield from go(0, (), {})


def _may_follow(events: list[Event], bound: Bound, i: int, tie: bool) -> bool:
    """A step goes to a later instant, a tie to a canonically later event of the same."""
    if not bound:
        return True
    before, (instant, _) = bound[-1][0], events[bound[-1][0]]
    return events[i][0] == instant and i > before if tie else events[i][0] > instant


def count(automaton: Automaton, letters: tuple[Letter, ...], events: list[Event]) -> int:
    """The number of matches, as `Automaton` says it is counted."""
    old: Counter[int] = Counter({0: 1})
    for _, instant in groupby(events, key=lambda e: e[0]):
        new: Counter[int] = Counter()
        present: set[int] = set()
        for _, raw_type in instant:
            own = {n for n, letter in enumerate(letters) if letter.raw_type in (None, raw_type)}
            present |= own
            added: Counter[int] = Counter()
            for steps, values in ((automaton.steps, old), (automaton.ties, new)):
                for step in steps:
                    if step.letter in own:
                        added[step.target] += values[step.source]
            new += added
        for values, moves in ((old, automaton.moves), (new, automaton.new_moves)):
            for negation, alphabet in automaton.negation_letters.items():
                here = tuple(sorted(present & alphabet))
                taken = [m for m in moves if m.negation == negation and m.letters == here]
                moved = [(m.target, values.pop(m.source, 0)) for m in taken]
                for target, value in moved:
                    if target >= 0:
                        values[target] += value
        old += new
    return sum(old[s] for s in automaton.accepting)
