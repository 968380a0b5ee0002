"""What is known of a stream, and the letters of its events."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final
from typing import Literal as OneOf

from ..cheap_dataclass import dataclass
from ..sql.types import DATE, TIMESTAMP, TIMESTAMP_NTZ, is_integer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..sql.expression import Expression
    from ..sql.types import DataType

PLACE: Final = ".place"
"""Of an event of several streams: the place of its stream among them, which canonical order compares first."""

TIME: Final = ".time"
"""Its time, where the streams have it in columns of other names."""

TYPE: Final = ".type"
"""Its type, with its stream before it."""

STREAM: Final = "stream"
"""The name of its stream."""

TickUnit = OneOf["us", "ms", "s", "day"]
"""What a tick is."""

MICROSECONDS: Final[Mapping[TickUnit, int]] = {"us": 1, "ms": 1_000, "s": 1_000_000, "day": 86_400_000_000}
"""How long a tick is."""

MILLISECONDS: Final[Mapping[TickUnit, int]] = {
    unit: size // 1_000 for unit, size in MICROSECONDS.items() if size >= 1_000
}
"""The same of those that are whole milliseconds."""


def unit_of(time: DataType, given: TickUnit | None) -> TickUnit | None:
    """What a tick of a column of times is: of integers the unit that is given, or else s. None: it cannot be one."""
    if time in (TIMESTAMP, TIMESTAMP_NTZ):
        return "us"
    if time == DATE:
        return "day"
    return (given or "s") if is_integer(time) else None


@dataclass(frozen=True, slots=True)
class Beside:
    """A column with what another has for the event so many `places` after this one, or before it (LAG, where they are
    less than 0), among all events that agree on `partition`, in canonical order; null where there is no such event.
    """

    name: str
    column: str
    type: DataType
    places: int
    partition: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """The columns that the plan reads, in the stream's order, and how events are ordered and typed. Those that are
    `beside`, behind the others, are made of these as soon as all events are there.

    `unit` is what a tick is: us (TIMESTAMP, TIMESTAMP_NTZ), day (DATE), or the unit of an integer column. `raw_types`
    lists all types that some letter asks for; None when every event is needed (ANY, CONTIGUOUS, LAG). `single_type`: a
    stream without a type column.
    """

    name: str
    columns: tuple[tuple[str, DataType], ...]
    all_columns: tuple[str, ...]  # of the stream as declared; canonical order compares them all
    time_column: str
    unit: TickUnit
    order_by: tuple[str, ...]
    type_column: str | None
    single_type: str | None
    raw_types: tuple[str, ...] | None
    beside: tuple[Beside, ...] = ()

    @property
    def given(self) -> tuple[tuple[str, DataType], ...]:
        """The columns that events come with."""
        made = {column.name for column in self.beside}
        return tuple(column for column in self.columns if column[0] not in made)

    @property
    def shown(self) -> tuple[tuple[str, DataType], ...]:
        """The columns of an event as queries see it: without fields that queries group by."""
        return tuple(column for column in self.columns if column[0] in self.all_columns and column[0] != PLACE)


@dataclass(frozen=True, slots=True)
class Letter:
    """A class of events: those of `raw_type` (None: any) for which all `conditions` are true and, of each of
    `excluded`, not all are.

    Conditions are over columns of the event at hand, `Field(None, …)`.
    """

    raw_type: str | None
    conditions: tuple[Expression, ...] = ()
    excluded: tuple[tuple[Expression, ...], ...] = ()

    @property
    def expressions(self) -> Iterator[Expression]:
        """All that it asks of an event."""
        return chain(self.conditions, *self.excluded)
