"""Rows of queries as events in a stream: the rows of all queries are those of a batch, each once, and no row is late."""

from __future__ import annotations

import json
import os
import random
import re
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cepc
from cepc.passes.strategy import strategy
from cepc.planning import plan_program
from cepc.planning.plan import stream_plan
from cepc.running.given import read_given
from cepc.running.loading import Loading, RowsAsEvents
from cepc_runtime.events.grouped import ticks_of
from cepc_runtime.parts.classes import Class
from cepc_runtime.plan.windows import Sessions
from cepc_runtime.spark.rows import result_columns
from cepc_runtime.spark.streaming.run import wait
from cepc_runtime.spark.streaming.sinks import Directories
from cepc_runtime.sql.types import to_arrow
from cepc_runtime.streaming.decision import rows_behind
from cepc_runtime.streaming.program import Program
from cepc_runtime.streaming.ticks import END
from tests.equivalence import ABOUT, Refused, same
from tests.generated_jobs import names_of_job
from tests.programs import between_neighbours, cases, streamed
from tests.properties import NOTHING, Seen, hold
from tests.rows_as_events import answered, over, rows_as_events, table_of
from tests.several_streams import compile_text
from tests.test_streaming import SECOND, Bucket

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    from cepc_runtime.plan.physical import PhysicalPlan
    from tests.programs import Case, Make
    from tests.several_streams import Compiled

# ---- without Spark: link after link ----------------------------------------------------------------------------------

OTHER_TIME = re.compile(
    r"\bEVENT TIME at( UNIT s)?(?= ORDER BY|\nEVENT TYPE| FROM QUERY)(?P<order> ORDER BY counted, seq)?"
)
"""That of a stream of rows whose time is no edge of a match or window."""


def with_known_times(make: Make) -> Make:
    """The same, where all event times of rows are edges of matches and windows."""

    def made(chance: random.Random) -> Case:
        case = make(chance)
        first, rest = case.text[: case.text.index("QUERY")], case.text[case.text.index("QUERY") :]
        return replace(case, text=first + OTHER_TIME.sub("", rest))

    return made


class Links:
    """The streams of a program in turn, each with one bucket, whose rows are given to those behind it in the same step."""

    def __init__(self, compiled: Compiled, chance: random.Random) -> None:
        self.program = compiled.program
        self.plans = [strategy(plan, "stream") for plan in plan_program(self.program).plans]
        self.behind: dict[str, int] = {}
        self.buckets: dict[str, Bucket] = {}
        for plan in self.plans:
            one = Class((), tuple(range(len(plan.queries))), None)
            program = Program(plan, (one,), None, chance.choice((1, 2, None)), chance.choice((0, 1, 3)))
            self.behind[plan.stream.name] = max(map(self._behind, self.program.members(plan.stream.name)), default=0)
            self.buckets[plan.stream.name] = Bucket(program, defaultdict(list))

    def _behind(self, stream: Any) -> int:
        if stream.query is None:
            return 0
        query = next(query for plan in self.plans for query in plan.queries if query.name == stream.query.name)
        found = rows_behind(query, stream.time.column)
        if found is None and isinstance(query.window, Sessions):
            raise Refused("sessions as events at their beginnings")
        assert found is not None, stream.time.column
        return self.behind[stream.query.stream] + found

    def times(self, table: pa.Table) -> pa.ChunkedArray:
        """When events are, which may be computed."""
        stream = next(stream for stream in self.program.streams if stream.query is None)
        plan = stream_plan(stream, {stream.time.column}, None)
        return read_given(table, plan, stream.input).table.column(stream.time.column)

    def take(self, table: pa.Table, watermark: int) -> None:
        rows = RowsAsEvents(lambda stream, plan: read_given(table, plan, stream.input))
        loading = Loading(self.program, [plan.stream for plan in self.plans], rows)
        for plan in self.plans:
            bucket = self.buckets[plan.stream.name]
            before = {number: len(bucket.rows[number]) for number in range(len(plan.queries))}
            own = watermark if watermark == END else watermark - self.behind[plan.stream.name]
            bucket.take(loading.events(plan.stream).table, own)
            rows.found({q.name: self._table(plan, n, bucket.rows[n][before[n] :]) for n, q in enumerate(plan.queries)})

    @staticmethod
    def _table(plan: PhysicalPlan, number: int, rows: list[dict[str, Any]]) -> pa.Table:
        columns = result_columns(plan.queries[number], plan.stream)
        return pa.Table.from_pylist(rows, schema=pa.schema([(name, to_arrow(type_)) for name, type_ in columns]))


