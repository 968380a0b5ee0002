"""The events of a batch's matches, all of them or those of some variables, for aggregates that are of no one variable.

An event is named by its place among these, for one match may have it under another variable than the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..numbers.columns import flat
from ..sql.evaluate import evaluate
from ..sql.expression import NAME_OF_VARIABLE, fields
from .lists import Lists

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..sql.expression import Aggregate, Expression, FieldKey
    from .evaluation import Evaluator
    from .standing import Matches
    from .timeline import Bools, Ints


class EventsOfMatches:
    """Match by match, in canonical order."""

    def __init__(self, matches: Matches, evaluator: Evaluator) -> None:
        self._names, self._evaluator = matches.names, evaluator
        self._variables = matches.variables.T
        self.positions = matches.positions.T.ravel()

    def __len__(self) -> int:
        return len(self.positions)

    def are_bound(self, among: Sequence[str]) -> Bools:
        """Which of them are bound to one of these variables; all if none is named."""
        if not among:
            return np.ones(len(self), dtype=np.bool_)
        return np.isin(self._variables, [i for i, name in enumerate(self._names) if name in among]).ravel()

    def lists(self, among: Sequence[str]) -> Lists:
        """The places of those that are bound to one of these variables, of all if none is named."""
        matches, length = self._variables.shape
        if not among:
            return Lists(np.full(matches, length), np.arange(len(self)))
        own = self.are_bound(among)
        return Lists(own.reshape(matches, length).sum(axis=1, dtype=np.int64), np.flatnonzero(own))

    def variables(self, places: Ints) -> Any:
        """The name of the variable that each of some events is bound to."""
        return pa.array(self._names, pa.string()).take(pa.array(self._variables.ravel()[places]))

    def of_events(self, expression: Expression, places: Ints) -> Any:
        """The expression about the event at hand, for each of some events."""
        positions = self.positions[places]
        columns: dict[FieldKey | Aggregate, Any] = {
            field.key: self._evaluator.take(field.column, positions) for field in fields(expression)
        }
        columns[NAME_OF_VARIABLE] = self.variables(places)
        return flat(evaluate(expression, columns, len(places)))
