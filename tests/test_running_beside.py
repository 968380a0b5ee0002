"""RUNNING beside other variables, and of several: which events are at hand, and what is up to them, by the oracle."""

from __future__ import annotations

import tracemalloc
from random import Random

import pytest

from tests.equivalence import by_engine, by_oracle, compile_text, same
from tests.programs import HEADER, PAIR_RUNNING, Case, with_stream

PATTERNS = (
    "SEQ(A a, B+ b)", "SEQ(B+ b, A+ a)", "SEQ(A+ a, B b, C)", "OR(A a, B b){1,4}", "AND(A+ a, B b)", "SEQ(OR(A a, B b)+, C)",
    "SEQ(C, NOT B b, A+ a)",
)  # fmt: skip
EMPTY = dict.fromkeys(("seq", "word", "k", "g", "x", "y", "z", "n", "d", "o"))
SELECTIONS = (
    "", "SELECT NEXT AFTER MATCH SKIP TO NEXT EVENT", "SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT",
)  # fmt: skip


@pytest.mark.parametrize(
    "condition", [pytest.param(c, marks=() if n % 3 == 0 else pytest.mark.long) for n, c in enumerate(PAIR_RUNNING)]
)
def test_a_match_is_one_for_every_event_at_hand_and_every_tuple_of_others(condition: str) -> None:
    compared = found = 0
    for pattern in PATTERNS:
        for v, w in ("ab", "ba"):
            for seed, selection in enumerate(SELECTIONS):
                where = condition.format(v=v, w=w)
                query = f"QUERY q RETURN MATCH * PATTERN {pattern} WHERE [word] AND {where} {selection} WITHIN 9 s;\n"
                case = with_stream(
                    Random(f"{pattern} {v} {seed}"), HEADER.format(time="BIGINT", unit=" UNIT s", order="") + query
                )
                compiled = compile_text(case.text)
                expected = by_oracle(case, compiled)
                made = by_engine(case, compiled)
                assert (made is None) == (expected is None), case.text
                if made is not None and expected is not None:
                    assert same(made["q"], expected["q"]), case.text
                    compared, found = compared + 1, found + len(made["q"])
    assert compared > 35
    assert found > 200


def test_a_count_of_none_so_far_divides_nothing() -> None:
    query = (
        "QUERY q RETURN MATCH COUNT(*) AS n PATTERN SEQ(A, OR(B b, C c)+) WHERE 6 / RUNNING COUNT(c) > RUNNING COUNT(b) "
        "SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT WITHIN 9 s;\n"
    )
    header = HEADER.format(time="BIGINT", unit=" UNIT s", order="")
    for kinds, expected in ("ACB", {"q": [{"n": 3, "match_start": 0, "match_end": 2}]}), ("ABC", None):
        case = Case(header + query, tuple({**EMPTY, "at": at, "kind": kind} for at, kind in enumerate(kinds)))
        assert by_engine(case, compile_text(case.text)) == expected, "a division by zero"


def test_what_may_be_null_keeps_nothing_from_being_zero() -> None:
    query = (
        "QUERY q RETURN MATCH COUNT(*) AS n PATTERN SEQ(A a, B b) WHERE 10 / GREATEST(a.x + b.x + 1, b.k) > 1 SELECT CONTIGUOUS "
        "AFTER MATCH SKIP PAST LAST EVENT WITHIN 9 s;\n"
    )
    rows = [{**EMPTY, "kind": "A", "x": 5}, {**EMPTY, "kind": "B", "k": 1, "x": 0}, {**EMPTY, "kind": "A"}]
    header = HEADER.format(time="BIGINT", unit=" UNIT s", order="")
    for k, count in (1, 2), (0, None):
        every = tuple({**row, "at": at} for at, row in enumerate([*rows, {**EMPTY, "kind": "B", "k": k, "x": 0}]))
        made = by_engine(Case(header + query, every), compile_text(header + query))
        assert (None if made is None else len(made["q"])) == count, "a division by zero"


def test_a_condition_of_a_later_event_goes_through_the_events_before_it_once() -> None:
    """Not once for each of them: a match of 4,000 events would take a gigabyte."""
    kinds = ("A" + "B" * 3998 + "C") * 3
    rows = tuple({**EMPTY, "at": at, "kind": kind, "x": 2 if kind == "B" else 7996} for at, kind in enumerate(kinds))
    query = (
        "QUERY q RETURN MATCH COUNT(*) AS n PATTERN SEQ(A a, B+ b, C c) WHERE RUNNING SUM(b.x) <= c.x SELECT CONTIGUOUS "
        "AFTER MATCH SKIP PAST LAST EVENT WITHIN 1 d;\n"
    )
    case = Case(HEADER.format(time="BIGINT", unit=" UNIT s", order="") + query, rows)
    compiled = compile_text(case.text)
    tracemalloc.start()
    made = by_engine(case, compiled)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert made is not None
    assert [row["n"] for row in made["q"]] == [4000] * 3
    assert peak < 100e6
