"""AFTER MATCH in machine code: the matches that are walked are those that grow in numpy, which the oracle has judged."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from cepc_runtime.enumerate.arranged import arrange_for
from cepc_runtime.enumerate.walk import blocks as walk_blocks
from cepc_runtime.enumerate.walk import loops as walk_loops
from cepc_runtime.enumerate.walk import reading as walk_reading
from cepc_runtime.enumerate.walk import run as walk_run
from cepc_runtime.enumerate.walk import skipping as walk_skipping
from cepc_runtime.enumerate.walk.computing import average_of, half_up, sum_of
from cepc_runtime.enumerate.walk.states import NoWalk, Walk
from cepc_runtime.events.grouped import read
from cepc_runtime.events.letters import classify
from cepc_runtime.kernel import machine_code
from cepc_runtime.sql.evaluate import EvaluationError
from cepc_runtime.streaming.ticks import END
from tests.equivalence import Refused, compile_text
from tests.growing import EVERY, grow_together
from tests.properties import case_numbers
from tests.test_streaming import Bucket

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cepc_runtime.enumerate.enumerator import Enumerator
    from cepc_runtime.enumerate.standing import Matches

STREAM = "STREAM s (at BIGINT, kind STRING, g INT, x INT, y DOUBLE) EVENT TIME at UNIT s EVENT TYPE kind;\n"
WIDE = STREAM.replace("y DOUBLE", "y DOUBLE, d DECIMAL(10, 2), f FLOAT, big BIGINT")
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
LOOPS = (
    "SEQ(ANY A, ANY* B, ANY C)", "SEQ(ANY A, ANY*? B, ANY C)", "SEQ(ANY A, ANY+ B, ANY C, ANY D)", "SEQ(A, B*, ANY C)",
    "SEQ(ANY A, ANY+ B, ANY+ C, ANY D)", "SEQ(ANY A, ANY+? B, ANY+ C, ANY D)", "SEQ(ANY A, ANY+ B, ANY+? C, ANY D)",
    "SEQ(ANY A, ANY{2,} B, C)", "SEQ(ANY A, ANY+ B)", "SEQ(A, NOT D, ANY+ B, ANY C)", "SEQ(A, B*?, C?, ANY D)",
    "SEQ(ANY A, SEQ(B+, C)+, ANY D)", "SEQ(ANY A, (ANY+ B)??, ANY* C)", "SEQ(A, OR(B+, ANY* C), ANY D)",
)  # fmt: skip
ABOUT_LOOPS = (
    "B.x > A.x", "B.x >= A.x - 1", "B.x < A.x", "B.x <= A.x", "B.x = A.x", "B.x <> A.x", "B.y <= A.y", "B.y > A.y",
    "C.x < A.x", "C.x > A.x", "C.x = A.x", "C.x <> A.x", "C.y >= A.y", "C.x < A.x - 1", "D.x > A.x", "D.x < A.x",
    "D.y = A.y", "B.x >= PREV(B).x", "C.x > LAST(B).x", "D.x > LAST(C).x", "D.y <> LAST(C).y", "D.x <= A.x + 1", "C.x % 2 = A.x % 2",
)  # fmt: skip
HELD = (
    "SEQ(A, B+, C+, D)", "SEQ(ANY A, ANY+ B, ANY+ C, ANY D)", "SEQ(ANY A, ANY+? B, ANY+ C)", "SEQ(A, ANY B, ANY+ C, D?)",
    "SEQ(ANY A, ANY B, ANY* C, ANY D)", "SEQ(ANY A, ANY+ B, ANY* C, ANY+? D)", "SEQ(ANY A, SEQ(ANY B, ANY+ C)+, ANY D)",
    "SEQ(ANY A, ANY{1,3} B, ANY{2,} C, ANY? D)", "SEQ(B, C+, OR(D, SEQ(A, ANY D)))", "SEQ(A, NOT D, ANY+ B, C+, ANY D)",
    "SEQ(ANY A, B?, ANY+ C, ANY D)", "SEQ(ANY A, OR(ANY+ B, ANY C), ANY+ D)",
)  # fmt: skip
ABOUT_HELD = (
    "C.x > LAST(B).x", "C.x >= LAST(B).x", "C.x < LAST(B).x", "C.x <> LAST(B).x", "D.x > LAST(B).x", "D.x = LAST(B).x",
    "D.x < LAST(B).x AND D.x > LAST(C).x", "C.x > B.x", "D.x >= B.x", "C.y <= LAST(B).y", "D.x > LAST(B).x - 1",
    "C.x - LAST(B).x > 0", "LAST(C).x > LAST(B).x", "B.x < A.x", "D.x <= A.x", "B.x <= PREV(B).x", "C.x % 2 = LAST(B).x % 2",
    "C.x > LAST(B).x AND C.x < A.x + 3", "D.x > FIRST(B).x", "C.x < FIRST(B).x", "C.y >= FIRST(B).y", "10 / LAST(B).x < C.x",
)  # fmt: skip
SUMMED = (
    "SEQ(A, B+, C)", "SEQ(ANY A, ANY+ B, ANY C)", "SEQ(ANY A, ANY*? B, C?)", "B+", "B+?", "SEQ(A?, ANY+ B)", "SEQ(A, B*, ANY+ C)",
    "SEQ(A, SEQ(B, C?)+)", "SEQ(A, OR(B, C)+, D)", "SEQ(ANY A, ANY+ B, ANY+ C, ANY D)", "SEQ(B+, NOT D, C)", "SEQ(ANY+ A, B)",
    "SEQ(A, ANY{1,3} B, C?)", "SEQ(OR(A, D), B+)", "SEQ(ANY A, ANY+ B)", "SEQ(B{2,}, C?)",
)  # fmt: skip
RUNNING_BESIDE = (
    "RUNNING SUM(B.x) <= A.x + 4", "RUNNING AVG(B.y) < A.y + 0.5", "RUNNING COUNT(B) < 2 * COUNT(A) + 1", "RUNNING SUM(C.x) < SUM(B.x)",
    "RUNNING COUNT(B) - RUNNING COUNT(C) < 3", "COALESCE(RUNNING SUM(B.x), 0) >= COALESCE(RUNNING SUM(C.x), 0) - 2",
    "COALESCE(B.x, 0) <= RUNNING COUNT(C) + 2", "RUNNING AVG(B.y) <= COALESCE(B.y, 5 - RUNNING COUNT(A))", "RUNNING SUM(B.x) < C.x + 7",
    "B.x / (1 + RUNNING COUNT(C)) < 2", "RUNNING MAX_BY(B.x, B.y) > 0", "C.x <= MIN_BY(B.x, B.d) + 1", "RUNNING MIN_BY(B.y, B.kind) < A.y + 1",
    "COALESCE(RUNNING MAX_BY(B.x, B.at), 0) <= COALESCE(RUNNING MIN_BY(C.x, C.at), 3)", "10 / GREATEST(SUM(B.x), 1) > 2", "(C.x IS NULL OR C.x < RUNNING SUM(B.x))",
)  # fmt: skip
ABOUT_SUMS = (
    "RUNNING SUM(B.x) < 9", "RUNNING SUM(B.x) <= 12.5", "RUNNING AVG(B.x) >= 1.5", "RUNNING AVG(B.y) < 0.5", "RUNNING SUM(B.y) > -3",
    "B.x >= RUNNING AVG(B.x)", "B.y <= 1.5 * RUNNING AVG(B.y) + 1", "RUNNING COUNT(B) <= 3", "RUNNING COUNT(B.x) < 3",
    "RUNNING MAX(B.x) - RUNNING MIN(B.x) < 3", "RUNNING MIN(B.y) < 0", "RUNNING AVG(B.d) <= 1.25", "RUNNING SUM(B.d) <> 2",
    "RUNNING SUM(B.x) / RUNNING COUNT(B) < 2", "SUM(B.x) > 4", "COUNT(B) <> 2", "AVG(B.y) <= 1", "MAX(B.x) = 4", "SUM(B.x) >= A.x",
    "C.x < SUM(B.x)", "SUM(B.x) + COUNT(B) > 7", "B.x <= AVG(B.x)", "COUNT(A) > 0", "SUM(B.d) - A.d > 1", "AVG(A.x) < 2",
    "C.x > FIRST(B).x + LAST(B).x", "(C.x > B.x OR C.y < A.y)", "LAST(B).x > A.x", "B.x + PREV(B).x > A.x", "C.at - A.at < 4",
    "(B.x > A.x OR RUNNING SUM(B.x) > 6)", "(B.x <= PREV(B).x OR B.x <= A.x)", "(B.x > 2 OR RUNNING SUM(B.x) > 6)", "RUNNING SUM(B.x * 2) < 13", "RUNNING AVG(B.big) > 0",
    "RUNNING SUM(B.big) < 3000000000000000000", "10 / A.x + C.x > 4", "SUM(A.x) < SUM(B.x)", "RUNNING MAX(B.d) < 2.5", "RUNNING MAX(B.f) < 1.2",
    "RUNNING SUM(B.f) < 2.4", "CASE WHEN B.x > A.x THEN B.y > 0 ELSE B.x < 2 END", "ABS(B.x - A.x) < 2", "ABS(B.y - A.y) <= 1.4",
    "(LAST(B).x IS NULL OR C.x > LAST(B).x)", "NOT (C.x > A.x AND C.y > A.y)", "-SUM(B.x) < -3", "B.x <=> A.x", "GREATEST(C.x, A.x) < 4",
    "LEAST(C.y, A.y, 0.2) >= 0", "COALESCE(SUM(B.x), 0) >= A.x", "(C.kind < A.kind OR C.x < 3)", "C.x IN (A.x, 3, NULL)", "NOT C.x IN (A.x, 3)",
    "NULLIF(A.x, 3) < C.x", "(A.kind IS NOT NULL AND B.y IS NULL OR B.x = A.x)", "IF(B.d > A.d, B.d, A.d + 1) < 3", "NOT (C.x <=> A.x)",
    "(A.y IS NULL) <=> (C.y IS NULL)", "(B.y > 0) = (A.y > 0)",
    "NOT (C.x > A.x OR C.y > A.y)", "(C.x > A.x AND C.y > A.y OR C.x < A.x - 2)", "C.x / A.x > 1.5", "B.y / RUNNING SUM(B.x) < 2",
    "B.y / RUNNING COUNT(B.x) < 2", "C.d + A.x > 2", "C.d * A.x < 3", "C.d - A.d > 0.5", "(B.x > 1 OR SUM(B.x) > 6)",
    "RUNNING SUM(B.big) <> 5", "GREATEST(B.x, A.x, 1) > 1", *RUNNING_BESIDE,
)  # fmt: skip
FOLLOWED = 0.3
"""In so many cases matches are followed one after the other as well, which takes ten times as long."""
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


def looping(chance: Random) -> str:
    """A query with a loop, or several, and tests of the first event."""
    pattern = chance.choice(LOOPS)
    known = [c for c in ABOUT_LOOPS if all(name in pattern for name in "BCD" if f"{name}." in c or f"({name})" in c)]
    conditions = ["[g]", *chance.sample(known, chance.choice((1, 2, 2, 3)))]
    skip = chance.choice(("TO NEXT EVENT", "PAST LAST EVENT"))
    within = chance.choice(("5 s", "20 s", "100 s", "UNBOUNDED"))
    return (
        f"{STREAM}QUERY q RETURN MATCH COUNT(*) AS n PATTERN {pattern} WHERE {' AND '.join(conditions)} "
        f"SELECT CONTIGUOUS AFTER MATCH SKIP {skip} WITHIN {within};"
    )


def holding(chance: Random) -> str:
    """A query with conditions on the first or last event of a variable before the one at hand."""
    pattern = chance.choice(HELD)
    known = [c for c in ABOUT_HELD if all(name in pattern for name in "ABCD" if f"{name}." in c or f"({name})" in c)]
    conditions = ["[g]", *chance.sample(known, chance.choice((1, 1, 2, 3)))]
    skips = [skip for skip in SKIPS if skip[-1] != "B" or "B" in pattern]
    within = chance.choice(("3 s", "5 s", "9 s"))  # event by event, every way to part them is grown
    return (
        f"{STREAM}QUERY q RETURN MATCH COUNT(*) AS n PATTERN {pattern} WHERE {' AND '.join(conditions)} "
        f"SELECT {chance.choice(('CONTIGUOUS', 'CONTIGUOUS', 'NEXT'))} AFTER MATCH SKIP {chance.choice(skips)} WITHIN {within};"
    )


def summing(chance: Random) -> str:
    """A query with conditions on aggregates of the events so far, and others of several events."""
    pattern = chance.choice(SUMMED)
    known = [c for c in ABOUT_SUMS if all(name in pattern for name in "ABCD" if f"{name}." in c or f"({name})" in c)]
    conditions = ["[g]", *chance.sample(known, min(chance.choice((1, 1, 2, 3)), len(known)))]
    skips = [skip for skip in SKIPS if skip[-1] != "B" or "B" in pattern]
    within = chance.choice(("3 s", "5 s", "9 s"))
    return (
        f"{WIDE}QUERY q RETURN MATCH COUNT(*) AS n PATTERN {pattern} WHERE {' AND '.join(conditions)} "
        f"SELECT {chance.choice(('CONTIGUOUS', 'NEXT'))} AFTER MATCH SKIP {chance.choice(skips)} WITHIN {within};"
    )


def sums(chance: Random) -> Any:
    """Events of a series with numbers of other types: some exact, some too large, some with many digits, and some
    special.
    """
    table = series(chance)
    count = len(table)
    cents = [chance.choice((None, *range(-50, 400, 25))) for _ in range(count)]
    special = chance.choice(((), (), (float("nan"), float("inf")), (None,)))
    reals = [chance.choice((0.1, 0.3, 1.1, -2.7, 1e-3, 12.35, *special)) for _ in range(count)]
    large = chance.choice((5, 1 << 40, 1 << 62))
    gaps = chance.choice((0, 0.1, 0.3))
    columns = {
        "x": pa.array([None if chance.random() < gaps else x for x in table["x"].to_pylist()], pa.int32()),
        "y": pa.array(reals, pa.float64()),
        "d": pa.array([None if n is None else Decimal(n).scaleb(-2) for n in cents], pa.decimal128(10, 2)),
        "f": pa.array([None if n is None else chance.choice((0.1, 0.7, 1.2)) for n in cents], pa.float32()),
        "big": pa.array(
            [chance.choice((None, -1, 1, 3)) and chance.randrange(large) for _ in range(count)], pa.int64()
        ),
    }
    for name, column in columns.items():
        place = table.schema.get_field_index(name)
        table = table.append_column(name, column) if place < 0 else table.set_column(place, name, column)
    return table


def series(chance: Random) -> Any:
    """Events that rise, fall, or neither, few of them at the same second, few of them null, in groups of any size."""
    count, groups = chance.choice((1, 5, 30, 60)), chance.choice((1, 1, 3, 50))
    slope, spread, nulls = chance.choice((-1, 0, 0, 1)), chance.choice((1, 2, 8)), chance.choice((0, 0.03))
    seconds = chance.choice((range(count), range(count), [chance.randrange(2 * count) for _ in range(count)]))
    x = [None if chance.random() < nulls else slope * i // 2 + chance.randrange(spread) for i in range(count)]
    floats = (float("nan"), -0.0, 0.0, 1.5, -1.5, None)
    return pa.table(
        {
            "at": sorted(seconds),
            "kind": [chance.choice("ABBBCD") for _ in range(count)],
            "g": pa.array([chance.randrange(groups) for _ in range(count)], pa.int32()),
            "x": pa.array(x, pa.int32()),
            "y": pa.array([chance.choice(floats[: chance.choice((5, 6))]) for _ in range(count)], pa.float64()),
        }
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


def grown(found: Enumerator, together: int = EVERY) -> list[tuple[list[int], list[int]]] | None:
    """None where a condition cannot be evaluated. No more than so many partial matches grow together."""
    assert found.query.after is not None
    with pytest.MonkeyPatch.context() as limited:
        grow_together(limited, together)
        try:
            return listed(found.grown(found.query.after))
        except EvaluationError:
            return None


def compare(text: str, table: Any, chance: Random, seen: Counter[str]) -> None:
    long = len(table) == 60 and any(word in text for word in ("UNBOUNDED", "20 s", "100 s", "ANY A"))
    least = 256 if long else 1  # many partial matches, one at a time: minutes
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
        seen["tests of one that is held"] += bool(walk.held)
        seen["matches of those"] += len(expected) * bool(walk.held)
        seen["formulas"] += bool(walk.formulas)
        assert found.query.after is not None
        seen["formulas that are computed"] += bool(walk.formulas) and found.walking(found.query.after) is not None
        seen["matches of formulas"] += len(expected) * bool(walk.formulas)
        seen["gaps"] += bool(walk.guards)
        seen["loops"] += walk.loops
        seen["matches of loops"] += len(expected) * walk.loops
    assert listed(found.matches()) == expected, (text, table.to_pylist())
    if chance.random() < FOLLOWED:
        seen["followed"] += 1
        assert grown(found, together=0) == expected, (text, table.to_pylist())


def small_pieces(chance: Random, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of a few events, and room for few matches."""
    monkeypatch.setattr(walk_run, "LEAST", chance.choice((1, 3, 1 << 12)))
    monkeypatch.setattr(walk_run, "PIECE", 1)
    monkeypatch.setattr(walk_run, "EVENTS_OF_MATCH", chance.choice((1, 16)))
    monkeypatch.setattr(walk_run, "REMEMBERED", chance.choice((1, 3, 1 << 18)))


