"""Enumerated queries written by hand as plan data, and their matches as text: for the tests of the enumerator."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from cepc_runtime.enumerate.arranged import arrange_for
from cepc_runtime.enumerate.search import BLOCK
from cepc_runtime.events.grouped import read
from cepc_runtime.events.letters import classify
from cepc_runtime.plan.physical import PhysicalPlan
from cepc_runtime.plan.positions import Acceptance, ConditionPlan, Edge, Guard, Negation, Positions
from cepc_runtime.plan.query import Measure, OutputPlan
from cepc_runtime.plan.select import SelectAny
from cepc_runtime.plan.strategy import List, QueryBy
from cepc_runtime.plan.stream import Letter, StreamPlan
from cepc_runtime.plan.windows import MatchBound, Sliding, Unbounded, Window
from cepc_runtime.sql.expression import Aggregate, Call, Expression, Field, Literal, variables
from cepc_runtime.sql.types import BIGINT, BOOLEAN, DOUBLE, INT, STRING
from tests.driven import driven
from tests.streams import events

TYPES = "ABCDE"
COLUMNS = (
    ("at", BIGINT), ("kind", STRING), ("g", INT), ("x", INT), ("y", DOUBLE), ("name", STRING), ("seq", INT),
)  # fmt: skip
STREAM = StreamPlan("s", COLUMNS, tuple(n for n, _ in COLUMNS), "at", "s", (), "kind", None, None)
LETTERS = tuple(Letter(kind) for kind in TYPES)
SCHEMA = pa.schema(
    [("at", pa.int64()), ("kind", pa.string()), ("g", pa.int32()), ("x", pa.int32()), ("y", pa.float64()),
     ("name", pa.string()), ("seq", pa.int32())]
)  # fmt: skip


def edges(text: str, **more: Any) -> tuple[Edge, ...]:
    """`0 A 1, 1 ~B:b 2`: from state 0 to 1 by an A; from 1 to 2 by a B bound to `b`, of the same instant.

    `!n` after the letter is a guard of negation n, `!n/t` one on track t. An edge's rank is its place among those of
    its state, unless `more` says otherwise for all.
    """
    found: list[Edge] = []
    for part in filter(None, (p.strip() for p in text.split(","))):
        source, tie, kind, variable, guards, target = _EDGE.fullmatch(part).groups()  # type: ignore[union-attr]
        rank = sum(e.source == int(source) for e in found)
        edge = Edge(
            int(source), int(target), TYPES.index(kind), variable or kind, bool(tie), _guards(guards), rank=rank
        )
        found.append(replace(edge, **more))
    return tuple(found)


_EDGE = re.compile(r"(\d+) (~?)([A-E])(?::([\w.]+))?((?:!\d+(?:/\d+)?)*) (\d+)")


def _guards(text: str) -> tuple[Guard, ...]:
    return tuple(Guard(int(n), int(t or 0)) for n, t in re.findall(r"!(\d+)(?:/(\d+))?", text))


def pattern(text: str, accepting: str, *negations: Negation, ambiguous: bool = False, tracks: int = 1) -> Positions:
    """Positions of these edges; `accepting` is like `2, 3!0`: states and the guards under which a match ends in
    them.
    """
    ends = []
    for part in accepting.split(","):
        state, guards = re.fullmatch(r"\s*(\d+)((?:!\d+(?:/\d+)?)*)\s*", part).groups()  # type: ignore[union-attr]
        ends.append(Acceptance(int(state), _guards(guards), rank=99))
    return positions(edges(text), tuple(ends), negations, ambiguous, tracks)


def positions(
    found: tuple[Edge, ...],
    ends: tuple[Acceptance, ...],
    negations: tuple[Negation, ...] = (),
    ambiguous: bool = False,
    tracks: int = 1,
) -> Positions:
    states = 1 + max(max(e.source, e.target) for e in found)
    return Positions(states, found, ends, tracks, ambiguous, negations)


def no(text: str, accepting: str = "1", **more: Any) -> Negation:
    return Negation(pattern(text, accepting), **more)


# ---- conditions ------------------------------------------------------------------------------------------------------


def _field(text: str) -> Field:
    """`a.x`, `first a.x`, `prev a.x`."""
    at: Any
    at, variable, column = re.fullmatch(r"(?:(first|last|prev) )?(?:([\w]+)\.)?(\w+)", text).groups()  # type: ignore[union-attr]
    return Field(variable, column, at or "each", dict(COLUMNS)[column])


def _test(text: str) -> Expression:
    """`a.x < b.x`, `a.x > 3`."""
    left, operator, right = re.split(r" (<=>|<=|>=|<>|<|>|=) ", text)
    return Call(operator, (_value(left), _value(right)), BOOLEAN)


def _value(text: str) -> Expression:
    if re.fullmatch(r"-?\d+", text):
        return Literal(int(text), INT)
    left, _, right = text.partition(" / ")
    if right:
        return Call("/", tuple(Call("cast", (_value(t),), DOUBLE) for t in (left, right)), DOUBLE)
    return _field(text)


def condition(text: str, scope: int | None = None, negation: int | None = None) -> ConditionPlan:
    expression = _test(text)
    return ConditionPlan(expression, variables(expression), scope, negation, text)


# ---- queries ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Query:
    """A query over events written as `a1 b2(x=3)`; see `tests.streams.events`."""

    positions: Positions
    conditions: tuple[ConditionPlan, ...] = ()
    within: int | None = 100
    partition: tuple[str, ...] = ()
    more: dict[str, Any] = field(default_factory=dict)

    def plan(self) -> PhysicalPlan:
        names = tuple(dict.fromkeys(e.variable for e in self.positions.edges))
        query = QueryBy(
            name="q", kind="match", partition=self.partition, group_by=(), window=self._window(), variables=names, lists=(),
            positions=self.positions, conditions=self.conditions, strategy=List(), measures=(), outputs=(),
            having=None, returns_events=True, select=SelectAny(), after=None,
        )  # fmt: skip
        more = {name: value for name, value in self.more.items() if name != "slide"}
        return PhysicalPlan(STREAM, LETTERS, (replace(query, **more),))

    def _window(self) -> Window:
        if self.within is None:
            return Unbounded()
        if self.more.get("kind") != "aggregate":
            return MatchBound(self.within)
        return Sliding(self.within, self.more.get("slide", self.within))

    def table(self, stream: str, *, block: int = BLOCK, limit: int | None = None) -> Any:
        """The result table."""
        plan = self.plan()
        return driven(reading(stream), plan, block=block, most=limit)["q"]

    def found(self, stream: str, block: int = BLOCK) -> list[str]:
        """The matches in some order, each as `a1 b=b2`: names of events in order, with the variable where it is not the
        type.
        """
        plan = self.plan()
        source = reading(stream)
        arranged = arrange_for(source, classify(source, plan.letters), plan.stream, plan.queries)
        names = arranged.events.table.column("name").to_pylist()
        texts = []
        for matches in arranged.enumerator(plan.queries[0], block).matches():
            for which in range(len(matches)):
                bound = [matches.names[v] for v in matches.variables[:, which].tolist()]
                places = matches.positions[:, which].tolist()
                texts.append(" ".join(_shown(v, names[p]) for v, p in zip(bound, places, strict=True)))
        return sorted(texts)


def _shown(variable: str, name: str) -> str:
    return name if variable.lower() == name[0] else f"{variable}={name}"


def reading(stream: str) -> Any:
    return read(pa.Table.from_pylist(events(stream), schema=SCHEMA), STREAM)


def aggregate(*measures: Measure, **more: Any) -> dict[str, Any]:
    """What makes a query an aggregate query that returns its measures as m0, m1 … `slide` is that of its windows, or
    WITHIN.
    """
    types = {"count": BIGINT, "sum": BIGINT, "avg": DOUBLE}
    outputs = tuple(
        OutputPlan(f"m{i}", Aggregate(m.function, m.variable, m.argument, False, None, types.get(m.function.name, INT)))
        for i, m in enumerate(measures)
    )
    return {"kind": "aggregate", "measures": measures, "outputs": outputs, "returns_events": False, **more}
