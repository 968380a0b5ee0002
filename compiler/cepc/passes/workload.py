"""What passes rewrite: the queries over one stream, what they share so far, and what each pass has to say about it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cepc_runtime.plan.sharing import SharedStates

    from ..planning.logical import LogicalPlan
    from .engine import EngineModel
    from .pattern import PlannedPattern
    from .rates import Rates


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
    patterns: tuple[PlannedPattern, ...]
    types: tuple[str, ...]
    proposals: tuple[Proposal, ...] = ()
    notes: tuple[Note, ...] = ()

    def by_name(self) -> dict[str, PlannedPattern]:
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


@dataclass(frozen=True, slots=True)
class Budget:
    """How much an optimiser may try, counted in its own steps, so that the same program gets the same plan on every
    machine.
    """

    steps: int


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
