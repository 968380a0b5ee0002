"""What passes rewrite: the queries over one stream, what they share so far, and what each pass has to say about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from cepc_runtime.plan.select import SelectAny

from ..planning.logical import is_countable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cepc_runtime.plan.sharing import SharedStates
    from cepc_runtime.plan.stream import Letter

    from ..planning.logical import CountableQuery, LogicalPlan
    from .engine import EngineModel
    from .pattern import Pattern


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence of a pass about some queries, for `cepc explain`."""

    name: str
    queries: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """States that a pass would propagate on basis columns, all of one pass's plan; `choose` decides which are taken."""

    name: str
    parts: tuple[SharedStates, ...]


@dataclass(frozen=True, slots=True)
class Workload:
    """All queries over one stream: what they share so far is `plan.sharing`. `patterns` are those of `plan.queries`,
    `types` what the program calls the events of each of `plan.letters`.
    """

    plan: LogicalPlan
    patterns: tuple[Pattern, ...]
    types: tuple[str, ...]
    proposals: tuple[Proposal, ...] = ()
    notes: tuple[Note, ...] = ()

    def by_name(self) -> dict[str, Pattern]:
        """The pattern of each query."""
        return {q.name: p for q, p in zip(self.plan.queries, self.patterns, strict=True)}

    def shared(self, *parts: SharedStates) -> Workload:
        """With these parts as well."""
        return replace(self, plan=replace(self.plan, sharing=self.plan.sharing + parts)) if parts else self

    def proposed(self, name: str, *parts: SharedStates) -> Workload:
        return replace(self, proposals=(*self.proposals, Proposal(name, parts))) if parts else self

    def noted(self, name: str, queries: tuple[str, ...], text: str) -> Workload:
        return self.said([Note(name, queries, text)])

    def said(self, notes: Iterable[Note]) -> Workload:
        more = tuple(notes)
        return replace(self, notes=self.notes + more) if more else self


class Rates(Protocol):
    """What is known of a stream: see `cepc.statistics`."""

    def rate(self, letter: Letter) -> float:
        """Events of the letter in a second, over all groups."""
        ...

    def groups(self, partition: tuple[str, ...]) -> float:
        """How many groups these attributes make."""
        ...

    def largest(self, partition: tuple[str, ...]) -> float:
        """The share of the events that the largest of these groups has; 0 where it is not known."""
        ...

    def in_groups_with(self, letter: Letter, partition: tuple[str, ...]) -> float:
        """The share of the events in those groups that have an event of the letter; 1 where it is not known."""
        ...


@dataclass(frozen=True, slots=True)
class Budget:
    """How much an optimiser may try, counted in its own steps, so that the same program gets the same plan on every
    machine.
    """

    steps: int = 200_000


@dataclass(frozen=True, slots=True)
class Context:
    """What passes know beside the workload.

    `second`: ticks of the stream's time in one. `forced`: the optimiser whose plan is taken, whatever it costs.
    `seconds`: how long the events last for which the plan is made, where it is for these alone.
    """

    rates: Rates
    model: EngineModel
    budget: Budget
    second: float
    forced: str | None = None
    seconds: float | None = None


def counted(plan: LogicalPlan) -> tuple[CountableQuery, ...]:
    """The queries that the counting kernel can share states of: an automaton, no conditions between neighbours, and all
    matches.
    """
    return tuple(q for q in plan.queries if is_countable(q) and isinstance(q.select, SelectAny))


def leaders(plan: LogicalPlan) -> Mapping[tuple[str, int], str]:
    """For each state that is kept once for several queries, the first of them, whose columns stand for all."""
    return {
        (member.query, state): part.members[0].query
        for part in plan.sharing
        if part.equal
        for member in part.members
        for state in member.states
    }
