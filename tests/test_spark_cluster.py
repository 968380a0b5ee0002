"""A bundle on a standalone cluster, made of the pyspark package alone: a master, two workers, a Python without cepc."""

from __future__ import annotations

import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import cepc
from cepc.codegen.bundle import runtime_archive
from cepc.java import spark_environment
from tests.equivalence import ABOUT, same
from tests.test_examples import NAMES, program
from tests.test_rows_as_events_streams import FEW, expected_of, put_in_files
from tests.test_rows_as_events_streams import events as logins
from tests.test_spark_examples import sample, write_shuffled

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.spark, pytest.mark.long]

GOLDEN = Path(__file__).parent / "golden_jobs" / "rides.cep"
NEEDED = ("numpy", "pandas", "pyarrow", "pyspark", "dateutil", "pytz", "six", "tzdata")
WAIT = 120


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Of the cluster's processes: a Python with no more packages than Spark's own Python functions need."""
    folder = tmp_path_factory.mktemp("python")
    packages = folder / "packages"
    packages.mkdir()
    for name in NEEDED:
        found = find_spec(name)
        if found is None or found.origin is None:
            continue  # what pandas needs differs from version to version
        origin = Path(found.origin)
        source = origin.parent if origin.name == "__init__.py" else origin
        (packages / source.name).symlink_to(source)
        libraries = source.parent / f"{name}.libs"
        if libraries.exists():
            (packages / libraries.name).symlink_to(libraries)
    google = find_spec("google.protobuf")  # which Spark's operators with state need
    assert google is not None
    assert google.origin is not None
    (packages / "google").mkdir()
    (packages / "google" / "protobuf").symlink_to(Path(google.origin).parent)
    python = folder / "python"
    python.write_text(
        "#!/bin/sh\n"
        f'PYTHONPATH="$PYTHONPATH:{packages}" exec {shlex.quote(sys.executable)} -S "$@"\n'  # -S: nothing of this environment
    )
    python.chmod(0o755)
    spark = find_spec("pyspark")
    assert spark is not None
    assert spark.origin is not None
    home = str(Path(spark.origin).parent)
    java, jvm = spark_environment(), os.environ["SPARK_SUBMIT_OPTS"]
    return {
        **{k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYSPARK", "SPARK"))},
        "JAVA_HOME": java["JAVA_HOME"], "SPARK_HOME": home, "PYSPARK_PYTHON": str(python), "PYSPARK_DRIVER_PYTHON": str(python),
        "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m", "SPARK_WORKER_DIR": str(folder / "work"),
        "SPARK_LOCAL_DIRS": str(folder / "local"), "TZ": "Asia/Tokyo",
        "SPARK_SUBMIT_OPTS": jvm, "SPARK_DAEMON_JAVA_OPTS": jvm,
    }  # fmt: skip


def start(environment: dict[str, str], log: Path, *arguments: str) -> subprocess.Popen[bytes]:
    command = [str(Path(environment["SPARK_HOME"], "bin", "spark-class")), *arguments]
    with log.open("wb") as output:
        return subprocess.Popen(
            command, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )


def wait_for(pattern: str, log: Path, process: subprocess.Popen[bytes]) -> re.Match[str]:
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline and process.poll() is None:
        if found := re.search(pattern, log.read_text(errors="replace")):
            return found
        time.sleep(0.2)
    pytest.fail(f"no `{pattern}` in\n{log.read_text(errors='replace')[-3000:]}")


@pytest.fixture(scope="module")
def master(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    logs = tmp_path_factory.mktemp("logs")
    deploy = "org.apache.spark.deploy"
    running = []
    try:
        log = logs / "master"
        running.append(
            start(
                environment, log, f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0"
            )
        )
        url = wait_for(r"spark://127\.0\.0\.1:\d+", log, running[0])[0]
        for number in range(2):
            options = ("--cores", "1", "--memory", "1g", "--host", "127.0.0.1", "--webui-port", "0", url)
            running.append(start(environment, logs / f"worker{number}", f"{deploy}.worker.Worker", *options))
        for number in range(2):
            wait_for("Successfully registered with master", logs / f"worker{number}", running[number + 1])
        yield url
    finally:
        for process in reversed(running):
            process.terminate()
        for process in running:
            process.wait(30)


def events(folder: Path) -> pa.Table:
    """Rides in several files, in no order."""
    chance = random.Random(5)
    rows = [
        {
            "at": chance.randrange(4 * 3_600_000_000),
            "kind": chance.choice(("Request", "Pickup", "Travel", "Travel", "Delivery", "Cancel", None)),
            "driver_id": driver,
            "district": ("north", "south", None)[driver % 3],
            "duration": chance.uniform(0, 60),
            "note": "unread",
        }
        for driver in (chance.randrange(41) for _ in range(6000))
    ]
    schema = pa.schema(
        [
            ("at", pa.timestamp("us", "UTC")),
            ("kind", pa.string()),
            ("driver_id", pa.int64()),
            ("district", pa.string()),
            ("duration", pa.float64()),
            ("note", pa.string()),
        ]
    )
    table = pa.Table.from_pylist(rows, schema=schema)
    folder.mkdir()
    for number in range(3):
        pq.write_table(table.slice(number * 2000, 2000), folder / f"{number}.parquet")
    return table


def submit(environment: dict[str, str], master: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """spark-submit from the folder, with a master and little memory."""
    options = [
        "--master", master, "--driver-memory", "512m", "--executor-memory", "512m", "--total-executor-cores", "2",
        "--conf", "spark.executor.cores=1", "--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.ui.enabled=false",
        "--conf", "spark.sql.shuffle.partitions=4", "--conf", "spark.log.level=ERROR",
        "--conf", f"spark.executor.extraJavaOptions={environment['SPARK_SUBMIT_OPTS']}",
    ]  # fmt: skip
    command = [str(Path(environment["SPARK_HOME"], "bin", "spark-submit")), *options, *words]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=400, check=False
    )


def line_of(bundle: Path) -> list[str]:
    """What the bundle's README says to submit, without its arguments."""
    (line,) = (li for li in (bundle / "README.md").read_text().splitlines() if li.strip().startswith("spark-submit"))
    words = line.split()
    return words[1 : words.index("job.py") + 1]


