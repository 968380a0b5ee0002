"""The cost model `engine` against the clock: plans that it calls much cheaper are."""

from __future__ import annotations

import time
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from cepc.api import check_text
from cepc.passes.strategy import strategy
from cepc.planning import plan_program
from cepc.shared_plans import Options, loads, share
from cepc.statistics.measure import measure
from cepc_runtime.events.grouped import arrange, read
from cepc_runtime.events.letters import Kinds, classify
from cepc_runtime.kernel.run import count_matches
from cepc_runtime.plan.strategy import counted_queries

if TYPE_CHECKING:
    from cepc.model import CheckedProgram
    from cepc_runtime.plan.physical import PhysicalPlan

EVENTS = 1_000_000
SECONDS = 10_000
"""From the first of them to the last; the model speaks of nanoseconds a second."""
CLEARLY = 3.0
"""By so much the predictions differ where the clock has to agree: what a run does beside counting is not in the
model.
"""

STREAM = "STREAM s (at BIGINT, kind STRING, x DOUBLE) EVENT TIME at UNIT ms EVENT TYPE kind;\n"
COUNT = "CAST(COUNT(*) AS DOUBLE) AS n"

WORKLOADS = {
    "windows that differ": [
        f"RETURN {COUNT} PATTERN SEQ(A, B, C) WITHIN {5 + i % 50} min SLIDE {1 + i % 5} min" for i in range(80)
    ],
    "prefixes in common": [
        f"RETURN {COUNT} PATTERN SEQ(A, B, C, {tail}, {last}) WITHIN 20 min SLIDE 1 min"
        for tail in "ABCDEF"
        for last in "ABCDEF"
    ],
    "the same pattern": [f"RETURN {COUNT} PATTERN SEQ(A, B, C, D) WITHIN 30 min SLIDE 1 min"] * 40,
}

LITTLE = f"RETURN {COUNT} PATTERN SEQ(A, B) WITHIN 1 h"


@pytest.mark.long
@pytest.mark.parametrize("queries", WORKLOADS.values(), ids=WORKLOADS.keys())
def test_plans_of_which_one_is_expected_to_be_clearly_cheaper_run_in_that_order(queries: list[str]) -> None:
    pytest.importorskip("numba")
    program = program_of(queries)
    (alone,) = plan_program(program).plans
    kinds = np.random.default_rng(1).choice(list("ABCDEF"), EVENTS)
    events = pa.table(
        {"at": np.arange(EVENTS) * (SECONDS * 1000 // EVENTS), "kind": pa.array(kinds), "x": np.ones(EVENTS)}
    )
    known = {"s": measure(alone, events)}
    found = [share(program, alone, Options(level, seconds=None, statistics=known)) for level in (0, 1, 2)]
    (least,) = plan_program(program_of([LITTLE])).plans
    every_plan = least_time(
        strategy(least, "local"), events
    )  # what an event costs whatever is done with it, which the model leaves out
    expected = [every_plan + SECONDS * loads(*one)[1].nanoseconds / 1e9 for one in found]
    seconds = [least_time(strategy(workload.plan, "local"), events) for workload, _ in found]
    clear = [pair for pair in combinations(range(3), 2) if expected[pair[0]] > CLEARLY * expected[pair[1]]]
    assert clear
    assert all(seconds[dear] > seconds[cheap] for dear, cheap in clear), (expected, seconds)


def program_of(queries: list[str]) -> CheckedProgram:
    text = STREAM + "\n".join(f"QUERY q{i} {query};" for i, query in enumerate(queries))
    program = check_text(text, "t.cep").program
    assert program is not None
    return program


def least_time(plan: PhysicalPlan, table: pa.Table) -> float:
    """Of the kernel alone."""
    reading = read(table, plan.stream)
    found = classify(reading, plan.letters)
    events = arrange(reading, plan.stream, (), canonical=False)
    kinds = Kinds(found.of[events.order], found.letters)
    times = []
    for _ in range(6):  # the first one compiles
        start = time.process_time()
        count_matches(events, kinds, counted_queries(plan.queries), plan.sharing, interpreted=False)
        times.append(time.process_time() - start)
    return min(times)
