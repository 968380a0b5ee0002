"""With and without the pass `prune`, by turns: from a table of events to tables of rows, in this process, on one thread.

    python -m bench.prune                                    4 million events in 100,000 groups
    python -m bench.prune --events 1000000 --groups 25000 --rounds 9

Events of four types are about equally frequent, in the order of time; groups that cannot match have D in the place of C. A
line is the median of each side and of the ratio of each turn, with the least and the greatest.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from cepc.api import check_text
from cepc.passes.strategy import strategy
from cepc.shared_plans import Options, plan_shared
from cepc.writing.order import in_order
from cepc_runtime.batch import execute

if TYPE_CHECKING:
    from cepc_runtime.plan import PhysicalPlan

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
    turns = [(seconds(sides[0], table), seconds(sides[1], table)) for _ in range(rounds)]
    without, within = (statistics.median(turn[side] for turn in turns) for side in (0, 1))
    ratios = sorted(b / a for a, b in turns)
    print(
        f"| {name} | {first.num_rows:,} | {without:.3f} | {within:.3f}"
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
    given = parser.parse_args()
    print(
        "| query, groups that can match | rows | without, s | with, s | with / without |\n| --- | --- | --- | --- | --- |"
    )
    for able in given.able:
        table = events(given.events, given.groups, able, by_group=given.sorted)
        for name, query in QUERIES.items():
            compared(f"{name}, {able:.0%}", query, table, given.rounds)


if __name__ == "__main__":
    main()
