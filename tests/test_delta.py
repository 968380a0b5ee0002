"""Tables of Delta, in and out, in a batch and as a stream. `CEPC_DELTA=1` fetches the package by Maven and runs
this.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pyspark
import pytest

from cepc.java import spark_environment
from tests import kafka_broker
from tests.equivalence import ABOUT, same
from tests.test_stream_job import EVENTS, expected, progress, put, submit

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.spark

DELTA = "4.4.0"
LINES = ("4.1", "4.2")
"""Of Spark, for which this Delta was published."""

CONF = (
    "spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog",
)
COPY = """import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
_, source, form, target, into = sys.argv
spark.read.format(form).load(source).coalesce(1).write.format(into).mode("append").save(target)
"""


@pytest.fixture(scope="module")
def jars() -> list[Path]:
    line = ".".join(pyspark.__version__.split(".")[:2])
    if os.environ.get("CEPC_DELTA") != "1":
        pytest.skip("CEPC_DELTA=1 fetches Delta (15 MB) and runs this")
    if line not in LINES:
        pytest.skip(f"Delta {DELTA} is for Spark {' and '.join(LINES)}, and this is {line}")
    if shutil.which("mvn") is None:
        pytest.skip("there is no mvn")
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "cepc-tests" / f"delta-{DELTA}-{line}"
    if not (folder / "whole").exists():
        folder.mkdir(parents=True, exist_ok=True)
        wanted = (
            f"<dependency><groupId>io.delta</groupId><artifactId>delta-spark_{line}_2.13</artifactId>"
            f"<version>{DELTA}</version></dependency>"
        )
        (folder / "pom.xml").write_text(kafka_broker.POM.format(wanted))
        try:
            kafka_broker.maven(folder, "copy-dependencies", f"-DoutputDirectory={folder}", "-DincludeScope=runtime")
        except kafka_broker.NotAvailableError as reason:
            pytest.skip(str(reason))
        (folder / "whole").touch()
    return sorted(jar for start in ("delta-", "unitycatalog-") for jar in folder.glob(f"{start}*.jar"))


def copy(folder: Path, jars: Sequence[Path], *arguments: object) -> None:
    """The table `source` of a format is appended to `target`, of another."""
    (folder / "append_to.py").write_text(COPY)
    command = [
        str(Path(sys.executable).with_name("spark-submit")), "--master", "local[2]", "--jars", ",".join(map(str, jars)),
        "--conf", "spark.ui.enabled=false", "--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.driver.bindAddress=127.0.0.1",
        *(part for one in CONF for part in ("--conf", one)), str(folder / "append_to.py"), *map(str, arguments),
    ]  # fmt: skip
    environment = {**os.environ, **spark_environment(), "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def check(folder: Path, jars: Sequence[Path], out: Path) -> None:
    """The tables in `out` have the rows of a batch, each once."""
    for query, table in expected().items():
        copy(folder, jars, out / query, "delta", folder / "seen" / query, "parquet")
        found: list[dict[str, Any]] = pq.read_table(folder / "seen" / query).select(table.column_names).to_pylist()
        assert same(found, table.to_pylist(), ABOUT), query


def test_a_batch_reads_a_table_and_writes_one_for_each_query(jars: list[Path], tmp_path: Path) -> None:
    copy(tmp_path, jars, put(tmp_path / "in" / "0.parquet", EVENTS), "parquet", tmp_path / "events", "delta")
    arguments = (
        "--format", "delta", "--input", str(tmp_path / "events"),
        "--output", str(tmp_path / "out"), "--output-format", "delta",
    )  # fmt: skip
    done = submit(tmp_path, *arguments, jars=jars, conf=CONF, mode=())
    assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]
    check(tmp_path, jars, tmp_path / "out")


def test_a_stream_from_a_table_to_tables_has_every_row_once_however_often_it_is_started(
    jars: list[Path], tmp_path: Path
) -> None:
    """Once it is stopped before a micro-batch that was written is known to be: Spark runs that again."""
    arguments = (
        "--checkpoint", str(tmp_path / "c"), "--format", "delta", "--input", str(tmp_path / "events"),
        "--output", str(tmp_path / "out"), "--output-format", "delta",
    )  # fmt: skip
    for part, events in enumerate((EVENTS[:20], EVENTS[20:])):
        source = put(tmp_path / f"in{part}" / "0.parquet", events)
        copy(tmp_path, jars, source, "parquet", tmp_path / "events", "delta")
        done = submit(tmp_path, *arguments, jars=jars, conf=CONF)
        assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]
        assert sum(line["rows"] for line in progress(done.stdout)) == 20
    (commits,) = (tmp_path / "c").glob("*/commits")
    last = max((file for file in commits.iterdir() if file.name.isdecimal()), key=lambda file: int(file.name))
    for file in (last, commits / f".{last.name}.crc"):
        file.unlink()
    done = submit(tmp_path, *arguments, "--flush", jars=jars, conf=CONF)
    assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]
    check(tmp_path, jars, tmp_path / "out")
