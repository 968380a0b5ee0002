"""Panes to windows: matrices multiplied in order of time.

An entry holds how many ways lead from one state to another, and for each further plane a sum over these ways, or the least place of a
value on any of them. So do the numbers of an open window, of which there is an entry for each state. A pane without events changes
nothing, and so does what has no entry: no way leads there.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ..columns import codes, combine_codes, dense, flat
from ..kernel.planes import planes_of
from ..totals import Totals, grouped
from .numbers import Numbers, number_column
from .panes import PANE, SOURCE, TARGET, key_name, pane_length

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..plan import QueryPlan
    from .numbers import Entry

    Entries = dict[int, Entry]  # by state
    Matrix = dict[int, Entries]  # by source


def totals_of_panes(query: QueryPlan, matrices: Any) -> Totals:
    """The totals of a query from a table of its panes' matrices, in any order, with all panes of its groups."""
    assert query.automaton is not None
    layout = planes_of(query.automaton, query.measures)
    keys = {name: flat(matrices.column(key_name(i))) for i, name in enumerate(query.partition)}
    group_of, first = dense(combine_codes([codes(key) for key in keys.values()], matrices.num_rows)[0])
    numbers = Numbers.of(query, layout, matrices)
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
        tuple(number_column(column, p >= layout.additive) for p, column in enumerate(columns)),
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
