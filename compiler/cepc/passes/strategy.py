"""strategy, the last pass: by which strategy each query is executed, and why.

What planning gives a query is how it would be executed by itself. It is joined where another pass has found parts for
it, and left to Spark where Spark's own aggregation gives the kernel's rows. No pass comes after this one, and no engine
chooses again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from typing import Literal as OneOf

from cepc_runtime.plan import Count, Join, List, Reason

from ..planning.native import native_aggregation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cepc_runtime.plan import Plan, QueryPlan

Target = OneOf["local", "batch", "stream"]
"""What executes the plan: this process, or a job of Spark's, over all events or as they come."""


def strategy(plan: Plan, target: Target) -> Plan:
    """The plan in which every query has the strategy by which the target executes it. Of a plan that has been here for
    another target, too, unless that was Spark's batch.
    """
    joins = {answer.query: number for number, shared in enumerate(plan.shared_matches) for answer in shared.answers}
    return replace(plan, queries=tuple(_executed(query, plan, joins, target) for query in plan.queries))


def _executed(query: QueryPlan, plan: Plan, joins: Mapping[str, int], target: Target) -> QueryPlan:
    match query.strategy:
        case List() if query.name in joins:
            number = joins[query.name]
            return replace(query, strategy=Join(number, Reason("joins", _others(query, plan, number))))
        case Count() if target == "batch" and (found := native_aggregation(query, plan.stream)) is not None:
            return replace(query, strategy=found)
    return query


def _others(query: QueryPlan, plan: Plan, number: int) -> str:
    """The queries that are joined with it."""
    return ", ".join(answer.query for answer in plan.shared_matches[number].answers if answer.query != query.name)
