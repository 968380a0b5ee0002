"""gloria, the pass: transitions that queries share, also within Kleene, are propagated on basis columns where that pays.

    q: SEQ(A, SEQ(B, C)+, D)     r: SEQ(E, SEQ(B, C)+)      →      B and C of both on one basis, between events A, D and E

That states lie side by side is what `columns` does for all queries; here it is decided which of them get a basis.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cepc_runtime.plan import Member, SharedStates

from ..engine import edge_rate, planes, width
from ..pattern import events
from ..places import state_of
from ..workload import counted, leaders
from .alignment import alignments
from .cost import EngineModel, Members
from .graph import Budget
from .places import write
from .plan import Optimizer, share
from .query import Place, Query

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cepc_runtime.plan import QueryPlan

    from ..pattern import Pattern
    from ..workload import Context, Workload
    from .alignment import Alignment
    from .places import Written
    from .plan import GloriaPlan
    from .query import Type


def gloria(workload: Workload, context: Context) -> Workload:
    """Propose the parts of Gloria's plan for each set of queries with the same groups."""
    return _proposed(workload, context, "gloria", Optimizer.GLORIA)


def greedy(workload: Workload, context: Context) -> Workload:
    """Propose the parts of the greedy plan, Gloria's baseline, if that is asked for."""
    return _proposed(workload, context, "greedy", Optimizer.GREEDY) if context.forced == "greedy" else workload


def _proposed(workload: Workload, context: Context, name: str, optimizer: Optimizer) -> Workload:
    classes: defaultdict[tuple[str, ...], list[QueryPlan]] = defaultdict(list)
    for query in counted(workload.plan):
        classes[tuple(sorted(query.partition))].append(query)
    leader = leaders(workload.plan)
    rates = {i: context.rates.rate(letter) for i, letter in enumerate(workload.plan.letters)}
    parts: list[SharedStates] = []
    for of_class in classes.values():
        queries = [Query(q.name, workload.pattern(q.name), width(q)) for q in of_class]
        model = _model(of_class, rates, context)
        plan = share(queries, model, Budget(steps=context.budget.steps), optimizer)
        states = {q.name: _states(q, workload.pattern(q.name), leader) for q in of_class}
        for alignment in _on_basis(plan, queries, model):
            part = _part(alignment, states)
            if part is not None:
                parts.append(part)
                names = tuple(member.query for member in part.members)
                rows = len(part.members[0].states)
                workload = workload.noted(name, names, f"could share {rows} states on {rows + 1} basis columns")
    return workload.proposed(name, *parts)


def _model(queries: Sequence[QueryPlan], rates: Mapping[int, float], context: Context) -> EngineModel:
    windows = {(q.within, q.slide): edge_rate(q, context.second) for q in queries}
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
    """Of each part that lies side by side: all of it, or its Kleene sub-patterns that the plan has on a basis, or nothing."""
    savings = _Savings(plan, {q.name: q for q in queries}, {q.name: write(q.pattern, q.name) for q in queries}, model)
    kleene = [a for a in alignments(plan.shared) if a.basis]
    for whole in alignments([replace(s, snapshot=None) for s in plan.shared]):
        inner = [a for a in kleene if _places(whole) & _places(a)]
        paying = [a for a in inner if savings.of(a) > 0]
        if savings.of(whole) > sum(map(savings.of, paying)):
            yield whole
        else:
            yield from paying


def _places(alignment: Alignment) -> set[tuple[str, Place]]:
    return {(query, place) for query, row in alignment.members for place in row}


@dataclass(frozen=True, slots=True)
class _Savings:
    """What a basis saves, beside leaving the same places side by side."""

    plan: GloriaPlan
    queries: Mapping[str, Query]
    written: Mapping[str, Written]
    model: EngineModel

    def of(self, alignment: Alignment) -> float:
        places = _places(alignment)
        inside, outside = self._types(places)
        basis = self.model.basis(sorted(inside), sorted(outside - inside))
        columns = sum(self.queries[name].columns for name, _ in alignment.members)
        members = Members(len(alignment.members), columns)
        saved = -self.model.opened(basis, members)
        for s in self.plan.shared:
            name, source, target = s.members[0]
            if (name, source) in places and (name, target) in places:
                together, apart = (self.model.shared(s.source, s.target, b, members) for b in (basis, None))
                saved += apart - together
        return saved

    def _types(self, places: set[tuple[str, Place]]) -> tuple[set[Type], set[Type]]:
        """Those of the places, and those that transitions lead from and to around them."""
        inside: set[Type] = set()
        outside: set[Type] = set()
        for name in {name for name, _ in places}:
            written = self.written[name]
            within = [(name, place) in places for place in written.places]
            inside |= {kind for kind, here in zip(written.types, within, strict=True) if here}
            for step in written.steps:
                if within[step.source] != within[step.target]:
                    outside.add(written.types[step.target if within[step.source] else step.source])
        return inside, outside


# ---- from places to states -------------------------------------------------------------------------------------------


def _states(query: QueryPlan, pattern: Pattern, leader: Mapping[tuple[str, int], str]) -> dict[Place, int]:
    """By place, the state of the query's automaton after its event. Places without a state of their own are left out, and those
    whose state another query's stands for.
    """
    state_after = state_of(query)
    found: dict[Place, int] = {}
    for number, event in enumerate(events(pattern)):
        state = state_after.get(event.variable)
        own = state is not None and leader.get((query.name, state), query.name) == query.name
        if own and state is not None and state not in found.values():
            found[Place(number)] = state
    return found


def _part(alignment: Alignment, states: Mapping[str, Mapping[Place, int]]) -> SharedStates | None:
    """The states of an alignment, of the queries that have all of them; None if these are not two at least."""
    members = []
    for name, row in alignment.members:
        found = tuple(states[name][place] for place in row if place in states[name])
        if len(found) == len(row):
            members.append(Member(name, found))
    return SharedStates(tuple(members), basis=True) if len(members) > 1 else None
