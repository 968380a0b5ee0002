"""What computing a sub-query costs, from events or from another: the models are arguments of the pass (§VI)."""

from __future__ import annotations

import math
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from cepc_runtime.cheap_dataclass import dataclass

from .estimate import MOST, combined, matches, series_of
from .patterns import Pattern, extents

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping

    from .derivation import Derivation
    from .estimate import Series
    from .patterns import OperatorName, SubQuery


class CostModel(Protocol):
    """Costs in any unit, finite and at least 0. What the inputs of a derivation cost is not part of its cost."""

    def cost(self, derivation: Derivation) -> float: ...


@dataclass(frozen=True)
class PatternStatistics:
    """Events per tick of each letter (of one group), and the share of tuples for which each condition holds."""

    rates: Mapping[int, float] = field(default_factory=dict)
    default_rate: float = 1.0
    selectivities: Mapping[Hashable, float] = field(default_factory=dict)
    default_selectivity: float = 0.5
    horizon: float = 1e6
    """What an unbounded window is taken for."""

    def __post_init__(self) -> None:
        if min([self.default_rate, *self.rates.values()]) < 0 or self.horizon <= 0:
            raise ValueError("rates are not negative, and the horizon is positive")
        if not all(0 <= s <= 1 for s in (self.default_selectivity, *self.selectivities.values())):
            raise ValueError("a selectivity is between 0 and 1")

    def window(self, asked: SubQuery) -> float:
        return float(asked.window or self.horizon)

    def share(self, tests: Collection[Hashable]) -> float:
        return math.prod(self.selectivities.get(test, self.default_selectivity) for test in tests)

    def found(self, asked: SubQuery, operands: Collection[int]) -> float:
        """Matches per tick of the sub-query with only some of its operands."""
        if not operands:
            return 0.0
        window = self.window(asked)
        chosen = [asked.pattern.operands[i] for i in sorted(operands)]
        series = combined(
            asked.pattern.operator,
            [series_of(o, lambda letter: self.rates.get(letter, self.default_rate) * window) for o in chosen],
        )
        where = extents(asked.pattern)
        bound = {leaf for i in operands for leaf in where[i]}
        return matches(series) / window * self.share([c.test for c in asked.conditions if set(c.leaves) <= bound])


@dataclass(frozen=True)
class PaperModel:
    """The paper's rules over a plain model of one pattern operator.

    Of the operators' own cost the paper only says that it is that of SAP ESP. Here it is the events and composite
    events that come in, and the partial matches that are made of them from left to right. A subsequence is merged by a
    CONJ and a filter, as the paper has it (§IV-A), so its partial matches are those of all orders.
    """

    statistics: PatternStatistics = PatternStatistics()
    filter: float = 0.1
    """Of one composite event."""

    def cost(self, derivation: Derivation) -> float:
        result, stats = derivation.result, self.statistics
        window = stats.window(result)
        operator = result.pattern.operator
        inputs = [stats.found(inner, range(len(inner.pattern.operands))) for inner in _each_inner(derivation)]
        letters = [o for i in derivation.rest if isinstance(o := result.pattern.operands[i], int)]
        inputs = [*(stats.rates.get(letter, stats.default_rate) for letter in letters), *inputs]
        filters = len(derivation.filters)
        cost = 0.0
        if derivation.source is not None:
            come = stats.found(derivation.source, range(len(derivation.places)))
            cost += filters * self.filter * come
            inputs = [come, *inputs] if inputs else []
            if inputs and operator == "SEQ" and not _side_by_side(derivation):
                operator = "AND"
                cost += self.filter * self._made(operator, inputs, window)
        else:
            cost += self.filter * stats.found(result, range(len(result.pattern.operands))) * bool(result.absent)
        steps = [self._made(operator, inputs[:n], window) for n in range(2, len(inputs) + 1)]
        return min(math.fsum([cost, *inputs, *steps]), MOST)

    def _made(self, operator: OperatorName, rates: list[float], window: float) -> float:
        parts: list[Series] = [{1: rate * window} for rate in rates]
        return matches(combined(operator, parts)) / window


def _side_by_side(derivation: Derivation) -> bool:
    places = derivation.places
    return places == tuple(range(places[0], places[0] + len(places)))


def _each_inner(derivation: Derivation) -> list[SubQuery]:
    nested = [i for i, o in enumerate(derivation.result.pattern.operands) if isinstance(o, Pattern)]
    inner = dict(zip(nested, derivation.result.inner(), strict=True))
    return [inner[i] for i in derivation.rest if i in inner]


PROBE = 1.0
"""Looking up where the candidates of one row begin and end."""
ROW = 2.0
"""Making one row: its events and its bounds are copied."""
KEPT = 1.0
"""Copying one row that a filter leaves."""
TEST = 1.5
"""A condition, or a filter, of one row."""
STARTED = 1e-9
"""Of an operation: what numpy takes to be called, beside which a row is little. Breaks ties in favour of fewer
operations.
"""


@dataclass(frozen=True)
class EngineModel:
    """Costs in the runtime's terms (`enumerate/joins.py`): rows are joined, operand by operand, with ranges of events.

    A range is cut by the events that are bound on both sides, so an event between two of the source's is looked for
    there alone, and no order has to be filtered.
    """

    statistics: PatternStatistics = PatternStatistics()

    def cost(self, derivation: Derivation) -> float:
        result, stats = derivation.result, self.statistics
        bound = set(derivation.places)
        cost, rows = STARTED, 0.0
        if derivation.source is not None:
            come = stats.found(derivation.source, range(len(derivation.places)))
            cost += TEST * come * len(derivation.filters)
            rows = stats.found(result, bound)
            cost += KEPT * (rows if derivation.filters else 0.0)
        for operand in derivation.rest:
            before = self._decided(result, bound)
            bound.add(operand)
            decided = self._decided(result, bound) - before
            made = stats.found(result, bound)
            share = stats.share(decided)
            tried = made / share if share else rows
            cost += PROBE * rows + (ROW + TEST * len(decided)) * tried
            rows = made
        if result.absent and derivation.source is None:
            cost += TEST * rows
        return min(cost, MOST)

    def _decided(self, asked: SubQuery, operands: Collection[int]) -> set[Hashable]:
        where = extents(asked.pattern)
        leaves = {leaf for i in operands for leaf in where[i]}
        return {c.test for c in asked.conditions if set(c.leaves) <= leaves}
