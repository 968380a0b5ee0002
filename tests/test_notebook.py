"""%%cep: a program in a notebook's cell."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from cepc.editing.notebook import CellOutput

interactiveshell = pytest.importorskip("IPython.core.interactiveshell", reason="IPython is not installed")

PROGRAM = """\
STREAM s (at TIMESTAMP, kind STRING, k BIGINT) EVENT TIME at EVENT TYPE kind IN ('A', 'B');
QUERY pairs RETURN MATCH k PATTERN SEQ(A, B) WHERE [k] WITHIN 1 MINUTE;
QUERY counts RETURN COUNT(*) AS n PATTERN SEQ(A, B) WHERE [k] WITHIN 1 MINUTE;
"""
EVENTS = pd.DataFrame(
    {
        "at": pd.to_datetime(["2026-03-02 10:00:01", "2026-03-02 10:00:02"], utc=True).astype("datetime64[us, UTC]"),
        "kind": ["A", "B"],
        "k": [7, 7],
    }
)


@pytest.fixture
def shell() -> Any:
    """A new one for each test; its `reset` would go through all objects of the process."""
    found = interactiveshell.InteractiveShell()
    found.run_line_magic("load_ext", "cepc")
    found.user_ns["events"] = EVENTS
    return found


def cell(shell: Any, line: str, text: str = PROGRAM) -> Any:
    return shell.run_cell_magic("cep", line, text)


def test_a_cell_shows_the_rows_of_each_query_and_the_picture(shell: Any) -> None:
    shown = cell(shell, "--events events")
    assert isinstance(shown, CellOutput)
    page = shown._repr_html_()
    assert "<h4>pairs <small>1 row</small></h4>" in page
    assert "<td>7</td>" in page
    assert "data:image/svg+xml" in page
    assert "counts  1 row" in repr(shown)


@pytest.mark.parametrize("given", [EVENTS, pa.Table.from_pandas(EVENTS)], ids=["a pandas frame", "a pyarrow table"])
def test_rows_go_into_a_variable(shell: Any, given: Any) -> None:
    shell.user_ns["given"] = given
    cell(shell, "rows --events given --query pairs")
    assert {name: table.column("k").to_pylist() for name, table in shell.user_ns["rows"].items()} == {"pairs": [7]}


SEVERAL = """\
STREAM s (at TIMESTAMP, kind STRING, k BIGINT) EVENT TIME at EVENT TYPE kind IN ('A', 'B');
STREAM `s t` (at TIMESTAMP, k BIGINT) EVENT TIME at;
QUERY pairs RETURN MATCH k PATTERN SEQ(A, `s t`) WHERE [k] WITHIN 1 MINUTE;
"""


def test_a_cell_says_how_the_events_of_a_stream_that_has_none_are_given(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cell(shell, "--events s=events", SEVERAL) is None
    said = "no events are named for the stream `s t`\n  = help: pass them: `--events 's t=EVENTS'`, a variable with a table"
    assert said in capsys.readouterr().err
    cell(shell, "rows --events s=events --events 's t=events'", SEVERAL)
    assert shell.user_ns["rows"]["pairs"]["k"].to_pylist() == [7]


TYPES = """\
STREAM s (at TIMESTAMP, kind STRING, k BIGINT, d DECIMAL(10,2), n STRING, f DOUBLE) EVENT TIME at EVENT TYPE kind;
QUERY q RETURN MATCH A.k AS k, A.d AS d, A.n AS n, A.f AS f, CAST('NaN' AS DOUBLE) AS g
  PATTERN SEQ(A, B) SELECT CONTIGUOUS WITHIN 1 MINUTE;
