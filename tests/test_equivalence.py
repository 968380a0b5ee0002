"""The engine's rows are the oracle's, for random programs and streams, and for every counter-example ever found."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import HealthCheck, currently_in_test_context, given, reject, settings
from hypothesis import strategies as st

from tests.equivalence import Refused, by_engine, by_oracle, compile_text, same
from tests.programs import Case, cases


def check_case(case: Case, *, interpreted: bool | None = None) -> bool:
    """Fails if the engine's rows are not the oracle's. False where the run must fail, so that there are none to compare."""
    try:
        compiled = compile_text(case.text)
    except Refused as refused:
        reject() if currently_in_test_context() else pytest.fail(str(refused))
    expected = by_oracle(case, compiled)
    found = by_engine(case, compiled, interpreted=interpreted)
    if expected is None:
        return False  # a run that must fail may fail at another event, or not reach it
    assert found is not None, "the engine fails where the language page has rows"
    for query in compiled.plan.queries:
        assert same(found[query.name], expected[query.name]), (query.name, found[query.name], expected[query.name])
    return True


KINDS = {
    "aggregates counted": cases(match=False, select="ANY", pairs=False),
    "aggregates with conditions over several variables": cases(match=False, select="ANY", pairs=True),
    "matches": cases(match=True, select="ANY"),
    "selection strategies": cases(select="NEXT"),
    "contiguous": cases(select="CONTIGUOUS"),
}


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(suppress_health_check=list(HealthCheck))
def test_rows_equal_the_oracles(kind: str, data: st.DataObject) -> None:
    check_case(data.draw(KINDS[kind]), interpreted=True)


@given(cases(size=3))
@settings(suppress_health_check=list(HealthCheck))
def test_several_queries_of_one_program_do_not_disturb_each_other(case: Case) -> None:
    check_case(case)


# ---- counter-examples, each named after what was wrong ---------------------------------------------------------------

SMALL = "STREAM s (at BIGINT, kind STRING, x INT, z DECIMAL(9, 2)) EVENT TIME at UNIT s EVENT TYPE kind;\n"


def stream(*rows: tuple[int, str, int | None, str | None]) -> tuple[dict[str, object], ...]:
    return tuple({"at": at, "kind": kind, "x": x, "z": None if z is None else Decimal(z)} for at, kind, x, z in rows)


AFTER = "AFTER MATCH SKIP TO NEXT EVENT WITHIN 8 s;"

REGRESSIONS = {
    "AND stopped last whatever its operands prefer": Case(
        SMALL + f"QUERY q RETURN MATCH SUM(A.x) AS r PATTERN AND(A+?, B) SELECT NEXT {AFTER}",
        stream((0, "A", 1, None), (1, "A", 2, None), (2, "B", 4, None), (3, "A", 8, None)),
    ),
    "an optional reluctant operand of AND was preferred to stopping": Case(
        SMALL + f"QUERY q RETURN MATCH SUM(A.x) AS r PATTERN AND(A+, B??) SELECT CONTIGUOUS {AFTER}",
        stream((0, "A", 1, None), (1, "A", 2, None), (2, "B", 4, None), (3, "A", 8, None)),
    ),
    "an iteration that prefers to match nothing did not end its repetition": Case(
        SMALL + f"QUERY q RETURN MATCH SUM(A.x) AS r PATTERN SEQ(B, (A??)*, NOT D) SELECT NEXT {AFTER}",
        stream((0, "B", 1, None), (1, "D", 2, None), (2, "A", 4, None), (3, "A", 8, None)),
    ),
    "AFTER MATCH preferred a later event to one that ties": Case(
        SMALL
        + "QUERY q RETURN MATCH SUM(A.x) AS r PATTERN AND(A, A) SELECT CONTIGUOUS AFTER MATCH SKIP TO LAST A WITHIN 8 s;",
        stream((0, "A", 1, None), (1, "A", 2, None), (1, "A", 4, None), (2, "A", 8, None)),
    ),
    "negative decimals counted as zero in sums": Case(
        SMALL + "QUERY q RETURN SUM(A.z) AS r PATTERN A WITHIN 5 s;", stream((0, "A", 1, "1.50"), (1, "A", 1, "-0.25"))
    ),
}


@pytest.mark.parametrize("case", REGRESSIONS.values(), ids=REGRESSIONS.keys())
def test_counter_example(case: Case) -> None:
    check_case(case)
