"""Small streams made from a query's pattern: what it accepts, and what misses that by one event.

A *word* is a small stream, told from the others of a case by the column `word`. An accepted word is a derivation of the
pattern with times and values for which the query's conditions hold. From each come words that differ in one thing: an
event short, moved, tied, doubled, of another group, failing a condition, or a forbidden event beside, on and inside the
edges of a gap. Nothing here decides what a query's rows are: that is the oracle's, whose reading of patterns and
conditions is used to aim.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from cepc_grammar import ast
from cepc_grammar.parser import parse
from cepc_grammar.source import Source
from tests.oracle.conditions import Condition, merged
from tests.oracle.errors import EvaluationError
from tests.oracle.expressions import conjuncts
from tests.oracle.helpers import written_out
from tests.oracle.matches import Finder
from tests.oracle.patterns import (
    Choice,
    Close,
    Conjunction,
    Leaf,
    Negation,
    Node,
    Repetition,
    Scope,
    Sequence,
    variables,
)
from tests.oracle.stream import AMONG, read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from random import Random

    from tests.oracle.conditions import Bindings

Row = dict[str, Any]

SECOND: Final = 1_000_000  # microseconds
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
KINDS: Final = ("A", "B", "C", "D")
BASES: Final = {"Big": ("A", {"x": 2}), "Odd": ("B", {"x": 3})}
"""The derived types of the programs: the type that each is derived from, and values that make an event one."""

FAILING: Final = ("failing", "forbidden", "moved", "tied", "apart", "between")
"""How words are made that may cost the word from which they are made a match, but for those an event short."""

MOST_EVENTS: Final = 9  # the oracle goes through all sets of a word's events


@dataclass(frozen=True)
class Word:
    """How a word came about, and the number of the word that it was made from."""

    made: str
    base: int | None = None


@dataclass(frozen=True, eq=False)
class Slot:
    """A place for an event: its time in seconds from the word's beginning. Two slots are two, however alike."""

    type: str | None
    variable: str
    time: int


@dataclass(frozen=True)
class Hole:
    """A gap in which nothing that is negated may lie, between two times; None: from the window's edge. `slots` are
    those of the named patterns around the NOT, from the outermost on.
    """

    negation: Negation
    after: int | None
    before: int | None
    scopes: tuple[tuple[Scope, tuple[Slot, ...]], ...] = ()


@dataclass(frozen=True)
class Sketch:
    """A derivation with times: leading and trailing NOTs wait for what comes before and after."""

    slots: tuple[Slot, ...] = ()
    holes: tuple[Hole, ...] = ()
    scopes: tuple[tuple[Scope, tuple[Slot, ...]], ...] = ()
    leading: tuple[Negation, ...] = ()
    trailing: tuple[Negation, ...] = ()

    @property
    def first(self) -> int:
        return min(slot.time for slot in self.slots)

    @property
    def last(self) -> int:
        return max(slot.time for slot in self.slots)

    def closed(self) -> Sketch:
        if not self.slots:
            return replace(self, leading=(), trailing=())
        holes = (
            *(Hole(negation, None, self.first) for negation in self.leading),
            *(Hole(negation, self.last, None) for negation in self.trailing),
        )
        return replace(self, holes=self.holes + holes, leading=(), trailing=())


# ---- from a pattern to a sketch --------------------------------------------------------------------------------------


def sketch(node: Node, chance: Random, tight: bool) -> Sketch:
    """A derivation, drawn by chance; `tight` leaves no time free between its events."""
    return _sketch(node, chance, 0, tight).closed()