def small_blocks_and_runs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks so small that few events have several levels of them, and runs that end before each first event."""
    for module in (walk_blocks, walk_loops, walk_reading, walk_skipping):
        monkeypatch.setattr(module, "WIDTH", (1, 2, 4)[seed % 3])
    monkeypatch.setattr(walk_skipping, "NEAR", (0, 1, 16)[seed // 3 % 3])
    monkeypatch.setattr(walk_run, "LONG", (0, 1 << 24)[seed // 9 % 2])


def compared(
    program: Callable[[Random], str],
    events: Callable[[Random], Any],
    monkeypatch: pytest.MonkeyPatch,
    tested: int = 130,
) -> Counter[str]:
    """What was seen of random queries, 400 in all."""
    monkeypatch.setattr(machine_code._SO_FAR, "work", -(10**12))
    seen: Counter[str] = Counter()
    for seed in case_numbers(cases=400, tested=tested):
        seen["queries"] += 1
        chance = Random(seed)
        small_pieces(chance, monkeypatch)
        small_blocks_and_runs(seed, monkeypatch)
        compare(program(chance), events(chance), chance, seen)
    return seen


@pytest.mark.unhurried
def test_matches_that_are_walked_are_those_that_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = compared(program, events, monkeypatch)
    assert min(seen[f"walked with {select}"] for select in ("NEXT", "CONTIGUOUS")) > 0.2 * seen["queries"], seen
    assert min(seen["tests of the one before"], seen["tests of the first"]) > 0.075 * seen["queries"], seen
    assert seen["gaps"] > 0.05 * seen["queries"], seen
    assert seen["matches"] > seen["queries"], seen
    assert seen["followed"] > 0.1 * seen["queries"], seen


def test_work_for_each_event_shows_while_it_is_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The matches of 500 events are 125,000 steps, for which machine code pays sooner than for a few each."""
    asked: list[int] = []

    def interpreted(module: Any, work: int) -> Any:
        asked.append(work)
        return module.run

    monkeypatch.setattr(walk_run, "run_function", interpreted)
    found = enumerator(
        after_match("A+ SELECT CONTIGUOUS", "TO NEXT EVENT", "UNBOUNDED"), column_table({"x": [0] * 500}), 1 << 16
    )
    assert sum(map(len, found.matches())) == 500
    assert sum(asked) > 125_000
    assert max(asked) < walk_run.LONG_IN_PYTHON + 1_000


