"""A condition over events bound to variables: which tuples it is about, and whether it holds for all of them.

docs/language.md, "Conditions": it holds for a partial match if it is true for every tuple; a tuple with an unbound
variable there is none, but an aggregate is of no events, too. An evaluation that fails (division by zero, overflow)
leaves the row undecided: another condition may exclude it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
import pyarrow as pa

from ..cheap_dataclass import dataclass
from ..numbers.columns import as_bools
from ..numbers.sorting import order_of
from ..sql.evaluate import EvaluationError, evaluate
from ..sql.evaluate.truths import truths
from ..sql.expression import FieldKey, aggregates, fields_outside_aggregates, variables
from ..sql.spark_sql import describe
from .ragged import expand, product, slices, starts_of
from .running import over, up_to_each

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..numbers.columns import Bools, Ints
    from ..plan.positions import ConditionPlan
    from ..sql.expression import Aggregate, At
    from .evaluation import Evaluator

    BoundPlace = tuple[str, At, int]  # an event of a variable: which one, and how many places further

AT_HAND: Final = FieldKey("", "")
"""Stands for the event up to which aggregates are RUNNING."""
_TUPLES = 1 << 18
"""How many tuples are evaluated at once."""


class Bound(Protocol):
    """The events that rows (partial matches, or pairs of a match and a negated one) have bound. -1 stands for none."""

    count: int

    def first(self, variable: str, places: int = 0) -> Ints:
        """The event of the variable so many places after the first."""

    def last(self, variable: str, places: int = 0) -> Ints:
        """That so many places before the last."""

    def one(self, variable: str) -> Ints | None:
        """The only event to look at of each row; None where there may be several."""

    def before(self, variable: str, places: int = 0) -> Ints:
        """The latest event of the variable in an instant before that of `one`, or that so many places before it."""

    def every(self, variable: str) -> tuple[Ints, Ints]:
        """How many each row has, and their positions, row by row, in order."""

    def newest(self) -> str | None:
        """The variable of `any_event` where of that variable no other event is to be looked at."""

    def any_event(self) -> Ints:
        """Some event of each row, for what all events share."""

    def aggregate(self, aggregate: Aggregate) -> tuple[Any, Bools] | None:
        """Of all events, or what is RUNNING of those up to the newest, and where it does not fit; None where nobody has
        kept it.
        """


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
        self.keys: tuple[FieldKey, ...] = tuple(f.key for f in fields_outside_aggregates(plan.expression))
        self.aggregates = aggregates(plan.expression)
        """Of a variable's events: what is RUNNING up to the one at hand, and others of all."""
        self.variables = frozenset(variables(plan.expression))
        running = (a.variable for a in self.aggregates if a.running)
        self.running = tuple(dict.fromkeys(variable for variable in running if variable is not None))
        """The variables whose events are at hand in turn."""
        self.of = frozenset(key.variable for key in self.keys if key.variable is not None).difference(self.running)
        """The others whose events its tuples are of: not those that there are mere aggregates of."""

    @cached_property
    def eaches(self) -> tuple[str, ...]:
        """The variables each of whose events it is about."""
        keys = (key.variable for key in self.keys if key.at in ("each", "prev"))
        return tuple(dict.fromkeys((*(variable for variable in keys if variable is not None), *self.running)))

    @cached_property
    def previous(self) -> tuple[BoundPlace, ...]:
        return self._places("prev")

    @cached_property
    def firsts(self) -> tuple[BoundPlace, ...]:
        return self._places("first")

    @cached_property
    def lasts(self) -> tuple[BoundPlace, ...]:
        return self._places("last")

    @cached_property
    def whole(self) -> tuple[str, ...]:
        """The variables that it has an aggregate of all events of."""
        found = (a.variable for a in self.aggregates if not a.running)
        return tuple(dict.fromkeys(variable for variable in found if variable is not None))

    @cached_property
    def awaits(self) -> frozenset[str]:
        """The variables whose later events may change its outcome, also for the events that there are."""
        ends = (variable for variable, at, places in (*self.firsts, *self.lasts) if at == "last" or places)
        return frozenset((*ends, *self.whole))

    def _places(self, at: At) -> tuple[BoundPlace, ...]:
        found = ((key.variable, key.at, key.places) for key in self.keys if key.at == at)
        return tuple(dict.fromkeys((variable, at, places) for variable, at, places in found if variable is not None))

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
        return found | {a: self._aggregate(a, bound, rows, positions, evaluator) for a in self.aggregates}

    def _aggregate(
        self, aggregate: Aggregate, bound: Bound, rows: Ints, positions: Mapping[FieldKey, Ints], evaluator: Evaluator
    ) -> Any:
        assert aggregate.variable is not None
        known = None if aggregate.running and bound.newest() not in self.running else bound.aggregate(aggregate)
        if known is not None:
            column, misfits = known
            column, misfits = column.take(pa.array(rows)), misfits[rows]
        else:
            column, misfits = _listed(aggregate, *bound.every(aggregate.variable), rows, positions, evaluator)
        if misfits.any() and not aggregate.safe:
            hint = "CAST what is added AS DECIMAL(38, 0)" if aggregate.function.of_any_size else ""
            what = "running" if aggregate.running else "aggregate"
            raise EvaluationError(f"a value past {aggregate.type.sql}", what, describe(aggregate), hint)
        return column

    def tuples(self, bound: Bound, instant_start: Ints) -> Iterable[tuple[Ints, Mapping[FieldKey, Ints]]]:
        """Tuples in portions: the row of each, and the event that each field is of, -1 where there is none."""
        fixed: dict[BoundPlace, Ints] = {}
        for variable, at, places in (*self.firsts, *self.lasts):
            of = bound.first if at == "first" else bound.last
            fixed[variable, at, 0] = of(variable)
            fixed[variable, at, places] = of(variable, places)
        listed: dict[str, tuple[Ints, Ints]] = {}
        turns = _turns(bound, self.running) if len(self.running) > 1 else None
        for variable in self.eaches:
            if turns is not None and variable in self.running:
                continue
            one = bound.one(variable)
            if one is None:
                listed[variable] = bound.every(variable)
                continue
            fixed[variable, "each", 0] = one
            fixed |= {place: bound.before(variable, place[2]) for place in self.previous if place[0] == variable}
        rows = np.arange(bound.count)
        needed = [positions for (_, at, places), positions in fixed.items() if at == "prev" or not places]
        if needed:
            rows = np.flatnonzero(np.logical_and.reduce([positions >= 0 for positions in needed]))
        if not len(rows):
            return
        if turns is not None:
            listed[""] = turns.counts, np.arange(len(turns.positions))
        shared = bound.any_event() if any(key.variable is None for key in self.keys) else None
        for tuple_rows, chosen in self._chosen(rows, listed, instant_start):
            positions: dict[FieldKey, Ints] = {}
            if turns is not None:
                turn = chosen["", "each", 0]
                positions = {key: turns.of(key.variable, turn) for key in self.keys if key.variable in self.running}
                positions[AT_HAND] = turns.positions[turn]
            elif self.running:
                place: BoundPlace = (self.running[0], "each", 0)
                positions[AT_HAND] = fixed[place][tuple_rows] if place in fixed else chosen[place]
            for key in self.keys:
                if key.variable is None:
                    assert shared is not None
                    positions[key] = shared[tuple_rows]
                elif key not in positions:
                    place = key.variable, key.at, key.places
                    positions[key] = fixed[place][tuple_rows] if place in fixed else chosen[place]
            yield tuple_rows, positions

    def _chosen(
        self, rows: Ints, listed: Mapping[str, tuple[Ints, Ints]], instant_start: Ints
    ) -> Iterable[tuple[Ints, Mapping[BoundPlace, Ints]]]:
        """Every tuple of the listed variables' events for the rows: the row and, for each variable, the event and those
        before it.
        """
        if not listed:
            yield rows, {}
            return
        counts = [counts for counts, _ in listed.values()]
        flats = [flat for _, flat in listed.values()]
        before = {
            place: _previous(*listed[place[0]], instant_start, place[2])
            for place in self.previous
            if place[0] in listed
        }
        totals = np.prod(np.stack(counts), axis=0)[rows]
        for start, stop in slices(totals, _TUPLES):
            some = rows[start:stop]
            places, indexes = product([c[some] for c in counts])
            chosen: dict[BoundPlace, Ints] = {}
            keep: Bools | None = None
            for variable, count, flat, index in zip(listed, counts, flats, indexes, strict=True):
                # `index` counts within the lists of `some`; the flat array has those of all rows
                at = index + (starts_of(count)[some] - starts_of(count[some]))[places]
                chosen[variable, "each", 0] = flat[at]
                for place in before:
                    if place[0] == variable:
                        chosen[place] = before[place][at]
                        keep = chosen[place] >= 0 if keep is None else keep & (chosen[place] >= 0)
            found = some[places]
            if keep is not None:
                found, chosen = found[keep], {key: positions[keep] for key, positions in chosen.items()}
            if len(found):
                yield found, chosen


