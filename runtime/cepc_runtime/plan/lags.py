"""What queries ask of the events before one, as far as these have to be known for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..cheap_dataclass import dataclass
from .columns_read import beside_read

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .query import QueryPlan
    from .stream import Beside, Letter


@dataclass(frozen=True, slots=True)
class Lag:
    """Columns of the events so many `places` before, among those that agree on `partition`."""

    partition: tuple[str, ...]
    places: int
    columns: tuple[Beside, ...]

    @property
    def kept(self) -> tuple[str, ...]:
        """What is kept of an event: the partition, then what is asked of it."""
        return tuple(dict.fromkeys((*self.partition, *(column.column for column in self.columns))))

    @property
    def key(self) -> tuple[tuple[str, ...], int]:
        return self.partition, self.places


def lags_of(queries: Iterable[QueryPlan], letters: Sequence[Letter], beside: Sequence[Beside]) -> tuple[Lag, ...]:
    """Those that some of the queries ask for."""
    asked = {column for query in queries for column in beside_read(query, letters, beside)}
    found: dict[tuple[tuple[str, ...], int], list[Beside]] = {}
    for column in beside:
        if column in asked:
            found.setdefault((column.partition, -column.places), []).append(column)
    return tuple(Lag(partition, places, tuple(columns)) for (partition, places), columns in found.items())