"""


def test_rows_over_a_frame_have_the_types_of_the_queries_and_are_shown_exactly(shell: Any) -> None:
    at = [f"2026-03-02 10:00:0{i}" for i in range(4)]
    one = {"at": at, "kind": ["A", "B"] * 2, "k": pd.array([2**53 + 1, 0, None, 0], "Int64"), "n": None, "f": None}
    shell.user_ns["events"] = pd.DataFrame(one | {"d": [0.25, 0.5, 0.75, 1.0]})
    shown = cell(shell, "rows --events events", TYPES)
    types = {field.name: str(field.type) for field in shell.user_ns["rows"]["q"].schema}
    assert (types["d"], types["n"], types["f"]) == ("decimal128(10, 2)", "string", "double")
    for text in (repr(shown), shown._repr_html_()):
        assert str(2**53 + 1) in text
        assert "NULL" in text
        assert "NaN" in text


def test_events_may_be_a_file_and_named_by_stream(shell: Any, tmp_path: Any) -> None:
    EVENTS.to_parquet(tmp_path / "e.parquet")
    assert cell(shell, f"-e s={tmp_path / 'e.parquet'}").rows["counts"].column("n").to_pylist() == [1]


def test_without_events_a_program_is_checked_and_drawn(shell: Any) -> None:
    shown = cell(shell, "")
    assert shown.rows == {}
    assert "<details open>" in shown._repr_html_()


QUIET = PROGRAM.removesuffix(";\n") + " SLIDE 1 MINUTE;\n"  # without the warning


def test_in_a_terminal_no_more_rows_are_shown_than_said(shell: Any) -> None:
    shell.user_ns["many"] = pd.concat([EVENTS.assign(k=k) for k in range(30)])
    lines = repr(cell(shell, "--events many --query pairs", QUIET)).splitlines()
    assert lines[0] == "pairs  30 rows, the first 20"
    assert len(lines) == 22
    assert repr(cell(shell, "", QUIET)) == "checked: pairs, counts; with events, `--events EVENTS`, they give rows"


TEST = "TEST t FOR counts GIVEN (at, kind, k) VALUES ('2026-03-02', 'A', 7), ('2026-03-02 00:00:01', 'B', 7) EXPECT (n) VALUES ({});"


def test_the_tests_of_a_cell_are_run(shell: Any) -> None:
    assert repr(cell(shell, "", QUIET + TEST.format(1))).startswith("1 test passed\n")
    shown = cell(shell, "", QUIET + TEST.format(2))
    assert "FAIL  t  (&lt;cell&gt;:4:1)" in shown._repr_html_()
    assert "  - 2  expected, and not found" in repr(shown)


def test_help_is_printed_once(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert cell(shell, "--help") is None
    said = capsys.readouterr()
    assert (said.out.count("usage: %%cep"), said.err) == (1, "")


WRONG = [
    ("--events events", PROGRAM.replace("SEQ(A, B)", "SEQ(A, X)"), "unknown event type `X`"),
    ("--events nothing", PROGRAM, "there is no variable `nothing`"),
    ("--events event", PROGRAM, "no file of that name; did you mean `events`?"),
    ("--query other", PROGRAM, "there is no query `other`; there are pairs, counts"),
    ("--evnets events", PROGRAM, "usage: %%cep"),
    ("-e z=events", PROGRAM, "no query reads a stream `z`; there are s"),
    ("-e numbers", PROGRAM, "events are a pyarrow table, a pandas frame, or a path; not list"),
    ('"rows -e events', PROGRAM, "a quote is not closed in `\"rows -e events`"),
    ("rows -e events\\", PROGRAM, "a `\\` at the end of `rows -e events\\`"),
    ("1x -e events", PROGRAM, "`1x` is no name of a variable"),
    ("class -e events", PROGRAM, "`class` is no name of a variable"),
    ("-e events -e s=events", PROGRAM, "--events STREAM=EVENTS"),
    ("", "QUERY q RETURN COUNT(*) PATTERN A WITHIN 1 min;", "write the STREAM into the same cell"),
    ("--events missing", PROGRAM.replace("k BIGINT", "k BIGINT, z INT").replace("MATCH k", "MATCH k, A.z"), "no column `z`"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "text", "message"), WRONG, ids=[message for *_, message in WRONG])
def test_what_is_wrong_is_said_without_a_traceback(
    shell: Any, line: str, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.user_ns |= {"missing": EVENTS, "numbers": [1, 2]}
    assert cell(shell, line, text) is None
    err = capsys.readouterr().err
    assert message in err
    assert "Traceback" not in err


def test_names_are_text(shell: Any) -> None:
    hostile = PROGRAM.replace("QUERY pairs", "QUERY `<script>`")
    assert "<script>" not in cell(shell, "--events events", hostile)._repr_html_()
