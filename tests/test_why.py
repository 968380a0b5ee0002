"""`cepc why`: what is behind a row and what stopped it, on events small enough to see it."""

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, reject

import cepc
from cepc.cli import cepc as command
from cepc.compiled_program import Compiled
from cepc.model import Stream
from cepc.reading.read import Read
from cepc.running.given import read_given
from cepc.why.report import why
from cepc.why.scope import RowScope
from cepc_runtime.plan.stream import StreamPlan
from cepc_runtime.sql.types import to_arrow
from tests.programs import Case, cases, drawn
from tests.test_examples import EXAMPLES, NAMES, QUERIES, generate

STREAM = """\
STREAM rides (at BIGINT, kind STRING, driver INT, minutes INT)
EVENT TIME at UNIT s
EVENT TYPE kind IN ('P', 'T', 'D', 'X');
"""


def asked(query: str, events: str, *arguments: str) -> str:
    """What `cepc why` says of a query over events written as `5 T 7 3`: time, type, driver, minutes."""
    Path("q.cep").write_text(f"{STREAM}QUERY q {query};\n")
    lines = [line.split() for line in events.strip().splitlines()]
    rows = "".join(",".join("" if cell == "-" else cell for cell in [*line, "-"][:4]) + "\n" for line in lines)
    Path("e.csv").write_text("at,kind,driver,minutes\n" + rows)
    result = run("q.cep", "--events", "e.csv", "--query", "q", *arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, ["why", *arguments])


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# ---- a row that is there

COUNTED = "RETURN driver, COUNT(*) AS n PATTERN SEQ(P, T+, D) WHERE [driver] AND T.minutes > 1 GROUP BY driver"


def test_a_row_of_an_aggregate_query_comes_from_its_matches() -> None:
    text = asked(f"{COUNTED} WITHIN 10 s SLIDE 10 s", "1 P 7\n2 T 7 2\n3 T 7 3\n4 D 7\n5 T 8 9")
    assert (
        text
        == """\
q: there is a row for driver = 7, in the window from 0 to 10.

  driver = 7, n = 3, window_start = 0, window_end = 10

It comes from 3 matches:

    1  P  driver = 7, minutes = NULL
    2  T  driver = 7, minutes = 2
    4  D  driver = 7, minutes = NULL
      T.minutes > 1:  2 > 1

    1  P  driver = 7, minutes = NULL
    3  T  driver = 7, minutes = 3
    4  D  driver = 7, minutes = NULL
      T.minutes > 1:  3 > 1

    1  P  driver = 7, minutes = NULL
    2  T  driver = 7, minutes = 2
    3  T  driver = 7, minutes = 3
    4  D  driver = 7, minutes = NULL
      T.minutes > 1:  2 > 1, 3 > 1
"""
    )


def test_a_row_of_a_match_query_is_a_match_with_what_it_returns() -> None:
    text = asked(
        "RETURN MATCH p.at AS began, COUNT(t) AS legs PATTERN SEQ(P p, T+ t) WHERE t.minutes > PREV(t).minutes WITHIN 9 s",
        "1 P 7\n2 T 7 2\n3 T 8 5", "--limit", "1",
    )  # fmt: skip
    assert text.startswith("q: there is more than one row; the first is this:\n\n  began = 1, legs = 1\n\n    1  p (P)")
    text = asked(
        "RETURN MATCH COUNT(t) AS legs PATTERN SEQ(P p, T{2,} t) WHERE t.minutes > PREV(t).minutes WITHIN 9 s",
        "1 P 7\n2 T 7 2\n3 T 8 5",
    )
    assert (
        text
        == """\
q: there is a row.

  legs = 2

    1  p (P)  minutes = NULL
    2  t (T)  minutes = 2
    3  t (T)  minutes = 5
      t.minutes > PREV(t).minutes:  5 > 2
"""
    )


def test_a_group_and_a_window_choose_the_row() -> None:
    events = "1 P 7\n2 T 7 2\n3 D 7\n11 P 8\n12 T 8 2\n13 D 8"
    first = asked(f"{COUNTED} WITHIN 10 s SLIDE 10 s", events)
    assert "driver = 7" in first
    assert "There is 1 more row; --group and --window choose one." in first
    for arguments in (["--group", "driver=8"], ["--window", "10"], ["--group", "driver=8", "--window", "10"]):
        text = asked(f"{COUNTED} WITHIN 10 s SLIDE 10 s", events, *arguments)
        assert text.startswith("q: there is a row for driver = 8, in the window from 10 to 20.")


def test_the_matches_of_a_row_are_those_of_its_window_whatever_surrounds_it() -> None:
    text = asked("RETURN COUNT(*) AS n PATTERN SEQ(NOT X x, P) WITHIN 10 s SLIDE 10 s", "9 X 7\n11 P 7\n12 X 7\n13 P 7")
    assert "It comes from 1 match:\n\n    11  P\n" in text


