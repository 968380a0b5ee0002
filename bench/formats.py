"""Events in each format, read for one count, and rows in each, written: processor time for a row, start left out.

python bench/formats.py
python bench/formats.py --events 400000 --rounds 3
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet as pq

import cepc
from cepc.writing.store import store

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAM = """
STREAM events (at TIMESTAMP, kind STRING, account BIGINT, amount DOUBLE, note STRING)
EVENT TIME at EVENT TYPE kind IN ('A', 'B', 'C', 'D');
QUERY pairs RETURN account, COUNT(*) AS n PATTERN SEQ(A a, B b) WHERE b.amount > 99
GROUP BY account WITHIN 10 MINUTES;
"""
DAY = 86_400_000_000
WRITTEN = ("csv", "jsonl", "parquet")


def generate(events: int) -> pa.Table:
    chance = np.random.default_rng(1)
    at = 1_767_225_600_000_000 + np.sort(chance.integers(0, DAY, events))
    return pa.table(
        {
            "at": pa.array(at, pa.timestamp("us", "UTC")),
            "kind": np.array([*"ABCD"])[chance.integers(0, 4, events)],
            "account": chance.integers(0, 5_000, events),
            "amount": np.round(chance.uniform(0, 100, events), 2),
            "note": [f"note {i}" for i in chance.integers(0, 1_000_000, events)],
        }
    )


def write_inputs(table: pa.Table, folder: Path) -> dict[str, Path]:
    for form in ("csv", "jsonl"):
        store({"events": table}, str(folder), form)
    pq.write_table(table, folder / "events.parquet")
    pyarrow.orc.write_table(table, folder / "events.orc")
    found = {form: folder / f"events.{form}" for form in ("parquet", "orc", "csv", "jsonl")}
    try:
        import fastavro
    except ImportError:
        return found
    types = {"at": {"type": "long", "logicalType": "timestamp-micros"}, "kind": "string", "account": "long"}
    types |= {"amount": "double", "note": "string"}
    schema = {"type": "record", "name": "e", "fields": [{"name": n, "type": t} for n, t in types.items()]}
    with (folder / "events.avro").open("wb") as file:
        fastavro.writer(file, schema, table.to_pylist())
    return found | {"avro": folder / "events.avro"}


def micros(do: Callable[[], Any], rows: int, rounds: int) -> float:
    """Of a processor, for a row; the first time does not count."""
    times = []
    for _ in range(rounds + 1):
        start = time.process_time()
        do()
        times.append(time.process_time() - start)
    return statistics.median(times[1:]) / rows * 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    table, compiled = generate(given.events), cepc.compile(PROGRAM)
    with tempfile.TemporaryDirectory() as folder:
        for form, path in write_inputs(table, Path(folder)).items():
            taken = micros(lambda path=path: compiled.run(str(path)), given.events, given.rounds)  # type: ignore[misc]
            print(f"an event read from {form}: {taken:.2f} µs of a processor", flush=True)
        for form in WRITTEN:
            taken = micros(lambda form=form: store({"rows": table}, folder, form), given.events, given.rounds)  # type: ignore[misc]
            print(f"a row written to {form}: {taken:.2f} µs of a processor", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
