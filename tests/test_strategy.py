"""The last pass: by which strategy each target executes a query."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cepc.passes.strategy import strategy
from cepc.shared_plans import Options, plan_shared
from cepc_runtime.plan import Count, CountNeighbours, Join, List, Native, is_counted, unshared
from tests.driven import driven
from tests.equivalence import compile_text
from tests.test_drive import STREAM, events

if TYPE_CHECKING:
    from cepc.passes.strategy import Target
    from cepc_runtime.plan import Plan, Strategy

PROGRAM = "".join(
    f"QUERY q{i} {query} WITHIN 9 s;\n"
    for i, query in enumerate(
        (
            "RETURN COUNT(*) AS n PATTERN A",
            "RETURN COUNT(*) AS n PATTERN SEQ(A, B)",
            "RETURN COUNT(*) AS n PATTERN SEQ(A, B) WHERE A.x < B.x",
            "RETURN COUNT(*) AS n PATTERN SEQ(A, B, C) WHERE A.x < C.x",
            "RETURN MATCH * PATTERN SEQ(A, B, C)",
            "RETURN MATCH * PATTERN SEQ(A, B, D)",
            "RETURN MATCH * PATTERN SEQ(A, B+)",
        )
    )
)
HERE: tuple[type[Strategy], ...] = (Count, Count, CountNeighbours, List, Join, Join, List)


def shared(text: str = PROGRAM, level: int = 2) -> Plan:
    (plan,) = plan_shared(compile_text(STREAM + text).program, Options(1 if level == 1 else 2)).plans
    return plan


@pytest.mark.parametrize(("target", "first"), [("local", Count), ("stream", Count), ("batch", Native)])
def test_a_target_has_strategies_of_its_own(target: Target, first: type[Strategy]) -> None:
    found = strategy(shared(), target).queries
    assert tuple(type(query.strategy) for query in found) == (first, *HERE[1:])


def test_a_plan_that_was_here_stays_as_it_is() -> None:
    plan = shared()
    assert strategy(plan, "local") == strategy(plan, "stream") == plan


def test_without_the_pass_that_finds_parts_nothing_is_joined() -> None:
    assert [type(query.strategy) for query in shared(level=1).queries[4:]] == [List] * 3


def test_a_join_knows_with_which_queries_it_shares_and_why() -> None:
    first, second = (query.strategy for query in shared().queries[4:6])
    assert isinstance(first, Join)
    assert isinstance(second, Join)
    assert first.shared == second.shared
    assert (first.reason.kind, first.reason.text, second.reason.text) == ("joins", "q5", "q4")


def test_unshared_every_query_is_executed_by_itself() -> None:
    plan = unshared(shared())
    assert plan.queries == compile_text(STREAM + PROGRAM).plan.queries
    assert (plan.sharing, plan.shared_matches) == ((), ())


NOT_NATIVE = [
    ("RETURN AVG(A.x) AS n PATTERN A", "an average of integers, which Spark rounds otherwise"),
    ("RETURN COUNT(*) AS n PATTERN SEQ(A, B)", "two events"),
    ("RETURN COUNT(*) AS n PATTERN SEQ(A, NOT B)", "a NOT"),
    ("RETURN MATCH * PATTERN A", "a match query"),
]


@pytest.mark.parametrize("query", [query for query, _ in NOT_NATIVE], ids=[why for _, why in NOT_NATIVE])
def test_spark_is_given_what_it_finds_to_the_last_bit_alone(query: str) -> None:
    (found,) = strategy(shared(f"QUERY q {query} WITHIN 9 s;"), "batch").queries
    assert not isinstance(found.strategy, Native)


def test_what_spark_alone_answers_is_driven_nowhere() -> None:
    plan = strategy(shared("QUERY q RETURN COUNT(*) AS n PATTERN A WITHIN 9 s;"), "batch")
    assert not is_counted(plan.queries[0])
    with pytest.raises(ValueError, match="query q is for Spark alone"):
        driven(events("A1"), plan)


def test_the_rows_are_those_of_every_query_by_itself() -> None:
    plan, table = shared(), events("A1 B2 A0 B1 C3 D4 B9 C0")
    assert {name: sorted(rows.to_pylist(), key=repr) for name, rows in driven(table, plan).items()} == {
        name: sorted(rows.to_pylist(), key=repr) for name, rows in driven(table, unshared(plan)).items()
    }