WAYS = {
    "three loops": ("SEQ(ANY+ a, ANY+ b, ANY+ c, ANY d)", [498, 1, 1, 1]),
    "the shortest first": ("SEQ(ANY+? a, ANY+ b, ANY+? c, ANY d)", [1, 498, 1, 1]),
    "alternatives": ("SEQ(OR(A a, ANY b)+, ANY c, ANY d)", [499, 0, 1, 1]),
    "several derivations of each": ("SEQ((ANY+ a)+, ANY+ b, ANY+ c, ANY d)", [498, 1, 1, 1]),
}


@pytest.mark.parametrize(("pattern", "bound"), WAYS.values(), ids=WAYS.keys())
def test_where_events_can_be_bound_in_many_ways_the_preferred_one_is_followed(pattern: str, bound: list[int]) -> None:
    """All ways together are millions, or cannot be counted."""
    query = f"{pattern} WHERE (LAST(a).x + FIRST(d).x) % 3 = 1 SELECT CONTIGUOUS"
    text = after_match(query, "PAST LAST EVENT", "UNBOUNDED")
    found = enumerator(text, column_table({"x": [0] * 500 + [4]}), 1 << 16)
    walk = found.walk()
    assert isinstance(walk, NoWalk), walk
    matches = [match for some in found.matches() for match in some.variables.T.tolist()]
    assert [[match.count(v) for v in range(len(bound))] for match in matches] == [bound]
    assert found._means.budget.partial < 40 * 501


