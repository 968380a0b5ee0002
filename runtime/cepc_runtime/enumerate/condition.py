"""A condition over events bound to variables: which tuples it is about, and whether it holds for all of them.

docs/language.md, "Conditions": it holds for a partial match if it is true for every tuple; a tuple with an unbound
variable there is none. An evaluation that fails (division by zero, overflow) leaves the row undecided: another
condition may exclude it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
import pyarrow as pa

from ..cheap_dataclass import dataclass
from ..numbers.columns import as_bools
from ..sql.evaluate import EvaluationError, evaluate
from ..sql.evaluate.truths import truths
from ..sql.expression import FieldKey, aggregates, fields, variables
from ..sql.spark_sql import describe
from .ragged import expand, product, slices, starts_of
from .running import over

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..plan.positions import ConditionPlan
    from ..sql.expression import Aggregate
    from .evaluation import Evaluator
    from .timeline import Bools, Ints

NO_COLUMN: Final = ""
"""Stands for an event itself, where none of its columns is asked for."""
_TUPLES = 1 << 18
"""How many tuples are evaluated at once."""


class Bound(Protocol):
    """The events that rows (partial matches, or pairs of a match and a negated one) have bound. -1 stands for none."""

    count: int

    def first(self, variable: str) -> Ints: ...

    def last(self, variable: str) -> Ints: ...

    def one(self, variable: str) -> Ints | None:
        """The only event to look at of each row; None where there may be several."""

    def before(self, variable: str) -> Ints:
        """The latest event of the variable in an instant before that of `one`."""

    def every(self, variable: str) -> tuple[Ints, Ints]:
        """How many each row has, and their positions, row by row, in order."""

    def any_event(self) -> Ints:
        """Some event of each row, for what all events share."""

    def running(self, aggregate: Aggregate) -> tuple[Any, Bools] | None:
        """Of the events up to `one`, and where it does not fit; None where nobody has kept it."""


@dataclass(frozen=True)
class Verdict:
    """For each row whether the condition holds for all tuples, and whether, failing none, it could not be evaluated
    for some.
    """

    holds: Bools
    undecided: Bools


class Condition:
    """A `ConditionPlan` with its fields sorted by the events that they are of."""

    def __init__(self, plan: ConditionPlan) -> None:
        self.plan = plan
        self.keys: tuple[FieldKey, ...] = tuple(dict.fromkeys(field.key for field in fields(plan.expression)))
        self.running = aggregates(plan.expression)
        """Aggregates of a variable's events up to the one that it is asked of; then it mentions no other variable."""
        self._asked = (*self.keys, *dict.fromkeys(FieldKey(a.variable, NO_COLUMN) for a in self.running))
        self.variables = frozenset(variables(plan.expression))

    @cached_property
    def eaches(self) -> tuple[str, ...]:
        """The variables each of whose events it is about."""
        running = (aggregate.variable for aggregate in self.running if aggregate.variable is not None)
        return tuple(dict.fromkeys((*self._variables("each", "prev"), *running)))

    @cached_property
    def previous(self) -> tuple[str, ...]:
        return self._variables("prev")

    @cached_property
    def firsts(self) -> tuple[str, ...]:
        return self._variables("first")

    @cached_property
    def lasts(self) -> tuple[str, ...]:
        return self._variables("last")

    def _variables(self, *at: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(key.variable for key in self.keys if key.variable is not None and key.at in at))

    def judge(self, bound: Bound, instant_start: Ints, evaluator: Evaluator) -> Verdict:
        """The condition over all tuples of the events bound. `instant_start` is where each event's instant begins."""
        holds = np.ones(bound.count, dtype=np.bool_)
        undecided = np.zeros(bound.count, dtype=np.bool_)
        for rows, positions in self.tuples(bound, instant_start):
            true, failed = truths(self.plan.expression, self.values(bound, rows, positions, evaluator), len(rows))
            holds[rows[~(true | failed)]] = False
            undecided[rows[failed]] = True
        return Verdict(holds, undecided & holds)

    def demand(self, bound: Bound, instant_start: Ints, evaluator: Evaluator) -> Bools:
        """For each row whether the condition holds; what cannot be evaluated is an error now."""
        holds = np.ones(bound.count, dtype=np.bool_)
        for rows, positions in self.tuples(bound, instant_start):
            values = self.values(bound, rows, positions, evaluator)
            holds[rows[~as_bools(evaluate(self.plan.expression, values, len(rows)))]] = False
        return holds

    def values(
        self, bound: Bound, rows: Ints, positions: Mapping[FieldKey, Ints], evaluator: Evaluator
    ) -> dict[FieldKey | Aggregate, Any]:
        """What stands in it, for each tuple. Raises EvaluationError where a running aggregate does not fit."""
        found: dict[FieldKey | Aggregate, Any] = {key: evaluator.take(key.column, positions[key]) for key in self.keys}
        return found | {a: self._up_to(a, bound, rows, positions, evaluator) for a in self.running}

    def _up_to(
        self, aggregate: Aggregate, bound: Bound, rows: Ints, positions: Mapping[FieldKey, Ints], evaluator: Evaluator
    ) -> Any:
        assert aggregate.variable is not None
        known = bound.running(aggregate)
        if known is not None:
            column, misfits = known
            column, misfits = column.take(pa.array(rows)), misfits[rows]
        else:
            at = positions[FieldKey(aggregate.variable, NO_COLUMN)]
            counts, flat = bound.every(aggregate.variable)
            which, place = expand(counts[rows])
            each = flat[starts_of(counts)[rows][which] + place]
            upto = each <= at[which]
            column, misfits = over(aggregate, np.bincount(which[upto], minlength=len(rows)), each[upto], evaluator)
        if misfits.any():
            hint = "CAST what is added AS DECIMAL(38, 0)" if aggregate.function.of_any_size else ""
            raise EvaluationError(f"a value past {aggregate.type.sql}", "running", describe(aggregate), hint)
        return column

    def tuples(self, bound: Bound, instant_start: Ints) -> Iterable[tuple[Ints, Mapping[FieldKey, Ints]]]:
        """Tuples in portions: the row of each, and the event that each field is of."""
        fixed: dict[tuple[str, str], Ints] = {}
        for variable in self.firsts:
            fixed[variable, "first"] = bound.first(variable)
        for variable in self.lasts:
            fixed[variable, "last"] = bound.last(variable)
        listed: dict[str, tuple[Ints, Ints]] = {}
        for variable in self.eaches:
            one = bound.one(variable)
            if one is None:
                listed[variable] = bound.every(variable)
                continue
            fixed[variable, "each"] = one
            if variable in self.previous:
                fixed[variable, "prev"] = bound.before(variable)
        rows = np.arange(bound.count)
        if fixed:
            rows = np.flatnonzero(np.logical_and.reduce([positions >= 0 for positions in fixed.values()]))
        if not len(rows):
            return
        shared = bound.any_event() if any(key.variable is None for key in self.keys) else None
        for tuple_rows, chosen in self._chosen(rows, listed, instant_start):
            positions: dict[FieldKey, Ints] = {}
            for key in self._asked:
                if key.variable is None:
                    assert shared is not None
                    positions[key] = shared[tuple_rows]
                elif (key.variable, key.at) in fixed:
                    positions[key] = fixed[key.variable, key.at][tuple_rows]
                else:
                    positions[key] = chosen[key.variable, key.at]
            yield tuple_rows, positions

    def _chosen(
        self, rows: Ints, listed: Mapping[str, tuple[Ints, Ints]], instant_start: Ints
    ) -> Iterable[tuple[Ints, Mapping[tuple[str, str], Ints]]]:
        """Every tuple of the listed variables' events for the rows: the row and, for each variable, the event and the
        previous.
        """
        if not listed:
            yield rows, {}
            return
        counts = [counts for counts, _ in listed.values()]
        flats = [flat for _, flat in listed.values()]
        before = {
            variable: _previous(*listed[variable], instant_start) for variable in self.previous if variable in listed
        }
        totals = np.prod(np.stack(counts), axis=0)[rows]
        for start, stop in slices(totals, _TUPLES):
            some = rows[start:stop]
            places, indexes = product([c[some] for c in counts])
            chosen: dict[tuple[str, str], Ints] = {}
            keep: Bools | None = None
            for variable, count, flat, index in zip(listed, counts, flats, indexes, strict=True):
                # `index` counts within the lists of `some`; the flat array has those of all rows
                at = index + (starts_of(count)[some] - starts_of(count[some]))[places]
                chosen[variable, "each"] = flat[at]
                if variable in before:
                    chosen[variable, "prev"] = before[variable][at]
                    keep = chosen[variable, "prev"] >= 0
            found = some[places]
            if keep is not None:
                found, chosen = found[keep], {key: positions[keep] for key, positions in chosen.items()}
            if len(found):
                yield found, chosen


def _previous(counts: Ints, flat: Ints, instant_start: Ints) -> Ints:
    """For each element of the lists the latest one of its row in an earlier instant, or -1."""
    first = np.repeat(starts_of(counts), counts)
    previous = np.arange(len(flat)) - 1
    while True:
        tied = previous >= first
        tied[tied] &= flat[previous[tied]] >= instant_start[flat[tied]]
        if not np.any(tied):
            return np.where(previous >= first, flat[np.maximum(previous, 0)] if len(flat) else flat, -1)
        previous[tied] -= 1
