"""AFTER MATCH in machine code: the matches that are walked are those that grow in numpy, which the oracle has judged."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from cepc_runtime.enumerate.arranged import arrange_for
from cepc_runtime.enumerate.walk import loop as walk_loop
from cepc_runtime.enumerate.walk import run as walk_run
from cepc_runtime.enumerate.walk.states import NoWalk, Walk
from cepc_runtime.events.grouped import read
from cepc_runtime.events.letters import classify
from cepc_runtime.kernel import machine_code
from cepc_runtime.sql.evaluate import EvaluationError
from cepc_runtime.streaming.ticks import END
from tests.equivalence import Refused, compile_text
from tests.test_streaming import Bucket

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cepc_runtime.enumerate.enumerator import Enumerator
    from cepc_runtime.enumerate.standing import Matches

STREAM = "STREAM s (at BIGINT, kind STRING, g INT, x INT, y DOUBLE) EVENT TIME at UNIT s EVENT TYPE kind;\n"
PATTERNS = (
    "SEQ(A, B+, C)", "SEQ(A, B+?, C?)", "SEQ(A, B*, C)", "SEQ(A, B{2,4}?, C??)", "B+", "B+?", "SEQ(A a, B, A e)",
    "SEQ(A, OR(B, C)+, D)", "SEQ(A, OR(B+, SEQ(B c, C))?, D)", "SEQ(A, SEQ(B, C)+?)", "SEQ(A?, B+, C)", "SEQ(A, C)",
    "SEQ(A, NOT D, B+, C)", "SEQ(A, B, NOT D WITHIN 2 s, C)", "SEQ(A, NOT SEQ(D, D e) WITHIN 3 s, B+)",
    "SEQ(A, ANY*? y, C)", "SEQ(A, ANY{1,3} B, C)", "SEQ(A, (B?)*, C?)", "SEQ(OR(A, D), B*, C)", "SEQ(A+, B+)",
    "SEQ(A, B+, OR(C, B c))", "SEQ(A, (B??)+, C)", "SEQ(A, B, B)", "SEQ(A, B{2}, C?)", "SEQ(A, SEQ(B, C){2})",
)  # fmt: skip
CONDITIONS = (
    "B.x > PREV(B).x", "B.x >= A.x", "C.x > A.x", "C.x <> LAST(B).x", "FIRST(B).x < A.x", "B.y <= PREV(B).y",
    "C.y > LAST(B).x", "B.x % 3 = A.x % 3", "B.x + 1 >= PREV(B).x AND B.x <= PREV(B).x + 1", "C.x = A.x",
    "B.x <= FIRST(B).x", "LAST(B).x > A.x", "C.x > B.x", "B.x / 2 < A.x", "10 / B.x > PREV(B).x", "B.y = PREV(B).y",
    "B.x > 0", "C.x > A.x AND C.x > LAST(B).x", "(B.x + PREV(B).x) % 2 = 0", "C.x > FIRST(B).x",
)  # fmt: skip
SKIPS = "TO NEXT EVENT", "PAST LAST EVENT", "TO FIRST B", "TO LAST B", "FOR 1 s", "FOR 7 s"


def program(chance: Random) -> str:
    """A query over A, B, C and D, in whose conditions only what it has is mentioned."""
    pattern = chance.choice(PATTERNS)
    known = [c for c in CONDITIONS if all(name in pattern for name in "ABC" if f"{name}." in c or f"({name})" in c)]
    conditions = ["[g]", *chance.sample(known, min(chance.choice((0, 1, 1, 2)), len(known)))]
    skips = [skip for skip in SKIPS if skip[-1] != "B" or "B" in pattern]
    within = chance.choice(("2 s", "5 s", "20 s", "UNBOUNDED"))
    return (
        f"{STREAM}QUERY q RETURN MATCH COUNT(*) AS n PATTERN {pattern} WHERE {' AND '.join(conditions)} "
        f"SELECT {chance.choice(('CONTIGUOUS', 'NEXT'))} AFTER MATCH SKIP {chance.choice(skips)} WITHIN {within};"
    )


def events(chance: Random) -> Any:
    """Events of few groups, some of them at the same second, with values that are often equal and sometimes null."""
    count, kinds = chance.choice((6, 20, 60)), chance.choice(("ABC", "ABBBC", "ABBCD"))
    seconds = chance.choice((count // 3 + 1, count, 3 * count))
    numbers = [chance.choice((None, *range(5), *range(5))) for _ in range(count)]
    nan, zero = float("nan"), -0.0
    return pa.table(
        {
            "at": sorted(chance.randrange(seconds) for _ in range(count)),
            "kind": [chance.choice(kinds) for _ in range(count)],
            "g": pa.array([chance.randrange(chance.choice((1, 3))) for _ in range(count)], pa.int32()),
            "x": pa.array(numbers, pa.int32()),
            "y": pa.array([chance.choice((nan, zero, 0.0, 1.5, -1.5, None)) for _ in range(count)], pa.float64()),
        }
    )


def enumerator(text: str, table: Any, block: int) -> Enumerator:
    plan = compile_text(text).plan
    reading = read(table, plan.stream)
    arranged = arrange_for(reading, classify(reading, plan.letters), plan.stream, plan.queries)
    return arranged.enumerator(plan.queries[0], block)


def listed(matches: Iterable[Matches]) -> list[tuple[list[int], list[int]]]:
    return sorted(
        (positions, variables)
        for some in matches
        for positions, variables in zip(some.positions.T.tolist(), some.variables.T.tolist(), strict=True)
    )


def grown(found: Enumerator) -> list[tuple[list[int], list[int]]] | None:
    """None where a condition cannot be evaluated."""
    assert found.query.after is not None
    try:
        return listed(found.grown(found.query.after))
    except EvaluationError:
        return None


def compare(chance: Random, seen: Counter[str]) -> None:
    text, table = program(chance), events(chance)
    least = 256 if "UNBOUNDED" in text and len(table) == 60 else 1  # a million partial matches, one at a time: minutes
    try:
        found = enumerator(text, table, max(chance.choice((1, 3, 1 << 16)), least))
    except Refused:
        seen["refused"] += 1
        return
    walk, expected = found.walk(), grown(found)
    select = found.query.select.word
    seen[f"walked with {select}" if isinstance(walk, Walk) else f"grown: {walk.reason}"] += 1
    if expected is None:
        seen["not evaluated"] += 1
        with pytest.raises(EvaluationError):
            listed(found.matches())
        return
    seen["matches"] += len(expected)
    if isinstance(walk, Walk):
        seen["tests of the one before"] += any(not test.from_first for test in walk.tests)
        seen["tests of the first"] += any(test.from_first for test in walk.tests)
        seen["gaps"] += bool(walk.guards)
    assert listed(found.matches()) == expected, (text, table.to_pylist())


@pytest.mark.unhurried
def test_matches_that_are_walked_are_those_that_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_code._SO_FAR, "work", -(10**12))
    seen: Counter[str] = Counter()
    for seed in range(400):
        chance = Random(seed)
        monkeypatch.setattr(walk_run, "LEAST", chance.choice((1, 3, 1 << 12)))
        monkeypatch.setattr(walk_run, "PIECE", 1)
        monkeypatch.setattr(walk_run, "EVENTS_OF_MATCH", chance.choice((1, 16)))
        compare(chance, seen)
    assert min(seen[f"walked with {select}"] for select in ("NEXT", "CONTIGUOUS")) > 80, seen
    assert min(seen["tests of the one before"], seen["tests of the first"]) > 30, seen
    assert seen["gaps"] > 20, seen
    assert seen["matches"] > 400, seen


@pytest.mark.parametrize("select", ["CONTIGUOUS", "NEXT"])
@pytest.mark.parametrize(
    ("length", "expected"),
    [(1, [0, 1, 4, 5, 6, 7]), (3, [0, 4, 5, 6]), (4, [0, 4, 5, 7]), (2**62, [0, 4, 5])],
)
def test_a_silence_may_reach_over_all_of_time(select: str, length: int, expected: list[int]) -> None:
    """In a batch, walked and grown, and in a stream, event by event."""
    text = (
        f"{STREAM}QUERY q RETURN MATCH A.at AS at PATTERN A SELECT {select} AFTER MATCH SKIP FOR {length} s WITHIN 5 s;"
    )
    first, last = -(2**63), 2**63 - 1
    times = [first + 7, first + 8, first + 8, first + 9, -3, last - 4, last - 1, last]
    table = pa.table({"at": times, "kind": ["A", "A", "B", "B", *"AAAA"], "g": [1] * 8, "x": [1] * 8, "y": [1.0] * 8})
    wanted = sorted(times[place] for place in expected)
    walking = enumerator(text, table, 16)
    assert isinstance(walking.walk(), Walk)
    for found in (listed(walking.matches()), grown(walking)):
        assert found is not None
        assert [walking.timeline.ticks[places[0]] for places, _ in found] == wanted
    bucket = Bucket.of(compile_text(text))
    for row in range(len(times)):
        bucket.take(table.slice(row, 1), times[row])
    bucket.take(table.slice(0, 0), END)
    assert sorted(row["at"] for row in bucket.rows[0]) == wanted
    assert bucket.state.quiet == ({},)


WALKS = {
    "SEQ(A, B+, C) WHERE B.x > PREV(B).x SELECT CONTIGUOUS": None,
    "SEQ(A, B+, C) WHERE B.x > PREV(B).x SELECT NEXT": None,
    "SEQ(A, B*, C) WHERE B.x > A.x - 5 AND C.x < A.x - 5 SELECT CONTIGUOUS": None,
    "SEQ(A, B{2,}, C) WHERE FIRST(B).x < A.x AND B.x < PREV(B).x AND C.x > LAST(B).x SELECT CONTIGUOUS": None,
    "SEQ(A, NOT D, B+?) SELECT NEXT": None,
    "AND(A, B) SELECT NEXT": "events of an AND",
    "SEQ(A, B, NOT D) SELECT NEXT": "a NOT that is looked at when the match is complete",
    "SEQ(A, B+, C) WHERE C.x > B.x SELECT NEXT": "the condition C.x > B.x",
    "SEQ(A, B, C, D) WHERE D.x > B.x SELECT NEXT": "the condition D.x > B.x",
    "SEQ(A, B, C) WHERE C.x > A.x + B.x SELECT NEXT": "the condition C.x > A.x + B.x",
    "SEQ(A, B+) WHERE LAST(B).x > A.x SELECT CONTIGUOUS": "the condition LAST(B).x > A.x",
    "SEQ(A, B, B) WHERE LAST(B).x > A.x SELECT CONTIGUOUS": None,
    "SEQ(A, B, B) WHERE LAST(B).x > A.x SELECT NEXT": "a condition with LAST that may hold in the end, and not before",
}


@pytest.mark.parametrize(("query", "reason"), WALKS.items())
def test_a_query_is_walked_or_there_is_a_reason(query: str, reason: str | None) -> None:
    text = f"{STREAM}QUERY q RETURN MATCH COUNT(*) AS n PATTERN {query} AFTER MATCH SKIP PAST LAST EVENT WITHIN 9 s;"
    walk = enumerator(text, events(Random(0)), 1).walk()
    assert (walk.reason if isinstance(walk, NoWalk) else None) == reason


def test_a_walk_that_is_interrupted_counts_the_events_of_its_matches_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_code._SO_FAR, "work", -(10**12))
    monkeypatch.setattr(walk_loop, "LONG", 0)
    text = (
        f"{STREAM}QUERY q RETURN MATCH COUNT(*) AS n PATTERN B SELECT NEXT AFTER MATCH SKIP TO NEXT EVENT WITHIN 9 s;"
    )
    nothing = pa.nulls(5, pa.float64())
    table = pa.table({"at": range(5), "kind": ["B"] * 5, "g": [0] * 5, "x": pa.nulls(5, pa.int32()), "y": nothing})
    found = enumerator(text, table, 1 << 16)
    assert len(listed(found.matches())) == 5
    assert found._means.budget.partial == 5