def test_the_short_matches_of_a_long_window_are_shown_and_what_takes_too_long() -> None:
    counted = "RETURN COUNT(*) AS n PATTERN SEQ(P, NOT X, D) WITHIN 5 s WINDOW 60 s SLIDE 30 s"
    text = asked(counted, "1 P 7\n4 D 7\n6 D 7\n40 P 7\n44 D 7", "--window", "0")
    assert "It comes from 2 matches:\n\n    1  P\n    4  D\n\n    40  P\n    44  D\n" in text
    ends = counted.replace("NOT X, D", "NOT X WITHIN 2 s, D, NOT X last")
    text = asked(ends, "1 P 7\n4 D 7\n40 P 7\n44 D 7\n58 X 7\n95 X 7", "--window", "-30")
    assert "It comes from 1 match:\n\n    1  P\n    4  D\n" in text
    text = asked(counted, "1 P 7\n6 D 7\n40 P 7\n47 D 7")
    assert "there is no row" in text
    assert "it takes 5 seconds" in text


def test_having_is_shown_with_its_values() -> None:
    text = asked(
        f"{COUNTED} HAVING COUNT(*) > 1 AND driver < 9 WITHIN 10 s SLIDE 10 s", "1 P 7\n2 T 7 2\n3 T 7 3\n4 D 7"
    )
    assert "  HAVING COUNT(*) > 1 AND driver < 9:  3 > 1 AND 7 < 9\n" in text.replace("(", "").replace(")", "").replace(
        "COUNT*", "COUNT(*)"
    )


# ---- no row: the nearest match, and the one thing that stopped it


@pytest.mark.parametrize(
    ("query", "events", "parts"),
    [
        (
            f"{COUNTED} WITHIN 10 s SLIDE 10 s", "1 P 7\n2 T 7 1\n3 D 7",
            ["stopped by the condition T.minutes > 1.\n    1 > 1 is not true, for T at 2\n"],
        ),
        (
            "RETURN p.at PATTERN SEQ(P p, D d) WHERE p.minutes < d.minutes WITHIN 9 s", "1 P 7 5\n2 D 7 4",
            ["stopped by the condition p.minutes < d.minutes.\n    5 < 4 is not true, for P at 1, D at 2\n"],
        ),
        (
            "RETURN p.at PATTERN SEQ(P p, D d) WHERE p.minutes < d.minutes WITHIN 9 s", "1 P 7 5\n2 D 7 -",
            ["    5 < NULL is not true"],
        ),
        (
            "RETURN p.at PATTERN SEQ(P p, D d) WHERE 1 / d.minutes > 2 WITHIN 9 s", "1 P 7 5\n2 D 7 1",
            ["stopped by the condition 1 / d.minutes > 2.\n    1 / 1 > 2 is not true, for D at 2"],
        ),
        (
            "RETURN p.at PATTERN SEQ(P p, T{3} t) WHERE t.minutes > PREV(t).minutes WITHIN 9 s",
            "1 P 7\n2 T 7 5\n3 T 7 4\n4 T 7 3",
            ["    4 > 5 is not true, for T at 3, T at 2\n    3 > 4 is not true"],
        ),
        (
            "RETURN p.at PATTERN SEQ(P p, NOT X x, D d) WHERE [driver] WITHIN 9 s",
            "1 P 7\n2 X 8\n3 X 7\n4 D 7", ["stopped by NOT X x.\n    this came: 3  X  driver = 7\n"],
        ),
        (
            "RETURN p.at PATTERN SEQ(P p, NOT SEQ(X x, T t), D d) WITHIN 9 s",
            "1 P 7\n2 T 7\n3 X 7\n4 T 7\n5 D 7",
            ["stopped by NOT SEQ(X x, T t).\n    this came: 3  X\n    this came: 4  T\n"],
        ),
        (
            "RETURN p.at PATTERN SEQ(P p, NOT X x WITHIN 5 s) WHERE x.minutes > p.minutes WITHIN 9 s",
            "1 P 7 3\n2 X 7 2\n3 X 7 4", ["stopped by NOT X x WITHIN 5 seconds.\n    this came: 3  X  minutes = 4\n"],
        ),
        (
            "RETURN COUNT(*) AS n PATTERN SEQ(P, D) WITHIN 10 s SLIDE 10 s", "1 P 7\n15 D 7",
            ["stopped by WITHIN 10 seconds.\n    from its first event to its last it takes 14 seconds\n"],
        ),
        (
            "RETURN COUNT(*) AS n PATTERN SEQ(P, D) WITHIN 10 s SLIDE 10 s", "8 P 7\n12 D 7",
            ["it takes 4 seconds\n    no window holds all of it; with a smaller SLIDE there are more windows\n"],
        ),
        (
            "RETURN p.at PATTERN SEQ(P p, D d) WITHIN 5 s", "1 P 7\n6 D 7",
            ["stopped by WITHIN 5 seconds.\n    from its first event to its last it takes 5 seconds\n"],
        ),
        (
            "RETURN p.at PATTERN SEQ(P p, D d) WHERE [driver] SELECT CONTIGUOUS WITHIN 5 s",
            "1 P 7\n2 X 8\n3 X 7\n4 D 7", ["stopped by SELECT CONTIGUOUS.\n    this may not be skipped: 3  X  driver = 7\n"],
        ),
        (
            "RETURN p.at PATTERN SEQ(CONTIGUOUS(P p, T t), D d) WHERE [driver] WITHIN 9 s",
            "1 P 7\n2 X 8\n3 X 7\n4 T 7\n5 X 7\n6 D 7",
            ["stopped by CONTIGUOUS(P p, T t).\n    this may not be skipped: 3  X  driver = 7\n"],
        ),
        (
            "RETURN p.at PATTERN SEQ(P p, D d) WHERE p.minutes = 1 AND d.minutes = 2 SELECT NEXT WITHIN 5 s",
            "1 P 7 3\n2 P 7 1\n3 D 7 2\n", ["q: there is a row."],
        ),
        (
            "RETURN p.at PATTERN SEQ(P p, T t, D d) WHERE t.minutes < d.minutes SELECT NEXT WITHIN 9 s",
            "1 P 7\n2 T 7 9\n3 T 7 1\n4 D 7 2",
            ["stopped by the condition t.minutes < d.minutes.\n    9 < 2", "without SELECT NEXT."],
        ),
    ],
)  # fmt: skip
def test_the_nearest_match_is_shown_with_what_stopped_it(query: str, events: str, parts: list[str]) -> None:
    text = asked(query, events)
    for part in parts:
        assert part in text, text


