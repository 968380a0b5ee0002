"""Conditions with aggregates of all events of a variable, and with events some places further in than the first, the
last and the previous one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pytest

import cepc
from cepc_runtime.batch import execute
from cepc_runtime.enumerate.block import Path
from cepc_runtime.plan.as_json import from_text_of_plan
from cepc_runtime.plan.as_json import to_text as plan_text
from cepc_runtime.sql.evaluate import EvaluationError
from cepc_runtime.streaming.description import letter_names, query_digests
from tests import test_streaming
from tests.equivalence import compile_text
from tests.programs import FURTHER, HEADER, PAIR_FURTHER, PAIR_WHOLE, WHOLE, with_stream
from tests.properties import hold
from tests.test_equivalence import compare
from tests.test_running import AFTER, QUERY, STREAM, runs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from tests.programs import Case

INTS: Final[dict[str, tuple[list[Any], str, list[list[int]]]]] = {
    "the longest match that has the sum": ([1, 2, 3, 4], "SUM(s.x) = 6", [[0, 1, 2]]),
    "a sum that grows too large and small again": ([5, 1, 3, -3, 2], "SUM(s.x) < 7", [[0, 1, 2, 3], [4]]),
    "an even number of events": ([1, 1, 1, 1, 1], "COUNT(s) % 2 = 0", [[0, 1, 2, 3]]),
    "nulls are not counted": ([1, None, 1], "COUNT(s.x) < 2", [[0, 1], [2]]),
    "the sum of nulls is null": ([None, None, 1], "SUM(s.x) IS NULL", [[0, 1]]),
    "each beside the average": ([4, 2, 9, 3], "s.x <= 1.5 * AVG(s.x)", [[0, 1], [2, 3]]),
    "each beside the average, from the other side": ([2, 4, 1, 9], "0.5 * AVG(s.x) < s.x", [[0, 1], [2], [3]]),
    "no null is compared": ([2, None, 4], "s.x <= 2 * AVG(s.x)", [[0], [2]]),
    "the first beside the greatest": ([4, 2, 9, 9, 3], "FIRST(s).x = MAX(s.x)", [[0, 1], [2, 3, 4]]),
    "the event before beside the least": ([4, 2, 1, 3], "PREV(s).x > MIN(s.x)", [[0, 1, 2], [3]]),
    "in two conditions": ([1, 2, 3, 4, 5], "SUM(s.x) > 5 AND COUNT(s) < 4", [[0, 1, 2], [3, 4]]),
    "the second event": ([1, 2, 3, 4], "FIRST(s, 1).x = 2", [[0, 1, 2, 3]]),
    "no second event": ([1, 2, 3], "FIRST(s, 1).x IS NULL", [[0], [1], [2]]),
    "the last but two": ([1, 2, 3, 2, 1], "LAST(s, 2).x = 2", [[0, 1, 2, 3]]),
    "the last two": ([1, 2, 3, 1, 0], "LAST(s, 1).x < LAST(s.x)", [[0, 1, 2]]),
    "the event but one before": ([3, 1, 3, 1, 4, 0], "s.x >= PREV(s, 2).x", [[0, 1, 2, 3, 4], [5]]),
    "both events before": ([1, 2, 3, 5, 7], "s.x <= PREV(s).x + PREV(s, 2).x", [[0, 1, 2, 3, 4]]),
    "as many places as none": ([3, 2, 1], "FIRST(s, 0).x > 2 AND LAST(s, 0).x < 3", [[0, 1, 2]]),
}


@pytest.mark.parametrize("title", INTS)
def test_the_preferred_match_is_one_that_satisfies_it(title: str) -> None:
    values, where, expected = INTS[title]
    assert runs("INT", pa.int32(), values, where) == expected


def test_no_path_is_walked_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def walked(*_: object) -> None:
        raise AssertionError("a path is walked")

    for name in ("every", "earliest", "latest"):
        monkeypatch.setattr(Path, name, walked)
    where = (
        "SUM(s.x) < 900 AND COUNT(s) <= 40 AND FIRST(s, 2).x >= FIRST(s).x AND LAST(s, 3).x >= 0 AND "
        "s.x >= PREV(s, 4).x AND RUNNING MAX(s.x) < 99 AND s.x <= 2 * AVG(s.x) AND SUM(s.x) >= s.x"
    )
    assert [len(one) for one in runs("INT", pa.int32(), [1] * 100, where)] == [40, 40, 20]


def test_what_does_not_fit_is_an_error_with_a_cure() -> None:
    with pytest.raises(EvaluationError, match=r"past BIGINT in `SUM\(s.x\)`; CAST what is added AS DECIMAL"):
        runs("BIGINT", pa.int64(), [2**63 - 1, 1], "SUM(s.x) > 0")
    where = "CAST(SUM(s.x) AS DECIMAL(38, 0)) > 9223372036854775807"
    assert runs("BIGINT", pa.int64(), [2**63 - 1, 1], where) == [[0, 1]]
    assert runs("BIGINT", pa.int64(), [2**63 - 1, 1], "TRY_CAST(SUM(s.x) AS INT) IS NULL") == [[0, 1]]


def test_a_plan_has_them_as_json() -> None:
    text = STREAM.format(type="INT") + QUERY.format(where="SUM(s.x) < 3 AND FIRST(s, 1).x < LAST(s, 2).x", after="")
    plan = compile_text(text).plan
    assert from_text_of_plan(plan_text(plan)) == plan


def test_a_checkpoint_tells_them_from_one_another() -> None:
    found = set()
    tests = (
        "FIRST(s).x > 1", "FIRST(s, 1).x > 1", "LAST(s, 1).x > 1", "s.x > PREV(s).x", "s.x > PREV(s, 2).x", "SUM(s.x) > 1",
        "RUNNING SUM(s.x) > 1", "COUNT(s) > 1",
    )  # fmt: skip
    for where in tests:
        plan = compile_text(STREAM.format(type="INT") + QUERY.format(where=where, after="")).plan
        found.add(query_digests(plan, letter_names(plan.letters))["q"])
    assert len(found) == len(tests)


RESULTS: Final = {
    "FIRST(s.x, 0)": [1, 3], "FIRST(s, 1).x": [2, None], "LAST(s.x, 1)": [1, None], "LAST(s, 2).x + 1": [None, None],
    "COALESCE(LAST(s.x, 1), -1)": [1, -1],
}  # fmt: skip


@pytest.mark.parametrize("text", RESULTS)
def test_results_have_events_further_in(text: str) -> None:
    query = f"QUERY q RETURN MATCH {text} AS r PATTERN s+ SELECT CONTIGUOUS {AFTER} WITHIN 2 s;"
    plan = compile_text(STREAM.format(type="INT") + query).plan
    table = pa.table({"at": pa.array([0, 1, 5], pa.int64()), "x": pa.array([1, 2, 3], pa.int32())})
    rows = execute(plan, table, interpreted=True).tables["q"].sort_by("match_start")
    assert rows.column("r").to_pylist() == RESULTS[text]


# ---- random programs -------------------------------------------------------------------------------------------------

PATTERNS: Final = (
    "SEQ(A w, B+ v)", "SEQ(A+ v, C?, B w)", "AND(A+ v, B w)", "SEQ(B w, NOT SEQ(C+ v, D), A)", "SEQ(A w, B* v, C)",
    "OR(SEQ(A w, B+ v), C+)", "AND(A+ v, A v, B w)", "SEQ(OR(A w, B+ v), C?)",
)  # fmt: skip
OF_NAMED: Final = ("p", "SEQ(p, C c)", "AND(p, C{1,2} v)", "SEQ(p, B* v, D* d)", "SEQ(p, B* v)")
NAMED: Final = ("SEQ(A w, B{least} v){times}", "SEQ(A w, B{least} v){times}", "OR(A w, B+ v){times}")
TWICE: Final = "SEQ(A w, B+ v, D* d)"
"""Beside `B* v, D* d`: which of the events are its own, a match does not say."""


LIMITS: Final = (
    "COUNT({v}) <= 2", "COUNT({v}) < 2", "2 >= COUNT({v}.y)", "COUNT({v}.y) = 1", "COUNT({v}) BETWEEN 1 AND 2",
    "1 > COUNT({v})", "(COUNT({v}.y) <= 2 AND COUNT({w}) < 3)",
)  # fmt: skip


def limited(chance: Random) -> Case:
    """Such queries with counts that may not grow further."""
    return whole(chance, LIMITS)


def whole(chance: Random, tests_of_all: Sequence[str] = (*WHOLE, *PAIR_WHOLE)) -> Case:
    """Queries with one or two of these, also in a named pattern and in what NOT forbids."""
    named = chance.random() < 0.4
    pattern = chance.choice(OF_NAMED if named else PATTERNS)
    tests = [test.format(v="v", w="w") for test in chance.sample(tests_of_all, chance.choice((1, 1, 2)))]
    if chance.random() < 0.5 and tests_of_all is not LIMITS:
        tests[0] = chance.choice((*FURTHER, *PAIR_FURTHER)).format(v="v", w="w")
    where = " AND ".join(["[word]", *(tests if not named or chance.random() < 0.2 else ())])
    select = chance.choice(("", "", "SELECT NEXT", "SELECT NEXT", "SELECT CONTIGUOUS"))
    after = f" {AFTER}" if select and "NOT" not in pattern and chance.random() < 0.5 else ""
    returned = chance.choice(("MATCH word, COUNT(*) AS n", "COUNT(*) AS n")) if not after else "MATCH COUNT(*) AS n"
    text = (
        f"QUERY q RETURN {returned} PATTERN {pattern} WHERE {where} {select}{after} WITHIN {chance.randint(3, 8)} s;\n"
    )
    least, times = chance.choice(("+", "+", "*", "{1,2}", "{2}")), chance.choice(("", "+", "+", "{1,2}"))
    body = TWICE if " D* d" in pattern else chance.choice(NAMED)
    body = body.replace("{least}", least).replace("{times}", times)
    given = f"PATTERN p AS {body} WHERE {' AND '.join(tests)};\n" if named else ""
    time, unit = chance.choice((("TIMESTAMP", ""), ("BIGINT", " UNIT s")))
    return with_stream(chance, HEADER.format(time=time, unit=unit, order="") + given + text)


def test_rows_are_the_oracles() -> None:
    hold("aggregates of all events", whole, lambda case, _chance: compare(case, interpreted=True), with_rows=0.5)


def test_rows_are_the_oracles_where_counts_have_limits() -> None:
    hold("counts with limits", limited, lambda case, _chance: compare(case, interpreted=True), with_rows=0.5)


@pytest.mark.parametrize("select", ["", "SELECT NEXT", "SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT"])
@pytest.mark.parametrize("test", ["COUNT(v) <= 3", "4 > COUNT(v.x)", "COUNT(v) BETWEEN 2 AND 3"])
def test_no_partial_match_has_more_events_than_a_count_may_have(test: str, select: str) -> None:
    query = f"QUERY q RETURN MATCH COUNT(v) AS n PATTERN s+ v WHERE {test} {select} WITHIN 100 s;"
    table = pa.table({"at": pa.array([*range(30)], pa.int64()), "x": pa.array([1] * 30, pa.int32())})
    compiled = cepc.compile(STREAM.format(type="INT") + query)
    found = compiled.run(table, most=10_000)["q"].column("n").to_pylist()  # it would be 2^30 of them by SELECT ANY
    assert max(found) == 3
    assert len(found) >= 10


def test_rows_of_a_stream_are_the_oracles() -> None:
    hold("aggregates of all events in a stream", whole, test_streaming.check, with_rows=0.5)