def micro_batches(chance: random.Random, table: pa.Table, links: Links) -> Iterator[tuple[pa.Table, int]]:
    """The events in any order within a watermark, cut anywhere, each part with the watermark after it."""
    times, unit = links.times(table), SECOND[links.plans[0].stream.unit]
    table, times = table.filter(times.is_valid()), times.filter(times.is_valid())
    ticks, delay = ticks_of(times).tolist(), chance.choice((0, 0, 1, 3)) * unit
    arrival = [tick + chance.randint(0, delay) for tick in ticks]
    order = sorted(range(len(arrival)), key=lambda i: (arrival[i], chance.random()))
    cuts = sorted(chance.randint(0, len(order)) for _ in range(chance.randint(1, 8)))
    for start, end in zip([0, *cuts], [*cuts, len(order)], strict=True):
        if seen := [ticks[i] for i in order[:end]]:
            yield table.take(pa.array(order[start:end], pa.int64())), max(seen) - delay


def check(case: Case, chance: random.Random) -> Seen:
    compiled = compile_text(case.text)
    expected = answered(case, compiled)
    if expected is None:
        return NOTHING
    links, table = Links(compiled, chance), table_of(case, compiled)
    for events, watermark in micro_batches(chance, table, links):
        links.take(events, watermark)
    links.take(table.slice(0, 0), END)
    for plan in links.plans:
        bucket = links.buckets[plan.stream.name]
        assert bucket.late == 0, plan.stream.name
        for number, query in enumerate(plan.queries):
            rows = expected[query.name].rows
            assert same(bucket.rows[number], rows, ABOUT), (query.name, bucket.rows[number], rows)
            COMPARED[over(compiled, query.name)] += len(rows)
    return Seen.of(case, {name: one for name, one in expected.items() if over(compiled, name) == "events"})


COMPARED: defaultdict[str, int] = defaultdict(int)
KINDS = {
    "aggregates": cases(match=False),
    "matches": cases(match=True, select="ANY"),
    "AFTER MATCH": cases(match=True, select="NEXT", after=True),
    "conditions between neighbours": between_neighbours,
}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_queries_over_rows_are_those_of_a_batch(kind: str) -> None:
    COMPARED.clear()
    hold(f"stream of rows: {kind}", with_known_times(streamed(rows_as_events(KINDS[kind]))), check)
    assert COMPARED["rows"] + COMPARED["both"] > 0, COMPARED


# ---- on Spark --------------------------------------------------------------------------------------------------------

PROGRAM = """STREAM logins (at TIMESTAMP, kind STRING, account BIGINT, address STRING, cost DECIMAL(9, 2))
EVENT TIME at WATERMARK 20 SECONDS
EVENT TYPE kind IN ('Failed', 'Changed');

QUERY bursts RETURN MATCH account, FIRST(f).address AS address, SUM(f.cost) AS cost
  PATTERN Failed{3} f WHERE [account] SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN 1 MINUTE;
QUERY minutes RETURN account, COUNT(*) AS n, SUM(f.cost) AS cost PATTERN Failed f GROUP BY account WITHIN 1 MINUTE;

STREAM alarms (network AS SUBSTRING(address, 1, 2), side AS IF(network = '10', 'Inside', IF(network = '77', 'Outside', NULL)))
EVENT TYPE side IN ('Inside', 'Outside') FROM QUERY bursts;

QUERY attacked RETURN MATCH account, a.address AS began, b.match_end AS again
  PATTERN SEQ(Inside a, NOT Changed, Outside b) WHERE [account] WITHIN 10 MINUTES;
QUERY pairs RETURN MATCH account, a.cost, b.cost AS more PATTERN SEQ(Inside a, Inside b) WHERE [account] AND a.cost <= b.cost
  SELECT NEXT WITHIN 5 MINUTES;
QUERY by_network RETURN network, COUNT(*) AS bursts, MAX(a.cost) AS most PATTERN OR(Inside a, Outside) GROUP BY network
  WITHIN 5 MINUTES SLIDE 1 MINUTE;

QUERY quiet RETURN MATCH account, b.n, a.cost PATTERN SEQ(busy b, NOT Changed, Inside a) WHERE [account]
  WITHIN 3 MINUTES;
STREAM totals FROM QUERY by_network;
QUERY rising RETURN MATCH network, a.bursts, b.bursts AS more PATTERN SEQ(totals a, totals b)
  WHERE [network] AND b.bursts > a.bursts SELECT CONTIGUOUS WITHIN 2 MINUTES;

STREAM busy EVENT TIME window_start FROM QUERY minutes;
QUERY busier RETURN MATCH account, MAX(b.n) AS most, COUNT(b) AS minutes PATTERN busy{2,} b
  WHERE [account] AND COALESCE(b.n >= PREV(b).n, TRUE) SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN 10 MINUTES;
"""
START = datetime(1969, 12, 31, 23, 47, tzinfo=UTC)
SCHEMA = pa.schema([
    ("at", pa.timestamp("us", "UTC")), ("kind", pa.string()), ("account", pa.int64()), ("address", pa.string()),
    ("cost", pa.decimal128(9, 2)),
])  # fmt: skip