def test_where_one_thing_does_not_suffice_the_least_that_does_is_named() -> None:
    text = asked("RETURN p.at PATTERN SEQ(P p, NOT X x, D d) WHERE d.minutes > 3 WITHIN 9 s", "1 P 7\n2 X 7\n3 D 7 2")
    assert (
        "It is stopped by 2 things together:\n  the condition d.minutes > 3\n    2 > 3 is not true, for D at 3\n"
        in text
    )
    assert "  NOT X x\n    this came: 2  X" in text


def test_whatever_else_would_have_sufficed_is_named() -> None:
    text = asked(
        "RETURN p.at PATTERN SEQ(P p, NOT X x, D d) WHERE d.minutes > 1 WITHIN 9 s", "1 P 7\n2 D 7 1\n3 X 7\n4 D 7 2"
    )
    assert "stopped by the condition d.minutes > 1.\n    1 > 1 is not true, for D at 2" in text
    assert "There would also be a match without NOT X x." in text


def test_a_match_that_after_match_went_past_is_told_from_the_one_that_was_taken() -> None:
    events = "1 P 7 1\n2 T 7 1\n3 P 7 2\n4 T 7 2"
    query = "RETURN MATCH p.at AS p PATTERN SEQ(P p, T+ t) SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN 9 s"
    assert "there is a row" in asked(query, events, "--window", "1")
    text = asked(query, events, "--window", "3")
    assert "q, matches that begin at 3: there is no row." in text
    assert "stopped by AFTER MATCH SKIP PAST LAST EVENT.\n    an earlier match is gone on from: P at 1, T at 2" in text


def test_a_session_is_a_row_and_what_lies_in_two_is_told() -> None:
    query = "RETURN driver, COUNT(*) AS n PATTERN SEQ(P, T) GROUP BY driver WITHIN SESSION 5 s"
    events = "1 P 7 1\n5 T 7 1\n10 T 7 1\n11 P 7 1\n13 T 8 1"
    text = asked(query, events, "--group", "driver=7")
    assert "there is a row for driver = 7, in the session from 1 on." in text
    assert "window_start = 1, window_end = 10" in text
    assert "It comes from 1 match:" in text
    text = asked(query, events, "--window", "10")
    assert "The pattern came as far as this:" in text
    text = asked(query.replace("SEQ(P, T)", "SEQ(P, T, T t2, P p2)"), events)
    assert (
        "It is stopped by WITHIN SESSION 5 seconds.\n    its events are in the sessions that begin at 1 and 10" in text
    )


def test_why_tells_the_number_of_a_match() -> None:
    events = "1 P 7 1\n2 T 7 1\n3 P 7 2\n4 T 7 2\n4 P 8 2\n5 T 8 2"
    query = "RETURN MATCH driver, MATCH_NUMBER() AS n PATTERN SEQ(P p, T t) WHERE [driver] SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT"
    assert "driver = 7, n = 2\n" in asked(f"{query} WITHIN 9 s", events, "--window", "3")
    assert "driver = 8, n = 1\n" in asked(f"{query} WITHIN 9 s", events, "--window", "4")
    dropped = asked(f"{query} HAVING MATCH_NUMBER() < 2 WITHIN 9 s", events, "--window", "3")
    assert "HAVING MATCH_NUMBER() < 2:  2 < 2" in dropped


def test_a_match_that_begins_in_the_silence_after_another_is_told_which_one() -> None:
    query = "RETURN MATCH p.at AS p PATTERN SEQ(P p, T t) SELECT NEXT AFTER MATCH SKIP FOR 1 MINUTE WITHIN 9 s"
    text = asked(query, "1 P 7 1\n2 T 7 1\n60 P 7 2\n61 T 7 2\n62 P 7 2\n63 T 7 2", "--window", "60")
    assert "stopped by AFTER MATCH SKIP FOR 1 minute.\n" in text
    assert "    it begins less than 1 minute after the end of an earlier match: P at 1, T at 2" in text


