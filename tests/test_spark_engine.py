"""`cepc run --engine spark` and `cepc.compile(…).spark(…)`: from files to rows in one command, and over Spark
Connect.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import cepc
from cepc.cli import cepc as command
from cepc.java import spark_environment
from cepc.reading.files import EventSource
from cepc.running import local as local_run
from cepc.running import spark as spark_run
from cepc.running.session import LITTLE, jvm_of
from cepc.why import looked_at
from cepc_runtime.spark.settings import COMPILED_ONCE
from tests import test_bad_records as bad
from tests.equivalence import ABOUT, same
from tests.test_examples import program
from tests.test_spark_examples import sample, write_shuffled
from tests.test_spark_job import EVENTS, LONG, PROGRAM, write_json, write_parquet

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def run(*arguments: str) -> Any:
    return CliRunner().invoke(command, ["run", *arguments, "--engine", "spark"])


def test_one_command_goes_from_a_program_and_a_directory_to_rows(spark: SparkSession, tmp_path: Path) -> None:
    assert spark.version
    write_shuffled(sample("food_delivery"), tmp_path / "orders")
    result = run(str(program("food_delivery")), "--events", str(tmp_path / "orders"))
    assert result.exit_code == 0, result.output
    printed = [json.loads(line) for line in result.stdout.splitlines()]
    local = CliRunner().invoke(command, ["run", str(program("food_delivery")), "--events", str(tmp_path / "orders")])
    assert same(printed, [json.loads(line) for line in local.stdout.splitlines()], ABOUT)
    assert result.stderr == f"read by Spark, dropped 1 without a type; {len(printed)} rows of 4 queries\n"


def test_what_is_dropped_and_what_is_written_is_said(spark: SparkSession, tmp_path: Path) -> None:
    assert spark.version
    (tmp_path / "p.cep").write_text(PROGRAM)
    events, out = write_json(tmp_path / "e.json", EVENTS), str(tmp_path / "out")
    result = run(str(tmp_path / "p.cep"), "--events", str(events), "--limit", "1", "--output", out)
    assert result.exit_code == 0, result.output
    assert result.stderr.splitlines()[-1] == (
        f"read by Spark, dropped 1 without a time; 6 rows of 3 queries, 3 of them written in {out}"
    )


@pytest.mark.parametrize(
    ("events", "code", "said"),
    [
        (LONG, "E0807", "query rises: COUNT(*) does not fit BIGINT in the window from 0 to 1000 for k = x; CAST(COUNT(*) AS STRING)"),
        ([{"at": 1, "kind": "A", "x": "one"}], "E0711", "`\"one\"` is no INT for `x`"),
        ([{"at": 1, "x": 1}], "E0807", "column kind: expected string, found none (there are at, x)"),
        ([{"at": 1, "Kind": "A", "x": 1}], "E0807", "column kind: expected string, found none but Kind: names are case-sensitive, rename it"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_error(
    spark: SparkSession, tmp_path: Path, events: list[dict[str, Any]], code: str, said: str
) -> None:
    assert spark.version
    (tmp_path / "p.cep").write_text(PROGRAM)
    result = run(str(tmp_path / "p.cep"), "--events", str(write_json(tmp_path / "e.json", events)))
    assert result.exit_code == 1
    assert result.stdout == ""
    text = " ".join(result.stderr.split())
    assert said in text
    assert f"error[{code}]" in text
    assert "Exception" not in text


def test_a_column_that_one_file_of_a_directory_lacks_is_an_error_as_by_the_local_engine(
    spark: SparkSession, tmp_path: Path
) -> None:
    assert spark.version
    (tmp_path / "p.cep").write_text(PROGRAM)
    (tmp_path / "in").mkdir()
    whole = pq.read_table(write_parquet(tmp_path / "e.parquet", EVENTS))
    pq.write_table(whole, tmp_path / "in" / "1.parquet")
    pq.write_table(whole.drop_columns(["x"]), tmp_path / "in" / "2.parquet")
    by_spark, by_local = both(str(tmp_path / "p.cep"), "--events", str(tmp_path / "in"))
    assert "error[E0706]" in by_local.stderr
    assert by_spark.stderr == by_local.stderr
    assert (by_spark.exit_code, by_spark.stdout) == (1, "")


def both(*arguments: str) -> tuple[Any, Any]:
    """What the command says by Spark, and by the local engine."""
    found = [CliRunner().invoke(command, ["run", *arguments, "--engine", engine]) for engine in ("spark", "local")]
    return found[0], found[1]


TEXT: dict[str, tuple[bytes, str]] = {
    "e.csv": (bad.csv_of(bad.CSV), bad.STREAM),
    "e.jsonl": (bad.json_of(bad.JSON), bad.STREAM),
    "texts.csv": (bad.csv_of(bad.TEXTS, "ts,kind,n"), bad.COMPUTED),
}


@pytest.mark.parametrize("name", TEXT)
def test_bad_records_are_said_passed_over_and_set_apart_as_by_the_local_engine(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    assert spark.version
    monkeypatch.chdir(tmp_path)
    content, text = TEXT[name]
    (tmp_path / name).write_bytes(content)
    (tmp_path / "p.cep").write_text(text)
    for how in ([], ["--skip-bad"], ["--dead", "dead.jsonl"]):
        ours, local = both("p.cep", "--events", name, *how)
        assert (ours.exit_code, ours.stdout, ours.stderr) == (local.exit_code, local.stdout, local.stderr), how
        assert ours.exit_code == (0 if how else 1)
    apart = (tmp_path / "dead.jsonl").read_text()
    assert CliRunner().invoke(command, ["run", "p.cep", "--events", name, "--dead", "dead.jsonl"]).exit_code == 0
    assert apart == (tmp_path / "dead.jsonl").read_text() != ""


def test_a_record_of_which_spark_alone_knows_whether_it_is_bad_is_not_passed_over(
    spark: SparkSession, tmp_path: Path
) -> None:
    assert spark.version
    computed = "host AS PARSE_URL(kind, 'HOST')) EVENT TIME at;"
    (tmp_path / "p.cep").write_text(
        f"STREAM s (at TIMESTAMP, kind STRING, {computed} QUERY q RETURN MATCH s.host PATTERN s WITHIN 1 MINUTE;"
    )
    (tmp_path / "e.csv").write_text("at,kind\n2026-01-01,http://a/b\n")
    arguments = str(tmp_path / "p.cep"), "--events", str(tmp_path / "e.csv")
    assert json.loads(run(*arguments).stdout)["host"] == "a"
    refused = run(*arguments, "--skip-bad")
    assert refused.exit_code == 1
    assert "error[E0716]" in refused.stderr
    assert "leave the option out" in refused.stderr


EMPTY = """STREAM s (ts BIGINT, k BIGINT, x BIGINT, Kind STRING, at AS TIMESTAMP_SECONDS(ts), kind AS CONCAT('is', Kind))
EVENT TIME at EVENT TYPE kind;
QUERY other_type RETURN MATCH isA.x PATTERN SEQ(isA, isLogin) WITHIN 9 s;
QUERY never_true RETURN MATCH isA.x PATTERN isA WHERE isA.x > 50 WITHIN 9 s;
QUERY too_short RETURN COUNT(*) AS n PATTERN SEQ(isA, isB) WITHIN 2 s SLIDE 2 s;
QUERY apart RETURN MATCH isA.x PATTERN SEQ(isA, isB) WHERE [k] WITHIN 9 s;
QUERY refused RETURN MATCH isA.x AS x PATTERN SEQ(isA, isB) HAVING x > 50 WITHIN 9 s;
QUERY not_without RETURN MATCH isA.x PATTERN SEQ(isA, isB) WHERE isA.x > isB.x WITHIN 9 s;
QUERY some RETURN MATCH isA.x PATTERN SEQ(isA, isB) WITHIN 9 s;
"""


@pytest.mark.parametrize(("most", "causes"), [(1_000_000, 6), (3, 3)])
def test_queries_without_rows_say_why_as_by_the_local_engine(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, causes: int
) -> None:
    assert spark.version
    for module in (local_run, looked_at):
        monkeypatch.setattr(module, "LOOKED_AT", most)
    (tmp_path / "p.cep").write_text(EMPTY)
    rows = [(1, 7, 1, "A"), (2, 7, 2, "login"), (None, 7, 2, "A"), (3, 8, 3, "A"), (8, 9, 4, "B"), (8, 9, 4, "C")]
    pq.write_table(pa.table(list(map(list, zip(*rows, strict=True))), ["ts", "k", "x", "Kind"]), tmp_path / "e.parquet")
    ours, local = both(str(tmp_path / "p.cep"), "--events", str(tmp_path / "e.parquet"))
    assert ours.stdout == local.stdout != ""
    said = [done.stderr.splitlines()[:-1] for done in (ours, local)]
    assert said[0] == said[1]
    assert sum(" no rows: " in line for line in said[0]) == causes
    assert ("among the first 3 events" in ours.stderr) == (most == 3)


CONNECTED = """import json, sys
import cepc
from pyspark.sql import SparkSession
from pyspark.sql.utils import is_remote