def _listed(
    aggregate: Aggregate,
    counts: Ints,
    flat: Ints,
    rows: Ints,
    positions: Mapping[FieldKey, Ints],
    evaluator: Evaluator,
) -> tuple[Any, Bools]:
    """An aggregate of the listed events of some rows, or what is RUNNING of those up to the ones at hand; and where it
    does not fit. Rows may stand there several times.
    """
    own, number = np.unique(rows, return_inverse=True)
    which, place = expand(counts[own])
    each = flat[starts_of(counts)[own][which] + place]
    if not aggregate.running:
        column, misfits = over(aggregate, counts[own], each, evaluator)
        return column.take(pa.array(number)), misfits[number]
    column, misfits = up_to_each(aggregate, counts[own], each, evaluator)
    beyond = int(max(each.max(initial=0), positions[AT_HAND].max(initial=0))) + 1
    known = np.searchsorted(which * beyond + each, number * beyond + positions[AT_HAND], side="right")
    found = known + number  # so many events of this row and those before it; and each row before has one more for none
    return column.take(pa.array(found)), misfits[found]


@dataclass(frozen=True, slots=True)
class _Turns:
    """Events at hand, so many of each row, and to which of the variables each is bound."""

    counts: Ints
    positions: Ints
    variables: tuple[str, ...]
    variable: Ints

    def of(self, variable: str | None, turn: Ints) -> Ints:
        """The events at hand in these turns, where they are bound to the variable, else -1."""
        return np.where(np.array(self.variables)[self.variable[turn]] == variable, self.positions[turn], -1)