def utc(table: pa.Table) -> list[dict[str, object]]:
    fields = [
        pa.field(f.name, pa.timestamp("us", "UTC") if pa.types.is_timestamp(f.type) else f.type) for f in table.schema
    ]
    rows: list[dict[str, object]] = table.cast(pa.schema(fields)).to_pylist()
    return rows


def test_a_bundle_runs_where_there_is_no_cepc(environment: dict[str, str], master: str, tmp_path: Path) -> None:
    probe = (
        "import importlib.util as u; print([n for n in ('cepc', 'cepc_runtime', 'numba', 'numpy') if u.find_spec(n)])"
    )
    seen = subprocess.run(
        [environment["PYSPARK_PYTHON"], "-c", probe], env=environment, capture_output=True, text=True, check=True
    )
    assert seen.stdout.strip() == "['numpy']"
    table = events(tmp_path / "rides")
    bundle, output = tmp_path / "bundle", tmp_path / "out"
    subprocess.run([sys.executable, "-m", "cepc", "compile", str(GOLDEN), "--bundle", str(bundle)], check=True)

    arguments = ("--input", str(tmp_path / "rides"), "--output", str(output))
    done = submit(environment, master, bundle, *line_of(bundle), *arguments)

    assert done.returncode == 0, done.stderr[-4000:]
    # The Python driver's standard error is part of spark-submit's standard output.
    assert re.search(r"stream rides: dropped \d+ without a type", done.stdout)
    expected = cepc.compile(GOLDEN).run(table)
    for name, rows in expected.items():
        assert (output / name / "_SUCCESS").exists()
        assert rows.num_rows
        assert same(utc(ds.dataset(output / name).to_table()), rows.to_pylist(), ABOUT), name


def test_a_stream_with_rows_as_events_runs_there(environment: dict[str, str], master: str, tmp_path: Path) -> None:
    """Also the processes that Spark starts beside the driver for each operator have no cepc."""
    (tmp_path / "p.cep").write_text(FEW)
    subprocess.run([sys.executable, "-m", "cepc", "compile", "p.cep", "--bundle", "b"], cwd=tmp_path, check=True)
    rows = logins(500)
    put_in_files(tmp_path / "in", rows, 250)
    folders = ("--checkpoint", str(tmp_path / "ck"), "--input", str(tmp_path / "in"), "--output", str(tmp_path / "out"))
    how = (
        "--mode",
        "stream",
        "--trigger",
        "available-now",
        "--flush",
        "--buckets",
        "4",
        "--option",
        "maxFilesPerTrigger=1",
    )

    done = submit(environment, master, tmp_path / "b", *line_of(tmp_path / "b"), *folders, *how)

    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    for query, table in expected_of(FEW, rows).items():
        found = utc(ds.dataset(tmp_path / "out" / query, partitioning=["batch"]).to_table().drop_columns(["batch"]))
        assert same(found, table.to_pylist(), ABOUT), query


# All examples in one application: importing a job runs nothing, so a driver of its own may build from several.
DRIVER = """import runpy, sys
from pathlib import Path
from pyspark.sql import SparkSession

spark = SparkSession.builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
for folder in map(Path, sys.argv[1:]):
    build = runpy.run_path(str(folder / "job.py"), run_name="job")["build"]
    for query, rows in build(spark, spark.read.parquet(str(folder / "events"))).items():
        rows.write.parquet(str(folder / "rows" / query))
spark.stop()
"""


def test_the_jobs_of_all_examples_run_there(environment: dict[str, str], master: str, tmp_path: Path) -> None:
    (tmp_path / "cepc_runtime.zip").write_bytes(runtime_archive())
    (tmp_path / "driver.py").write_text(DRIVER)
    for name in NAMES:
        write_shuffled(sample(name), tmp_path / name / "events")
        shutil.copy(program(name).with_name("job.py"), tmp_path / name)

    done = submit(environment, master, tmp_path, "--py-files", "cepc_runtime.zip", "driver.py", *NAMES)

    assert done.returncode == 0, done.stderr[-4000:]
    for name in NAMES:
        for query, rows in cepc.compile(program(name)).run(sample(name)).items():
            assert same(utc(ds.dataset(tmp_path / name / "rows" / query).to_table()), rows.to_pylist(), ABOUT), (
                name,
                query,
            )
