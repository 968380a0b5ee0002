"""Rows of queries as events in a stream: the rows of all queries are those of a batch, each once, and no row is late."""

from __future__ import annotations

import json
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
from click.testing import CliRunner

import cepc
from cepc.cli import cepc as command
from cepc.passes.strategy import strategy
from cepc.planning import plan_program
from cepc.planning.plan import stream_plan
from cepc.running.given import read_given
from cepc.running.loading import Loading, RowsAsEvents
from cepc_runtime.events.grouped import ticks_of
from cepc_runtime.parts.classes import Class
from cepc_runtime.plan.windows import Sessions
from cepc_runtime.spark.errors import SPARK_ERRORS
from cepc_runtime.spark.rows import result_columns
from cepc_runtime.spark.schema import JobError
from cepc_runtime.spark.streaming import checkpoint
from cepc_runtime.spark.streaming.chain import chained, chains
from cepc_runtime.spark.streaming.running import wait
from cepc_runtime.spark.streaming.sinks import Directories
from cepc_runtime.sql.types import to_arrow
from cepc_runtime.streaming.decision import rows_behind
from cepc_runtime.streaming.program import Program
from cepc_runtime.streaming.ticks import END
from tests import test_stream_spark
from tests.equivalence import ABOUT, Refused, answered, same
from tests.faults.local import LocalStore
from tests.generated_jobs import names_of_job
from tests.programs import between_neighbours, cases, streamed
from tests.properties import NOTHING, Seen, hold
from tests.rows_as_events import over, rows_as_events, table_of
from tests.several_streams import compile_text
from tests.test_streaming import SECOND, Bucket

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from cepc_runtime.plan.physical import PhysicalPlan
    from cepc_runtime.spark.streaming.query import Continuous
    from cepc_runtime.spark.streaming.running import Running
    from cepc_runtime.spark.streaming.sinks import Sink
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
            program = Program(plan, (one,), chance.choice((1, 2, None)), chance.choice((0, 1, 3)))
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

