"""Patterns to position automata: one state for each place in the written-out pattern, one path for each derivation."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import field, replace
from itertools import combinations, count
from typing import TYPE_CHECKING

from cepc_grammar.pattern import And, Named, Not, Or, Repeat, Selected, Seq, Some, walk
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.positions import Acceptance, ConditionPlan, Edge, Guard, Instance, Negation, Positions
from cepc_runtime.plan.stream import Letter

from .. import model
from .fragments import End, Fragment, OpenEdge, WayOn, entering, nonempty, through, weakest
from .letters import Letters, letter_of
from .part_selection import PartOfPattern, contiguous, next_ones
from .product import product

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_STATES = 4_000
MAX_EDGES = 40_000


class PatternTooLarge(Exception):  # noqa: N818 - an answer, not a failure of the program
    """The automaton of a pattern has more than a sensible number of states."""

    def __init__(self, operator: str, size: int) -> None:
        super().__init__(f"{operator} makes an automaton of more than {size:,} states")
        self.operator, self.size = operator, size


@dataclass(frozen=True, slots=True)
class Built:
    """The positions of a query's pattern, over these letters, of which other queries may use more."""

    positions: Positions
    letters: Letters
    conditions: tuple[ConditionPlan, ...]  # those of scopes
    negated: dict[str, tuple[int, ...]]  # the negations in which each negated variable stands


ForbiddenBetween = tuple[model.Negation, bool] | frozenset[int]
"""A NOT, and whether it is for the whole window; or an event of one of these letters."""


@dataclass(slots=True)
class Construction:
    """What grows while one pattern is turned into positions."""

    variables: dict[str, model.Variable]
    letters: Letters
    ways: dict[int, tuple[WayOn, ...]] = field(default_factory=dict)
    negations: dict[ForbiddenBetween, Negation] = field(default_factory=dict)
    conditions: list[ConditionPlan] = field(default_factory=list)
    states: count[int] = field(default_factory=lambda: count(1))
    scopes: count[int] = field(default_factory=count)
    tracks: count[int] = field(default_factory=lambda: count(1))

    def new_state(self, operator: str) -> int:
        state = next(self.states)
        if state > MAX_STATES:
            raise PatternTooLarge(operator, MAX_STATES)
        return state


@dataclass(frozen=True, slots=True)
class PatternPlace:
    """Where in the pattern a fragment stands: its track, those around it, the scopes around it."""

    track: int = 0
    tracks: tuple[int, ...] = (0,)
    scopes: tuple[int, ...] = ()


def positions_of(query: model.Query, letters: Letters) -> Built:
    """The position automaton of a query's pattern. Raises PatternTooLarge."""
    construction = Construction({v.name: v for v in query.variables}, letters)
    built = _build(construction, query.pattern)
    negated: dict[str, tuple[int, ...]] = defaultdict(tuple)
    for number, forbidden in enumerate(construction.negations):
        if isinstance(forbidden, tuple):
            for variable in {e.variable for e in model.events(forbidden[0].body)}:
                negated[variable] += (number,)
    conditions = tuple(
        replace(k, negation=next((negated[v][0] for v in k.variables if v in negated), None))
        for k in construction.conditions
    )
    return Built(built, letters, conditions, dict(negated))


def positions_in(pattern: model.Pattern, variables: Iterable[model.Variable]) -> Positions:
    """The positions of a pattern by itself. Raises PatternTooLarge."""
    return _build(Construction({v.name: v for v in variables}, Letters()), pattern)


def _build(c: Construction, pattern: model.Pattern) -> Positions:
    pattern, wide = _window_wide(pattern)
    wide_guards = frozenset(Guard(_negation(c, n, window_wide=True)) for n in wide)
    fragment = _fragment(c, pattern, PatternPlace())
    end = (End(wide_guards),)
    fragment.connect(end)
    c.ways[0] = nonempty(through(fragment.first, end))
    return freeze(c.ways, tuple(c.negations.values()), next(c.tracks))


def _window_wide(pattern: model.Pattern) -> tuple[model.Pattern, tuple[model.Negation, ...]]:
    """NOT as an operand of the outermost AND holds for the whole window (docs/language.md, "Negation")."""
    match pattern:
        case And(operands):
            wide = tuple(o for o in operands if isinstance(o, Not))
            rest = tuple(o for o in operands if not isinstance(o, Not))
            return (rest[0] if len(rest) == 1 else And(rest)), wide
    return pattern, ()


