"""A batch job under other versions of Spark. `CEPC_SPARKS=1` makes an environment for each in out/ and runs this."""

from __future__ import annotations

import os
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
LINES = ("3.5", "4.0")
"""Older than what a new environment gets, and still in use; as streams, jobs need 4.1."""

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif("CEPC_SPARKS" not in os.environ, reason="CEPC_SPARKS=1 installs other versions of pyspark"),
]


def python_with(line: str) -> Path:
    """The interpreter of an environment with this pyspark and what the runtime needs."""
    folder = ROOT / "out" / f"pyspark-{line}"
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        needed = [f"pyspark=={line}.*", "numba", "numpy", "pandas<3", "pyarrow", "setuptools"]
        subprocess.run([python, "-m", "pip", "install", "--quiet", *needed], check=True)
        (folder / "ready").touch()
    return python


@pytest.mark.parametrize("line", LINES)
def test_a_batch_job_has_the_rows_of_the_local_engine(line: str, tmp_path: Path) -> None:
    python, events, out = python_with(line), tmp_path / "events.parquet", tmp_path / "out"
    subprocess.run([sys.executable, EXAMPLE / "generate.py", events, "--events", "5000"], check=True)
    local = subprocess.run(
        ["cepc", "run", EXAMPLE / "queries.cep", "--events", events, "--output", tmp_path / "local"],
        env=os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    there = {"PYTHONPATH": str(ROOT / "runtime"), "PYSPARK_PYTHON": str(python), "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        [python, EXAMPLE / "job.py", "--input", events, "--output", out],
        env=os.environ | spark_environment() | there, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    compared = 0
    for path in sorted((tmp_path / "local").glob("*.parquet")):
        expected = utc(pq.read_table(path))
        found = utc(ds.dataset(out / path.stem, format="parquet").to_table())
        assert same(found, expected, ABOUT), path.stem
        compared += len(found)
    assert f"{compared:,} rows" in local.stdout + local.stderr
    assert compared > 500
