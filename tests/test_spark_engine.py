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

import pytest
from click.testing import CliRunner

import cepc
from cepc.cli import cepc as command
from cepc.java import spark_environment
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
    ("events", "said"),
    [
        (LONG, "query rises: COUNT(*) does not fit BIGINT in the window from 0 to 1000 for k = x; CAST(COUNT(*) AS STRING)"),
        ([{"at": 1, "kind": "A", "x": "one"}], "Cannot parse the field name 'x' and the value one"),
        ([{"at": 1, "x": 1}], "column kind: expected string, found none (there are at, x)"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_error(
    spark: SparkSession, tmp_path: Path, events: list[dict[str, Any]], said: str
) -> None:
    assert spark.version
    (tmp_path / "p.cep").write_text(PROGRAM)
    result = run(str(tmp_path / "p.cep"), "--events", str(write_json(tmp_path / "e.json", events)))
    assert result.exit_code == 1
    assert result.stdout == ""
    text = " ".join(result.stderr.split())
    assert said in text
    assert "error[E0807]" in text
    assert "Exception" not in text


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
