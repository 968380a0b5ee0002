"""A query's rows as a streaming DataFrame: what it is written to is the user's affair, and so are the checkpoint and
what is late.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ..rows import FAILED, Packing, layout_of, no_error, row_schema, table_of
from ..schema import JobError, rows_needed
from .blobs import contents
from .chain import chained, chains
from .python_path import with_archive
from .query import PROVIDER, InFrame, OverTable, continuous, tasks_of_stream
from .spread import ON_CLUSTER
from .starting import check_spark, streaming_events
from .tells import OF
from .terms import DAY

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from ...plan.row_numbers import RowNumbers
    from .query import Continuous, Streamed

BUCKETS: Final = ON_CLUSTER
"""Everywhere: a checkpoint, which is not ours, may go on on another machine."""


def settings_of_frames(spark: SparkSession) -> dict[str, str]:
    """What a session needs when one of them is started, and no more, for other streams of the user's get it as well.
    Raises JobError.
    """
    check_spark()
    if not hasattr(spark, "_jvm"):
        raise JobError(
            "a stream needs a session of Spark in this process, and not Spark Connect: begin one without `remote`"
        )
    return PROVIDER | tasks_of_stream(spark, BUCKETS)


def rows_over_table(streamed: Streamed, query: str, rows: DataFrame, numbers: RowNumbers) -> DataFrame:
    """Of one query of a stream that is the rows of a table, which have a watermark. Raises JobError."""
    what = continuous(streamed, [query], BUCKETS, 0)
    return _rows_of(replace(what, run=OverTable(numbers)), query, {streamed.stream.name: rows}, "the clause")


def rows_in_frame(
    spark: SparkSession, streams: Sequence[Streamed], query: str, events: Mapping[str, DataFrame]
) -> DataFrame:
    """Of one query of a program. `events` are streaming DataFrames by stream; of others the source is read. Raises
    JobError.
    """
    asked = {query, *rows_needed([one.stream for one in streams], [query])}
    (chain,) = chains([one for one in streams if asked & set(one.stream.queries)])
    first, *later = (replace(link, run=InFrame(DAY)) for link in chained(chain, asked, [query], BUCKETS, DAY).links)
    what = replace(first, later=tuple(later))
    return _rows_of(what, query, streaming_events(spark, what, events))


def _rows_of(what: Continuous, query: str, events: Mapping[str, DataFrame], called: str | None = None) -> DataFrame:
    """Where the query is `called` something else, nobody knows its name."""
    own = next(link for link in what.links if query in link.queries)
    layout = layout_of(own.plan)
    with with_archive(next(iter(events.values())).sparkSession):
        told = what.told(events)
        number, every = own.link.number, [link.link.number for link in what.links]
        named = None if called is None else (f"query {query}", called)
        rows = told.mapInArrow(_rows(Packing.of(layout), number, every, named), row_schema(layout))
    return own.of_query(rows.where(no_error()), query)


def _rows(
    packing: Packing, own: int, every: Collection[int], named: tuple[str, str] | None
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """For `mapInArrow` over what the buckets of all links tell: the rows of one's `own`, or why there are none."""

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for link in every:
                for content in contents(link, batch.column(0)):
                    table = table_of(content)
                    what = table.schema.metadata[OF].decode()
                    if what == FAILED:
                        said = table.column(0)[0].as_py()
                        yield packing.error(said if named is None else said.replace(*named))
                    elif what.isdecimal() and link == own:
                        yield from packing.rows(int(what), [table])

    return run
