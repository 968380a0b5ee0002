"""Which group and which window are asked about."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.events.grouped import ticks_of, times_of
from cepc_runtime.numbers.columns import codes, flat
from cepc_runtime.plan.windows import Sessions, Sliding
from cepc_runtime.results.as_text import as_text
from cepc_runtime.sql.parsing import parse_interval
from cepc_runtime.sql.types import BINARY, INTERVAL, Array, Interval, Map, Struct, to_arrow

from ..diagnostics.near import did_you_mean
from ..expressions.literals import EXAMPLES
from ..reading.json_values import Exact, column_of
from ..reading.text_values import BadValueError, from_text
from .values import NO_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cepc_runtime.events.grouped import Reading
    from cepc_runtime.numbers.columns import Bools
    from cepc_runtime.sql.types import DataType

    from .. import model


class UnclearRowError(ValueError):
    """The group or window of the question does not exist in the query."""


@dataclass(frozen=True)
class RowScope:
    """`group` has values of some of the query's partition attributes, as Arrow scalars; `start` is a time in ticks.

    For an aggregate query `start` is where the window begins; for a match query it is when the match begins.
    """

    group: Mapping[str, Any]
    start: int | None

    def of_group(self, reading: Reading) -> Bools:
        """The events of the group."""
        mask = np.ones(len(reading.ticks), dtype=np.bool_)
        for name, value in self.group.items():
            mask &= equals(reading.table.column(name), value)
        return mask


def scope_of(query: model.Query, stream: model.Stream, group: Iterable[str], start: str | None) -> RowScope:
    """The scope that `name=value` texts and the text of a time name. Raises UnclearRowError."""
    types = stream.column_types
    values: dict[str, Any] = {}
    for text in group:
        name, equals, value = text.partition("=")
        if not equals:
            raise UnclearRowError(f"--group is written NAME=VALUE; `{text}` has no `=`")
        if name not in query.partition:
            known = ", ".join(f"`{p}`" for p in query.partition)
            near = did_you_mean(name, query.partition) or (
                f"its groups are by {known}" if known else "it has no groups"
            )
            raise UnclearRowError(f"`{query.name}` makes no groups by `{name}`; {near}")
        if name in values:
            raise UnclearRowError(f"--group names `{name}` twice: a group has one value of it")
        values[name] = _value(None if value == "NULL" else value, types[name], f"`{name}`")
    if start is None:
        return RowScope(values, None)
    time = types[stream.time.column]
    tick = int(ticks_of(pa.chunked_array([_array(start, time, "--window")]))[0])
    return RowScope(values, _aligned(query, stream, tick))


def _aligned(query: model.Query, stream: model.Stream, tick: int) -> int:
    """The start of a window of an aggregate query. Raises UnclearRowError where no window starts there."""
    if query.kind == "match" or isinstance(query.window, Sessions):
        return tick
    if not isinstance(query.window, Sliding):
        raise UnclearRowError(f"`{query.name}` has one window over everything: --window has no meaning")
    below = query.window.last_holding(tick)
    if query.window.begin(below) != tick:
        near = " and ".join(time_text(query.window.begin(k), stream) for k in (below, below + 1))
        raise UnclearRowError(f"no window of `{query.name}` starts then; the nearest start at {near}")
    return tick


def time_text(tick: int, stream: model.Stream) -> str:
    """A time as the tables of `cepc run` show it."""
    type_ = stream.column_types[stream.time.column]
    return as_text(times_of(np.array([tick], dtype=np.int64), to_arrow(type_)), iso=False)[0] or "NULL"


def _value(text: str | None, type_: DataType, what: str) -> Any:
    return _array(text, type_, what)[0]


def _array(text: str | None, type_: DataType, what: str) -> Any:
    """One value, written as `cepc why` and `cepc run` show it; None is null."""
    if text is None:
        return pa.nulls(1, to_arrow(type_))
    try:
        match type_:
            case Array() | Map() | Struct():
                return column_of([json.loads(text, parse_float=Exact, parse_constant=Exact)], type_)
            case Interval():
                return pa.array([_interval(text, type_)], to_arrow(type_))
        if type_ == BINARY:
            return column_of(["" if text == NO_BYTES else text], type_)
        return flat(from_text(pa.array([text], pa.string()), type_))
    except (BadValueError, ValueError, RecursionError) as error:
        why = f": {error.why}" if isinstance(error, BadValueError) and error.why else ""
        example = _example(type_)
        raise UnclearRowError(
            f"`{text}` is no {type_.sql}, which {what} is{why}" + (f"; write it as {example}" if example else "")
        ) from None


def _interval(text: str, type_: Interval) -> int:
    """As shown, with all fields, or as its type has them."""
    for fields in (INTERVAL, type_):
        micros = parse_interval(text, fields)
        if micros is not None:
            return micros
    raise ValueError


def _example(type_: DataType) -> str | None:
    match type_:
        case Array() | Map() | Struct():
            return "JSON, as in the rows of `cepc run`"
        case Interval():
            return "INTERVAL '1 02:03:04.5' DAY TO SECOND"
    return EXAMPLES.get(type_)


def equals(column: Any, value: Any) -> Bools:
    """Where a column has a value, as GROUP BY sees it: null is null, NaN is NaN."""
    column = flat(column)
    numbers, _ = codes(pa.chunked_array([column, pa.repeat(value.cast(column.type), 1)]))
    return np.asarray(numbers[:-1] == numbers[-1], dtype=np.bool_)
