"""Events that a caller has in memory: a pyarrow table, a pandas frame, or anything with Arrow's C stream interface."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ..errors import DataError
from ..reading.bad_records import STOP
from ..reading.conform import check_schema, conformed, has_nanoseconds
from ..reading.messages import missing_column, nanoseconds, twice
from ..reading.read import collect
from ..reading.reader import ColumnTypes, Wanted
from ..reading.uses import uses_of
from ..stream_words import NOT_READ
from .frame_columns import from_series
from .session import is_of_spark
from .sources import rows_given

if TYPE_CHECKING:
    from cepc_runtime.plan.stream import StreamPlan
    from cepc_runtime.sql.computed import StreamInput

    from .. import model
    from ..reading.bad_records import Treatment
    from ..reading.read import Read
    from ..reading.uses import Uses


class UnknownStreamError(ValueError):
    """Events were given for a stream that no query reads, or not said for which of several."""


class NoEventsError(TypeError):
    """What was given is nothing that has events."""


def is_frame(events: Any) -> bool:
    """Whether it is a pandas frame."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(events, pandas.DataFrame)


def by_stream(
    events: Any, program: model.CheckedProgram, read: Collection[model.Stream], others: Collection[str] = ()
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
            columns = {name for stream in read for name, _ in stream.input.columns}
            of_columns = f"; a dict maps streams to their events: {_OF_COLUMNS}" if columns.issuperset(unknown) else ""
            raise UnknownStreamError(f"{NOT_READ.of(name=unknown[0])}; there are {', '.join(streams)}{of_columns}")
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
    needed = given.needed([name for name, _ in stream.given])
    uses = uses_of(stream, given, needed)
    table = _from_frame(events, stream, given.columns, uses) if is_frame(events) else events
    if not isinstance(table, pa.Table):
        if not hasattr(table, "__arrow_c_stream__"):
            what = type(events).__name__
            cure = _made_of(events)
            of_it = f": {cure}" if cure else ""
            raise NoEventsError(f"events are a pyarrow table, a pandas frame, or a path; not {what}{of_it}")
        table = _from_stream(table)
    table = _in_types_of_streams(table)
    wanted = Wanted(stream.name, needed.columns, given.columns, uses=uses)
    problems = check_schema("", table.schema, wanted)
    if problems:
        raise DataError(problems)
    cut = [nanoseconds("", name) for name, _ in needed.columns if has_nanoseconds(table.column(name))]
    columns = [conformed("", table.column(name), name, type_, stream.name) for name, type_ in needed.columns]
    read = collect(stream, needed, pa.table(columns, [name for name, _ in needed.columns]), bad, threads)
    return replace(read, warnings=(*read.warnings, *cut))


def _in_types_of_streams(table: Any) -> Any:
    """The table with what Arrow alone tells apart in the types that a stream has: dates in milliseconds, floats of 16
    bits, repeated values with their number.
    """
    import pyarrow as pa
    from pyarrow import compute

    for number, field in enumerate(table.schema):
        column = table.column(number)
        if pa.types.is_run_end_encoded(field.type):
            column = compute.run_end_decode(column)
        if pa.types.is_date64(column.type):
            column = column.cast(pa.date32(), safe=False)
        if pa.types.is_float16(column.type):
            column = column.cast(pa.float32())
        if column.type != field.type:
            table = table.set_column(number, field.name, column)
    return table


_MADE: Final = {
    "LazyFrame": "`compiled.run(events.collect())` has polars compute it first",
    "DuckDBPyConnection": "`compiled.run(connection.sql('…'))` is of a relation",
    "recarray": "`pandas.DataFrame(events)` is a frame with its columns",
}
"""What makes events of an object, by the name of its class."""
_OF_COLUMNS: Final = "`pandas.DataFrame(…)` makes events of columns, as `pyarrow.table(…)` does"


def _made_of(events: Any) -> str:
    """What makes events of it; "" where that is not known."""
    if hasattr(events, "to_table"):  # a dataset of pyarrow's, a scanner
        return "`compiled.run(events.to_table())` reads it first"
    if isinstance(events, list | tuple) and events and all(isinstance(one, str | os.PathLike) for one in events):
        return "one path is taken, and a directory stands for all files in it: put them there, and name it"
    if isinstance(events, list) and events and hasattr(events[0], "schema"):
        return "`pyarrow.Table.from_batches(events)` is a table of its batches"
    if isinstance(events, list) and events and isinstance(events[0], Mapping):
        return "`pyarrow.Table.from_pylist(events)` is a table with a row for each"
    if isinstance(events, Iterator):
        return "`pyarrow.Table.from_pylist([*events])` is a table with a row for each dict that it gives"
    return _MADE.get(type(events).__name__, _OF_COLUMNS if isinstance(events, Mapping | list) else "")


def _from_stream(events: Any) -> Any:
    """The table of what has Arrow's C stream interface. Raises NoEventsError."""
    import pyarrow as pa

    try:
        return pa.table(events)
    except pa.ArrowInvalid as error:
        what = type(events).__name__
        if "non-struct" in str(error):
            raise NoEventsError(f"events are a table, and {what} is one column") from None
        reason = "it has a column of a type that Arrow does not have; convert it, or leave the column out"
        raise NoEventsError(f"{what} does not become a table of Arrow's ({error}): {reason}") from None


# ---- pandas ----------------------------------------------------------------------------------------------------------


def with_index(frame: Any) -> Any:
    """The frame with what its index has under names of its own as columns."""
    names = [name for name in frame.index.names if isinstance(name, str) and name not in frame.columns]
    return frame.reset_index(level=names) if names else frame


def _from_frame(frame: Any, stream: StreamPlan, declared: ColumnTypes, uses: Uses) -> Any:
    """The declared columns of a frame: what is missing there is null, NaN included."""
    import pyarrow as pa

    if not {name for name, _ in declared} <= {*frame.columns}:
        frame = with_index(frame)
    names = [str(name) for name in frame.columns]
    problems = [
        missing_column("", name, type_, stream.name, names, uses, _in_the_index(frame, name, stream))
        for name, type_ in declared
        if name not in names
    ]
    problems += [twice("", name) for name, _ in declared if names.count(name) > 1]
    if problems:
        raise DataError(problems)
    columns = {name: frame.iloc[:, names.index(name)] for name, _ in declared}  # whatever is the name in the frame
    return pa.table({name: from_series(columns[name], name, type_, stream.name) for name, type_ in declared})


def _in_the_index(frame: Any, column: str, stream: StreamPlan) -> str:
    """What gives the column its values, where it is the event time and the index has times without a name."""
    import pandas as pd

    if column != stream.time_column or frame.index.name is not None or not isinstance(frame.index, pd.DatetimeIndex):
        return ""
    return f"the index of the frame has times: `frame.rename_axis({column!r})` gives it that name"


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
