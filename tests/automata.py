"""Plans written by hand, and what they mean by brute force: for the tests of the kernel and of aggregate results.

Events are tuples (time, type, group, x); a letter is a type.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cepc_runtime.expression import Aggregate, Expression, Field
from cepc_runtime.plan import Automaton, Letter, Measure, OutputPlan, Positions, QueryPlan, Step, StreamPlan
from cepc_runtime.types import BIGINT, STRING, DataType, to_arrow

if TYPE_CHECKING:
    from collections.abc import Sequence

Event = tuple[int, str, Any, Any]

TYPES = ("A", "B", "C", "D")


def stream(x: DataType = BIGINT, order_by: tuple[str, ...] = ()) -> StreamPlan:
    columns = (("t", BIGINT), ("type", STRING), ("g", STRING), ("x", x))
    return StreamPlan("s", columns, ("t", "type", "g", "x"), "t", "s", order_by, "type", None, TYPES)


def table(events: Sequence[Event], x: DataType = BIGINT) -> Any:
    columns = [list(c) for c in zip(*events, strict=True)] or [[], [], [], []]
    types = (pa.int64(), pa.string(), pa.string(), to_arrow(x))
    return pa.table([pa.array(c, t) for c, t in zip(columns, types, strict=True)], ["t", "type", "g", "x"])


LETTERS = tuple(Letter(name) for name in TYPES)


def steps(text: str) -> tuple[Step, ...]:
    """`0 A 1, 1 B:v 2` as steps: from 0 to 1 on an A, from 1 to 2 on a B bound to variable v (else named like the type)."""
    found = []
    for part in filter(None, (p.strip() for p in text.split(","))):
        source, letter, target = part.split()
        type_, _, variable = letter.partition(":")
        found.append((int(source), int(target), TYPES.index(type_), variable or type_))
    return tuple(Step(s, t, letter, VARIABLES.index(v)) for s, t, letter, v in found)


VARIABLES = ("A", "B", "C", "D", "x", "y")


def automaton(text: str, accepting: Sequence[int], ties: str = "", **more: Any) -> Automaton:
    found = (*steps(text), *steps(ties))
    states = 1 + max(max(s.source, s.target) for s in found)
    for move in (*more.get("moves", ()), *more.get("new_moves", ())):
        states = max(states, move.source + 1, move.target + 1)
    return Automaton(states, VARIABLES, steps(text), tuple(accepting), ties=steps(ties), **more)


def x_of(variable: str, type_: DataType = BIGINT) -> Field:
    return Field(variable, "x", "each", type_)


def query(
    automaton: Automaton, within: int | None = 100, slide: int | None = None, *, name: str = "q",
    measures: Sequence[Measure] = (), group_by: tuple[str, ...] = ("g",), partition: tuple[str, ...] = ("g",),
    outputs: Sequence[OutputPlan] = (), having: Expression | None = None,
) -> QueryPlan:  # fmt: skip
    slide = slide or within
    return QueryPlan(
        name, "aggregate", partition, group_by, within, slide, VARIABLES, (), Positions(1, (), ()), None, (), automaton, (),
        (Measure("count", None, None), *measures), tuple(outputs), having, False, "ANY", None,
    )  # fmt: skip


def with_name(plan: QueryPlan, name: str) -> QueryPlan:
    return replace(plan, name=name)


# ---- by brute force --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Word:
    """A partial match: the state, and the events read with their variables."""

    state: int
    read: tuple[tuple[int, str], ...] = field(default=())


def words(automaton: Automaton, events: Sequence[Event]) -> list[Word]:
    """The accepted words over events of one group and window, in order of time."""
    old = [Word(0)]
    numbered = list(enumerate(events))
    for _, instant in groupby(numbered, key=lambda e: e[1][0]):
        tied = list(instant)
        letters = {TYPES.index(e[1]) for _, e in tied}
        new: list[Word] = []
        for i, event in tied:
            letter = TYPES.index(event[1])
            new += [
                Word(s.target, (*w.read, (i, automaton.variables[s.variable])))
                for found, way in ((old, automaton.steps), (list(new), automaton.ties))
                for w in found
                for s in way
                if s.source == w.state and s.letter == letter
            ]
        if letters & set(automaton.kills):
            return []
        for negation in sorted({m.negation for m in (*automaton.moves, *automaton.new_moves)}):
            seen = letters & automaton.negation_letters[negation]
            old = _moved(old, [m for m in automaton.moves if m.negation == negation and set(m.letters) == seen])
            new = _moved(new, [m for m in automaton.new_moves if m.negation == negation and set(m.letters) == seen])
        old += new
    return [w for w in old if w.state in automaton.accepting]


def _moved(found: list[Word], moves: Sequence[Any]) -> list[Word]:
    there = {m.source: m.target for m in moves}
    placed = [Word(there.get(w.state, w.state), w.read) for w in found]
    return [w for w in placed if w.state >= 0]


def windows(plan: QueryPlan, events: Sequence[Event]) -> dict[int, list[Event]]:
    """The events of each window that has one."""
    if plan.within is None:
        return {0: list(events)}
    assert plan.slide is not None
    found: dict[int, list[Event]] = {}
    for event in events:
        for k in range((event[0] - plan.within) // plan.slide + 1, event[0] // plan.slide + 1):
            found.setdefault(k, []).append(event)
    return found


def brute_force(plan: QueryPlan, events: Sequence[Event]) -> dict[tuple[Any, int], list[list[tuple[Event, str]]]]:
    """All matches by group and window: each a list of events with their variables."""
    assert plan.automaton is not None
    found = {}
    for group in dict.fromkeys(e[2] for e in events):
        of_group = sorted((e for e in events if e[2] == group), key=canonical)
        for window, there in windows(plan, of_group).items():
            if accepted := words(plan.automaton, there):
                found[group, window] = [[(there[i], v) for i, v in w.read] for w in accepted]
    return found


def canonical(event: Event) -> tuple[Any, ...]:
    return event[0], event[1], event[3] is not None, event[3] if event[3] is not None else 0


def count(variable: str | None = None, argument: Expression | None = None, **more: Any) -> Aggregate:
    return Aggregate(
        "count", variable, argument, more.get("safe", False), more.get("target"), more.get("target") or BIGINT
    )
