"""What a part with a basis takes in besides: the state from which each of its queries enters it.

An event that begins a query's match changes that state, and would end the run of all queries. With the state in the
part it is an event that does something else in this query's lane, which gets basis columns of its own
(`cepc_runtime/kernel/basis.py`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from cepc_runtime.plan.sharing import Member

from ..planning.logical import counted, leaders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cepc_runtime.plan.sharing import SharedStates

    from .workload import Workload

LEAST: Final = 4
"""Queries of a part: of fewer, most would have columns of their own."""


def with_entries(parts: Sequence[SharedStates], workload: Workload) -> tuple[SharedStates, ...]:
    """The parts, those of enough queries with the entry of each query, if it has one of its own in no other part."""
    leader = leaders(workload.plan)
    automata = {q.name: q.automaton for q in counted(workload.plan)}
    taken = {place for part in parts for place in part.places}

    def entered(part: SharedStates) -> SharedStates:
        members = []
        for member in part.members:
            automaton = automata[member.query]
            steps = (*automaton.steps, *automaton.ties)
            entries = {s.source for s in steps if s.target in member.states and s.source not in member.states}
            entry = min(entries, default=0)
            own = leader.get((member.query, entry), member.query) == member.query
            if len(entries) != 1 or entry == 0 or not own or (member.query, entry) in taken:
                return part
            members.append(Member(member.query, (entry, *member.states)))
        taken.update((member.query, member.states[0]) for member in members)
        return replace(part, members=tuple(members))

    return tuple(entered(part) if part.basis and len(part.members) >= LEAST else part for part in parts)
