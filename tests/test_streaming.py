"""The same queries as a stream, without Spark: rows are those of a batch, each once, whatever the micro-batches and the order."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cepc_runtime.events import read
from cepc_runtime.spark.share import Class
from cepc_runtime.streaming.advance import advance
from cepc_runtime.streaming.program import Program, UnboundedError
from cepc_runtime.streaming.size import state_size
from cepc_runtime.streaming.state import State, StateError, from_bytes, to_bytes
from cepc_runtime.streaming.ticks import END
from tests.equivalence import Compiled, Refused, Rows, by_engine, compile_text, same, table_of
from tests.programs import Case, cases

if TYPE_CHECKING:
    from collections.abc import Iterable

SECOND = {"us": 1_000_000, "s": 1}


def whole(compiled: Compiled) -> Program:
    """All queries in one class, which gets all events."""
    return Program(compiled.plan, (Class((), tuple(range(len(compiled.plan.queries))), None),))


@dataclass
class Bucket:
    """Advanced step by step; between two steps its state is bytes."""

    program: Program
    rows: dict[int, Rows]
    late: int = 0
    data: bytes = to_bytes(State(), "plan")
    due: int | None = None

    @classmethod
    def of(cls, compiled: Compiled) -> Bucket:
        return cls(whole(compiled), defaultdict(list))

    @property
    def state(self) -> State:
        return from_bytes(self.data, "plan")

    def take(self, events: pa.Table, watermark: int) -> int:
        """How many rows that gave."""
        done = advance(self.program, self.state, [events], watermark)
        for query, table in done.rows:
            self.rows[query] += table.to_pylist()
        self.late += sum(late.events.num_rows for late in done.late)
        self.data, self.due = to_bytes(done.state, "plan"), done.due
        return sum(table.num_rows for _, table in done.rows)


def micro_batches(data: st.DataObject, table: pa.Table, compiled: Compiled) -> Iterable[tuple[pa.Table, int]]:
    """The events in any order within a watermark, cut anywhere, each part with the watermark after it."""
    stream = compiled.plan.stream
    events = read(table, stream)
    unit = SECOND[stream.unit]
    delay = data.draw(st.sampled_from((0, 0, 1, 3))) * unit
    arrival = [tick + data.draw(st.integers(0, delay)) for tick in events.ticks.tolist()]
    order = sorted(range(len(arrival)), key=lambda i: (arrival[i], data.draw(st.integers(0, 3))))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(order)), max_size=6)))
    newest = None
    for start, end in zip([0, *cuts], [*cuts, len(order)], strict=True):
        ticks = [int(events.ticks[i]) for i in order[start:end]]
        newest = max([*ticks, *([] if newest is None else [newest])], default=None)
        if newest is not None:
            yield events.table.take(pa.array(order[start:end], pa.int64())), newest - delay


def check(data: st.DataObject, case: Case) -> None:
    try:
        compiled = compile_text(case.text)
    except Refused:
        assume(False)
    if any(query.within is None for query in compiled.plan.queries):
        with pytest.raises(UnboundedError):
            whole(compiled)
        return
    expected = by_engine(case, compiled)
    assume(expected is not None)
    assert expected is not None
    bucket = Bucket.of(compiled)
    table = table_of(case, compiled)
    for events, watermark in micro_batches(data, table, compiled):
        bucket.take(events, watermark)
        early = END if bucket.due is None else bucket.due - 1
        assert replace(bucket, rows=defaultdict(list)).take(events.slice(0, 0), early) == 0
    bucket.take(table.slice(0, 0), END)
    assert bucket.late == 0
    assert bucket.state.events == 0
    for number, query in enumerate(compiled.plan.queries):
        assert same(bucket.rows[number], expected[query.name]), (query.name, bucket.rows[number], expected[query.name])


KINDS = {
    "aggregates counted": cases(match=False, select="ANY", pairs=False),
    "aggregates enumerated": cases(match=False, pairs=True),
    "matches": cases(match=True, select="ANY"),
    "selection strategies and after match": cases(match=True, select="NEXT"),
    "contiguous": cases(match=True, select="CONTIGUOUS"),
    "several queries": cases(size=3),
}


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(suppress_health_check=list(HealthCheck))
def test_rows_are_those_of_a_batch(kind: str, data: st.DataObject) -> None:
    check(data, data.draw(KINDS[kind]))


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
            "RETURN MATCH * PATTERN SEQ(A, B) WITHIN 10 s", [("A1 B3", 3), ("B3", 4), ("", 50)], [0, 2, 0],
            id="a match is given when its last instant is known",
        ),
        pytest.param(
            "RETURN MATCH * PATTERN SEQ(A, NOT B WITHIN 5 s) WITHIN 1 s", [("A1", 5), ("", 6)], [0, 1],
            id="an absence is given when its time is over",
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


def test_what_comes_too_late_is_counted_and_changes_nothing() -> None:
    found, bucket = steps("RETURN COUNT(*) AS n PATTERN A WITHIN 10 s", ("A1 A12", 10), ("A2 A11", 20), ("A9", 30))
    assert [[row["n"] for row in rows] for rows in found] == [[1], [2], []]
    assert bucket.late == 2


def test_events_are_kept_only_as_long_as_a_row_may_need_them() -> None:
    # Open are the windows from 45 on; a match that ends at 52 begins after 45, and one that begins at 46 may be forbidden by what
    # is at 40.
    for query, kept in (
        ("RETURN COUNT(*) AS n PATTERN A WITHIN 10 s SLIDE 5 s", 2),
        ("RETURN MATCH * PATTERN SEQ(A, B) WITHIN 7 s", 2),
        ("RETURN MATCH * PATTERN SEQ(NOT C c, A, B, NOT C d) WITHIN 7 s", 3),
    ):
        assert steps(query, ("A1 A20 A39 A40 A46 A50", 52))[1].state.events == kept, query


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


def test_state_of_another_program_or_version_is_refused() -> None:
    data = to_bytes(State(), "one")
    for wrong in (b"", data[:3], data.replace(b'"version": 1', b'"version": 9')):
        with pytest.raises(StateError):
            from_bytes(wrong, "one")
    with pytest.raises(StateError, match="another program"):
        from_bytes(data, "another")


def test_the_size_of_the_state_is_told_before_it_runs() -> None:
    """An event here is a time, a type as text, a group, and a word of letters; held as long as some row may need it."""
    compiled = compile_text(
        f"{STREAM}QUERY a RETURN k, COUNT(*) AS n PATTERN A GROUP BY k WITHIN 10 s SLIDE 5 s;\n"
        "QUERY m RETURN MATCH * PATTERN SEQ(A, NOT B b WITHIN 5 s) WITHIN 3 s;\n"
        "QUERY u RETURN COUNT(*) AS n PATTERN A WITHIN UNBOUNDED;"
    )
    size = state_size(compiled.plan)
    assert size.event == 8 + 20 + 4 + 8
    assert [(q.query, q.held, q.windows) for q in size.queries] == [("a", 10, 2), ("m", 6, None)]


def test_the_size_is_told_without_numpy() -> None:
    """`cepc explain` imports none."""
    code = "import sys, cepc_runtime.streaming.size; assert not {'numpy', 'pyarrow', 'pyspark'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
