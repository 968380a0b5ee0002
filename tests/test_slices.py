"""Groups too large to be held are cut in time, and their rows are those of whole groups."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from cepc_runtime.events.grouped import read, ticks_of
from cepc_runtime.events.segments import reach_of
from cepc_runtime.parts.classes import classes_of, has_subtotals, keys_of
from cepc_runtime.plan.as_json import to_text
from cepc_runtime.plan.strategy import is_counted
from cepc_runtime.spark.cut import together
from cepc_runtime.spark.kernel import run_partition
from cepc_runtime.spark.rows import QUERY
from cepc_runtime.spark.slices import can_flow, slices
from cepc_runtime.spark.time_order import in_time_order
from tests.driven import driven
from tests.equivalence import ABOUT, Refused, answered, compile_text, same, table_of
from tests.programs import Asked, between_neighbours, bounded, case, cases
from tests.properties import NOTHING, Seen, hold

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.oracle import Answer
    from tests.programs import Case


def batches(events: Sequence[tuple[str, int]], size: int) -> Iterator[Any]:
    table = pa.table({"g": [g for g, _ in events], "at": [at for _, at in events]})
    yield from table.to_batches(max_chunksize=size)


def found(events: Sequence[tuple[str, int]], reach: int | None, rows: int, most: int, size: int = 2) -> list[Any]:
    parts = slices(batches(events, size), ["g"], "at", reach, rows, most, in_order=True)
    return [
        ("".join(p.table.column("g").to_pylist()), ticks_of(p.table.column("at")).tolist(), p.span.first, p.span.end)
        for p in parts
    ]


ONE = [("a", at) for at in range(10)]
CUT = [
    ("small groups together", [("a", 1), ("b", 1), ("b", 2), ("c", 1)], 3, [("abb", [1, 1, 2], None, None), ("c", [1], None, None)]),
    (
        "one large group",
        ONE, 3,
        [
            ("aaaaaa", [0, 1, 2, 3, 4, 5], None, 2),
            ("aaaaaaaa", [2, 3, 4, 5, 6, 7, 8, 9], 2, 6),
            ("aaaa", [6, 7, 8, 9], 6, None),
        ],
    ),
    (
        "a large group between small ones",
        [("0", 1), *ONE, ("z", 0)], 3,
        [
            ("0", [1], None, None),
            ("aaaaa", [0, 1, 2, 3, 4], None, 1),
            ("aaaaaaaa", [1, 2, 3, 4, 5, 6, 7, 8], 1, 5),
            ("aaaaa", [5, 6, 7, 8, 9], 5, None),
            ("z", [0], None, None),
        ],
    ),
    ("no window is complete", ONE, 100, [("a" * 10, list(range(10)), None, None)]),
    ("whole groups are needed", ONE, None, [("a" * 10, list(range(10)), None, None)]),
    ("one instant", [("a", 5)] * 9, 3, [("a" * 9, [5] * 9, None, None)]),
]  # fmt: skip


@pytest.mark.parametrize(("events", "reach", "expected"), [case[1:] for case in CUT], ids=[case[0] for case in CUT])
def test_where_groups_are_cut(events: Any, reach: int | None, expected: Any) -> None:
    assert found(events, reach, rows=3, most=5) == expected


def test_no_more_is_held_than_a_window_and_the_limit() -> None:
    events = [("a", at) for at in range(5000)]
    assert max(len(g) for g, *_ in found(events, 50, rows=100, most=200, size=10)) <= 200 + 10


REACH = [
    ("SEQ(A, B) WITHIN 10 s SLIDE 2 s", 10),
    ("SEQ(A a, NOT C WITHIN 30 s) WITHIN 10 s SLIDE 2 s", None),  # whose gap may end after the window
    ("SEQ(A, B) WITHIN UNBOUNDED", None),
]


@pytest.mark.parametrize(("clauses", "reach"), REACH, ids=[case[0] for case in REACH])
def test_how_far_the_events_of_a_window_can_be(clauses: str, reach: int | None) -> None:
    text = f"""STREAM s (at BIGINT, kind STRING) EVENT TIME at UNIT s EVENT TYPE kind;