def _sketch(node: Node, chance: Random, begin: int, tight: bool) -> Sketch:
    match node:
        case Leaf(type_name, variable):
            return Sketch((Slot(type_name, variable, begin),))
        case Sequence(elements):
            return _one_after_the_other(elements, chance, begin, tight)
        case Repetition():
            times = _how_often(node, chance)
            return _one_after_the_other((node.body,) * times, chance, begin, tight)
        case Choice(options):
            return _sketch(chance.choice(options), chance, begin, tight)
        case Conjunction(operands):
            starts = [begin, *(begin + chance.choice((0, 0, 1, 2)) for _ in operands[1:])]
            chance.shuffle(starts)
            parts = [_sketch(o, chance, start, tight).closed() for o, start in zip(operands, starts, strict=True)]
            whole = Sketch()
            for part in parts:
                whole = Sketch(whole.slots + part.slots, whole.holes + part.holes, whole.scopes + part.scopes)
            window_wide = [o for o in operands if isinstance(o, Negation)]
            return replace(whole, holes=whole.holes + tuple(Hole(n, None, None) for n in window_wide))
        case Close(body):
            return _sketch(body, chance, begin, tight=True)
        case Negation():
            return Sketch(leading=(node,))
        case Scope(body):
            inner = _sketch(body, chance, begin, tight)
            context = (node, inner.slots)
            holes = tuple(replace(hole, scopes=(context, *hole.scopes)) for hole in inner.holes)
            return replace(inner, holes=holes, scopes=(*inner.scopes, context))
    raise AssertionError(node)


def _how_often(node: Repetition, chance: Random) -> int:
    wanted = node.least + chance.choice((0, 0, 1, 1, 2) if node.least else (0, 1, 1, 2))
    return min(wanted, 3 if node.most is None else node.most) if wanted > node.least else node.least


def _one_after_the_other(elements: Iterable[Node], chance: Random, begin: int, tight: bool) -> Sketch:
    whole = Sketch()
    for element in elements:
        part = _sketch(element, chance, begin, tight)
        if not part.slots:
            waiting = part.leading + part.trailing
            whole = (
                replace(whole, trailing=whole.trailing + waiting)
                if whole.slots
                else replace(whole, leading=whole.leading + waiting)
            )
            continue
        if not whole.slots:
            whole = replace(part, leading=whole.leading + part.leading)
        else:
            between = whole.trailing + part.leading
            step = 1 if tight else chance.choice((2, 2, 3) if between else (1, 1, 2))
            part = _later(part, whole.last + step - part.first)
            holes = tuple(Hole(negation, whole.last, part.first) for negation in between)
            whole = Sketch(
                whole.slots + part.slots,
                whole.holes + part.holes + holes,
                whole.scopes + part.scopes,
                whole.leading,
                part.trailing,
            )
        begin = whole.last + 1
    return whole


def _later(part: Sketch, by: int) -> Sketch:
    moved = {slot: replace(slot, time=slot.time + by) for slot in part.slots}

    def time(at: int | None) -> int | None:
        return None if at is None else at + by

    def scopes(of: tuple[tuple[Scope, tuple[Slot, ...]], ...]) -> tuple[tuple[Scope, tuple[Slot, ...]], ...]:
        return tuple((scope, tuple(moved[slot] for slot in slots)) for scope, slots in of)

    return replace(
        part,
        slots=tuple(moved[slot] for slot in part.slots),
        holes=tuple(Hole(h.negation, time(h.after), time(h.before), scopes(h.scopes)) for h in part.holes),
        scopes=scopes(part.scopes),
    )


# ---- values ----------------------------------------------------------------------------------------------------------

FLOATS: Final = (0.0, -0.0, 0.5, 1.0, 1.5, 2.0, 2.5, -3.25, math.nan, math.inf, None)
DECIMALS: Final = (Decimal("1.50"), Decimal("-0.25"), Decimal("9999999.99"), None)
DAYS: Final = (date(2024, 2, 29), date(1969, 12, 31), None)
PAST_FLOATS: Final = 2**53 + 1
"""No DOUBLE is this number."""


def free(chance: Random, extreme: bool = False) -> Row:
    """Values of any size; `extreme`: also one that sums and differences of it may not fit."""
    return {
        "seq": chance.choice((1, 1, 2, None)),
        "k": chance.choice((1, 1, 1, 1, 1, 1, 1, 2, None)),
        "g": chance.choice(("p", "p", "p", "p", "p", "p", "q", None)),
        "x": chance.choice((0, 1, 1, 2, 2, 3, -2, None, *((2_000_000_000,) if extreme else ()))),
        "y": chance.choice(FLOATS),
        "z": chance.choice(DECIMALS),
        "n": chance.choice((0, 1, 5_000_000_000, -7, PAST_FLOATS, None)),
        "d": chance.choice(DAYS),
        "o": chance.choice((True, True, False, None)),
    }


