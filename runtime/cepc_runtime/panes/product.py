"""Panes to windows: matrices multiplied in order of time.

An entry holds how many ways lead from one state to another, and for each further plane a sum over these ways, or the least place of a
value on any of them. So do the numbers of an open window, of which there is an entry for each state. A pane without events changes
nothing, and so does what has no entry: no way leads there.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..columns import codes, combine_codes, dense, flat, ranks
from ..exactness import EXACT
from ..kernel.planes import planes_of
from ..totals import Totals, grouped
from ..types import Decimal, is_float
from .queries import MATCHES, PANE, SOURCE, TARGET, key_name, names, pane_length

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..exactness import Column
    from ..kernel.planes import QueryPlanes
    from ..plan import QueryPlan

    Entry = tuple[Any, ...]  # by plane: the count, sums, then places, inf where there is none
    Entries = dict[int, Entry]  # by state
    Matrix = dict[int, Entries]  # by source


def totals_of_panes(query: QueryPlan, matrices: Any) -> Totals:
    """The totals of a query from a table of its panes' matrices, in any order, with all panes of its groups."""
    assert query.automaton is not None
    layout = planes_of(query.automaton, query.measures)
    keys = {name: flat(matrices.column(key_name(i))) for i, name in enumerate(query.partition)}
    group_of, first = dense(combine_codes([codes(key) for key in keys.values()], matrices.num_rows)[0])
    numbers = _Numbers.of(query, layout, matrices)
    groups: defaultdict[int, defaultdict[int, Matrix]] = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    places = (matrices.column(name).to_pylist() for name in (PANE, SOURCE, TARGET))
    for group, pane, source, target, entry in zip(group_of.tolist(), *places, numbers.entries, strict=True):
        groups[group][pane][source][target] = entry
    found = [
        (group, window, entry)
        for group, panes in groups.items()
        for window, entry in _windows(query, layout.additive, panes)
    ]
    columns = list(zip(*(entry for _, _, entry in found), strict=True)) or [()] * layout.count
    totals = Totals(
        query,
        layout,
        np.array([group for group, _, _ in found], dtype=np.int64),
        np.array([window for _, window, _ in found], dtype=np.int64),
        {},
        tuple(_column(column, p >= layout.additive) for p, column in enumerate(columns)),
        numbers.extremes,
    )
    return grouped(totals, {name: keys[name].take(first) for name in query.group_by}, len(first))


# ---- windows ---------------------------------------------------------------------------------------------------------


def _windows(query: QueryPlan, additive: int, panes: Mapping[int, Matrix]) -> Iterator[tuple[int, Entry]]:
    """The windows with a match, and what their matches add up to."""
    assert query.automaton is not None
    assert query.within is not None
    slide, length = query.slide or query.within, pane_length(query)
    planes = len(next(iter(next(iter(next(iter(panes.values())).values())).values())))
    start = {0: (1, *(0,) * (additive - 1), *(math.inf,) * (planes - additive))}
    opened: dict[int, Entries] = {}
    for pane in sorted(panes):
        begin = pane * length
        first = (begin - query.within) // slide + 1
        for window in [window for window in opened if window < first]:
            yield from _closed(window, opened.pop(window), query.automaton.accepting, additive)
        for window in range(first, begin // slide + 1):
            opened[window] = _applied(opened.get(window, start), panes[pane], additive)
    for window, states in opened.items():
        yield from _closed(window, states, query.automaton.accepting, additive)


def _closed(window: int, states: Entries, accepting: Sequence[int], additive: int) -> Iterator[tuple[int, Entry]]:
    found = [states[state] for state in accepting if state in states]
    if found:
        yield window, _sum(found, additive)


def _applied(states: Entries, matrix: Matrix, additive: int) -> Entries:
    """A window's numbers after a pane; states that the pane does not touch stay."""
    ways: defaultdict[int, list[Entry]] = defaultdict(list)
    for source, before in states.items():
        if source not in matrix:
            ways[source].append(before)
        for target, entry in matrix.get(source, {}).items():
            ways[target].append(_product(before, entry, additive))
    return {state: found[0] if len(found) == 1 else _sum(found, additive) for state, found in ways.items()}


def _product(before: Entry, after: Entry, additive: int) -> Entry:
    """Ways one after the other: a sum over them has each way's as often as the other part has ways."""
    sums = (_times(before[0], after[p]) + _times(after[0], before[p]) for p in range(1, additive))
    least = (min(before[p], after[p]) for p in range(additive, len(before)))
    return (before[0] * after[0], *sums, *least)


def _times(count: int, total: Any) -> Any:
    if not isinstance(total, float):
        return count * total
    if total == 0:  # infinitely many times 0 is 0
        return 0.0
    return (float(count) if count < 1 << 1000 else math.inf) * total


def _sum(found: Sequence[Entry], additive: int) -> Entry:
    columns = list(zip(*found, strict=True))
    return (*(sum(column) for column in columns[:additive]), *(min(column) for column in columns[additive:]))


# ---- numbers ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The entry of each row, and the values by place."""

    entries: list[Entry]
    extremes: dict[Any, Any]

    @staticmethod
    def of(query: QueryPlan, layout: QueryPlanes, matrices: Any) -> _Numbers:
        zeros = [0] * matrices.num_rows
        columns: list[list[Any]] = [zeros] * layout.count
        columns[0] = [int(count) for count in matrices.column(MATCHES).to_pylist()]
        extremes: dict[Any, Any] = {}
        for number, (measure, planes) in enumerate(zip(query.measures, layout.measures, strict=True)):
            count, total, extreme = (
                matrices.column(name) if name in matrices.column_names else None for name in names(number)
            )
            if planes.extreme is not None:
                key = layout.planes[planes.extreme - 1].value
                ranked = ranks(extreme)
                extremes[key] = ranked.values
                sign = -1.0 if measure.function == "max" else 1.0
                columns[planes.extreme] = np.where(ranked.numbers < 0, math.inf, sign * ranked.numbers).tolist()
                continue
            if planes.count is not None and count is not None:
                columns[planes.count] = [int(text) for text in count.to_pylist()]
            if planes.total is not None and total is not None and measure.argument is not None:
                type_ = measure.argument.type
                scale = type_.scale if isinstance(type_, Decimal) else 0
                columns[planes.total] = [
                    0 if value is None else value if is_float(type_) else _scaled(value, scale)
                    for value in total.to_pylist()
                ]
        return _Numbers(list(zip(*columns, strict=True)), extremes)


def _scaled(text: str, scale: int) -> int:
    """A decimal number as written, times 10**scale."""
    whole, _, fraction = text.partition(".")
    return int(whole + fraction.ljust(scale, "0"))


def _column(numbers: Sequence[Any], places: bool) -> Column:
    """float64 where a number is one, int64 where all fit, else Python's integers."""
    if places or any(isinstance(number, float) for number in numbers):
        return np.array(numbers, dtype=np.float64)
    if all(-EXACT < number < EXACT for number in numbers):
        return np.array(numbers, dtype=np.int64)
    return np.array([*numbers, None], dtype=object)[:-1]
