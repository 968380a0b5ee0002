"""Computed columns on Spark, in a batch and in a stream: their values are the local engine's, and a record without one
ends the run.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cepc
from cepc_runtime.spark.errors import SPARK_ERRORS, sentence
from cepc_runtime.spark.source import read
from tests.equivalence import ABOUT, compile_text, input_of, same
from tests.programs import Case
from tests.spark_programs import agree, build, loaded, rows_of
from tests.test_computed_columns import FIELDS, USERS
from tests.test_stream_spark import PROGRAM, Job, events

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

RIDES = PROGRAM.replace(
    "STREAM rides (at TIMESTAMP, kind STRING, driver BIGINT, district STRING, fare DECIMAL(9, 2), note STRING)",
    """STREAM rides (
  ms      BIGINT,
  `Kind`  STRING,
  who     STRUCT<driver: BIGINT, of: STRUCT<district: STRING>>,
  paid    STRING,
  at      AS TIMESTAMP_MILLIS(ms),
  kind    AS REPLACE(`Kind`, '.', ''),
  driver  AS who.driver,
  fare    DECIMAL(9, 2) AS CAST(paid AS DECIMAL(9, 2)),
  district AS who.of.district
)""",
).replace(" WHERE t.note = 'x'", "")
SCHEMA = pa.schema([
    ("ms", pa.int64()), ("Kind", pa.string()), ("paid", pa.string()),
    ("who", pa.struct([("driver", pa.int64()), ("of", pa.struct([("district", pa.string())]))])),
])  # fmt: skip


def rides() -> list[dict[str, Any]]:
    return [
        {
            "ms": None if row["at"] is None else int(row["at"].timestamp() * 1000),
            "Kind": None if row["kind"] is None else f".{row['kind']}.",
            "paid": None if row["fare"] is None else str(row["fare"]),
            "who": {"driver": row["driver"], "of": {"district": row["district"]}},
        }
        for row in events()
    ]


def test_a_batch_has_the_rows_of_the_local_engine(spark: SparkSession) -> None:
    compiled = compile_text(RIDES)
    found = build(spark, RIDES, spark.createDataFrame(input_of(Case("", tuple(rides())), compiled)))
    expected = cepc.compile(RIDES).run(pa.Table.from_pylist(rides(), SCHEMA))
    for name, table in expected.items():
        assert table.num_rows
        assert same(rows_of(found[name]), table.to_pylist(), ABOUT), name


def test_a_batch_groups_by_fields_of_structs(spark: SparkSession, tmp_path: Path) -> None:
    users = [{"id": i, "at": at} for i in (1, 2, None) for at in ({"city": "x"}, {"city": "y"}, None)]
    rows = tuple({"at": i, "kind": "AB"[i * 7 // 3 % 2], "user": (*users, None)[i % 10], "x": i % 4} for i in range(40))
    queries = "".join(f"QUERY q{i} {clauses} WITHIN 12 s;\n" for i, clauses in enumerate(FIELDS))
    assert agree(spark, Case(USERS + queries, rows), tmp_path / "events").rows


@pytest.mark.long
def test_a_stream_has_a_computed_event_time(spark: SparkSession, tmp_path: Path) -> None:
    rows, folder = rides(), tmp_path / "in"
    folder.mkdir()
    for number in range(3):
        path = folder / f"{number}.parquet"
        pq.write_table(pa.Table.from_pylist(rows[number * 300 : (number + 1) * 300], SCHEMA), path)
        os.utime(path, (1_000_000 + number, 1_000_000 + number))
    job = Job(spark, tmp_path, RIDES)
    job.run(flush=True)
    for query, table in cepc.compile(RIDES).run(pa.Table.from_pylist(rows, SCHEMA)).items():
        assert table.num_rows
        assert same(job.rows(query, table.schema), table.to_pylist(), ABOUT), query
    lines = [line for line in job.lines if "flush" not in line]
    assert sum(line["rows"] for line in lines) == 900
    assert sum(line["without_time"] for line in lines) == sum(row["ms"] is None for row in rows)
    assert lines[-1]["watermark"] > "1970-01-01T00:05"


NO_VALUES = [
    ("a text that is no number", "CAST(t AS INT)", {"t": "x4"}, '{"t":"x4"}'),
    ("an overflow", "TIMESTAMP_MICROS(n + 9223372036854775803)", {"n": 5}, '{"n":5}'),
    ("a division by zero", "1 / (n - 5)", {"n": 5}, '{"n":5}'),
    ("a function of Spark's alone", "TO_DATE(t, 'yyyy/MM')", {"t": "y"}, '{"t":"y"}'),
    ("a column beside its twin", "CAST(`T` AS INT)", {"T": "x4"}, '{"T":"x4"}'),
]


@pytest.mark.parametrize(("title", "expression", "row", "shown"), NO_VALUES, ids=[one[0] for one in NO_VALUES])
def test_a_record_without_a_value_ends_the_job_with_one_sentence(
    spark: SparkSession, title: str, expression: str, row: dict[str, Any], shown: str
) -> None:
    twin = "`T` STRING, t AS LOWER(`T`)" if "T" in row else "t STRING"
    cast = f"CAST({expression} AS TIMESTAMP)" if "yyyy" in expression else expression
    text = (
        f"STREAM s (at BIGINT, n BIGINT, {twin}, x AS {cast}) EVENT TIME at;\n"
        "QUERY q RETURN COUNT(e.x) AS x PATTERN s e WHERE e.at > 100 WITHIN 9 s;\n"
    )
    name = "T" if "T" in row else "t"
    given = [{"at": i, "n": 1, name: "1" if "yyyy" not in text else "2020/01"} for i in range(9)]
    frame = spark.createDataFrame(
        [*given, {"at": 10, "n": None, name: None, **row}], f"at BIGINT, n BIGINT, {name} STRING"
    )
    with pytest.raises(SPARK_ERRORS) as failed:
        loaded(text).tables(spark, frame, None, None)
    said = sentence(failed.value)
    assert said.startswith(f"the column x of stream s cannot be computed of the record {shown} by "), title
    assert "_input_" not in said


def test_what_is_computed_for_time_and_type_has_to_be_in_json(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"ms": 1000, "Kind": ".Travel.", "who": {"driver": 7}}\n', encoding="utf-8")
    stream = loaded(RIDES).streams["rides"]
    assert read(spark, stream, "json", str(tmp_path)).columns == ["ms", "Kind", "who", "paid"]
    (tmp_path / "a.json").write_text('{"mss": 1000, "Kind": ".Travel."}\n', encoding="utf-8")
    with pytest.raises(Exception, match="column ms: expected bigint, found none"):
        read(spark, stream, "json", str(tmp_path))
