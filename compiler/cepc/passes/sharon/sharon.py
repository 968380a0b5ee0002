"""sharon, the pass: common contiguous parts of flat sequences are propagated on basis columns, once for all who contain
them.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.sharing import Member, SharedStates

from ...planning.logical import counted, leaders
from ..pattern import flat_sequence
from ..variable_states import state_of
from .candidates import Query
from .plan import SharonBudget, share

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...planning.logical import CountableQuery
    from ..engine import EngineModel
    from ..workload import Context, Workload
    from .benefit import PatternPart
    from .candidates import Candidate, Pattern


def sharon(workload: Workload, context: Context) -> Workload:
    """Propose the parts of Sharon's plan for each set of queries with the same groups."""
    leader = leaders(workload.plan)
    classes: defaultdict[tuple[str, ...], list[CountableQuery]] = defaultdict(list)
    variables: dict[str, tuple[str, ...]] = {}
    letters: dict[str, tuple[str, ...]] = {}
    patterns = workload.by_name()
    for query in counted(workload.plan):
        sequence = flat_sequence(patterns[query.name])
        if sequence is None or any(leader.get((query.name, s), query.name) != query.name for s in _states(query)):
            continue
        variables[query.name] = tuple(event.variable for event in sequence)
        letters[query.name] = tuple(str(event.letter) for event in sequence)
        classes[tuple(sorted(query.partition))].append(query)
    parts: list[SharedStates] = []
    for queries in classes.values():
        model = _Engine(
            {str(i): context.rates.rate(letter) for i, letter in enumerate(workload.plan.letters)},
            {letters[q.name]: q.window.open_at_once for q in queries},
            context.model,
        )
        plan = share([Query(q.name, letters[q.name]) for q in queries], model, SharonBudget(context.budget.steps))
        parts += (_part(candidate, {q.name: q for q in queries}, variables) for candidate in plan.shared)
    return workload.proposed("sharon", *parts)


def _part(
    candidate: Candidate, queries: Mapping[str, CountableQuery], variables: Mapping[str, tuple[str, ...]]
) -> SharedStates:
    members = []
    for occurrence in {o.query: o for o in reversed(candidate.occurrences)}.values():  # one member for a query
        states = state_of(queries[occurrence.query])
        here = variables[occurrence.query][occurrence.start : occurrence.start + len(candidate.pattern)]
        members.append(Member(occurrence.query, tuple(states[variable] for variable in here)))
    return SharedStates(tuple(reversed(members)), basis=True)


def _states(query: CountableQuery) -> range:
    return range(query.automaton.states)


@dataclass(frozen=True, slots=True)
class _Engine:
    """Our kernel's costs in the terms of Sharon's model: a step costs a row operation for each of its events.

    A part's own steps cost basis columns, once; each query that uses it pays for applying it, whenever an event before
    or after the part ends a run.
    """

    rates: Mapping[str, float]
    windows: Mapping[Pattern, int]  # of the first query with the pattern
    model: EngineModel

    def query(self, pattern: Pattern, cuts: Sequence[PatternPart]) -> float:
        inside = {i for start, end in cuts for i in range(start, end)}
        wide = self.windows[pattern]
        own = sum(self.rates[letter] * self.model.row(wide) for i, letter in enumerate(pattern) if i not in inside)
        return own + sum(self._applied(pattern, cut, wide) for cut in cuts)

    def part(self, pattern: Pattern) -> float:
        return sum(self.rates[letter] for letter in pattern) * self.model.row(len(pattern) + 1)

    def _applied(self, pattern: Pattern, cut: PatternPart, wide: int) -> float:
        start, end = cut
        borders = ([pattern[start - 1]] if start else []) + ([pattern[end]] if end < len(pattern) else [])
        rows = end - start + 1
        return sum(self.rates[letter] for letter in borders) * rows * rows * self.model.row(wide)