FEW = """STREAM logins (at TIMESTAMP, kind STRING, account BIGINT, address STRING, cost DECIMAL(9, 2))
EVENT TIME at WATERMARK 20 SECONDS
EVENT TYPE kind IN ('Failed', 'Changed');

QUERY bursts RETURN MATCH account, FIRST(f).address AS address, SUM(f.cost) AS cost
  PATTERN Failed{3} f WHERE [account] SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN 1 MINUTE;

STREAM alarms (
  network AS SUBSTRING(address, 1, 2), side AS IF(network = '10', 'Inside', IF(network = '77', 'Outside', NULL))
)
EVENT TYPE side IN ('Inside', 'Outside') FROM QUERY bursts;

QUERY pairs RETURN MATCH account, a.cost, b.cost AS more PATTERN SEQ(Inside a, Inside b) WHERE [account] AND a.cost <= b.cost
  SELECT NEXT WITHIN 5 MINUTES;
"""
BOTH = f"""{FEW}
QUERY attacked RETURN MATCH account, a.address AS began, b.match_end AS again
  PATTERN SEQ(Inside a, NOT Changed, Outside b) WHERE [account] WITHIN 10 MINUTES;
"""
MANY = (
    BOTH
    + """
QUERY minutes RETURN account, COUNT(*) AS n, SUM(f.cost) AS cost PATTERN Failed f GROUP BY account WITHIN 1 MINUTE;
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
)
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
    test_stream_spark.put(folder, number, rows, SCHEMA)


def put_in_files(folder: Path, rows: list[dict[str, Any]], of: int) -> None:
    for number, begin in enumerate(range(0, len(rows), of)):
        put(folder, number, rows[begin : begin + of])


class Job:
    """The program over files that come one by one, each a micro-batch."""

    def __init__(self, spark: SparkSession, folder: Path, text: str) -> None:
        self.spark, self.folder, self.job = spark, folder, names_of_job(text)["JOB"]
        self.lines: list[dict[str, Any]] = []

    def start(self, sink: Sink, queries: list[str] | None = None, change: bool = False) -> Running:
        source = self.spark.readStream.schema(self.job.streams[0].schema).option("maxFilesPerTrigger", "1")
        (running,) = self.job.stream(
            self.spark, str(self.folder / "checkpoint"), sink, source.parquet(str(self.folder / "in")), queries,
            trigger="available-now", buckets=3, late=str(self.folder / "late"), change=change,
        )  # fmt: skip
        return running  # type: ignore[no-any-return]

    def run(self, flush: bool = False, queries: list[str] | None = None, change: bool = False) -> None:
        running = self.start(Directories(str(self.folder / "out"), "parquet"), queries, change)
        wait([running], self.lines.append)
        if flush:
            running.flush(self.lines.append)

    def rows(self, query: str, schema: pa.Schema) -> list[dict[str, Any]]:
        return test_stream_spark.written(self.folder / "out", query, schema)


def expected_of(text: str, rows: list[dict[str, Any]]) -> dict[str, pa.Table]:
    found = cepc.compile(text).run(pa.Table.from_pylist(rows, schema=SCHEMA))
    assert all(table.num_rows for table in found.values()), {query: table.num_rows for query, table in found.items()}
    return dict(found)


@pytest.mark.spark
@pytest.mark.long
def test_a_row_is_an_event_in_the_micro_batch_in_which_it_is_known(spark: SparkSession, tmp_path: Path) -> None:
    rows = events(500)
    put_in_files(tmp_path / "in", rows, 250)
    job = Job(spark, tmp_path, FEW)
    job.run(flush=True)
    expected = expected_of(FEW, rows)
    for query, table in expected.items():
        assert same(job.rows(query, table.schema), table.to_pylist(), ABOUT), query
    out = [line["out"] for line in job.lines]
    assert {query: sum(one[query] for one in out) for query in expected} == {q: t.num_rows for q, t in expected.items()}
    assert all(out[1].values())  # with the second file
    untyped = sum(row["kind"] is None for row in rows)
    assert sum(line.get("without_type", 0) for line in job.lines) > untyped  # of rows as well


@pytest.mark.spark
@pytest.mark.long
def test_rows_of_many_links_are_those_of_a_batch_each_once(spark: SparkSession, tmp_path: Path) -> None:
    rows = events()
    put_in_files(tmp_path / "in", rows[:1200], 400)
    put(tmp_path / "in", 3, [*rows[1200:], {**rows[0], "kind": "Failed", "account": 3}])  # which is late
    job = Job(spark, tmp_path, MANY)
    job.run(flush=True)

    for query, table in expected_of(MANY, rows).items():
        assert same(job.rows(query, table.schema), table.to_pylist(), ABOUT), query
    out = [line["out"] for line in job.lines]
    assert all(any(one[query] for one in out[:-1]) for query in ("rising", "attacked", "pairs"))  # before the end
    late = [json.loads(line) for file in (tmp_path / "late").rglob("part-*") for line in file.read_text().splitlines()]
    assert {one["reason"] for one in late} == {"late"}
    assert sum(line.get("late", 0) for line in job.lines) == len(late)
    assert all(one["event"]["account"] == 3 for one in late)


@pytest.mark.spark
@pytest.mark.long
def test_a_micro_batch_that_is_repeated_gives_the_same_rows(spark: SparkSession, tmp_path: Path) -> None:
    rows = events(800)
    put_in_files(tmp_path / "in", rows, 400)
    job, found, failing = Job(spark, tmp_path, BOTH), dict[tuple[str, int], list[dict[str, Any]]](), [1]

    def sink(query: str, frame: DataFrame, batch: int) -> None:
        if query == "attacked" and batch in failing:
            failing.clear()
            raise RuntimeError("the place for it is full")
        table = frame.toArrow().to_pylist()
        assert found.setdefault((query, batch), table) == table or same(found[query, batch], table, ABOUT)

    with pytest.raises(SPARK_ERRORS):
        wait([job.start(sink)], job.lines.append)
    assert not failing
    running = job.start(sink)
    wait([running], job.lines.append)
    running.flush(job.lines.append)
    for query, table in expected_of(BOTH, rows).items():
        all_rows = [row for (name, _), own in found.items() if name == query for row in own]
        assert same(all_rows, table.to_pylist(), ABOUT), query


@pytest.mark.spark
@pytest.mark.long
def test_a_query_whose_rows_are_events_alone_runs_and_is_not_written(spark: SparkSession, tmp_path: Path) -> None:
    rows = events(600)
    put(tmp_path / "in", 0, rows)
    job = Job(spark, tmp_path, BOTH)
    job.run(queries=["attacked"])
    with pytest.raises(JobError, match="is the checkpoint of another program: queries for their rows as events alone"):
        job.start(Directories(str(tmp_path / "out"), "parquet"), ["bursts", "attacked"])
    job.run(flush=True, queries=["attacked"])
    table = expected_of(BOTH, rows)["attacked"]
    assert same(job.rows("attacked", table.schema), table.to_pylist(), ABOUT)
    assert not {"bursts", "pairs"} & {one.name for one in (tmp_path / "out").iterdir()}
    assert {query for line in job.lines for query in line["out"]} == {"attacked"}


# ---- what is refused, and what is told -------------------------------------------------------------------------------


def chain(text: str, queries: list[str] | None = None) -> Continuous:
    (streams,) = chains([part.streamed for part in names_of_job(text)["JOB"].parts])
    names = [name for one in streams for name in one.stream.queries]
    return chained(streams, names, queries or names, 3, 86_400_000)


@pytest.mark.parametrize(
    ("event_time", "query"),
    [
        ("at", "RETURN MATCH f.at AS at PATTERN Failed f WITHIN 1 MINUTE"),
        ("last", "RETURN account, MAX(f.at) AS last PATTERN Failed f GROUP BY account WITHIN 1 MINUTE"),
        ("window_start", "RETURN account, COUNT(*) AS n PATTERN Failed f GROUP BY account WITHIN SESSION 1 MINUTE"),
    ],
)
def test_an_event_time_of_which_nothing_says_how_early_it_may_be_is_refused(event_time: str, query: str) -> None:
    stream = FEW[: FEW.index("QUERY")]
    text = f"""{stream}QUERY q {query};
STREAM t EVENT TIME {event_time} FROM QUERY q; QUERY r RETURN COUNT(*) AS n PATTERN t WITHIN 1 HOUR;"""
    end = "match_end" if "MATCH" in query else "window_end"
    said = f"stream t has {event_time} of the rows of query q as its event time, .* write EVENT TIME {end}, or"
    with pytest.raises(JobError, match=said):
        chain(text)
    assert len(chain(text.replace(f"STREAM t EVENT TIME {event_time}", f"STREAM t EVENT TIME {end}")).links) == 2


@pytest.mark.parametrize(
    ("event_time", "query", "behind"),
    [
        ("match_end", "RETURN MATCH * PATTERN SEQ(A, B) WITHIN 10 s", 0),
        ("match_start", "RETURN MATCH * PATTERN SEQ(A, B) WITHIN 10 s", 9),
        ("match_end", "RETURN MATCH * PATTERN SEQ(A, NOT B WITHIN 5 s) WITHIN 10 s", 4),
        ("match_end", "RETURN MATCH * PATTERN SEQ(A, C, NOT B) WITHIN 10 s", 9),
        ("match_end", "RETURN MATCH * PATTERN A+ SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN 10 s", 9),
        ("window_end", "RETURN COUNT(*) AS n PATTERN A WITHIN 10 s SLIDE 5 s", -1),
        ("window_start", "RETURN COUNT(*) AS n PATTERN A WITHIN 10 s SLIDE 5 s", 9),
        ("window_end", "RETURN COUNT(*) AS n PATTERN SEQ(A, NOT B WITHIN 5 s) WITHIN 10 s", 3),
        ("window_end", "RETURN COUNT(*) AS n PATTERN A WITHIN SESSION 10 s", -1),
        ("window_start", "RETURN COUNT(*) AS n PATTERN A WITHIN SESSION 10 s", None),
    ],
)
def test_how_far_rows_may_be_behind_the_watermark(event_time: str, query: str, behind: int | None) -> None:
    """And so early one comes: for some events and watermarks a row to come has just that time."""
    stream = "STREAM s (at BIGINT, kind STRING) EVENT TIME at UNIT s EVENT TYPE kind IN ('A', 'B', 'C');\n"
    (plan,) = plan_program(compile_text(f"{stream}QUERY q {query};").program).plans
    assert rows_behind(strategy(plan, "stream").queries[0], event_time) == behind


def test_streams_that_look_at_rows_of_several_are_one_chain() -> None:
    minute = 60_000_000
    found = {
        link.streamed.stream.name: (link.link.behind, {one.stream: one.again for one in link.taking})
        for link in chain(MANY).links
    }
    assert found == {
        "logins": (0, {}),
        "alarms": (minute - 1, {"alarms": True}),
        "totals": (minute - 2, {"totals": False}),
        "busy": (minute - 1, {"busy": True}),
        "logins+alarms": (minute - 1, {"alarms": True}),
        "logins+alarms+busy": (minute - 1, {"alarms": False, "busy": False}),
    }


def test_a_chain_belongs_to_its_checkpoint(tmp_path: Path) -> None:
    begun(tmp_path)
    claim(tmp_path, FEW)
    renamed = FEW.replace("network AS SUBSTRING(address, 1, 2)", "network AS SUBSTRING(address, 2, 2)")
    with pytest.raises(JobError, match=r"column alarms\.network was"):
        claim(tmp_path, renamed)


OTHER_PAIRS = FEW.replace("WITHIN 5 MINUTES", "WITHIN 6 MINUTES")
OTHER_BURSTS = FEW.replace("WITHIN 1 MINUTE;", "WITHIN 2 MINUTES;")
MORE = f"{FEW}QUERY each_side RETURN side, COUNT(*) AS n PATTERN OR(Inside, Outside) GROUP BY side WITHIN 2 MINUTES;"


@pytest.mark.parametrize(
    ("text", "kept", "gone", "new"),
    [
        (OTHER_PAIRS, ["bursts"], ["pairs"], ["pairs"]),
        (OTHER_BURSTS, [], ["bursts", "pairs"], ["bursts", "pairs"]),  # of other rows it has others itself
        (MORE, ["bursts", "pairs"], [], ["each_side"]),
    ],
    ids=["over rows", "whose rows are events", "more"],
)
def test_queries_of_a_chain_are_changed(
    text: str, kept: list[str], gone: list[str], new: list[str], tmp_path: Path
) -> None:
    begun(tmp_path)
    with pytest.raises(JobError, match=f"query {new[0]} is .* write --change"):
        claim(tmp_path, text)
    changed = claim(tmp_path, text, change=True)
    assert changed.line is not None
    assert [changed.line[name] for name in ("kept", "gone", "new")] == [kept, gone, new]
    assert {*changed.begun.since} == {*new}


def test_a_change_leaves_the_links_of_a_chain(tmp_path: Path) -> None:
    begun(tmp_path)
    said = r"the streams with rows of queries were alarms on .* and are alarms, .*: name a new directory"
    with pytest.raises(JobError, match=said):
        claim(tmp_path, BOTH, change=True)


def begun(folder: Path) -> None:
    """A checkpoint of FEW that has had a micro-batch."""
    claim(folder, FEW)
    for log, said in (
        ("offsets", '{"batchWatermarkMs": 0}\n{"logOffset": 0}'),
        ("commits", '{"nextBatchWatermarkMs": 5}'),
    ):
        (folder / log).mkdir()
        (folder / log / "0").write_text(f"v1\n{said}\n")


def claim(folder: Path, text: str, *, change: bool = False) -> checkpoint.Claim:
    return checkpoint.claim(LocalStore(), str(folder), chain(text), change=change)


@pytest.mark.spark
@pytest.mark.long
def test_a_chain_goes_on_with_other_queries(spark: SparkSession, tmp_path: Path) -> None:
    rows = events(900)
    put(tmp_path / "in", 0, rows[:450])
    Job(spark, tmp_path, FEW).run()
    put(tmp_path / "in", 1, rows[450:])
    text = MORE.replace("WITHIN 5 MINUTES", "WITHIN 6 MINUTES")
    job = Job(spark, tmp_path, text)
    job.run(flush=True, change=True)
    found = json.loads((tmp_path / "checkpoint" / "logins" / checkpoint.FILE).read_text())["since"]
    since = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=found["pairs"])
    assert found == dict.fromkeys(("pairs", "each_side"), found["pairs"])

    bursts = expected_of(FEW, rows)["bursts"]
    assert same(job.rows("bursts", bursts.schema), bursts.to_pylist(), ABOUT)
    # The queries over alarms see those from the change on.
    alarms = f"""STREAM alarms (account BIGINT, address STRING, cost DECIMAL(19, 2), match_start TIMESTAMP, match_end TIMESTAMP,
      {text[text.index("network AS") : text.index("EVENT TYPE side")]} EVENT TIME match_end EVENT TYPE side IN ('Inside', 'Outside');
      {text[text.index("QUERY pairs") :]}"""
    seen = bursts.filter(pa.compute.greater_equal(bursts.column("match_end"), pa.scalar(since, SCHEMA[0].type)))
    expected = cepc.compile(alarms).run(seen)
    before = {path.name for path in (tmp_path / "out" / "pairs").glob("batch=00000000[0-2]")}
    assert before  # rows of the query that is gone lie beside those of the new one
    new = [row for row in job.rows("pairs", expected["pairs"].schema) if row["match_start"] >= since]
    assert same(new, expected["pairs"].to_pylist(), ABOUT)
    sides = expected["each_side"].filter(
        pa.compute.greater_equal(expected["each_side"].column("window_start"), pa.scalar(since, SCHEMA[0].type))
    )
    assert sides.num_rows
    assert new
    assert same(job.rows("each_side", sides.schema), sides.to_pylist(), ABOUT)


@pytest.mark.parametrize(
    ("clause", "said"),
    [
        (
            "",
            "as a stream      its events are rows, and its watermark is less than 1 minute behind, as far as these may be",
        ),
        (
            "EVENT TIME at",
            "as a stream      cannot be one, for nothing says how early a row may be that is among its events",
        ),
    ],
)
def test_an_explanation_says_how_far_a_stream_of_rows_is_behind(clause: str, said: str, tmp_path: Path) -> None:
    text = FEW.replace("FROM QUERY bursts", f"{clause} FROM QUERY bursts").replace(
        "AS cost", "AS cost, MAX(f.at) AS at"
    )
    text = text.replace(
        "EVENT TYPE side IN ('Inside', 'Outside') EVENT TIME at",
        "EVENT TIME at EVENT TYPE side IN ('Inside', 'Outside')",
    )
    (tmp_path / "p.cep").write_text(text)
    done = CliRunner().invoke(command, ["explain", str(tmp_path / "p.cep")])
    assert said in done.output, done.output


@pytest.mark.spark
@pytest.mark.long
def test_columns_may_have_names_that_only_look_like_those_of_a_job(spark: SparkSession, tmp_path: Path) -> None:
    text = """STREAM s (_time TIMESTAMP, kind STRING, _ahead INT, _malformed INT, _passed INT, _corrupt INT)
    EVENT TIME _time WATERMARK 10 SECONDS EVENT TYPE kind IN ('A', 'B');
    QUERY q RETURN MATCH a._ahead, a._malformed AS _time, b._passed, b._corrupt PATTERN SEQ(A a, B b) WITHIN 1 MINUTE;"""
    schema = pa.schema([
        ("_time", pa.timestamp("us", "UTC")), ("kind", pa.string()), ("_ahead", pa.int32()), ("_malformed", pa.int32()),
        ("_passed", pa.int32()), ("_corrupt", pa.int32()),
    ])  # fmt: skip
    table = pa.table([[START, START + timedelta(seconds=1)], ["A", "B"], [1, 2], [3, 4], [5, 6], [7, 8]], schema=schema)
    (tmp_path / "in").mkdir()
    pq.write_table(table, tmp_path / "in" / "0.parquet")
    job = Job(spark, tmp_path, text)
    job.run(flush=True)
    expected = cepc.compile(text).run(table)["q"]
    assert job.rows("q", expected.schema) == expected.to_pylist() == [
        {"_ahead": 1, "_time": 3, "_passed": 6, "_corrupt": 8, "match_start": START, "match_end": START + timedelta(seconds=1)}
    ]  # fmt: skip
