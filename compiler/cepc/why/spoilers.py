"""Which events a match does not stand beside: what a NOT forbids, or what SELECT may not skip."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cepc_runtime.enumerate.budget import TooManyPartialMatchesError
from cepc_runtime.sql.evaluate.errors import EvaluationError

if TYPE_CHECKING:
    from cepc_runtime.numbers.columns import Ints

    from .. import model
    from .finder import Finder, Match

AT_MOST = 4  # events named


def spoilers(finder: Finder, query: model.Query, match: Match, others: Ints) -> tuple[int, ...]:
    """A least set of rows among `others` beside which the match of the query does not stand; empty if it stands, or
    that cannot be said.

    Events more never make a match stand that did not, so the last event of the set is where, one event after the other,
    it ceases to stand: a binary search, once for each event of the set (QuickXplain, Junker 2004).
    """
    others = others[np.argsort(finder.reading.ticks[others], kind="stable")]
    own = [bound.row for bound in match]
    found: list[int] = []
    while len(found) < AT_MOST:
        if not _stands(finder, query, match, [*own, *found]):
            return tuple(sorted(found, key=lambda row: int(finder.reading.ticks[row])))
        low, high = 0, len(others)  # it stands beside `low` of them and, as far as is known, not beside `high`
        if _stands(finder, query, match, [*own, *found, *others.tolist()]):
            return ()
        while high - low > 1:
            middle = (low + high) // 2
            if _stands(finder, query, match, [*own, *found, *others[:middle].tolist()]):
                low = middle
            else:
                high = middle
        found.append(int(others[high - 1]))
        others = others[: high - 1]
    return ()


def _stands(finder: Finder, query: model.Query, match: Match, rows: list[int]) -> bool:
    try:
        return any(set(m) == set(match) for m in finder.matches(query, np.array(sorted(rows), dtype=np.int64)))
    except (TooManyPartialMatchesError, EvaluationError):
        return True
