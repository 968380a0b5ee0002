"""Aggregates over all events of a match: `SUM(x)`, `COLLECT(VARIABLE())` (docs/language.md, "Results")."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pytest

import cepc
from cepc.api import check_text
from tests.programs import Asked, case
from tests.properties import hold
from tests.test_equivalence import compare

if TYPE_CHECKING:
    from random import Random

    from tests.programs import Case

STREAM: Final = """
STREAM s (at BIGINT, kind STRING, x INT, y DOUBLE, d DECIMAL(8, 2)) EVENT TIME at UNIT s EVENT TYPE kind IN ('A', 'B');
"""
EVENTS: Final = pa.table(
    {
        "at": pa.array([1, 2, 3, 4], pa.int64()),
        "kind": ["A", "B", "B", "B"],
        "x": pa.array([5, 2, None, 5], pa.int32()),
        "y": [0.1, 0.2, 0.3, None],
        "d": pa.array([Decimal("1.10"), Decimal("0.25"), None, Decimal("-7.00")], pa.decimal128(8, 2)),
    }
)
AFTER: Final = "SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT WITHIN UNBOUNDED;"


def row(returned: str, pattern: str = "PATTERN SEQ(A first, B+ rest)", having: str = "") -> dict[str, Any] | None:
    """The only row over these events, if it is one."""
    text = f"{STREAM}QUERY q RETURN MATCH {returned} {pattern} {having} {AFTER}"
    found: list[dict[str, Any]] = cepc.compile(text).run(EVENTS)["q"].to_pylist()
    assert len(found) <= 1
    return found[0] if found else None


VALUES: Final[dict[str, tuple[str, Any]]] = {
    "a column, whatever its event is bound to": ("SUM(x)", 12),
    "nulls are left out": ("COUNT(x)", 3),
    "and counted where events are": ("COUNT(*)", 4),
    "or what is no column": ("COUNT(1)", 4),
    "an expression over several columns": ("SUM(x * at)", 29),
    "sums of DOUBLE are rounded once": ("SUM(y)", 0.6),
    "and averages": ("AVG(y)", 0.2),
    "of DECIMAL": ("CAST(AVG(d) AS STRING)", "-1.883333"),
    "variances are exact": ("VAR_POP(x)", 2.0),
    "equal values once": ("COUNT(DISTINCT x)", 2),
    "a list in canonical order": ("COLLECT(x)", [5, 2, None, 5]),
    "and its first of each": ("COLLECT(DISTINCT x)", [5, 2, None]),
    "the names of their variables": ("COLLECT(VARIABLE())", ["first", "rest", "rest", "rest"]),
    "the variable of the least": ("MIN_BY(VARIABLE(), x)", "rest"),
    "of equal ones the first": ("MAX_BY(VARIABLE(), x)", "first"),
    "a condition on the variable": ("SUM(CASE WHEN VARIABLE() = 'rest' THEN x END)", 7),
    "which is known of an aggregate of one": ("COLLECT(VARIABLE() || rest.x)", ["rest2", None, "rest5"]),
    "what does not fit is null if so said": ("TRY_SUM(x + 9223372036854775800)", None),
    "or of another type": ("CAST(SUM(x + 0L) AS DECIMAL(38, 0))", 12),
    "beside others": ("SUM(x) - SUM(rest.x) + first.x", 10),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_value_is_of_all_events(name: str) -> None:
    returned, expected = VALUES[name]
    found = row(f"{returned} AS value")
    assert found is not None
    assert found["value"] == expected


@pytest.mark.parametrize(
    ("having", "kept"),
    [
        ("HAVING SUM(x) > 11", True),
        ("HAVING SUM(x) > 12", False),
        ("HAVING x > 11", True),
        ("HAVING MAX_BY(VARIABLE(), at) = 'rest' AND COUNT(DISTINCT kind) = 2", True),
    ],
)
def test_having_has_them_too_of_columns_before_results(having: str, kept: bool) -> None:
    """`SUM(x)` is not that of the result x, which is a sum."""
    assert (row("SUM(x) AS x", having=having) is not None) == kept


def test_an_event_has_its_variable_in_each_match_anew() -> None:
    text = (
        f"{STREAM}QUERY q RETURN MATCH COLLECT(VARIABLE()) AS v PATTERN SEQ(B one, B two) SELECT NEXT WITHIN UNBOUNDED;"
    )
    found = cepc.compile(text).run(EVENTS)["q"]
    assert [row["v"] for row in found.to_pylist()] == [["one", "two"]] * 2


WRONG: Final = {
    "RETURN MATCH SUM(rest.x * x) AS n": "E0220",
    "RETURN MATCH SUM(first.x * rest.x) AS n": "E0314",
    "RETURN MATCH SUM(SUM(x)) AS n": "E0313",
    "RETURN MATCH VARIABLE() AS n": "E0337",
    "RETURN MATCH FIRST(x) AS n": "E0220",
    "RETURN MATCH SUM(kind || x) AS n, SUM(z) AS m": "E0204",
    "RETURN SUM(x) AS n": "E0220",
    "RETURN COUNT(VARIABLE()) AS n": "E0337",
}


@pytest.mark.parametrize("returned", WRONG)
def test_what_is_neither_of_one_variable_nor_of_all_events_is_refused(returned: str) -> None:
    found = check_text(f"{STREAM}QUERY q {returned} PATTERN SEQ(A first, B+ rest) WITHIN 1 HOUR SLIDE 1 HOUR;", "q.cep")
    assert WRONG[returned] in {d.code for d in found.diagnostics}


@pytest.mark.parametrize("condition", ["SUM(x) > 3", "rest.x > RUNNING SUM(x)", "COUNT(VARIABLE()) > 1"])
def test_where_is_of_variables(condition: str) -> None:
    text = f"{STREAM}QUERY q RETURN MATCH first.x PATTERN SEQ(A first, B+ rest) WHERE {condition} WITHIN 1 HOUR;"
    assert {d.code for d in check_text(text, "q.cep").errors} <= {"E0220", "E0337"}
    assert not check_text(text, "q.cep").ok


def test_without_a_stream_bare_columns_are_taken_for_columns() -> None:
    text = "QUERY q RETURN MATCH SUM(x) AS n, COLLECT(VARIABLE()) AS v PATTERN SEQ(A, B) WITHIN 1 HOUR;"
    assert check_text(text, "q.cep").ok
    assert not check_text(text.replace("SUM(x)", "x"), "q.cep").ok


def of_all(chance: Random) -> Case:
    """A program with one such query at least."""
    for _ in range(50):
        one = case(chance, asked=Asked(match=True, select=chance.choice((None, "ANY", "NEXT", "CONTIGUOUS"))))
        if "AS of_all" in one.text:
            return one
    raise AssertionError("none of 50 programs")


def test_rows_are_the_oracles() -> None:
    hold("of all events of a match", of_all, lambda case, _chance: compare(case, interpreted=True))
