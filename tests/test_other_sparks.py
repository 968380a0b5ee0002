"""A job under other versions of Spark. `CEPC_SPARKS=1` makes an environment for each in out/ and runs this."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from cepc.java import spark_environment
from tests.equivalence import ABOUT, same
from tests.test_spark_cluster import utc

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "food_delivery"
BATCH_ALONE = ("3.5", "4.0")
LINES = (*BATCH_ALONE, "4.1", "4.2")
"""Older than what a new environment gets, and still in use."""

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif("CEPC_SPARKS" not in os.environ, reason="CEPC_SPARKS=1 installs other versions of pyspark"),
]


def python_with(line: str) -> Path:
    """The interpreter of an environment with this pyspark and cepc."""
    folder = ROOT / "out" / f"pyspark-{line}"
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        needed = [f"pyspark=={line}.*", "setuptools", "--editable", f"{ROOT}[spark]"]
        subprocess.run([python, "-m", "pip", "install", "--quiet", *needed], check=True)
        (folder / "ready").touch()
    return python


def said(line: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """What a command of that environment does."""
    python = python_with(line)
    there = {"PYSPARK_PYTHON": str(python), "SPARK_LOCAL_IP": "127.0.0.1"}
    return subprocess.run(
        [python, *map(str, arguments)],
        env=os.environ | spark_environment() | there, check=False, capture_output=True, text=True,
    )  # fmt: skip


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("events") / "events.parquet"
    subprocess.run([sys.executable, EXAMPLE / "generate.py", path, "--events", "5000"], check=True)
    return path


@pytest.fixture(scope="module")
def local(events: Path) -> Path:
    folder = events.parent / "local"
    cepc = [sys.executable, "-m", "cepc"]
    subprocess.run([*cepc, "run", EXAMPLE / "queries.cep", "--events", events, "--output", folder], check=True)
    return folder


def compare(local: Path, found: Path) -> None:
    compared = 0
    for path in sorted(local.glob("*.parquet")):
        expected = utc(pq.read_table(path))
        there = found / path.name if (found / path.name).exists() else found / path.stem
        assert same(utc(ds.dataset(there, format="parquet").to_table()), expected, ABOUT), path.stem
        compared += len(expected)
    assert compared > 500


@pytest.mark.parametrize("line", LINES)
def test_a_batch_job_has_the_rows_of_the_local_engine(line: str, events: Path, local: Path, tmp_path: Path) -> None:
    done = said(line, EXAMPLE / "job.py", "--input", events, "--output", tmp_path / "out")
    assert done.returncode == 0, done.stderr[-3000:]
    compare(local, tmp_path / "out")


@pytest.mark.parametrize("line", LINES)
def test_one_command_has_them_too(line: str, events: Path, local: Path, tmp_path: Path) -> None:
    where = ("--events", events, "--output", tmp_path / "out")
    done = said(line, "-m", "cepc", "run", EXAMPLE / "queries.cep", "--engine", "spark", *where)
    assert done.returncode == 0, done.stderr[-3000:]
    compare(local, tmp_path / "out")


@pytest.mark.parametrize("line", LINES)
def test_a_stream_has_them_or_says_which_spark_it_needs(line: str, events: Path, local: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    shutil.copy(events, tmp_path / "in")
    mode = ("--mode", "stream", "--trigger", "available-now", "--flush", "--checkpoint", tmp_path / "checkpoint")
    done = said(line, EXAMPLE / "job.py", "--input", tmp_path / "in", *mode, "--output", tmp_path / "out")
    if line in BATCH_ALONE:
        assert done.returncode == 1
        assert f"error: a stream needs Spark 4.1 or newer, and this is {line}" in done.stderr
        return
    assert done.returncode == 0, done.stderr[-3000:]
    compare(local, tmp_path / "out")
