"""First events of which it is known before WITHIN is over which match they have, because no event that is still to come
can be part of a match that is preferred.

Under SELECT CONTIGUOUS a match goes on with the very next event of its partition or not at all. So it is gone back from
the last known event: which states, after each event, lead to a preferred way that the known events do not end? Where
none does, that is so for all events before, whatever these are.
"""

from __future__ import annotations

from dataclasses import field
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Final
from typing import Literal as OneOf

import numpy as np

from ..cheap_dataclass import dataclass
from ..events.grouped import run_starts, select
from ..events.letters import classify
from ..numbers.columns import dense_rows, ranks
from ..numbers.sorting import order_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..events.grouped import Reading
    from ..numbers.columns import Bools
    from ..plan.positions import Positions
    from ..plan.query import QueryPlan
    from ..plan.stream import Letter, StreamPlan

    _States = tuple[int, int]  # bits: those from which it is open what comes, and those that lead to a match

START: Final = 1
"""The bit of the state in which no event has been read."""


def foreseen(
    known: Reading, stream: StreamPlan, letters: Sequence[Letter], query: QueryPlan, waiting: Bools, new: Bools
) -> Bools:
    """With which of the known events it is decided what begins, among those that are `waiting` for it, and of those in
    partitions that have `new` ones. In a partition all before the first open one are.
    """
    found = np.zeros(len(known.ticks), dtype=np.bool_)
    groups = np.zeros(len(known.ticks), dtype=np.int64)
    if query.partition:
        groups, _ = dense_rows([known.table.column(name) for name in query.partition])
    rows = np.flatnonzero(np.isin(groups, np.intersect1d(groups[new], groups[waiting])))
    if not len(rows):
        return found
    named = (known.table.column(name) for name in stream.order_by if name != stream.time_column)
    keys = [groups, known.ticks, *(ranks(column).numbers for column in named)]
    order = rows[order_of([key[rows] for key in keys])]
    instants = run_starts([key[order] for key in keys])
    tied = np.ones(len(order), dtype=np.bool_)
    tied[instants[:-1][np.diff(instants) == 1]] = False
    kinds = classify(select(known, order), letters, frozenset(edge.letter for edge in query.positions.edges))
    of, waits = kinds.of.tolist(), waiting[order]
    before = _Backwards(_choices(query.positions), kinds.letters, sure=not query.conditions)
    bounds = np.append(np.flatnonzero(np.diff(groups[order], prepend=-1)), len(order)).tolist()
    for begin, end in pairwise(bounds):
        first = begin + int(np.argmax(waits[begin:end]))
        if tied[first:end].any():  # of several events of an instant a match skips all but one
            continue
        states, is_open = before(None, (0, 0)), end
        for at in range(end - 1, first - 1, -1):
            states = before(of[at], states)
            if states[0] & START:
                is_open = at
            if not states[0] & ~START:
                break
        found[order[first:is_open]] = True
    return found & waiting


def still_needed(events: Reading, partition: Sequence[str], passed: Iterable[Bools]) -> Bools:
    """The events that are not before the first of their partition with which a match may begin, of some query; `passed`
    says for each of them with which none does any more.
    """
    groups, count = np.zeros(len(events.ticks), dtype=np.int64), 1
    if partition:
        groups, first_of_each = dense_rows([events.table.column(name) for name in partition])
        count = len(first_of_each)
    found = np.zeros(len(events.ticks), dtype=np.bool_)
    for mark in passed:
        first, waiting = np.full(count, np.iinfo(np.int64).max), ~mark
        np.minimum.at(first, groups[waiting], events.ticks[waiting])
        found |= events.ticks >= first[groups]
    return found


@dataclass(frozen=True)
class _Choice:
    """What may come next in a state: an event of a letter, which leads to a target, or with None the end of the
    match.
    """

    letter: int | None
    target: int


@dataclass
class _Backwards:
    """From the states after an event to those before it. Where matches have no condition of several events, those that
    the letters find are `sure`: what is not preferred to them is never asked for.
    """

    choices: Sequence[Sequence[_Choice]]
    kinds: Sequence[frozenset[int]]
    sure: bool
    _known: dict[tuple[int | None, _States], _States] = field(default_factory=dict)

    def __call__(self, kind: int | None, after: _States) -> _States:
        """None is the kind of an event that is still to come."""
        key = kind, after
        if (found := self._known.get(key)) is None:
            letters = None if kind is None else self.kinds[kind]
            opened, matched = 0, 0
            for state, choices in enumerate(self.choices):
                match self._outcome(choices, letters, after):
                    case "open":
                        opened |= 1 << state
                    case "match":
                        matched |= 1 << state
            found = self._known[key] = opened, matched
        return found

    def _outcome(
        self, choices: Sequence[_Choice], letters: frozenset[int] | None, after: _States
    ) -> OneOf["open", "match", "none"]:
        opened, matched = after
        for choice in choices:
            if choice.letter is None:
                is_open, is_match = False, True
            elif letters is None:
                is_open, is_match = True, False
            else:
                reached = (1 << choice.target) * (choice.letter in letters)
                is_open, is_match = bool(opened & reached), bool(matched & reached)
            if is_open:
                return "open"
            if is_match and self.sure:
                return "match"
        return "none"


def _choices(positions: Positions) -> list[list[_Choice]]:
    """Of each state, in the order of preference."""
    ranked: list[list[tuple[int, _Choice]]] = [[] for _ in range(positions.states)]
    for edge in positions.edges:
        ranked[edge.source].append((edge.rank, _Choice(edge.letter, edge.target)))
    for end in positions.acceptances:
        ranked[end.state].append((end.rank, _Choice(None, 0)))
    return [[choice for _, choice in sorted(own, key=itemgetter(0))] for own in ranked]
