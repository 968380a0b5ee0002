"""MATCH_RECOGNIZE by `cepc run`: clauses whose conditions are of several rows, beside one that is of the row at hand.

Each is a process of its own over the same Parquet file of prices; the figures are seconds of processors, start and
writing included, medians over the rounds, in each of which every clause runs once. `average` is Flink's example of an
aggregate in DEFINE.

    python bench/match_recognize.py [--rows N] [--symbols N] [--rounds N]
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

CLAUSES = {
    "of the row at hand": "PATTERN (A B+ C) DEFINE A AS A.size > 20, B AS B.size < 15",
    "average": "PATTERN (A+ B) DEFINE A AS AVG(A.price) < 13.8",
    "sum of all rows": "PATTERN (A B+ C) DEFINE B AS SUM(size) < 100",
    "average of all rows": "PATTERN (A B+ C) DEFINE B AS SUM(size) < 100, C AS C.size > AVG(size)",
    "balance": "PATTERN ((I | O)+) DEFINE I AS side = 1, O AS SUM(O.size) < COALESCE(SUM(I.size), 0)",
    "below another variable's average": "PATTERN ((A B)+) DEFINE B AS B.size <= AVG(A.size)",
    "the last row so far": "PATTERN ((A C* B)+) DEFINE B AS B.size > A.size, C AS C.size < A.size",
}
SQL = """\
CREATE TABLE ticker (symbol STRING, at TIMESTAMP, price DOUBLE, size INT, side INT) USING parquet LOCATION '{path}';
SELECT * FROM ticker MATCH_RECOGNIZE (
  PARTITION BY symbol ORDER BY at MEASURES COUNT(*) AS n, LAST(at) AS until
  AFTER MATCH SKIP PAST LAST ROW {clause}
) AS found;
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--symbols", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(prices(asked.rows, asked.symbols), Path(folder, "prices.parquet"))
        found: dict[str, list[float]] = {name: [] for name in CLAUSES}
        rows = dict.fromkeys(CLAUSES, 0)
        for number in range(asked.rounds + 1):  # the first makes bytecode and machine code, and is not measured
            for name, clause in CLAUSES.items():
                spent, rows[name] = run(Path(folder), clause)
                if number:
                    found[name].append(spent)
    print(f"{asked.rows:,} rows of {asked.symbols:,} symbols, medians of {asked.rounds}; seconds of processors")
    floor = statistics.median(next(iter(found.values())))
    for name, seconds in found.items():
        middle = statistics.median(seconds)
        print(f"{name:36}{rows[name]:>10,} matches{middle:>8.2f}{middle / floor:>8.2f}")


def prices(rows: int, symbols: int) -> pa.Table:
    chance = np.random.default_rng(0)
    return pa.table(
        {
            "symbol": np.array([f"s{i}" for i in range(symbols)])[chance.integers(0, symbols, rows)],
            "at": pa.array(np.arange(rows) * 100_000, pa.timestamp("us", tz="UTC")),
            "price": np.round(10 + 8 * chance.random(rows), 2),
            "size": chance.integers(1, 30, rows).astype(np.int32),
            "side": chance.integers(0, 2, rows).astype(np.int32),
        }
    )


def run(folder: Path, clause: str) -> tuple[float, int]:
    """Seconds of processors, and how many rows it wrote."""
    text, out = folder / "clause.sql", folder / "out"
    text.write_text(SQL.format(path=folder / "prices.parquet", clause=clause), encoding="utf-8")
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [str(Path(sys.executable).parent / "cepc"), "run", str(text), "--output", str(out), "--format", "csv"]
    subprocess.run(command, check=True, capture_output=True, env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    lines = sum(len(path.read_bytes().splitlines()) - 1 for path in out.rglob("*.csv"))
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, lines


if __name__ == "__main__":
    main()
