"""For which classes Spark looks first where a query can match at all, and sends the events of these groups alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from cepc_runtime.parts.classes import Class
    from cepc_runtime.plan.strategy import PhysicalQuery

    from ..passes.rates import Rates
    from ..planning.logical import LogicalPlan

RARE: Final = 1 / 5
"""The share of the events in groups that can match up to which it pays to read the events twice."""

GROUPS: Final = 1_000_000
"""How many groups that can match are sent to every worker at most."""


def with_able(
    classes: Sequence[Class], queries: Sequence[PhysicalQuery], plan: LogicalPlan, rates: Rates
) -> tuple[Class, ...]:
    """The classes, of which some say by which letters a group is known in which one of their queries may match. Where
    nothing is known of the events there are none.
    """
    return tuple(replace(one, able=_able(one, queries, plan, rates)) for one in classes)


def _able(one: Class, queries: Sequence[PhysicalQuery], plan: LogicalPlan, rates: Rates) -> tuple[int, ...] | None:
    needs = {needs.query: needs.of for needs in plan.needs}
    letters: set[int] = set()
    for query in (queries[number] for number in one.queries):
        if not one.keys or query.name not in needs:
            return None
        letters |= min((set(need.letters) for need in needs[query.name]), key=lambda own: _share(own, one, plan, rates))
    share = _share(letters, one, plan, rates)
    return tuple(sorted(letters)) if share <= RARE and share * rates.groups(one.keys) <= GROUPS else None


def _share(letters: AbstractSet[int], one: Class, plan: LogicalPlan, rates: Rates) -> float:
    """Of the events in groups that have one of the letters, at most."""
    return min(1.0, sum(rates.in_groups_with(plan.letters[letter], one.keys) for letter in letters))
