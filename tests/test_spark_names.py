"""Names that could be taken for something else, through generated jobs on Spark: the rows are those of the local
engine.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import cepc
from cepc_runtime.sql.types import quote_name
from tests.equivalence import same
from tests.spark_programs import build, loaded, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

EVENTS = {"at": [1, 2, 3, 4], "kind": ["A", "B", "A", "B"]}
HOSTILE = {
    "a variable of Spark": "a${y}",
    "a backquote": "a`b",
    "a dot": "a.b",
    "a quote and a comment": "a' -- \"",
    "a brace of Python": "{a}",
    "a word of SQL": "select",
    "a backslash": "a\\n",
    "a star": "*",
    "what a star is encoded as": "%2A",
}


@contextmanager
def verbatim(spark: SparkSession) -> Iterator[None]:
    spark.conf.set("spark.sql.variable.substitute", "false")
    try:
        yield
    finally:
        spark.conf.unset("spark.sql.variable.substitute")


def frame(spark: SparkSession, table: Any) -> Any:
    return spark.createDataFrame(
        table.to_pandas(),
        ", ".join(f"{quote_name(n)} {sql(t)}" for n, t in zip(table.column_names, table.schema.types, strict=True)),
    )


def sql(type_: Any) -> str:
    return "STRING" if pa.types.is_string(type_) else "BIGINT"


@pytest.mark.long
@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_a_column_of_any_name_is_itself(spark: SparkSession, name: str) -> None:
    column = quote_name(name)
    text = f"""STREAM s (at BIGINT, kind STRING, a BIGINT, {column} BIGINT) EVENT TIME at UNIT s EVENT TYPE kind IN ('A', 'B');
QUERY listed RETURN MATCH A.{column} AS {column}, B.{column} AS b PATTERN SEQ(A, B) WHERE A.{column} = 1 WITHIN 9 s;
QUERY counted
  RETURN {column}, COUNT(*) AS n, SUM(A.{column}) AS x
  PATTERN A WHERE A.{column} = 1 GROUP BY {column} HAVING {column} > 0 WITHIN 9 s;
QUERY kernel RETURN {column}, COUNT(*) AS n PATTERN SEQ(A, B) WHERE A.{column} = 1 GROUP BY {column} WITHIN 9 s;"""
    table = pa.table({**EVENTS, "a": [1, 2, 1, 1], name: [1, 1, 2, 1]})
    local = cepc.compile(text).run(table)
    assert {query: rows.num_rows for query, rows in local.items()} == {"listed": 2, "counted": 1, "kernel": 1}
    with verbatim(spark):
        found = build(spark, text, frame(spark, table))
        assert {query: same(rows_of(found[query]), rows.to_pylist()) for query, rows in local.items()} == dict.fromkeys(
            local, True
        )


def test_a_session_that_replaces_variables_does_not_replace_them_in_names(spark: SparkSession) -> None:
    text = """STREAM s (at BIGINT, kind STRING, `a${y}` BIGINT) EVENT TIME at UNIT s EVENT TYPE kind;
QUERY q RETURN COUNT(*) AS `n${y}` PATTERN A WHERE A.kind <> '${y}' AND A.`a${y}` > 0 WITHIN 9 s;"""
    table = frame(spark, pa.table({**EVENTS, "a${y}": [1, 2, 3, 4]}))
    spark.conf.set("spark.sql.variable.substitute", "true")  # as it is where no job has run whose session it was
    assert build(spark, text, table)["q"].collect()[0]["n${y}"] == 2
    assert spark.conf.get("spark.sql.variable.substitute") == "true"
    spark.conf.unset("spark.sql.variable.substitute")


def test_a_query_named_like_a_function_of_another_stream_gives_its_own_rows(spark: SparkSession) -> None:
    text = """STREAM a (at BIGINT, kind STRING) EVENT TIME at UNIT s EVENT TYPE kind IN ('A');
STREAM a_b (at BIGINT, kind STRING) EVENT TIME at UNIT s EVENT TYPE kind IN ('B');
QUERY b_events RETURN COUNT(*) AS n PATTERN A FROM a WITHIN 9 s;
QUERY other RETURN COUNT(*) AS n PATTERN B FROM a_b WITHIN 9 s;"""
    table = pa.table(EVENTS)
    local = cepc.compile(text).run({"a": table, "a_b": table})
    found = loaded(text).build(spark, {name: frame(spark, table) for name in ("a", "a_b")})
    assert {query: same(rows_of(found[query]), rows.to_pylist()) for query, rows in local.items()} == dict.fromkeys(
        local, True
    )
