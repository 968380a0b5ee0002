"""Where the rows of a job go."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import quote

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from ..sql.types import Array, Map, Struct, quote_name
from .paths import exists
from .rows import result_columns
from .schema import JobError
from .source import quote_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from pyspark.sql import DataFrame, SparkSession

    from ..plan.query import QueryPlan
    from ..plan.stream import StreamPlan
    from ..sql.types import DataType
    from .stream_part import StreamPart

SHOWN = 1000
AT_ONCE = 4  # queries whose rows are read at the same time, once they are there

Done = TypeVar("Done")


def for_each(results: Mapping[str, DataFrame], do: Callable[[str, DataFrame], Done]) -> dict[str, Done]:
    """What `do` makes of each query's name and rows.

    The first query comes by itself: it computes the rows of all, and what fails there leaves nothing behind. The others
    cost Spark little more than a plan each, and several are planned at the same time.
    """
    first, *others = results
    done = {first: do(first, results[first])}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return done | dict(zip(others, pool.map(lambda name: do(name, results[name]), others), strict=True))


def path_of(folder: str, query: str) -> str:
    """A directory for the query."""
    return f"{folder.rstrip('/')}/{directory_of(query)}"


def directory_of(query: str) -> str:
    """Its name: punctuation is written as in a URL, so that no query's leaves its folder."""
    name = "".join(c if ord(c) > 127 else quote(c, safe=" ()+,-_@!") for c in query)
    # Names that begin so are invisible to Spark and Hadoop.
    return f"%{ord(name[0]):X}{name[1:]}" if name[:1] in "._" else name


def check_absent(spark: SparkSession, folder: str) -> None:
    """Raises JobError where there is something already: nobody shall take an old part for a new one."""
    if exists(spark, folder):
        raise JobError(f"{folder} exists already; name a new directory")


OF_TEXT: Final = {
    "timeZone": "UTC",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""Times in CSV and JSON, of which Spark would write the milliseconds."""


def defaults(form: str, given: Mapping[str, str] | None = None) -> dict[str, str]:
    """The options that files of a format are written with, so that cepc reads the same rows from them: those `given`
    and, where they say nothing else, ours.
    """
    given = given or {}
    match form:
        case "csv":
            spaces = {"ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false"}
            return {**OF_TEXT, **spaces, "header": "true", "escape": quote_of(given), **given}
        case "json":
            return {**OF_TEXT, "ignoreNullFields": "false", **given}
    return dict(given)


def as_written(rows: DataFrame, form: str) -> DataFrame:
    """The rows with BINARY in base64 for CSV, as `cepc run` writes it: what Spark writes of it cannot be read."""
    if form != "csv":
        return rows
    return rows.select(
        *(
            # Some versions of Spark break the lines of base64.
            F.translate(F.base64(quote_name(field.name)), "\r\n", "").alias(field.name)
            if field.dataType == T.BinaryType()
            else F.col(quote_name(field.name))
            for field in rows.schema.fields
        )
    )


def not_in_csv(parts: Iterable[StreamPart], names: Collection[str]) -> str | None:
    """What is wrong with writing these queries as CSV."""
    nested = {query.name: _nested(query, stream) for query, stream in _of_names(parts, names)}
    wrong = next((f"query {query} has the column {column}" for query, column in nested.items() if column), None)
    if wrong is None:
        return None
    others = ",".join(query for query, column in nested.items() if column is None)
    rest = f", or leave it out with --queries {others}" if others else ""
    return f"{wrong}, which CSV cannot hold: write --output-format json{rest}"


def column_types(parts: Iterable[StreamPart], names: Collection[str]) -> frozenset[DataType]:
    """The types that the columns of these queries have."""
    return frozenset(t for query, stream in _of_names(parts, names) for _, t in result_columns(query, stream))


def _of_names(parts: Iterable[StreamPart], names: Collection[str]) -> Iterator[tuple[QueryPlan, StreamPlan]]:
    """The queries with these names, and what they are about."""
    for part in parts:
        if own := [name for name in part.stream.queries if name in names]:
            plan = part.streamed.plan(own)
            yield from ((query, plan.stream) for query in plan.queries)


def _nested(query: QueryPlan, stream: StreamPlan) -> str | None:
    columns = result_columns(query, stream)
    return next((f"{name}, {type_.sql}" for name, type_ in columns if isinstance(type_, Array | Map | Struct)), None)


def write(rows: DataFrame, path: str, form: str) -> None:
    """One query's rows: complete when Spark's `_SUCCESS` is beside them; until then the files have other places."""
    as_written(rows, form).write.format(form).options(**defaults(form)).mode("errorifexists").save(path)


def complete(spark: SparkSession, folder: str) -> None:
    """Mark the whole folder by a `_SUCCESS` of its own.

    Writing nothing is what leaves that and no other file, on whatever file system, and from a client without a JVM too.
    Of no rows in no partition there is no file of data.
    """
    nothing = spark.range(0).selectExpr("CAST(id AS STRING) AS value", "id AS of")
    nothing.write.partitionBy("of").mode("append").text(folder)


def show(name: str, rows: DataFrame) -> None:
    print(name)
    rows.show(SHOWN, truncate=False)
