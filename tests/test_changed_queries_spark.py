"""A job on Spark that goes on with other queries: test_changed_queries.py says what their rows are."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import cepc
from cepc_runtime.spark.schema import JobError
from cepc_runtime.spark.streaming import checkpoint, starting
from cepc_runtime.spark.streaming.query import Continuous
from cepc_runtime.spark.streaming.starting import start
from cepc_runtime.spark.streaming.terms import Folders
from cepc_runtime.spark.streaming.writing import Writing
from tests.equivalence import ABOUT, among, same
from tests.test_stream_spark import PROGRAM, SCHEMA, START, Job, events, put

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from cepc_runtime.spark.streaming.running import Running
    from cepc_runtime.spark.streaming.sinks import Sink

pytestmark = [pytest.mark.spark, pytest.mark.long]  # several starts of a stream; without Spark: test_changed_queries.py

HEAD, *QUERIES = PROGRAM.split("QUERY ")
BY_NAME = {query.split()[0]: f"QUERY {query}" for query in QUERIES}
LISTED = BY_NAME["listed"].replace("WITHIN 10 SECONDS", "WITHIN 15 SECONDS")


def program(*names: str, listed: str = LISTED) -> str:
    return HEAD + "".join(listed if name == "listed" else BY_NAME[name] for name in names)


class Changed(Job):
    """A run of a program that may take the checkpoint of another; what it is told of that is in `told`."""

    def __init__(self, spark: SparkSession, folder: Path, text: str, change: bool = True) -> None:
        super().__init__(spark, folder, text)
        self.text, self.change = text, change
        self.told: list[dict[str, Any]] = []

    def start(self, sink: Sink, events: Any = None) -> Running:
        folders = Folders(str(self.folder / "checkpoint"), str(self.folder / "late"))
        given = {self.streamed.stream.name: self.events() if events is None else events}
        change = self.told.append if self.change else None
        return start(self.what, given, folders, sink, {"availableNow": True}, change=change)

    def expected(self, query: str, rows: list[dict[str, Any]], since: datetime | None = None) -> pa.Table:
        """The rows of a batch over the events from then on, but those of windows that begin before."""
        some = [row for row in rows if since is None or (row["at"] is not None and row["at"] >= since)]
        found = cepc.compile(self.text).run(pa.Table.from_pylist(some, schema=SCHEMA))[query]
        if since is not None and "window_start" in found.column_names:
            found = found.filter(
                pa.compute.greater_equal(found.column("window_start"), pa.scalar(since, SCHEMA[0].type))
            )
        return found


def since(folder: Path) -> dict[str, datetime]:
    found = json.loads((folder / "checkpoint" / checkpoint.FILE).read_text())["since"]
    return {name: datetime.fromtimestamp(0, UTC) + timedelta(microseconds=tick) for name, tick in found.items()}


def _fails(*_: object) -> None:
    raise JobError("killed")


def test_queries_are_changed_once_however_the_first_micro_batch_ends(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = events()
    put(tmp_path / "in", 0, rows[:400])
    old = Changed(
        spark, tmp_path, program("plain", "counted", "runs", "listed", listed=BY_NAME["listed"]), change=False
    )
    old.run()
    put(tmp_path / "in", 1, rows[400:])
    text = program("listed", "visits", "runs", "counted")
    with pytest.raises(JobError, match=r"query listed is not what it was.*write --change"):
        Changed(spark, tmp_path, text, change=False).run()
    new, file = Changed(spark, tmp_path, text), tmp_path / "checkpoint" / checkpoint.FILE
    before = file.read_text()
    with monkeypatch.context() as killed:
        killed.setattr(Continuous, "told", _fails)
        with pytest.raises(JobError, match="killed"):
            new.run()
    assert (file.read_text(), new.told) == (before, [])
    with monkeypatch.context() as killed:
        killed.setattr(starting, "settings_of_stream", _fails)  # between program.json and the first offsets
        with pytest.raises(JobError, match="killed"):
            new.run()
    begins = since(tmp_path)
    newest = max(row["at"] for row in rows[:400] if row["at"] is not None)
    assert begins == dict.fromkeys(("listed", "visits"), newest + timedelta(milliseconds=1))
    line = {"stream": "rides", "change": True, "kept": ["runs", "counted"], "gone": ["plain", "listed"]}
    shown = begins["visits"].isoformat().replace("+00:00", "Z")
    assert new.told == [{**line, "new": ["listed", "visits"], "since": shown}]
    again = Changed(spark, tmp_path, text, change=False)
    with monkeypatch.context() as killed:
        killed.setattr(Writing, "_summary", _fails)  # all rows are written
        with pytest.raises(JobError, match="killed"):
            again.run()
    with pytest.raises(JobError, match="query absent is new"):
        Changed(spark, tmp_path, program("absent", "runs"), change=False).run()
    last = Changed(spark, tmp_path, text)
    last.run(flush=True)
    assert (last.told, since(tmp_path)) == ([], begins)
    plain = old.expected("plain", rows)
    assert 0 < len(found := last.rows("plain", plain.schema)) < plain.num_rows
    assert all(row in plain.to_pylist() for row in found)
    given = [row for row in last.rows("listed", SCHEMA_OF_LISTED) if row["match_start"] < begins["listed"]]
    assert given
    assert among(given, old.expected("listed", rows).to_pylist())
    for query in ("counted", "runs", "visits", "listed"):
        table = last.expected(query, rows, begins.get(query))
        expected = table.to_pylist()
        if query == "listed":  # with what the query of before has given
            expected += given
        assert table.num_rows, query
        assert same(last.rows(query, table.schema), expected, ABOUT), query


SCHEMA_OF_LISTED = cepc.compile(program("listed")).run(pa.Table.from_pylist([], schema=SCHEMA))["listed"].schema


def test_queries_are_changed_twice_and_back(spark: SparkSession, tmp_path: Path) -> None:
    rows, goes = (
        events(),
        (("plain", "counted", "runs"), ("counted", "visits"), ("counted", "plain", "visits", "quiet")),
    )
    assert rows[0]["at"] is not None
    assert rows[0]["at"] < START + timedelta(minutes=1)
    for number, names in enumerate(goes):
        put(tmp_path / "in", number, rows[number * 300 : (number + 1) * 300])
        job = Changed(spark, tmp_path, program(*names))
        job.run(flush=number == 2)
    begins = since(tmp_path)
    assert begins["visits"] < begins["plain"] == begins["quiet"]
    assert set(begins) == {"visits", "plain", "quiet"}
    for query in ("counted", "visits", "quiet"):
        table = job.expected(query, rows, begins.get(query))
        assert table.num_rows, query
        assert same(job.rows(query, table.schema), table.to_pylist(), ABOUT), query
    plain = job.expected("plain", rows, begins["plain"]).to_pylist()
    found = job.rows("plain", job.expected("plain", rows).schema)
    assert plain
    assert same([row for row in found if row["window_start"] >= begins["plain"]], plain)
    assert any(row["window_start"] < begins["visits"] for row in found)
