"""What may come next of a partial match, state by state: all that a walk needs to know of a query."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

from ...cheap_dataclass import dataclass
from ...plan.select import SelectContiguous, SelectNext
from ..checks import Check
from ..condition import Condition
from ..selection import due_so_far
from .formulas import HeldEvent, at_most
from .neighbours import bindings_of, tests_on
from .records import BEFORE, FIRST, PLACES, THIS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ...plan.automaton import Automaton
    from ...plan.positions import Edge, Guard
    from ...plan.select import Select
    from ...sql.expression import Aggregate
    from ..checks import Checks
    from ..guards import Guards
    from .formulas import EventPlace, Formula
    from .neighbours import Bindings, PairTest

MOST_LETTERS: Final = 62
"""Bits of a mask."""
MOST_STATES: Final = 256
"""Each has two numbers for each event of a piece."""
MOST_HELD: Final = 4
"""Each has a number for each state and event of a piece."""
MOST_AGGREGATES: Final = 16
"""Each has one to three such numbers."""


@dataclass(frozen=True, slots=True)
class Option:
    """A way on, in the order of preference: an event that satisfies all of the letters and passes the tests, and with
    which the formulas are true, bound to the variable, as `edge` says, leads to `target`. Without an edge the match
    ends here if the formulas are true.
    """

    target: int = -1
    edge: int | None = None
    variable: str | None = None
    letters: frozenset[int] = frozenset()
    tests: tuple[PairTest, ...] = ()
    formulas: tuple[Formula, ...] = ()
    guards: tuple[Guard, ...] = ()


@dataclass(frozen=True, slots=True)
class TestedWay:
    """An event of the letter that passes the tests, and with which, bound to the variable, the formulas are true, may
    not be skipped.
    """

    letter: int
    variable: str
    tests: tuple[PairTest, ...]
    formulas: tuple[Formula, ...]

    @property
    def is_free(self) -> bool:
        """Whether no event of the letter may be skipped."""
        return not self.tests and not self.formulas


@dataclass(frozen=True, slots=True)
class WalkState:
    """`ways` are of SELECT NEXT; under CONTIGUOUS there are none."""

    options: tuple[Option, ...]
    ways: tuple[TestedWay, ...]


@dataclass(frozen=True)
class Walk:
    """State 0 is the start."""

    states: tuple[WalkState, ...]
    contiguous: bool

    @cached_property
    def letters(self) -> tuple[int, ...]:
        options = (letter for state in self.states for option in state.options for letter in option.letters)
        return tuple(sorted({*options, *(way.letter for state in self.states for way in state.ways)}))

    @cached_property
    def tests(self) -> tuple[PairTest, ...]:
        """The different tests."""
        found: dict[PairTest, None] = {}
        for state in self.states:
            for tests in (*(option.tests for option in state.options), *(way.tests for way in state.ways)):
                found |= dict.fromkeys(tests)
        return tuple(found)

    @cached_property
    def formulas(self) -> tuple[Formula, ...]:
        """The different formulas."""
        found: dict[Formula, None] = {}
        for state in self.states:
            for formulas in (*(option.formulas for option in state.options), *(way.formulas for way in state.ways)):
                found |= dict.fromkeys(formulas)
        return tuple(found)

    def letters_of(self, asked: PairTest | Formula, place: EventPlace) -> frozenset[int]:
        """The letters of the events that a test or a formula finds in a place."""
        found: set[int] = set()
        sources: set[int] = set()
        for number, state in enumerate(self.states):
            ways = [way.letter for way in state.ways if asked in (*way.tests, *way.formulas)]
            options = [option for option in state.options if asked in (*option.tests, *option.formulas)]
            found |= {*ways, *(letter for option in options for letter in option.letters)}
            sources |= {number} if ways or options else set()
        every = tuple(option for state in self.states for option in state.options)
        match place:
            case "later":
                return frozenset(found)
            case "first":
                into = self.states[0].options
            case "earlier":
                into = tuple(option for option in every if option.target in sources)
            case HeldEvent(variable=variable):
                into = tuple(option for option in every if option.variable == variable)
            case _:
                return frozenset()
        return frozenset(letter for option in into for letter in option.letters)

    def number_of(self, place: EventPlace) -> int:
        """What stands for the event of a place."""
        match place:
            case "later":
                return THIS
            case "earlier":
                return BEFORE
            case "first":
                return FIRST
            case HeldEvent():
                return PLACES + self.held.index(place)
        raise ValueError(f"no event: {place}")

    def letters_bound(self, variable: str) -> frozenset[int]:
        """The letters of the events that are bound to a variable."""
        options = (option for state in self.states for option in state.options if option.variable == variable)
        return frozenset(letter for option in options for letter in option.letters)

    @cached_property
    def held(self) -> tuple[HeldEvent, ...]:
        """Of what tests and formulas are that is held."""
        places = (*(test.other for test in self.tests), *(place for f in self.formulas for place in f.places))
        return tuple(dict.fromkeys(place for place in places if isinstance(place, HeldEvent)))

    @cached_property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """What is kept of them is the same for all events and those up to one."""
        found = (replace(a, running=False) for formula in self.formulas for a in formula.aggregates)
        return tuple(dict.fromkeys(found))

    @cached_property
    def is_linked(self) -> bool:
        """Whether what may come next depends on more of a match than the event before."""
        return bool(self.formulas) or not all(test.is_local for test in self.tests)

    @cached_property
    def loops(self) -> bool:
        """Whether some state has a loop that `loop_of` gives."""
        return any(self.loop_of(number) is not None for number in range(len(self.states)))

    @cached_property
    def seeks(self) -> bool:
        """Whether tests or formulas say which events may be skipped, so that the next is searched for from each."""
        return any(not way.is_free for state in self.states for way in state.ways)

    def loop_of(self, number: int) -> int | None:
        """Which option of a state leads to itself; None where none does, or several, where no way out or on depends on
        the first event, where an event may be skipped, and where events are held or anything is computed.
        """
        options = self.states[number].options
        loops = [place for place, option in enumerate(options) if option.target == number]
        linked = any(test.from_first for option in options for test in option.tests)
        if not self.contiguous or self.held or self.formulas or number == 0 or len(loops) != 1 or not linked:
            return None
        return None if any(option.edge is None for option in options[: loops[0]]) else loops[0]

    @cached_property
    def guards(self) -> tuple[tuple[Guard, ...], ...]:
        """What forbids gaps together."""
        return tuple(dict.fromkeys(o.guards for state in self.states for o in state.options if o.guards))


@dataclass(frozen=True, slots=True)
class NoWalk:
    """Why matches are not walked but grown together."""

    reason: str


def walk_of(checks: Checks, guards: Guards, select: Select) -> Walk | NoWalk:
    """How to walk the matches of a query with AFTER MATCH."""
    pattern = checks.pattern
    if pattern.positions.tracks > 1 or any(edge.tie for edge in pattern.edges):
        return NoWalk("events of an AND")
    if guards.any_late:
        return NoWalk("a NOT that is looked at when the match is complete")
    for condition in checks.conditions:
        if condition.plan.scope is not None:
            return _unlike(condition)
    bindings = bindings_of(pattern)
    if bindings is None:
        return NoWalk("a state that is reached with several variables")
    match select:
        case SelectContiguous():
            found = _States(checks, bindings, None).walk()
        case SelectNext(prefixes):
            if _has_several_tests(prefixes):
                return NoWalk("a variable with several tests")
            found = _States(checks, bindings, prefixes).walk()
        case _:
            return NoWalk("SELECT ANY")
    if isinstance(found, Walk) and len(found.letters) > MOST_LETTERS:
        return NoWalk(f"more than {MOST_LETTERS} letters")
    if isinstance(found, Walk) and len(found.held) > MOST_HELD:
        return NoWalk(f"conditions on more than {MOST_HELD} first or last events of other variables")
    if isinstance(found, Walk) and len(found.aggregates) > MOST_AGGREGATES:
        return NoWalk(f"conditions with more than {MOST_AGGREGATES} aggregates")
    return found


def _has_several_tests(prefixes: Automaton) -> bool:
    """Whether events of one edge may be of several letters: these are no order of preference."""
    letters: dict[int, int] = {}
    return any(letters.setdefault(step.variable, step.letter) != step.letter for step in prefixes.steps)


def _may_not_be_skipped(ways: Sequence[TestedWay], option: Option) -> bool:
    """Whether no event that the option reads may be skipped: then the next event of a match lies in the first instant
    that has such.
    """
    required = {*option.tests, *option.formulas}
    return option.edge is None or any(
        way.letter in option.letters and required.issuperset((*way.tests, *way.formulas)) for way in ways
    )


def _unlike(condition: Condition) -> NoWalk:
    return NoWalk(f"the condition {condition.plan.text}")


class _States:
    """Pairs of a state of the positions and one of the automaton of prefixes, if there is one."""

    def __init__(self, checks: Checks, bindings: Sequence[Bindings], prefixes: Automaton | None) -> None:
        self._checks, self._bindings, self._prefixes = checks, bindings, prefixes
        self._pattern, self._conditions = checks.pattern, checks.conditions
        self._edge_of = {edge.variable: number for number, edge in enumerate(self._pattern.edges)}
        self._numbers = {(0, 0): 0}

    def walk(self) -> Walk | NoWalk:
        found: list[WalkState] = []
        while len(found) < len(self._numbers):
            if len(self._numbers) > MOST_STATES:
                return NoWalk(f"more than {MOST_STATES} states")
            state = self._state(*list(self._numbers)[len(found)])
            if isinstance(state, NoWalk):
                return state
            found.append(state)
        return Walk(tuple(found), self._prefixes is None)

    def _state(self, place: int, prefix: int) -> WalkState | NoWalk:
        ranked: list[tuple[int, int, Option]] = []
        if self._pattern.acceptances[place]:
            ending = self._required([Check(number, "all") for number in self._checks.at_end[place]], place, None)
            if isinstance(ending, Condition):
                return _unlike(ending)
            ranked = [(a.rank, 1, Option(formulas=ending[1])) for a in self._pattern.acceptances[place][:1]]
        for number in self._pattern.leaving[place]:
            edge = self._pattern.edges[number]
            required = self._required(self._checks.on_edge[number], place, edge.variable)
            if isinstance(required, Condition):
                return _unlike(required)
            tests, formulas = required
            formulas += tuple(at_most(limit) for limit in self._checks.limits if limit.count.variable == edge.variable)
            for letters, after in self._steps(edge, prefix):
                target = self._numbers.setdefault((edge.target, after), len(self._numbers))
                option = Option(target, number, edge.variable, letters, tests, formulas, edge.guards)
                ranked.append((edge.rank, 0, option))
        ways = self._ways(place, prefix)
        if not isinstance(ways, tuple):
            return _unlike(ways)
        options = tuple(option for *_, option in sorted(ranked, key=lambda r: r[:2]))
        if self._prefixes is not None and place and not all(map(partial(_may_not_be_skipped, ways), options)):
            return NoWalk("a condition with LAST that may hold in the end, and not before")
        return WalkState(options, ways)

    def _steps(self, edge: Edge, prefix: int) -> list[tuple[frozenset[int], int]]:
        """Which letters an event of the edge satisfies, and the automaton's state after it."""
        if self._prefixes is None:
            return [(frozenset((edge.letter,)), 0)]
        return [
            (frozenset((edge.letter, step.letter)), step.target)
            for step in self._prefixes.steps
            if step.source == prefix and self._prefixes.variables[step.variable] == edge.variable
        ]

    def _ways(self, place: int, prefix: int) -> tuple[TestedWay, ...] | Condition:
        found: dict[TestedWay, None] = {}
        if self._prefixes is None or place == 0:
            return ()
        for step in self._prefixes.steps:
            if step.source != prefix:
                continue
            variable = self._prefixes.variables[step.variable]
            required = self._required(self._unknown(place, variable), place, variable)
            if isinstance(required, Condition):
                return required
            found[TestedWay(step.letter, variable, *required)] = None
        return tuple(found)

    def _required(
        self, due: Iterable[Check], place: int, variable: str | None
    ) -> tuple[tuple[PairTest, ...], tuple[Formula, ...]] | Condition:
        return tests_on(due, self._conditions, self._bindings[place], variable)

    def _unknown(self, place: int, variable: str) -> Iterator[Check]:
        """What must be true of the events so far with one of the variable, without what is known to be."""
        for check in due_so_far(self._checks, self._edge_of[variable]):
            if check.condition in self._checks.at_end[place]:
                yield check
            elif variable in self._conditions[check.condition].variables:
                yield Check(check.condition, "new")
