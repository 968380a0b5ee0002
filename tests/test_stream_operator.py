"""The operator's step without a JVM: letters, classes, buckets, blobs and timers around the core give the rows of a
batch.
"""

from __future__ import annotations

import json
import pickle
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from cepc.codegen.lag_letters import parted
from cepc.codegen.stream_job import stream_job
from cepc.codegen.streaming import whole_plan
from cepc.reading.json_values import Exact, column_of
from cepc_runtime.events.grouped import read
from cepc_runtime.events.letter_words import BITS
from cepc_runtime.events.letters import ByType
from cepc_runtime.parts.classes import classes_of
from cepc_runtime.plan.as_json import to_text
from cepc_runtime.spark.events import CLASS
from cepc_runtime.spark.rows import BATCH, ERROR, Packing, layout_of
from cepc_runtime.spark.streaming.blobs import (
    AHEAD,
    BUCKET,
    EARLY,
    KIND,
    LATE,
    NO_EVENT,
    TAKEN,
    pack,
)  # fmt: skip
from cepc_runtime.spark.streaming.operator import Answering, Blob
from cepc_runtime.spark.streaming.query import continuous
from cepc_runtime.spark.streaming.records import MALFORMED
from cepc_runtime.spark.streaming.spread import keys, spark_hash, tasks, usual_buckets
from cepc_runtime.spark.streaming.tells import KEPT_BY_SPARK, OF_A_BUCKET, Tells
from cepc_runtime.spark.streaming.time import SHIFT, timer_for, watermark_in_ticks
from cepc_runtime.spark.streaming.told import unpack
from cepc_runtime.streaming.ticks import END
from tests.equivalence import answered, compile_text, same, table_of
from tests.generated_jobs import names_of_job
from tests.programs import Case, cases, streamed
from tests.properties import NOTHING, Seen, hold
from tests.test_streaming import SECOND
from tests.told_rows import rows_told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cepc_runtime.parts.classes import Class
    from cepc_runtime.plan.physical import PhysicalPlan
    from cepc_runtime.plan.stream import StreamPlan
    from cepc_runtime.spark.streaming.tells import Aside
    from tests.equivalence import Compiled, Rows

BUCKETS = 3
PLAIN = """STREAM s (at TIMESTAMP, kind STRING) EVENT TIME at EVENT TYPE kind IN ('A', 'B');
QUERY q RETURN MATCH * PATTERN SEQ(A, B) WITHIN 1 MINUTE;
"""


