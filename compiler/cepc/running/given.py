"""Events that a caller has in memory: a pyarrow table, a pandas frame, or anything with Arrow's C stream interface."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from cepc_grammar.source import NOWHERE
from cepc_runtime.sql.types import (
    BIGINT,
    FLOATS,
    MAX_PRECISION,
    STRING,
    TIMES,
    Array,
    Decimal,
    Map,
    Struct,
    from_arrow,
    is_integer,
    is_numeric,
    to_arrow,
)

from ..errors import DataError
from ..reading.bad_records import STOP
from ..reading.conform import check_schema, conformed, has_nanoseconds
from ..reading.messages import bad_value, missing_column, nanoseconds, no_text, other_values, several_kinds, twice
from ..reading.read import collect
from ..reading.reader import Columns, Wanted
from ..reading.text_values import BadValueError, failing, from_text
from .session import is_of_spark
from .sources import rows_given

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cepc_runtime.plan.stream import StreamPlan
    from cepc_runtime.sql.computed import StreamInput
    from cepc_runtime.sql.types import DataType

    from .. import model
    from ..reading.bad_records import Treatment
    from ..reading.read import Read


class UnknownStreamError(ValueError):
    """Events were given for a stream that no query reads, or not said for which of several."""


class NoEventsError(TypeError):
    """What was given is nothing that has events."""


def is_frame(events: Any) -> bool:
    """Whether it is a pandas frame."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(events, pandas.DataFrame)


def by_stream(
    events: Any, program: model.CheckedProgram, read: Iterable[model.Stream], others: Collection[str] = ()
) -> Mapping[str, Any]:
    """The events of each stream that is read; a mapping has them by name, and may have those of `others`, streams that
    only queries read which do not run. Raises UnknownStreamError.
    """
    streams = [stream.name for stream in read]
    if isinstance(events, Mapping):
        rows = program.queries_of_rows
        if made := next((name for name in events if name in rows), None):
            raise UnknownStreamError(rows_given(made, rows[made], "them"))
        unknown = [name for name in events if name not in streams and name not in others]
        if unknown:
            raise UnknownStreamError(f"no query reads a stream `{unknown[0]}`; there are {', '.join(streams)}")
        return {name: given for name, given in events.items() if name in streams}
    if events is not None and len(streams) > 1:
        raise UnknownStreamError(f"the queries read several streams: give a dict with events for {', '.join(streams)}")
    return dict.fromkeys(streams, events)


def read_given(events: Any, stream: StreamPlan, given: StreamInput, bad: Treatment = STOP, threads: int = 1) -> Read:
    """The events of a table.

    Raises DataError where its columns are not what the stream declares, NoEventsError for what is no table.
    """
    import pyarrow as pa

    if is_of_spark(events, "DataFrame"):
        raise NoEventsError(
            "events are a DataFrame of Spark: `compiled.spark(events)` answers the queries there, and "
            "`compiled.run(events.toArrow())` here"
        )
    table = _from_frame(events, stream.name, given.columns) if is_frame(events) else events
    if not isinstance(table, pa.Table):
        if not hasattr(table, "__arrow_c_stream__"):
            raise NoEventsError(f"events are a pyarrow table, a pandas frame, or a path; not {type(events).__name__}")
        table = pa.table(table)
    needed = given.needed([name for name, _ in stream.given])
    wanted = Wanted(stream.name, needed.columns, given.columns)
    problems = check_schema("", table.schema, wanted)
    if problems:
        raise DataError(problems)
    cut = [nanoseconds("", name) for name, _ in needed.columns if has_nanoseconds(table.column(name))]
    columns = [conformed("", table.column(name), name, type_, stream.name) for name, type_ in needed.columns]
    read = collect(stream, needed, pa.table(columns, [name for name, _ in needed.columns]), bad, threads)
    return replace(read, warnings=(*read.warnings, *cut))


# ---- pandas ----------------------------------------------------------------------------------------------------------


def with_index(frame: Any) -> Any:
    """The frame with what its index has under names of its own as columns."""
    names = [name for name in frame.index.names if isinstance(name, str) and name not in frame.columns]
    return frame.reset_index(level=names) if names else frame


def _from_frame(frame: Any, stream: str, declared: Columns) -> Any:
    """The declared columns of a frame: what is missing there is null, NaN included."""
    import pyarrow as pa

    if not {name for name, _ in declared} <= {*frame.columns}:
        frame = with_index(frame)
    names = [str(name) for name in frame.columns]
    problems = [missing_column("", name, type_, stream, names) for name, type_ in declared if name not in names]
    problems += [twice("", name) for name, _ in declared if names.count(name) > 1]
    if problems:
        raise DataError(problems)
    columns = {name: frame.iloc[:, names.index(name)] for name, _ in declared}  # whatever is the name in the frame
    return pa.table({name: _from_series(columns[name], name, type_, stream) for name, type_ in declared})


def _from_series(series: Any, name: str, type_: DataType, stream: str) -> Any:
    """As pandas has one kind of integers and of floats, floats where integers are missing, and knows neither decimals
    nor, in what it reads from CSV, times: a number that fits does, and a text that is a time.
    """
    import pyarrow as pa

    column = _as_arrow(series, name, type_, stream)
    found = from_arrow(column.type)
    if pa.types.is_uint64(column.type) and (is_integer(type_) or type_ in FLOATS):  # which is DECIMAL(20, 0) to Spark
        with suppress(pa.ArrowInvalid):
            return _as_number(column, BIGINT, type_)
    try:
        if found is not None and (is_integer(found) or found in FLOATS) and (is_integer(type_) or type_ in FLOATS):
            return _as_number(column, found, type_)
        if (found is not None and is_numeric(found) and isinstance(type_, Decimal)) or (
            found == STRING and type_ in TIMES
        ):
            return from_text(column.cast(pa.string()).combine_chunks(), type_)
    except BadValueError as bad:
        raise DataError([bad_value(NOWHERE, name, type_, f"`{bad.found}`", bad.why)]) from None
    except pa.ArrowInvalid:
        assert found is not None
        values = f"values such as `{_unfit(column, found, type_)}`"
        raise DataError([other_values("", name, type_, found, values, stream)]) from None
    return _with_integers_inside(column, type_)


