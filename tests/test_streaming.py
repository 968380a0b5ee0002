"""The same queries as a stream, without Spark: rows are those of a batch, each once, whatever the micro-batches and the
order.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from cepc_runtime.events.grouped import read, select
from cepc_runtime.events.letters import Kinds, classify
from cepc_runtime.panes.folded import Folded, fold, product, together
from cepc_runtime.parts.classes import Class, keys_of
from cepc_runtime.plan.windows import TimeParts
from cepc_runtime.sql.evaluate.errors import EvaluationError
from cepc_runtime.streaming.advance import advance, flow
from cepc_runtime.streaming.decision import Decision, decision_of
from cepc_runtime.streaming.program import Program, UnboundedError
from cepc_runtime.streaming.size import PaneSize, Silence, state_size
from cepc_runtime.streaming.state import State, from_bytes, to_bytes
from cepc_runtime.streaming.ticks import END
from tests.equivalence import (
    ABOUT,
    Compiled,
    Refused,
    Rows,
    answered,
    by_engine,
    by_oracle,
    compile_text,
    same,
    table_of,
)
from tests.programs import Case, between_neighbours, cases, crowded, overlapping, streamed
from tests.properties import NOTHING, Seen, hold
from tests.test_equivalence import TIED, tied
from tests.test_motto_pass import programs, sharing_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cepc_runtime.plan.physical import PhysicalPlan
    from tests.programs import Make

SECOND = {"us": 1_000_000, "s": 1}


def whole(
    compiled: Compiled, fold_from: int | None = None, wait: int | None = 0, keys: tuple[str, ...] = ()
) -> Program:
    """All queries in one class, which gets all events; these do not wait to be folded, unless they are told to. All
    queries need no more than the events with equal `keys`.
    """
    one = Class(keys, tuple(range(len(compiled.plan.queries))), None)
    return Program(compiled.plan, (one,), fold_from, wait)


@dataclass
class Bucket:
    """Advanced step by step; between two steps its state is bytes."""

    program: Program
    rows: dict[int, Rows]
    late: int = 0
    data: bytes = b""
    due: int | None = None

    def __post_init__(self) -> None:
        self.data = self.data or to_bytes(State(), self.program)

    @classmethod
    def of(
        cls, compiled: Compiled, fold_from: int | None = None, wait: int | None = 0, keys: tuple[str, ...] = ()
    ) -> Bucket:
        return cls(whole(compiled, fold_from, wait, keys), defaultdict(list))

    @property
    def state(self) -> State:
        return from_bytes(self.data, self.program)

    def take(self, events: pa.Table, watermark: int) -> int:
        """How many rows that gave."""
        done = advance(self.program, self.state, [events], watermark)
        for query, table in done.rows:
            self.rows[query] += table.to_pylist()
        self.late += sum(late.events.num_rows for late in done.late)
        self.data, self.due = to_bytes(done.state, self.program), done.due
        return sum(table.num_rows for _, table in done.rows)


def micro_batches(chance: random.Random, table: pa.Table, compiled: Compiled) -> Iterable[tuple[pa.Table, int]]:
    """The events in any order within a watermark, cut anywhere, each part with the watermark after it."""
    stream = compiled.plan.stream
    events = read(table, stream)
    unit = SECOND[stream.unit]
    delay = chance.choice((0, 0, 1, 3)) * unit
    arrival = [tick + chance.randint(0, delay) for tick in events.ticks.tolist()]
    order = sorted(range(len(arrival)), key=lambda i: (arrival[i], chance.random()))
    cuts = sorted(chance.randint(0, len(order)) for _ in range(chance.randint(0, 6)))
    newest = None
    for start, end in zip([0, *cuts], [*cuts, len(order)], strict=True):
        ticks = [int(events.ticks[i]) for i in order[start:end]]
        newest = max([*ticks, *([] if newest is None else [newest])], default=None)
        if newest is not None:
            yield events.table.take(pa.array(order[start:end], pa.int64())), newest - delay


def check(
    case: Case, chance: random.Random, plan_of: Callable[[Compiled], PhysicalPlan] = lambda compiled: compiled.plan
) -> Seen:
    """`plan_of` is what runs as a stream, and may share what it likes."""
    compiled = compile_text(case.text)
    expected = answered(case, compiled)
    if expected is None or by_engine(case, compiled) is None:
        return NOTHING
    common = set.intersection(*({*keys_of(query)} for query in compiled.plan.queries))
    keys = chance.choice(((), tuple(sorted(common))))
    bucket = Bucket.of(
        replace(compiled, plan=plan_of(compiled)), chance.choice((1, 1, 2, None)), chance.choice((0, 0, 1, 3, 8)), keys
    )
    table = table_of(case, compiled)
    for events, watermark in micro_batches(chance, table, compiled):
        bucket.take(events, watermark)
        early = END if bucket.due is None else bucket.due - 1
        assert replace(bucket, rows=defaultdict(list)).take(events.slice(0, 0), early) == 0
    bucket.take(table.slice(0, 0), END)
    assert bucket.late == 0
    assert (bucket.state.events, bucket.state.panes) == (0, 0)
    for number, query in enumerate(compiled.plan.queries):
        rows = expected[query.name].rows
        assert same(bucket.rows[number], rows, ABOUT), (query.name, bucket.rows[number], rows)
    return Seen.of(case, expected)


def check_sharing(case: Case, chance: random.Random) -> Seen:
    return check(case, chance, sharing_all)


def apart(case: Case) -> Case:
    """The same events in the same order, with a time of its own each."""
    rows, last = list[dict[str, Any]](), None
    for row in sorted(case.rows, key=lambda row: (row["at"] is None, row["at"] or 0)):
        at = row["at"]
        if at is not None:
            last = at if last is None else max(at, _a_tick_after(last))
        rows.append(row if at is None else {**row, "at": last})
    return replace(case, rows=tuple(rows))


def _a_tick_after(at: Any) -> Any:
    match at:
        case datetime():
            return at + timedelta(seconds=1)
        case date():
            return at + timedelta(days=1)
    return at + 1


KINDS: dict[str, Make] = {
    "aggregates counted": cases(match=False, select="ANY", pairs=False),
    "aggregates enumerated": cases(match=False, pairs=True),
    "conditions between neighbours": between_neighbours,
    "matches": cases(match=True, select="ANY"),
    "SELECT NEXT": cases(select="NEXT", after=False),
    "SELECT CONTIGUOUS": cases(select="CONTIGUOUS", after=False),
    "AFTER MATCH with SELECT NEXT": cases(match=True, select="NEXT", after=True),
    "AFTER MATCH with SELECT CONTIGUOUS": cases(match=True, select="CONTIGUOUS", after=True),
    "several queries": cases(size=3),
    "queries with much in common": overlapping(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_those_of_a_batch(kind: str) -> None:
    hold(f"stream: {kind}", streamed(KINDS[kind]), check)


@pytest.mark.parametrize("select", ["NEXT", "CONTIGUOUS"])
@pytest.mark.parametrize("number", [25, pytest.param(250, marks=pytest.mark.long)])
def test_matches_of_events_that_do_not_tie_are_those_of_a_batch(select: str, number: int) -> None:
    """It is these that are given before WITHIN is over."""
    make, rows, compared = streamed(cases(match=True, select=select, after=True)), 0, 0
    for seed in range(number, 3 * number):
        try:
            rows += check(apart(make(random.Random(seed))), random.Random(seed)).rows
        except Refused:
            continue
        compared += 1
        if compared == number:
            break
    assert compared == number
    assert rows > 10 * number


def test_rows_of_crowded_panes_are_those_of_a_batch() -> None:
    hold("stream: crowded panes", streamed(crowded), check, differing=0)  # whose events are no words


def test_rows_of_match_queries_that_share_parts_are_those_of_a_batch() -> None:
    hold("stream: shared matches", streamed(programs), check_sharing)


def test_a_query_without_a_window_is_no_stream() -> None:
    with pytest.raises(UnboundedError):
        whole(compile_text(f"{STREAM}QUERY q RETURN COUNT(*) AS n PATTERN A WITHIN UNBOUNDED;"))


def test_match_queries_of_a_stream_are_found_together(monkeypatch: pytest.MonkeyPatch) -> None:
    queries = "".join(
        f"QUERY q{i} RETURN MATCH * PATTERN SEQ(A, {p}) WITHIN 10 s;\n" for i, p in enumerate(("B", "B, C"))
    )
    compiled = compile_text(STREAM + queries)
    shared = replace(compiled, plan=sharing_all(compiled))
    rows = tuple({"at": at, "kind": kind, "k": 1} for at, kind in enumerate("AABCBAC"))
    found = []
    for one in (compiled, shared):
        bucket = Bucket.of(one)
        bucket.take(table_of(Case("", rows), one), 4)
        bucket.take(table_of(Case("", ()), one), END)
        found.append(bucket.rows)
        monkeypatch.setattr("cepc_runtime.enumerate.listing.listed", None)  # which searches one query by itself
    assert all(same(found[0][q], found[1][q], ABOUT) and found[0][q] for q in (0, 1))


# ---- by hand ---------------------------------------------------------------------------------------------------------

STREAM = "STREAM s (at BIGINT, kind STRING, k INT) EVENT TIME at UNIT s EVENT TYPE kind;\n"


def steps(query: str, *parts: tuple[str, int]) -> tuple[list[Rows], Bucket]:
    """What each step gives: `("A1 B2", 5)` is an A at time 1, a B at time 2, and then the watermark 5."""
    compiled = compile_text(f"{STREAM}QUERY q {query};")
    bucket = Bucket.of(compiled)
    found = []
    for text, watermark in parts:
        rows = tuple({"at": int(word[1:]), "kind": word[0], "k": 1} for word in text.split())
        bucket.rows.clear()
        bucket.take(table_of(Case("", rows), compiled), watermark)
        found.append(bucket.rows[0])
    return found, bucket


@pytest.mark.parametrize(
    ("query", "parts", "expected"),
    [
        pytest.param(
            "RETURN COUNT(*) AS n PATTERN A WITHIN 10 s SLIDE 5 s", [("A1 A7", 9), ("", 10), ("", 14), ("", 15)],
            [1, 1, 0, 1], id="a window is given when it closes, and once",
        ),
        pytest.param(
            "RETURN COUNT(*) AS n PATTERN SEQ(A, B) WITHIN SESSION 10 s",
            [("A1 B5", 14), ("B14", 23), ("A24 A30", 24), ("B31", 40), ("B41", 41), ("", 50), ("", 51)],
            [0, 0, 1, 0, 1, 0, 0], id="a session is given when the watermark has passed its end",
        ),
        pytest.param(
            "RETURN MATCH * PATTERN SEQ(A, B) WITHIN 10 s", [("A1 B3", 3), ("B3", 4), ("", 50)], [0, 2, 0],
            id="a match is given when its last instant is known",
        ),
        pytest.param(
            "RETURN MATCH * PATTERN SEQ(A, NOT B WITHIN 5 s) WITHIN 1 s", [("A1", 5), ("", 6)], [0, 1],
            id="an absence is given when its time is over",
        ),
        pytest.param(
            "RETURN COUNT(*) AS n PATTERN SEQ(A, NOT B WITHIN 5 s) WITHIN 4 s", [("A1", 7), ("", 8)], [0, 1],
            id="a window is given when nothing may come any more that a NOT forbids after it",
        ),
        pytest.param(
            "RETURN COUNT(*) AS n PATTERN SEQ(A, NOT B WITHIN 5 s) WITHIN 4 s", [("A1", 4), ("B5", 7), ("", 8)], [0, 0, 0],
            id="what a NOT forbids after the window is waited for",
        ),
        pytest.param(
            "RETURN MATCH * PATTERN SEQ(A, C, NOT B) WITHIN 10 s", [("A1 C2", 10), ("", 11)], [0, 1],
            id="a NOT at the end is decided when the bound of the match is over",
        ),
        pytest.param(
            "RETURN MATCH * PATTERN SEQ(A, NOT B WITHIN 5 s) WITHIN 1 s", [("A1", 5), ("B5", 6)], [0, 0],
            id="an event that comes within the watermark forbids",
        ),
        pytest.param(
            "RETURN MATCH * PATTERN A+ SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN 4 s",
            [("A1 A2", 4), ("A4", 5), ("A5", 9)], [0, 1, 1], id="after a match no other begins inside it",
        ),
    ],
)  # fmt: skip
def test_rows_are_given_as_soon_as_they_are_known(
    query: str, parts: list[tuple[str, int]], expected: list[int]
) -> None:
    assert [len(rows) for rows in steps(query, *parts)[0]] == expected


@pytest.mark.parametrize(
    ("pattern", "parts", "expected"),
    [
        pytest.param("SEQ(A, B+, C)", [("A1 B2 C3", 3), ("", 4), ("A5 B6 C7", 8)], [0, 1, 1],
            id="the end of a match comes"),
        pytest.param("SEQ(A, B+)", [("A1 B2 B3", 4), ("C5", 5), ("", 6)], [0, 0, 1], id="a longer match cannot come"),
        pytest.param("SEQ(A, B+)", [("A1 B2 B3", 99), ("", 100), ("", 101)], [0, 0, 1], id="a longer match may come"),
        pytest.param("SEQ(A, ANY*? x, C)", [("A1 B2 C3", 4), ("A5 B6", 7), ("C8", 9)], [1, 0, 1],
            id="a longer match is not preferred"),
        pytest.param("OR(SEQ(A, B, C), SEQ(A, B))", [("A1 B2", 3), ("B3", 4)], [0, 1], id="the preferred one may come"),
        pytest.param("SEQ(A, B+?)", [("A1 B2", 3)], [1], id="the end is preferred"),
        pytest.param("SEQ(A, B)", [("A1 B2 A3", 4), ("B4", 5)], [1, 1], id="the next one has begun"),
        pytest.param("SEQ(A a, B+? b, C c) WHERE a.k = c.k", [("A1 B2 C3", 4)], [1], id="a condition leaves no other way"),
        pytest.param("SEQ(A a, ANY*? x, C c) WHERE a.k = c.k", [("B1 A2 B3 C4", 5)], [1], id="a condition is true"),
        pytest.param("SEQ(A a, ANY*? x, C c) WHERE a.k < c.k", [("A1 B2 C3", 4), ("C5", 6)], [0, 0],
            id="a condition leaves the next way"),
        pytest.param("SEQ(A a, B+ b, C+ c) WHERE FIRST(c).k = a.k", [("A1 B2 C3", 4), ("C4", 5), ("D5", 6)], [0, 0, 1],
            id="a longer match may come where a condition decides"),
        pytest.param("OR(SEQ(A a, ANY* x, D d), SEQ(A e, C c)) WHERE a.k = d.k AND e.k = c.k",
            [("A1 C2", 3), ("B3", 4), ("", 101)], [0, 0, 1], id="a way that is preferred to a match is open"),
        pytest.param("SEQ(A a, ANY*? x, C c) WHERE a.k = c.k", [("A1 A2 C3 A4 B5 C6 A7", 8)], [2],
            id="several matches after each other"),
        pytest.param("SEQ(A, B)", [("A1 A1 B2", 3), ("", 100), ("", 101)], [0, 0, 1], id="ties are waited for"),
        pytest.param("SEQ(A, B, NOT C)", [("A1 B2 D3", 4), ("", 100), ("", 101)], [0, 0, 1], id="what is forbidden may come"),
    ],
)  # fmt: skip
def test_contiguous_rows_are_given_as_soon_as_nothing_preferred_can_come(
    pattern: str, parts: list[tuple[str, int]], expected: list[int]
) -> None:
    pattern, _, where = pattern.partition(" WHERE ")
    where = f"WHERE {where}" if where else ""
    query = f"RETURN MATCH * PATTERN {pattern} {where} SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT WITHIN 100 s"
    assert [len(rows) for rows in steps(query, *parts)[0]] == expected


@pytest.mark.parametrize("select", ["CONTIGUOUS", "NEXT"])
def test_a_condition_that_fails_waits_for_the_end_of_within(select: str) -> None:
    """A match that is still to come might pass over the event with which it fails."""
    pattern = "SEQ(A a, ANY*? x, C c)" if select == "CONTIGUOUS" else "SEQ(A a, C c)"
    where = f"WHERE 10 / (c.at - a.at - 2) < 5 SELECT {select} AFTER MATCH SKIP PAST LAST EVENT WITHIN 50 s"
    parts = [("A1 A2 C4", 5), ("C6", 7)]
    assert [len(rows) for rows in steps(f"RETURN MATCH * PATTERN {pattern} {where}", *parts)[0]] == [0, 0]
    with pytest.raises(EvaluationError, match="division by zero"):
        steps(f"RETURN MATCH * PATTERN {pattern} {where}", *parts, ("", 60))


def test_events_are_gone_with_which_no_match_may_begin_any_more() -> None:
    """Where that is known before WITHIN is over, of all queries of a class."""
    match = "PATTERN SEQ(A, B+, C) {} AFTER MATCH SKIP PAST LAST EVENT WITHIN 100 s"
    query = f"RETURN MATCH * {match.format('SELECT CONTIGUOUS')}"
    held = [steps(query, *parts)[1].state.events for parts in (
        [("A1 B2 C3 D4", 5)], [("A1 B2 B3", 4)], [("A1 B2 C3", 4), ("D5 A6 B7", 8), ("B8", 9)], [("A1 D2 A3", 2)],
    )]  # fmt: skip
    assert held == [0, 3, 3, 3]
    for other, kept in (("SEQ(A, B+, C)", 0), ("SEQ(A, B, D+)", 4)):
        beside = f"{query};\nQUERY p RETURN MATCH * {match.format('SELECT NEXT').replace('SEQ(A, B+, C)', other)}"
        assert steps(beside, ("A1 B2 C3 D4", 5))[1].state.events == kept, other
    begun = "RETURN MATCH * PATTERN SEQ(NOT D, A, C) SELECT {} AFTER MATCH SKIP PAST LAST EVENT WITHIN 100 s"
    assert [steps(begun.format(s), ("A1 C2 B3", 4))[1].state.events for s in ("NEXT", "CONTIGUOUS")] == [3, 3]


def test_a_bucket_is_due_when_the_event_is_known_that_may_decide_what_comes() -> None:
    query = "RETURN MATCH * PATTERN SEQ(A, B+, C) SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT WITHIN 100 s"
    assert [steps(query, ("A1 B2 C3", watermark))[1].due for watermark in (1, 3)] == [2, 4]


@pytest.mark.parametrize(
    ("pattern", "parts", "expected"),
    [
        pytest.param("SEQ(A, B+, C) SELECT NEXT", [("A1 B2 D3 C4", 5)], [1], id="NEXT: the end of a match comes"),
        pytest.param("SEQ(A, B+) SELECT NEXT", [("A1 B2 D3", 4), ("", 101)], [0, 1], id="NEXT: a longer match may come"),
        pytest.param("SEQ(A, B+?) SELECT NEXT", [("A1 B2", 3)], [1], id="NEXT: a longer match is not preferred"),
        pytest.param("SEQ(A, B b, C c) WHERE c.at > b.at + 1 SELECT NEXT", [("A1 B2 C3 C4", 5)], [1],
            id="NEXT: what its condition skips"),
        pytest.param("SEQ(A, B) SELECT NEXT", [("A1 A2 C3 B4 C5", 6), ("A7 B8", 9)], [1, 1], id="NEXT: several matches"),
        pytest.param("SEQ(A, NOT D, B) SELECT NEXT", [("A1 D2 A3 B4", 5), ("", 101)], [0, 1],
            id="NEXT: one that has begun before may still come"),
        pytest.param("OR(SEQ(A, ANY x, C), SEQ(A, B)) SELECT NEXT", [("A1 B2", 3), ("D3 C4", 5)], [0, 1],
            id="NEXT: a preferred way with the same event"),
        pytest.param("SEQ(A a, B* b, C c) WHERE FIRST(b, 1).at > 6 SELECT NEXT", [("A1 B2 C3", 4), ("B7 C8", 9)],
            [0, 1], id="NEXT: what a match skips may be the beginning of one that is preferred"),
        pytest.param("SEQ(A, B, NOT C) SELECT NEXT", [("A1 B2", 3), ("", 101)], [0, 1], id="a NOT at the end"),
        pytest.param("SEQ(A, B) SELECT NEXT", [("A1 A1 B2", 3), ("", 101)], [0, 1], id="ties are waited for"),
    ],
)  # fmt: skip
def test_rows_with_events_between_are_given_as_soon_as_nothing_preferred_can_come(
    pattern: str, parts: list[tuple[str, int]], expected: list[int]
) -> None:
    query = f"RETURN MATCH * PATTERN {pattern} AFTER MATCH SKIP PAST LAST EVENT WITHIN 100 s"
    assert [len(rows) for rows in steps(query, *parts)[0]] == expected


@pytest.mark.parametrize("returned", TIED.values(), ids=TIED)
def test_the_gap_of_a_not_is_looked_at_where_the_event_that_ends_it_ties_with(returned: str) -> None:
    case = tied(returned)
    compiled = compile_text(case.text)
    expected = by_oracle(case, compiled)
    assert expected is not None
    assert expected["q"]
    bucket = Bucket.of(compiled)
    for instant in sorted({row["at"] for row in case.rows}):
        some = tuple(row for row in case.rows if row["at"] == instant)
        bucket.take(table_of(Case("", some), compiled), instant)
    bucket.take(table_of(Case("", ()), compiled), END)
    assert same(bucket.rows[0], expected["q"], ABOUT)


def test_a_row_passes_over_first_events_that_are_not_decided_yet_when_it_is_found() -> None:
    query = "RETURN MATCH * PATTERN SEQ(A, C) SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN 6 s"
    events = ["A1", "A3", "C6", "A6", "A8", "A8"]
    found, _ = steps(query, *((word, int(word[1:])) for word in events), ("", END))
    rows = [[event["at"] for event in row["events"]] for part in found for row in part]
    assert rows == [[1, 6]]


@pytest.mark.parametrize(
    ("pattern", "decided"),
    [
        ("SEQ(A, B)", [5, 6]),  # as the last event
        ("SEQ(A, B, NOT C WITHIN 2 s)", [4, 5]),  # two seconds later
        ("SEQ(A, B, NOT C)", [1, 2, 5, 6]),  # as the first event of a match of five seconds, too
    ],
)
def test_a_partition_is_looked_at_for_the_events_that_the_watermark_decides_now(
    pattern: str, decided: list[int]
) -> None:
    """As it goes on from 5 to 7."""
    compiled = compile_text(f"{STREAM}QUERY q RETURN MATCH * PATTERN {pattern} WITHIN 5 s;")
    decision = decision_of(compiled.plan.queries[0])
    assert isinstance(decision, Decision)
    assert np.flatnonzero(decision.may_decide(np.arange(10), 5, 7)).tolist() == decided


def test_what_comes_too_late_is_counted_and_changes_nothing() -> None:
    found, bucket = steps("RETURN COUNT(*) AS n PATTERN A WITHIN 10 s", ("A1 A12", 10), ("A2 A11", 20), ("A9", 30))
    assert [[row["n"] for row in rows] for rows in found] == [[1], [2], []]
    assert bucket.late == 2


def test_events_are_kept_only_as_long_as_a_row_may_need_them() -> None:
    # Open are the windows from 45 on; a match that ends at 52 begins after 45, and one that begins at 46 may be
    # forbidden by what is at 40.
    for query, kept in (
        ("RETURN COUNT(*) AS n PATTERN A WITHIN 10 s SLIDE 5 s", 2),
        ("RETURN MATCH * PATTERN SEQ(A, B) WITHIN 7 s", 2),
        ("RETURN COUNT(*) AS n PATTERN A WITHIN SESSION 10 s", 4),
        ("RETURN COUNT(*) AS n PATTERN A WITHIN SESSION 2 s", 0),
        ("RETURN MATCH * PATTERN SEQ(NOT C c, A, B, NOT C d) WITHIN 7 s", 3),
    ):
        assert steps(query, ("A1 A20 A39 A40 A46 A50", 52))[1].state.events == kept, query


def test_a_partition_is_silent_as_long_as_skip_for_says_and_no_longer_remembered() -> None:
    query = "RETURN MATCH * PATTERN A WHERE [k] SELECT NEXT AFTER MATCH SKIP FOR 10 s WITHIN 2 s"
    bucket = Bucket.of(compile_text(f"{STREAM}QUERY q {query};"))
    seen = []
    for events, watermark in (
        ("1a", 3), ("", 9), ("10a 9b", 10), ("10b 11a 12a", 13), ("18b 20b", 20), ("21a 22a", 23), ("", 32), ("33a", END),
    ):  # fmt: skip
        rows = [{"at": int(word[:-1]), "kind": "A", "k": ord(word[-1])} for word in events.split()]
        before = len(bucket.rows[0])
        bucket.take(table_of(Case("", tuple(rows)), compile_text(f"{STREAM}QUERY q {query};")), watermark)
        found = sorted(f"{e['at']}{chr(e['k'])}" for row in bucket.rows[0][before:] for e in row["events"])
        (silences,) = bucket.state.quiet
        silent = {chr(one["k"]): one["through"] for quiet in silences.values() for one in quiet.to_pylist()}
        seen.append((" ".join(found), silent, bucket.state.events))
    assert seen == [
        ("1a", {"a": 10}, 0),  # nothing is held, and a is silent
        ("", {"a": 10}, 0),
        ("9b", {"a": 10, "b": 18}, 1),
        ("11a", {"a": 20, "b": 18}, 0),
        ("", {"a": 20}, 1),
        ("20b 21a", {"a": 30, "b": 29}, 0),
        ("", {}, 0),
        ("33a", {}, 0),
    ]


def test_rows_of_pieces_come_when_as_many_events_are_there_as_are_taken_at_a_time() -> None:
    compiled = compile_text(f"{STREAM}QUERY q RETURN MATCH A.at AS a PATTERN SEQ(A, B) WITHIN 2 s;")
    events = ((0, "A"), (1, "B"), (8, "C"), (9, "C"))
    taken: list[int] = []

    def pieces() -> Iterator[pa.Table]:
        for number in range(3):
            taken.append(number)
            yield table_of(
                Case("", tuple({"at": at + 10 * number, "kind": kind, "k": 1} for at, kind in events)), compiled
            )

    assert [(query, len(found), len(taken)) for query, found in flow(whole(compiled), pieces(), 4)] == [
        (0, 1, 1),
        (0, 1, 2),
        (0, 1, 3),
    ]


def test_an_error_of_a_window_that_is_still_open_waits_for_it() -> None:
    """The sum of the first two events does not fit; the third mends it."""
    query = "RETURN SUM(A.k) AS n PATTERN A WITHIN 10 s SLIDE 5 s"
    compiled = compile_text(f"{STREAM}QUERY q {query};".replace("k INT", "k BIGINT"))
    bucket = Bucket.of(compiled)
    big = 2**62
    rows = ({"at": 6, "kind": "A", "k": big}, {"at": 7, "kind": "A", "k": big}, {"at": 12, "kind": "A", "k": -big})
    first = ({"at": 1, "kind": "A", "k": -big},)
    bucket.take(table_of(Case("", (*first, *rows)), compiled), 10)
    bucket.take(table_of(Case("", ()), compiled), 15)
    assert [(row["window_end"], row["n"]) for row in bucket.rows[0]] == [(5, -big), (10, big), (15, big)]
    with pytest.raises(ArithmeticError, match="in the window from 10 to 20"):
        bucket.take(
            table_of(Case("", ({"at": 15, "kind": "A", "k": -big}, {"at": 16, "kind": "A", "k": -big})), compiled), 20
        )


# ---- folding ---------------------------------------------------------------------------------------------------------


def crowd(query: str, count: int, *, seed: int = 3) -> tuple[Compiled, pa.Table]:
    """A program of queries `q` over many events in 40 seconds, two groups, with ties and nulls."""
    chance = random.Random(seed)
    rows = tuple(
        {
            "at": chance.randrange(40),
            "kind": chance.choice("AABBCD"),
            "k": chance.choice((1, 2)),
            "x": chance.choice((None, -1, 2, 5)),
        }
        for _ in range(count)
    )
    compiled = compile_text(f"{STREAM.replace('k INT', 'k INT, x INT')}{query}")
    return compiled, table_of(Case("", rows), compiled)


def run_through(
    compiled: Compiled, table: pa.Table, step: int = 3, fold_from: int | None = None, wait: int | None = 0
) -> list[Bucket]:
    """The bucket after each micro-batch of `step` seconds; the last one after the end."""
    bucket, seen = Bucket.of(compiled, fold_from, wait), []
    ticks = read(table, compiled.plan.stream).ticks
    for start in range(0, 40, step):
        bucket.take(table.filter(pa.array((ticks >= start) & (ticks < start + step))), start + step - 1)
        seen.append(replace(bucket))
    bucket.take(table.slice(0, 0), END)
    return [*seen, bucket]


FOLDED = {
    "sequences": "QUERY q RETURN COUNT(*) AS n, SUM(b.x) AS s PATTERN SEQ(A a, B b) WITHIN 10 s SLIDE 5 s;",
    "windows side by side": "QUERY q RETURN k, COUNT(*) AS n, AVG(B.x) AS m PATTERN SEQ(A, B, C) GROUP BY k WITHIN 20 s;",
    "repetition beyond 64 bits": "QUERY q RETURN CAST(COUNT(*) AS STRING) AS n, MAX(a.x) AS m PATTERN A+ a WITHIN 20 s SLIDE 10 s;",
    "repetition as DOUBLE": "QUERY q RETURN CAST(COUNT(*) AS DOUBLE) AS n PATTERN SEQ(A+, B) WITHIN 20 s SLIDE 10 s;",
    "variances": "QUERY q RETURN VARIANCE(b.x) AS v, STDDEV_POP(a.x) AS s PATTERN SEQ(A a, B+ b) WITHIN 8 s SLIDE 2 s;",
    "any order": "QUERY q RETURN COUNT(*) AS n, MIN(c.kind) AS m PATTERN AND(A a, OR(B, C c)) WITHIN 20 s SLIDE 5 s;",
    "partitions of a group": "QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A, B) WHERE [k] WITHIN 10 s HAVING COUNT(*) > 2;",
    "with a query of matches": (
        "QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A, B) WITHIN 40 s SLIDE 20 s;\n"
        "QUERY m RETURN a.at AS since PATTERN SEQ(A a, D d, NOT B) WHERE a.x = 5 WITHIN 4 s;"
    ),
    "with a NOT": (
        "QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A, B) WITHIN 20 s SLIDE 5 s;\n"
        "QUERY r RETURN COUNT(*) AS n PATTERN SEQ(A, NOT C, D) WITHIN 10 s;"
    ),
    "windows that begin later": (
        "QUERY q RETURN COUNT(*) AS n, SUM(a.x) AS s PATTERN SEQ(A a, B+ b) WITHIN 8 s SLIDE 2 s OFFSET 1 s;\n"
        "QUERY r RETURN MAX(v.x) AS m PATTERN SEQ(A, B+ v) WITHIN 10 s OFFSET -3 s;"
    ),
    "windows that differ in when they begin": (
        "QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A a, B b) WITHIN 20 s SLIDE 10 s;\n"
        "QUERY r RETURN COUNT(*) AS n PATTERN SEQ(A, B) WITHIN 20 s SLIDE 10 s OFFSET 5 s;"
    ),
    "several windows": (
        "QUERY q RETURN COUNT(*) AS n, SUM(a.x) AS s PATTERN SEQ(A a, B+ b) WITHIN 8 s SLIDE 2 s;\n"
        "QUERY r RETURN MAX(v.x) AS m PATTERN SEQ(A, B+ v) WITHIN 12 s SLIDE 4 s;"
    ),
}  # fmt: skip


@pytest.mark.parametrize("query", FOLDED.values(), ids=FOLDED)
@pytest.mark.parametrize(("step", "wait"), [(3, 0), (10, 0), (3, 60)])
def test_crowded_panes_are_folded_and_the_rows_are_the_same(query: str, step: int, wait: int) -> None:
    compiled, table = crowd(query, 600)
    expected = by_engine(Case("", tuple(table.to_pylist())), compiled)
    assert expected is not None
    seen = run_through(compiled, table, step, wait=wait)
    assert max(bucket.state.panes for bucket in seen) > 1
    for number, plan in enumerate(compiled.plan.queries):
        assert same(seen[-1].rows[number], expected[plan.name], ABOUT), plan.name


@pytest.mark.parametrize("count", [70, 900, 1500])
def test_large_counts_as_double_are_those_of_a_batch(count: int) -> None:
    """Beyond 2^53 they are floats, and beyond float64 what they are in a batch; a query that asks for all digits has
    them.
    """
    results = "CAST(COUNT(*) AS DOUBLE) AS n, SUM(CAST(a.x AS DOUBLE)) AS s, MIN(a.x) AS m"
    queries = f"QUERY q RETURN {results} PATTERN A+ a WITHIN 40 s SLIDE 20 s;\n"
    rows = tuple({"at": at * 40 // count, "kind": "A", "k": 1, "x": 1 + at % 3, "y": at} for at in range(count))
    stream = STREAM.replace("k INT", "k INT, x INT, y INT").replace("UNIT s", "UNIT s ORDER BY y")
    for text in (queries, f"{queries}QUERY r RETURN CAST(COUNT(*) AS STRING) AS n PATTERN A+ WITHIN 40 s;"):
        compiled = compile_text(stream + text)
        table = table_of(Case("", rows), compiled)
        expected = by_engine(Case("", rows), compiled)
        assert expected is not None
        seen = run_through(compiled, table, 10)
        assert max(bucket.state.panes for bucket in seen) > 0
        for number, query in enumerate(compiled.plan.queries):
            assert same(seen[-1].rows[number], expected[query.name], ABOUT), query.name


def test_large_counts_are_exact_beside_small_ones_of_the_same_step() -> None:
    """A window for every two seconds, of which five end in a step, first of few events and then of many."""
    query = "QUERY q RETURN CAST(COUNT(*) AS STRING) AS n PATTERN A+ WITHIN 20 s SLIDE 2 s;"
    rows = tuple({"at": at, "kind": "A", "k": 1} for at in range(24) for _ in range(1 if at < 12 else 16))
    compiled = compile_text(f"{STREAM}{query}")
    expected = by_engine(Case("", rows), compiled)
    assert expected is not None
    counts = [int(row["n"]) for row in expected["q"]]
    assert min(counts) < 2**53 < max(counts)
    seen = run_through(compiled, table_of(Case("", rows), compiled), 10, fold_from=1)
    assert max(bucket.state.panes for bucket in seen) > 1
    assert same(seen[-1].rows[0], expected["q"])


def test_a_stream_may_have_a_column_called_pane() -> None:
    """The folding of its events has one of its own."""
    compiled = compile_text(
        f"{STREAM.replace('k INT', 'pane INT')}QUERY q RETURN SUM(A.pane) AS n PATTERN A WITHIN 10 s;"
    )
    rows = tuple({"at": at % 10, "kind": "A", "pane": 2} for at in range(50))
    bucket = Bucket.of(compiled)
    bucket.take(table_of(Case("", rows[:5]), compiled), 5)
    assert bucket.state.panes == 1
    bucket.take(table_of(Case("", rows[5:10]), compiled), END)
    assert [row["n"] for row in bucket.rows[0]] == [20]


def test_few_events_are_not_folded() -> None:
    compiled, table = crowd(FOLDED["windows side by side"], 8)
    assert max(bucket.state.panes for bucket in run_through(compiled, table)) == 0


def test_what_a_query_of_matches_needs_stays_and_is_not_counted_twice() -> None:
    """The As and Bs are in the folded panes, and those of the last seconds are there as events, too."""
    compiled, table = crowd(FOLDED["with a query of matches"], 600)
    states = [bucket.state for bucket in run_through(compiled, table, fold_from=1)]
    assert all(state.panes and state.events for state in states[1:-1])


def test_the_state_of_a_crowded_window_does_not_grow_with_its_events() -> None:
    sizes = []
    for count in (1000, 4000):
        compiled, table = crowd(FOLDED["sequences"], count)
        sizes.append(max(len(bucket.data) for bucket in run_through(compiled, table, 1)[:-1]))
    compiled, table = crowd(FOLDED["sequences"], 4000)
    unfolded = max(len(bucket.data) for bucket in run_through(compiled, table, 1, 10**9)[:-1])
    assert sizes[1] < 1.5 * sizes[0]
    assert unfolded > 2 * sizes[1]


def test_an_event_late_for_a_folded_pane_is_late() -> None:
    compiled, _ = crowd("QUERY q RETURN COUNT(*) AS n PATTERN A WITHIN 10 s;", 0)
    bucket = Bucket.of(compiled, 1)

    def take(text: str, watermark: int) -> int:
        rows = tuple({"at": int(word), "kind": "A"} for word in text.split())
        return bucket.take(table_of(Case("", rows), compiled), watermark)

    take("1 2 3 8", 6)
    assert (bucket.state.panes, bucket.state.events) == (1, 1)
    take("4 5 6 7", 8)  # the first two are late
    assert (bucket.state.panes, bucket.state.events, bucket.late) == (1, 1, 2)
    take("", 10)
    assert [row["n"] for row in bucket.rows[0]] == [6]


# ---- waiting ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("QUERY q RETURN COUNT(*) AS n PATTERN A WITHIN 40 s SLIDE 20 s;", 1),
        ("QUERY q RETURN COUNT(*) AS n, SUM(b.x) AS s PATTERN SEQ(A a, B b) WITHIN 40 s SLIDE 20 s;", 7),
        ("".join(f"QUERY q{i} RETURN COUNT(*) AS n PATTERN SEQ({p}) WITHIN 40 s;" for i, p in enumerate(("A, B", "B, C"))), 5),
    ],
)  # fmt: skip
def test_the_more_numbers_a_pane_has_the_more_events_wait(query: str, numbers: int) -> None:
    program = whole(crowd(query, 0)[0], None, None)
    assert [(len(family.numbers), program.enough(family)) for family in program.families[0]] == [
        (numbers, 128 * (32 + numbers))
    ]


def test_events_wait_until_there_are_more_than_may_and_then_none_does() -> None:
    compiled, _ = crowd("QUERY q RETURN COUNT(*) AS n PATTERN A WITHIN 10 s;", 0)
    bucket = Bucket.of(compiled, 2, 4)
    seen = []
    for text, watermark in (("0 1 2", 3), ("3 4", 5), ("6 7", 8), ("", 10)):
        rows = tuple({"at": int(word), "kind": "A"} for word in text.split())
        bucket.take(table_of(Case("", rows), compiled), watermark)
        seen.append((bucket.state.waiting, bucket.state.panes, bucket.state.events))
    assert seen == [(3, 0, 3), (0, 1, 0), (2, 1, 2), (0, 0, 0)]
    assert [row["n"] for row in bucket.rows[0]] == [7]


@pytest.mark.parametrize(("slide", "watermark", "panes"), [(10, 5, 1), (10, 6, 0), (5, 8, 1), (5, 9, 0)])
def test_events_that_are_soon_gone_are_not_the_first_to_be_folded(slide: int, watermark: int, panes: int) -> None:
    """Of a window of ten, half has to be left, or a quarter where it overlaps others."""
    compiled, _ = crowd(f"QUERY q RETURN COUNT(*) AS n PATTERN A WITHIN 10 s SLIDE {slide} s;", 0)
    rows = tuple({"at": at, "kind": "A"} for at in range(5))
    bucket = Bucket.of(compiled, 2, 4)
    bucket.take(table_of(Case("", rows), compiled), watermark)
    assert (bucket.state.panes, bucket.state.waiting) == (panes, 0 if panes else 5)


@pytest.mark.parametrize("keys", [(), ("k",)])
def test_what_waits_is_folded_with_the_first_window_that_needs_it_in_numbers(keys: tuple[str, ...]) -> None:
    """Of a pane that is folded already; another group's, which is not, is counted from its events."""
    compiled, _ = crowd("QUERY q RETURN k, COUNT(*) AS n PATTERN A GROUP BY k WITHIN 10 s SLIDE 5 s;", 0)
    bucket = Bucket.of(compiled, 2, 4, keys)
    seen = []
    for text, watermark in (("0 1 2 3 4", 5), ("6 7 8 6(2)", 9), ("", 10)):
        words = [(int(word[0]), 2 if "(" in word else 1) for word in text.split()]
        rows = tuple({"at": at, "kind": "A", "k": k} for at, k in words)
        bucket.take(table_of(Case("", rows), compiled), watermark)
        seen.append((bucket.state.panes, bucket.state.waiting, bucket.state.events))
    assert seen == [(1, 0, 0), (1, 3, 4), (1, 0, 1)]
    found = {(row["k"], row["window_end"]): row["n"] for row in bucket.rows[0]}
    assert found == {(1, 5): 5, (1, 10): 8, (2, 10): 1}


