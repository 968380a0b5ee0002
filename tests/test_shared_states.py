"""What queries share, as the plan says it and as the kernel carries it out."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepc_runtime.events.grouped import arrange, read
from cepc_runtime.events.letters import classify
from cepc_runtime.kernel.basis import Costs
from cepc_runtime.kernel.run import count_matches
from cepc_runtime.plan import as_json as plan_data
from cepc_runtime.plan.sharing import Member, SharedStates
from cepc_runtime.plan.strategy import Count, CountedQuery, counted_queries
from cepc_runtime.sql.types import BIGINT, DOUBLE, STRING
from tests.automata import (
    LETTERS,
    WINDOWS,
    aggregate,
    automaton,
    brute_force,
    events,
    expected_rows,
    plan,
    query,
    sorted_rows,
    stream,
    table,
)
from tests.driven import driven
from tests.equivalence import answered, by_engine, compile_text, same
from tests.programs import cases, overlapping
from tests.properties import NOTHING, Seen, hold
from tests.test_kernel import AUTOMATA, RETURNS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc_runtime.kernel.run import Counted
    from cepc_runtime.plan.physical import PhysicalPlan
    from tests.automata import Event
    from tests.programs import Case

SEQ = query(automaton("0 A 1, 1 B 2", [2]), name="a")
LONG = query(automaton("0 C 1, 1 A 2, 2 B 3", [3]), 50, name="b")
MIDDLE = SharedStates((Member("a", (1, 2)), Member("b", (2, 3))), basis=True)


def shared(*parts: SharedStates) -> PhysicalPlan:
    return replace(plan(SEQ, LONG), sharing=parts)


# ---- the plan --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parts", [(), (MIDDLE,), (SharedStates((Member("a", (0,)), Member("b", (0,))), True), MIDDLE)])
def test_what_is_shared_travels_with_the_plan(parts: tuple[SharedStates, ...]) -> None:
    assert plan_data.from_text_of_plan(plan_data.to_text(shared(*parts))) == shared(*parts)


def test_members_have_equally_many_states() -> None:
    with pytest.raises(ValueError, match="different numbers"):
        SharedStates((Member("a", (1,)), Member("b", (1, 2))))


def test_a_state_is_shared_once() -> None:
    with pytest.raises(ValueError, match="state 2 of query b is shared twice"):
        shared(MIDDLE, SharedStates((Member("b", (1, 2)),)))
    assert shared(MIDDLE, SharedStates((Member("b", (1,)),))).sharing[1].members[0].query == "b"


def test_one_stands_for_those_that_are_kept_with_it() -> None:
    twin = query(automaton("0 A 1, 1 B 2", [2]), name="twin")
    equal = SharedStates((Member("a", (0, 1, 2)), Member("twin", (0, 1, 2))), equal=True)
    both = replace(plan(SEQ, LONG, twin), sharing=(equal, MIDDLE))
    assert plan_data.from_text_of_plan(plan_data.to_text(both)) == both
    with pytest.raises(ValueError, match="state 1 of query twin is kept with another"):
        replace(both, sharing=(equal, SharedStates((Member("twin", (1,)), Member("b", (2,))))))


@pytest.mark.parametrize("basis", [False, True])
def test_what_is_kept_once_may_lie_beside_others(basis: bool) -> None:
    """The rows are those of the queries by themselves, for the leader, who it stands for, and the neighbour."""
    twin = query(automaton("0 A 1, 1 B 2", [2]), name="twin")
    equal = SharedStates((Member("a", (0, 1, 2)), Member("twin", (0, 1, 2))), equal=True)
    alone = plan(SEQ, LONG, twin)
    letters = enumerate("CABBACABBB")
    events = table([((0, 1, 2, 3, 3, 5, 6, 7, 8, 60)[i], letter, "g", 1) for i, letter in letters])
    shared_rows = driven(events, replace(alone, sharing=(equal, replace(MIDDLE, basis=basis))))
    rows = driven(events, alone)
    assert [rows[name].num_rows > 0 for name in ("a", "b", "twin")] == [True, True, True]
    for name, found in rows.items():
        assert sorted(map(str, found.to_pylist())) == sorted(map(str, shared_rows[name].to_pylist()))


# ---- any alignment gives the right rows ------------------------------------------------------------------------------

DECISIONS = {"as it pays": 1.0, "always": -1e15, "never": 1e15}


@contextmanager
def deciding(decision: str) -> Iterator[None]:
    """Runs are shared or split as said."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cepc_runtime.kernel.tables.Costs", partial(Costs, application=DECISIONS[decision]))
        yield


