"""What only Spark computes is said before the first event is read, and not when all but that is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_runtime.plan.query import letters_listed
from cepc_runtime.sql.functions.portable import calls_of_spark_alone

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cepc_runtime.plan.query import QueryPlan
    from cepc_runtime.plan.stream import Letter
    from cepc_runtime.sql.expression import Expression

    from ..planning.logical import LogicalPlan


def look_at_functions(plans: Iterable[LogicalPlan]) -> None:
    """Raises SparkOnlyError, about the query, for a call that this process does not compute."""
    from cepc_runtime.sql.evaluate.errors import about, unsupported

    for plan in plans:
        for query in plan.queries:
            for expression in _expressions(query, plan.letters):
                for call in calls_of_spark_alone(expression):
                    with about(query.name):
                        unsupported(call, call.function)


def _expressions(query: QueryPlan, letters: tuple[Letter, ...]) -> Iterator[Expression]:
    yield from (condition.expression for condition in query.conditions)
    yield from (output.expression for output in query.outputs)
    if query.having is not None:
        yield query.having
    for letter in letters_listed(query):
        yield from letters[letter].conditions
        for excluded in letters[letter].excluded:
            yield from excluded
