"""What is said of an aggregate: its text, and how to have a value that does not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .expression import Field

if TYPE_CHECKING:
    from .expression import Aggregate


def aggregate_text(aggregate: Aggregate) -> str:
    """The aggregate in a user's words."""
    name = aggregate.function.written
    if aggregate.variable is None:
        return f"{name}(*)"
    match aggregate.argument:
        case None:
            return f"{name}({aggregate.variable})"
        case Field(_, column):
            return f"{name}({aggregate.variable}.{column})"
    return f"{name}(… of {aggregate.variable})"


def cure(aggregate: Aggregate) -> str:
    text = aggregate_text(aggregate)
    if not aggregate.function.of_any_size:
        return f"TRY_CAST({text} AS {aggregate.type.sql}) is null instead"
    return f"CAST({text} AS STRING) is exact at any size, TRY_{text} is null instead"