def _turns(bound: Bound, variables: tuple[str, ...]) -> _Turns:
    newest = bound.newest()
    if newest in variables:
        number = np.full(bound.count, variables.index(newest))
        return _Turns(np.ones(bound.count, dtype=np.int64), bound.any_event(), variables, number)
    lists = [bound.every(variable) for variable in variables]
    counts = np.stack([counts for counts, _ in lists])
    row = np.concatenate([expand(own)[0] for own in counts])
    positions = np.concatenate([positions for _, positions in lists])
    number = np.repeat(np.arange(len(variables)), counts.sum(axis=1))
    order = order_of([row])
    return _Turns(counts.sum(axis=0), positions[order], variables, number[order])


def _previous(counts: Ints, flat: Ints, instant_start: Ints, places: int) -> Ints:
    """For each element of the lists the latest one of its row in an earlier instant, or that so many places before it;
    -1 where there is none.
    """
    first = np.repeat(starts_of(counts), counts)
    previous = np.arange(len(flat)) - 1
    while True:
        tied = previous >= first
        tied[tied] &= flat[previous[tied]] >= instant_start[flat[tied]]
        if not np.any(tied):
            previous -= places
            return np.where(previous >= first, flat[np.maximum(previous, 0)] if len(flat) else flat, -1)
        previous[tied] -= 1
