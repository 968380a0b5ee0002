"""prune: groups in which no query can match go before they are sorted.

What every match needs is read off the automaton along which a query's matches are found (`automaton/needs.py`). A group
without it has no match, and so no row, as rows come from matches alone. It goes as a whole, so whatever else a match
depends on (a NOT, an event that SELECT does not let it skip, a match before it) is where it was in the groups that
stay.

    SEQ(A, B+, C) WHERE [k]      →      a match needs an A, a B and a C: other values of k go

What cannot be said of it is left alone: queries without groups, patterns that some match of nothing needs no event of,
and many queries over the same groups, of which one nearly always can match. Where rows show the first of several equal
values that are not the same (0.0 and -0.0) of partitions that they add up, no partition of the class may go.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from cepc_runtime.plan.physical import Needs
from cepc_runtime.sql.types import varies

from ..automaton.needs import needs_of, paths_of
from ..planning.logical import Uncountable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cepc_runtime.plan.physical import Need

    from ..planning.logical import Countability, LogicalPlan, LogicalQuery
    from .workload import Context, Workload

    AnyQuery = LogicalQuery[Countability]

MANY: Final = 32
"""Queries over the same groups."""


def prune(workload: Workload, context: Context) -> Workload:  # noqa: ARG001 - a pass
    """Say what each query's matches need."""
    plan = workload.plan
    by_groups: dict[tuple[str, ...], list[AnyQuery]] = {}
    for query in plan.queries:
        by_groups.setdefault(tuple(sorted(query.partition)), []).append(query)
    wanted = {q.name for groups, own in by_groups.items() if groups and _may_go(own, plan) for q in own}
    found = [Needs(query.name, of) for query in plan.queries if query.name in wanted and (of := _needs(query, plan))]
    if not found:
        return workload
    said: dict[str, list[str]] = {}
    for needs in found:
        said.setdefault(_said(needs.of, workload.types), []).append(needs.query)
    for text, names in said.items():
        workload = workload.noted("prune", tuple(names), f"{text}; groups without them are left out")
    return replace(workload, plan=replace(plan, needs=tuple(found)))


def _may_go(queries: Sequence[AnyQuery], plan: LogicalPlan) -> bool:
    """Whether some partitions of the queries, which have the same, may be left out."""
    types = dict(plan.stream.columns)
    return len(queries) <= MANY and not any(
        query.kind == "aggregate"
        and set(query.group_by) != set(query.partition)
        and any(varies(types[name]) for name in query.group_by)
        for query in queries
    )


def _needs(query: AnyQuery, plan: LogicalPlan) -> tuple[Need, ...]:
    """In the letters that its executor asks for."""
    counting = query.counting
    automaton = query.positions if isinstance(counting, Uncountable) else counting.automaton
    return needs_of(paths_of(automaton), plan.letters)


def _said(needs: Iterable[Need], types: Sequence[str]) -> str:
    """
    >>> from cepc_runtime.plan.physical import Need
    >>> _said([Need((0,)), Need((1, 2), 2)], ["A", "B", "C"])
    'a match has A and 2 of B or C'
    """
    parts = []
    for need in needs:
        names = " or ".join(dict.fromkeys(types[letter] for letter in need.letters))
        parts.append(names if need.events == 1 else f"{need.events} of {names}")
    return f"a match has {' and '.join(parts)}"
