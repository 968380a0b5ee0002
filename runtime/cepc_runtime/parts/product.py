"""From the matrices of panes, as several tasks told them, to a query's totals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..columns import codes, combine_codes, dense, flat
from ..kernel.planes import planes_of
from ..totals import Totals, grouped
from ..windows import Sliding
from .matrices import Matrices, WindowRange, limit_of, windows
from .panes import PANE, SOURCE, TARGET, key_name, pane_length
from .told import planes_told

if TYPE_CHECKING:
    from ..columns import Ints
    from ..exactness import Column
    from ..plan import CountedQuery


def totals_of_panes(query: CountedQuery, table: Any) -> Totals:
    """The totals of a query from a table of its panes' matrices, in any order, with all panes of its groups."""
    layout = planes_of(query.automaton, query.measures, rests=False)
    keys = {name: flat(table.column(key_name(i))) for i, name in enumerate(query.partition)}
    group_of, first = dense(combine_codes([codes(key) for key in keys.values()], table.num_rows)[0])
    planes, extremes = planes_told(query, layout, table)
    panes = np.asarray(table.column(PANE).to_numpy(), dtype=np.int64)
    place, spots = dense(combine_codes([(group_of, len(first)), codes(table.column(PANE))], table.num_rows)[0])
    source, target = (np.asarray(table.column(name).to_numpy()) for name in (SOURCE, TARGET))
    ends = sorted(set(zip(source.tolist(), target.tolist(), strict=True)))
    entries = {}
    for i, j in ends:
        rows = np.flatnonzero((source == i) & (target == j))
        at = place[rows]
        entries[i, j] = tuple(
            _spread(column[rows], at, len(spots), 0 if p < layout.additive else np.inf)
            for p, column in enumerate(planes)
        )
        if i == j:  # a pane that does not touch the state says nothing of it
            entries[i, j][0][np.setdiff1d(np.arange(len(spots)), at)] = 1
    assert isinstance(query.window, Sliding)
    wanted = WindowRange(query.window, pane_length(query.window))
    matrices = Matrices(layout, entries, limit_of(query.measures)).bounded()
    groups, numbers, found = windows(matrices, group_of[spots], panes[spots], query.automaton.accepting, wanted)
    totals = Totals(query, layout, groups, numbers, {}, found, extremes)
    return grouped(totals, {name: keys[name].take(first) for name in query.group_by}, len(first))


def _spread(numbers: Column, at: Ints, length: int, empty: float) -> Column:
    column = np.full(length, empty, dtype=numbers.dtype)
    column[at] = numbers
    return column