QUERY q RETURN COUNT(*) AS n PATTERN {clauses};"""
    assert reach_of(compile_text(text).plan.queries) == reach


PIECES = [
    ("SEQ(A a, B) WITHIN 5 s", "a.at", True),
    ("SEQ(A a, B) SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN 5 s", "a.at", True),
    ("SEQ(A a, B) SELECT NEXT AFTER MATCH SKIP FOR 1 HOUR WITHIN 5 s", "a.at", True),
    ("SEQ(A a, NOT C WITHIN 30 s) WITHIN 10 s SLIDE 2 s", "COUNT(*) AS n", True),
    ("SEQ(A a, B) WITHIN UNBOUNDED", "a.at", False),
]


@pytest.mark.parametrize(("clauses", "returns", "flows"), PIECES, ids=[case[0] for case in PIECES])
def test_large_groups_of_listed_matches_come_in_pieces_if_they_have_windows(
    clauses: str, returns: str, flows: bool
) -> None:
    text = f"""STREAM s (at BIGINT, kind STRING) EVENT TIME at UNIT s EVENT TYPE kind;
QUERY q RETURN {returns} PATTERN {clauses};"""
    queries = compile_text(text).plan.queries
    assert reach_of(queries) is None
    assert can_flow(queries) == flows


def test_pieces_end_with_their_group() -> None:
    events = [("0", 1), *ONE, ("y", 0), ("z", 0), *[("z", at) for at in range(9)]]
    parts = slices(batches(events, 2), ["g"], "at", None, rows=3, most=5, flowing=True, in_order=True)
    assert [("".join(p.table.column("g").to_pylist()), p.goes_on) for p in parts] == [
        ("0", False), ("aaaaa", True), ("aaaa", True), ("a", False), ("y", False), ("zzzzzz", True), ("zzzz", True), ("", False),
    ]  # fmt: skip


def test_a_partition_with_a_large_group_has_the_rows_that_it_has_with_whole_groups() -> None:
    plan = compile_text("""STREAM s (at BIGINT, kind STRING, g STRING) EVENT TIME at UNIT s EVENT TYPE kind;
QUERY pairs RETURN g, COUNT(*) AS n PATTERN SEQ(A, B) GROUP BY g WITHIN 6 s SLIDE 2 s;
QUERY runs RETURN g, COUNT(*) AS n, MAX(a.at) AS last PATTERN SEQ(A+ a, B) GROUP BY g WITHIN 4 s;
QUERY alarms RETURN MATCH g, A.at AS a PATTERN SEQ(A, B) WHERE [g] SELECT NEXT AFTER MATCH SKIP FOR 9 s WITHIN 4 s;
""").plan
    times = [("f", 3), *(("g", at // 3) for at in range(120)), ("h", 5), ("h", 6)]
    kinds = ["AABAB"[i % 5] for i in range(len(times))]
    table = pa.table({"at": [at for _, at in times], "kind": kinds, "g": [g for g, _ in times]})

    def rows(most: int) -> list[Any]:
        (one,) = classes_of(plan.queries)
        given = run_partition(table.to_batches(max_chunksize=7), to_text(plan), [one], None, rows=5, most=most)
        return [row for batch in given for row in batch.to_pylist()]

    assert len(rows(10**6)) > 30
    assert same(rows(20), rows(10**6), ABOUT)


def test_a_row_of_one_piece_passes_over_first_events_that_the_next_piece_decides() -> None:
    plan = compile_text("""STREAM s (at BIGINT, kind STRING) EVENT TIME at UNIT s EVENT TYPE kind;
