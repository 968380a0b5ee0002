"""The records that the rows of a micro-batch are to Kafka; test_kafka.py writes them to a broker."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pyarrow as pa

from cepc_runtime.spark.streaming.kafka import records_of

ROWS = pa.table({
    "at": pa.array([datetime(2026, 3, 2, 12, tzinfo=UTC)] * 3, pa.timestamp("us", "UTC")),
    "x": pa.array([0.5, 0.5, None]),
    "text": pa.array(['a"\u2028é', 'a"\u2028é', ""]),
})  # fmt: skip


def test_a_record_has_its_query_its_micro_batch_its_key_and_the_row() -> None:
    found = records_of('q "1"', ROWS, 7, {"team": "fraud"}).to_pylist()
    values = [json.loads(record["value"]) for record in found]
    rows = [{"at": "2026-03-02T12:00:00Z", "x": x, "text": text} for x, text in [(0.5, 'a"\u2028é')] * 2 + [(None, "")]]
    assert values == [
        {"query": 'q "1"', "batch": 7, "id": record["key"], "row": row} for record, row in zip(found, rows, strict=True)
    ]
    assert [record["headers"] for record in found] == [[{"key": "team", "value": b"fraud"}]] * 3
    assert {type(value["batch"]) for value in values} == {int}


def test_equal_rows_have_keys_of_their_own_and_the_same_ones_when_they_are_written_again() -> None:
    keys = records_of("q", ROWS, 7, {}).column("key").to_pylist()
    assert len(set(keys)) == len(keys) == 3
    first, second, _ = keys
    assert (first.startswith("q/7/"), first.rpartition("/")[0]) == (True, second.rpartition("/")[0])
    assert records_of("q", ROWS, 7, {}).column("key").to_pylist() == keys
    assert not {*keys} & {*records_of("q", ROWS, 8, {}).column("key").to_pylist()}


def test_without_labels_there_are_no_headers() -> None:
    assert records_of("q", ROWS, 0, {}).column("headers").to_pylist() == [None] * 3
