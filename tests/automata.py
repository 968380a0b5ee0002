"""Plans written by hand, and what they mean by brute force: for the tests of the kernel and of aggregate results.

Events are tuples (time, type, group, x); a letter is a type.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from hypothesis import strategies as st

from cepc_runtime.kernel.planes import is_exact
from cepc_runtime.plan.automaton import Automaton, Step
from cepc_runtime.plan.physical import PhysicalPlan
from cepc_runtime.plan.positions import Positions
from cepc_runtime.plan.query import Measure, OutputPlan
from cepc_runtime.plan.select import SelectAny
from cepc_runtime.plan.strategy import Count, CountedQuery, CountNeighbours, QueryBy
from cepc_runtime.plan.stream import Letter, StreamPlan
from cepc_runtime.plan.windows import Sliding, Unbounded
from cepc_runtime.sql.aggregate_functions import aggregate_named
from cepc_runtime.sql.expression import Aggregate, Expression, Field
from cepc_runtime.sql.expression import aggregates as aggregates_of
from cepc_runtime.sql.types import BIGINT, DOUBLE, STRING, DataType, to_arrow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Event = tuple[int, str, Any, Any]
Match = list[tuple[Event, str]]

TYPES = ("A", "B", "C", "D")
LETTERS = tuple(Letter(name) for name in TYPES)
VARIABLES = (*TYPES, "x", "y")


def stream(x: DataType = BIGINT, *, order_by: tuple[str, ...] = (), time: DataType = BIGINT) -> StreamPlan:
    columns = (("t", time), ("type", STRING), ("g", STRING), ("x", x))
    return StreamPlan("s", columns, ("t", "type", "g", "x"), "t", "s", order_by, "type", None, TYPES)


def table(events: Sequence[Event], x: DataType = BIGINT) -> Any:
    columns = [list(c) for c in zip(*events, strict=True)] or [[], [], [], []]
    types = (pa.int64(), pa.string(), pa.string(), to_arrow(x))
    return pa.table([pa.array(c, t) for c, t in zip(columns, types, strict=True)], ["t", "type", "g", "x"])


def steps(text: str) -> tuple[Step, ...]:
    """`0 A 1, 1 B:v 2` as steps: from 0 to 1 on an A, from 1 to 2 on a B bound to variable v (else named like the
    type).
    """
    found = []
    for part in filter(None, (p.strip() for p in text.split(","))):
        source, letter, target = part.split()
        type_, _, variable = letter.partition(":")
        found.append(Step(int(source), int(target), TYPES.index(type_), VARIABLES.index(variable or type_)))
    return tuple(found)


def automaton(text: str, accepting: Sequence[int], ties: str = "", **more: Any) -> Automaton:
    found = (*steps(text), *steps(ties), *more.get("moves", ()), *more.get("new_moves", ()))
    states = 1 + max(max(s.source, s.target) for s in found)
    return Automaton(states, VARIABLES, steps(text), tuple(accepting), ties=steps(ties), **more)


def query(
    automaton: Automaton, within: int | None = 100, slide: int | None = None, *, name: str = "q",
    returns: Sequence[Aggregate] = (), group_by: tuple[str, ...] = ("g",), having: Expression | None = None, **more: Any,
) -> CountedQuery:  # fmt: skip
    """A query with partition [g] that returns the grouping attributes and the aggregates, named by `name_of`."""
    aggregates = tuple(dict.fromkeys((COUNT, *returns) if more.get("count", True) else returns))
    keys = [OutputPlan(g, Field(None, g, "each", STRING)) for g in group_by]
    measures: dict[tuple[Any, str | None, Expression | None], bool] = {}
    for a in (*aggregates, *(aggregates_of(having) if having is not None else ())):
        key = a.function, a.variable, a.argument
        measures[key] = measures.get(key, False) or a.target != DOUBLE
    adjacent = more.get("adjacent", ())
    strategy = CountNeighbours(automaton, adjacent) if adjacent else Count(automaton)
    window = Unbounded() if within is None else Sliding(within, slide or within)
    return QueryBy(
        name, "aggregate", ("g",), group_by, window, VARIABLES, (), Positions(1, (), ()), (),
        tuple(Measure(f, v, x, exact) for (f, v, x), exact in measures.items()),
        (*keys, *(OutputPlan(name_of(a), a) for a in aggregates)), having, False, SelectAny(), None, strategy,
    )  # fmt: skip


def plan(*queries: CountedQuery, **more: Any) -> PhysicalPlan:
    return PhysicalPlan(stream(**more), LETTERS, queries)


def aggregate(function: str, variable: str | None = None, of: DataType | None = None, **more: Any) -> Aggregate:
    """An aggregate over x, of that type; without one, of the events."""
    argument = None if of is None else Field(variable, "x", "each", of)
    natural = BIGINT if function == "count" else (of or BIGINT)
    if function in ("sum", "avg"):
        natural = BIGINT if function == "sum" and of is not None and is_exact(of) else DOUBLE
    type_ = more.get("type") or more.get("target") or natural
    return Aggregate(aggregate_named(function), variable, argument, more.get("safe", False), more.get("target"), type_)


COUNT = aggregate("count")


def name_of(aggregate: Aggregate) -> str:
    target = "" if aggregate.target is None else f" as {aggregate.target.sql}"
    function = "try_" * aggregate.safe + aggregate.function.name
    return f"{function}({aggregate.variable}, {aggregate.argument is not None}){target}"


# ---- by brute force --------------------------------------------------------------------------------------------------

Condition = "Callable[[Any, Any], bool]"


@dataclass(frozen=True)
class Word:
    """A partial match: the state, and the events read with their variables."""

    state: int
    read: tuple[tuple[int, str], ...] = ()


def words(
    automaton: Automaton, events: Sequence[Event], conditions: Mapping[int, Callable[[Any, Any], bool]] | None = None
) -> list[Word]:
    """The accepted words over events of one group and window, in order. `conditions` of steps are over later.x and
    earlier.x.
    """
    old = [Word(0)]
    for _, instant in groupby(enumerate(events), key=lambda e: e[1][0]):
        tied = list(instant)
        letters = {TYPES.index(e[1]) for _, e in tied}
        new: list[Word] = []
        for i, event in tied:
            letter = TYPES.index(event[1])
            added = []
            for found, way, checks in ((old, automaton.steps, conditions or {}), (new, automaton.ties, {})):
                for word in found:
                    for number, step in enumerate(way):
                        if step.source == word.state and step.letter == letter:
                            check = checks.get(number)
                            earlier = events[word.read[-1][0]][3] if word.read else None
                            if check is None or (None not in (event[3], earlier) and check(event[3], earlier)):
                                added.append(Word(step.target, (*word.read, (i, automaton.variables[step.variable]))))
            new += added
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


def windows(plan: CountedQuery, events: Sequence[Event]) -> dict[int, list[Event]]:
    """The events of each window that has one."""
    if not isinstance(plan.window, Sliding):
        return {0: list(events)}
    span, slide = plan.window.span, plan.window.slide
    found: dict[int, list[Event]] = {}
    for event in events:
        for k in range((event[0] - span) // slide + 1, event[0] // slide + 1):
            found.setdefault(k, []).append(event)
    return found


def brute_force(
    plan: CountedQuery, events: Sequence[Event], conditions: Mapping[int, Callable[[Any, Any], bool]] | None = None
) -> dict[tuple[Any, int], list[Match]]:
    """All matches by GROUP BY value (None without) and window."""
    assert plan.automaton is not None
    found: dict[tuple[Any, int], list[Match]] = {}
    for group in dict.fromkeys(e[2] for e in events):
        of_group = sorted((e for e in events if e[2] == group), key=_canonical)
        for window, there in windows(plan, of_group).items():
            for word in words(plan.automaton, there, conditions):
                key = group if plan.group_by else None, window
                found.setdefault(key, []).append([(there[i], v) for i, v in word.read])
    return found


def _canonical(event: Event) -> tuple[Any, ...]:
    return event[0], event[1], event[3] is not None, event[3] if event[3] is not None else 0


def value_of(aggregate: Aggregate, matches: Sequence[Match]) -> Any:
    """An aggregate over integers, by its definition."""
    if aggregate.variable is None:
        return len(matches)
    bound = [event[3] for match in matches for event, variable in match if variable == aggregate.variable]
    there = [x for x in bound if x is not None]
    match aggregate.function.name:
        case "count":
            return len(bound if aggregate.argument is None else there)
        case "sum":
            return sum(there) if there else None
        case "avg":
            return sum(there) / len(there) if there else None
        case "min":
            return min(there, default=None)
    return max(there, default=None)


def expected_rows(plan: CountedQuery, matches: Mapping[tuple[Any, int], Sequence[Match]]) -> list[dict[str, Any]]:
    rows = []
    for (group, window), found in matches.items():
        row: dict[str, Any] = {"g": group} if plan.group_by else {}
        for output in plan.outputs:
            if isinstance(output.expression, Aggregate):
                row[output.name] = value_of(output.expression, found)
        start = window * plan.window.slide if isinstance(plan.window, Sliding) else None
        row["window_start"] = start
        row["window_end"] = None if start is None or plan.window.span is None else start + plan.window.span
        rows.append(row)
    return rows


def sorted_rows(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: (str(row.get("g")), row["window_start"] or 0))


# ---- at random -------------------------------------------------------------------------------------------------------

ODD = [None, 2**53 + 1, -(2**53) - 3, -3]

WINDOWS = st.sampled_from([(3, 3), (6, 2), (5, 2), (2, 5), (None, None), (7, 3), (100, 100)])


@st.composite
def events(draw: st.DrawFn, most: int = 7) -> list[Event]:
    """A few events with ties, negative times, two groups, nulls and values that a float64 does not hold."""
    span = draw(st.sampled_from([3, 8, 30]))
    values = st.one_of(st.integers(0, 3), st.sampled_from(ODD))
    event = st.tuples(st.integers(-span, span), st.sampled_from(TYPES), st.sampled_from("gh"), values)
    return draw(st.lists(event, max_size=most))