def test_numbers_that_do_not_change_are_neither_read_nor_written() -> None:
    compiled, table = crowd(FOLDED["sequences"], 600)
    bucket = run_through(compiled, table, 40)[0]
    data = bucket.data
    state = bucket.state
    (panes,) = (one for families in state.folded for one in families if one is not None)
    assert to_bytes(state, bucket.program) == data
    assert "numbers" not in vars(panes.folded)


def test_put_together_at_once_panes_are_what_they_are_query_by_query() -> None:
    for text in FOLDED.values():
        compiled, table = crowd(text, 300)
        events = read(table, compiled.plan.stream)
        kinds = classify(events, compiled.plan.letters)
        for family in whole(compiled).families[0]:
            first, second = (
                in_order(fold(family, compiled.plan, part, Kinds(kinds.of[half], kinds.letters), part.ticks // 20))
                for half in (events.ticks % 20 < 10, events.ticks % 20 >= 10)
                for part in [select(events, half)]
            )
            at_once, exactly = together(family, first, second), product(family, first, second, exactly=True)[0]
            assert at_once is not None
            assert [column.tolist() for column in at_once.numbers] == [column.tolist() for column in exactly.numbers]


def in_order(folded: Folded) -> Folded:
    keys = list(zip(*(column.to_pylist() for column in folded.keys.values()), folded.panes.tolist(), strict=True))
    return folded.take(np.array(sorted(range(len(folded)), key=lambda i: repr(keys[i]))))


def test_what_does_not_fit_is_said_of_folded_windows_too() -> None:
    text = f"{STREAM.replace('k INT', 'k BIGINT')}QUERY q RETURN k, SUM(A.k) AS n PATTERN A GROUP BY k WITHIN 10 s SLIDE 5 s;"
    compiled = compile_text(text)
    rows = tuple({"at": at, "kind": "A", "k": 2**62} for at in (1, 6, 7))
    bucket = Bucket.of(compiled, 1)
    bucket.take(table_of(Case("", rows), compiled), 9)
    assert bucket.state.events == 0
    with pytest.raises(
        ArithmeticError, match=r"query q: SUM\(A.k\) .* in the window from 0 to 10 for k = 4611686018427387904"
    ):
        bucket.take(table_of(Case("", ()), compiled), 10)


# ---- sharing -----------------------------------------------------------------------------------------------------------

SHARED = [
    pytest.param(
        "QUERY q RETURN CAST(COUNT(*) AS STRING) AS n, MAX(b.x) AS s PATTERN SEQ(A a, B+ b, C) WITHIN 10 s SLIDE 5 s;",
        "QUERY r RETURN CAST(COUNT(*) AS STRING) AS n, MAX(v.x) AS s PATTERN SEQ(A, B+ v, C) WITHIN 20 s SLIDE 5 s;",
        0.1, id="one pattern, other windows and names: nothing more",
    ),
    pytest.param(
        "QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A, B, C) WITHIN 10 s;",
        "QUERY r RETURN COUNT(*) AS n PATTERN SEQ(A, B, D) WITHIN 10 s;",
        0.7, id="the same beginning: what differs",
    ),
]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(("one", "other", "more"), SHARED)
def test_state_shrinks_with_sharing(one: str, other: str, more: float) -> None:
    """Bytes of both together beyond the first's, in those of the second alone."""
    first, second, both = (
        max(len(b.data) - len(to_bytes(State(), b.program)) for b in run_through(*crowd(text, 2000), 1)[:-1])
        for text in (
            one,
            other.replace("WITHIN 20 s", "WITHIN 10 s"),
            f"{one}\n{other.replace('WITHIN 20 s', 'WITHIN 10 s')}",
        )
    )
    assert both - first < more * second
    compiled, table = crowd(f"{one}\n{other}", 2000)
    families = whole(compiled).families[0]
    assert len(families) == 1
    expected = by_engine(Case("", tuple(table.to_pylist())), compiled)
    assert expected is not None
    rows = run_through(compiled, table)[-1].rows
    assert all(same(rows[number], expected[query.name], ABOUT) for number, query in enumerate(compiled.plan.queries))


def test_queries_whose_windows_have_no_good_common_pane_have_panes_of_their_own() -> None:
    text = "QUERY q RETURN COUNT(*) AS n PATTERN A WITHIN 10 s;\nQUERY r RETURN COUNT(*) AS n PATTERN A WITHIN 7 s;"
    assert [family.times.length for family in whole(compile_text(STREAM + text)).families[0]] == [10, 7]


@pytest.mark.parametrize(
    ("offset", "times"),
    [
        (2, [TimeParts(10, 2)]),
        (12, [TimeParts(10, 2)]),
        (7, [TimeParts(5, 2)]),
        (3, [TimeParts(10, 2), TimeParts(10, 3)]),
    ],
)
def test_panes_begin_where_windows_do(offset: int, times: list[TimeParts]) -> None:
    """Those of two queries are cut finer where that is less than two panes for every tick."""
    one = "QUERY q RETURN COUNT(*) AS n PATTERN A WITHIN 10 s OFFSET 2 s;\n"
    text = f"{STREAM}{one}QUERY r RETURN COUNT(*) AS n PATTERN A WITHIN 10 s OFFSET {offset} s;"
    assert [family.times for family in whole(compile_text(text)).families[0]] == times


def test_the_size_of_the_state_is_told_before_it_runs() -> None:
    """An event here is a time, a type as text, a group, and a word of letters; held as long as some row may need it."""
    compiled = compile_text(
        f"{STREAM}QUERY a RETURN k, COUNT(*) AS n PATTERN A GROUP BY k WITHIN 10 s SLIDE 5 s;\n"
        "QUERY m RETURN MATCH * PATTERN SEQ(A, NOT B b WITHIN 5 s) WITHIN 3 s;\n"
        "QUERY u RETURN COUNT(*) AS n PATTERN A WITHIN UNBOUNDED;"
    )
    counted, listed = state_size(compiled.plan)
    assert counted.event == listed.event == 8 + 20 + 4 + 8
    assert (counted.query, counted.held, counted.windows) == ("a", 10, 2)
    assert counted.pane == PaneSize(5, 2, 8 + 4 + 8, ())  # when, of whom, and how many As
    assert (listed.query, listed.held, listed.windows, listed.pane) == ("m", 7, None, None)
    alarms = f"{STREAM}QUERY q RETURN MATCH * PATTERN A WHERE [k] SELECT NEXT AFTER MATCH SKIP FOR 9 s WITHIN 3 s;"
    (alarm,) = state_size(compile_text(alarms).plan)
    assert (alarm.held, alarm.silence) == (3, Silence(9, 4 + 8))  # whose, and until when


@pytest.mark.parametrize(("types", "words"), [(62, 1), (63, 2), (125, 3)])
def test_an_event_has_a_word_for_62_letters(types: int, words: int) -> None:
    either = ", ".join(f"T{n}" for n in range(types))
    (size,) = state_size(compile_text(f"{STREAM}QUERY q RETURN COUNT(*) AS n PATTERN OR({either}) WITHIN 9 s;").plan)
    assert size.event == 8 + 20 + 8 * words


def test_the_size_is_told_without_numpy() -> None:
    """`cepc explain` imports none."""
    code = "import sys, cepc_runtime.streaming.size; assert not {'numpy', 'pyarrow', 'pyspark'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
