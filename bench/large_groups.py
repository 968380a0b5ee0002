"""How much memory one group takes in a Spark job's worker, against its size: the kernel fed as Spark feeds it, without
Spark.

Each line is a process of its own. What is given is the peak of its resident memory over what it had after a run on a
few events, which loads and compiles everything.

    python bench/large_groups.py
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

import cepc
from cepc.passes.strategy import strategy
from cepc.shared_plans import plan_shared
from cepc_runtime.parts.classes import classes_of
from cepc_runtime.plan.as_json import to_text
from cepc_runtime.spark.kernel import run_partition

if TYPE_CHECKING:
    from collections.abc import Iterator

STREAM: Final = """STREAM events (at TIMESTAMP, kind STRING, account BIGINT, amount DOUBLE)
EVENT TIME at EVENT TYPE kind IN ('A', 'B', 'C', 'D');
"""
QUERIES: Final = {
    "counted": """RETURN account, CAST(COUNT(*) AS DOUBLE) AS n, SUM(b.amount) AS total PATTERN SEQ(A a, B+ b, C c)
GROUP BY account WITHIN 20 ms SLIDE 10 ms""",
    "a match query": "RETURN a.at, b.amount AS x, c.amount AS y PATTERN SEQ(A a, B b, C c) WHERE [account] WITHIN 20 us",
    "a match query with AFTER MATCH": """RETURN a.at, c.amount AS y PATTERN SEQ(A a, B b, C c) WHERE [account]
SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN 20 ms""",
    "an aggregate whose matches are listed": """RETURN account, COUNT(*) AS n PATTERN SEQ(A a, B b, C c)
WHERE a.amount < c.amount GROUP BY account WITHIN 20 us""",
    "counted, UNBOUNDED": """RETURN account, CAST(COUNT(*) AS DOUBLE) AS n PATTERN SEQ(A a, B b, C c)
GROUP BY account WITHIN UNBOUNDED""",
}
BATCH: Final = 10_000
"""Rows of Spark's Arrow batches."""


def batches(events: int) -> Iterator[Any]:
    """One group, an event each microsecond, made as it is read."""
    for start in range(0, events, BATCH):
        chance = np.random.default_rng(start)
        size = min(BATCH, events - start)
        yield pa.record_batch(
            {
                "at": pa.array(np.arange(start, start + size), pa.timestamp("us", "UTC")),
                "kind": pa.array(["A", "B", "C", "D"]).take(pa.array(chance.integers(0, 4, size))),
                "account": pa.array(np.zeros(size, dtype=np.int64)),
                "amount": pa.array(chance.uniform(0, 100, size)),
            }
        )


def peak(query: str, events: int, sender: Any) -> None:
    """Sends the peak of memory in MB over that of a small run, and the number of rows."""
    compiled = cepc.compile(f"{STREAM}QUERY q {query};\n")
    (logical,) = plan_shared(compiled.program).plans
    plan = strategy(logical, "stream")
    (one,) = classes_of(plan.queries)

    def run(size: int) -> int:
        return sum(batch.num_rows for batch in run_partition(batches(size), to_text(plan), [one], None))

    run(3 * BATCH)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rows = run(events)
    sender.send(((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, rows))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, nargs="+", default=[1_000_000, 4_000_000], help="of the one group")
    parser.add_argument("--query", choices=list(QUERIES), action="append", help="only this one (repeatable)")
    arguments = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    for name in arguments.query or QUERIES:
        for events in arguments.events:
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(target=peak, args=(QUERIES[name], events, sender))
            process.start()
            megabytes, rows = receiver.recv()
            process.join()
            print(f"{name:<40} {events:>12,} events  {rows:>12,} rows  {megabytes:>8,.0f} MB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
