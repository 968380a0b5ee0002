"""AFTER MATCH: matches walked in machine code beside the same matches grown in numpy, measured in the same run.

Both start from sorted events and end with arrays of matches, which are compared. Each round runs both once, so that a
busy moment of the machine falls on both; the figures are medians. Of long matches, a group has a first event now and
then and a last one after thousands of others: twice the events for one match should take twice the time for twice the
events, and not four times.

    python bench/after_match.py [--events N] [--groups N] [--rounds N]
"""

import argparse
import statistics
import time
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from cepc.api import check_text
from cepc.passes.strategy import strategy
from cepc.planning import plan_program
from cepc_runtime.enumerate.arranged import Arranged, arrange_for
from cepc_runtime.enumerate.standing import Matches
from cepc_runtime.enumerate.walk.states import NoWalk
from cepc_runtime.events.grouped import read
from cepc_runtime.events.letters import classify
from cepc_runtime.plan.query import QueryPlan
from cepc_runtime.plan.strategy import PhysicalQuery

STREAM = "STREAM s (at BIGINT, kind STRING, g BIGINT, x DOUBLE) EVENT TIME at UNIT ms EVENT TYPE kind;\n"
SHAPES = {
    "CONTIGUOUS SEQ(A, B+, C) past last": "SEQ(A, B+, C) WHERE [g] SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT",
    "CONTIGUOUS SEQ(A, B+?, C) to next": "SEQ(A, B+?, C) WHERE [g] SELECT CONTIGUOUS AFTER MATCH SKIP TO NEXT EVENT",
    "CONTIGUOUS SEQ(A, B+, C) with PREV": "SEQ(A, B+, C) WHERE [g] AND B.x > PREV(B).x SELECT CONTIGUOUS "
    "AFTER MATCH SKIP PAST LAST EVENT",
    "CONTIGUOUS SEQ(A, B+) to last B": "SEQ(A, B+) WHERE [g] SELECT CONTIGUOUS AFTER MATCH SKIP TO LAST B",
    "CONTIGUOUS SEQ(A, ANY*?, B) to next": "SEQ(A, ANY*? y, B) WHERE [g] SELECT CONTIGUOUS "
    "AFTER MATCH SKIP TO NEXT EVENT",
    "CONTIGUOUS falling, then rising": "SEQ(ANY a, ANY{2,} d, ANY u) WHERE [g] AND FIRST(d).x < a.x "
    "AND d.x < PREV(d).x AND u.x > LAST(d).x SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT",
    "CONTIGUOUS drop below the first": "SEQ(ANY a, ANY* b, ANY c) WHERE [g] AND b.x > a.x - 0.5 AND c.x < a.x - 0.5 "
    "SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT",
    "CONTIGUOUS falling, then above the last": "SEQ(ANY a, ANY+ d, ANY+ u) WHERE [g] AND d.x < PREV(d).x "
    "AND u.x > LAST(d).x SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT",
    "CONTIGUOUS running average": "SEQ(ANY+ a, ANY b) WHERE [g] AND RUNNING AVG(a.x) < 0.55 "
    "SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT",
    "CONTIGUOUS least and greatest": "SEQ(A a, ANY+ b) WHERE [g] AND RUNNING MAX(b.x) - RUNNING MIN(b.x) < 0.6 "
    "SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT",
    "CONTIGUOUS sum of a whole loop": "SEQ(A a, B+ b, C c) WHERE [g] AND SUM(b.x) > 1 SELECT CONTIGUOUS "
    "AFTER MATCH SKIP PAST LAST EVENT",
    "NEXT SEQ(A, B+) with a running sum": "SEQ(A, B+) WHERE [g] AND RUNNING SUM(B.x) < 5 SELECT NEXT "
    "AFTER MATCH SKIP PAST LAST EVENT",
    "NEXT SEQ(A, C) past last": "SEQ(A, C) WHERE [g] SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT",
    "NEXT SEQ(A, C) to next": "SEQ(A, C) WHERE [g] SELECT NEXT AFTER MATCH SKIP TO NEXT EVENT",
    "NEXT SEQ(A, B+, C) past last": "SEQ(A, B+, C) WHERE [g] SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT",
    "NEXT SEQ(A, B+, C) with PREV": "SEQ(A, B+, C) WHERE [g] AND B.x > PREV(B).x SELECT NEXT "
    "AFTER MATCH SKIP PAST LAST EVENT",
    "NEXT SEQ(A, B, C) higher than the first": "SEQ(A, B, C) WHERE [g] AND C.x > A.x SELECT NEXT "
    "AFTER MATCH SKIP TO NEXT EVENT",
    "NEXT SEQ(A, NOT C, B) to next": "SEQ(A, NOT C, B) WHERE [g] SELECT NEXT AFTER MATCH SKIP TO NEXT EVENT",
}
LONG = "SEQ(A, B*, C) WHERE [g] SELECT {select} AFTER MATCH SKIP PAST LAST EVENT"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--groups", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    print(f"{asked.events:,} events in {asked.groups:,} groups, medians of {asked.rounds}; µs for an event")
    print(f"{'':42}{'matches':>10}{'longest':>9}{'walked':>9}{'grown':>9}{'ratio':>8}")
    events = mixed(asked.events, asked.groups)
    for name, query in SHAPES.items():
        report(name, events, f"{query} WITHIN 600 s", asked.rounds)
    for length in (100, 1000, 10_000):
        events = runs(asked.events, length)
        for select in ("CONTIGUOUS", "NEXT"):
            rounds = asked.rounds if length <= 1000 else 1
            report(f"{select} SEQ(A, B*, C) of {length:,} events", events,
                   f"{LONG.format(select=select)} WITHIN 600 s", rounds)  # fmt: skip


