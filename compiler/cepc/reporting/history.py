"""A query's matches, or its rows, over time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.windows import Sliding, Window
from cepc_runtime.sql.expression import Aggregate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .. import model

BARS: Final = 90


@dataclass(frozen=True, slots=True)
class Axis:
    """Common to the queries of a stream, so that one can look across. In ticks; `first` and `last` as they are
    written.
    """

    begin: int
    width: int  # of a bar
    bars: int
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class History:
    """`what` is counted, and how many in each bar of the axis. No axis: the query has no rows, or none with a time.

    `span`: over so many bars of the axis each count goes, as a window is as wide as the slide.
    """

    query: str
    rows: int
    what: str
    axis: Axis | None
    counts: tuple[float, ...] = ()
    span: int = 1


def histories(queries: Sequence[model.Query], tables: dict[str, Any]) -> tuple[History, ...]:
    """Of queries over one stream."""
    times = {query.name: _times(query, tables[query.name]) for query in queries}
    slides = [_slide(query.window) for query in queries]
    axis = _axis([time for time in times.values() if len(time)], math.gcd(*slides))
    return tuple(_history(query, tables[query.name], times[query.name], axis) for query in queries)


def _slide(window: Window) -> int:
    """0 where there are no windows one after the other."""
    return window.slide if isinstance(window, Sliding) else 0


def _times(query: model.Query, table: Any) -> Any:
    """When a match ends or a window begins, without nulls. The rows of a MATCH_RECOGNIZE have no such column."""
    import pyarrow as pa

    name, other = ("match_end", "match_start") if query.kind == "match" else ("window_start", "window_end")
    is_there = {name, other} <= {*table.column_names}
    return table[name].combine_chunks().drop_null() if is_there else pa.nulls(0)


def _ticks(times: Any) -> Any:
    import pyarrow as pa

    number = pa.int32() if pa.types.is_date32(times.type) else pa.int64()
    return times.cast(number).to_numpy(zero_copy_only=False).astype("int64")


def _axis(times: Iterable[Any], slide: int) -> Axis | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    from cepc_runtime.results.as_text import as_text

    found = list(times)
    if not found:
        return None
    every = pa.chunked_array(found).combine_chunks()
    ends = pc.min_max(every)
    edges = pa.array([ends["min"].as_py(), ends["max"].as_py()], every.type)
    begin, end = (int(tick) for tick in _ticks(edges))
    first, last = (text or "" for text in as_text(edges, iso=False))
    width = _width(max(-(-(end - begin + 1) // BARS), 1), slide)
    return Axis(begin, width, (end - begin) // width + 1, first, last)


def _width(least: int, slide: int) -> int:
    """That of a bar, in step with the windows: a multiple of what they slide by, or a part of it. 0 where there are
    none.

    >>> _width(7, 0), _width(7, 5), _width(7, 21), _width(7, 20), _width(7, 17)
    (7, 10, 7, 10, 17)
    """
    if not slide:
        return least
    if slide <= least:
        return -(-least // slide) * slide
    return next(slide // parts for parts in range(slide // least, 0, -1) if slide % parts == 0)


def _history(query: model.Query, table: Any, times: Any, axis: Axis | None) -> History:
    import numpy as np

    weights = None
    what = "by the time of the last event of each match"
    if query.kind == "aggregate":
        column = _count(query)
        what = "by the beginning of the window"
        if column is not None and table[column].null_count == 0 and len(times) == table.num_rows:
            what = "matches in all windows, by the beginning of the window"
            weights = np.array([float(value) for value in table[column].to_pylist()])
    if axis is None or not len(times):
        return History(query.name, table.num_rows, what, None)
    bars = (_ticks(times) - axis.begin) // axis.width
    counts = np.bincount(bars, weights, axis.bars)
    span = max(_slide(query.window) // axis.width, 1)
    return History(query.name, table.num_rows, what, axis, tuple(float(count) for count in counts), span)


def _count(query: model.Query) -> str | None:
    """The column that is the number of matches."""
    for output in query.outputs:
        match output.expression:
            case Aggregate(variable=None):  # COUNT(*)
                return output.name
    return None
