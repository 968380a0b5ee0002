"""Match queries that share parts of their matches have the rows that they have by themselves, which are the
oracle's.
"""

from __future__ import annotations

import gc
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from cepc.explaining.as_text import to_text
from cepc.explaining.explanation import explain
from cepc.passes.motto import share
from cepc.passes.motto.motto import Asked, asked_of, matches_alone, shared_matches
from cepc.passes.strategy import strategy
from cepc.shared_plans import Options, plan_shared, workload_of
from cepc_runtime.batch import execute
from cepc_runtime.enumerate.arranged import arrange_for
from cepc_runtime.enumerate.budget import MatchBudget, TooManyPartialMatchesError, WhyListed
from cepc_runtime.enumerate.enumerator import Enumerator, timeline_of
from cepc_runtime.enumerate.evaluation import Evaluator
from cepc_runtime.enumerate.joins import JoinRoom, Joins, _Rows
from cepc_runtime.enumerate.matches import MatchRows
from cepc_runtime.enumerate.search import SearchMeans
from cepc_runtime.enumerate.standing import Matches
from cepc_runtime.events.grouped import read
from cepc_runtime.events.letters import classify
from cepc_runtime.parts.resources import Resources
from cepc_runtime.plan import as_json as plan_data
from cepc_runtime.sql.evaluate.errors import EvaluationError
from cepc_runtime.work_done import Work
from tests.driven import driven
from tests.equivalence import Compiled, Refused, answered, compile_text, same, table_of
from tests.programs import HEADER, LOCAL, PAIR, Case, with_computed, with_stream
from tests.programs import Asked as Wanted
from tests.programs import query as query_text
from tests.properties import NOTHING, Seen, hold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cepc.passes.motto import Derivation
    from cepc_runtime.enumerate.extension import Sources
    from cepc_runtime.plan.physical import PhysicalPlan

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
    workload = workload_of(compiled.program, compiled.logical)
    found = [asked_of(q, p) for q, p in zip(workload.plan.queries, workload.patterns, strict=True)]
    return [a for a in found if a is not None]


def sharing_all(compiled: Compiled) -> PhysicalPlan:
    """The plan with all that can be shared, partition by partition, and joins for all else that joins can find."""
    partition = {q.name: tuple(sorted(q.partition)) for q in compiled.plan.queries}
    several = asked(compiled)
    found = []
    for key in dict.fromkeys(partition[a.query.name] for a in several):
        of_class = [a for a in several if partition[a.query.name] == key]
        made = share([a.query for a in of_class], Eager())
        shared = shared_matches(made, of_class)
        found += [shared] if shared is not None else []
        found += matches_alone(made, of_class)
    return strategy(replace(compiled.logical, shared_matches=tuple(found)), "local")


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
    driven(events, strategy(plan, "local"), block=2, work=Work(1, told.append))
    assert len(told) > 5
    assert told == sorted(told)
    assert told[-1] == 1


def test_a_plan_with_shared_matches_survives_json() -> None:
    text = program("SEQ(A a, B b, C)", "SEQ(A, B, D)", "AND(A, SEQ(B, C), NOT D)", where="a.x < b.x")
    plan = sharing_all(compile_text(text))
    assert plan.shared_matches
    assert plan_data.from_text_of_plan(plan_data.to_text(plan)) == plan


# --- the rows


def by_joins(
    plan: PhysicalPlan, table: Any, block: int, held: int, portion: int, searched: Callable[[], None] = lambda: None
) -> dict[str, list[Any]]:
    """The rows of the queries that share, with limits so small that portions are halved, and queries searched."""
    found: dict[str, list[Any]] = {}
    reading = read(table, plan.stream)
    for shared in plan.shared_matches:
        names = {answer.query for answer in shared.answers}
        queries = {q.name: q for q in plan.queries if q.name in names}
        arranged = arrange_for(reading, classify(reading, plan.letters), plan.stream, list(queries.values()))
        timeline, evaluator = timeline_of(arranged.events, arranged.kinds), Evaluator(arranged.events.table)

        def search(name: str, sources: Sources) -> Iterator[Matches]:
            searched()
            return Enumerator(queries[name], timeline, evaluator).matches(sources)  # noqa: B023 - used in this round

        joins = Joins(
            shared, list(queries.values()), timeline, evaluator, search,
            SearchMeans(MatchBudget(WhyListed(""), None), block), JoinRoom(held, portion),
        )  # fmt: skip
        alike: dict[tuple[str, tuple[str, ...], int], list[Matches]] = {}
        for name, matches in joins.matches():
            alike.setdefault((name, matches.names, len(matches.positions)), []).append(matches)
        found |= {name: [] for name in queries}
        for (name, *_), blocks in alike.items():
            rows = MatchRows(queries[name], plan.stream, evaluator)
            found[name] += rows.table(_one_after_the_other(blocks)).to_pylist()
    return found


def _one_after_the_other(blocks: list[Matches]) -> Matches:
    """One block of those that have one match each."""
    assert all(block.number is None for block in blocks)
    positions = np.concatenate([block.positions for block in blocks], axis=1)
    return Matches(blocks[0].names, positions, np.concatenate([block.variables for block in blocks], axis=1))