@pytest.mark.parametrize(
    ("query", "events", "start", "taken"),
    [
        ("SEQ(P+ p, D d) SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT",
         "1 P 7\n2 D 7\n3 P 7\n4 D 7\n5 P 7\n6 P 7\n7 D 7", "6", "P at 5, P at 6, D at 7"),
        ("SEQ(P+ p, D d) SELECT CONTIGUOUS AFTER MATCH SKIP TO LAST p",
         "1 P 7\n2 D 7\n3 P 7\n4 P 7\n5 P 7\n6 D 7", "4", "P at 3, P at 4, P at 5, D at 6"),
        ("SEQ(P+ p, D d) WHERE [driver] SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT",
         "1 P 7\n2 D 7\n3 P 7\n4 P 8\n5 P 7\n6 D 8\n7 D 7", "5", "P at 3, P at 5, D at 7"),
    ],
)  # fmt: skip
def test_the_earlier_match_is_the_last_before_the_one_that_is_asked_about(
    query: str, events: str, start: str, taken: str
) -> None:
    text = asked(f"RETURN MATCH COUNT(p) AS n PATTERN {query} WITHIN 1 MINUTE", events, "--window", start)
    assert f"an earlier match is gone on from: {taken}\n" in text


@pytest.mark.parametrize(
    ("events", "start", "text"),
    [
        ("1 P 7\n4 P 7\n5 D 7", "3", "No match begins then; the nearest times at which one could begin are 1 and 4."),
        ("1 P 7\n4 P 7\n5 D 7", "5", "No match begins then; the nearest time at which one could begin is 4."),
        ("1 X 7\n4 P 7 1\n5 D 7", "0", "No match begins then; the nearest time at which one could begin is 4."),
        ("1 P 7\n3 P 8\n4 P 7\n5 D 7", "3", "as far as this:\n\n    3  P  driver = 8\n\nThen D is awaited"),
        ("1 P 7\n4 X 7", "4", "No match begins then; the nearest time at which one could begin is 1."),
        (
            "1 X 7\n4 D 7",
            "4",
            "The pattern does not even begin.\nP is awaited, and none comes: there is none among all",
        ),
    ],
)
def test_a_match_query_asked_about_a_time_at_which_none_begins_says_when_one_could(
    events: str, start: str, text: str
) -> None:
    said = asked("RETURN MATCH P.at AS x PATTERN SEQ(P, D) WHERE [driver] WITHIN 9 s", events, "--window", start)
    assert f"q, matches that begin at {start}: there is no row.\n\n" in said
    assert text in said


@pytest.mark.parametrize(
    "query", ["RETURN driver, COUNT(*) AS n", "RETURN MATCH driver, P.at AS at"], ids=["aggregate", "match"]
)
def test_having_that_is_not_true_is_shown_with_its_values(query: str) -> None:
    group = "GROUP BY driver" if "COUNT" in query else ""
    having = "HAVING COUNT(*) > 5"
    within = "WITHIN 9 s" if not group else "WITHIN 9 s SLIDE 9 s"
    text = asked(f"{query} PATTERN SEQ(P, T) WHERE [driver] {group} {having} {within}", "1 P 7\n2 T 7 2")
    assert "there is no row" in text
    assert "because HAVING is not true" in text
    assert f"  HAVING COUNT(*) > 5:  {1 if group else 2} > 5\n" in text


def test_iterations_of_a_named_pattern_are_not_mixed_up() -> None:
    Path("p.cep").write_text(
        f"{STREAM}PATTERN leg AS SEQ(P p, T t) WHERE p.minutes < t.minutes;\n"
        "QUERY q RETURN COUNT(p) AS n PATTERN leg{2} WITHIN 9 s;\n"
    )
    Path("e.csv").write_text("at,kind,driver,minutes\n1,P,7,1\n2,T,7,2\n3,P,7,5\n4,T,7,4\n")
    text = run("p.cep", "--events", "e.csv", "--query", "q").stdout
    assert "stopped by the condition p.minutes < t.minutes of the pattern leg." in text
    assert "it is not true in each iteration of the pattern" in text


# ---- no row: the pattern is not completed


@pytest.mark.parametrize(
    ("events", "end"),
    [
        ("1 T 7 5", "The pattern does not even begin.\nP is awaited, and none comes: there is none among all events.\n"),
        ("1 P 8\n2 T 7 5", "P is awaited, and none comes in this group: the next is of driver = 8, at 1.\n"),
        ("1 P 7", "Then T is awaited, and none comes: there is none among all events.\n"),
        ("1 T 7 5\n2 P 7", "Then T is awaited, and none comes later: all are earlier.\n"),
        (
            "1 T 7 5\n2 P 7\n2 T 7 5\n2 T 8 5",
            (
                "Then T is awaited, and none comes later: one comes at the same time, and what has one time has no "
                "order; `EVENT TIME at ORDER BY` another column gives it one.\n"
            ),
        ),
        ("1 T 7 5\n2 P 7\n2 T 8 5", "Then T is awaited, and none comes later: all are earlier.\n"),
        ("1 P 7\n2 T 7 5\n3 D 8", "none comes in this group: the next is of driver = 8, at 3.\n"),
        (
            "1 P 7\n2 T 7 1\n3 T 7 0",
            (
                "Then T is awaited; of 2 that come, none passes:\n"
                "    2  T  driver = 7, minutes = 1\n      T.minutes > 1 is not true: 1 > 1\n"
                "    3  T  driver = 7, minutes = 0\n      T.minutes > 1 is not true: 0 > 1\n"
            ),
        ),
    ],
)  # fmt: skip
def test_how_far_the_pattern_came_and_what_it_waits_for(events: str, end: str) -> None:
    text = asked(f"{COUNTED} WITHIN 10 s SLIDE 10 s", events, "--group", "driver=7")
    assert text.startswith("q, driver = 7: there is no row.\n")
    assert text.endswith(end), text


