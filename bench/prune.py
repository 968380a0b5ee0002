"""With and without the pass `prune`, by turns: from a table of events to tables of rows, in this process, on one thread;
or jobs on Spark, which find the groups that can match before they shuffle, and which do not.

    python -m bench.prune                                    4 million events in 100,000 groups
    python -m bench.prune --events 1000000 --groups 25000 --rounds 9
    python -m bench.prune --spark --able 0.01 0.1 0.2

Events of four types are about equally frequent, in the order of time; groups that cannot match have D in the place of C. A
line is the median of each side and of the ratio of each turn, with the least and the greatest.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bench.processors import timed

from cepc.api import check_text
from cepc.codegen.compiling import job_of, load
from cepc.passes.strategy import strategy
from cepc.running.session import quiet_session
from cepc.shared_plans import Options, plan_shared
from cepc.statistics import Grouping, Statistics
from cepc.writing.order import in_order
from cepc_runtime.batch import execute

if TYPE_CHECKING:
    from cepc_runtime.plan.physical import PhysicalPlan

STREAM: Final = """STREAM events (at BIGINT, kind STRING, account BIGINT, amount DOUBLE)
EVENT TIME at UNIT ms EVENT TYPE kind IN ('A', 'B', 'C', 'D');
"""
QUERIES: Final = {
    "counted": "QUERY q RETURN account, COUNT(*) AS n, SUM(B.amount) AS total PATTERN SEQ(A, B, C) GROUP BY account "
    "WITHIN 2 HOURS SLIDE 1 HOUR;",
    "listed": "QUERY q RETURN MATCH account, A.amount AS amount PATTERN SEQ(A, B, C) "
    "WHERE [account] AND A.amount < C.amount WITHIN 2 HOURS;",
}
DAY: Final = 86_400_000


def events(number: int, groups: int, able: float, *, by_group: bool = False) -> Any:
    """In the order of time, or of groups first, so that there is nothing to sort."""
    chance = np.random.default_rng(1)
    at, account = np.sort(chance.integers(0, DAY, number)), chance.integers(0, groups, number)
    kind, by_account = chance.integers(0, 4, number), np.argsort(account, kind="stable")
    begin = np.searchsorted(account[by_account], np.arange(groups))
    for place in range(3):  # so that every group has all of them
        kind[by_account[begin + place]] = place
    kind[(kind == 2) & (account >= able * groups)] = 3
    if by_group:
        account = np.sort(account)
        at = at[np.lexsort((at, account))]
    names, amount = pa.array(list("ABCD")).take(pa.array(kind)), pa.array(chance.random(number))
    return pa.table({"at": pa.array(at), "kind": names, "account": pa.array(account), "amount": amount})


def plans(query: str) -> tuple[PhysicalPlan, PhysicalPlan]:
    """Without and with the pass."""
    program = check_text(STREAM + query, "bench.cep").program
    assert program is not None
    without, within = (plan_shared(program, Options(without=off)).plans[0] for off in (("prune",), ()))
    return strategy(without, "local"), strategy(within, "local")


def seconds(plan: PhysicalPlan, table: Any) -> float:
    gc.collect()
    before = time.process_time()
    execute(plan, table)
    return time.process_time() - before


def compared(name: str, query: str, table: Any, rounds: int) -> None:
    """One line of the table."""
    sides = plans(query)
    first, second = (in_order(execute(plan, table).tables["q"]) for plan in sides)  # which makes machine code, too
    assert first.equals(second), "the rows are the same"
    said(name, first.num_rows, [(seconds(sides[0], table), seconds(sides[1], table)) for _ in range(rounds)])


def jobs_compared(spark: Any, name: str, query: str, folder: Path, able: float, rounds: int) -> None:
    """One line of the table: rows as tables of Arrow, by a job that knows how few groups can match, and one that does
    not.
    """
    checked = check_text(STREAM + query, "bench.cep")
    assert checked.program is not None
    known = Statistics(groupings={("account",): Grouping(in_groups_with={"C": {"": able}})})
    jobs = [
        load(job_of(checked.program, checked.sources, Options(seconds=None, statistics={"events": of})))
        for of in (Statistics(), known)
    ]
    events = spark.read.parquet(str(folder))
    first, second = (in_order(job.tables(spark, events)["q"]) for job in jobs)
    assert first.equals(second), "the rows are the same"

    def processor(job: Any) -> float:
        spark.catalog.clearCache()
        return timed(lambda: job.tables(spark, events)).processor

    said(name, first.num_rows, [(processor(jobs[0]), processor(jobs[1])) for _ in range(rounds)])


def said(name: str, rows: int, turns: list[tuple[float, float]]) -> None:
    without, within = (statistics.median(turn[side] for turn in turns) for side in (0, 1))
    ratios = sorted(b / a for a, b in turns)
    print(
        f"| {name} | {rows:,} | {without:.3f} | {within:.3f}"
        f" | {statistics.median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f}) |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=4_000_000)
    parser.add_argument("--groups", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--able", type=float, nargs="+", default=[0.01, 0.1, 0.9, 1.0], help="shares of groups")
    parser.add_argument("--sorted", action="store_true", help="events stand by group")
    parser.add_argument("--spark", action="store_true", help="jobs, by the processor time of Spark and all its workers")
    given = parser.parse_args()
    spark = quiet_session() if given.spark else None
    print(
        "| query, groups that can match | rows | without, s | with, s | with / without |\n| --- | --- | --- | --- | --- |"
    )
    for able in given.able:
        table = events(given.events, given.groups, able, by_group=given.sorted)
        with tempfile.TemporaryDirectory() as folder:
            for part in range(4 if spark else 0):
                pq.write_table(
                    table.slice(part * given.events // 4, given.events // 4), Path(folder, f"{part}.parquet")
                )
            for name, query in QUERIES.items():
                if spark:
                    jobs_compared(spark, f"{name}, {able:.0%}", query, Path(folder), able, given.rounds)
                else:
                    compared(f"{name}, {able:.0%}", query, table, given.rounds)


if __name__ == "__main__":
    main()
