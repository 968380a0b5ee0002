"""Match queries that share parts of their matches have the rows that they have by themselves, which are the oracle's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from cepc.explaining.as_text import to_text
from cepc.explaining.explanation import explain
from cepc.passes.motto import share
from cepc.passes.motto.matches import Asked, asked_of, shared_matches
from cepc.sharing import Options, plan_shared, workload_of
from cepc_runtime import plan_data
from cepc_runtime.enumerate.budget import Budget
from cepc_runtime.enumerate.enumerator import Enumerator, timeline_of
from cepc_runtime.enumerate.evaluation import Evaluator
from cepc_runtime.enumerate.joins import Joins
from cepc_runtime.enumerate.matches import MatchRows
from cepc_runtime.enumerate.run import arrange_for, run_enumerated
from cepc_runtime.evaluate.errors import EvaluationError
from cepc_runtime.events import read
from cepc_runtime.execute import execute
from cepc_runtime.letters import classify
from cepc_runtime.work import Work
from tests.equivalence import Compiled, Refused, by_oracle, compile_text, same, table_of
from tests.programs import HEADER, LOCAL, PAIR, Case

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc.passes.motto import Derivation
    from cepc_runtime.enumerate.extension import Sources
    from cepc_runtime.enumerate.standing import Matches
    from cepc_runtime.plan import Plan

STREAM = "STREAM s (at BIGINT, kind STRING, x INT) EVENT TIME at UNIT s EVENT TYPE kind;\n"


def program(*patterns: str, where: str = "") -> str:
    clause = f" WHERE {where}" if where else ""
    return STREAM + "".join(
        f"QUERY q{i} RETURN MATCH * PATTERN {p}{clause if i == 0 else ''} WITHIN 5 s;\n" for i, p in enumerate(patterns)
    )


@dataclass(frozen=True)
class Eager:
    """A model under which everything is shared that can be."""

    def cost(self, derivation: Derivation) -> float:
        return float(len(derivation.rest)) if derivation.source else 100.0


def asked(compiled: Compiled) -> list[Asked]:
    workload = workload_of(compiled.program, compiled.plan)
    found = [asked_of(q, p) for q, p in zip(workload.plan.queries, workload.patterns, strict=True)]
    return [a for a in found if a is not None]


def sharing_all(compiled: Compiled) -> Plan:
    """The plan with all that can be shared, partition by partition."""
    partition = {q.name: tuple(sorted(q.partition)) for q in compiled.plan.queries}
    several = asked(compiled)
    found = []
    for key in dict.fromkeys(partition[a.query.name] for a in several):
        of_class = [a for a in several if partition[a.query.name] == key]
        shared = shared_matches(share([a.query for a in of_class], Eager()), of_class)
        found += [shared] if shared is not None else []
    return replace(compiled.plan, shared_matches=tuple(found))


# --- which queries


TAKEN = {
    "SEQ(A, B, C)": True,
    "AND(A, SEQ(B, C), D)": True,
    "AND(A, B, NOT C)": True,
    "AND(SEQ(A, B), NOT C)": True,
    "SEQ(A, A b)": True,
    "A": False,
    "SEQ(A, B+)": False,
    "SEQ(A, B?, C)": False,
    "SEQ(A, NOT B, C)": False,
    "AND(A, B, NOT SEQ(C, D))": False,
    "SEQ(A, OR(B, C))": False,
    "SEQ(A, SOME(B, C))": False,
    "SEQ(A, A)": False,
}


@pytest.mark.parametrize(("pattern", "taken"), TAKEN.items(), ids=TAKEN)
def test_patterns_of_single_events_are_taken(pattern: str, taken: bool) -> None:
    assert bool(asked(compile_text(program(pattern)))) == taken


@pytest.mark.parametrize(
    "clause", ["SELECT NEXT WITHIN 5 s", "SELECT CONTIGUOUS WITHIN 5 s", "WHERE n.x > A.x WITHIN 5 s"]
)
def test_other_queries_are_left_alone(clause: str) -> None:
    text = STREAM + f"QUERY q RETURN MATCH A.x PATTERN AND(A, B, NOT C n) {clause};"
    assert asked(compile_text(text)) == []


def test_variables_have_names_of_their_own() -> None:
    first, second = asked(compile_text(program("AND(B b, A a)", "AND(A x, B y)", where="a.x < b.x")))
    assert first.query.asks.pattern == second.query.asks.pattern
    assert (first.variables, second.variables) == (("b", "a"), ("y", "x"))


# --- what the plan says


def test_the_default_shares_matches_and_level_0_does_not() -> None:
    text = program("SEQ(A, B, C)", "SEQ(A, B, D)", "SEQ(A, B)")
    compiled = compile_text(text)
    (shared,) = plan_shared(compiled.program).plans[0].shared_matches
    assert [(part.source, len(part.joins)) for part in shared.parts] == [(None, 2), (0, 1), (0, 1)]
    assert sorted(answer.query for answer in shared.answers) == ["q0", "q1", "q2"]
    assert plan_shared(compiled.program, Options(0)).plans[0].shared_matches == ()


def test_a_query_that_shares_nothing_is_answered_by_joins_too_and_no_one_is_told_that_it_shares() -> None:
    compiled = compile_text(program("SEQ(A, B)", "SEQ(C, D)", "SEQ(A, B+)"))
    shared = plan_shared(compiled.program)
    assert [[answer.query for answer in found.answers] for found in shared.plans[0].shared_matches] == [["q0"], ["q1"]]
    assert "found once" not in to_text(compiled.program, explain(compiled.program, shared))


def test_joins_say_how_far_they_are() -> None:
    compiled = compile_text(program("SEQ(A, B)"))
    plan, told = plan_shared(compiled.program).plans[0], list[float]()
    schema = pa.schema([("at", pa.int64()), ("kind", pa.string()), ("x", pa.int32())])
    events = pa.Table.from_pylist([{"at": i, "kind": "AB"[i % 2], "x": 1} for i in range(40)], schema=schema)
    run_enumerated(read(events, plan.stream), plan, plan.queries, block=2, work=Work(1, told.append))
    assert len(told) > 5
    assert told == sorted(told)
    assert told[-1] == 1


def test_a_plan_with_shared_matches_survives_json() -> None:
    text = program("SEQ(A a, B b, C)", "SEQ(A, B, D)", "AND(A, SEQ(B, C), NOT D)", where="a.x < b.x")
    plan = sharing_all(compile_text(text))
    assert plan.shared_matches
    assert plan_data.from_text_of_plan(plan_data.to_text(plan)) == plan


# --- the rows


def by_joins(plan: Plan, table: Any, block: int, held: int, portion: int) -> dict[str, list[Any]]:
    """The rows of the queries that share, with limits so small that portions are halved, and queries searched."""
    found: dict[str, list[Any]] = {}
    reading = read(table, plan.stream)
    for shared in plan.shared_matches:
        names = {answer.query for answer in shared.answers}
        queries = {q.name: q for q in plan.queries if q.name in names}
        arranged = arrange_for(reading, classify(reading, plan.letters), plan, list(queries.values()))
        timeline, evaluator = timeline_of(arranged.events, arranged.kinds), Evaluator(arranged.events.table)

        def search(name: str, sources: Sources) -> Iterator[Matches]:
            return Enumerator(queries[name], timeline, evaluator).matches(sources)  # noqa: B023 - used in this round

        joins = Joins(
            shared, list(queries.values()), timeline, evaluator, search, Budget("", None, None),
            block=block, held=held, portion=portion,
        )  # fmt: skip
        rows_of = {name: MatchRows(query, plan.stream, evaluator) for name, query in queries.items()}
        found |= {name: [] for name in queries}
        for name, matches in joins.matches():
            found[name] += rows_of[name].table(matches).to_pylist()
    return found


@st.composite
def rows(draw: st.DrawFn) -> tuple[dict[str, Any], ...]:
    """Events that match often: few types, few groups, ties."""
    row = st.fixed_dictionaries({
        "at": st.integers(0, 8),
        "seq": st.sampled_from((1, 1, 2)),
        "kind": st.sampled_from("AAABBBCCD"),
        "k": st.sampled_from((1, 1, 1, 2)),
        "g": st.sampled_from(("p", "p", "p", None)),
        "x": st.sampled_from((0, 1, 2, 3, 3, None)),
        "y": st.sampled_from((0.5, 1.5, 2.5)),
        "z": st.none(),
    })  # fmt: skip
    return tuple(draw(st.lists(row, min_size=8, max_size=14)))


@st.composite
def trees(draw: st.DrawFn, depth: int = 1) -> str:
    """A pattern of SEQ and AND over types; @ stands for a variable."""
    if depth < 0 or (depth == 0 and draw(st.booleans())):
        return draw(st.sampled_from(("A @", "A @", "B @", "B @", "C @", "Big @")))
    operator = draw(st.sampled_from(("SEQ", "SEQ", "AND")))
    parts = draw(st.lists(trees(depth=depth - 1), min_size=2, max_size=3 if depth else 2))
    return f"{operator}({', '.join(parts)})"


@st.composite
def match_queries(draw: st.DrawFn, name: str) -> str:
    pieces = draw(trees().filter(lambda text: 2 <= text.count("@") <= 4)).split("@")
    names = [f"v{i}" for i in range(len(pieces) - 1)]
    pattern = pieces[0] + "".join(n + p for n, p in zip(names, pieces[1:], strict=True))
    if draw(st.integers(0, 4)) == 0:
        pattern = f"AND({pattern}, NOT {draw(st.sampled_from('BCD'))} n)"
    where = [draw(st.sampled_from(("[k]", "[k]", "[g]")))] if draw(st.integers(0, 2)) == 0 else []
    for _ in range(draw(st.sampled_from((0, 0, 1, 2)))):
        v, w = draw(st.lists(st.sampled_from(names), min_size=2, max_size=2, unique=True))
        pairs = (*PAIR[:4], "{v}.x < {w}.x", "{v}.x % {w}.x = 1")
        where.append(draw(st.sampled_from((*pairs, *LOCAL[:2]))).format(v=v, w=w))
    clause = f" WHERE {' AND '.join(where)}" if where else ""
    returned = draw(st.sampled_from((f"{names[0]}.x AS r, {names[-1]}.x + 1 AS s, COUNT(*) AS n", "*")))
    within = draw(st.sampled_from(("3 s", "6 s", "6 s", "UNBOUNDED")))
    return f"QUERY {name} RETURN MATCH {returned} PATTERN {pattern}{clause} WITHIN {within};\n"


@st.composite
def programs(draw: st.DrawFn) -> Case:
    header = HEADER.format(time="BIGINT", unit=" UNIT s", order=draw(st.sampled_from(("", " ORDER BY seq"))))
    texts = [draw(match_queries(f"q{i}")) for i in range(draw(st.integers(2, 4)))]
    return Case(header + "".join(texts), draw(rows()))


def check(case: Case, block: int, held: int, portion: int) -> None:
    try:
        compiled = compile_text(case.text)
    except Refused:
        reject()
    expected = by_oracle(case, compiled)
    if expected is None:
        return  # a run that must fail may fail at another event
    plan, table = sharing_all(compiled), table_of(case, compiled)
    reading = read(table, plan.stream)
    alone = run_enumerated(reading, replace(plan, shared_matches=()), plan.queries)
    together = execute(plan, table).tables
    for query in plan.queries:
        assert same(alone[query.name].to_pylist(), expected[query.name]), query.name
        assert same(together[query.name].to_pylist(), expected[query.name]), query.name
    for name, found in by_joins(plan, table, block, held, portion).items():
        assert same(found, expected[name]), (name, block, held, portion)


@given(programs(), st.sampled_from((1, 3, 1000)), st.sampled_from((0, 8, 40, 10**6)), st.sampled_from((1, 3, 1000)))
@settings(suppress_health_check=list(HealthCheck))
def test_shared_is_unshared_is_the_oracle(case: Case, block: int, held: int, portion: int) -> None:
    check(case, block, held, portion)


def test_a_condition_that_fails_is_an_error_only_where_nothing_else_excludes() -> None:
    text = program("SEQ(A a, B b)", "SEQ(A, B, C)", where="a.x % b.x = 1 AND a.x + b.x > 3")
    compiled = compile_text(text)
    plan = sharing_all(compiled)
    assert plan.shared_matches
    schema = pa.schema([("at", pa.int64()), ("kind", pa.string()), ("x", pa.int32())])
    events = pa.Table.from_pylist(
        [{"at": i, "kind": k, "x": x} for i, (k, x) in enumerate([("A", 3), ("B", 0), ("B", 2)])], schema=schema
    )
    assert execute(plan, events).tables["q0"].num_rows == 1
    failing = compile_text(program("SEQ(A a, B b)", "SEQ(A, B, C)", where="a.x % b.x = 1"))
    with pytest.raises(EvaluationError):
        execute(sharing_all(failing), events)


def test_explain_says_what_is_found_once() -> None:
    program_ = compile_text(program("SEQ(A, B, C)", "SEQ(A, B, D)")).program
    shown = to_text(program_, explain(program_, plan_shared(program_)))
    assert "found once       q0, q1: SEQ(A, B)" in shown
    assert "motto: q0, q1: find SEQ(A, B) once" in shown
    assert "nothing  " not in shown