@st.composite
def workloads(draw: st.DrawFn) -> list[CountedQuery]:
    """Queries of a few automata, some of them alike, with windows of their own."""
    names = draw(st.lists(st.sampled_from(sorted(AUTOMATA)), min_size=1, max_size=2))
    found = []
    for number in range(draw(st.integers(1, 4))):
        window = draw(st.one_of(st.just((6, 2)), WINDOWS))
        returns = draw(st.sets(st.sampled_from(range(len(RETURNS)))))
        found.append(
            query(
                AUTOMATA[draw(st.sampled_from(names))],
                *window,
                name=f"q{number}",
                returns=[RETURNS[i] for i in sorted(returns)],
            )
        )
    return found


def alignments(chance: Random, queries: list[CountedQuery]) -> tuple[SharedStates, ...]:
    """States of queries side by side: mostly the same states of each, sometimes any."""
    free = {q.name: list(range(q.automaton.states)) for q in queries if q.automaton}
    parts = []
    for _ in range(chance.randint(1, 3)):
        members: list[Member] = []
        wanted = chance.sample(range(4), chance.randint(1, 4))
        for name in chance.sample(sorted(free), len(free)):
            some = chance.sample(free[name], min(len(wanted), len(free[name])))
            states = wanted if chance.random() < 0.75 else some
            if len(states) == len(wanted) and {*states} <= {*free[name]}:
                free[name] = [s for s in free[name] if s not in states]
                members.append(Member(name, tuple(states)))
        if members:
            parts.append(SharedStates(tuple(members), basis=chance.random() < 0.5))
    return tuple(parts)


def twins(queries: list[CountedQuery]) -> tuple[list[CountedQuery], tuple[SharedStates, ...]]:
    """Each query and another with the same pattern and windows that returns something else, kept once."""
    found, parts = list(queries), []
    for q in queries:
        assert q.automaton is not None
        other = replace(query(q.automaton, name=f"{q.name}'", returns=RETURNS[:5]), window=q.window)
        states = tuple(range(q.automaton.states))
        found.append(other)
        parts.append(SharedStates((Member(q.name, states), Member(other.name, states)), equal=True))
    return found, tuple(parts)


@pytest.mark.parametrize("decision", DECISIONS)
@pytest.mark.parametrize("interpreted", [True, False])
@given(data=st.data())
def test_rows_do_not_depend_on_what_is_shared(decision: str, interpreted: bool, data: st.DataObject) -> None:
    queries = data.draw(workloads())
    parts = alignments(Random(data.draw(st.integers(0, 2**32))), queries)
    if data.draw(st.booleans()):
        queries, equal = twins(queries)
        parts = (*equal, *parts)
    rows = data.draw(events(most=12))
    both = replace(plan(*queries), sharing=parts)
    with deciding(decision):
        found = driven(table(rows), both, interpreted=interpreted)
        some = [q for q in queries if data.draw(st.booleans())]
        left = driven(table(rows), both, some, interpreted=interpreted)
    for q in queries:
        expected = sorted_rows(expected_rows(q, brute_force(q, rows)))
        assert sorted_rows(found[q.name].to_pylist()) == expected, q.name
        if q in some:
            assert sorted_rows(left[q.name].to_pylist()) == expected, q.name


def counted_programs(chance: Random) -> Case:
    """Programs in which something is counted: with much in common, or with anything that can be counted."""
    make = overlapping() if chance.random() < 0.5 else cases(size=3, match=False, pairs=False)
    return make(chance)


