"""The last pass: by which strategy each target executes a query."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

import pytest

from cepc.passes.strategy import ALONE, strategy
from cepc.shared_plans import Options, plan_shared
from cepc_runtime.plan.as_json import to_text
from cepc_runtime.plan.query import QueryPlan
from cepc_runtime.plan.strategy import Count, CountNeighbours, Join, List, Native, Reason, executed, is_counted
from tests.driven import driven
from tests.equivalence import compile_text
from tests.test_drive import STREAM, events

if TYPE_CHECKING:
    from cepc.passes.strategy import PlanTarget
    from cepc.planning.logical import LogicalPlan
    from cepc_runtime.plan.strategy import Strategy

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


def shared(text: str = PROGRAM, level: int = 2) -> LogicalPlan:
    (plan,) = plan_shared(compile_text(STREAM + text).program, Options(1 if level == 1 else 2)).plans
    return plan


@pytest.mark.parametrize(("target", "first"), [("local", Count), ("stream", Count), ("batch", Native)])
def test_a_target_has_strategies_of_its_own(target: PlanTarget, first: type[Strategy]) -> None:
    found = strategy(shared(), target).queries
    assert tuple(type(query.strategy) for query in found) == (first, *HERE[1:])


def test_a_plan_has_a_strategy_for_what_each_query_asks() -> None:
    plan = shared()
    found = strategy(plan, "local")
    assert found == strategy(plan, "stream")
    asked = [field.name for field in fields(QueryPlan)]
    assert [[getattr(query, name) for name in asked] for query in found.queries] == [
        [getattr(query, name) for name in asked] for query in plan.queries
    ]


def test_why_a_query_has_its_strategy_is_for_people() -> None:
    plan = strategy(shared(), "local")
    unsaid = replace(
        plan, queries=tuple(executed(q, replace(q.strategy, reason=Reason("states"))) for q in plan.queries)
    )
    assert unsaid == plan
    assert to_text(unsaid) == to_text(plan)
    assert "reason" not in to_text(plan)


def test_without_the_pass_that_finds_parts_nothing_is_joined() -> None:
    assert [type(query.strategy) for query in strategy(shared(level=1), "local").queries[4:]] == [List] * 3


def test_a_join_knows_with_which_queries_it_shares_and_why() -> None:
    first, second = (query.strategy for query in strategy(shared(), "local").queries[4:6])
    assert isinstance(first, Join)
    assert isinstance(second, Join)
    assert first.shared == second.shared
    assert (first.reason.kind, first.reason.text, second.reason.text) == ("joins", "q5", "q4")


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


@pytest.mark.parametrize(("queries", "way"), [(ALONE, Native), (ALONE + 1, Count)])
def test_spark_is_given_no_more_queries_than_it_answers_sooner_one_by_one(queries: int, way: type[Strategy]) -> None:
    text = "".join(f"QUERY q{i} RETURN COUNT(*) AS n PATTERN A WHERE A.x > {i} WITHIN 9 s;\n" for i in range(queries))
    found = strategy(shared(text + "QUERY pairs RETURN COUNT(*) AS n PATTERN SEQ(A, B) WITHIN 9 s;"), "batch").queries
    assert {type(query.strategy) for query in found[:-1]} == {way}


def test_what_spark_alone_answers_is_driven_nowhere() -> None:
    plan = strategy(shared("QUERY q RETURN COUNT(*) AS n PATTERN A WITHIN 9 s;"), "batch")
    assert not is_counted(plan.queries[0])
    with pytest.raises(ValueError, match="query q is for Spark alone"):
        driven(events("A1"), plan)


def test_the_rows_are_those_of_every_query_by_itself() -> None:
    table = events("A1 B2 A0 B1 C3 D4 B9 C0")
    together, alone = strategy(shared(), "local"), compile_text(STREAM + PROGRAM).plan
    assert together.queries != alone.queries
    assert {name: sorted(rows.to_pylist(), key=repr) for name, rows in driven(table, together).items()} == {
        name: sorted(rows.to_pylist(), key=repr) for name, rows in driven(table, alone).items()
    }
