"""A stream from and to a real Kafka: rows are those of a batch over the same events. `CEPC_KAFKA=1` fetches and runs
it.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import cepc
from tests import kafka_broker
from tests.equivalence import ABOUT, same
from tests.test_stream_job import (
    BAD,
    EVENTS,
    RISES,
    SCHEMA,
    STREAM,
    TWICE,
    expected,
    progress,
    put,
    rows,
    submit,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.kafka_broker import Broker

pytestmark = pytest.mark.spark

AVRO = {
    "type": "record", "name": "s", "fields": [
        {"name": "at", "type": "long"}, {"name": "kind", "type": "string"}, {"name": "k", "type": ["null", "string"]},
        {"name": "x", "type": "int"}, {"name": "more", "type": "string"},
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    try:
        with kafka_broker.running(tmp_path_factory.mktemp("kafka")) as found:
            yield found
    except kafka_broker.NotAvailableError as reason:
        pytest.skip(str(reason))


def jars() -> list[Path]:
    return sorted(kafka_broker.artifacts()[1].glob("*.jar"))


def disordered() -> list[dict[str, Any]]:
    """Within the watermark, and every tenth event twice."""
    chance = random.Random(3)
    events = [event for number, event in enumerate(EVENTS) for _ in range(1 + (number % 10 == 0))]
    return sorted(events, key=lambda event: event["at"] + chance.uniform(0, 4))


def test_rows_from_a_topic_are_those_of_a_batch_and_other_records_are_set_apart(broker: Broker, tmp_path: Path) -> None:
    events, bad = disordered(), [*BAD, None]
    arguments = (
        "--checkpoint", str(tmp_path / "c"), "--format", "kafka", "--input", "rides", "--dead", str(tmp_path / "dead"),
        "--option", f"kafka.bootstrap.servers={broker.servers}", "--option", "maxOffsetsPerTrigger=20",
        "--output", str(tmp_path / "out"),
    )  # fmt: skip
    # One key, so that records are read as they were written: Kafka orders no more than a partition.
    for part, more in ((events[:25], []), (events[25:], ["--flush"])):
        broker.produce("rides", [("k", json.dumps(event)) for event in part] + [("k", text) for text in bad[:2]])
        bad = bad[2:]
        ended = submit(tmp_path, *arguments, *more, jars=jars())
        assert ended.returncode == 0, ended.stdout + ended.stderr[-3000:]
    for query, table in expected(events).items():
        assert same(rows(tmp_path / "out" / query, "parquet", table.schema), table.to_pylist(), ABOUT), query
    written = [json.loads(line) for file in (tmp_path / "dead" / "s").glob("*/part-*") for line in file.open()]
    records = broker.consume("rides", len(events) + 4)
    where = {(p, offset): None if value == "null" else value for p, offset, _, value in records}
    assert {(line["partition"], line["offset"]) for line in written} == {
        place for place, value in where.items() if value is None or value in BAD
    }
    for line in written:
        assert line["topic"] == "rides"
        assert line["reason"] == BAD.get(line.get("record", ""), "it has no value")
    assert sum(line["malformed"] for line in progress(ended.stdout) if "flush" not in line) == 2


def test_a_record_that_is_no_event_stops_the_job_with_its_place(broker: Broker, tmp_path: Path) -> None:
    broker.produce("poisoned", [("k", "no JSON")])
    ended = submit(
        tmp_path, "--checkpoint", str(tmp_path / "c"), "--format", "kafka", "--option", "subscribe=poisoned",
        "--option", f"kafka.bootstrap.servers={broker.servers}", jars=jars(),
    )  # fmt: skip
    assert ended.returncode == 1
    assert '{"reason":"it is not JSON","topic":"poisoned","partition":' in ended.stdout
    assert "--dead DIR writes such records there and goes on" in ended.stdout


def test_rows_go_to_a_topic_with_an_id_by_which_repeats_are_known(broker: Broker, tmp_path: Path) -> None:
    source = put(tmp_path / "in" / "0.parquet", EVENTS)
    arguments = (
        "--checkpoint", str(tmp_path / "c"), "--input", source, "--output", "results", "--output-format", "kafka",
        "--output-option", f"kafka.bootstrap.servers={broker.servers}",
    )  # fmt: skip
    begun = submit(tmp_path, *arguments, jars=jars())
    assert begun.returncode == 0, begun.stdout + begun.stderr[-3000:]
    # As if the job had been killed before its last micro-batch was known to be done: it is run again.
    last = max((tmp_path / "c" / "s" / "commits").glob("[0-9]*"), key=lambda path: int(path.name))
    last.unlink()
    (last.parent / f".{last.name}.crc").unlink(missing_ok=True)
    ended = submit(tmp_path, *arguments, "--flush", jars=jars())
    assert ended.returncode == 0, ended.stdout + ended.stderr[-3000:]
    wanted = expected()
    repeated = sum(sum(line["out"].values()) for line in progress(ended.stdout) if "flush" not in line)
    assert repeated
    records = broker.consume("results", sum(table.num_rows for table in wanted.values()) + repeated)
    found = [json.loads(value) for *_, value in records]
    assert [one["id"] for one in found] == [key for *_, key, _ in records]
    once = {one["id"]: one for one in found}
    labels = {"rises": "NO_HEADERS", "pairs": "severity:high,owner:us"}
    assert {one["query"]: broker.headers[one["id"]] for one in found} == labels
    assert len(once) == len(found) - repeated
    for query, table in wanted.items():
        assert same([one["row"] for one in once.values() if one["query"] == query], table.to_pylist(), ABOUT), query


def test_a_pattern_of_patterns_has_its_events_from_a_topic_and_its_rows_go_to_one(
    broker: Broker, tmp_path: Path
) -> None:
    program = f"{STREAM}{RISES}STREAM found FROM QUERY rises;\n{TWICE.replace('rises', 'found')}"
    events = [event | {"kind": "A", "k": "xy"[event["at"] % 5 % 2], "x": 7 * event["at"] % 11} for event in EVENTS]
    servers = f"kafka.bootstrap.servers={broker.servers}"
    arguments = (
        "--checkpoint", str(tmp_path / "c"), "--format", "kafka", "--input", "prices", "--option", servers,
        "--option", "maxOffsetsPerTrigger=9", "--output", "turns", "--output-format", "kafka", "--output-option", servers,
    )  # fmt: skip
    told = 0
    for part, more in ((events[:25], []), (events[25:], ["--flush"])):
        broker.produce("prices", [("k", json.dumps(event)) for event in part])
        ended = submit(tmp_path, *arguments, *more, jars=jars(), program=program)
        assert ended.returncode == 0, ended.stdout + ended.stderr[-3000:]
        told += sum(sum(line["out"].values()) for line in progress(ended.stdout))
    wanted = cepc.compile(program).run(pa.Table.from_pylist(events, schema=SCHEMA))
    assert min(table.num_rows for table in wanted.values()) > 4
    found = [json.loads(value) for *_, value in broker.consume("turns", sum(t.num_rows for t in wanted.values()))]
    assert len({one["id"] for one in found}) == len(found) == told
    for query, table in wanted.items():
        assert same([one["row"] for one in found if one["query"] == query], table.to_pylist(), ABOUT), query


def test_values_may_be_avro(broker: Broker, tmp_path: Path) -> None:
    (tmp_path / "s.avsc").write_text(json.dumps(AVRO))
    put(tmp_path / "in" / "0.parquet", EVENTS)
    (tmp_path / "produce.py").write_text(_PRODUCE)
    spark_submit = str(Path(sys.executable).with_name("spark-submit"))
    command = [spark_submit, "--master", "local[1]", "--jars", ",".join(map(str, jars())), str(tmp_path / "produce.py")]
    subprocess.run([*command, str(tmp_path), broker.servers], check=True, timeout=300)
    ended = submit(
        tmp_path, "--checkpoint", str(tmp_path / "c"), "--format", "kafka", "--input", "binary", "--avro", str(tmp_path / "s.avsc"),
        "--option", f"kafka.bootstrap.servers={broker.servers}", "--output", str(tmp_path / "out"), "--flush",
        "--dead", str(tmp_path / "dead"), jars=jars(),
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr[-3000:]
    for query, table in expected().items():
        assert same(rows(tmp_path / "out" / query, "parquet", table.schema), table.to_pylist(), ABOUT), query
    (dead,) = [json.loads(line) for file in (tmp_path / "dead" / "s").glob("*/part-*") for line in file.open()]
    assert (dead["reason"], dead["record_base64"]) == ("it is not Avro of the schema", "AQ==")


_PRODUCE = """
import sys
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import to_avro

folder, servers = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()
events = spark.read.parquet(f"{folder}/in").coalesce(1)
schema = open(f"{folder}/s.avsc").read()
record = F.struct("at", "kind", "k", "x", F.lit("not declared").alias("more"))
values = events.select(F.lit("k").alias("key"), to_avro(record, schema).alias("value"))
bad = spark.range(1).select(F.lit("k").alias("key"), F.unhex(F.lit("01")).alias("value"))
values.unionAll(bad).write.format("kafka").option("kafka.bootstrap.servers", servers).option("topic", "binary").save()
"""