def whatever_is_shared(case: Case, chance: Random) -> Seen:
    compiled = compile_text(case.text)
    answers = answered(case, compiled)
    if answers is None:
        return NOTHING
    kept = [q for q in counted_queries(compiled.plan.queries) if isinstance(q.strategy, Count)]
    parts = alignments(chance, kept)
    found = by_engine(
        case, replace(compiled, plan=replace(compiled.plan, sharing=parts)), interpreted=chance.random() < 0.5
    )
    assert found is not None
    for name, answer in answers.items():
        assert same(found[name], answer.rows), (name, found[name], answer.rows)
    return Seen.of(case, {query.name: answers[query.name] for query in kept})


@pytest.mark.parametrize("decision", DECISIONS)
def test_rows_of_programs_are_the_oracles_whatever_is_shared(decision: str) -> None:
    with deciding(decision):
        hold(f"any states side by side, runs shared {decision}", counted_programs, whatever_is_shared)


# ---- runs on basis columns -------------------------------------------------------------------------------------------


def together(*queries: CountedQuery, states: tuple[int, ...]) -> SharedStates:
    return SharedStates(tuple(Member(q.name, states) for q in queries), basis=True)


def counted(rows: list[Event], queries: list[CountedQuery], *shared: SharedStates, decision: str = "always") -> Counted:
    s = stream()
    arranged = arrange(read(table(rows), s), s, ["g"], canonical=False)
    costs = Costs(application=DECISIONS[decision])
    return count_matches(arranged, classify(arranged, LETTERS), queries, shared, costs=costs, interpreted=True)


def new_matches(rows: list[Event], first: int, queries: list[CountedQuery], *shared: SharedStates) -> list[list[int]]:
    """For each query, how many matches each event from the first one on ends, if runs are shared."""
    totals = []
    for end in range(first, len(rows) + 1):
        found = counted(rows[:end], queries, *shared).emissions
        totals.append([int(e.planes[:, 0].sum()) for e in found])
    return [[b - a for a, b in pairwise(column)] for column in zip(*totals, strict=True)]


# SEQ(A, B+) over two windows: q1 sees two A, q2 one of them (HAMLET, running example).
Q1, Q2 = (query(automaton("0 A 1, 1 B 2, 2 B 2", [2]), window, name=name) for name, window in (("q1", 100), ("q2", 10)))
BURST: list[Event] = [(9, "A", "g", 0), (10, "A", "g", 0), *((t, "B", "g", 0) for t in range(11, 15))]


def test_a_burst_is_propagated_once_for_queries_with_snapshots_of_their_own() -> None:
    """HAMLET: with snapshot x, the events of a burst end x, 2x, 4x, 8x matches; x is 2 for q1 and 1 for q2."""
    assert new_matches(BURST, 2, [Q1, Q2], together(Q1, Q2, states=(2,))) == [[2, 4, 8, 16], [1, 2, 4, 8]]
    effort = counted(BURST, [Q1, Q2], together(Q1, Q2, states=(2,))).effort
    assert (effort.runs_shared, effort.events_shared, effort.runs_split, effort.events_split) == (1, 4, 0, 0)


def test_an_event_that_extends_other_matches_of_one_query_has_a_snapshot_of_its_own() -> None:
    """HAMLET: 4x + z is 16 for q1 (x = 2, z = 8) and 6 for q2 (x = 1, z = 2), where D does not follow C."""
    q1 = query(automaton("0 A 1, 1 B 2, 2 B 2, 1 C 3, 2 C 3, 3 C 3, 3 B 2, 1 D 2, 2 D 2, 3 D 2", [2, 3]), name="q1")
    q2 = query(automaton("0 A 1, 1 B 2, 2 B 2, 1 C 3, 2 C 3, 3 C 3, 3 B 2, 1 D 2, 2 D 2", [2, 3]), 10, name="q2")
    rows: list[Event] = [(9, "A", "g", 0), (10, "A", "g", 0), *((11 + i, k, "g", 0) for i, k in enumerate("BCDB"))]
    shared = together(q1, q2, states=(2, 3))
    assert new_matches(rows, 2, [q1, q2], shared) == [[2, 4, 8, 16], [1, 2, 2, 6]]
    effort = counted(rows, [q1, q2], shared).effort
    assert (effort.runs_shared, effort.own_columns) == (1, 1)  # q2 has its own columns from D on


