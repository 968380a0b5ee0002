"""The passes that decide what the queries of a workload share and which groups they look at, one module or package
each, and their driver.

A pass is a function from a workload to a workload. It changes what plans share, what they need, proposals and notes
alone: the rows of every query are what they were. A pass with nothing to do gives back the workload that it got.
"""

from __future__ import annotations

import time
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Final

from .workload import Budget
from .worth import steps_worth

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .workload import Context, Workload

    Pass = Callable[[Workload, Context], Workload]


def _later(name: str, module: str) -> Pass:
    """The pass of this name. It is imported when it is first carried out: a short run has no use for most of them."""

    def apply(workload: Workload, context: Context) -> Workload:
        found: Workload = getattr(import_module(module, __package__), name)(workload, context)
        return found

    apply.__name__ = name
    return apply


PASSES: Final[tuple[Pass, ...]] = (
    _later("motto", ".motto.motto"),  # of match queries, which no other pass looks at
    _later("normalise", ".normalise"),  # first of the others: what is kept once needs no other sharing
    _later("sharon", ".sharon.sharon"),  # these only propose, so their order is that of the proposals
    _later("gloria", ".gloria.gloria"),
    _later("greedy", ".gloria.gloria"),  # only on request
    _later("weave", ".weave"),
    _later("choose", ".choose"),  # after all proposals
    _later("columns", ".columns"),  # takes what is left
    _later("prune", ".prune"),  # anywhere: it looks at patterns alone
)
LIFT: Final = "lift"  # of queries, before there are plans: planning/lifting.py
NAMES: Final = (LIFT, *(found.__name__ for found in PASSES))
OPTIMISERS: Final = ("motto", "sharon", "gloria", "greedy", "weave")
LIMITED: Final = OPTIMISERS[1:]  # of counted queries
SHARING: Final = tuple(name for name in NAMES if name != "prune")  # those that look for what queries have in common
FREE: Final = ("normalise", "columns", "prune")  # always right, never dearer: -O1


class BrokenPass(Exception):  # noqa: N818 - a defect of the compiler, named
    """A pass has changed what the queries are."""


def optimise(
    workload: Workload,
    context: Context,
    names: Sequence[str],
    *,
    deadline: float | None = None,
) -> Workload:
    """The workload after the passes of these names, in the order of `PASSES`. After the deadline (of `time.monotonic`)
    nothing more is proposed. Where it is known for which events the plan is made, the optimisers of counted queries get
    the steps that can pay.
    """
    limited = False
    for apply in PASSES:
        name = apply.__name__
        if name not in names:
            continue
        if name in LIMITED and context.seconds is not None and context.forced is None:
            if not limited:
                steps = min(context.budget.steps, steps_worth(workload, context, context.seconds))
                context, limited = replace(context, budget=Budget(steps)), True
            if not context.budget.steps:
                workload = workload.noted(name, (), "skipped: with so few events it would cost more than it saves")
                continue
        if name in OPTIMISERS and deadline is not None and time.monotonic() > deadline:
            workload = workload.noted(name, (), "skipped: the optimisers' time had run out")
            continue
        before, workload = workload, apply(workload, context)
        if workload.plan.queries != before.plan.queries or workload.plan.letters != before.plan.letters:
            raise BrokenPass(f"the pass {name} has changed the queries")
    return workload
