"""A program to begin with, of events that a caller has in memory or in Spark."""

from __future__ import annotations

import os
from inspect import signature
from typing import TYPE_CHECKING, Any

from cepc_runtime.sql.types import quote_name

from ..running.given import is_frame, with_index
from ..running.session import is_of_spark
from .naming import stream_name
from .sample import RECORDS, Sample, look, of_table
from .text_types import is_nameable
from .write import program

if TYPE_CHECKING:
    from collections.abc import Sequence


def program_of(events: Any, name: str | None, session: Any = None) -> str:
    """The program; the stream is called so, or like the file or the table. Raises DataError, TypeError for what has no
    events, and ValueError for a name that nothing can have.
    """
    if name is not None and not is_nameable(name):
        raise ValueError(f"no stream can be called {name!r}")
    called, sample = _sample(events, session)
    return program([(sample, name if name is not None else called)]).text


def _sample(events: Any, session: Any) -> tuple[str, Sample]:
    import pyarrow as pa

    if isinstance(events, str) and session is not None:
        return stream_name(events.rpartition(".")[2]), _of_spark(session.table(events), f"the table {events}")
    if isinstance(events, str | os.PathLike):
        path = os.fspath(events)
        return stream_name(path), look(path)
    if is_of_spark(events, "DataFrame"):
        return "events", _of_spark(events, "a DataFrame")
    if is_frame(events):
        table, unread = _of_frame(with_index(events.head(RECORDS)))
        return "events", of_table(table, "a frame", unread, whole=len(events) <= RECORDS)
    if not isinstance(events, pa.Table):
        if not hasattr(events, "__arrow_c_stream__"):
            raise TypeError(
                f"events are a pyarrow table, a pandas frame, a Spark DataFrame, or a path; not {type(events).__name__}"
            )
        events = pa.table(events)
    return "events", of_table(events.slice(0, RECORDS), "a table", {}, whole=events.num_rows <= RECORDS)


def _of_frame(frame: Any) -> tuple[Any, dict[str, str]]:
    """The columns whose values have a type in common, and the others. Integers with nulls among them, which pandas has
    as floats, are declared as what they are.
    """
    import pyarrow as pa

    columns: dict[str, Any] = {}
    unread: dict[str, str] = {}
    for name in map(str, frame.columns):
        if name not in frame.columns:
            unread[name] = "is not called by a text"
        elif list(frame.columns).count(name) > 1:
            unread[name] = "occurs twice"
        else:
            try:
                column = pa.array(frame[name], from_pandas=True)
            except OverflowError:
                unread[name] = "has integers past 64 bits"
                continue
            except UnicodeEncodeError:
                unread[name] = "has values that are no UTF-8 text"
                continue
            except (pa.ArrowException, TypeError):
                unread[name] = "has values of several types"
                continue
            columns[name] = _whole(column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column)
    return pa.table(columns), unread


def _whole(column: Any) -> Any:
    import pyarrow as pa

    if not pa.types.is_float64(column.type) or not column.null_count:
        return column
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return column


def _of_spark(frame: Any, title: str) -> Sample:
    """By the schema of the frame and as many of its rows as are looked at."""
    unread = {field.name: f"is {field.dataType.simpleString()}" for field in frame.schema.fields if _is_unread(field)}
    if unread:
        frame = frame.select(*(quote_name(name) for name in frame.columns if name not in unread))
    rows = frame.limit(RECORDS + 1)
    table = rows.toArrow() if hasattr(rows, "toArrow") else collected(rows)
    return of_table(table.slice(0, RECORDS), title, unread, whole=table.num_rows <= RECORDS)


def _is_unread(field: Any) -> bool:
    """Whether Arrow has no such type."""
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import to_arrow_type

    zoned = "timezone" in signature(to_arrow_type).parameters  # which newer ones need for a time
    zone: dict[str, Any] = {"timezone": "UTC"} if zoned else {}
    try:
        to_arrow_type(field.dataType, **zone)
    except PySparkException:
        return True
    return False


def collected(frame: Any) -> Any:
    """As `toArrow`, which Spark has from 4.0 on."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    rows: Sequence[Any] = frame.collect()
    return pa.Table.from_pylist([row.asDict(recursive=True) for row in rows], to_arrow_schema(frame.schema))