STEPS = ("0 A 1", "1 A 1", "1 B 2", "2 B 2", "2 C 3", "3 C 3", "3 B 2", "1 D 3", "3 D 1")


@st.composite
def differing(draw: st.DrawFn) -> list[CountedQuery]:
    """Queries that differ in a few steps, as if a predicate of some held for other events."""
    found = []
    for number in range(draw(st.integers(2, 9))):
        without = draw(st.sets(st.sampled_from(STEPS[1:]), max_size=2))
        steps = ", ".join(step for step in STEPS if step not in without)
        returns = [RETURNS[i] for i in sorted(draw(st.sets(st.sampled_from(range(len(RETURNS))), max_size=4)))]
        window = draw(st.sampled_from([(30, 30), (100, 30), (None, None)]))
        found.append(query(automaton(steps, [1, 2, 3]), *window, name=f"q{number}", returns=returns))
    return found


@pytest.mark.parametrize("decision", DECISIONS)
@pytest.mark.parametrize("interpreted", [True, False])
@given(data=st.data())
def test_rows_are_the_same_where_lanes_of_a_run_differ(decision: str, interpreted: bool, data: st.DataObject) -> None:
    queries = data.draw(differing())
    states = tuple(data.draw(st.sampled_from([(1, 2, 3), (2, 3), (2,), (0, 1, 2, 3)])))
    kinds = data.draw(st.lists(st.sampled_from("ABBCCD"), max_size=11))
    rows: list[Event] = [(3 * t, kind, "g", data.draw(st.integers(-2, 3))) for t, kind in enumerate(kinds)]
    with deciding(decision):
        both = replace(plan(*queries), sharing=(together(*queries, states=states),))
        found = driven(table(rows), both, interpreted=interpreted)
    for q in queries:
        assert sorted_rows(found[q.name].to_pylist()) == sorted_rows(expected_rows(q, brute_force(q, rows))), q.name


def test_a_lane_that_differs_does_not_end_the_run_of_the_others() -> None:
    """100 queries SEQ(A, B+), of which one does not bind C; C comes again and again."""
    steps = "0 A 1, 1 B 2, 2 B 2"
    both = [query(automaton(f"{steps}, 1 C 2, 2 C 2", [2]), 400, 100, name=f"q{n}") for n in range(99)]
    queries = [*both, query(automaton(steps, [2]), 300, 100, name="own")]
    rows: list[Event] = [(t, "A" if t == 0 else "BBBBBBBC"[t % 8], "g", 0) for t in range(90)]
    paid = counted(rows, queries, together(*queries, states=(2,)), decision="as it pays").effort
    assert (paid.runs_shared, paid.own_columns, paid.events_split) == (1, 1, 0)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 23])
def test_what_is_decided_costs_no_more_than_always_or_never(size: int) -> None:
    """By counted effort: at most 5 % above the better of the two. Short bursts are split, long ones are shared."""
    queries = [query(automaton("0 A 1, 1 B 2, 2 B 2", [2]), 400 + q, 100, name=f"q{q}") for q in range(20)]
    rows: list[Event] = [(t, "A" if t % (size + 1) == 0 else "B", "g", 0) for t in range(24, 96)]

    def cost(decision: str) -> float:
        effort = counted(rows, queries, together(*queries, states=(2,)), decision=decision).effort
        return Costs().operation * effort.operations + effort.numbers

    assert cost("as it pays") <= 1.05 * min(cost("always"), cost("never"))
    effort = counted(rows, queries, together(*queries, states=(2,)), decision="as it pays").effort
    assert (effort.runs_shared > effort.runs_split) == (size > 1)


