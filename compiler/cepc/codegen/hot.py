"""Which GROUP BYs have a group so large that time is cut for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ..passes.rates import Rates
    from ..planning.logical import LogicalPlan

HOT: Final = 1 / 16
"""The share of the events from which on one group, which is one task, keeps the others waiting: of 16 processors 15
then have nothing to do when it is half done, whereas segments have an eighth of all events sent twice, at best.
"""


def hot_groupings(plan: LogicalPlan, rates: Rates) -> frozenset[tuple[str, ...]]:
    """The columns of those GROUP BYs, sorted. Where nothing is known of the events there are none."""
    asked = {tuple(sorted(query.group_by)) for query in plan.queries if query.group_by}
    return frozenset(by for by in asked if rates.largest(by) >= HOT)