def freeze(ways: dict[int, tuple[WayOn, ...]], negations: tuple[Negation, ...], tracks: int) -> Positions:
    """The automaton of these ways: unreachable states left out, states numbered in the order of discovery."""
    numbers = {0: 0}
    queue = [0]
    edges: list[Edge] = []
    acceptances: list[Acceptance] = []
    ambiguous = False
    for state in queue:
        source = numbers[state]
        seen: set[tuple[str, bool]] = set()
        for rank, way in enumerate(ways[state]):
            match way:
                case End(guards):
                    acceptances.append(Acceptance(source, _sorted(guards), rank))
                case OpenEdge(target, letter, variable, tie, guards, on, scopes, enters):
                    ambiguous = ambiguous or (variable, tie) in seen
                    seen.add((variable, tie))
                    if target not in numbers:
                        numbers[target] = len(numbers)
                        queue.append(target)
                    edges.append(
                        Edge(
                            source,
                            numbers[target],
                            letter,
                            variable,
                            tie,
                            _sorted(guards),
                            on,
                            scopes,
                            tuple(sorted(enters)),
                            rank,
                        )
                    )
        if len(edges) > MAX_EDGES:
            raise PatternTooLarge("the pattern", MAX_STATES)
    accepted = [a.state for a in acceptances]
    return Positions(
        len(numbers),
        tuple(edges),
        tuple(acceptances),
        tracks,
        ambiguous or len(set(accepted)) < len(accepted),
        negations,
    )


def _sorted(guards: frozenset[Guard]) -> tuple[Guard, ...]:
    return tuple(sorted(guards, key=lambda g: (g.negation, g.track, g.scopes)))


# ---- one fragment for each form of pattern ---------------------------------------------------------------------------


def _fragment(c: Construction, pattern: model.Pattern, place: PatternPlace) -> Fragment:
    match pattern:
        case model.Event():
            return _event(c, pattern, place)
        case Seq(parts):
            return _sequence([_fragment(c, p, place) for p in parts])
        case Or(parts):
            return _either([_fragment(c, p, place) for p in parts])
        case Some(parts):
            if 1 << len(parts) > MAX_STATES:
                raise PatternTooLarge("SOME", MAX_STATES)
            chosen = [s for n in range(1, len(parts) + 1) for s in combinations(parts, n)]
            return _either([_fragment(c, s[0] if len(s) == 1 else And(s), place) for s in chosen])
        case Repeat():
            return _repeat(c, pattern, place)
        case Selected():
            return _selected(c, pattern, place)
        case Not():
            guard = Guard(_negation(c, pattern), place.track, _conditional(c, pattern, place))
            return Fragment((End(frozenset((guard,))),), lambda _onward: None)
        case And(parts):
            return _conjunction(c, parts, place)
        case Named(body, model.Scope(_, conditions)):
            scope = next(c.scopes)
            c.conditions += (ConditionPlan(k.expression, k.variables, scope, None, k.text) for k in conditions)
            inner = _fragment(c, body, replace(place, scopes=(*place.scopes, scope)))
            return Fragment(entering(inner.first, scope), inner.connect)


def _event(c: Construction, event: model.Event, place: PatternPlace) -> Fragment:
    state = c.new_state("the pattern")
    letter = c.letters.number(letter_of(c.variables[event.variable].test, event.conditions))
    option = OpenEdge(state, letter, event.variable, tracks=place.tracks, scopes=place.scopes)

    def connect(onward: tuple[WayOn, ...]) -> None:
        c.ways[state] = onward

    return Fragment((option,), connect)


def _sequence(parts: list[Fragment]) -> Fragment:
    first: tuple[WayOn, ...] = (End(),)
    for part in reversed(parts):
        first = through(part.first, first)

    def connect(onward: tuple[WayOn, ...]) -> None:
        for part in reversed(parts):
            part.connect(onward)
            onward = through(part.first, onward)

    return Fragment(first, connect)


def _either(parts: list[Fragment]) -> Fragment:
    def connect(onward: tuple[WayOn, ...]) -> None:
        for part in parts:
            part.connect(onward)

    return Fragment(weakest(w for p in parts for w in p.first), connect)


def _repeat(c: Construction, repeat: Repeat[model.Pattern], place: PatternPlace) -> Fragment:
    """P{m,n} as m copies and n - m optional ones, each inside the one before; P{m,} with a loop on the last.

    As in Perl, an iteration that matches nothing ends the repetition once there are enough of them. No match is lost by
    that: what would come after it may as well stand in its place.
    """
    least, most = repeat.least, repeat.most
    required = [_fragment(c, repeat.body, place) for _ in range(max(least - 1, 0))]
    if most is None:
        loop = _loop(_fragment(c, repeat.body, place), repeat.reluctant)
        return _sequence([*required, loop if least else _optional(loop, repeat.reluctant)])
    last = _each_inside([_fragment(c, repeat.body, place) for _ in range(most - max(least, 1) + 1)], repeat.reluctant)
    return _sequence([*required, last if least else _optional(last, repeat.reluctant)])


