"""strategy, the last pass: by which strategy each query is executed, and why.

It makes the physical plan, which is all that a target needs to know. A query is counted where it can be, and joined
where another pass has found parts for it; else its matches are listed. Where Spark's own aggregation gives the kernel's
rows, it is left to Spark, unless such queries are many. No engine chooses again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from typing import Literal as OneOf

from cepc_runtime.plan.physical import PhysicalPlan
from cepc_runtime.plan.strategy import Count, CountNeighbours, Join, List, Reason, executed, is_native

from ..planning.logical import Countable, CountableNeighbours, Uncountable, is_countable
from ..planning.native import native_aggregation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cepc_runtime.plan.physical import Needs
    from cepc_runtime.plan.strategy import Native, PhysicalQuery, Strategy

    from ..planning.logical import Countability, LogicalPlan, LogicalQuery

PlanTarget = OneOf["local", "batch", "stream"]
"""What executes the plan: this process, or a job of Spark's, over all events or as they come."""

NAMED: Final = 20
"""Queries that are named to say with which a query is joined."""


ALONE: Final = 20
"""Queries that Spark answers alone, each by a job of a tenth of a second; the kernel answers all others by one."""


def strategy(plan: LogicalPlan, target: PlanTarget) -> PhysicalPlan:
    """The plan by which the target executes the queries."""
    joins = {answer.query: number for number, shared in enumerate(plan.shared_matches) for answer in shared.answers}
    natives = _natives(plan) if target == "batch" else {}
    queries = tuple(executed(query, natives.get(query.name) or _strategy(query, plan, joins)) for query in plan.queries)
    return PhysicalPlan(
        plan.stream, plan.letters, queries, plan.sharing, plan.shared_matches, _needs(plan, queries, target)
    )


def _needs(plan: LogicalPlan, queries: Sequence[PhysicalQuery], target: PlanTarget) -> tuple[Needs, ...]:
    """Those of queries that find matches in groups: of a stream's groups nobody ever has all events, and Spark's own
    aggregation sorts none.
    """
    own = () if target == "stream" else {query.name for query in queries if not is_native(query)}
    return tuple(needs for needs in plan.needs if needs.query in own)


def _natives(plan: LogicalPlan) -> dict[str, Native]:
    """The queries that Spark answers alone, if they are not so many that a job for each takes longer than counting."""
    found = {
        query.name: native
        for query in plan.queries
        if is_countable(query) and (native := native_aggregation(query, plan.stream)) is not None
    }
    return found if len(found) <= ALONE else {}


def _strategy(query: LogicalQuery[Countability], plan: LogicalPlan, joins: Mapping[str, int]) -> Strategy:
    match query.counting:
        case Countable(automaton):
            return Count(automaton)
        case CountableNeighbours(automaton, conditions):
            return CountNeighbours(automaton, conditions, Reason("neighbours", query.conditions[0].text))
        case Uncountable() if query.name in joins:
            number = joins[query.name]
            return Join(number, Reason("joins", _others(query.name, plan, number)))
        case Uncountable(reason):
            return List(reason)


def _others(name: str, plan: LogicalPlan, number: int) -> str:
    """The queries that are joined with it, of many the first."""
    answers = plan.shared_matches[number].answers
    named = [answer.query for answer in answers[: NAMED + 1] if answer.query != name][:NAMED]
    left = len(answers) - 1 - len(named)
    return ", ".join(named) + (f" and {left:,} more" if left else "")