def test_what_has_an_order_in_one_time_is_not_at_the_same_time() -> None:
    Path("q.cep").write_text(
        f"{STREAM.replace('UNIT s', 'UNIT s ORDER BY minutes')}QUERY q RETURN P.at AS x PATTERN SEQ(P, T) WITHIN 9 s;"
    )
    Path("e.csv").write_text("at,kind,driver,minutes\n1,P,7,2\n1,T,7,1\n")
    assert "none comes later: all are earlier.\n" in run("q.cep", "--events", "e.csv").stdout


def test_what_comes_after_the_window_is_not_in_time() -> None:
    events = "1 P 7\n2 T 7 5\n12 D 7\n21 P 7\n22 T 7 4\n23 D 7"
    text = asked(f"{COUNTED} WITHIN 10 s SLIDE 10 s", events, "--window", "0")
    assert "Then D is awaited, and none comes in time: the next is at 12.\n" in text
    assert text.endswith("There are rows in the windows that begin at 20.\n")


@pytest.mark.parametrize(
    ("events", "group", "end"),
    [
        ("1 P 7\n12 T 7 5", [], "P is awaited, and none comes in the window: the last before it is at 1."),
        ("1 P 7\n3 P 7\n12 T 7 5", [], "P is awaited, and none comes in the window: the last before it is at 3."),
        ("1 P 7\n12 T 7 5\n21 P 7", [], "P is awaited, and none comes in time: the next is at 21."),
        ("1 P 8\n12 T 7 5", ["--group", "driver=7"],
         "P is awaited, and none comes in this group: the last before 10 is of driver = 8, at 1."),
        ("1 P 8\n12 T 7 5\n13 P 8", ["--group", "driver=7"],
         "P is awaited, and none comes in this group: the next is of driver = 8, at 13."),
        ("1 P 7\n12 T 7 5\n13 P 8", ["--group", "driver=7"],
         "P is awaited, and none comes in the window: the last before it is at 1."),
        ("1 T 7 5\n12 P 7", [], "Then T is awaited, and none comes later: all are earlier."),
    ],
)  # fmt: skip
def test_what_comes_before_the_window_is_not_the_next(events: str, group: list[str], end: str) -> None:
    text = asked(f"{COUNTED} WITHIN 10 s SLIDE 10 s", events, "--window", "10", *group)
    assert text.endswith(f"{end}\n"), text


def test_events_that_are_none_are_mentioned() -> None:
    assert asked(f"{COUNTED} WITHIN 10 s SLIDE 10 s", "1 P 7\n- T 7 5\n2 - 7\n3 - 7").endswith(
        "1 event without a time was dropped.\n2 events without a type were dropped.\n"
    )


def test_an_equality_with_a_constant_is_shown_without_its_values() -> None:
    said = asked(
        "RETURN p.at PATTERN SEQ(P p, D d) WHERE p.kind = 'P' AND d.minutes > 0.5 WITHIN 9 s", "1 P 7 5\n2 D 7 1"
    )
    assert said.endswith("\n      p.kind = 'P'\n      d.minutes > 0.5:  1 > 0.5\n")


def test_the_query_need_not_be_named_where_there_is_one() -> None:
    said = asked("RETURN p.at PATTERN SEQ(P p, D d) WITHIN 9 s", "1 P 7 5\n2 D 7 1")
    assert run("q.cep", "--events", "e.csv").stdout == said
    with Path("q.cep").open("a") as file:
        file.write("QUERY r RETURN p.at PATTERN P p WITHIN 9 s;")
    result = run("q.cep", "--events", "e.csv")
    assert result.exit_code == 2
    assert "which query? Say it with --query: `q`, `r`" in result.stderr


def test_a_group_without_events_has_no_row() -> None:
    text = asked(f"{COUNTED} WITHIN 10 s SLIDE 10 s", "1 P 7\n2 T 8 5", "--group", "driver=9")
    assert (
        text
        == """\
q, driver = 9: there is no row, because no event that it looks at has driver = 9.
There are some with driver = 7, 8.
"""
    )


@pytest.mark.parametrize(
    ("events", "part"),
    [
        ("1 D 7\n2 D 8", "None has a type of the pattern.\n"),
        ("1 D 7\n2 - 8", "None has a type of the pattern.\n"),
        ("", "\n\nThere are no events.\n"),
        ("- P 7", "\n1 event without a time was dropped.\n"),
    ],
)
def test_a_group_without_events_where_nothing_is_looked_at_lists_no_others(events: str, part: str) -> None:
    text = asked("RETURN P.at AS x PATTERN SEQ(P, T) WHERE [driver] WITHIN 9 s", events, "--group", "driver=7")
    assert text.startswith("q, driver = 7: there is no row, because no event that it looks at has driver = 7.\n")
    assert part in text
    assert "There are some with" not in text
    assert ("None has" in text) == ("None has" in part)