def test_nothing_is_held_while_smaller_portions_are_searched() -> None:
    compiled = compile_text(program("SEQ(A, B)", "SEQ(A, B, C)", "SEQ(A, B, C, D)"))
    rows = tuple({"at": i // 8, "kind": "ABCD"[i // 2 % 4], "x": 1} for i in range(32))
    plan, table = sharing_all(compiled), table_of(Case("", rows), compiled)
    held: list[int] = []

    def look() -> None:
        # Not isinstance, which asks a weak reference what it refers to, and that may be gone.
        held.append(sum(thing.size for thing in gc.get_objects() if type(thing) is _Rows))

    gc.collect()  # what tests before this one left
    found = by_joins(plan, table, 1000, 100, 1000, look)
    assert held
    assert not any(held)
    assert {name: len(rows) for name, rows in found.items()} == {"q0": 24, "q1": 32, "q2": 16}


def tree(chance: Random, depth: int = 1) -> str:
    """A pattern of SEQ and AND over types; @ stands for a variable."""
    if depth < 0 or (depth == 0 and chance.random() < 0.5):
        return chance.choice(("A @", "A @", "B @", "B @", "C @", "Big @"))
    operator = chance.choice(("SEQ", "SEQ", "AND"))
    parts = [tree(chance, depth - 1) for _ in range(chance.randint(2, 3 if depth else 2))]
    return f"{operator}({', '.join(parts)})"


def match_query(chance: Random, name: str) -> str:
    text = next(text for text in iter(lambda: tree(chance), None) if 2 <= text.count("@") <= 4)
    pieces = text.split("@")
    names = [f"v{i}" for i in range(len(pieces) - 1)]
    pattern = pieces[0] + "".join(n + p for n, p in zip(names, pieces[1:], strict=True))
    if chance.random() < 0.2:
        pattern = f"AND({pattern}, NOT {chance.choice('BCD')} n)"
    where = [chance.choice(("[word]", "[word]", "[word, k]", "[word, g]"))]
    for _ in range(chance.choice((0, 0, 1, 2))):
        v, w = chance.sample(names, 2)
        pairs = (*PAIR[:4], "{v}.x < {w}.x", "{v}.x % {w}.x = 1")
        where.append(chance.choice((*pairs, *LOCAL[:2])).format(v=v, w=w))
    returned = chance.choice((f"{names[0]}.n AS r, {names[-1]}.x + 1 AS s, COUNT(*) AS n", "*"))
    within = chance.choice(("3 s", "6 s", "6 s", "UNBOUNDED"))
    kind = "MATCH"
    if Random(pattern).random() < 0.3:  # by draws of its own, so that all others are as before
        kind, returned = "EACH", f"{returned}, VARIABLE() AS v, RUNNING SUM({names[-1]}.x) AS so_far"
    return f"QUERY {name} RETURN {kind} {returned} PATTERN {pattern} WHERE {' AND '.join(where)} WITHIN {within};\n"


def any_query(chance: Random, name: str, header: str) -> str:
    """Any query whose matches joins can find."""
    wanted = Wanted(match=True, select="ANY", after=False)
    texts = (query_text(chance, name, wanted) for _ in iter(int, 1))
    return next(text for text in texts if _is_taken(header + text))


def _is_taken(text: str) -> bool:
    try:
        return bool(asked(compile_text(text)))
    except Refused:
        return False


def programs(chance: Random) -> Case:
    time, unit = chance.choice((("TIMESTAMP", ""), ("BIGINT", " UNIT s")))
    header = HEADER.format(time=time, unit=unit, order=chance.choice(("", " ORDER BY seq")))
    names = [f"q{i}" for i in range(chance.randint(2, 4))]
    queries = [match_query(chance, n) if chance.random() < 0.7 else any_query(chance, n, header) for n in names]
    return with_computed(chance, with_stream(chance, header + "".join(queries)))


def check(case: Case, chance: Random) -> Seen:
    compiled = compile_text(case.text)
    expected = answered(case, compiled)
    if expected is None:
        return NOTHING  # a run that must fail may fail at another event
    plan, table = sharing_all(compiled), table_of(case, compiled)
    reading = read(table, plan.stream)
    alone = driven(reading, compiled.plan)
    together = execute(plan, table).tables
    for query in plan.queries:
        assert same(alone[query.name].to_pylist(), expected[query.name].rows), query.name
        assert same(together[query.name].to_pylist(), expected[query.name].rows), query.name
    block, held, portion = chance.choice((1, 3, 1000)), chance.choice((0, 8, 40, 10**6)), chance.choice((1, 3, 1000))
    for name, found in by_joins(plan, table, block, held, portion).items():
        assert same(found, expected[name].rows), (name, block, held, portion)
    joined = {answer.query for shared in plan.shared_matches for answer in shared.answers}
    return Seen.of(case, {name: answer for name, answer in expected.items() if name in joined})


def test_shared_is_unshared_is_the_oracle() -> None:
    hold("matches: shared, unshared and the oracle", programs, check)


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


def test_a_query_that_is_joined_with_others_does_not_fail_for_their_matches() -> None:
    text = "STREAM s (at BIGINT, kind STRING) EVENT TIME at UNIT s EVENT TYPE kind;\n" + "".join(
        f"QUERY q{n} RETURN MATCH * PATTERN SEQ(A a, B b, C{n} c) WITHIN 60 s;\n" for n in range(5)
    )
    (workload,) = plan_shared(compile_text(text).program, Options(seconds=None)).workloads
    plan = strategy(workload.plan, "local")
    (shared,) = plan.shared_matches
    assert len(shared.answers) == 5
    few = Resources(most=1)  # and 20 for each event

    def run(events: int) -> dict[str, Any]:
        kinds = ["A", "B"] * (events // 2) + [f"C{n}" for n in range(5)]
        table = pa.table({"at": [at // 5 for at in range(len(kinds))], "kind": kinds})
        return dict(execute(plan, table, resources=few).tables)

    # of 465 pairs of an A and a later B, 36 are of one instant
    assert {name: table.num_rows for name, table in run(60).items()} == {f"q{n}": 465 - 36 for n in range(5)}
    with pytest.raises(TooManyPartialMatchesError, match="query q0: more than 4,101 partial matches"):
        run(200)
