"""What a program uses the columns of events for, which says what helps where one is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.expression import fields

if TYPE_CHECKING:
    from cepc_runtime.plan.stream import StreamPlan
    from cepc_runtime.sql.computed import StreamInput


@dataclass(frozen=True, slots=True)
class Uses:
    """`time` and `type` are the event time and the event type; `names` are used by queries, or columns are computed
    from them, so that they cannot just be left out of the STREAM.
    """

    time: str | None = None
    type: str | None = None
    names: frozenset[str] = frozenset()


NONE_KNOWN = Uses()


def uses_of(stream: StreamPlan, given: StreamInput, needed: StreamInput) -> Uses:
    """`needed` is what of the input `given` the queries need."""
    queried = (name for name, _ in needed.columns)
    computed_from = (field.column for column in given.computed for field in fields(column.expression))
    return Uses(stream.time_column, stream.type_column, frozenset((*queried, *computed_from)))
