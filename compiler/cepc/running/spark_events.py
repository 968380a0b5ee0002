"""The events of a stream that Spark has: some of them, collected to say why a query has no rows; and those of files
with bad records, whose good ones are handed to Spark.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from cepc_runtime.sql.computed import StreamInput, aside
from cepc_runtime.sql.functions.portable import spark_only
from cepc_runtime.sql.types import STRING, is_integer, quote_name, to_arrow

from ..errors import DataError
from ..reading import messages
from ..reading.read import Read, read_events
from .given import read_given
from .loading import of_streams

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from cepc_runtime.plan.stream import StreamPlan

    from .. import model
    from ..reading.bad_records import Treatment
    from ..reading.files import EventSource

TYPES: Final = 10_000
"""Of a stream with more types than that nothing is said."""


# ---- a look at what Spark has read -----------------------------------------------------------------------------------


def some_of(events: Any, declared: Any, plan: StreamPlan, counted: Read | None) -> Read | None:
    """Events with the columns of a plan, as many as are looked at and one; how many there are of each type is of all.
    None where that cannot be had. `counted` is known of events that were read here. The session means what the language
    says.
    """
    from cepc_runtime.spark.computed import with_computed
    from cepc_runtime.spark.query_results import table_from

    from .local import LOOKED_AT

    events = with_computed(events, declared)
    computed = [column.name for column in declared.computed]
    places = {name: quote_name(name if name in computed else aside(name, computed)) for name, _ in plan.given}
    known = counted if counted is not None else _counted(events, plan, places)
    if known is None:
        return None
    found = events.where(_asked_for(plan, places)).select(*places.values()).limit(LOOKED_AT + 1)
    table = table_from(found).rename_columns([name for name, _ in plan.given])
    read = read_given(table, plan, StreamInput(plan.given))
    return replace(known, table=read.table)


def _asked_for(plan: StreamPlan, places: Mapping[str, str]) -> Any:
    """Those of a type that some query asks for, and those without a time or a type."""
    from pyspark.sql import functions as F  # noqa: N812

    if plan.raw_types is None or plan.type_column is None:
        return F.lit(True)
    type_ = F.col(places[plan.type_column])
    return type_.isNull() | type_.cast("string").isin(*plan.raw_types) | F.col(places[plan.time_column]).isNull()


def _counted(events: Any, plan: StreamPlan, places: Mapping[str, str]) -> Read | None:
    """How many events there are, and of each type, without the events."""
    from pyspark.sql import functions as F  # noqa: N812

    type_ = dict(plan.given).get(plan.type_column or "")
    if plan.type_column is None or not (type_ == STRING or (type_ is not None and is_integer(type_))):
        return Read(None, events.count(), 0, None)
    name = F.col(places[plan.type_column]).cast("string").alias("type")
    timeless = F.col(places[plan.time_column]).isNull().alias("timeless")
    found = events.groupBy(name, timeless).count().limit(TYPES + 1).collect()
    if len(found) > TYPES:
        return None
    with_time, without = (
        {row["type"]: row["count"] for row in found if row["type"] is not None and row["timeless"] is lacks}
        for lacks in (False, True)
    )
    return Read(None, sum(row["count"] for row in found), 0, with_time, timeless=without)


# ---- records that are no events --------------------------------------------------------------------------------------


def write_good(stream: model.Stream, plan: StreamPlan, place: EventSource, bad: Treatment, path: Path) -> Read:
    """The events of a stream read here, and those that are good written as Parquet with the columns that they are
    computed from: what is known of them, without the events. Raises DataError.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    needed = stream.input.needed([name for name, _ in plan.given])
    for column in needed.computed:
        if functions := spark_only(column.expression):
            raise DataError([messages.not_known_here(column.name, stream.name, functions[0])])
    schema = pa.schema([pa.field(name, to_arrow(type_)) for name, type_ in needed.columns])
    with pq.ParquetWriter(path, schema) as file:

        def keep(table: Any) -> None:
            file.write_table(table.select(schema.names).cast(schema))

        whole = replace(plan, columns=tuple({**dict(needed.columns), **dict(plan.given)}.items()), beside=())
        return read_events(place, whole, stream.input, treatment=bad, keep=keep)


_RECORDS: Final = ("E0710", "E0711", "E0715")


def raise_bad_records(
    program: model.CheckedProgram, plans: Iterable[StreamPlan], places: Mapping[str, EventSource]
) -> None:
    """After Spark has failed: if there are bad records in files that can be read here, a DataError of the first."""
    for plan in of_streams(program, plans).values():
        if plan.name not in places:
            continue
        try:
            given = program.stream(plan.name).input
            read_events(places[plan.name], plan, given, keep=lambda _table: None)
        except DataError as error:
            if any(one.code in _RECORDS for one in error.diagnostics):
                raise