KEYS: dict[str, tuple[Any, str]] = {
    "BINARY": (b"\x01\xff", "Af8="),
    "STRUCT<id: INT, name: STRING>": ({"id": 1, "name": "u"}, '{"id":1,"name":"u"}'),
    "STRUCT<d: DECIMAL(4, 2), x: FLOAT, b: BINARY, at: TIMESTAMP>": (
        {"d": Decimal("1.50"), "x": 0.1, "b": b"", "at": datetime(2026, 1, 1, tzinfo=UTC)},
        '{"d":1.50,"x":0.1,"b":"","at":"2026-01-01T00:00:00Z"}',
    ),
    "ARRAY<INT>": ([2, None], "[2,null]"),
    "ARRAY<DOUBLE>": ([float("nan"), 0.1], '["NaN",0.1]'),
    "ARRAY<INTERVAL>": ([timedelta(seconds=5)], "[\"INTERVAL '0 00:00:05' DAY TO SECOND\"]"),
    "INTERVAL": (-timedelta(seconds=1.5), "INTERVAL '-0 00:00:01.5' DAY TO SECOND"),
    "STRING": ("N", "N"),
    "BOOLEAN": (True, "true"),
    "DOUBLE": (float("-inf"), "-Infinity"),
    "FLOAT": (1e30, "1.0E30"),
    "DECIMAL(5, 2)": (Decimal("-1.50"), "-1.50"),
    "DATE": (date(2026, 1, 31), "2026-01-31"),
    "TIMESTAMP": (datetime(2026, 1, 1, 0, 0, 1, 5, UTC), "2026-01-01 00:00:01.000005"),
    "TIMESTAMP_NTZ": (datetime(2026, 1, 1), "2026-01-01 00:00:00"),
}
"""Values of keys and how they are shown: by type, as a STREAM has it."""
EMPTY: dict[str, tuple[Any, str]] = {"BINARY": (b"", "''"), "ARRAY<INT>": ([], "[]")}


def of_key(type_: str, values: list[Any], *group: str) -> Result:
    """About the group of a key of the type, where each of these has a row."""
    Path("q.cep").write_text(
        f"STREAM s (at BIGINT, kind STRING, v {type_}) EVENT TIME at UNIT s EVENT TYPE kind IN ('A');"
        "QUERY q RETURN v, COUNT(*) AS n PATTERN A GROUP BY v WITHIN 10 s SLIDE 10 s;"
    )
    of = to_arrow(cepc.compile("q.cep").program.streams[0].column_types["v"])
    n = len(values)
    pq.write_table(pa.table({"at": pa.array(range(n)), "kind": ["A"] * n, "v": pa.array(values, of)}), "e.parquet")
    return run("q.cep", "--events", "e.parquet", *(word for text in group for word in ("--group", text)))


@pytest.mark.parametrize(("type_", "value", "shown"), [(t, *v) for all_ in (KEYS, EMPTY) for t, v in all_.items()])
def test_a_group_is_written_as_it_is_shown(type_: str, value: Any, shown: str) -> None:
    said = f"'{shown}'" if type_ == "STRING" else shown
    assert f"q: there is a row for v = {said}, in" in of_key(type_, [None, value], f"v={shown}").stdout
    assert "q: there is a row for v = NULL, in" in of_key(type_, [value, None], "v=NULL").stdout
    none = of_key(type_, [value], "v=NULL").stdout
    assert none.startswith("q, v = NULL: there is no row, because no event that it looks at has v = NULL.\n"), none
    assert none.endswith(f"There are some with v = {said}.\n"), none


@pytest.mark.parametrize("type_", ["BINARY", "STRING"])
def test_a_group_of_nothing_is_one_of_an_empty_value(type_: str) -> None:
    assert "there is a row for v = '', in" in of_key(type_, [None, b"" if type_ == "BINARY" else ""], "v=").stdout


@pytest.mark.parametrize(
    ("type_", "text", "sentence"),
    [
        ("BINARY", "Af8", "`Af8` is no BINARY, which `v` is: binary values are base64"),
        ("ARRAY<INT>", "[2", "`[2` is no ARRAY<INT>, which `v` is; write it as JSON, as in the rows of `cepc run`"),
        ("ARRAY<INT>", '["x"]', '`["x"]` is no ARRAY<INT>, which `v` is; write it as JSON'),
        ("ARRAY<INT>", "[99999999999]", "which `v` is: it does not fit; write it as JSON"),
        ("STRUCT<id: INT>", "None", "`None` is no STRUCT<`id`: INT>, which `v` is; write it as JSON"),
        ("ARRAY<INT>", "[" * 100_000, "is no ARRAY<INT>, which `v` is; write it as JSON"),
        (
            "INTERVAL", "1 hour",
            "`1 hour` is no INTERVAL DAY TO SECOND, which `v` is; write it as INTERVAL '1 02:03:04.5' DAY TO SECOND",
        ),
    ],
)  # fmt: skip
def test_a_group_that_is_no_value_of_its_type_says_how_one_is_written(type_: str, text: str, sentence: str) -> None:
    result = of_key(type_, [None], f"v={text}")
    assert result.exit_code == 2
    assert sentence in result.stderr