def mixed(events: int, groups: int, seed: int = 0) -> Any:
    """Four types, equally frequent, in groups that are, too: an event a millisecond."""
    chance = np.random.default_rng(seed)
    return table(np.arange(events), chance.choice(list("ABCD"), events), chance.integers(0, groups, events), seed)


def runs(events: int, length: int) -> Any:
    """One group, an event a millisecond: an A, then B until the match has that length, then C."""
    place = np.arange(events) % length
    kinds = np.where(place == 0, "A", np.where(place == length - 1, "C", "B"))
    return table(np.arange(events), kinds, np.zeros(events, dtype=np.int64), 0)


def table(at: Any, kinds: Any, groups: Any, seed: int) -> Any:
    x = np.random.default_rng(seed + 1).random(len(at))
    return pa.table({"at": at, "kind": pa.array(kinds.tolist()), "g": groups, "x": x})


def report(name: str, events: Any, query: str, rounds: int) -> None:
    """A line of figures. Stops where both ways find other matches."""
    plan, arranged = prepared(query, events)
    kinds = "walked", "grown"
    found: dict[str, tuple[list[float], list[Matches]]] = {kind: ([], []) for kind in kinds}
    for _ in range(rounds + 1):  # the first is not counted
        for kind in kinds:
            start = time.process_time()
            matches = list(matches_of(plan, arranged, kind))
            found[kind] = [*found[kind][0], time.process_time() - start], matches
    if keys(found["walked"][1]) != keys(found["grown"][1]):
        raise SystemExit(f"{name}: other matches")
    walked, grown = (statistics.median(found[kind][0][1:]) * 1e6 / events.num_rows for kind in kinds)
    count, longest = sum(map(len, matches)), max((len(m.positions) for m in matches), default=0)
    print(f"{name:42}{count:10,}{longest:9,}{walked:9.3f}{grown:9.3f}{grown / walked:8.1f}")


def prepared(query: str, events: Any) -> tuple[PhysicalQuery, Arranged]:
    checked = check_text(f"{STREAM}QUERY q RETURN MATCH COUNT(*) AS n PATTERN {query};")
    assert checked.program is not None, checked.text()
    plan = strategy(plan_program(checked.program).plans[0], "local")
    reading = read(events, plan.stream)
    own = plan.queries[0]
    return own, arrange_for(reading, classify(reading, plan.letters), plan.stream, [own])


def matches_of(query: QueryPlan, arranged: Arranged, kind: str) -> Iterable[Matches]:
    enumerator = arranged.enumerator(query)
    assert query.after is not None
    if kind == "grown":
        return enumerator.grown(query.after)
    walk = enumerator.walk()
    assert not isinstance(walk, NoWalk), walk.reason
    return enumerator.matches()


def keys(matches: Iterable[Matches]) -> set[tuple[bytes, bytes]]:
    """What is said of each match: its events and their variables."""
    return {
        (positions.tobytes(), variables.tobytes())
        for some in matches
        for positions, variables in zip(some.positions.T.copy(), some.variables.T.copy(), strict=True)
    }


if __name__ == "__main__":
    main()