def events(count: int = 1_500, seed: int = 11) -> list[dict[str, Any]]:
    """Half an hour of logins, up to 20 seconds out of order."""
    chance = random.Random(seed)
    rows = []
    for _ in range(count):
        account = chance.choice((2**60 + 1, 2**60 + 2, 3, 4, 5, None))
        rows.append({
            "at": START + timedelta(milliseconds=chance.randrange(1_800_000)),
            "kind": chance.choice(("Failed",) * 8 + ("Changed", "Other", None)),
            "account": account,
            "address": chance.choice(("10.0.0.1", "10.0.0.2", "77.1.0.2", "9.9.9.9", None)),
            "cost": chance.choice((Decimal("1.50"), Decimal("-0.25"), None)),
        })  # fmt: skip
    return sorted(rows, key=lambda row: row["at"] + timedelta(seconds=chance.uniform(0, 20)))


def put(folder: Path, number: int, rows: list[dict[str, Any]]) -> None:
    folder.mkdir(exist_ok=True)
    path = folder / f"{number}.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), path)
    os.utime(path, (1_000_000 + number, 1_000_000 + number))


class Job:
    def __init__(self, spark: SparkSession, folder: Path, text: str = PROGRAM) -> None:
        self.spark, self.folder, self.job = spark, folder, names_of_job(text)["JOB"]
        self.lines: list[dict[str, Any]] = []

    def run(self, flush: bool = False, by_spark: bool = False, queries: list[str] | None = None) -> None:
        source = self.spark.readStream.schema(self.job.streams[0].schema).option("maxFilesPerTrigger", "1")
        sink = Directories(str(self.folder / "out"), "parquet", {"compression": "snappy"} if by_spark else {})
        (running,) = self.job.stream(
            self.spark, str(self.folder / "checkpoint"), sink, source.parquet(str(self.folder / "in")), queries,
            trigger="available-now", buckets=3, late=str(self.folder / "late"),
        )  # fmt: skip
        wait([running], self.lines.append)
        if flush:
            running.flush(self.lines.append)

    def rows(self, query: str, schema: pa.Schema) -> list[dict[str, Any]]:
        table = pq.read_table(self.folder / "out" / query)
        found: list[dict[str, Any]] = table.drop_columns(["batch"]).cast(schema).to_pylist()
        return found


@pytest.mark.parametrize("by_spark", [False, pytest.param(True, marks=pytest.mark.long)])
def test_rows_are_those_of_a_batch_each_once(spark: SparkSession, tmp_path: Path, by_spark: bool) -> None:
    rows = events()
    for number in range(3):
        put(tmp_path / "in", number, rows[number * 400 : (number + 1) * 400])
    job = Job(spark, tmp_path)
    job.run(by_spark=by_spark)
    put(tmp_path / "in", 3, [*rows[1200:], {**rows[0], "kind": "Failed", "account": 3}])  # which is late
    job.run(flush=True, by_spark=by_spark)

    expected = cepc.compile(PROGRAM).run(pa.Table.from_pylist(rows, schema=SCHEMA))
    for query, table in expected.items():
        print(query, table.num_rows)
    for line in job.lines:
        print({k: line.get(k) for k in ("batch", "rows", "ms", "state_rows", "buckets")})
        assert table.num_rows, query
        assert same(job.rows(query, table.schema), table.to_pylist(), ABOUT), query
    out = [line["out"] for line in job.lines]
    assert {query: sum(one[query] for one in out) for query in expected} == {q: t.num_rows for q, t in expected.items()}
    assert all(any(one[query] for one in out[:-1]) for query in ("rising", "attacked", "pairs"))  # before the end
    late = [json.loads(line) for file in (tmp_path / "late").rglob("part-*") for line in file.read_text().splitlines()]
    assert {one["reason"] for one in late} == {"late"}
    assert sum(line.get("late", 0) for line in job.lines) == len(late)
    assert all(one["event"]["account"] == 3 for one in late)
