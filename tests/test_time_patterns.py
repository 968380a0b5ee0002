"""Texts of times by a pattern: in every engine as in Spark."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import cepc
from cepc_runtime.sql.time_patterns import is_portable, parse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

READ = [
    ("yyyy-MM-dd HH:mm:ss", "2026-03-02 10:01:02", "2026-03-02T10:01:02"),
    ("dd.MM.yyyy HH:mm", "02.03.2026 10:01", "2026-03-02T10:01:00"),
    ("d.M.yyyy", "2.3.2026", "2026-03-02T00:00:00"),
    ("d.M.yyyy", "02.03.2026", "2026-03-02T00:00:00"),
    ("yyyyMMdd'T'HHmmss", "20260302T100102", "2026-03-02T10:01:02"),
    ("yyyyMMddHHmmss", "20260302100102", "2026-03-02T10:01:02"),
    ("yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "2026-03-02t10:01:02.125+01:30", "2026-03-02T08:31:02.125"),
    ("yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "2026-03-02T10:01:02.1Z", "2026-03-02T10:01:02.1"),
    ("yyyy-MM-dd HH:mm:ss.SSSSSSSSS", "2026-03-02 10:01:02.123456789", "2026-03-02T10:01:02.123456"),
    ("HH:mm", "10:01", "1970-01-01T10:01:00"),
    ("yyyy", "2026", "2026-01-01T00:00:00"),
    ("MM/dd", "02/28", "1970-02-28T00:00:00"),
    ("H 'o''clock'", "7 o'clock", "1970-01-01T07:00:00"),
    ("yyyy-MM-dd", "1582-10-10", "1582-10-10T00:00:00"),
    ("yyyy-MM-dd", "2024-02-29", "2024-02-29T00:00:00"),
]
NOT_READ = [
    ("yyyy-MM-dd", "2026-02-29"), ("yyyy-MM-dd", "2026-13-01"), ("yyyy-MM-dd", "2026-3-02"), ("yyyy-MM-dd", ""),
    ("yyyy-MM-dd", " 2026-03-02"), ("yyyy-MM-dd", "2026-03-02 "), ("yyyy-MM-dd", "26-03-02"), ("HH:mm", "24:00"),
    ("yyyy-MM-dd HH:mm:ss", "2026-03-02 10:01:60"), ("yyyy-MM-dd", "12026-03-02"), ("d.M.yyyy", "0.1.2026"),
    ("yyyy-MM-dd'T'HH:mmXXX", "2026-03-02T10:01"), ("yyyy-MM-dd'T'HH:mmXXX", "2026-03-02T10:01+0100"),
    ("yyyy-MM-dd'T'HH:mmXXX", "2026-03-02T10:01+19:00"), ("HH:mm:ss.SSS", "10:01:02.1234"), ("HH:mm:ss.SSS", "10:01:02."),
    ("HH:mm:ss.SSS", "10:01:02"), ("yyyy-MM-dd", "٢٠٢٦-03-02"),
]  # fmt: skip
SPARK_ALONE = [
    "EEE, d MMM yyyy",
    "yyyy-MM-dd hh:mm a",
    "yyyy-DDD",
    "[yyyy]",
    "yyyyMd",
    "yyyy yyyy",
    "yy-MM-dd",
    "z",
    "",
    "'",
]


def moment(text: str) -> int:
    return (datetime.fromisoformat(text).replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(
        microseconds=1
    )


@pytest.mark.parametrize(("pattern", "text", "time"), READ)
def test_a_text_of_the_pattern_is_read(pattern: str, text: str, time: str) -> None:
    assert parse(text, pattern) == moment(time)


@pytest.mark.parametrize(("pattern", "text"), NOT_READ)
def test_any_other_text_is_not(pattern: str, text: str) -> None:
    assert parse(text, pattern) is None


def test_other_patterns_are_for_spark_alone() -> None:
    assert [pattern for pattern in SPARK_ALONE if is_portable(pattern)] == []
    text = "STREAM s (t STRING, at AS TO_TIMESTAMP(t, 'EEE')) EVENT TIME at; QUERY q RETURN COUNT(*) AS n PATTERN s WITHIN 1 h;"
    with pytest.raises(cepc.DataError, match="computed by Spark alone"):
        cepc.compile(text).run(pa.table({"t": ["Mon"]}))


@pytest.mark.spark
def test_spark_reads_the_same(spark: SparkSession) -> None:
    every = [(pattern, text) for pattern, text, _ in READ] + NOT_READ
    every += [(pattern, text) for pattern in dict.fromkeys(p for p, _ in every) for _, text in every[::3]]
    for pattern in dict.fromkeys(p for p, _ in every):
        texts = [text for of, text in every if of == pattern]
        quoted = pattern.replace("'", "\\'")
        frame = spark.createDataFrame([(i, text) for i, text in enumerate(texts)], "i INT, t STRING")
        rows = frame.selectExpr("i", f"UNIX_MICROS(TRY_TO_TIMESTAMP(t, '{quoted}')) AS found").collect()
        found = {texts[row.i]: row.found for row in rows}
        assert found == {text: parse(text, pattern) for text in texts}, pattern
