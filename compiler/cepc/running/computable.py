"""What only Spark computes is said before the first event is read, and not when all but that is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_runtime.plan.query import letters_listed
from cepc_runtime.sql.functions.portable import calls_of_spark_alone

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..planning.logical import LogicalPlan


def look_at_functions(plans: Iterable[LogicalPlan]) -> None:
    """Raises SparkOnlyError, about the query, for a call in a condition on one event that this process does not know.

    Elsewhere in a query such a call is an error of the program (E0338).
    """
    from cepc_runtime.sql.evaluate.errors import about, unsupported

    for plan in plans:
        for query in plan.queries:
            letters = (plan.letters[letter] for letter in letters_listed(query))
            for call in (c for letter in letters for e in letter.expressions for c in calls_of_spark_alone(e)):
                with about(query.name):
                    unsupported(call, call.function)
