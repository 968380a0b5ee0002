"""gloria, the pass: transitions that queries share, also within Kleene, are propagated on basis columns where that
pays.

    q: SEQ(A, SEQ(B, C)+, D)     r: SEQ(E, SEQ(B, C)+)
    →      B and C of both on one basis, between events A, D and E

That states lie side by side is what `columns` does for all queries; here it is decided which of them get a basis.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.sharing import Member, SharedStates
from cepc_runtime.plan.stream import Letter

from ...planning.logical import counted, leaders
from ..engine import edge_rate, planes, width
from ..pattern import events, relettered
from ..variable_states import state_of
from .alignment import Alignment, alignments
from .cost import EngineModel, Members
from .graph import GloriaBudget
from .places import write
from .plan import Optimizer, share
from .query import Query, WrittenPlace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...planning.logical import CountableQuery
    from ..pattern import PlannedPattern
    from ..workload import Context, Workload
    from .places import WrittenPlaces
    from .plan import GloriaPlan
    from .query import Type


NEARLY: Final = 0.95
"""Of the events of a type."""


def gloria(workload: Workload, context: Context) -> Workload:
    """Propose the parts of Gloria's plan for each set of queries with the same groups."""
    return _proposed(workload, context, "gloria", Optimizer.GLORIA)


def greedy(workload: Workload, context: Context) -> Workload:
    """Propose the parts of the greedy plan, Gloria's baseline, if that is wanted."""
    return _proposed(workload, context, "greedy", Optimizer.GREEDY) if context.forced == "greedy" else workload


def _proposed(workload: Workload, context: Context, name: str, optimizer: Optimizer) -> Workload:
    classes: defaultdict[tuple[str, ...], list[CountableQuery]] = defaultdict(list)
    for query in counted(workload.plan):
        classes[tuple(sorted(query.partition))].append(query)
    leader = leaders(workload.plan)
    rates = {i: context.rates.rate(letter) for i, letter in enumerate(workload.plan.letters)}
    alike = _nearly_alike(workload.plan.letters, context)
    patterns = workload.by_name()
    parts: list[SharedStates] = []
    for of_class in classes.values():
        queries = [Query(q.name, relettered(patterns[q.name], alike), width(q)) for q in of_class]
        model = _model(of_class, rates, context)
        plan = share(queries, model, GloriaBudget(steps=context.budget.steps, qsets=context.budget.steps), optimizer)
        states = {q.name: _states(q, patterns[q.name], leader) for q in of_class}
        for alignment in _on_basis(plan, queries, model):
            part = _part(alignment, states)
            if part is not None:
                parts.append(part)
                names = tuple(member.query for member in part.members)
                rows = len(part.members[0].states)
                workload = workload.noted(name, names, f"could share {rows} states on {rows + 1} basis columns")
    return workload.proposed(name, *parts)


def _nearly_alike(letters: Sequence[Letter], context: Context) -> dict[int, int]:
    """Letters that nearly all events of their type have, as one letter: the others are events that do something else in
    a few lanes.
    """
    found: dict[int, int] = {}
    first: dict[str | None, int] = {}
    for number, letter in enumerate(letters):
        of_type = context.rates.rate(Letter(letter.raw_type))
        if of_type > 0 and context.rates.rate(letter) >= NEARLY * of_type:
            found[number] = first.setdefault(letter.raw_type, number)
    return found


def _model(queries: Sequence[CountableQuery], rates: Mapping[int, float], context: Context) -> EngineModel:
    windows = {q.window: edge_rate(q.window, context.second) for q in queries}
    return EngineModel(
        rates,
        operation=context.model.operation,
        addition=context.model.number,
        groups=context.rates.groups(queries[0].partition),
        edges=sum(windows.values()),
        planes=max(planes(q) for q in queries),
    )


# ---- which shared transitions get a basis ----------------------------------------------------------------------------


