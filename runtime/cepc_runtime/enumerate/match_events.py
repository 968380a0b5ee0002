"""The events of a batch's matches, all of them or those of some variables, for aggregates that are of no one variable.

An event is named by its place among these, for one match may have it under another variable than the next.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..numbers.columns import flat
from ..sql.evaluate import evaluate
from ..sql.expression import NAME_OF_VARIABLE, fields
from .lists import Lists

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..numbers.columns import Bools, Ints
    from ..sql.expression import Aggregate, Expression, FieldKey
    from .evaluation import Evaluator
    from .standing import Matches


class EventsOfMatches:
    """Match by match, in canonical order."""

    def __init__(self, matches: Matches, evaluator: Evaluator) -> None:
        self._names, self._evaluator = matches.names, evaluator
        self._positions, self._variables = matches.positions.T, matches.variables.T

    def __len__(self) -> int:
        return self._positions.size

    @cached_property
    def positions(self) -> Ints:
        return self._positions.ravel()

    def are_bound(self, among: Sequence[str]) -> Bools:
        """Which of them are bound to one of these variables; all where none is named, here and below."""
        if not among:
            return np.ones(len(self), dtype=np.bool_)
        return np.isin(self._variables, [i for i, name in enumerate(self._names) if name in among]).ravel()

    def counts(self, among: Sequence[str]) -> Ints:
        """How many of each match are bound to one of these variables."""
        if not among:
            return np.full(len(self._variables), self._variables.shape[1])
        return self._in_each_match(self.are_bound(among))

    def lists(self, among: Sequence[str]) -> Lists:
        """The places of those."""
        own = self.are_bound(among)
        return Lists(self._in_each_match(own), np.flatnonzero(own))

    def _in_each_match(self, own: Bools) -> Ints:
        counts: Ints = own.reshape(self._variables.shape).sum(axis=1, dtype=np.int64)
        return counts

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