def test_an_end_is_preferred_to_a_way_on_of_a_way_that_is_followed_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the ways through y, which lead nowhere, a and b are followed together; c goes on from b alone."""
    grow_together(monkeypatch, 0)
    query = (
        "SEQ(ANY z, ANY* y, OR(ANY a, ANY b), ANY? c) WHERE a.x = 1 AND b.x = 1 AND (c.x + a.x) % 7 = 6 "
        "SELECT CONTIGUOUS"
    )
    found = enumerator(after_match(query, "PAST LAST EVENT", "UNBOUNDED"), column_table({"x": [0, 1, *[0] * 9]}), 64)
    assert isinstance(found.walk(), NoWalk)
    names = [[some.names[number] for number in match] for some in found.matches() for match in some.variables.T]
    assert names == [["z", "a"]]


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


@pytest.mark.long
def test_matches_that_go_round_a_loop_as_far_as_their_first_event_lets_them_are_those_that_grow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = compared(looping, series, monkeypatch, tested=0)
    assert seen["loops"] > 0.75 * seen["queries"], seen
    assert seen["matches of loops"] > 2.5 * seen["queries"], seen
    assert seen["gaps"] > 0.025 * seen["queries"], seen


@pytest.mark.unhurried
def test_matches_with_conditions_on_an_event_that_is_held_are_those_that_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = compared(holding, series, monkeypatch)
    assert seen["tests of one that is held"] > 0.3 * seen["queries"], seen
    assert seen["matches of those"] > 0.3 * seen["queries"], seen


@pytest.mark.unhurried
def test_matches_with_conditions_that_are_computed_are_those_that_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = compared(summing, sums, monkeypatch)
    assert seen["formulas"] > 0.6 * seen["queries"], seen
    assert seen["formulas that are computed"] > 0.5 * seen["queries"], seen
    assert seen["matches of formulas"] > 1.2 * seen["queries"], seen


TWO = "SEQ(ANY A, ANY C)"
COMPUTED = [
    (TWO, "NOT (C.x > A.x OR C.y > A.y)"),
    (TWO, "(C.x > A.x AND C.y > A.y OR C.x < A.x)"),
    (TWO, "NOT (NOT (C.x > A.x AND C.y > A.y))"),
    (TWO, "(C.x > A.x AND C.y > A.y) IS NULL"),
    (TWO, "(C.x > A.x OR C.y > A.y) IS NOT NULL"),
    (TWO, "GREATEST(C.x, A.x) > 2"),
    (TWO, "LEAST(A.x, C.x) < 2"),
    (TWO, "C.d + A.x > 2"),
    (TWO, "A.x - C.d > 1"),
    (TWO, "C.d * A.x < 3"),
    (TWO, "C.x <=> A.x"),
    (TWO, "COALESCE(C.x, A.x, 9) < 3"),
    ("SEQ(ANY A, ANY+ B, ANY C)", "RUNNING SUM(B.x) <= A.x + 1"),
    ("SEQ(ANY A, ANY+ B, ANY C)", "10 / GREATEST(SUM(B.x), 1) > 2"),
    ("SEQ(ANY A, ANY+ B, ANY C)", "10 / LEAST(A.x, COUNT(B), -1) > -5"),
    ("SEQ(ANY A, ANY+ B, ANY C)", "10 / GREATEST(SUM(B.x), A.x, 1) > 2"),
    ("SEQ(ANY A, ANY+ B, ANY C)", "MIN_BY(B.x, B.y) = C.x"),
    ("SEQ(ANY A, ANY+ B, ANY C)", "MIN_BY(B.x, B.y) > MIN(B.x)"),
    ("SEQ(ANY A, ANY+ B)", "RUNNING MAX_BY(B.x, B.y) >= B.x"),
    ("SEQ(A, OR(ANY B, ANY C)+)", "RUNNING COUNT(B) - RUNNING COUNT(C) < 2"),
    ("SEQ(A, OR(ANY B, ANY C)+)", "COALESCE(B.x, RUNNING COUNT(C)) <= RUNNING COUNT(B) + 1"),
    ("SEQ(ANY+ A, ANY+ B, C)", "SUM(A.x) = SUM(B.x) + 1"),
    ("SEQ(ANY A, ANY+ B, ANY+ D, C)", "C.x = LAST(B.x) + A.x - 1"),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "condition"), COMPUTED)
def test_a_condition_is_computed_as_it_is_where_matches_grow(
    pattern: str, condition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: Counter[str] = Counter()
    seeds = case_numbers(cases=16, tested=6)
    for seed in seeds:
        chance = Random(seed)
        small_pieces(chance, monkeypatch)
        text = (
            f"{WIDE}QUERY q RETURN MATCH COUNT(*) AS n PATTERN {pattern} WHERE [g] AND {condition} SELECT CONTIGUOUS "
            "AFTER MATCH SKIP TO NEXT EVENT WITHIN 9 s;"
        )
        compare(text, sums(chance), chance, seen)
    assert seen["formulas that are computed"] >= 0.75 * len(seeds), seen
    assert seen["matches of formulas"] >= 0.5 * len(seeds), seen


def test_a_sum_is_rounded_once_whatever_its_parts_have_come_to() -> None:
    chance, unit, bits = Random(0), 2.0**-60, 52
    for _ in range(2000):
        high, low, count = (
            chance.randrange(-(1 << 12), 1 << 12),
            chance.randrange(-(1 << 61), 1 << 61),
            1 + chance.randrange(900),
        )
        means = SimpleNamespace(constants=np.array([unit * 2.0**bits, unit]))
        events: Any = SimpleNamespace(kept=np.array([high, low]), means=means)
        exact = (high * 2**bits + low) * Fraction(unit)
        assert sum_of(events, 0, 0, bits)[0] == float(exact)
        assert average_of(events, 0, 0, bits, float(count)) == float(exact / count)


@pytest.mark.parametrize(("number", "count", "expected"), [(5, 2, 3), (-5, 2, -3), (4, 3, 1), (5, 3, 2), (-4, 3, -1)])
def test_a_quotient_of_decimals_is_rounded_half_up(number: int, count: int, expected: int) -> None:
    assert half_up(number, count) == expected


def test_averages_of_large_integers_are_rounded_once() -> None:
    """They grow: a float64 would round their sums before they are divided."""
    chance, total, means = Random(1), 0, list[float]()
    numbers = [chance.randrange(1 << 55) for _ in range(200)]
    for i, number in enumerate(numbers, 1):
        total += number
        means.append(float(Fraction(total, i)))
    kinds = {"at": range(200), "kind": ["B"] * 200, "g": [1] * 200, "x": [1] * 200}
    found = enumerator(
        f"{STREAM.replace('x INT', 'x INT, n BIGINT')}QUERY q RETURN MATCH COUNT(*) AS n PATTERN B+ WHERE B.y = RUNNING "
        "AVG(B.n) SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT WITHIN 1 HOUR;",
        pa.table({**kinds, "n": numbers, "y": means}),
        1 << 16,
    )
    assert listed(found.matches()) == [(list(range(200)), [0] * 200)]


@pytest.mark.parametrize("largest", [1.0, 1e3, 1e12])
def test_sums_and_averages_are_rounded_once(largest: float) -> None:
    """Each event says what the sum and the average up to it are, so that a match is of all of them."""
    chance, exact, columns = Random(largest), Fraction(), dict[str, list[float]](y=[], total=[], mean=[])
    for i in range(1, 201):
        y = chance.uniform(-largest, largest) * chance.choice((1, 1e-9, 1e-3))
        exact += Fraction(y)
        for name, value in (("y", y), ("total", float(exact)), ("mean", float(exact / i))):
            columns[name].append(value)
    kinds = {"at": range(200), "kind": ["B"] * 200, "g": [1] * 200, "x": [1] * 200}
    stream = STREAM.replace("y DOUBLE", "y DOUBLE, total DOUBLE, mean DOUBLE")
    found = enumerator(
        f"{stream}QUERY q RETURN MATCH COUNT(*) AS n PATTERN B+ WHERE B.total = RUNNING SUM(B.y) AND B.mean = RUNNING "
        "AVG(B.y) SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT WITHIN 1 HOUR;",
        pa.table({**kinds, **columns}),
        1 << 16,
    )
    assert found.query.after is not None
    assert found.walking(found.query.after) is not None
    assert listed(found.matches()) == [(list(range(200)), [0] * 200)]


WALKS = {
    "SEQ(A, B+, C) WHERE B.x > PREV(B).x SELECT CONTIGUOUS": None,
    "SEQ(A, B+, C) WHERE B.x > PREV(B).x SELECT NEXT": None,
    "SEQ(A, B*, C) WHERE B.x > A.x - 5 AND C.x < A.x - 5 SELECT CONTIGUOUS": None,
    "SEQ(A, B{2,}, C) WHERE FIRST(B).x < A.x AND B.x < PREV(B).x AND C.x > LAST(B).x SELECT CONTIGUOUS": None,
    "SEQ(A, NOT D, B+?) SELECT NEXT": None,
    "SEQ(A, B, C+) WHERE C.x > B.x SELECT CONTIGUOUS": None,
    "SEQ(A, B+, C+) WHERE C.x > LAST(B).x SELECT CONTIGUOUS": None,
    "SEQ(A, B+, C+) WHERE C.x > LAST(B).x SELECT NEXT": None,
    "SEQ(A, B+, C+) WHERE C.x > FIRST(B).x AND C.x > LAST(B).x SELECT CONTIGUOUS": None,
    "SEQ(A, B+, C+) WHERE C.x > FIRST(B).x SELECT NEXT": None,
    "SEQ(A, B+, C+) WHERE C.x > FIRST(B).x + LAST(B).x SELECT CONTIGUOUS": None,
    "SEQ(A, B?, C+) WHERE C.x > LAST(B).x SELECT CONTIGUOUS": "the condition C.x > LAST(B).x",
    "AND(A, B) SELECT NEXT": "events of an AND",
    "SEQ(A, B, NOT D) SELECT NEXT": "a NOT that is looked at when the match is complete",
    "SEQ(A, B+, C) WHERE C.x > B.x SELECT NEXT": "the condition C.x > B.x",
    "SEQ(A, B, C, D) WHERE D.x > B.x SELECT NEXT": None,
    "SEQ(A, B+) WHERE RUNNING SUM(B.x) < 9 SELECT NEXT": None,
    "SEQ(A, B+) WHERE RUNNING SUM(B.x) < A.x SELECT NEXT": None,
    "SEQ(A, OR(B, C)+) WHERE RUNNING COUNT(B) >= RUNNING COUNT(C) SELECT CONTIGUOUS": None,
    "SEQ(C, A+, B+) WHERE RUNNING COUNT(B) + RUNNING COUNT(C) < LAST(A).x SELECT CONTIGUOUS": "the condition RUNNING COUNT(B) + RUNNING COUNT(C) < LAST(A).x",
    "SEQ(A, B+, C) WHERE RUNNING SUM(B.x) < C.x SELECT NEXT": "the condition RUNNING SUM(B.x) < C.x",
    "SEQ(A, B+) WHERE SUM(B.x) < 9 SELECT CONTIGUOUS": None,
    "SEQ(A?, B) WHERE COUNT(A) > 0 SELECT NEXT": None,
    "SEQ(A, B+) WHERE B.x > PREV(B, 2).x SELECT NEXT": "the condition B.x > PREV(B, 2).x",
    "SEQ(A+, B) WHERE LAST(A, 1).x < B.x SELECT NEXT": "the condition LAST(A, 1).x < B.x",
    "SEQ(A+, B) WHERE FIRST(A, 1).x < B.x SELECT NEXT": "the condition FIRST(A, 1).x < B.x",
    "SEQ(A, B, C) WHERE C.x > A.x + B.x SELECT NEXT": None,
    "SEQ(A, B+) WHERE LAST(B).x > A.x SELECT CONTIGUOUS": None,
    "SEQ(A, B, B) WHERE LAST(B).x > A.x SELECT CONTIGUOUS": None,
    "SEQ(A, B+) WHERE B.x > 2 * RUNNING AVG(B.x) SELECT NEXT": None,
    "SEQ(A, B+) WHERE B.x <= AVG(B.x) SELECT NEXT": None,
    "SEQ(A, B+, C) WHERE (C.x > A.x OR MAX(B.x) - MIN(B.x) < 3) SELECT NEXT": None,
    "SEQ(A, B+, C) WHERE C.x < SUM(B.x) SELECT NEXT": None,
    "SEQ(A, B{2}) WHERE (B.x > 1 OR SUM(B.x) > 6) SELECT NEXT": "the condition B.x > 1 OR SUM(B.x) > 6",
    "SEQ(A, B+, C) WHERE C.x + A.x % 2 < COUNT(B) % 2 SELECT NEXT": "the condition C.x + A.x % 2 < COUNT(B) % 2",
    "SEQ(A, B+, C) WHERE (C.kind < A.kind OR C.x < A.x) SELECT NEXT": None,
    "SEQ(A, B, B) WHERE LAST(B).x > A.x SELECT NEXT": "a condition with LAST that may hold in the end, and not before",
}


@pytest.mark.parametrize(("query", "reason"), WALKS.items())
def test_a_query_is_walked_or_there_is_a_reason(query: str, reason: str | None) -> None:
    text = f"{STREAM}QUERY q RETURN MATCH COUNT(*) AS n PATTERN {query} AFTER MATCH SKIP PAST LAST EVENT WITHIN 9 s;"
    walk = enumerator(text, events(Random(0)), 1).walk()
    assert (walk.reason if isinstance(walk, NoWalk) else None) == reason


DROP = "SEQ(ANY a, ANY* b, ANY c) WHERE b.x > a.x AND c.x < a.x - 1 SELECT CONTIGUOUS"
LOWER = "SEQ(ANY a, ANY* b, ANY c) WHERE c.x < a.x SELECT CONTIGUOUS"
SAME = "SEQ(ANY a, ANY* b, ANY c) WHERE b.y = a.y AND c.y <> a.y SELECT CONTIGUOUS"
TWO = "SEQ(ANY a, ANY+? b, ANY+ c, ANY d) WHERE c.x > a.x AND d.x < a.x - 1 SELECT CONTIGUOUS"
TIED = "SEQ(ANY a, ANY+ c, ANY d) WHERE d.x < LAST(c).x AND d.x <> a.x SELECT CONTIGUOUS"
NAN = float("nan")
ROUNDS: dict[str, tuple[str, dict[str, list[Any]], list[list[int]]]] = {
    "a drop ends the loop": (DROP, {"x": [5, 6, 7, 3, 9, 1]}, [[0, 1, 2, 3], [4, 5]]),
    "an equal value ends the loop and is no drop": (DROP, {"x": [5, 6, 5, 3]}, [[2, 3]]),
    "a null ends the loop and is no drop": (DROP, {"x": [5, 6, None, 3]}, []),
    "a first event with null has no match": (DROP, {"x": [None, 6, 3]}, [[1, 2]]),
    "the drop comes too late": (DROP, {"x": [5, 6, 6, 3], "at": [0, 1, 2, 10]}, [[2, 3]]),
    "one event": (DROP, {"x": [5]}, []),
    "no event": (DROP, {"x": []}, []),
    "the last of the lower ones": (LOWER, {"x": [5, 9, 4, 9, 3, 9, 9]}, [[0, 1, 2, 3, 4]]),
    "ties within the loop": (LOWER, {"x": [5, 9, 9, 9, 3], "at": [0, 1, 2, 2, 3]}, [[0, 1, 2, 4]]),
    "ties at the end": (DROP, {"x": [5, 9, 9, 2, 3], "at": [0, 1, 2, 3, 3]}, [[0, 1, 2, 3]]),
    "NaN equals NaN": (SAME, {"y": [NAN, NAN, NAN, 1.0]}, [[0, 1, 2, 3]]),
    "-0.0 is 0.0": (SAME, {"y": [0.0, -0.0, 0.0, 1.0]}, [[0, 1, 2, 3]]),
    "a null is neither equal nor different": (SAME, {"y": [1.0, 1.0, None, 2.0]}, []),
    "another group": (DROP, {"x": [5, 6, 7, 3], "g": [0, 0, 1, 1]}, [[2, 3]]),
    "a loop again, after one without a way out": (TWO, {"x": [5, 6, 6, 6, 4, 6, 6, 3]}, [[*range(8)]]),
    "a loop from another event of an instant": (TIED, {"x": [4, 1, 9, 5, 4], "at": [0, 1, 1, 2, 3]}, [[0, 2, 3]]),
}


@pytest.mark.parametrize(("query", "columns", "expected"), ROUNDS.values(), ids=ROUNDS.keys())
def test_a_loop_goes_on_as_far_as_the_first_event_lets_it(
    query: str, columns: dict[str, list[Any]], expected: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_code._SO_FAR, "work", -(10**12))
    found = enumerator(after_match(query, "PAST LAST EVENT", "10 s"), column_table(columns), 1 << 16)
    walk = found.walk()
    assert isinstance(walk, Walk)
    assert walk.loops
    assert [positions for positions, _ in listed(found.matches())] == expected
    assert listed(found.matches()) == grown(found)


SERIES: dict[str, Callable[[int], int]] = {
    "rising": lambda i: i,
    "equal": lambda _: 0,
    "falling slowly": lambda i: -i // 3,
    "up and down": lambda i: abs(i % 1000 - 500),
}
ENDLESS = {
    "stays above the first, then drops": DROP,
    "a lower one at any time": "SEQ(ANY a, ANY* b, ANY c) WHERE c.x < a.x - 3000 SELECT CONTIGUOUS",
    "the next lower one": "SEQ(ANY a, ANY b) WHERE b.x < a.x - 3000 SELECT NEXT",
    "each lower than the one before": "SEQ(ANY a, ANY+ b, ANY c) WHERE b.x < PREV(b).x - 3000 AND c.x < a.x - 3000 "
    "SELECT NEXT",
    "the earliest lower one": "SEQ(ANY a, ANY*? b, ANY c) WHERE c.x < a.x - 3000 SELECT CONTIGUOUS",
}


@pytest.mark.long
@pytest.mark.parametrize("query", ENDLESS.values(), ids=ENDLESS.keys())
@pytest.mark.parametrize("value", SERIES.values(), ids=SERIES.keys())
def test_first_events_without_a_match_do_not_look_at_all_later_events(
    query: str, value: Callable[[int], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_code._SO_FAR, "work", -(10**12))
    count = 2000
    table = column_table({"x": [value(i) for i in range(count)]})
    found = enumerator(after_match(query, "PAST LAST EVENT", "UNBOUNDED"), table, 1 << 16)
    written = sum(len(positions) for positions, _ in listed(found.matches()))
    assert found._means.budget.tried < 150 * count + 10 * written


def after_match(query: str, skip: str, within: str) -> str:
    pattern = query.replace("WHERE", "WHERE [g] AND")
    return f"{STREAM}QUERY q RETURN MATCH COUNT(*) AS n PATTERN {pattern} AFTER MATCH SKIP {skip} WITHIN {within};"


def column_table(columns: dict[str, list[Any]]) -> Any:
    """Events with these values, else one a second of one group, of type A."""
    count = len(next(iter(columns.values())))
    all_of = {"at": list(range(count)), "g": [0] * count, "x": [0] * count, "y": [0.0] * count} | columns
    return pa.table(
        {
            "at": pa.array(all_of["at"], pa.int64()),
            "kind": ["A"] * count,
            "g": pa.array(all_of["g"], pa.int32()),
            "x": pa.array(all_of["x"], pa.int32()),
            "y": pa.array(all_of["y"], pa.float64()),
        }
    )


def test_a_walk_that_is_interrupted_counts_the_events_of_its_matches_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_code._SO_FAR, "work", -(10**12))
    monkeypatch.setattr(walk_run, "LONG", 0)
    text = (
        f"{STREAM}QUERY q RETURN MATCH COUNT(*) AS n PATTERN B SELECT NEXT AFTER MATCH SKIP TO NEXT EVENT WITHIN 9 s;"
    )
    nothing = pa.nulls(5, pa.float64())
    table = pa.table({"at": range(5), "kind": ["B"] * 5, "g": [0] * 5, "x": pa.nulls(5, pa.int32()), "y": nothing})
    found = enumerator(text, table, 1 << 16)
    assert len(listed(found.matches())) == 5
    assert found._means.budget.partial == 5
