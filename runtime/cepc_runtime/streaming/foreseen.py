"""First events of which it is known before WITHIN is over which match they have, because no event that is still to come
can be part of a match that is preferred.

Under SELECT CONTIGUOUS a match goes on with the very next event of its partition or not at all. So it is gone back from
the last known event: which states, after each event, lead to a preferred way that the known events do not end? Where
none does, that is so for all events before, whatever these are. Letters say that, unless a condition of several events
or a NOT decides whether a way is a match: then it is known that a match is one when the engine has found it, and what
has to be asked is which ways are preferred to it.

Under SELECT NEXT a way that has begun may always go on, until WITHIN is over. So only first events that have a match
are decided, to which no way is preferred that could still become one.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import field
from functools import cached_property
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Final
from typing import Literal as OneOf

import numpy as np

from ..cheap_dataclass import dataclass
from ..events.grouped import groups_of, instant_keys, run_starts, select
from ..events.letters import classify
from ..numbers.sorting import order_of
from ..plan.select import SelectContiguous
from ..sql.expression import Aggregate, Field, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..events.grouped import Reading
    from ..numbers.columns import Bools, Ints
    from ..plan.positions import Edge, Positions
    from ..plan.query import QueryPlan
    from ..plan.stream import Letter, StreamPlan

    _States = tuple[int, int]  # bits: those from which it is open what comes, and those that lead to a match

START: Final = 1
"""The bit of the state in which no event has been read."""

NOTHING: Final = (0, 0)
"""Behind an event that is still to come: nothing is known."""


FEW: Final = 16
"""Partitions that are gone back through one by one: numpy takes as long for a step of so many together."""


MANY: Final = 1_000
"""With more known events behind the first that waits, a partition's matches are not asked for before WITHIN is over: to
find them may take as long as the square of that, in each step.
"""


@dataclass(frozen=True)
class OpenPartitions:
    """The partitions of which more is known, and in which events wait for it to be known which match begins with them,
    as far as none of these tie. `rows` are their known events, by partition and in order. Each has an `end` there, and
    its `first` event that waits. Events have `kinds`, with these `letters`.
    """

    rows: Ints
    first: Ints
    end: Ints
    kinds: Ints
    letters: Sequence[frozenset[int]]

    def with_few_events(self) -> OpenPartitions:
        """Those that have no more than so MANY behind the first that waits."""
        few = self.end - self.first <= MANY
        begins = np.append(0, self.end[:-1])
        kept, sizes = np.repeat(few, self.end - begins), (self.end - begins)[few]
        end = np.cumsum(sizes)
        return OpenPartitions(
            self.rows[kept], (self.first - begins)[few] + end - sizes, end, self.kinds[kept], self.letters
        )


@dataclass(frozen=True)
class MatchSoFar:
    """The preferred one among known events of those that begin at a place: the places of its events and their
    variables, and before which place no other match begins then.
    """

    places: Sequence[int]
    variables: Sequence[str]
    resume: int


def open_partitions(
    known: Reading, stream: StreamPlan, letters: Sequence[Letter], query: QueryPlan, waiting: Bools, more: Bools
) -> OpenPartitions | None:
    """Of `more` events it is known that they are there, or what begins with them."""
    groups, _ = groups_of(known, query.partition)
    rows = np.flatnonzero(np.isin(groups, np.intersect1d(groups[more], groups[waiting])))
    if not len(rows):
        return None
    keys = [groups, *instant_keys(known, stream)]
    order = rows[order_of([key[rows] for key in keys])]
    instants = run_starts([key[order] for key in keys])
    tied = np.ones(len(order), dtype=np.bool_)
    tied[instants[:-1][np.diff(instants) == 1]] = False
    places = np.arange(len(order))
    begins = np.flatnonzero(np.diff(groups[order], prepend=-1))
    first = np.minimum.reduceat(np.where(waiting[order], places, len(order)), begins)
    # Of several events of an instant a match skips all but one.
    able = np.maximum.reduceat(np.where(tied, places, -1), begins) < first
    sizes = np.diff(np.append(begins, len(order)))
    rows, ends = order[np.repeat(able, sizes)], np.cumsum(sizes[able])
    if not len(rows):
        return None
    found = classify(select(known, rows), letters, frozenset(edge.letter for edge in query.positions.edges))
    kinds = found.of.astype(np.int64)
    return OpenPartitions(rows, (first - begins)[able] + ends - sizes[able], ends, kinds, found.letters)


def foreseen(partitions: OpenPartitions, query: QueryPlan) -> Ints:
    """The events with which it is known by letters alone what begins: in each partition those before the first that is
    open.
    """
    if not isinstance(query.select, SelectContiguous):
        places = np.append(np.flatnonzero(_may_begin(query, partitions)[partitions.kinds]), len(partitions.rows))
        first_able = places[np.searchsorted(places, partitions.first)]
        return _rows_until(partitions, np.minimum(first_able, partitions.end))
    before = _Backwards(_choices(query.positions), partitions.letters, sure=not asks_for_matches(query))
    return _rows_until(partitions, _first_open(before, partitions))


def asks_for_matches(query: QueryPlan) -> bool:
    """Whether letters do not say all."""
    return bool(query.conditions or query.positions.negations) or not isinstance(query.select, SelectContiguous)


def foreseen_with(partitions: OpenPartitions, query: QueryPlan, matches: Mapping[int, MatchSoFar]) -> Ints:
    """The same where letters do not say all, and these are the `matches` among known events, by the places where they
    begin.
    """
    contiguous = isinstance(query.select, SelectContiguous)
    before = _Backwards(_choices(query.positions), partitions.letters, sure=False)
    preferred = _Preferred(query.positions, partitions.letters, contiguous, _may_become_true(query))
    kinds, until, may_begin = partitions.kinds.tolist(), partitions.end.copy(), _may_begin(query, partitions)
    for number, (first, end) in enumerate(zip(partitions.first.tolist(), partitions.end.tolist(), strict=True)):
        if contiguous:
            opened = _open_starts(before, before(None, NOTHING), kinds, first, end)
        else:
            opened = {at for at in range(first, end) if may_begin[kinds[at]]}
        at = first
        while at < end:
            match = matches.get(at)
            if at in opened and (match is None or preferred.may_come(match, kinds, end)):
                break
            at = at + 1 if match is None else max(match.resume, at + 1)
        until[number] = at
    return _rows_until(partitions, until)


def _may_become_true(query: QueryPlan) -> bool:
    """Whether a condition that is not true of some events may be true when a variable has more: then NEXT may skip an
    event that begins a way all the same.
    """
    return any(
        isinstance(node, Aggregate) or (isinstance(node, Field) and node.at != "each")
        for condition in query.conditions
        for node in walk(condition.expression)
    )


def _may_begin(query: QueryPlan, partitions: OpenPartitions) -> Bools:
    """Which kinds of events may be the first of a match."""
    letters = {edge.letter for edge in query.positions.edges if edge.source == 0}
    return np.array([not letters.isdisjoint(own) for own in partitions.letters], dtype=np.bool_)


def _rows_until(partitions: OpenPartitions, until: Ints) -> Ints:
    """Of each partition, those from the first that waits until a place."""
    edges = np.zeros(len(partitions.rows) + 1, dtype=np.int64)
    np.add.at(edges, partitions.first, 1)
    np.add.at(edges, np.minimum(until, partitions.end), -1)
    return partitions.rows[np.cumsum(edges)[:-1] > 0]


def still_needed(events: Reading, partition: Sequence[str], passed: Iterable[Bools]) -> Bools:
    """The events that are not before the first of their partition with which a match may begin, of some query; `passed`
    says for each of them with which none does any more.
    """
    groups, each = groups_of(events, partition)
    found = np.zeros(len(events.ticks), dtype=np.bool_)
    for mark in passed:
        first, waiting = np.full(len(each), np.iinfo(np.int64).max), ~mark
        np.minimum.at(first, groups[waiting], events.ticks[waiting])
        found |= events.ticks >= first[groups]
    return found


# ---- back from the last event ----------------------------------------------------------------------------------------


def _first_open(before: _Backwards, partitions: OpenPartitions) -> Ints:
    """Of each partition the first place from where a way begins that no known event ends; its end if there is none.
    Many partitions go back together, and the last few one by one.
    """
    found, table = partitions.end.copy(), _Table(before)
    going, states = np.arange(len(found)), np.full(len(found), table.number(before(None, NOTHING)))
    at = partitions.end - 1
    while len(going) > FEW:
        states[going] = table.before(states[going], partitions.kinds[at[going]])
        is_open, goes_on = table.of(states[going])
        found[going[is_open]] = at[going[is_open]]
        going = going[goes_on & (at[going] > partitions.first[going])]
        at[going] -= 1
    for number in going.tolist():
        first, end = int(partitions.first[number]), int(at[number]) + 1
        kinds = partitions.kinds[first:end].tolist()
        opened = _open_starts(before, table.states[states[number]], kinds, 0, end - first)
        found[number] = min((first + place for place in opened), default=found[number])
    return found


def _open_starts(before: _Backwards, states: _States, kinds: Sequence[int], first: int, end: int) -> set[int]:
    """The places from `first` on where a way begins that no known event ends; the states are those after the last."""
    found = set[int]()
    for at in range(end - 1, first - 1, -1):
        states = before(kinds[at], states)
        if states[0] & START:
            found.add(at)
        if not states[0] & ~START:
            break
    return found


class _Table:
    """The states that are met, by number, so that those of many partitions are gone back from at once."""

    def __init__(self, before: _Backwards) -> None:
        self._before = before
        self._numbers: dict[_States, int] = {}
        self.states: list[_States] = []
        self._next = np.zeros((0, len(before.kinds)), dtype=np.int64)

    def number(self, states: _States) -> int:
        if states not in self._numbers:
            self._numbers[states] = len(self.states)
            self.states.append(states)
            self._next = np.vstack([self._next, np.full(len(self._before.kinds), -1)])
        return self._numbers[states]

    def before(self, states: Ints, kinds: Ints) -> Ints:
        """Those before events of these kinds."""
        found: Ints = self._next[states, kinds]
        if (found < 0).any():
            for state, kind in set(zip(states[found < 0].tolist(), kinds[found < 0].tolist(), strict=True)):
                number = self.number(self._before(kind, self.states[state]))
                self._next[state, kind] = number
            found = self._next[states, kinds]
        return found

    def of(self, states: Ints) -> tuple[Bools, Bools]:
        """In which a way begins that is open, and in which one may that has begun before."""
        begins = np.array([bool(own & START) for own, _ in self.states], dtype=np.bool_)
        others = np.array([bool(own & ~START) for own, _ in self.states], dtype=np.bool_)
        return begins[states], others[states]


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


# ---- ways that are preferred to a match ------------------------------------------------------------------------------


@dataclass
class _Preferred:
    """All ways that are preferred to a match. Which ones its own may be, its variables say."""

    positions: Positions
    kinds: Sequence[frozenset[int]]
    contiguous: bool
    skips_what_may_go_on: bool
    _known: dict[tuple[int, str, int, bool], int] = field(default_factory=dict)
    _going_off: dict[tuple[int, str, tuple[int, int]], int] = field(default_factory=dict)
    _going_on: dict[tuple[int, int], int] = field(default_factory=dict)

    def may_come(self, match: MatchSoFar, kinds: Sequence[int], end: int) -> bool:
        """Whether one of them goes on behind the last known event of the partition."""
        own = [kinds[place] for place in match.places]
        states = self._states(match.variables, own)
        longer = [edge for edge in self._longer if states[-1] >> edge.source & 1]
        if not self.contiguous:  # a way that has begun waits for any event
            steps = zip(own, match.variables, pairwise(states), strict=True)
            if longer or any(self._others(*step) & self._leaving for step in steps):
                return True
            return self.skips_what_may_go_on and self._skips(match, kinds, states)
        preferred = 0
        for kind, variable, step in zip(own, match.variables, pairwise(states), strict=True):
            preferred = self._on(kind, preferred) | self._others(kind, variable, step)
        rest = kinds[match.places[-1] + 1 : end]
        if not rest:
            return bool(longer) or bool(preferred & self._leaving)
        preferred = self._on(rest[0], preferred)
        for edge in longer:
            preferred |= (edge.letter in self.kinds[rest[0]]) << edge.target
        for kind in rest[1:]:
            if not preferred:
                return False
            preferred = self._on(kind, preferred)
        return bool(preferred & self._leaving)

    def _states(self, variables: Sequence[str], kinds: Sequence[int]) -> list[int]:
        """Those in which the match may have been before its first event, and after each."""
        found = [START]
        for variable, kind in zip(variables, kinds, strict=True):
            found.append(self._along(kind, variable, found[-1], backwards=False))
        found[-1] &= _bits(end.state for end in self.positions.acceptances)
        for at in range(len(variables) - 1, -1, -1):
            found[at] &= self._along(kinds[at], variables[at], found[at + 1], backwards=True)
        return found

    def _along(self, kind: int, variable: str, states: int, *, backwards: bool) -> int:
        """Which states an event of the variable leads to from these, or from which ones to these."""
        key = kind, variable, states, backwards
        if (found := self._known.get(key)) is None:
            letters = self.kinds[kind]
            edges = (edge for edge in self.positions.edges if edge.variable == variable and edge.letter in letters)
            pairs = ((edge.target, edge.source) if backwards else (edge.source, edge.target) for edge in edges)
            found = self._known[key] = _bits(other for one, other in pairs if states >> one & 1)
        return found

    def _others(self, kind: int, variable: str, step: tuple[int, int]) -> int:
        """Where edges lead with the same event that are preferred to the match's own, from some states to others."""
        key = kind, variable, step
        if (found := self._going_off.get(key)) is None:
            letters, (states, after), found = self.kinds[kind], step, 0
            for state, edges in self._edges.items():
                if states >> state & 1:
                    able = [edge for edge in edges if edge.letter in letters]
                    own = (e.rank for e in able if e.variable == variable and after >> e.target & 1)
                    last = max(own, default=-1)
                    found |= _bits(edge.target for edge in able if edge.rank < last)
            self._going_off[key] = found
        return found

    def _skips(self, match: MatchSoFar, kinds: Sequence[int], states: Sequence[int]) -> bool:
        """Whether a way as good as the match's own goes on with an event that the match skips."""
        for number, (one, other) in enumerate(pairwise(match.places)):
            kind, variable, step = kinds[other], match.variables[number + 1], (states[number + 1], states[number + 2])
            skipped = frozenset[int]().union(*(self.kinds[kinds[place]] for place in range(one + 1, other)))
            for state, edges in self._edges.items():
                if step[0] >> state & 1:
                    own = [e for e in edges if e.variable == variable and e.letter in self.kinds[kind]]
                    last = max((e.rank for e in own if step[1] >> e.target & 1), default=-1)
                    good = (edge for edge in edges if edge.rank <= last and edge.letter in skipped)
                    if any(self._leaving >> edge.target & 1 for edge in good):
                        return True
        return False

    def _on(self, kind: int, states: int) -> int:
        """An event further, on every way."""
        key = kind, states
        if (found := self._going_on.get(key)) is None:
            letters = self.kinds[kind]
            edges = (edge for state, own in self._edges.items() if states >> state & 1 for edge in own)
            found = self._going_on[key] = _bits(edge.target for edge in edges if edge.letter in letters)
        return found

    @cached_property
    def _edges(self) -> dict[int, list[Edge]]:
        found = defaultdict[int, list["Edge"]](list)
        for edge in self.positions.edges:
            found[edge.source].append(edge)
        return found

    @cached_property
    def _leaving(self) -> int:
        """The states in which a way goes on."""
        return _bits(self._edges)

    @cached_property
    def _longer(self) -> list[Edge]:
        """The edges that are preferred to the end of a match in their state."""
        ends = defaultdict[int, int](lambda: -1)
        for end in self.positions.acceptances:
            ends[end.state] = max(ends[end.state], end.rank)
        return [edge for edge in self.positions.edges if edge.rank < ends[edge.source]]


def _bits(states: Iterable[int]) -> int:
    found = 0
    for state in states:
        found |= 1 << state
    return found
