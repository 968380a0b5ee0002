"""The constants of the cost model `engine`, from the kernel on this machine: nanoseconds of a row operation, and of a
number in it.

Programs with few and many windows and queries are counted, each by itself, and the two constants are fitted to the
processor times and to the operations and numbers that the kernel counts. The relative error says how good the fit is.

    python bench/calibrate.py [--write]
"""

import argparse
import re
import statistics
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from cepc.api import check_text
from cepc.passes import engine
from cepc.passes.strategy import strategy
from cepc.planning import plan_program
from cepc_runtime.events.grouped import arrange, read
from cepc_runtime.events.letters import Kinds, classify
from cepc_runtime.kernel.run import count_matches
from cepc_runtime.plan.strategy import counted_queries

EVENTS = 200_000
RUNS = 5
SHAPES = [(queries, windows) for queries in (1, 4, 16, 64) for windows in (1, 10, 60, 300)]


def program(queries: int, windows: int) -> str:
    """So many queries, each with so many windows open at a time."""
    return "STREAM s (at BIGINT, kind STRING, x DOUBLE) EVENT TIME at UNIT s EVENT TYPE kind;" + "".join(
        f"QUERY q{i} RETURN COUNT(*) AS n PATTERN SEQ(A, B, C, D) WITHIN {windows * 600} s SLIDE 600 s;"
        for i in range(queries)
    )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--write", action="store_true", help="put them into the cost model")
    chance = np.random.default_rng(1)
    events = pa.table(
        {
            "at": pa.array(np.arange(EVENTS)),
            "kind": pa.array(chance.choice(list("ABCD"), EVENTS)),
            "x": pa.array(np.ones(EVENTS)),
        }
    )
    operations, numbers, seconds = (
        np.array(column) for column in zip(*(measured(events, *s) for s in SHAPES), strict=True)
    )
    columns = np.stack([operations, numbers, np.full(len(SHAPES), EVENTS)], axis=1)
    weighted = columns / seconds[:, None]  # relative errors count, not those of the longest
    fit, *_ = np.linalg.lstsq(weighted, np.ones(len(SHAPES)), rcond=None)
    errors = np.abs(columns @ fit / seconds - 1)
    operation, number = float(fit[0] * 1e9), float(fit[1] * 1e9)
    print(f"row operation {operation:.2f} ns, number {number:.3f} ns")
    print(f"the fit is off by {np.median(errors):.0%}, at most by {errors.max():.0%}")
    print(f"the model has {engine.EngineModel()}")
    if arguments.parse_args().write:
        path = Path(engine.__file__)
        text = path.read_text(encoding="utf-8")
        text = re.sub(r"(    operation: float = )[\d.]+", rf"\g<1>{operation:.1f}", text)
        text = re.sub(r"(    number: float = )[\d.]+", rf"\g<1>{number:.2f}", text)
        path.write_text(text, encoding="utf-8")


def measured(table: pa.Table, queries: int, windows: int) -> tuple[int, int, float]:
    """Operations, numbers and processor seconds of the kernel."""
    checked = check_text(program(queries, windows), "bench.cep").program
    assert checked is not None
    (logical,) = plan_program(checked).plans
    plan = strategy(logical, "local")
    reading = read(table, plan.stream)
    kinds = classify(reading, plan.letters)
    events = arrange(reading, plan.stream, (), canonical=False)
    kinds = Kinds(kinds.of[events.order], kinds.letters)
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        counted = count_matches(events, kinds, counted_queries(plan.queries), interpreted=False)
        times.append(time.process_time() - start)
    print(f"  {queries:3} queries, {windows:4} windows: {statistics.median(times) / EVENTS * 1e9:8.1f} ns an event")
    return counted.effort.operations, counted.effort.numbers, statistics.median(times)


if __name__ == "__main__":
    main()
