"""What it gains in a stream to know before WITHIN is over which contiguous matches there are: time, events that are
held, and how long after its last event a row comes.

One bucket, step by step, without Spark; each step is a minute of events, and the watermark is at its end. By turns with
the same program that waits for WITHIN; every side's rows are compared.

    python -m bench.foreseen
    python -m bench.foreseen --events 100000 --groups 50000 --steps 6
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from cepc.api import check_text
from cepc.passes.strategy import strategy
from cepc.planning import plan_program
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.parts.classes import classes_of
from cepc_runtime.streaming.advance import advance
from cepc_runtime.streaming.decision import Decision
from cepc_runtime.streaming.program import Program
from cepc_runtime.streaming.state import State, from_bytes, to_bytes
from cepc_runtime.streaming.ticks import END

if TYPE_CHECKING:
    from collections.abc import Sequence

STREAM: Final = "STREAM ticks (at TIMESTAMP, account INT, price INT) EVENT TIME at ORDER BY price;\n"
QUERIES: Final = {
    "a price that falls and turns": """PATTERN SEQ(ticks a, ticks+ down, ticks+ up)
        WHERE [account] AND down.price < LAG(down.price) AND up.price > LAG(up.price)""",
    "a large one after a small one": """PATTERN SEQ(ticks a, ticks*? x, ticks c)
        WHERE [account] AND a.price < 20 AND c.price > a.price + 70""",
}
MINUTE: Final = 60_000_000


@dataclass(frozen=True)
class Ran:
    rows: Counter[str]
    seconds: float
    held: int
    delays: Sequence[float]


def program_of(query: str, foreseen: bool) -> Program:
    text = f"""{STREAM}QUERY q RETURN MATCH account, COUNT(a) AS n {query}
        SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT WITHIN 30 MINUTES;"""
    checked = check_text(text)
    assert checked.program is not None, checked.text()
    (logical,) = plan_program(checked.program).plans
    plan = strategy(logical, "stream")
    lagging = [q.name for q in plan.queries] if plan.stream.beside else []
    program = Program(plan, classes_of(plan.queries, lagging=lagging))
    if not foreseen:
        decisions = (replace(d, foreseen=False) if isinstance(d, Decision) else d for d in program.decisions)
        vars(program)["decisions"] = tuple(decisions)
    return program


def minutes(events: int, groups: int, steps: int) -> list[pa.Table]:
    chance = np.random.default_rng(1)
    return [
        pa.table({
            "at": pa.array(np.sort(chance.integers(n * MINUTE, (n + 1) * MINUTE, events)), pa.timestamp("us", "UTC")),
            "account": pa.array(chance.integers(0, groups, events), pa.int32()),
            "price": pa.array(chance.integers(0, 100, events), pa.int32()),
        })
        for n in range(steps)
    ]  # fmt: skip


def run(program: Program, tables: Sequence[pa.Table]) -> Ran:
    state, rows, held, delays = State(), Counter[str](), 0, list[float]()
    begin = time.process_time()
    for step, table in enumerate([*tables, tables[0].slice(0, 0)], 1):
        watermark = step * MINUTE if step <= len(tables) else END
        done = advance(program, state, [table], watermark)
        state = from_bytes(to_bytes(done.state, program), program)
        held = max(held, state.events)
        for _, found in done.rows:
            rows.update(map(str, found.to_pylist()))
            if watermark != END:
                ends = np.asarray(found.column("match_end").cast(pa.int64()))
                delays += ((watermark - ends) / 1_000_000).tolist()
    return Ran(rows, time.process_time() - begin, held, delays)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=20_000, help="in a minute")
    parser.add_argument("--groups", type=int, default=1_000)
    parser.add_argument("--steps", type=int, default=40, help="minutes")
    parser.add_argument("--turns", type=int, default=3)
    arguments = parser.parse_args()
    tables = minutes(arguments.events, arguments.groups, arguments.steps)
    for name, query in QUERIES.items():
        programs = {how: program_of(query, how == "foreseen") for how in ("foreseen", "at the end of WITHIN")}
        for program in programs.values():
            run(program, tables[:1])
        turns = {how: [run(program, tables) for _ in range(arguments.turns)] for how, program in programs.items()}
        first, second = (found[0] for found in turns.values())
        assert first.rows == second.rows, f"{name}: the rows differ"
        print(f"{name}: {arguments.steps * arguments.events:,} events, {sum(first.rows.values()):,} rows")
        for how, found in turns.items():
            seconds = median(one.seconds for one in found)
            late = f"{median(found[0].delays):,.0f} s" if found[0].delays else "none before the end"
            print(f"  {how}: {seconds:.1f} s of a processor, {found[0].held:,} events held, a row after {late}")


if __name__ == "__main__":
    main()