def _as_arrow(series: Any, name: str, type_: DataType, stream: str) -> Any:
    """Its values in the Arrow type that they have in common. Raises DataError."""
    import pyarrow as pa

    try:
        try:
            column = _maps(series, type_) if _has_maps(series, type_) else pa.array(series, from_pandas=True)
        except OverflowError:  # integers past 64 bits, which a DECIMAL may have
            column = pa.array(series, pa.decimal128(MAX_PRECISION, 0), from_pandas=True)
    except UnicodeEncodeError:
        raise DataError([no_text(name, type_, stream)]) from None
    except pa.ArrowException:
        kinds = dict.fromkeys(type(value).__name__ for value in series.dropna())
        raise DataError([several_kinds(name, type_, [*kinds], stream)]) from None
    column = pa.chunked_array([column]) if isinstance(column, pa.Array) else column
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column  # a categorical


def _has_maps(series: Any, type_: DataType) -> bool:
    """Whether the values are dicts, which Arrow takes for structs, or lists of pairs, where maps are declared."""
    return isinstance(type_, Map) and series.dtype == object and all(map(_is_map, series.dropna()))


def _is_map(value: Any) -> bool:
    pairs = isinstance(value, list) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in value)
    return pairs or isinstance(value, dict)


def _maps(series: Any, type_: DataType) -> Any:
    """Maps from what their keys are to what their values are; of the declared type where all are empty."""
    import pyarrow as pa

    if not any(map(len, series.dropna())):
        return pa.array(series, to_arrow(type_), from_pandas=True)
    found = [[*(one.items() if isinstance(one, dict) else one)] if _is_map(one) else None for one in series]
    offsets = pa.array([0, *accumulate(len(pairs or ()) for pairs in found)], pa.int32())
    keys = pa.array([key for pairs in found for key, _ in pairs or ()])
    items = pa.array([item for pairs in found for _, item in pairs or ()], from_pandas=True)
    return pa.MapArray.from_arrays(offsets, keys, items, mask=pa.array(pairs is None for pairs in found))


def _with_integers_inside(column: Any, type_: DataType) -> Any:
    """The column with the declared integers in its arrays, structs and maps, if its numbers are all such."""
    import pyarrow as pa

    wanted = _integers_inside(column.type, type_)
    try:
        return column if column.type == wanted or not pa.types.is_nested(wanted) else column.cast(wanted)
    except pa.ArrowInvalid:
        return column


def _integers_inside(arrow: Any, type_: DataType | None) -> Any:
    """The Arrow type with the declared integers in place of other numbers."""
    import pyarrow as pa

    is_ = pa.types
    match type_:
        case Array(element) if is_.is_list(arrow):
            return pa.list_(_integers_inside(arrow.value_type, element))
        case Map(key, value) if is_.is_map(arrow):
            return pa.map_(_integers_inside(arrow.key_type, key), _integers_inside(arrow.item_type, value))
        case Struct() if is_.is_struct(arrow):
            return pa.struct(
                [field.with_type(_integers_inside(field.type, type_.field(field.name))) for field in arrow]
            )
    is_number = is_.is_integer(arrow) or is_.is_floating(arrow)
    return to_arrow(type_) if type_ is not None and is_integer(type_) and is_number else arrow


def _as_number(column: Any, found: DataType, type_: DataType) -> Any:
    """Digits may be lost where floats become FLOAT, as they are in any FLOAT, and nothing else. Raises ArrowInvalid."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cast = column.cast(to_arrow(type_), safe=is_integer(type_) or is_integer(found))
    if pc.any(pc.and_(pc.is_inf(cast), pc.is_finite(column))).as_py():
        raise pa.ArrowInvalid("too large")
    return cast


def _unfit(column: Any, found: DataType, type_: DataType) -> Any:
    """The first number that the type does not have; there is one."""
    import pyarrow as pa

    def attempt(start: int, stop: int) -> None:
        _as_number(column.slice(start, stop - start), found, type_)

    place, _ = next(failing(len(column), attempt, pa.ArrowInvalid))
    return column[place].as_py()


def to_frame(table: Any) -> Any:
    """A result as a pandas frame; integers with nulls among them stay integers, nested ones too."""
    import pandas as pd

    return pd.DataFrame({field.name: _to_series(table.column(i)) for i, field in enumerate(table.schema)})


def _to_series(column: Any) -> Any:
    """Arrays, structs and maps as values of Python: pandas would make floats of integers beside a null in them."""
    import pandas as pd
    import pyarrow as pa

    if pa.types.is_nested(column.type):
        try:
            return pd.Series(column.to_pylist(), dtype="object")
        except (OverflowError, ValueError):  # times past the year 9999, which Python does not have
            return column.to_pandas(types_mapper=pd.ArrowDtype)
    nullable = {
        pa.int8(): pd.Int8Dtype(),
        pa.int16(): pd.Int16Dtype(),
        pa.int32(): pd.Int32Dtype(),
        pa.int64(): pd.Int64Dtype(),
    }
    return column.to_pandas(types_mapper=nullable.get if column.null_count else None)
