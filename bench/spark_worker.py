"""What a Python worker of Spark's does of the job of `bench.spark_batch`, in this process and without a JVM: its kernel
is fed sorted batches of 10,000 events with their letters, and gives batches of rows.

    python -m bench.spark_worker
    python -m bench.spark_worker --more-than 300
    python -m bench.spark_worker --files INT96            # to files, with times as Spark has them by default
    python -m bench.spark_worker --files TIMESTAMP_MICROS
"""

from __future__ import annotations

import argparse
import re
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bench.spark_batch import HOUR, TYPES, workload

import cepc
from cepc.codegen.compiling import job_of
from cepc_runtime.events.letter_words import BITS, words_needed
from cepc_runtime.spark.events import word_names
from cepc_runtime.spark.forms import IN_ROWS, TIMES, InFiles, Parquet, Placed
from cepc_runtime.spark.kernel import kernel

BATCH = 10_000


def generate(letters: list[tuple[str, str]], events: int, groups: int, hours: float) -> list[Any]:
    """Batches of events like those of `bench.spark_batch`, sorted by group and time, with the letters that they have."""
    chance = np.random.default_rng(1)
    at, kinds = chance.integers(0, int(hours * HOUR), events), chance.integers(0, len(TYPES), events)
    accounts, amounts = chance.integers(0, groups, events), np.round(chance.uniform(0, 100, events), 2)
    words = np.zeros((words_needed(len(letters)), events), dtype=np.int64)
    for i, (kind, condition) in enumerate(letters):
        holds = (kinds == TYPES.index(kind)) & satisfying(condition, amounts)
        words[i // BITS] |= holds.astype(np.int64) << i % BITS
    order = np.lexsort((at, accounts))
    columns = {"at": pa.array(at[order], pa.timestamp("us", "UTC")), "account": accounts[order]}
    columns |= {"amount": amounts[order]}
    columns |= {name: word[order] for name, word in zip(word_names(len(letters)), words, strict=True)}
    found: list[Any] = pa.table(columns).to_batches(BATCH)
    return found


def satisfying(condition: str, amounts: Any) -> Any:
    """Where a letter's condition holds, of which the workload has two kinds."""
    if condition == "TRUE":
        return np.ones(len(amounts), dtype=np.bool_)
    found = re.fullmatch(r"\(`amount` > ([\d.]+)D\)", condition)
    assert found is not None
    return amounts > float(found[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=400_000)
    parser.add_argument("--groups", type=int, default=1_000)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--more-than", type=int, help="rows only where there are more matches")
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--files", choices=TIMES, help="files of Parquet instead of rows, with times of this form")
    arguments = parser.parse_args()
    compiled = cepc.compile(workload(arguments.queries, arguments.more_than))
    job: dict[str, Any] = {"__name__": "job"}
    exec(compile(job_of(compiled.program, compiled.checked.sources).text, "job", "exec"), job)
    batches = generate(job["EVENTS_LETTERS"], arguments.events, arguments.groups, arguments.hours)
    times = []
    with tempfile.TemporaryDirectory() as folder:
        form = InFiles(Parquet("snappy", arguments.files, "4"), Placed(folder, "w")) if arguments.files else IN_ROWS
        run = kernel(job["EVENTS_PLAN"], job["EVENTS_CLASSES"], None, form)
        for _ in range(arguments.rounds + 1):  # the first compiles
            start, rows = time.process_time(), sum(batch.num_rows for batch in run(batches))
            times.append(time.process_time() - start)
        if arguments.files:
            rows = sum(pq.ParquetFile(file).metadata.num_rows for file in Path(folder).iterdir())
    taken = statistics.median(times[1:]) / arguments.events * 1e6
    print(f"{rows:,} rows of {arguments.events:,} events: {taken:.2f} µs of a processor an event")


if __name__ == "__main__":
    main()