def _each_inside(bodies: list[Fragment], reluctant: bool) -> Fragment:
    """The last body and then, if it was not empty, perhaps the one before, and so on: no function calls another for
    each, since there may be thousands.
    """
    rests: list[tuple[WayOn, ...]] = [(End(),)]
    for body in bodies[:-1]:
        rests.append(_optional(body, reluctant).first)

    def connect(onward: tuple[WayOn, ...]) -> None:
        for body, rest in zip(bodies, rests, strict=True):
            body.connect(through(rest, onward))

    return Fragment(bodies[-1].first, connect)


def _loop(body: Fragment, reluctant: bool) -> Fragment:
    def connect(onward: tuple[WayOn, ...]) -> None:
        again = through(body.first, onward)
        body.connect(weakest((*onward, *again) if reluctant else (*again, *onward)))

    return Fragment(body.first, connect)


def _optional(body: Fragment, reluctant: bool) -> Fragment:
    return Fragment(weakest((End(), *body.first) if reluctant else (*body.first, End())), body.connect)


def _apart(c: Construction, pattern: model.Pattern, place: PatternPlace) -> PartOfPattern:
    """A part by itself: its places are among no others yet, and an End leads out of it."""
    outer, c.ways = c.ways, {}
    fragment = _fragment(c, pattern, place)
    fragment.connect((End(),))
    found, c.ways = PartOfPattern(fragment.first, c.ways), outer
    return found


def _selected(c: Construction, part: Selected[model.Pattern], place: PatternPlace) -> Fragment:
    """A part with a selection of its own: what it may not skip is forbidden between its events, as by a NOT."""
    inside = _apart(c, part.body, place)

    def guard(letters: frozenset[int]) -> Guard:
        return Guard(_one_of(c, letters), place.track)

    if part.select == "CONTIGUOUS":
        found = contiguous(inside, guard(frozenset((c.letters.number(Letter(None)),))))
    else:
        found = next_ones(inside, guard, lambda: c.new_state("NEXT"))

    def connect(onward: tuple[WayOn, ...]) -> None:
        c.ways.update((state, through(ways, onward)) for state, ways in found.ways.items())

    return Fragment(found.first, connect)


def _one_of(c: Construction, letters: frozenset[int]) -> int:
    """The number of the negation of an event of one of these letters."""
    if letters not in c.negations:
        ways: dict[int, tuple[WayOn, ...]] = {
            0: tuple(OpenEdge(1, letter, "") for letter in sorted(letters)),
            1: (End(),),
        }
        c.negations[letters] = Negation(freeze(ways, (), 1))
    return list(c.negations).index(letters)


def _negation(c: Construction, pattern: model.Negation, window_wide: bool = False) -> int:
    """The number of a negation, the same for equal ones; its positions are an automaton of their own."""
    key = (pattern, window_wide)
    if key not in c.negations:
        inside = Construction(c.variables, c.letters, conditions=c.conditions, scopes=c.scopes)
        c.negations[key] = Negation(_build(inside, pattern.body), pattern.within, window_wide)
    return list(c.negations).index(key)


def _conditional(c: Construction, pattern: model.Negation, place: PatternPlace) -> tuple[tuple[int, Instance], ...]:
    """The scopes around a NOT whose conditions are about what it negates."""
    names = {e.variable for e in model.events(pattern.body)}
    about = {k.scope for k in c.conditions if not names.isdisjoint(k.variables)}
    return tuple((scope, "current") for scope in place.scopes if scope in about)


def _conjunction(c: Construction, operands: tuple[model.Pattern, ...], place: PatternPlace) -> Fragment:
    """AND: each operand has states of its own; together they are a product (product.py)."""
    parts: list[dict[int, tuple[WayOn, ...]]] = []
    for operand in operands:
        inside = place
        if _has_negation(operand):
            track = next(c.tracks)
            inside = replace(place, track=track, tracks=(*place.tracks, track))
        part = _apart(c, operand, inside)
        parts.append({**part.ways, 0: weakest(part.first)})
    return product(parts, lambda: c.new_state("AND"), c.ways)


def _has_negation(pattern: model.Pattern) -> bool:
    return any(isinstance(p, Not | Selected) for p in walk(pattern))
