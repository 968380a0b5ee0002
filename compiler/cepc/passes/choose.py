"""choose: which of the proposed parts are propagated on basis columns, by what the engine is expected to spend.

Each part is weighed by what it saves the queries it concerns. Parts of several passes may want the same state; those
that save more come first. The result is compared with each pass's plan as a whole and with none, so it is never worse
than not sharing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from .columns import columns, is_weighed
from .engine import load
from .entry_states import with_entries

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cepc_runtime.plan.sharing import SharedStates

    from .workload import Context, Workload


BEST: Final = "the best of each"
WORTH: Final = 0.98
"""Of the cost without any plan: what a plan may cost at most to be taken, since a larger table is not free either."""


def choose(workload: Workload, context: Context) -> Workload:
    """Take the cheapest of: nothing, what each pass proposes, and the best parts of all."""
    if not workload.proposals:
        return workload
    plans = {"nothing": ()} | {p.name: with_entries(p.parts, workload) for p in workload.proposals}
    if len(workload.proposals) > 1:
        plans[BEST] = _best(workload, [part for parts in plans.values() for part in parts], context)
    costs = {name: _cost(workload, parts, context) for name, parts in plans.items()}
    name = context.forced if context.forced in plans else min(costs, key=lambda name: costs[name])
    if name != context.forced and is_weighed(workload, context) and costs[name] > WORTH * costs["nothing"]:
        name = "nothing"
    for part in plans[name]:
        names = tuple(member.query for member in part.members)
        workload = workload.noted("choose", names, f"share {len(part.members[0].states)} states on basis columns")
    return workload.shared(*plans[name]).noted(
        "choose",
        (),
        _compared(name, {found: cost for found, cost in costs.items() if plans[found] or found == "nothing"}),
    )


def _compared(taken: str, costs: Mapping[str, float]) -> str:
    """
    >>> _compared("nothing", {"nothing": 32.4, "sharon": 40.0})
    'nothing on basis columns is taken: 32.4 ns of work a second of events, against 40 ns as proposed by sharon'
    >>> _compared("sharon", {"nothing": 32.4, "sharon": 20.0})
    'what sharon proposes is taken: 20 ns of work a second of events, against 32.4 ns with nothing on basis columns'
    >>> _compared("nothing", {"nothing": 32.4})
    'nothing was proposed for basis columns: 32.4 ns of work a second of events'
    """
    said = {name: (f"what {name} proposes", f"as proposed by {name}") for name in costs}
    said["nothing"] = ("nothing on basis columns", "with nothing on basis columns")
    said[BEST] = ("a choice of the proposals' parts", "with a choice of their parts")
    if len(costs) == 1:
        return f"nothing was proposed for basis columns: {costs[taken]:.4g} ns of work a second of events"
    others = ", ".join(f"{cost:.4g} ns {said[name][1]}" for name, cost in costs.items() if name != taken)
    return f"{said[taken][0]} is taken: {costs[taken]:.4g} ns of work a second of events, against {others}"


def _best(workload: Workload, found: Sequence[SharedStates], context: Context) -> tuple[SharedStates, ...]:
    numbers = {q.name: i for i, q in enumerate(workload.plan.queries)}
    savings = [_saving(workload, numbers, part, context) for part in found]
    taken: set[tuple[str, int]] = set()
    chosen: list[SharedStates] = []
    for i in sorted(range(len(found)), key=lambda i: -savings[i]):
        if savings[i] > 0 and taken.isdisjoint(found[i].places):
            taken |= set(found[i].places)
            chosen.append(found[i])
    return tuple(chosen)


def _saving(workload: Workload, numbers: Mapping[str, int], part: SharedStates, context: Context) -> float:
    """What a part alone saves the queries in it; `numbers` are those of all queries, by name."""
    own = sorted({numbers[member.query] for member in part.members})
    queries = tuple(workload.plan.queries[i] for i in own)
    alone = replace(workload, plan=replace(workload.plan, queries=queries, sharing=()))
    return _cost(alone, (), context) - _cost(alone, (part,), context)


def _cost(workload: Workload, parts: Iterable[SharedStates], context: Context) -> float:
    laid = columns(workload.shared(*parts), context).plan
    return load(laid, context.rates, context.model, context.second).nanoseconds