def test_an_interval_of_fewer_fields_is_written_with_all_or_with_its_own() -> None:
    Path("q.cep").write_text(
        "STREAM s (at BIGINT, kind STRING, v AS INTERVAL 90 MINUTES) EVENT TIME at UNIT s EVENT TYPE kind IN ('A');"
        "QUERY q RETURN v, COUNT(*) AS n PATTERN A GROUP BY v WITHIN 10 s SLIDE 10 s;"
    )
    Path("e.csv").write_text("at,kind\n1,A\n")
    for text in ("INTERVAL '0 01:30:00' DAY TO SECOND", "0 01:30:00", "90"):
        assert (
            "there is a row for v = INTERVAL '0 01:30:00'"
            in run("q.cep", "--events", "e.csv", "--group", f"v={text}").stdout
        )


WAYS = "RETURN COUNT(*) AS ways PATTERN SEQ(P, T) WHERE [driver]"
ONE_EACH = "1 P 7\n2 T 7\n3 P 8\n4 T 8\n5 T 8\n6 P 9"
PART = "A row is over every `driver`; of driver ="


@pytest.mark.parametrize(
    ("query", "driver", "parts"),
    [
        (f"{WAYS} WITHIN 10 s SLIDE 10 s", "7",
         ["q: there is a row, in the window from 0 to 10.", "  ways = 3, ", f"{PART} 7 it comes from 1 match:",
          "    1  P  driver = 7\n    2  T  driver = 7\n"]),
        (f"{WAYS} HAVING ways > 2 WITHIN 10 s SLIDE 10 s", "8",
         ["q: there is a row, in", "  ways = 3, ", "HAVING COUNT(*) > 2:  3 > 2", f"{PART} 8 it comes from 2 matches:"]),
        (f"{WAYS} HAVING ways < 3 WITHIN 10 s SLIDE 10 s", "7",
         ["q: there is no row, in the window from 0 to 10, because HAVING is not true.", "HAVING COUNT(*) < 3:  3 < 3",
          f"{PART} 7 it would come from 1 match:"]),
        (f"{WAYS} WITHIN 10 s SLIDE 10 s", "9",
         ["q, driver = 9: it has no match, and adds to no row.\n\nThe pattern came as far as this:"]),
        (f"{WAYS} WITHIN 10 s SLIDE 10 s", "5",
         ["q, driver = 5: it adds to no row, because no event that it looks at has driver = 5."]),
        (f"{WAYS} WITHIN 3 s SLIDE 3 s", "8", ["in the window from 3 to 6.", "  ways = 2, "]),
    ],
)  # fmt: skip
def test_a_group_of_a_column_by_which_there_are_no_rows_is_a_part_of_a_row(
    query: str, driver: str, parts: list[str]
) -> None:
    text = asked(query, ONE_EACH, "--group", f"driver={driver}")
    for part in parts:
        assert part in text, text


def test_tied_events_of_an_and_count_as_reached() -> None:
    text = asked("RETURN COUNT(*) AS n PATTERN SEQ(AND(P, T), D) WITHIN 10 s SLIDE 10 s", "1 P 7\n1 T 7 5")
    assert "    1  P\n    1  T\n\nThen D is awaited" in text


def test_a_not_whose_gap_ends_in_a_tie_keeps_a_match_from_standing() -> None:
    text = asked("RETURN COUNT(*) AS n PATTERN AND(P, SEQ(T, NOT X, D)) WITHIN 10 s", "1 T 7\n2 X 7\n3 P 7\n3 D 7")
    assert "no row" in text
    assert "NOT X" in text


# ---- the command


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--group", "drivr=7"], "`q` makes no groups by `drivr`; did you mean `driver`?"),
        (["--group", "driver"], "--group is written NAME=VALUE; `driver` has no `=`"),
        (["--group", "driver=7", "--group", "driver=8"], "--group names `driver` twice: a group has one value of it"),
        (["--group", "driver=x"], "`x` is no INT, which `driver` is"),
        (["--window", "soon"], "`soon` is no BIGINT, which --window is"),
        (["--window", "-3"], "no window of `q` starts then; the nearest start at -10 and 0"),
    ],
)
def test_what_is_asked_about_has_to_exist(arguments: list[str], part: str) -> None:
    asked(f"{COUNTED} WITHIN 10 s SLIDE 10 s", "1 P 7")
    result = run("q.cep", "--events", "e.csv", "--query", "q", *arguments)
    assert result.exit_code == 2
    assert part in result.stderr


def test_a_query_that_is_not_there_and_events_that_are_not_end_as_with_run() -> None:
    asked(f"{COUNTED} WITHIN 10 s SLIDE 10 s", "1 P 7")
    assert run("q.cep", "--events", "e.csv", "--query", "r").exit_code == 2
    result = run("q.cep", "--events", "none.csv", "--query", "q")
    assert result.exit_code == 2
    assert "E0701" in result.stderr


WITH_SUMS = STREAM.replace("minutes INT", "minutes INT, long BIGINT")
LARGEST = "9223372036854775807"
COMPARED = [
    ("MATCH COUNT(P) AS p", f"SUM(P.long) > {LARGEST}", "there is a row"),
    ("MATCH COUNT(P) AS p", "SUM(P.long) < 5", f"  {LARGEST} < 5"),
    ("COUNT(P) AS p", "SUM(P.long) > 5", "HAVING SUM(P.long) > 5:  18446744073709551632 > 5"),
    ("COUNT(P) AS p", "SUM(P.long) < 5 OR AVG(P.long) < 3", "18446744073709551632 < 5"),
]


