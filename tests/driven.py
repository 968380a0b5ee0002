"""Rows of a plan's queries over a table, as every engine has them found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cepc_runtime.drive import drive
from cepc_runtime.events.grouped import Reading, read
from cepc_runtime.events.stretch import EVERYWHERE, Means, Stretch, TimeSpan
from cepc_runtime.parts.found import Found

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cepc_runtime.plan.physical import PhysicalPlan
    from cepc_runtime.plan.strategy import PhysicalQuery


def driven(
    source: Any,
    plan: PhysicalPlan,
    queries: Sequence[PhysicalQuery] | None = None,
    *,
    span: TimeSpan = EVERYWHERE,
    **means: Any,
) -> dict[str, Any]:
    """A table for each query: of all of the plan, unless they are given. `source` is a table or a Reading of one."""
    reading = source if isinstance(source, Reading) else read(source, plan.stream)
    asked = plan.queries if queries is None else queries
    found = Found(None).add(drive(Stretch(plan, reading, span), asked, Means(**means))).tables()
    return {query.name: found[query.name] for query in asked}
