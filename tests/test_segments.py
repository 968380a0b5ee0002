"""A group cut in time into segments that overlap, each run by itself, has the rows that it has uncut."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import gcd
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepc_runtime.events.grouped import read, ticks_of
from cepc_runtime.events.segments import SEGMENT, Segments, are_short, overlap_of, segments_for
from cepc_runtime.parts.classes import Class, classes_of, keys_of
from cepc_runtime.plan.as_json import to_text
from cepc_runtime.plan.windows import Sliding, TimeParts
from cepc_runtime.spark.kernel import run_partition
from tests.equivalence import answered, by_oracle, compile_text, same, table_of
from tests.programs import Asked, Case, between_neighbours, bounded, case
from tests.properties import NOTHING, Seen, hold

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from cepc_runtime.plan.physical import PhysicalPlan
    from cepc_runtime.plan.strategy import PhysicalQuery
    from tests.oracle import Answer

STREAM = "STREAM s (at BIGINT, kind STRING, g STRING) EVENT TIME at UNIT s EVENT TYPE kind;\n"


def queries_of(*windows: str) -> tuple[PhysicalQuery, ...]:
    text = "".join(f"QUERY q{i} RETURN COUNT(*) AS n PATTERN SEQ(A, B) {w};\n" for i, w in enumerate(windows))
    return compile_text(STREAM + text).plan.queries


LENGTHS = [
    ("edges are those of windows", ["WITHIN 10 s SLIDE 5 s"], Segments(8 * 5, 5)),
    ("a whole number of slides", ["WITHIN 10 s SLIDE 3 s"], Segments(57, 7)),
    ("not longer than an hour", ["WITHIN 30 min SLIDE 20 min"], Segments(3600, 600)),
    ("but twice what is read twice", ["WITHIN 3 h SLIDE 1 h"], Segments(4 * 3600, 2 * 3600)),
    ("windows side by side reach over no edge", ["WITHIN 10 s"], Segments(10, 0)),
    ("windows with gaps", ["WITHIN 10 s SLIDE 15 s"], Segments(15, 0)),
    ("windows side by side that begin later", ["WITHIN 10 s OFFSET 3 s"], Segments(10, 0, 3)),
    ("edges that meet later", ["WITHIN 10 s SLIDE 5 s OFFSET 1 s", "WITHIN 12 s SLIDE 4 s OFFSET 9 s"], Segments(80, 8, 1)),
    ("edges that never meet", ["WITHIN 10 s", "WITHIN 10 s OFFSET 3 s"], Segments(30, 3)),
    ("of several queries", ["WITHIN 10 s SLIDE 5 s", "WITHIN 12 s SLIDE 4 s"], Segments(80, 8)),
    (
        "edges that seldom meet",
        ["WITHIN 10 s SLIDE 7 s", "WITHIN 13 s SLIDE 11 s", "WITHIN 5 s SLIDE 3 s"], Segments(8 * 13, 12),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("windows", "expected"), [case[1:] for case in LENGTHS], ids=[case[0] for case in LENGTHS])
def test_how_long_segments_are(windows: Sequence[str], expected: Segments) -> None:
    assert segments_for(queries_of(*windows), "s") == expected


def test_segments_of_days_are_not_short() -> None:
    queries = queries_of("WITHIN 2 s SLIDE 1 s")
    assert segments_for(queries, "day") == Segments(2, 1)
    assert not are_short(queries, "day")
    assert are_short(queries, "s")


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 60), st.integers(1, 200), st.integers(0, 200))
def test_a_window_ends_in_the_overlap_of_the_segment_in_which_it_begins(
    within: int, slide: int, offset: int, length: int, begin: int
) -> None:
    (query,) = queries_of("WITHIN 10 s SLIDE 5 s")
    offset, parts = offset % slide, TimeParts(length, begin % length)
    query = replace(query, window=Sliding(within, slide, offset))
    starts = [k * slide + offset for k in range(-50, 50)]
    ends = [start + within - (start - parts.begin) // length * length - parts.begin for start in starts]
    assert max(*ends, length) <= length + overlap_of([query], parts)
    if offset == parts.begin:
        assert overlap_of([query], parts) == max(0, within - gcd(slide, length))


def test_an_event_is_in_two_segments_at_most() -> None:
    with pytest.raises(ValueError, match="more than two"):
        Segments(5, 6)


def run_cut(plan: PhysicalPlan, one: Class, table: Any, most: int = 10**6, size: int = 3) -> list[Any]:
    """The rows of a class with segments; each event of the table is copied to its segments, as Spark does."""
    assert one.segments is not None
    ticks = ticks_of(table.column(plan.stream.time_column)) - one.segments.begin
    copies = [
        (i, t // one.segments.length - late)
        for i, t in enumerate(ticks.tolist())
        for late in (0, 1)
        if not late or t % one.segments.length < one.segments.overlap
    ]
    copied = table.take(pa.array([i for i, _ in copies], pa.int64()))
    copied = copied.append_column(SEGMENT, pa.array([number for _, number in copies], pa.int64()))
    order = [(name, "ascending", "at_start") for name in (*one.keys, SEGMENT, plan.stream.time_column)]
    batches = copied.take(pa.compute.sort_indices(copied, order)).to_batches(max_chunksize=size)
    found = run_partition(batches, to_text(plan), [one], None, rows=4, most=most)
    rows = [row for batch in found for row in batch.to_pylist()]
    assert not [row["error"] for row in rows if row["error"]]
    return rows


def values(rows: Sequence[Any], plan: PhysicalPlan, number: int) -> list[Any]:
    """The rows of a query, with the names of its columns."""
    from cepc_runtime.spark.rows import layout_of, result_columns

    layout = layout_of(plan)
    names = [name for name, _ in result_columns(plan.queries[number], plan.stream)]
    slots = [layout.slots[slot].name for slot in layout.places[number]]
    return [{n: row[s] for n, s in zip(names, slots, strict=True)} for row in rows if row["query"] == str(number)]


TIMES = [
    ("at the edges of segments", [("A", 0), ("B", 7), ("A", 8), ("B", 9), ("A", 15), ("B", 16)]),
    ("at the last tick of a window that reaches over an edge", [("A", 7), ("B", 11), ("B", 12)]),
    ("ties at an edge", [("A", 7), ("A", 8), ("B", 8), ("A", 8), ("B", 9), ("B", 9), ("B", 12)]),
    ("before 1970", [("A", -17), ("B", -16), ("A", -9), ("B", -8), ("A", -1), ("B", 0)]),
    ("empty segments between", [("A", 1), ("B", 2), ("A", 1000), ("B", 1001)]),
    ("windows of a segment that has no event of its own", [("A", 16), ("B", 17)]),
]
PATTERNS = [
    "SEQ(A, B)",
    "SEQ(A+, B)",
    "SEQ(A, NOT C, B)",
    "SEQ(NOT A x, B)",
    "SEQ(A+, B) SELECT NEXT",
    "SEQ(A+ a, B) SELECT CONTIGUOUS",
]


@pytest.mark.parametrize("events", [case[1] for case in TIMES], ids=[case[0] for case in TIMES])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_rows_of_segments_are_those_of_the_oracle(events: Sequence[tuple[str, int]], pattern: str) -> None:
    clauses, _, selection = pattern.partition(" SELECT")
    select = f"SELECT{selection}" if selection else ""
    text = f"{STREAM}QUERY q RETURN COUNT(*) AS n PATTERN {clauses} {select} WITHIN 6 s SLIDE 2 s;"
    case = Case(text, tuple({"at": at, "kind": kind, "g": None} for kind, at in events))
    compiled = compile_text(text)
    expected = by_oracle(case, compiled)
    assert expected is not None
    one = Class((), (0,), None, segments=Segments(8, 4))
    events_read = read(table_of(case, compiled), compiled.plan.stream).table
    assert same(values(run_cut(compiled.plan, one, events_read), compiled.plan, 0), expected["q"])


def _counted(chance: Random) -> Case:
    return case(chance, 3, Asked(match=False, pairs=False, group=chance.choice((None, "word", "g, word"))))


def counted(chance: Random) -> Case:
    beside = chance.random() < 0.25
    make = partial(between_neighbours, grouped=True) if beside else _counted
    return bounded(make)(chance)


def in_segments(case: Case, chance: Random) -> Seen:
    """Of any length, of one group or of each of several, whether a task holds a segment as a whole or in slices."""
    compiled = compile_text(case.text)
    answers = answered(case, compiled)
    if answers is None:
        return NOTHING
    plan, table = compiled.plan, read(table_of(case, compiled), compiled.plan.stream).table
    hot = frozenset(keys_of(query) for query in plan.queries if query.group_by)
    longer, most = chance.randint(0, 40), chance.choice((10**6, 3))
    seen: dict[str, Answer] = {}
    for given_class in classes_of(plan.queries, cut=plan.stream.unit, hot=hot):
        if given_class.segments is None:
            continue
        asked = [plan.queries[number] for number in given_class.queries]
        length = max((q.window.span or 0) for q in asked) + longer
        parts = TimeParts(length, chance.randrange(length))
        for segments in (given_class.segments, Segments(length, overlap_of(asked, parts), parts.begin)):
            rows = run_cut(plan, replace(given_class, segments=segments), table, most)
            for number, query in zip(given_class.queries, asked, strict=True):
                found, expected = values(rows, plan, number), answers[query.name].rows
                assert same(found, expected), (segments, query.name, found, expected)
        seen |= {query.name: answers[query.name] for query in asked}
    return Seen.of(case, seen)


def test_rows_of_segments_are_those_of_the_whole() -> None:
    hold("cut in segments", counted, in_segments)


CUT = [
    ("SEQ(A, B) WITHIN 6 s SLIDE 2 s", "segments"),
    ("SEQ(A, NOT C, B) WITHIN 6 s SLIDE 2 s", "segments"),
    ("SEQ(A, B) WITHIN 2 DAYS SLIDE 1 DAY", "panes"),
    ("SEQ(A+, B) WITHIN 2 DAYS SLIDE 1 DAY", "segments"),  # whose panes would have exponentially many matches
    ("SEQ(A, NOT C, B) WITHIN 2 DAYS SLIDE 1 DAY", "segments"),
    ("SEQ(A, NOT C, B) WITHIN 4611686018427387904 s", "whole"),  # of which segments would pass 64 bits
    ("SEQ(A, B) WITHIN UNBOUNDED", "whole"),
    ("SEQ(A, B) GROUP BY g WITHIN 6 s", "whole"),
    ("SEQ(A, B) WHERE [g] WITHIN 6 s", "whole"),  # partitions are apart already
]


@pytest.mark.parametrize(("clauses", "expected"), CUT, ids=[clauses for clauses, _ in CUT])
def test_how_a_group_is_cut(clauses: str, expected: str) -> None:
    plan = compile_text(f"{STREAM}QUERY q RETURN COUNT(*) AS n PATTERN {clauses};").plan
    (one,) = classes_of(plan.queries, cut=plan.stream.unit)
    assert expected == ("segments" if one.segments else "panes" if one.panes else "whole")