QUERY q RETURN A.at AS a, C.at AS c PATTERN SEQ(A, C) SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN 6 s;""").plan
    events = [(2, "A"), (3, "A"), (6, "C"), (8, "A"), (16, "C")]
    table = pa.table({"at": [at for at, _ in events], "kind": [kind for _, kind in events]})
    (one,) = classes_of(plan.queries)

    def rows(most: int) -> list[Any]:
        given = run_partition(table.to_batches(max_chunksize=1), to_text(plan), [one], None, rows=1, most=most)
        return [row for batch in given for row in batch.to_pylist()]

    assert len(rows(10**6)) == 1
    assert same(rows(1), rows(10**6), ABOUT)


def by_keys(events: Any, keys: Sequence[str], time: str, chance: Random) -> Any:
    """As a job sorts the events of a class: by its keys, and in any order of time; by time where there are none."""
    events = events.take(chance.sample(range(events.num_rows), events.num_rows))
    order = [(name, "ascending", "at_start") for name in keys or [time]]
    return events.take(pa.compute.sort_indices(events, order))


def in_slices(case: Case, chance: Random) -> Seen:
    compiled = compile_text(case.text)
    answers = answered(case, compiled)
    if answers is None:
        return NOTHING
    plan = compiled.plan
    seen: dict[str, Answer] = {}
    reading = read(table_of(case, compiled), plan.stream)
    for query in plan.queries:
        reach = reach_of([query])
        if reach is None or not is_counted(query):
            continue
        keys, time = keys_of(query), plan.stream.time_column
        table = by_keys(reading.table, keys, time, chance)
        parts = [
            driven(part.table, plan, [query], span=part.span, interpreted=True)[query.name]
            for part in slices(table.to_batches(max_chunksize=2), keys, time, reach, 2, 3)
        ]
        rows = [row for part in parts for row in part.to_pylist()]
        assert same(rows, answers[query.name].rows, ABOUT), (query.name, rows, answers[query.name].rows)
        seen[query.name] = answers[query.name]
    return Seen.of(case, seen)


def counted(chance: Random) -> Case:
    """With a query that is counted in slices: conditions with RUNNING are not counted, and sessions not cut."""
    while True:
        found = perhaps_counted(chance)
        try:
            queries = compile_text(found.text).plan.queries
        except Refused:
            return found
        if any(is_counted(query) and reach_of([query]) is not None for query in queries):
            return found


def perhaps_counted(chance: Random) -> Case:
    if chance.random() < 0.25:
        return bounded(between_neighbours)(chance)
    asked = Asked(match=False, pairs=chance.random() < 0.5, select=chance.choice(("ANY", "ANY", "NEXT", "CONTIGUOUS")))
    return bounded(lambda c: case(c, 2, asked))(chance)


def test_the_rows_of_slices_are_those_of_whole_groups() -> None:
    hold("cut in slices", counted, in_slices)


@pytest.mark.parametrize("rows", [1, 3, 50, 10_000])
@pytest.mark.parametrize("size", [1, 7, 400])
def test_the_rows_of_a_large_group_are_sorted_by_time_with_few_of_them_held(
    rows: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cepc_runtime.spark.time_order._STEP", 2)
    chance = Random(rows)
    times = [chance.randint(-40, 40) for _ in range(400)]
    table = pa.table({"at": times, "x": list(range(400)), "note": [f"n{i}" for i in range(400)]})
    found = pa.Table.from_batches([*in_time_order(table.to_batches(max_chunksize=size), "at", rows)])
    assert found["at"].to_pylist() == sorted(times)
    assert sorted(found.to_pylist(), key=lambda row: row["x"]) == table.to_pylist()


def test_pieces_wait_for_what_a_not_forbids_after_a_window() -> None:
    text = """STREAM s (at BIGINT, kind STRING) EVENT TIME at UNIT s EVENT TYPE kind;
QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A, B, NOT C WITHIN 2 s) WITHIN 5 s SLIDE 1 s;"""
    plan = compile_text(text).plan
    table = pa.table({"at": [5, 6, 7, 15, 16, 18], "kind": list("ABCABC")})
    (one,) = classes_of(plan.queries)
    batches = table.to_batches(max_chunksize=2)
    found = run_partition(batches, to_text(plan), [one], None, rows=2, most=3)
    assert {row["bigint_1"] for batch in found for row in batch.to_pylist()} == {12, 13, 14, 15}


def with_large_groups(case: Case, chance: Random) -> Seen:
    """A task's rows where it holds no more than three events of a group are those where it holds all."""
    compiled = compile_text(case.text)
    answers = answered(case, compiled)
    if answers is None:
        return NOTHING
    plan = compiled.plan
    events = read(table_of(case, compiled), plan.stream).table
    text = to_text(plan)
    seen: dict[str, Answer] = {}
    for one in classes_of(plan.queries, cut=plan.stream.unit):
        if one.panes is not None or one.segments is not None:
            continue  # test_panes.py and test_segments.py run these
        table = by_keys(events, one.keys, plan.stream.time_column, chance)

        def rows(most: int, table: Any = table, one: Any = one) -> list[Any]:
            batches = table.to_batches(max_chunksize=2)
            given = list(run_partition(batches, text, [one], None, rows=2, most=most))
            for number in (n for n in one.queries if has_subtotals(plan.queries[n], plan.stream.unit)):
                parts = [batch for batch in given if batch.column(QUERY)[0].as_py() == str(number)]
                others = [batch for batch in given if batch.column(QUERY)[0].as_py() != str(number)]
                given = [*others, *together(text, number)(parts)]
            return [row for batch in given for row in batch.to_pylist()]

        few, asked = rows(3), [plan.queries[number].name for number in one.queries]
        assert same(few, rows(10**6), ABOUT), one
        assert len(few) == sum(len(answers[name].rows) for name in asked), one
        seen |= {name: answers[name] for name in asked}
    return Seen.of(case, seen)


@pytest.mark.parametrize("select", ["ANY", "NEXT", "CONTIGUOUS"])
def test_the_rows_of_partitions_with_large_groups_are_those_with_whole_groups(select: str) -> None:
    make = cases(size=3, select=select)
    hold(f"large groups in pieces: SELECT {select}", make, with_large_groups, cases=25, tested=1)
