"""weave, the pass: queries of one pattern whose windows differ are evaluated on panes, once for all.

A pane is a run of events between two edges of windows. On basis columns, a column for each state, its effect is
gathered once, and at its end applied to the windows of all queries. WeaveShare decides which windows have one sequence
of panes: more queries share the gathering, but more edges cut it into smaller pieces.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.sharing import Member, SharedStates
from cepc_runtime.plan.windows import Sliding

from ...planning.logical import counted, leaders
from ..engine import planes
from .share import share
from .windows import PeriodicWindow

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from ...planning.logical import CountableQuery
    from ..engine import EngineModel
    from ..workload import Context, Workload


def weave(workload: Workload, context: Context) -> Workload:
    """Propose panes for each family of queries that differ in their windows alone."""
    parts: list[SharedStates] = []
    for family, windows in _families(workload):
        grouping = share(windows, _model(family, workload, context))
        for tree in grouping.trees:
            parts.append(_part([family[i] for i in tree.queries]))
            edges = float(tree.edge_rate) * context.second
            names = tuple(family[i].name for i in tree.queries)
            if len(names) > 1:
                workload = workload.noted("weave", names, f"could share panes, with {edges:.3g} edges a second")
    return workload.proposed("weave", *parts)


def _families(workload: Workload) -> Iterator[tuple[tuple[CountableQuery, ...], tuple[PeriodicWindow, ...]]]:
    """Queries with the same automaton and groups, and the window of each; where one stands for others, that one."""
    leader = leaders(workload.plan)
    found: defaultdict[Hashable, list[tuple[CountableQuery, PeriodicWindow]]] = defaultdict(list)
    for query in counted(workload.plan):
        a = query.automaton
        whole = all(leader.get((query.name, state), query.name) == query.name for state in range(a.states))
        if isinstance(query.window, Sliding) and whole and not (a.moves or a.new_moves or a.kills):
            steps = tuple(sorted((s.source, s.target, s.letter) for s in a.steps))
            ties = tuple(sorted((s.source, s.target, s.letter) for s in a.ties))
            found[tuple(sorted(query.partition)), a.states, steps, ties].append((query, _as_in_paper(query.window)))
    for members in found.values():
        queries, windows = zip(*members, strict=True)
        yield queries, windows


def _as_in_paper(window: Sliding) -> PeriodicWindow:
    """The paper's windows end at multiples of the slide, plus a shift."""
    return PeriodicWindow(window.span, window.slide, window.end(0) % window.slide)


def _part(queries: Sequence[CountableQuery]) -> SharedStates:
    states = tuple(range(queries[0].automaton.states))
    return SharedStates(tuple(Member(q.name, states) for q in queries), basis=True)


@dataclass(frozen=True, slots=True)
class _TreeCost:
    """What one tree costs in a tick: every event on basis columns, and at every edge the product with all open
    windows.
    """

    gathering: Fraction  # in a tick
    edge: float
    edge_per_window: float

    def __call__(self, edge_rate: Fraction, overlaps: int) -> Fraction:
        return self.gathering + edge_rate * Fraction(self.edge + self.edge_per_window * overlaps)


def _model(family: Sequence[CountableQuery], workload: Workload, context: Context) -> _TreeCost:
    automaton = family[0].automaton
    model: EngineModel = context.model
    rows, depth = automaton.states, max(planes(q) for q in family)
    rate = sum(context.rates.rate(workload.plan.letters[s.letter]) for s in automaton.steps)
    groups = context.rates.groups(family[0].partition)
    gathering = rate * model.row(rows * depth) / context.second
    return _TreeCost(
        Fraction(gathering).limit_denominator(10**6),
        groups * rows * rows * model.operation,
        groups * rows * rows * model.number * depth,
    )
