"""RETURN EACH: a row for each event of each match (docs/language.md, "Results")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pytest
from click.testing import CliRunner

import cepc
from cepc.api import check_text
from cepc.cli import cepc as command
from cepc.errors import RunError
from cepc_grammar.parser import parse
from cepc_grammar.printer import to_text
from cepc_grammar.source import Source
from cepc_runtime.plan.as_json import from_text_of_plan
from cepc_runtime.plan.as_json import to_text as plan_text
from cepc_runtime.streaming.description import letter_names, query_digests
from tests.equivalence import compile_text
from tests.programs import Asked, case
from tests.properties import hold
from tests.test_equivalence import compare

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from tests.programs import Case

STREAM: Final = (
    "STREAM s (at BIGINT, kind STRING, x BIGINT, y DOUBLE) EVENT TIME at UNIT s EVENT TYPE kind IN ('A', 'B');\n"
)
AFTER: Final = "SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT WITHIN UNBOUNDED;"


def rows(returned: str, events: str, rest: str = f"PATTERN SEQ(A, B+) {AFTER}") -> list[tuple[Any, ...]]:
    """The rows over events such as `1A5 2B`, without `match_start` and `match_end`, in the order in which they come."""
    found = [(int(e[0]), e[1], int(e[2:]) if e[2:] else None) for e in events.split()]
    table = pa.table(
        {
            "at": pa.array([at for at, _, _ in found], pa.int64()),
            "kind": pa.array([kind for _, kind, _ in found]),
            "x": pa.array([x for _, _, x in found], pa.int64()),
            "y": pa.array([None if x is None else x / 2 for _, _, x in found], pa.float64()),
        }
    )
    result = cepc.compile(f"{STREAM}QUERY q RETURN EACH {returned} {rest}").run(table)["q"]
    assert result.column_names[-2:] == ["match_start", "match_end"]
    return [tuple(row.values())[:-2] for row in result.to_pylist()]


SHOWN: Final[dict[str, tuple[str, list[Any]]]] = {
    "a bare column is the event's": ("x", [5, 2, None, 3]),
    "a column of a single variable is null in rows of others": ("A.x", [5, None, None, None]),
    "a column of a list is null in rows of others": ("B.x", [None, 2, None, 3]),
    "its variable has a name": ("VARIABLE()", ["A", "B", "B", "B"]),
    "what is of the match is in all its rows": ("COUNT(B.x)", [2, 2, 2, 2]),
    "of the first event too": ("FIRST(A.x)", [5, 5, 5, 5]),
    "and of the last": ("LAST(B).x", [3, 3, 3, 3]),
    "places are counted": ("RUNNING COUNT(*)", [1, 2, 3, 4]),
    "events of a variable are": ("RUNNING COUNT(B)", [0, 1, 2, 3]),
    "values are": ("RUNNING COUNT(B.x)", [0, 1, 1, 2]),
    "and added up": ("RUNNING SUM(B.x)", [None, 2, 2, 5]),
    "as doubles": ("RUNNING SUM(B.y)", [None, 1.0, 1.0, 2.5]),
    "an average is of those so far": ("RUNNING AVG(B.x)", [None, 2.0, 2.0, 2.5]),
    "so are the least": ("RUNNING MIN(B.x)", [None, 2, 2, 2]),
    "and the greatest": ("RUNNING MAX(B.x)", [None, 2, 2, 3]),
    "what is of a variable that came before stays": ("RUNNING MAX(A.x)", [5, 5, 5, 5]),
    "expressions may have all of it": ("COALESCE(x, -1) + RUNNING COUNT(*) + COUNT(*)", [10, 8, 6, 11]),
    "numbers of matches are in each row": ("MATCH_NUMBER()", [1, 1, 1, 1]),
    "of bare columns all events so far are": ("RUNNING SUM(x)", [5, 7, 7, 10]),
    "that have a value": ("RUNNING COUNT(y)", [1, 2, 2, 3]),
    "whatever they are bound to": ("RUNNING MAX_BY(VARIABLE(), at)", ["A", "B", "B", "B"]),
    "or all of the match": ("COLLECT(VARIABLE() || COALESCE(x, 0))", [["A5", "B2", "B0", "B3"]] * 4),
    "an element of an array": (
        "CASE WHEN RUNNING COUNT(B) > 0 THEN COLLECT(B.x)[RUNNING COUNT(B) - 1] END",
        [None, 2, None, 3],
    ),
    "or from its end": ("ELEMENT_AT(COLLECT(x), -1) - ELEMENT_AT(COLLECT(x), 1)", [-2, -2, -2, -2]),
    "beside all of it": ("COLLECT(x)[1] + SIZE(COLLECT(x))", [6, 6, 6, 6]),
    "a cast around a sum computes in its type": (
        "CAST(RUNNING SUM(B.x * 1000) AS STRING)",
        [None, "2000", "2000", "5000"],
    ),
}


def test_an_element_that_is_not_there_is_an_error() -> None:
    with pytest.raises(RunError, match="there is no element 4 in an array of 4"):
        rows("COLLECT(x)[RUNNING COUNT(*)]", "1A5 2B2 3B 4B3")


def test_elements_of_arrays_are_asked_of_long_matches() -> None:
    """With the array for each event these were 2,500,000,000 values."""
    events = pa.table({"at": range(50_000), "kind": ["A", *["B"] * 49_999], "x": [*range(50_000)], "y": [0.0] * 50_000})
    text = f"{STREAM}QUERY q RETURN EACH x, COLLECT(x)[RUNNING COUNT(*) - 1] AS own PATTERN SEQ(A, B+) {AFTER}"
    found = cepc.compile(text).run(events)["q"]
    assert found["own"].equals(found["x"])
    assert len(found) == 50_000


@pytest.mark.parametrize("name", SHOWN)
def test_a_column_of_each_event(name: str) -> None:
    shown, expected = SHOWN[name]
    found = rows(f"RUNNING COUNT(*) AS place, {shown} AS c", "1A5 2B2 3B 4B3")
    assert sorted(found) == [(place, value) for place, value in enumerate(expected, 1)]


def test_rows_of_a_match_stand_together_in_the_order_of_their_events() -> None:
    shown = "VARIABLE(), at, MATCH_NUMBER() AS n"
    expected = [("A", 1, 1), ("B", 2, 1), ("B", 3, 1), ("A", 4, 2), ("B", 5, 2)]
    assert rows(shown, "1A 2B 3B 4A 5B") == expected


def test_matches_that_overlap_have_rows_of_their_own() -> None:
    rest = "PATTERN SEQ(A, B) WITHIN UNBOUNDED;"
    assert rows("at, LAST(B).at AS b", "1A 2B 3B", rest) == [(1, 2), (2, 2), (1, 3), (3, 3)]


def test_having_keeps_or_leaves_out_whole_matches() -> None:
    rest = f"PATTERN SEQ(A, B+) HAVING n > 1 AND SUM(B.x) > 3 {AFTER}"
    assert rows("at, COUNT(B) AS n", "1A 2B1 3B2 4A 5B2 6B2 7A 8B9", rest) == [(4, 2), (5, 2), (6, 2)]


def test_every_column_and_others_beside_it() -> None:
    expected = [("A", 1, "A", 4, 2.0, 1), ("B", 2, "B", None, None, 2)]
    assert rows("*, RUNNING COUNT(*) AS place", "1A4 2B") == expected


def test_an_and_that_binds_events_of_one_time_runs_in_canonical_order() -> None:
    rest = "PATTERN AND(A, B b) WITHIN UNBOUNDED;"
    assert sorted(rows("kind, RUNNING COUNT(*) AS n, RUNNING SUM(b.x) AS s", "1B7 1A5", rest)) == [
        ("A", 1, None),
        ("B", 2, 7),
    ]


def test_a_running_sum_that_does_not_fit_says_so_with_a_cure() -> None:
    text = f"{STREAM}QUERY q RETURN EACH RUNNING SUM(A.x) AS s PATTERN A{{2}} {AFTER}"
    events = pa.table({"at": [1, 2], "kind": ["A", "A"], "x": [2**63 - 1, 1], "y": [0.0, 0.0]})
    with pytest.raises(cepc.RunError) as raised:
        cepc.compile(text).run(events)
    assert "RUNNING SUM(A.x)" in str(raised.value)
    assert "CAST(RUNNING SUM(A.x) AS STRING) is exact at any size" in str(raised.value)
    right = text.replace("RUNNING SUM(A.x)", "CAST(RUNNING SUM(A.x) AS STRING)")
    assert cepc.compile(right).run(events)["q"].column("s").to_pylist() == [str(2**63 - 1), str(2**63)]


def test_an_argument_is_computed_of_no_event_beside_matches() -> None:
    rest = f"PATTERN SEQ(A, B) {AFTER}"
    assert rows("RUNNING SUM(B.x) AS s, RUNNING SUM(10 DIV A.x) AS t", "1A5 2B7 3B0", rest) == [(None, 2), (7, 2)]
    assert rows("RUNNING SUM(10 DIV B.x) AS s", "1B0 2A5 3B2", rest) == [(None,), (5,)]


def test_a_column_called_each_alone_is_in_backquotes() -> None:
    stream = "STREAM s (at BIGINT, kind STRING, each BIGINT) EVENT TIME at UNIT s EVENT TYPE kind IN ('A');\n"
    text = stream + "QUERY q RETURN each PATTERN A WHERE [each] WITHIN 1 s;"
    (found,) = cepc.check(text).diagnostics
    assert found.replacement is not None
    cured = text[: found.span.start] + found.replacement + text[found.span.end :]
    assert "RETURN `each` PATTERN" in cured
    assert cepc.check(cured).ok


@pytest.mark.parametrize("text", ["each", "each.x", "each + 1", "EACH x", "EACH each", "EACH *, x", "EACH (-x)"])
def test_each_is_a_word_before_a_column_alone(text: str) -> None:
    parsed = parse(Source("t", f"QUERY q RETURN {text} AS n PATTERN A WITHIN 1 h;".replace("x AS n", "x")))
    assert not parsed.diagnostics
    (query,) = parsed.program.statements
    assert query.returns.each == text.startswith("EACH")  # type: ignore[union-attr]
    again = parse(Source("t", to_text(parsed.program)))
    assert again.program == parsed.program


def test_a_plan_has_it_as_json_and_others_have_the_digests_that_they_had() -> None:
    text = "QUERY q RETURN {} x, VARIABLE() AS v, RUNNING COUNT(DISTINCT x) AS n PATTERN A WITHIN 9 s;"
    each = compile_text(STREAM + text.format("EACH").replace("RUNNING COUNT(DISTINCT x)", "MIN_BY(A.x, A.y)")).plan
    assert from_text_of_plan(plan_text(each)) == each
    match = compile_text(STREAM + "QUERY q RETURN MATCH A.x PATTERN A WITHIN 9 s;").plan
    assert query_digests(match, letter_names(match.letters)) == {"q": DIGEST}
    counts = [
        compile_text(f"{STREAM}QUERY q RETURN {k} COUNT(*) AS n PATTERN A WITHIN 9 s;").plan for k in ("MATCH", "EACH")
    ]
    one, other = (query_digests(plan, letter_names(plan.letters))["q"] for plan in counts)
    assert one != other


DIGEST: Final = "7f163413c6204932258010f83a57e284"
"""Of the query before there was RETURN EACH: checkpoints of then are read."""


def test_without_a_stream_names_are_checked_as_far_as_they_can_be() -> None:
    text = "QUERY q RETURN EACH x, a.y, VARIABLE(), RUNNING SUM(a.x) AS s PATTERN A a WITHIN 1 h;"
    assert check_text(text, "t.cep").errors == ()


def test_why_shows_a_row_for_each_event(tmp_path: Path) -> None:
    (tmp_path / "p.cep").write_text(f"{STREAM}QUERY q RETURN EACH x, VARIABLE() PATTERN SEQ(A, B) WITHIN 9 s;")
    (tmp_path / "e.csv").write_text("at,kind,x,y\n1,A,5,\n2,B,6,\n")
    asked = ["why", str(tmp_path / "p.cep"), "--events", str(tmp_path / "e.csv")]
    shown = CliRunner().invoke(command, asked).output
    assert "there is a match, and a row for each of its events" in shown
    assert "x = 5, variable = 'A'" in shown
    assert "x = 6, variable = 'B'" in shown


def each(chance: Random) -> Case:
    """A random program of one query with RETURN EACH."""
    while True:
        made = case(chance, 1, Asked(match=True))
        if "RETURN EACH" in made.text:
            return made


def test_rows_of_random_programs_are_the_oracles() -> None:
    hold("RETURN EACH", each, lambda case, _chance: compare(case, interpreted=True))