def _on_basis(plan: GloriaPlan, queries: Sequence[Query], model: EngineModel) -> Iterator[Alignment]:
    """Of all that lies side by side under the plan, what saves most on a basis: again and again, until nothing
    saves.
    """
    by_name = {q.name: (q, write(q.pattern, q.name)) for q in queries}
    for whole in alignments([replace(s, snapshot=None) for s in plan.shared]):
        region = _Region.of(whole, by_name, model)
        left = frozenset(region.rows)
        while left:
            chosen = region.best(left)
            if region.saving(chosen) <= 0:
                break
            yield region.only(chosen)
            left -= chosen


@dataclass(frozen=True, slots=True)
class _Region:
    """Places that lie side by side, a row of them for each type, with the transitions into and out of them."""

    alignment: Alignment
    rows: Mapping[Type, int]
    transitions: Mapping[tuple[Type, Type], Members]
    members: Members
    model: EngineModel

    @classmethod
    def of(
        cls, alignment: Alignment, queries: Mapping[str, tuple[Query, WrittenPlaces]], model: EngineModel
    ) -> _Region:
        rows: dict[Type, int] = {}
        found: defaultdict[tuple[Type, Type], list[int]] = defaultdict(list)
        for name, row in alignment.members:
            query, written = queries[name]
            rows |= {kind: row.index(p) for p, kind in zip(written.places, written.types, strict=True) if p in row}
            for step in written.steps:
                ends = written.types[step.source], written.types[step.target]
                if ends[0] in rows or ends[1] in rows:
                    found[ends].append(query.columns)
        transitions = {ends: Members(len(columns), sum(columns)) for ends, columns in found.items()}
        columns = sum(queries[name][0].columns for name, _ in alignment.members)
        return cls(alignment, rows, transitions, Members(len(alignment.members), columns), model)

    def saving(self, types: frozenset[Type]) -> float:
        """What a basis for these types saves."""
        outside = {b if a in types else a for a, b in self.transitions if (a in types) != (b in types)}
        basis = self.model.basis(sorted(types), sorted(outside))
        into = ((b, members) for (_, b), members in self.transitions.items() if b in types)
        return self.model.saving(basis, into, self.members)

    def best(self, types: frozenset[Type]) -> frozenset[Type]:
        """Those of the types that are left when the worst go one by one, as long as that saves more or nothing is saved
        yet.
        """
        best = types
        while len(types) > 1:
            types = max((types - {kind} for kind in sorted(types)), key=self.saving)
            if self.saving(types) > self.saving(best):
                best = types
        return best

    def only(self, types: frozenset[Type]) -> Alignment:
        """These rows of the region."""
        kept = sorted(self.rows[kind] for kind in types)
        return Alignment(tuple((name, tuple(row[i] for i in kept)) for name, row in self.alignment.members), basis=True)


# ---- from places to states -------------------------------------------------------------------------------------------


def _states(
    query: CountableQuery, pattern: PlannedPattern, leader: Mapping[tuple[str, int], str]
) -> dict[WrittenPlace, int]:
    """By place, the state of the query's automaton after its event. Places without a state of their own are left out,
    and those whose state another query's stands for.
    """
    state_after = state_of(query)
    found: dict[WrittenPlace, int] = {}
    for number, event in enumerate(events(pattern)):
        state = state_after.get(event.variable)
        own = state is not None and leader.get((query.name, state), query.name) == query.name
        if own and state is not None and state not in found.values():
            found[WrittenPlace(number)] = state
    return found


def _part(alignment: Alignment, states: Mapping[str, Mapping[WrittenPlace, int]]) -> SharedStates | None:
    """The states of an alignment, of the queries that have all of them; None if these are not two at least."""
    members = []
    for name, row in alignment.members:
        found = tuple(states[name][place] for place in row if place in states[name])
        if len(found) == len(row):
            members.append(Member(name, found))
    return SharedStates(tuple(members), basis=True) if len(members) > 1 else None
