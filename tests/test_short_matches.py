"""`WITHIN d WINDOW w`: of the matches in a window those whose last event is less than d after their first."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import pytest

from cepc.api import check_text
from cepc_grammar.formatter import format_source
from cepc_grammar.source import Source
from cepc_runtime.plan.strategy import List
from cepc_runtime.plan.windows import Sliding
from tests.equivalence import by_engine, compile_text
from tests.programs import Case, Make, bounded, cases, streamed
from tests.properties import hold
from tests.spark_programs import agree
from tests.test_equivalence import compare
from tests.test_memory import in_parts
from tests.test_slices import with_large_groups
from tests.test_streaming import check
from tests.test_threads import on_threads

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.properties import Seen

STREAM = "STREAM s (at BIGINT, kind STRING, k INT, x INT) EVENT TIME at UNIT s EVENT TYPE kind IN ('A', 'B', 'C');\n"


def of_short_matches(make: Make) -> Make:
    """The same cases, with a WITHIN of its own in each window in which two events may be apart."""

    def made(chance: Random) -> Case:
        one = bounded(make)(chance)
        own = Random(one.text)

        def parted(found: re.Match[str]) -> str:
            length = int(found[1])
            bound = own.randint(max(1, 2 * length // 3), length - 1) if length > 1 else 0
            return f"WITHIN {bound} s WINDOW {length} s{found[2]};" if bound else found[0]

        return replace(one, text=re.sub(r"WITHIN (\d+) s((?: SLIDE \d+ s)?(?: OFFSET -?\d+ s)?);", parted, one.text))

    return made


KINDS: dict[str, Make] = {
    "conditions on single events": cases(match=False, select="ANY", pairs=False),
    "conditions over several variables": cases(match=False, select="ANY", pairs=True),
    "SELECT NEXT": cases(match=False, select="NEXT"),
    "SELECT CONTIGUOUS": cases(match=False, select="CONTIGUOUS"),
    "several queries": cases(match=False, size=3),
}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_the_oracles(kind: str) -> None:
    hold(f"short matches: {kind}", of_short_matches(KINDS[kind]), lambda case, _: compare(case, interpreted=True))


WAYS: dict[str, Callable[[Case, Random], Seen]] = {
    "in machine code": lambda case, _: compare(case),
    "on threads": on_threads,
    "in parts on disk": in_parts,
    "large groups in pieces": with_large_groups,
}


@pytest.mark.parametrize("way", WAYS)
def test_rows_are_the_same(way: str) -> None:
    hold(f"short matches {way}", of_short_matches(cases(match=False)), WAYS[way], cases=30, tested=2)


def test_rows_of_a_stream_are_those_of_a_batch() -> None:
    hold("stream: short matches", streamed(of_short_matches(cases(match=False))), check)


@pytest.mark.parametrize(
    ("pattern", "events", "rows"),
    [
        ("SEQ(A, B)", "1A 5B 6B", [1]),
        ("SEQ(A, B, NOT C)", "1A 2B 40C 61A 62B 70A 71B", [2]),
        ("SEQ(A, B, NOT SEQ(C, C last))", "1A 2B 10C 40C 61A 62B 63C", [1]),
        ("SEQ(NOT C, A, B)", "1C 50A 51B 70A 71B 72C", [1]),
        ("SEQ(NOT SEQ(C, C last), A, B)", "1C 40C 50A 51B 61C 70A 71B", [1]),
        ("SEQ(A, B, NOT C WITHIN 3 s)", "1A 2B 10C 20A 21B 23C", [1]),
        ("AND(A, B, NOT C)", "1A 2B 40C 61A 62B", [1]),
    ],
)
def test_a_not_at_the_ends_of_a_pattern_reaches_to_the_edges_of_the_window(
    pattern: str, events: str, rows: list[int]
) -> None:
    text = f"{STREAM}QUERY q RETURN COUNT(*) AS n PATTERN {pattern} WITHIN 5 s WINDOW 60 s;"
    found = tuple({"at": int(event[:-1]), "kind": event[-1], "k": 1, "x": 1} for event in events.split())
    compare(Case(text, found))
    assert [row["n"] for row in by_engine(Case(text, found), compile_text(text))["q"]] == rows  # type: ignore[index]


# ---- what is decided -------------------------------------------------------------------------------------------------


def window_of(text: str) -> object:
    (query,) = compile_text(f"{STREAM}QUERY q RETURN COUNT(*) AS n {text};").plan.queries
    return query.window


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("PATTERN SEQ(A, B) WITHIN 5 s WINDOW 60 s", Sliding(60, 60, 0, 5)),
        ("PATTERN SEQ(A, B) WINDOW 60 s SLIDE 30 s OFFSET 7 s WITHIN 5 s", Sliding(60, 30, 7, 5)),
        ("PATTERN A+ WITHIN 59 s WINDOW 1 min", Sliding(60, 60, 0, 59)),
        ("PATTERN A WITHIN 5 s WINDOW 60 s", Sliding(60, 60)),
        ("PATTERN SEQ(A, B) WINDOW 60 s", Sliding(60, 60)),
    ],
)
def test_windows_and_the_bound_of_a_match(text: str, window: Sliding) -> None:
    assert window_of(text) == window


def test_only_where_a_match_is_bounded_are_matches_listed() -> None:
    text = "QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A, B) WITHIN {};"
    strategies = [
        compile_text(STREAM + text.format(window)).plan.queries[0].strategy for window in ("5 s WINDOW 60 s", "60 s")
    ]
    assert [isinstance(strategy, List) for strategy in strategies] == [True, False]


@pytest.mark.parametrize(
    ("written", "formatted"),
    [
        ("window 60 s slide 30 s within 5 s", "WITHIN   5 SECONDS WINDOW 60 SECONDS SLIDE 30 SECONDS;"),
        ("within 5 s window 60 s offset -2 s", "WITHIN   5 SECONDS WINDOW 60 SECONDS OFFSET -2 SECONDS;"),
    ],
)
def test_it_is_formatted_in_one_order(written: str, formatted: str) -> None:
    text = format_source(Source("q.cep", f"{STREAM}QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A, B) {written};"))
    assert isinstance(text, str)
    assert text.splitlines()[-1].strip() == formatted
    assert format_source(Source("q.cep", text)) == text


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("PATTERN SEQ(A, B) WITHIN 60 s WINDOW 60 s", "E0523", "= help: leave WINDOW out: `WITHIN 60 SECONDS`"),
        (
            "PATTERN SEQ(A, B) WITHIN 61 s WINDOW 60 s",
            "E0523",
            "swap the two, or leave WINDOW out: `WITHIN 60 SECONDS`",
        ),
        ("PATTERN SEQ(A, B) WITHIN 2 min WINDOW 60 s SLIDE 5 s", "E0523", "WITHIN is not shorter than WINDOW"),
        ("PATTERN SEQ(A, B) WITHIN 5 s SLIDE 1 s WINDOW 60 s", "E0523", "SLIDE and OFFSET are of the windows"),
        ("PATTERN SEQ(A, B) WITHIN 5 s WINDOW UNBOUNDED", "E0523", "a duration each"),
        ("PATTERN SEQ(A, B) WITHIN SESSION 5 s WINDOW 60 s", "E0523", "a duration each"),
        ("PATTERN SEQ(A, B) WITHIN 5 s WINDOW SESSION 60 s", "E0523", "a duration each"),
        ("PATTERN SEQ(A, B) WITHIN 5 s WINDOW 2 d SLIDE 1 s", "E0514", "use a longer SLIDE or a shorter WINDOW"),
        ("PATTERN SEQ(A, B) WITHIN 1.5 s WINDOW 60 s", "E0509", "60"),
    ],
)
def test_what_is_refused(text: str, code: str, said: str) -> None:
    checked = check_text(f"{STREAM}QUERY q RETURN COUNT(*) AS n {text};")
    assert [d.code for d in checked.diagnostics if d.severity == "error"] == [code]
    assert said in checked.text()


def test_a_match_query_has_no_windows() -> None:
    checked = check_text(f"{STREAM}QUERY q RETURN MATCH A.k PATTERN SEQ(A, B) WITHIN 5 s WINDOW 60 s;")
    assert "error[E0505]: WINDOW in a match query" in checked.text()


# ---- Spark -----------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_rows_of_a_batch_of_spark_are_the_oracles(spark: SparkSession, tmp_path: Path) -> None:
    assert agree(spark, of_short_matches(cases(match=False, size=2))(Random(3)), tmp_path / "events").rows