def packed(compiled: Compiled, table: pa.Table, plan: PhysicalPlan, classes: Sequence[Class] | None = None) -> pa.Table:
    """What Spark makes of events: their letters as words, a copy for each class, and the bucket of its keys."""
    own = compiled.plan.stream
    reading = read(table, replace(own, columns=own.given, beside=()))
    by_type = ByType(reading)
    known = [letter for letter, _ in parted(compiled.plan.letters, own.beside)]
    masks = [np.isin(np.arange(len(reading.ticks)), by_type.satisfying(letter)) for letter in known]
    words = [np.zeros(len(reading.ticks), dtype=np.int64) for _ in range(-(-len(masks) // BITS) or 1)]
    for number, mask in enumerate(masks):
        words[number // BITS] |= mask.astype(np.int64) << (number % BITS)
    names = [name for name, _ in plan.stream.given]
    columns = [reading.table.column(name) for name in names] + [pa.array(word) for word in words]
    events = pa.table(columns, [*names, *(f"_letters_{i}" for i in range(len(words)))])
    parts = []
    classes = classes_of(plan.queries) if classes is None else classes
    for number, one in enumerate(classes):
        wanted = np.ones(len(reading.ticks), dtype=np.bool_)
        if one.letters is not None:
            wanted = np.any([masks[letter] for letter in one.letters], axis=0)
        copy = events.filter(pa.array(wanted))
        keys = (
            zip(*(copy.column(key).to_pylist() for key in one.keys), strict=True) if one.keys else [()] * copy.num_rows
        )
        buckets = [hash((one.keys, *(None if key is None else str(key) for key in group))) % BUCKETS for group in keys]
        if len(classes) > 1:
            copy = copy.add_column(0, CLASS, pa.array([number] * copy.num_rows, pa.int32()))
        copy = copy.add_column(0, AHEAD, pa.array([False] * copy.num_rows, pa.bool_()))
        parts.append(copy.add_column(0, BUCKET, pa.array(buckets, pa.int32())))
    return pa.concat_tables(parts)


class Stream:
    """As Spark drives the operator: input first, then timers that have expired; a watermark is that of earlier
    micro-batches.
    """

    def __init__(self, answering: Answering) -> None:
        self.answering = answering
        self.states: dict[int, bytes | None] = {}
        self.timers: dict[int, int | None] = {}
        self.told: list[bytes] = []
        """In this micro-batch, or by a flush."""
        self.rows: dict[int, Rows] = defaultdict(list)
        self.lost = 0
        """Of what is told as rows."""
        self.behind: set[int] = set()
        """The buckets that have not had anything to do since queries were changed."""

    def batch(self, events: pa.Table, shown: int) -> None:
        blobs: dict[int, list[Blob]] = defaultdict(list)
        for batch in pack(events.to_batches()):
            for bucket, kind, blob in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                blobs[bucket].append((kind, blob))
        expired = [bucket for bucket, timer in self.timers.items() if timer is not None and timer <= shown]
        stream = self.answering.program.plan.stream
        self.told = []
        for bucket in [*blobs, *(bucket for bucket in expired if bucket not in blobs)]:
            self._step(bucket, blobs.get(bucket, []), watermark_in_ticks(stream, shown))

    def flush(self) -> None:
        self.told = []
        for bucket in list(self.states):
            self._step(bucket, [], END)

    def _step(self, bucket: int, blobs: list[Blob], watermark: int) -> None:
        plan = self.answering.program.plan
        done = self.answering.step(bucket, self.states.get(bucket), blobs, watermark)
        was = None if done.was_due is None else timer_for(plan.stream, done.was_due)
        # Which the operator deletes without looking. That of queries that are gone since then stays, and says nothing.
        assert was == self.timers.get(bucket) or bucket in self.behind
        self.behind.discard(bucket)
        self.states[bucket] = done.data
        self.timers[bucket] = None if done.due is None else timer_for(plan.stream, done.due)
        assert self.timers[bucket] is None or watermark_in_ticks(plan.stream, self.timers[bucket] or 0) > watermark
        self.told += done.rows
        if self.answering.aside == KEPT_BY_SPARK:
            self._take(plan, done.rows)

    def _take(self, plan: PhysicalPlan, blobs: list[bytes]) -> None:
        rows, texts = rows_told(plan, blobs)
        for number, own in rows.items():
            self.rows[number] += own
        self.lost += len(texts[LATE])


def micro_batches(chance: Random, events: pa.Table, stream: StreamPlan) -> Iterator[tuple[pa.Array, int]]:
    """Which events come together, in any order within a watermark, and the watermark that Spark shows with them, which
    is that of the ones before; in the end none.
    """
    delay = chance.choice((0, 1, 3))
    ticks = read(events, stream).ticks // SECOND[stream.unit]
    arrival = [int(tick) + chance.randint(0, delay) for tick in ticks]
    order = sorted(range(len(arrival)), key=arrival.__getitem__)
    cuts = sorted(chance.randint(0, len(order)) for _ in range(chance.randint(0, 4)))
    shown = 0
    for start, end in zip([0, *cuts, len(order)], [*cuts, len(order), len(order)], strict=True):
        yield pa.array(order[start:end], pa.int64()), shown
        shown = max([shown, *((int(ticks[i]) - delay) * 1000 + SHIFT for i in order[start:end])])


def through_the_operator(case: Case, chance: Random) -> Seen:
    def rows_so_far(stream: Stream) -> dict[int, Rows]:
        assert stream.lost == 0
        return stream.rows

    return told_by_the_operator(case, chance, KEPT_BY_SPARK, rows_so_far, chance.choice((0, 300, OF_A_BUCKET)))


def told_by_the_operator(
    case: Case,
    chance: Random,
    aside: Aside,
    rows_so_far: Callable[[Stream], dict[int, Rows]],
    most: int,
) -> Seen:
    """The rows are the oracle's, by what is made after each micro-batch of what it told, `most` bytes, and put aside."""
    compiled = compile_text(case.text)
    answers = answered(case, compiled)
    if answers is None:
        return NOTHING
    job = stream_job(compiled.program.streams[0], compiled.logical)
    plan, letters = whole_plan(job), tuple((letter.type, letter.condition) for letter in job.letters)
    stream = Stream(Answering(to_text(plan), classes_of(plan.queries), letters, aside=aside, told=most))
    table = read(table_of(case, compiled), compiled.plan.stream).table
    for part, shown in micro_batches(chance, table, compiled.plan.stream):
        stream.batch(packed(compiled, table.take(part), plan), shown)
        rows_so_far(stream)
    stream.flush()
    found = rows_so_far(stream)
    for number, query in enumerate(plan.queries):
        rows = answers[query.name].rows
        assert same(found.get(number, []), rows), (query.name, found.get(number), rows)
    return Seen.of(case, answers)


def test_rows_are_those_of_a_batch() -> None:
    hold("stream: the operator of Spark", streamed(cases(size=3)), through_the_operator)


def test_which_of_tied_events_is_the_previous_one_does_not_depend_on_what_a_job_reads() -> None:
    text = """STREAM s (at BIGINT, kind STRING, x INT) EVENT TIME at UNIT s EVENT TYPE kind;
    QUERY q RETURN MATCH COUNT(*) AS n PATTERN AND(ANY e, ANY e){2} WHERE e.x > PREV(e).x WITHIN 2 s;"""
    rows = tuple(
        dict(zip(("at", "kind", "x"), row, strict=True)) for row in [(6, "C", 3), (6, "D", 0), (7, "C", 2), (7, "A", 1)]
    )
    assert through_the_operator(Case(text, rows), Random(1)).rows == 1


def test_the_shape_of_a_packed_batch_is_kept() -> None:
    """Values that pandas would change."""
    events = pa.table({
        BUCKET: pa.array([1, 0, 1], pa.int32()), AHEAD: pa.array([False, False, True]),
        "x": pa.array([2**60 + 1, None, 3]), "at": pa.array([None, 2**55, 1], pa.timestamp("us", "UTC")),
    })  # fmt: skip
    found: dict[Any, Any] = {}
    for batch in pack(events.to_batches()):
        for bucket, kind, blob in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            schema = pa.schema(list(events.schema)[2:])
            found[bucket, kind] = pa.ipc.read_record_batch(pa.py_buffer(blob), schema).column(0).to_pylist()
    assert found == {(0, TAKEN): [None], (1, TAKEN): [2**60 + 1], (1, EARLY): [3]}


def test_records_that_are_no_events_travel_beside_the_events_of_their_bucket() -> None:
    events = pa.table({
        BUCKET: pa.array([1, 0, 1], pa.int32()), AHEAD: pa.array([False, False, False]),
        MALFORMED: pa.array([None, '{"reason": "it is not JSON"}', None]), "x": pa.array([1, None, 3]),
    })  # fmt: skip
    (dead, packed) = pack(events.to_batches())
    assert dead.to_pylist() == [{BUCKET: 0, KIND: NO_EVENT, "blob": b'{"reason": "it is not JSON"}'}]
    (one,) = packed.to_pylist()
    assert (one[BUCKET], one[KIND]) == (1, TAKEN)
    assert pa.ipc.read_record_batch(pa.py_buffer(one["blob"]), pa.schema({"x": pa.int64()})).to_pylist() == [
        {"x": 1},
        {"x": 3},
    ]


MOMENT = datetime(2026, 3, 2, 12, 0, 0, 120, UTC)


@pytest.mark.parametrize(
    ("type_", "value", "written"),
    [
        ("BINARY", b"\x00\xff", "AP8="),
        ("ARRAY<BINARY>", [b"\x00\xff", None, b""], ["AP8=", None, ""]),
        ("STRUCT<raw BINARY, n INT>", {"raw": b"\x00\xff", "n": None}, {"raw": "AP8=", "n": None}),
        ("MAP<STRING, BINARY>", [("k", b"\x00\xff"), ("none", None)], {"k": "AP8=", "none": None}),
        ("MAP<INT, DATE>", [(-1, date(1969, 12, 31))], {"-1": "1969-12-31"}),
        ("DECIMAL(38, 2)", Decimal("123456789012345678901234567890123456.70"),
         Exact("123456789012345678901234567890123456.70")),
        ("BIGINT", 2**63 - 1, 2**63 - 1),
        ("DOUBLE", 0.1, Exact("0.1")),
        ("DOUBLE", float("nan"), "NaN"),
        ("DOUBLE", float("-inf"), "-Infinity"),
        ("FLOAT", np.float32(0.1), Exact("0.1")),
        ("ARRAY<DOUBLE>", [float("nan"), None, float("inf")], ["NaN", None, "Infinity"]),
        ("DATE", date(1, 1, 1), "0001-01-01"),
        ("TIMESTAMP", MOMENT, "2026-03-02T12:00:00.00012Z"),
        ("TIMESTAMP_NTZ", MOMENT.replace(tzinfo=None), "2026-03-02T12:00:00.00012"),
        ("STRUCT<at TIMESTAMP, amounts ARRAY<DECIMAL(4, 2)>>", {"at": MOMENT, "amounts": [Decimal("1.50")]},
         {"at": "2026-03-02T12:00:00.00012Z", "amounts": [Exact("1.50")]}),
        ("BOOLEAN", True, True),
        ("STRING", 'a"\u2028\n\N{GRINNING FACE}', 'a"\u2028\n\N{GRINNING FACE}'),
        ("STRING", None, None),
    ],
)  # fmt: skip
def test_a_late_event_is_written_as_json_that_reads_as_the_same_event(type_: str, value: Any, written: Any) -> None:
    text = f"STREAM s (at TIMESTAMP, x {type_}) EVENT TIME at; QUERY q RETURN MATCH * PATTERN SEQ(s a, s b) WITHIN 1 s;"
    job = stream_job((compiled := compile_text(text)).program.streams[0], compiled.logical)
    plan = whole_plan(job)
    letters = tuple((letter.type, letter.condition) for letter in job.letters)
    answering = Answering(to_text(plan), classes_of(plan.queries), letters)
    values = {"at": [MOMENT, MOMENT], "x": [value, None]}
    events = pa.table([pa.array(values.get(f.name, [1, 1]), f.type) for f in answering.schema], answering.schema)
    (batch,) = events.to_batches()
    done = answering.step(0, None, [(EARLY, batch.serialize().to_pybytes())], 0)
    late = rows_told(plan, done.rows)[1][LATE]
    lines = [json.loads(text, parse_float=Exact, parse_constant=pytest.fail) for text in late]
    assert [line["event"]["x"] for line in lines] == [written, None]
    assert [(line["reason"], line["queries"]) for line in lines] == [("ahead of the clock", ["q"])] * 2
    for name, type_of_column in plan.stream.columns:
        read_again = column_of([line["event"][name] for line in lines], type_of_column)
        assert str(read_again.to_pylist()) == str(events.column(name).to_pylist())


@pytest.mark.parametrize("buckets", [1, 2, 3, 32, 512])
def test_tasks_have_equally_many_buckets(buckets: int) -> None:
    found = keys(buckets)
    assert len(set(found)) == buckets
    assert 0 in found  # where records without a key go
    for several in (n for n in range(1, buckets + 1) if buckets % n == 0):
        assert set(Counter(spark_hash(key) % several for key in found).values()) == {buckets // several}


@pytest.mark.parametrize(
    ("cores", "buckets", "wanted"),
    [
        (2, None, 2), (8, None, 8), (1, None, 1), (None, None, 32), (None, 64, 64), (4, 32, 4),
        (12, 64, 8), (2, 7, 7), (4, 1, 1), (4, 2, 2), (3, 8, 2),
    ],
)  # fmt: skip
def test_tasks_have_equally_many_buckets_and_are_about_as_many_as_cores(
    cores: int | None, buckets: int | None, wanted: int
) -> None:
    assert tasks(buckets or usual_buckets(cores), cores) == wanted


def test_what_buckets_of_a_thousand_queries_do_travels_in_a_tenth_of_its_text() -> None:
    """Spark broadcasts what has a MB, and its worker beside the driver cannot read that."""
    head, query = PLAIN.split("QUERY q ")
    text = head + "".join(f"QUERY q{number} {query}" for number in range(1000))
    (part,) = names_of_job(text)["JOB"].parts
    answering = continuous(part.streamed, part.streamed.stream.queries, 2, 86_400_000).answering()
    sent = pickle.dumps(answering)
    assert len(answering.plan_text) > 500_000
    assert len(sent) < len(answering.plan_text) / 10
    assert pickle.loads(sent) == answering


def test_rows_of_many_buckets_come_in_few_batches_and_in_their_order() -> None:
    plan = compile_text(PLAIN).plan
    packing = Packing.of(layout_of(plan))
    texts = [[str(bucket)] * size for bucket, size in enumerate((1, 3, BATCH - 1, 2, BATCH, 1, 1))]
    tells = Tells(plan, 0, KEPT_BY_SPARK, 0)
    blobs = [blob for one in texts for blob in tells.all_of([], {LATE: one}, "{}")]
    found = list(unpack(packing, 0)([pa.record_batch({"blob": pa.array(blobs, pa.binary())})]))
    assert [batch.num_rows for batch in found] == [4, BATCH - 1, 2, BATCH, 2]
    assert pa.Table.from_batches(found).column(ERROR).to_pylist() == [text for one in texts for text in one]