spark = SparkSession.builder.remote("local[2]").config("spark.sql.session.timeZone", "UTC").getOrCreate()
assert is_remote()
program, small, long = sys.argv[1:]
found = cepc.compile(program).spark(spark.read.parquet(small))
print(json.dumps({query: [row.asDict() for row in rows.collect()] for query, rows in found.items()}))
try:
    cepc.compile(program).spark(spark.read.parquet(long))["rises"].collect()
except Exception as error:
    from cepc_runtime.spark.errors import sentence
    print(sentence(error))
spark.stop()
"""


@pytest.mark.skipif(
    find_spec("grpc") is None or find_spec("grpc_status") is None,
    reason="Spark Connect needs pip install 'pyspark[connect]', which cepc itself does not",
)
@pytest.mark.long  # a server of its own
def test_dataframes_of_spark_connect_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "p.cep").write_text(PROGRAM)
    small = write_parquet(tmp_path / "small.parquet", EVENTS)
    long = write_parquet(tmp_path / "long.parquet", LONG)
    done = subprocess.run(
        [sys.executable, "-c", CONNECTED, str(tmp_path / "p.cep"), str(small), str(long)],
        env={**os.environ, **spark_environment()}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found, failure = done.stdout.splitlines()
    for query, rows in cepc.compile(PROGRAM).run(small).items():
        assert same(json.loads(found)[query], rows.to_pylist(), ABOUT), query
    assert failure.startswith("query rises: COUNT(*) does not fit BIGINT in the window from 0 to 1000 for k = x;")


@pytest.mark.parametrize(
    ("paths", "size"), [(["a.csv"], 3), (["folder"], 5), (["a.csv", "folder"], 8), (["hdfs://a.csv"], None)]
)
def test_how_much_a_session_has_to_do_is_known_of_files_that_are_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, paths: list[str], size: int | None
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_bytes(b"abc")
    (tmp_path / "folder" / "day=1").mkdir(parents=True)
    (tmp_path / "folder" / "day=1" / "b.csv").write_bytes(b"12345")
    assert spark_run.size_of(map(EventSource, paths)) == size


@pytest.mark.parametrize(("size", "once"), [(None, False), (1, True), (LITTLE, True), (LITTLE + 1, False)])
def test_a_jvm_with_little_to_do_compiles_once(size: int | None, once: bool) -> None:
    options = jvm_of(size)
    assert all("-Duser.timezone=UTC" in one for one in options.values())  # for times of ORC without a zone
    assert [o.endswith(f"-XX:+UseParallelGC {COMPILED_ONCE}") for o in options.values()] == [once, once]
