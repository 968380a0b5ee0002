"""Queries over one stream beside queries over two: planned together, as they are, and each over its own streams.

    python -m bench.several_streams
    python -m bench.several_streams --events 400000 --queries 10 --spark 0

In this process, whole runs of `cepc run` to files of Parquet take turns, start included; in Spark both jobs in one
session that is warm, to files. Medians of processor time, of all processes that take part. The rows are compared.
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bench.processors import Took, timed

import cepc
from cepc.codegen.compiling import job_of
from cepc.running.session import quiet_session
from cepc.shared_plans import Options
from cepc_runtime.spark.files import Files
from cepc_runtime.spark.settings import OF_OUTPUT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ORDERS: Final = [f"A{i}" for i in range(8)]
PAYMENTS: Final = [f"B{i}" for i in range(5)]
GROUPS: Final = 10_000
HOURS: Final = 2
WAYS: Final = {"together": (), "apart": ("lift",)}


def program(folder: Path, queries: int) -> str:
    """So many queries over orders alone, and as many over orders and payments."""
    chance = random.Random(1)
    streams = [_stream(folder, "orders", ORDERS), _stream(folder, "payments", PAYMENTS)]
    alone = [_query(f"alone{i}", chance.sample(ORDERS, 3)) for i in range(queries)]
    both = [_query(f"both{i}", [*chance.sample(ORDERS, 2), chance.choice(PAYMENTS)]) for i in range(queries)]
    return "\n".join([*streams, *alone, *both])


def _stream(folder: Path, name: str, kinds: list[str]) -> str:
    listed = ", ".join(f"'{kind}'" for kind in kinds)
    return (
        f"STREAM {name} (at TIMESTAMP, kind STRING, account BIGINT, amount DOUBLE)\n"
        f"EVENT TIME at EVENT TYPE kind IN ({listed}) FROM PARQUET '{folder / name}.parquet';"
    )


def _query(name: str, kinds: list[str]) -> str:
    first, *rest = kinds
    pattern = ", ".join([f"{first} a", *rest])
    asked = f"RETURN account, COUNT(*) AS n, SUM(a.amount) AS total PATTERN SEQ({pattern}) GROUP BY account"
    return f"QUERY {name} {asked} WITHIN 20 MINUTES SLIDE 20 MINUTES;"


def generate(folder: Path, events: int) -> None:
    """Two orders for each payment."""
    chance = np.random.default_rng(1)
    for name, kinds, count in (("orders", ORDERS, events * 2 // 3), ("payments", PAYMENTS, events // 3)):
        at = np.sort(chance.integers(0, HOURS * 3_600_000_000, count)) + 1_700_000_000_000_000
        table = {
            "at": pa.array(at, pa.timestamp("us", "UTC")),
            "kind": pa.array(kinds).take(pa.array(chance.integers(0, len(kinds), count))),
            "account": chance.integers(0, GROUPS, count),
            "amount": np.round(chance.uniform(0, 100, count), 2),
        }
        pq.write_table(pa.table(table), folder / f"{name}.parquet")


def in_process(text: Path, rows: Path, without: tuple[str, ...]) -> Callable[[], None]:
    left_out = [argument for name in without for argument in ("--no-pass", name)]
    command = [sys.executable, "-m", "cepc", "run", str(text), "--output", str(rows), *left_out]

    def run() -> None:
        shutil.rmtree(rows, ignore_errors=True)
        subprocess.run([*command, "--format", "parquet"], check=True, capture_output=True)

    return run


def in_spark(spark: Any, text: Path, rows: Path, without: tuple[str, ...]) -> Callable[[], None]:
    compiled = cepc.compile(text)
    job: dict[str, Any] = {"__name__": "job"}
    text_of_job = job_of(compiled.program, compiled.checked.sources, Options(seconds=None, without=without)).text
    exec(compile(text_of_job, "job", "exec"), job)

    def run() -> None:
        spark.catalog.clearCache()
        shutil.rmtree(rows, ignore_errors=True)
        job["JOB"].write(spark, None, None, None, Files(str(rows), "parquet"))

    return run


def compare(name: str, ways: Mapping[str, Callable[[], None]], rows: Mapping[str, Path], turns: int) -> None:
    """Each has a first run that does not count."""
    taken: dict[str, list[Took]] = {way: [] for way in ways}
    for turn in range(turns + 1):
        for way, run in ways.items():
            took = timed(run)
            taken[way] += [took] if turn else []
    found = {way: _rows(folder) for way, folder in rows.items()}
    if found["together"] != found["apart"]:
        raise SystemExit(f"{name}: the rows differ")
    one, other = (statistics.median(took.processor for took in taken[way]) for way in ("together", "apart"))
    print(f"{name}: together {one:.2f} s of processors, apart {other:.2f} s: {one / other:.2f} times", flush=True)


def _rows(folder: Path) -> dict[str, tuple[int, int]]:
    """Of each query how many rows, and how many matches they count."""
    found = {}
    for query in sorted(path for path in folder.iterdir() if not path.name.startswith("_")):
        counts = pq.read_table(query, columns=["n"]).column("n").to_pylist()
        found[query.name.removesuffix(".parquet")] = len(counts), sum(counts)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=6_000_000, help="of both streams")
    parser.add_argument("--queries", type=int, default=20, help="over one stream, and as many over both")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--spark", type=int, default=5, help="turns in Spark; 0 for none")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        generate(folder, arguments.events)
        text = folder / "queries.cep"
        text.write_text(program(folder, arguments.queries))
        rows = {way: folder / way for way in WAYS}
        ways = {way: in_process(text, rows[way], without) for way, without in WAYS.items()}
        compare("in process", ways, rows, arguments.turns)
        if arguments.spark:
            spark = quiet_session()
            for setting, value in OF_OUTPUT.items():  # as a job does
                spark.conf.set(setting, value)
            spark.conf.set("spark.sql.shuffle.partitions", "4")
            ways = {way: in_spark(spark, text, rows[way], without) for way, without in WAYS.items()}
            compare("in Spark, warm", ways, rows, arguments.spark)
            spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