@pytest.mark.parametrize(("returns", "having", "part"), COMPARED)
def test_having_compares_what_does_not_fit_as_in_a_run(returns: str, having: str, part: str) -> None:
    Path("q.cep").write_text(f"{WITH_SUMS} QUERY q RETURN {returns} PATTERN SEQ(P+, X) HAVING {having} WITHIN 9 s;")
    Path("e.csv").write_text(f"at,kind,driver,minutes,long\n1,P,0,7,{LARGEST}\n2,P,0,7,9\n5,X,0,1,1\n")
    result = run("q.cep", "--events", "e.csv")
    assert (result.exit_code, part in result.stdout) == (0, True), result.output


def test_more_partial_matches_than_can_be_looked_at() -> None:
    events = "\n".join(f"{i} {'PT'[i % 2]} 0 1" for i in range(2000))
    text = asked("RETURN MATCH D.at PATTERN SEQ(P p, T, D) WITHIN 900 s", events)
    assert text == "q: there are too many partial matches to look at; --group and --window narrow it down.\n"


NO_RESULT = [
    "RETURN MATCH P.minutes / T.minutes AS v PATTERN SEQ(P, T) WITHIN 9 s",
    "RETURN MATCH * PATTERN SEQ(P, T) WHERE 1 / T.minutes > 0 WITHIN 9 s",
    "RETURN MATCH * PATTERN SEQ(P, T) WHERE P.minutes / T.minutes > 0 WITHIN 9 s",
    "RETURN MATCH * PATTERN SEQ(P, T+) WHERE T.minutes / PREV(T).minutes > 0 WITHIN 9 s",
    "RETURN MATCH P.at PATTERN SEQ(P, T) HAVING P.minutes / T.minutes > 0 WITHIN 9 s",
    "RETURN MATCH SUM(P.long) AS s PATTERN SEQ(P+, X) WITHIN 9 s",
    "RETURN MATCH P.at PATTERN SEQ(P, T) HAVING SUM(P.long) / 0 > 1 WITHIN 9 s",
    "RETURN SUM(P.long) AS s PATTERN SEQ(P+, X) WITHIN 9 s",
    "RETURN COUNT(*) AS n PATTERN SEQ(P, T) WHERE P.minutes / T.minutes > 0 WITHIN 9 s",
    "RETURN SUM(P.minutes / P.driver) AS n PATTERN SEQ(P, T) WITHIN 9 s",
]


@pytest.mark.parametrize("query", NO_RESULT)
def test_a_query_that_has_no_result_ends_as_with_run(query: str) -> None:
    Path("q.cep").write_text(f"{WITH_SUMS} QUERY q {query};")
    Path("e.csv").write_text(
        f"at,kind,driver,minutes,long\n1,P,0,7,{LARGEST}\n2,T,0,0,1\n3,T,0,0,1\n4,P,0,7,9\n5,X,0,1,1\n"
    )
    ran = CliRunner().invoke(command, ["run", "q.cep", "--events", "e.csv"])
    asked = run("q.cep", "--events", "e.csv")
    assert (asked.exit_code, ran.exit_code) == (1, 1), asked.output
    assert re.findall(r"^error.*", asked.output, re.M) == re.findall(r"^error.*", ran.output, re.M)


@pytest.mark.parametrize(("name", "query"), [(name, query) for name in NAMES for query in QUERIES[name]])
def test_every_query_of_the_examples_has_a_row_to_explain(name: str, query: str) -> None:
    table = generate(name, 3000, 3)
    text = explained(cepc.compile(EXAMPLES / name / "queries.cep"), table, query)
    found = cepc.compile(EXAMPLES / name / "queries.cep").run(table, query)[query]
    assert ("there is no row" not in text) == (found.num_rows > 0), text


def explained(compiled: Compiled, table: pa.Table, name: str) -> str:
    (query,) = (q for q in compiled.program.queries if q.name == name)

    def load(stream: Stream, plan: StreamPlan) -> Read:
        return read_given(table, plan, stream.input)

    return why(compiled.program, query, RowScope({}, None), load, {}, 2)


def test_the_page_shows_what_the_command_says() -> None:
    page = (EXAMPLES.parent / "docs" / "why.md").read_text(encoding="utf-8")

    def blocks(kind: str) -> list[str]:
        return [part.split("```")[0] for part in page.split(f"```{kind}\n")[1:]]

    Path("rides.cep").write_text(blocks("cep")[0])
    Path("rides.csv").write_text(blocks("csv")[0])
    assert len(blocks("console")) == 3
    for block in blocks("console"):
        line, _, shown = block.partition("\n")
        assert run(*line.removeprefix("$ cepc why ").split()).stdout == shown


# ---- a property


@given(drawn(cases()))
def test_there_is_a_row_to_explain_exactly_where_a_run_has_one(case: Case) -> None:
    try:
        compiled = cepc.compile(case.text)
    except cepc.ProgramError:
        reject()
    columns = compiled.program.streams[0].input.columns
    table = pa.table({n: pa.array([r.get(n) for r in case.rows], to_arrow(t)) for n, t in columns})
    try:
        rows = compiled.run(table)["q"].num_rows
    except cepc.RunError:
        return
    text = explained(compiled, table, "q")
    assert ("there is no row" not in text) == (rows > 0), text
