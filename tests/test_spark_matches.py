"""`matches(spark, query)` of a job shows the matches that a query counts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import cepc
from cepc_runtime.spark.schema import JobError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

STREAM = (
    "STREAM s (at BIGINT, kind STRING, k STRING, x BIGINT) EVENT TIME at UNIT s EVENT TYPE kind IN ('A', 'B', 'C');\n"
)
EVENTS = [
    (1, "A", "p", 1), (2, "A", "p", 5), (3, "B", "p", 2), (4, "C", "q", 0), (5, "B", "p", 7), (11, "A", "q", 3), (12, "B", "q", 4),
    (14, "A", "p", 2), (15, "C", "p", 2), (16, "B", "p", 9), (25, "B", "q", 1), (26, "A", "q", 1), (27, "A", "q", 1), (28, "B", "q", 1),
]  # fmt: skip


def job(query: str) -> Any:
    namespace: dict[str, Any] = {"__name__": "cepc_job"}
    exec(cepc.compile(f"{STREAM}QUERY q {query};").job, namespace)
    return namespace["JOB"]


def local_rows(query: str) -> Any:
    columns = dict(zip(("at", "kind", "k", "x"), zip(*EVENTS, strict=True), strict=True))
    return cepc.compile(f"{STREAM}QUERY q {query};").run(pa.table(columns))["q"]


def shown(spark: SparkSession, query: str, limit: int = 1000) -> list[Any]:
    events = spark.createDataFrame(EVENTS, "at BIGINT, kind STRING, k STRING, x BIGINT")
    found: list[Any] = job(query).matches(spark, "q", events, limit).collect()
    return found


def counted(query: str) -> Counter[tuple[Any, ...]]:
    """COUNT(*) of a query by group and window, as the local engine has it."""
    rows = local_rows(query).to_pylist()
    return Counter({(row.get("k"), row["window_start"]): row["n"] for row in rows if row["n"]})


FAST = ("counted", "under NEXT", "with a NOT at the edge of a window", "of events that Spark counts")
COUNTED = {
    "counted": "PATTERN SEQ(A, B+) WHERE [k] GROUP BY k WITHIN 10 SECONDS SLIDE 5 SECONDS",
    "with a NOT": "PATTERN SEQ(A, NOT C, B) WHERE [k] GROUP BY k WITHIN 10 SECONDS SLIDE 5 SECONDS",
    "with a NOT at the edge of a window": "PATTERN SEQ(NOT C, A, B) WHERE [k] GROUP BY k WITHIN 10 SECONDS SLIDE 3 SECONDS",
    "with a condition between neighbours": "PATTERN SEQ(A, B) WHERE [k] AND A.x < B.x GROUP BY k WITHIN 10 SECONDS SLIDE 5 SECONDS",
    "listed": "PATTERN SEQ(A, C?, B) WHERE [k] AND A.x < B.x GROUP BY k WITHIN 10 SECONDS SLIDE 5 SECONDS",
    "of events that Spark counts": "PATTERN A GROUP BY k WITHIN 10 SECONDS SLIDE 5 SECONDS",
    "contiguous": "PATTERN SEQ(A, B) WHERE [k] SELECT CONTIGUOUS GROUP BY k WITHIN 10 SECONDS SLIDE 5 SECONDS",
    "under NEXT": "PATTERN SEQ(A, NOT C, B+) WHERE [k] SELECT NEXT GROUP BY k WITHIN 10 SECONDS SLIDE 5 SECONDS",
    "of sessions": "PATTERN SEQ(A, NOT C, B+) WHERE A.x > 0 AND [x] GROUP BY k WITHIN SESSION 3 SECONDS",
    "of one group": "PATTERN SEQ(A, B) WITHIN 10 SECONDS SLIDE 5 SECONDS",
}


@pytest.mark.parametrize(
    "query",
    [pytest.param(query, marks=() if name in FAST else pytest.mark.long, id=name) for name, query in COUNTED.items()],
)
def test_as_many_matches_are_shown_for_each_window_as_are_counted(spark: SparkSession, query: str) -> None:
    keyed = "GROUP BY k" in query
    wanted = counted(f"RETURN {'k, ' if keyed else ''}COUNT(*) AS n {query}")
    found = shown(spark, f"RETURN {'k, ' if keyed else ''}COUNT(*) AS n {query}")
    assert wanted
    assert (
        Counter((row["events"][0]["k"] if keyed else None, start) for row in found for start in row["windows"])
        == wanted
    )


def test_a_match_has_its_events_in_order_with_the_columns_that_the_job_reads(spark: SparkSession) -> None:
    (row,) = shown(spark, "RETURN SUM(B.x) AS n PATTERN SEQ(A, C, B+) WHERE [k] GROUP BY k WITHIN 10 SECONDS")
    assert row.asDict(recursive=True) == {
        "events": [
            {"variable": "A", "at": 14, "k": "p", "x": 2},
            {"variable": "C", "at": 15, "k": "p", "x": 2},
            {"variable": "B", "at": 16, "k": "p", "x": 9},
        ],
        "match_start": 14,
        "match_end": 16,
        "windows": [10],
    }


def test_those_of_a_match_query_are_those_of_its_rows(spark: SparkSession) -> None:
    query = "PATTERN SEQ(A, B) WHERE [k] WITHIN 10 SECONDS HAVING SUM(B.x) > 3"
    rows = local_rows(f"RETURN MATCH k {query}")
    found = shown(spark, f"RETURN MATCH k {query}")
    assert found
    assert sorted((row["match_start"], row["match_end"]) for row in found) == sorted(
        zip(rows["match_start"].to_pylist(), rows["match_end"].to_pylist(), strict=True)
    )


def test_no_more_are_shown_than_asked_for(spark: SparkSession) -> None:
    assert len(shown(spark, f"RETURN COUNT(*) {COUNTED['of one group']}", 2)) == 2


def test_a_name_that_no_query_has_is_an_error(spark: SparkSession) -> None:
    with pytest.raises(JobError, match="there is no query r; there are q"):
        job("RETURN COUNT(*) PATTERN A WITHIN 1 MINUTE").matches(spark, "r")
