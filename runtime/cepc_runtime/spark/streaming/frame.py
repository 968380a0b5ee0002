"""A query's rows as a streaming DataFrame, over one that has a watermark: what it is written to is the user's affair,
and so are the checkpoint and what is late.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ..rows import FAILED, Packing, layout_of, no_error, row_schema, table_of
from ..schema import JobError
from .blobs import contents
from .operator import ALONE
from .python_path import with_archive
from .query import InFrame, continuous, settings_of_stream
from .spread import ON_CLUSTER
from .starting import check_spark
from .tells import OF

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyspark.sql import DataFrame, SparkSession

    from ...plan.row_numbers import RowNumbers
    from .query import Streamed

BUCKETS: Final = ON_CLUSTER
"""Everywhere: a checkpoint, which is not ours, may go on on another machine."""


def settings_of_frames(spark: SparkSession) -> dict[str, str]:
    """What a session needs when one of them is started. Raises JobError."""
    check_spark()
    if not hasattr(spark, "_jvm"):
        raise JobError(
            "a stream needs a session of Spark in this process, and not Spark Connect: begin one without `remote`"
        )
    return settings_of_stream(spark, BUCKETS)


def streaming_rows(streamed: Streamed, query: str, events: DataFrame, numbers: RowNumbers) -> DataFrame:
    """The rows of one query of a stream, whose events are numbered. Raises JobError."""
    what = replace(continuous(streamed, [query], BUCKETS, 0), run=InFrame(numbers))
    layout = layout_of(what.plan)
    with with_archive(events.sparkSession):
        told = what.told({streamed.stream.name: events})
        rows = told.mapInArrow(_rows(Packing.of(layout)), row_schema(layout))
    return what.of_query(rows.where(no_error()), query)


def _rows(packing: Packing) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """For `mapInArrow` over what buckets tell: the rows, or why there are none."""

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for content in contents(ALONE.number, batch.column(0)):
                table = table_of(content)
                what = table.schema.metadata[OF].decode()
                if what == FAILED:
                    yield packing.error(table.column(0)[0].as_py())
                elif what.isdecimal():
                    yield from packing.rows(int(what), [table])

    return run
