"""The cost model `engine`: how long our own kernel works on a second of the stream, in nanoseconds.

A row operation costs `operation`, and `number` for each number it adds: window slots times planes, summed over the
queries that have the operation in common. Two operations are one where their sources and their targets are kept side by
side. On basis columns an operation adds a column for each row of the part instead, and at the end of a run the part's
rows are multiplied once by what has been gathered. The kernel decides for each run which of the two to do; so does the
model, for the run it expects.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.windows import Sliding, Window

from ..planning.logical import counted, leaders

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cepc_runtime.plan.sharing import SharedStates

    from ..planning.logical import CountableQuery, LogicalPlan
    from .rates import Rates

QueryState = tuple[str, int]
"""A query's name, and a state of its automaton."""


@dataclass(frozen=True, slots=True)
class EngineModel:
    """Nanoseconds: of a row operation, and of each number that it adds. `bench/calibrate.py` measures them."""

    operation: float = 15.0
    number: float = 0.2

    def row(self, numbers: float) -> float:
        return self.operation + self.number * numbers


class Load(NamedTuple):
    """What a plan makes the kernel do in a second of the stream."""

    operations: float
    numbers: float
    nanoseconds: float


def load(plan: LogicalPlan, rates: Rates, model: EngineModel, second: float) -> Load:
    """The work of all counted queries, with what they share."""
    total = Load(0.0, 0.0, 0.0)
    for operations, numbers, price in _work(plan, rates, model, second):
        total = Load(total.operations + operations, total.numbers + numbers, total.nanoseconds + price)
    return total


def width(query: CountableQuery) -> int:
    """The numbers in a row of the query: those of one plane for each window that can be open, times planes."""
    return query.window.open_at_once * planes(query)


def planes(query: CountableQuery) -> int:
    """About how many planes the kernel keeps: the count, and two for each measure with an argument."""
    return 1 + sum(2 if m.argument is not None else 1 for m in query.measures if m.variable is not None)


@dataclass(frozen=True, slots=True)
class RowOperation:
    """A step of a query's automaton, as one row operation on its columns."""

    query: str
    source: int
    target: int
    letter: int


def operations(plan: LogicalPlan) -> Iterator[RowOperation]:
    """The row operations of all counted queries; those of states that are kept once, once."""
    leader = leaders(plan)
    for query in counted(plan):
        for step in query.automaton.steps:
            if leader.get((query.name, step.target), query.name) == query.name:
                yield RowOperation(query.name, step.source, step.target, step.letter)


def border(part: SharedStates, found: Mapping[str, Sequence[RowOperation]]) -> frozenset[int]:
    """The letters of operations that end a run of the part: they change what enters it, or read it from outside.

    `found` are the operations by query.
    """
    inside = set(part.places)
    own = [o for member in part.members for o in found.get(member.query, ())]
    entries = {(o.query, o.source) for o in own if (o.query, o.target) in inside} - inside
    return frozenset(
        o.letter
        for o in own
        if (o.query, o.target) in entries or ((o.query, o.source) in inside and (o.query, o.target) not in inside)
    )


def _work(plan: LogicalPlan, rates: Rates, model: EngineModel, second: float) -> Iterator[tuple[float, float, float]]:
    by_name = {q.name: q for q in counted(plan)}
    asked = {step.letter for query in by_name.values() for step in query.automaton.steps}
    rate = {number: rates.rate(plan.letters[number]) for number in asked}
    place: dict[QueryState, tuple[int, int]] = {}
    for p, part in enumerate(plan.sharing):
        if not part.equal:
            for member in part.members:
                place |= {(member.query, state): (p, i) for i, state in enumerate(member.states)}
    wide: defaultdict[tuple[object, object, int], float] = defaultdict(float)
    found: defaultdict[str, list[RowOperation]] = defaultdict(list)
    for o in operations(plan):
        found[o.query].append(o)
        key = place.get((o.query, o.source), (o.query, o.source)), place.get((o.query, o.target), (o.query, o.target))
        wide[(*key, o.letter)] += width(by_name[o.query])
    inner: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)  # by part: letter and width
    for (_, target, letter), numbers in wide.items():
        basis = isinstance(target[0], int) and plan.sharing[target[0]].basis  # type: ignore[index]
        if basis:
            inner[target[0]].append((letter, numbers))  # type: ignore[index]
        else:
            yield rate[letter], rate[letter] * numbers, rate[letter] * model.row(numbers)
    for p, of_part in inner.items():
        part = plan.sharing[p]
        members = [by_name[member.query] for member in part.members]
        groups = rates.groups(members[0].partition)
        ends = sum(rate[letter] for letter in border(part, found)) / groups
        ends += sum(edge_rate(window, second) for window in dict.fromkeys(q.window for q in members))
        events = sum(rate[letter] for letter in {letter for letter, _ in of_part}) / groups
        steps = [(rate[letter], numbers) for letter, numbers in of_part]
        yield _on_basis(steps, members, len(part.members[0].states) + 1, min(ends, events) * groups, model)


def _on_basis(
    steps: Sequence[tuple[float, float]], members: Sequence[CountableQuery], rows: int, runs: float, model: EngineModel
) -> tuple[float, float, float]:
    """A part's own steps (rate and numbers) in so many runs a second, by the cheaper way."""
    total, depth = sum(width(q) for q in members), max(planes(q) for q in members)
    happen, numbers = sum(rate for rate, _ in steps), sum(rate * numbers for rate, numbers in steps)
    split = sum(rate * model.row(numbers) for rate, numbers in steps)
    applied = runs * rows * rows
    shared = happen * model.row(rows * depth) + applied * model.row(total)
    if shared < split:
        return happen + applied, happen * rows * depth + applied * total, shared
    return happen, numbers, split


def edge_rate(window: Window, second: float) -> float:
    """How often in a second a window opens or closes."""
    return window.edges * second / window.slide if isinstance(window, Sliding) else 0.0
