"""The one place that finds rows: which query an error is about, and stretches of which something is known."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pytest

import cepc
from cepc.passes.strategy import strategy
from cepc.shared_plans import Options, plan_shared
from cepc_runtime.drive import drive
from cepc_runtime.enumerate.budget import TooManyPartialMatchesError
from cepc_runtime.events.grouped import read
from cepc_runtime.events.stretch import Means, Stretch, TimeSpan
from cepc_runtime.sql.evaluate.errors import EvaluationError, about, naming
from cepc_runtime.streaming.decision import Windows, decision_of
from cepc_runtime.streaming.matches import Advance
from cepc_runtime.streaming.windows import closed
from tests.driven import driven
from tests.equivalence import compile_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cepc_runtime.plan.physical import PhysicalPlan
    from cepc_runtime.plan.strategy import PhysicalQuery

STREAM = "STREAM s (at BIGINT, kind STRING, x INT) EVENT TIME at UNIT s EVENT TYPE kind;\n"
SCHEMA = pa.schema([("at", pa.int64()), ("kind", pa.string()), ("x", pa.int32())])


def plan_of(*queries: str, level: Literal[0, 2] = 2) -> PhysicalPlan:
    program = compile_text(STREAM + "".join(f"QUERY q{i} {q};\n" for i, q in enumerate(queries))).program
    (plan,) = plan_shared(program, Options(level)).plans
    return strategy(plan, "local")


def events(text: str) -> Any:
    """`A1 B0` is an A with x = 1 at 0 and a B with x = 0 at 1."""
    rows = [{"at": at, "kind": word[0], "x": int(word[1:])} for at, word in enumerate(text.split())]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


COUNT = "RETURN COUNT(*) AS n"
FAILING = [
    pytest.param(
        (f"{COUNT} PATTERN A WITHIN 9 s", f"{COUNT} PATTERN B WHERE 1 / B.x > 0 WITHIN 9 s"), "q1",
        id="a condition on single events that the first query does not have",
    ),
    pytest.param(
        (f"{COUNT} PATTERN A WITHIN 9 s", "RETURN MATCH * PATTERN SEQ(A, B) WHERE 1 / B.x > 0 WITHIN 9 s",
         f"{COUNT} PATTERN B WHERE 1 / B.x > 0 WITHIN 9 s"), "q1",
        id="one that two queries have, of which one is counted",
    ),
    pytest.param(
        (f"{COUNT} PATTERN SEQ(A, B) WITHIN 9 s", "RETURN SUM(1 / A.x) AS n PATTERN SEQ(A, B) WITHIN 9 s",
         "RETURN SUM(1 / B.x) AS n PATTERN SEQ(A, B) WITHIN 9 s", "RETURN AVG(1 / B.x) AS n PATTERN SEQ(A, B) WITHIN 9 s"),
        "q2", id="an argument of two of four queries that are counted together",
    ),
    pytest.param(
        (f"{COUNT} PATTERN B WITHIN 9 s", "RETURN 1 / (COUNT(*) - 1) AS n PATTERN A WITHIN 9 s"), "q1",
        id="a result",
    ),
    pytest.param(
        (f"{COUNT} PATTERN SEQ(A, B) WHERE A.x + B.x > 0 WITHIN 9 s", f"{COUNT} PATTERN SEQ(A, B) WHERE A.x / B.x > 0 WITHIN 9 s"),
        "q1", id="a condition between neighbours",
    ),
    pytest.param(
        ("RETURN MATCH * PATTERN SEQ(A, B+) WITHIN 9 s", "RETURN MATCH * PATTERN SEQ(A, B+) WHERE A.x / LAST(B).x > 0 WITHIN 9 s"),
        "q1", id="a condition of a query whose matches are listed",
    ),
    pytest.param(
        ("RETURN MATCH * PATTERN SEQ(A, B) WITHIN 9 s", "RETURN MATCH * PATTERN SEQ(A, B) WHERE A.x / B.x > 0 WITHIN 9 s"),
        "q1", id="a condition of one of two queries that are joined",
    ),
    pytest.param(
        ("RETURN MATCH * PATTERN SEQ(A, B) WITHIN 9 s", "RETURN A.x / B.x AS n PATTERN SEQ(A, B) WITHIN 9 s"),
        "q1", id="a result of one of two queries that are joined",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("queries", "about_query"), FAILING)
def test_an_error_is_about_a_query_that_fails_by_itself(queries: Sequence[str], about_query: str) -> None:
    plan, table = plan_of(*queries), events("A1 B0")
    with pytest.raises(EvaluationError, match="division by zero") as caught:
        driven(table, plan)
    assert caught.value.query == about_query
    fine: list[PhysicalQuery] = [query for query in plan.queries if query.name < about_query]
    driven(table, plan, fine)


def test_a_query_is_not_asked_for_the_conditions_of_others() -> None:
    plan = plan_of(f"{COUNT} PATTERN A WITHIN 9 s", f"{COUNT} PATTERN B WHERE 1 / B.x > 0 WITHIN 9 s")
    assert driven(events("A1 B0"), plan, plan.queries[:1])["q0"].column("n").to_pylist() == [1]


def test_the_query_of_an_error_is_that_of_the_innermost_and_travels_between_processes() -> None:
    with pytest.raises(EvaluationError) as caught, about("outer"), about("inner"):
        raise EvaluationError("division by zero", "/")
    assert pickle.loads(pickle.dumps(caught.value)).query == "inner"


def test_what_does_not_fail_is_evaluated_once_for_all() -> None:
    plan, asked = plan_of(f"{COUNT} PATTERN A WITHIN 9 s", f"{COUNT} PATTERN B WITHIN 9 s"), list[int]()
    assert naming(plan.queries, lambda some: asked.append(len(some)) or len(some)) == 2  # type: ignore[func-returns-value]
    assert asked == [2]


@pytest.mark.parametrize("pattern", ["SEQ(A a, B b)", "SEQ(A a, A c, B b) WHERE a.x < b.x"], ids=["counted", "listed"])
def test_windows_are_found_that_begin_in_the_span(pattern: str) -> None:
    plan = plan_of(f"{COUNT} PATTERN {pattern} WITHIN 4 s SLIDE 2 s")
    table = events("A1 A1 B2 A1 A2 B3 A1 B4")
    every = driven(table, plan)["q0"].to_pylist()
    assert len(every) > 2
    for first, end in ((0, 3), (1, 5), (4, 4), (None, 2), (2, None)):
        found = driven(table, plan, span=TimeSpan(first, end))["q0"].to_pylist()
        assert found == [
            row for row in every
            if (first is None or row["window_start"] >= first) and (end is None or row["window_start"] < end)
        ]  # fmt: skip


@pytest.mark.parametrize("several", [1, 2], ids=["listed", "joined"])
def test_matches_are_given_that_are_known(several: int) -> None:
    level: Literal[0, 2] = 0 if several == 1 else 2
    plan = plan_of(*["RETURN a.at AS a PATTERN SEQ(A a, B b) WITHIN 9 s"] * several, level=level)
    reading = read(events("A1 A2 B3"), plan.stream)
    stretch = Stretch(
        plan, reading, known=lambda _query, matches, arranged: arranged.events.ticks[matches.positions[0]] == 1
    )
    found = [(name, row["a"]) for name, table in drive(stretch, plan.queries, Means()) for row in table.to_pylist()]
    assert sorted(found) == [(f"q{i}", 1) for i in range(several)]


# ---- windows that close together -------------------------------------------------------------------------------------

LISTED = f"{COUNT} PATTERN SEQ(A a, A c, B b) WHERE a.x < b.x WITHIN 4 s"


def closing(text: str, most: int) -> tuple[list[Any], Exception | None]:
    """The rows of all windows as they close at once, under a limit on partial matches, and the error that ends them."""
    plan, found = plan_of(LISTED), list[Any]()
    reading, windows = read(events(text), plan.stream), decision_of(plan.queries[0])
    assert isinstance(windows, Windows)
    try:
        for _, table in closed(reading, plan, plan.queries, windows, Advance(-1, 100, most)):
            found += table.to_pylist()
    except TooManyPartialMatchesError as error:
        return found, error
    return found, None


def test_windows_that_are_too_much_at_once_are_found_one_by_one() -> None:
    text = "A1 A1 B2 B2 " * 10
    with pytest.raises(TooManyPartialMatchesError):
        driven(events(text), plan_of(LISTED), most=20)
    rows = driven(events(text), plan_of(LISTED))["q0"].to_pylist()
    assert len(rows) == 10
    assert closing(text, 20) == (rows, None) == closing(text, 1000)


def test_a_window_that_fails_by_itself_is_an_error_after_the_rows_of_those_before_it() -> None:
    rows, error = closing("A1 A1 B2 B2 " * 2 + "A1 A1 A1 B2 " + "A1 A1 B2 B2", 6)
    assert [row["window_start"] for row in rows] == [0, 4]
    assert isinstance(error, TooManyPartialMatchesError)
    assert error.listed.query == "q0"


@pytest.mark.parametrize("zeros", [(0.0, -0.0), (-0.0, 0.0)])
@pytest.mark.parametrize("window", ["UNBOUNDED", "10 s SLIDE 5 s"])
def test_a_group_of_zeros_is_of_the_positive_one_whichever_came_first(zeros: tuple[float, float], window: str) -> None:
    stream = "STREAM s (at BIGINT, kind STRING, d DOUBLE) EVENT TIME at UNIT s EVENT TYPE kind;"
    compiled = cepc.compile(f"{stream} QUERY q RETURN d, COUNT(*) AS n PATTERN A GROUP BY d WITHIN {window};")
    found = compiled.run(pa.table({"at": [1, 2], "kind": ["A", "A"], "d": zeros}))["q"]
    assert {(str(row["d"]), row["n"]) for row in found.to_pylist()} == {("0.0", 2)}
