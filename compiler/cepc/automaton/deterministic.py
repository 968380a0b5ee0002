"""Position automata to deterministic ones by subset construction: one accepted word for each match (the template of the
papers).

A state is a set of configurations: a position, and the progress of the negations asked about from there on (gaps.py).
Guards so survive the construction: a match stands if at least one of its derivations does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Literal

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.automaton import DROPPED, Automaton, Move, Step
from cepc_runtime.plan.positions import Edge, Guard, Positions
from cepc_runtime.plan.stream import Letter
from cepc_runtime.sql.expression import Call, Expression
from cepc_runtime.sql.types import BOOLEAN

from .bound import MAX_STATES
from .gaps import FRESH, GapProgress, Inputs, advance, broken, inputs_of, kept
from .minimal import minimal
from .selecting import settled, settling

if TYPE_CHECKING:
    from .letters import Letters


@dataclass(frozen=True, slots=True)
class Configuration:
    """`instant` has the tracks, other than the whole match, that have read an event of the current instant."""

    position: int
    progress: GapProgress = frozenset()
    instant: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class _State:
    """`prefix` has the positions reached whatever NOT says, where SELECT NEXT asks what could have come next."""

    configurations: frozenset[Configuration]
    prefix: frozenset[int] = frozenset()

    @property
    def begun(self) -> bool:
        """Whether an event has been read."""
        return any(c.position != 0 for c in self.configurations)


SelectionName = Literal["ANY", "NEXT", "CONTIGUOUS"]

EdgeConditions = Mapping[Edge, frozenset[Expression]]


class TooManyStates(Exception):  # noqa: N818 - an answer, not a failure of the program
    """The deterministic automaton would have more than MAX_STATES states."""


class Undecided(Exception):  # noqa: N818 - an answer: the conditions have to be checked on whole matches
    """Two derivations of one word ask for different conditions on the same event."""


@dataclass(frozen=True, slots=True)
class Deterministic:
    """The automaton, and the condition of each step that has one (both in the order of `automaton.steps`)."""

    automaton: Automaton
    conditions: tuple[tuple[int, Expression], ...]


def deterministic(
    positions: Positions, letters: Letters, conditions: EdgeConditions | None = None, select: SelectionName = "ANY"
) -> Deterministic:
    """Without `select`, that of all matches. Raises NotCounted for negations the kernel cannot follow, TooManyStates,
    and Undecided.
    """
    construction = _Construction(positions, letters, conditions or {}, select)
    return construction.run()


@dataclass(slots=True)
class _Construction:
    positions: Positions
    letters: Letters
    conditions: EdgeConditions
    select: SelectionName
    numbers: dict[_State, int] = field(default_factory=dict)
    queue: list[_State] = field(default_factory=list)
    edges: dict[int, list[Edge]] = field(default_factory=lambda: defaultdict(list))
    asked: dict[int, frozenset[Guard]] = field(default_factory=lambda: defaultdict(frozenset))
    read_by: dict[tuple[str, frozenset[int], bool], dict[int, list[Edge]]] = field(default_factory=dict)

    def run(self) -> Deterministic:
        self._ask()
        inputs = inputs_of(self.positions.negations)
        words = _readings(self.positions, self.letters)
        variables = tuple(dict.fromkeys(e.variable for e in self.positions.edges))
        steps: list[Step] = []
        ties: list[Step] = []
        moves: list[Move] = []
        new_moves: list[Move] = []
        conditions: dict[Step, Expression] = {}
        self._number(_State(frozenset((Configuration(0),)), frozenset((0,) if self.select == "NEXT" else ())))
        for state in self.queue:
            for tie, step, condition in self._steps_of(state, words, variables):
                (ties if tie else steps).append(step)
                if condition is not None:
                    conditions[step] = condition
            for given in inputs:
                moves += self._move(state, given, new=False)
                new_moves += self._move(state, given, new=True)
        accepting = tuple(n for state, n in self.numbers.items() if self._accepts(state))
        full = Automaton(
            len(self.numbers), variables, tuple(steps), accepting, tuple(ties), tuple(moves), tuple(new_moves)
        )
        if self.select != "ANY":
            full = settling(full, self._stale(1 + max((given.number for given in inputs), default=-1)))
            conditions |= {settled(step, full): condition for step, condition in conditions.items()}
        small, renamed = minimal(full, dict(conditions.items()))
        return Deterministic(small, tuple((i, renamed[s]) for i, s in enumerate(small.steps) if s in renamed))

    def _ask(self) -> None:
        """Where which guards are asked for from now on."""
        for edge in self.positions.edges:
            self.edges[edge.source].append(edge)
            self.asked[edge.source] |= frozenset(edge.guards)
        for acceptance in self.positions.acceptances:
            self.asked[acceptance.state] |= frozenset(acceptance.guards)
        wide = frozenset(g for a in self.positions.acceptances for g in a.guards if self._is_wide(g))
        self._ask_where_gaps_are_open()
        for position in range(self.positions.states):
            self.asked[position] |= wide

    def _ask_where_gaps_are_open(self) -> None:
        """A gap on a track stays open while events of the other tracks are read: what asks about it at the end asks
        from its beginning on.
        """
        waiting = [edge for edge in self.positions.edges if self.asked[edge.target]]
        while waiting:
            edge = waiting.pop()
            open_before = {g for g in self.asked[edge.target] if g.track not in edge.tracks and not self._is_wide(g)}
            if not open_before <= self.asked[edge.source]:
                self.asked[edge.source] |= open_before
                waiting += [before for before in self.positions.edges if before.target == edge.source]

    def _number(self, state: _State) -> int:
        if state not in self.numbers:
            if len(self.numbers) >= MAX_STATES:
                raise TooManyStates
            self.numbers[state] = len(self.numbers)
            self.queue.append(state)
        return self.numbers[state]

    def _steps_of(
        self, state: _State, words: Iterable[tuple[str, _Reading]], variables: tuple[str, ...]
    ) -> Iterator[tuple[bool, Step, Expression | None]]:
        """Of each step from a state, whether it is a tie, and its condition. New states behind them are queued."""
        for variable, reading in words:
            for tie in (False, True):
                target, condition = self._read(state, variable, reading.satisfied, tie)
                if target is not None:
                    into = self._number(target)
                    yield tie, Step(self.numbers[state], into, reading.number, variables.index(variable)), condition

    def _read(
        self, state: _State, variable: str, satisfied: frozenset[int], tie: bool
    ) -> tuple[_State | None, Expression | None]:
        """Where an event of these letters, bound to the variable, leads, and the one condition that all ways there
        share.
        """

        def reads(edge: Edge) -> bool:
            return edge.tie == tie and edge.variable == variable and edge.letter in satisfied

        by_source = self.read_by.get((variable, satisfied, tie))
        if by_source is None:
            by_source = {source: [e for e in edges if reads(e)] for source, edges in self.edges.items()}
            self.read_by[variable, satisfied, tie] = by_source
        found: set[Configuration] = set()
        free: set[int] = set()  # what needs no check: of a few hundred positions, most are met again and again
        asked: set[frozenset[Expression]] = set()
        for configuration in state.configurations:
            violated = broken(configuration.progress) if configuration.progress else frozenset()
            for edge in by_source.get(configuration.position, ()):
                if violated.isdisjoint(edge.guards):
                    if self.asked[edge.target]:
                        found.add(self._after(configuration, edge))
                    else:
                        free.add(edge.target)
                    asked.add(self.conditions.get(edge, frozenset()) if self.conditions else frozenset())
        found |= {Configuration(position) for position in free}
        if len(asked) > 1:
            raise Undecided
        if not found:
            return None, None
        prefix = frozenset(e.target for position in state.prefix for e in by_source.get(position, ()))
        return _State(frozenset(found), prefix), _conjunction(asked.pop())

    def _stale(self, number: int) -> list[Move]:
        """What an instant makes of begun matches that skip it; `number` and the following are free for the moves.

        CONTIGUOUS: any event of the partition drops them. NEXT: one that could have come next, letter by letter.
        """
        if self.select == "CONTIGUOUS":
            letter = self.letters.number(Letter(None))
            return [Move(number, (letter,), n, DROPPED) for state, n in self.numbers.items() if state.begun]
        following = {
            n: {e.letter for position in state.prefix for e in self.edges[position] if not e.tie}
            for state, n in self.numbers.items()
            if state.begun
        }
        return [
            Move(number + letter, (letter,), n, DROPPED) for n, found in following.items() for letter in sorted(found)
        ]

    def _after(self, configuration: Configuration, edge: Edge) -> Configuration:
        progress = kept(
            configuration.progress,
            self.asked[edge.target],
            lambda guard: guard.track in edge.tracks and not self._is_wide(guard),
        )
        own = frozenset(edge.tracks) - {0}
        # Which tracks belong to the instant matters only where a gap on one of them is asked about.
        instant = (configuration.instant | own if edge.tie else own) & {g.track for g in self.asked[edge.target]}
        return Configuration(edge.target, progress, instant)

    def _move(self, state: _State, given: Inputs, new: bool) -> list[Move]:
        """Where a state goes when events of a negation are skipped.

        `new`: after events of the same instant were read.
        """
        negation = self.positions.negations[given.negation]
        moved: set[Configuration] = set()
        for configuration in state.configurations:
            progress = dict(configuration.progress)
            for guard in self.asked[configuration.position]:
                # Then the gap begins with an event of this very instant.
                begins = new and not negation.window_wide and guard.track in (0, *configuration.instant)
                if guard.negation == given.negation and not begins:
                    progress[guard] = advance(negation, progress.get(guard, FRESH), given.letters)
            after = Configuration(
                configuration.position,
                frozenset((g, r) for g, r in progress.items() if r != FRESH),
                configuration.instant,
            )
            if self._alive(after):
                moved.add(after)
        if moved == state.configurations:
            return []
        target = self._number(_State(frozenset(moved), state.prefix)) if moved else DROPPED
        return [Move(given.number, tuple(sorted(given.letters)), self.numbers[state], target)]

    def _is_wide(self, guard: Guard) -> bool:
        return self.positions.negations[guard.negation].window_wide

    def _alive(self, configuration: Configuration) -> bool:
        """Can any way on still be taken?"""
        violated = broken(configuration.progress)
        return any(violated.isdisjoint(w.guards) for w in self.edges[configuration.position]) or self._ends(
            configuration
        )

    def _ends(self, configuration: Configuration) -> bool:
        violated = broken(configuration.progress)
        return any(
            a.state == configuration.position and violated.isdisjoint(a.guards) for a in self.positions.acceptances
        )

    def _accepts(self, state: _State) -> bool:
        return any(self._ends(c) for c in state.configurations)


@dataclass(frozen=True, slots=True)
class _Reading:
    """One way for an event to be bound to a variable.

    The positions' letters it satisfies, and the letter that says just that.
    """

    number: int
    satisfied: frozenset[int]


def _readings(positions: Positions, letters: Letters) -> list[tuple[str, _Reading]]:
    """For each variable, the ways its events can satisfy the tests of its occurrences.

    One, unless named patterns add conditions.
    """
    tests: dict[str, list[int]] = {}
    for edge in positions.edges:
        known = tests.setdefault(edge.variable, [])
        if edge.letter not in known:
            known.append(edge.letter)
    return [(v, r) for v, numbers in tests.items() for r in _combinations(numbers, letters)]


def _combinations(numbers: list[int], letters: Letters) -> Iterable[_Reading]:
    if len(numbers) == 1:
        yield _Reading(numbers[0], frozenset(numbers))
        return
    tests = {n: frozenset(letters[n].conditions) for n in numbers}
    raw_type = letters[numbers[0]].raw_type
    for mask in range(1, 1 << len(numbers)):
        true = {n for i, n in enumerate(numbers) if mask >> i & 1}
        holding = frozenset().union(*(tests[n] for n in true))
        if any(tests[n] <= holding for n in numbers if n not in true):
            continue  # what holds would imply the test that is to fail
        conditions = tuple(dict.fromkeys(c for n in sorted(true) for c in letters[n].conditions))
        excluded = tuple(tuple(c for c in letters[n].conditions if c not in holding) for n in numbers if n not in true)
        yield _Reading(letters.number(Letter(raw_type, conditions, excluded)), frozenset(true))


def _conjunction(conditions: frozenset[Expression]) -> Expression | None:
    ordered = sorted(conditions, key=repr)
    if not ordered:
        return None
    return ordered[0] if len(ordered) == 1 else Call("and", tuple(ordered), BOOLEAN)
