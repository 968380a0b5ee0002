"""Plans in which queries share work: the passes over the plans of a program, with what a user can say about them."""

from __future__ import annotations

import time
from dataclasses import field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.stream import MICROSECONDS, Letter

from . import passes
from .passes.engine import EngineModel, load
from .passes.pattern import pattern_of
from .passes.workload import Budget, Context, Workload
from .planning import lifted, plan_program
from .statistics import Statistics

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cepc_grammar.diagnostic import Diagnostic

    from . import model
    from .passes.engine import Load
    from .passes.rates import Rates
    from .planning.logical import LogicalPlan

STEPS: Final = 200_000
SECONDS: Final = 4.0
"""How long the optimisers may take together, about; a budget of steps makes the plan the same on every machine."""


@dataclass(frozen=True, slots=True)
class Options:
    """What to share and how hard to think about it.

    Level 0: every query by itself; 1: what is always right and never dearer; 2: what the optimisers find as well.
    `optimiser` forces the plan of one of them, whatever it costs ("none": that of no one). `steps` bounds each
    optimiser, `seconds` all of them together (None: only steps do).
    """

    level: Literal[0, 1, 2] = 2
    without: tuple[str, ...] = ()
    optimiser: str | None = None
    steps: int = STEPS
    seconds: float | None = SECONDS
    statistics: Mapping[str, Rates] = field(default_factory=lambda: MappingProxyType({}))  # by stream

    def passes(self) -> tuple[str, ...]:
        """The names of the passes that run."""
        chosen = {0: (), 1: passes.FREE, 2: passes.NAMES}[self.level]
        if self.optimiser is not None:
            chosen = tuple(name for name in passes.NAMES if name not in passes.OPTIMISERS or name == self.optimiser)
        return tuple(name for name in chosen if name not in self.without)


@dataclass(frozen=True, slots=True)
class SharedPlans:
    """What a program's queries share, and what the passes said and knew, stream by stream; or what is wrong; never
    both. `program` has the queries over the streams that the plans are of.
    """

    program: model.CheckedProgram
    options: Options
    workloads: tuple[Workload, ...]
    contexts: tuple[Context, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def plans(self) -> tuple[LogicalPlan, ...]:
        return tuple(workload.plan for workload in self.workloads)


def plan_shared(program: model.CheckedProgram, options: Options | None = None) -> SharedPlans:
    """The program's queries after the passes, but for the last, which needs to know the target."""
    options = options or Options()
    own, program = {query.name: query.stream for query in program.queries}, as_planned(program, options)
    planned = plan_program(program)
    deadline = None if options.seconds is None else time.monotonic() + options.seconds
    found = [share(program, plan, options, deadline) for plan in planned.plans]
    workloads, contexts = (tuple(_told(w, own) for w, _ in found), tuple(context for _, context in found))
    return SharedPlans(program, options, workloads, contexts, planned.diagnostics)


def _told(workload: Workload, own: Mapping[str, str]) -> Workload:
    """With which queries are planned over more streams than their own."""
    for stream in dict.fromkeys(own.values()):
        names = tuple(query.name for query in workload.plan.queries if own[query.name] == stream)
        if names and stream != workload.plan.stream.name:
            text = f"planned with those that see more than {stream}, but for streams of Spark's"
            workload = workload.noted(passes.LIFT, names, text)
    return workload


def in_streams(program: model.CheckedProgram, shared: SharedPlans) -> SharedPlans:
    """The plans of the same program for streams of Spark, where no query waits for streams that are not its own."""
    if shared.program is program:
        return shared
    return plan_shared(program, replace(shared.options, without=(*shared.options.without, passes.LIFT)))


def as_planned(program: model.CheckedProgram, options: Options) -> model.CheckedProgram:
    """The program with queries over more streams than their own, where that is asked for and saves work."""
    return lifted(program) if passes.LIFT in options.passes() else program


def share(
    program: model.CheckedProgram,
    plan: LogicalPlan,
    options: Options,
    deadline: float | None = None,
    lasting: float | None = None,
) -> tuple[Workload, Context]:
    """One plan after these passes, and what they knew. `lasting`: seconds of the stream, for a plan of these alone."""
    rates = options.statistics.get(plan.stream.name, Statistics())
    second = 1e6 / MICROSECONDS[plan.stream.unit]
    context = Context(rates, EngineModel(), Budget(options.steps), second, options.optimiser, lasting)
    workload = workload_of(program, plan)
    return passes.optimise(workload, context, options.passes(), deadline=deadline), context


def workload_of(program: model.CheckedProgram, plan: LogicalPlan) -> Workload:
    """The plan's queries, before any pass."""
    letters = {letter: number for number, letter in enumerate(plan.letters)}
    queries = {query.name: query for query in program.queries}
    patterns = tuple(pattern_of(queries[query.name], letters) for query in plan.queries)
    return Workload(plan, patterns, _types(program, plan))


def _types(program: model.CheckedProgram, plan: LogicalPlan) -> tuple[str, ...]:
    """What events of each letter are called: as the program calls a derived type."""
    derived = {
        Letter(variable.test.raw_type, variable.test.conditions): variable.type
        for query in program.queries
        for variable in query.variables
        if query.stream == plan.stream.name and variable.type != variable.test.raw_type
    }
    return tuple(
        derived.get(letter, (letter.raw_type or "ANY") + (" WHERE …" if letter.conditions else ""))
        for letter in plan.letters
    )


def loads(workload: Workload, context: Context) -> tuple[Load, Load]:
    """What the engine is expected to do in a second of the stream: every query by itself, and as shared."""
    alone = replace(workload.plan, sharing=())
    return (
        load(alone, context.rates, context.model, context.second),
        load(workload.plan, context.rates, context.model, context.second),
    )