@pytest.mark.parametrize("size", [1, 2, 8])
@pytest.mark.parametrize("kind", ["C", "D"])
def test_what_is_decided_does_not_depend_on_events_outside_of_the_run(kind: str, size: int) -> None:
    """C is of a query that shares the run, but not in it; D is of another query."""
    queries = [query(automaton("0 A 1, 1 B 2, 2 B 2", [2]), 400 + q, 100, name=f"q{q}") for q in range(20)]
    queries.append(query(automaton("0 C 3, 3 A 1, 1 B 2, 2 B 2", [2]), 300, 100, name="longer"))
    other = query(automaton("0 D 1", [1]), 400, 100, name="other")
    rows: list[Event] = [(24 + 2 * t, "A" if t % (size + 1) == 0 else "B", "g", 0) for t in range(36)]
    between: list[Event] = [(t + 1, kind, "g", 0) for t, *_ in rows]

    def runs(rows: list[Event]) -> tuple[int, ...]:
        effort = counted(rows, [*queries, other], together(*queries, states=(2,)), decision="as it pays").effort
        return effort.runs_shared, effort.runs_split, effort.events_shared, effort.events_split

    bursts = 36 // (size + 1)
    decided = (0, bursts, 0, bursts) if size == 1 else (bursts, 0, bursts * size, 0)
    assert runs(rows) == runs(sorted(rows + between)) == decided


def test_windows_of_one_query_share_panes() -> None:
    one = query(automaton("0 A 1, 1 B 2", [2]), 1000, 10)
    rows: list[Event] = [(t // 2, "AB"[t % 2], "g", 0) for t in range(0, 400, 2)]
    pane = counted(rows, [one], together(one, states=(0, 1, 2)), decision="as it pays").effort
    assert pane.runs_shared > 15
    assert pane.numbers < counted(rows, [one]).effort.numbers / 2


def test_sums_of_any_size_are_exact_on_basis_columns() -> None:
    rows: list[Event] = [(t, "A", "g", (-1) ** t * (2**40 + t)) for t in range(200)]
    returns = [aggregate("count", target=STRING), aggregate("sum", "A", BIGINT, target=STRING)]
    queries = [query(AUTOMATA["A+"], within, name=f"q{within}", returns=returns, count=False) for within in (1000, 70)]
    shared = replace(plan(*queries), sharing=(together(*queries, states=(0, 1)),))
    with deciding("always"):
        found = driven(table(rows), shared, interpreted=True)
    row = found["q1000"].to_pylist()[0]
    assert row["count(None, False) as STRING"] == str(2**200 - 1)
    assert row["sum(A, True) as STRING"] == str(sum(x for _, _, _, x in rows) << 199)
    assert [r["count(None, False) as STRING"] for r in sorted_rows(found["q70"].to_pylist())] == [
        str(2**70 - 1), str(2**70 - 1), str(2**60 - 1)
    ]  # fmt: skip


@pytest.mark.parametrize("decision", DECISIONS)
def test_an_infinite_or_nan_value_spoils_only_matches_that_bind_it(decision: str) -> None:
    """A window in which the run's first row is empty has nothing of the value, though its basis column has."""
    nan, inf = float("nan"), float("inf")
    sums = (aggregate("sum", "B", DOUBLE), aggregate("max", "B", DOUBLE))
    rows: list[Event] = [
        (1, "A", "g", 0.0),
        (2, "B", "g", nan),
        (3, "B", "g", inf),
        (6, "A", "g", 0.0),
        (7, "B", "g", 1.5),
    ]
    queries = [
        query(automaton("0 A 1, 1 B 2", [2]), *w, name=f"q{w[0]}", returns=sums) for w in ((4, 2), (5, 5), (2, 2))
    ]
    alone = plan(*queries, x=DOUBLE)
    with deciding(decision):
        shared = driven(
            table(rows, DOUBLE), replace(alone, sharing=(together(*queries, states=(1, 2)),)), interpreted=True
        )
    for name, found in driven(table(rows, DOUBLE), alone, interpreted=True).items():
        assert repr(sorted_rows(shared[name].to_pylist())) == repr(sorted_rows(found.to_pylist()))
