"""How rows of a partition are numbered, in the order of SQL's ORDER BY."""

from __future__ import annotations

from ..cheap_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class SortColumn:
    column: str
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class ShiftedColumn:
    """What a column has so many `places` after a row, or before it where they are below 0."""

    name: str
    column: str
    places: int


@dataclass(frozen=True, slots=True)
class RowNumbers:
    """The numbers stand in a `column` of the events; those of one time are in the order of `then_by`. What rows that
    are `following` have stands in columns of its own.
    """

    column: str
    partition: tuple[str, ...]
    then_by: tuple[SortColumn, ...]
    following: tuple[ShiftedColumn, ...] = ()