def _plain(chance: Random, place: int, slope: int) -> Row:
    """Values without surprises, that rise, fall or stay from event to event."""
    x = max(0, 2 + slope * (place + 1)) if slope >= 0 else max(0, 5 - place)
    return {
        "seq": 1,
        "k": 1,
        "g": "p",
        "x": x if slope else chance.choice((0, 2, 3)),
        "y": 0.25 * x if slope else chance.choice((0.5, 1.5)),
        "z": Decimal("1.50") if chance.random() < 0.7 else Decimal("-0.25"),
        "n": place + chance.choice((0, 0, PAST_FLOATS)),
        "d": DAYS[0],
        "o": True,
    }


class Aim:
    """A query, for words that it accepts or misses by one event. `extreme` values do not fit a sum of two."""

    def __init__(self, program: ast.Program, query: ast.Query, chance: Random, extreme: bool) -> None:
        self._finder = Finder(program, query, read(program, []))
        self._events = self._finder.events
        self._chance, self._extreme = chance, extreme
        self.within = None if self._finder.length is None else self._finder.length // SECOND
        slide = None if self._finder.of_matches else self._finder.slide
        self._slide, self._offset = None if slide is None else slide // SECOND, self._finder.offset // SECOND
        self._scopes: dict[Scope, list[Condition]] = {}

    # ---- words that the query accepts ------------------------------------------------------------------------------

    def accepted(self) -> tuple[Sketch, list[Row]]:
        """A derivation, and an event for each of its slots."""
        drawn = [sketch(self._finder.pattern, self._chance, tight) for tight in (False, False, True, True)]
        drawn = [one for one in drawn if one.slots] or [Sketch((Slot("A", "A", 0),))]
        fitting = [one for one in drawn if len(one.slots) < MOST_EVENTS and self._fits(one)]
        chosen = self._chance.choice(fitting) if fitting else min(drawn, key=lambda one: (one.last, len(one.slots)))
        begin = self._begin(chosen)
        chosen = _later(chosen, begin)
        return chosen, self._filled(chosen)

    def _fits(self, one: Sketch) -> bool:
        return self.within is None or one.last - one.first < self.within

    def _begin(self, one: Sketch) -> int:
        """A second to begin at so that, if it can be, some window holds the whole."""
        for _ in range(12):
            begin = self._chance.randrange(-9, 9)
            if self.within is None or self._slide is None:
                return begin
            latest = (begin + one.first - self._offset) // self._slide * self._slide + self._offset  # window to hold it
            if begin + one.last < latest + self.within:
                return begin
        return self._chance.randrange(-9, 9)

    def _filled(self, one: Sketch) -> list[Row]:
        """Events whose values satisfy the query's conditions, if a few tries find such."""
        rows: list[Row] = []
        for attempt in range(24):
            slope = (0, 1, -1, None)[attempt % 4]
            rows = [self._event(slot, place, slope) for place, slot in enumerate(one.slots)]
            if self._satisfied(one, rows):
                break
        return rows

    def _event(self, slot: Slot, place: int, slope: int | None) -> Row:
        name = slot.type or self._chance.choice(KINDS)
        kind, more = BASES.get(name, (name, {}))
        values = free(self._chance, self._extreme) if slope is None else _plain(self._chance, place, slope)
        return {"at": slot.time, "kind": kind, **values, **({"k": 1, "g": "p"} if slope is None else {}), **more}

    def _satisfied(self, one: Sketch, rows: list[Row]) -> bool:
        """Whether all conditions hold for the events of the slots, those on what is negated left out."""
        bound = self._bound(one.slots, rows)
        around = [
            (self._finder.conditions, one.slots),
            *((self._conditions(scope), slots) for scope, slots in one.scopes),
        ]
        return all(_holds(c, _by_variable(slots, bound)) for conditions, slots in around for c in conditions)

    def _bound(self, slots: tuple[Slot, ...], rows: list[Row]) -> dict[Slot, int]:
        """The numbers of the events, in the order of time, by which the oracle's conditions look them up."""
        order = sorted(range(len(rows)), key=lambda place: rows[place]["at"])
        ordered = [rows[place] for place in order]
        self._events.rows[:] = [{**row, AMONG: (ordered, place)} for place, row in enumerate(ordered)]
        self._events.rank[:] = [rows[place]["at"] for place in order]
        return {slots[place]: number for number, place in enumerate(order)}

    def _conditions(self, scope: Scope) -> list[Condition]:
        if scope not in self._scopes:
            known = variables(scope.body)
            parts = [part for part in conjuncts(scope.where) if not isinstance(part, ast.Equivalence)]
            self._scopes[scope] = [Condition(part, known, scope.prefix, self._events) for part in parts]
        return self._scopes[scope]

    # ---- words that differ in one thing -----------------------------------------------------------------------------

    def changed(self, one: Sketch, rows: list[Row]) -> Iterator[tuple[str, list[Row]]]:
        """How each is made, and its events."""
        chance = self._chance
        place = chance.randrange(len(rows))

        def with_event(**values: object) -> list[Row]:
            return [*rows[:place], rows[place] | values, *rows[place + 1 :]]

        first, last = one.first, one.last
        other = self._stray(chance.randrange(first - 1, last + 2))
        yield "noise", [*rows, other]
        if last - first > 1:
            yield "between", [*rows, self._stray(chance.randrange(first + 1, last)), *self._some_strays(first, last)]
        if len(rows) > 1:
            yield "short", [*rows[:place], *rows[place + 1 :]]
            yield "tied", with_event(at=chance.choice(rows)["at"])
            yield "apart", with_event(**chance.choice(({"k": 2}, {"g": "q"}, {"k": None}, {"g": None})))
        far = [] if self.within is None else [self.within, self.within - (last - first)]
        yield "moved", with_event(at=rows[place]["at"] + chance.choice((-2, -1, 1, 2, *far)))
        yield "doubled", [*rows, dict(rows[place])]
        failing = self._failing(one, rows)
        if failing is not None:
            yield "failing", failing
        for hole in one.holes:
            for _ in range(3):
                yield "forbidden", [*rows, *self._forbidden(one, rows, hole)]

    def _stray(self, at: int) -> Row:
        kind = self._chance.choice((*KINDS, *KINDS, "E", None))
        return {"at": at, "kind": kind, **free(self._chance, self._extreme)}

    def _some_strays(self, first: int, last: int) -> list[Row]:
        return [self._stray(self._chance.randrange(first - 2, last + 3)) for _ in range(self._chance.choice((0, 0, 1)))]

    def _failing(self, one: Sketch, rows: list[Row]) -> list[Row] | None:
        """Other values in one event, with which some condition does not hold."""
        for _ in range(12):
            place = self._chance.randrange(len(rows))
            values = free(self._chance) | {"k": rows[place]["k"], "g": rows[place]["g"]}
            found = [*rows[:place], rows[place] | values, *rows[place + 1 :]]
            if not self._satisfied(one, found):
                return found
        return None

    def _forbidden(self, one: Sketch, rows: list[Row], hole: Hole) -> list[Row]:
        """A match of what is negated beside, on or inside the gap's edges; its conditions hold if a few tries find such
        values.
        """
        negated = sketch(hole.negation.body, self._chance, tight=True)
        negated = _later(negated, self._chance.choice(self._places(one, hole, negated.last)))
        found: list[Row] = []
        for attempt in range(8):
            slope = (0, 1, -1, None)[attempt % 4]
            found = [self._event(slot, place, slope) for place, slot in enumerate(negated.slots)]
            if self._forbids(one, rows, hole, negated, found):
                break
        return found

    def _places(self, one: Sketch, hole: Hole, length: int) -> list[int]:
        """Where a negated match of this length may begin: mostly inside the gap, but also on its edges and outside."""
        after = one.first - 3 if hole.after is None else hole.after
        before = one.last + 4 if hole.before is None else hole.before
        inside = list(range(after + 1, before - length))
        edges = [after, before - length, before, after - 1]
        within = hole.negation.within
        if within is not None:
            edges += [after + within // SECOND - length, after + within // SECOND - length - 1]
        return [*inside, *inside, *edges]

    def _forbids(self, one: Sketch, rows: list[Row], hole: Hole, negated: Sketch, found: list[Row]) -> bool:
        bound = self._bound((*one.slots, *negated.slots), rows + found)
        names = {slot.variable for slot in negated.slots}
        mine = _by_variable(negated.slots, bound)
        around = [
            (self._finder.conditions, one.slots),
            *((self._conditions(scope), slots) for scope, slots in hole.scopes),
        ]
        return all(
            _holds(condition, merged(_by_variable(slots, bound), mine))
            for conditions, slots in around
            for condition in conditions
            if condition.mentions & names
        )

    # ---- words of both kinds ---------------------------------------------------------------------------------------

    def twice(self) -> list[Row] | None:
        """Two accepted words that meet, overlap or interleave."""
        (one, rows), (other, more) = self.accepted(), self.accepted()
        if len(rows) + len(more) > MOST_EVENTS:
            return None
        by = one.first + self._chance.randrange(one.last - one.first + 3) - other.first
        return [*rows, *({**row, "at": row["at"] + by} for row in more)]

    def scattered(self) -> list[Row]:
        """Events of any kind, in no order."""
        times = [self._chance.choice((None, -3, -1, *range(6), *range(6))) for _ in range(self._chance.randrange(1, 8))]
        return [self._stray(0) | {"at": at} for at in times]


def _holds(condition: Condition, bound: Bindings) -> bool:
    """A condition that fails, by a division for one, does not hold."""
    try:
        return condition.holds(bound)
    except EvaluationError:
        return False


def _by_variable(slots: Iterable[Slot], bound: dict[Slot, int]) -> Bindings:
    found: dict[str, list[int]] = {}
    for slot in slots:
        found.setdefault(slot.variable, []).append(bound[slot])
    return {variable: tuple(sorted(events)) for variable, events in found.items()}


# ---- the stream of a program -----------------------------------------------------------------------------------------


def stream(text: str, chance: Random, most: int) -> tuple[tuple[Row, ...], tuple[Word, ...]]:
    """The events of about as many words for the queries of a program, and how each word is made; `word` in an event is
    its number.
    """
    program = written_out(parse(Source("words.cep", text)).program)
    queries = [statement for statement in program.statements if isinstance(statement, ast.Query)]
    extreme = chance.random() < 0.1
    rows: list[Row] = []
    words: list[Word] = []

    def add(made: str, events: list[Row], base: int | None = None) -> int:
        words.append(Word(made, base))
        rows.extend({**event, "word": len(words) - 1} for event in events)
        return len(words) - 1

    aims = [Aim(program, query, chance, extreme) for query in queries]
    while len(words) < most:
        for aim in aims:
            one, events = aim.accepted()
            base = add("accepted", events)
            for made, others in aim.changed(one, events):
                add(made, others, base)
            both = aim.twice()
            if both is not None:
                add("twice", both)
            add("scattered", aim.scattered())
    if chance.random() < 0.15:
        apart = chance.choice(APART)
        rows = [row if row["at"] is None else row | {"at": row["at"] + row["word"] * apart} for row in rows]
    chance.shuffle(rows)
    timestamps = "at TIMESTAMP" in text
    return tuple(timed(row) for row in rows) if timestamps else tuple(rows), tuple(words)


APART: Final = (1000, 10**6, 2**30)
"""Seconds from word to word, where not all are of the same time: 2**31 microseconds are 36 minutes."""


def timed(row: Row) -> Row:
    return row if row["at"] is None else row | {"at": EPOCH + timedelta(seconds=row["at"])}
