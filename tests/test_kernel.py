"""The counting kernel against its automata's own definition, by brute force over words."""

from __future__ import annotations

import math
import operator
import os
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepc_runtime.events.grouped import arrange, read
from cepc_runtime.events.letters import classify
from cepc_runtime.kernel.adjacent.run import Neighbours
from cepc_runtime.kernel.adjacent.slices import Slices
from cepc_runtime.kernel.adjacent.tests import (
    DIFFERENT,
    EQUAL,
    GREATER,
    LESS,
    LESS_EQUAL,
    Comparison,
    Failing,
    comparison,
)
from cepc_runtime.kernel.effects import effect
from cepc_runtime.kernel.joint import atoms_of, emptied_by, in_place
from cepc_runtime.kernel.lanes import memory_of, queries_of
from cepc_runtime.kernel.machine_code import FEW, LITTLE, Interpreted
from cepc_runtime.kernel.numbers import OPERATION, apply_all
from cepc_runtime.kernel.operations import ADD, COPY, LEAST, MULTIPLY, TWICE, ZERO
from cepc_runtime.kernel.planes import planes_of
from cepc_runtime.kernel.run import count_matches
from cepc_runtime.kernel.shared_lanes import sharing_of
from cepc_runtime.kernel.values import values_of
from cepc_runtime.plan.automaton import Automaton, Move
from cepc_runtime.plan.strategy import AdjacentCondition, CountedQuery, has_neighbours
from cepc_runtime.sql.expression import Call, Expression, Field, Literal
from cepc_runtime.sql.types import BIGINT, BOOLEAN, DOUBLE, STRING
from tests.automata import (
    COUNT,
    LETTERS,
    WINDOWS,
    Event,
    aggregate,
    automaton,
    brute_force,
    events,
    expected_rows,
    plan,
    query,
    sorted_rows,
    steps,
    stream,
    table,
)  # fmt: skip
from tests.driven import driven

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

C, D = 2, 3  # letters

AUTOMATA: dict[str, Automaton] = {
    "SEQ": automaton("0 A 1, 1 B 2", [2]),
    "A+": automaton("0 A 1, 1 A 1", [1]),
    "SEQ(A, B)+": automaton("0 A 1, 1 B 2, 2 A 1", [2]),
    "SEQ(A+ x, A+ y)": automaton("0 A:x 1, 1 A:x 1, 1 A:y 2, 2 A:y 2", [2]),
    "one row read and added to by each of two": automaton("0 A 1, 1 B 2, 2 B 1, 1 C 2, 2 A 1, 2 C 2", [1, 2]),
    "two variables for one event": automaton("0 A:x 1, 1 A:x 1, 1 A:y 1", [1]),
    "AND": automaton("0 A 1, 0 B 2, 1 B 3, 2 A 3", [3], ties="1 B 3, 2 A 3"),
    "AND(A+, B)": automaton("0 A 1, 0 B 2, 1 A 1, 1 B 3, 2 A 3, 3 A 3", [3], ties="1 A 1, 1 B 3, 2 A 3, 3 A 3"),
    "SEQ(A, NOT C, B)": automaton("0 A 1, 1 B 2", [2], moves=(Move(0, (C,), 1, -1),)),
    "SEQ(NOT C, A)": automaton("0 A 1, 1 A 1", [1], moves=(Move(0, (C,), 0, -1),)),
    "SEQ(A, NOT SEQ(C, D), B)": automaton(
        "0 A 1, 1 B 2, 3 B 2", [2], moves=(Move(0, (C,), 1, 3), Move(0, (C, D), 1, 3), Move(0, (D,), 3, -1), Move(0, (C, D), 3, -1)),
    ),
    "moves of two negations, also of what is new": automaton(
        "0 A 1, 1 B 2, 3 D 2, 2 C 1", [2],
        moves=(Move(0, (C,), 1, 3), Move(0, (D,), 3, 1), Move(0, (C, D), 1, 0), Move(1, (D,), 1, 3), Move(1, (D,), 2, 1)),
        new_moves=(Move(1, (D,), 2, 1), Move(0, (C,), 1, -1)),
    ),
    "AND(A, B, NOT C)": automaton("0 A 1, 0 B 2, 1 B 3, 2 A 3", [3], ties="1 B 3, 2 A 3", kills=(C,)),
}  # fmt: skip

RETURNS = (
    COUNT, aggregate("count", "A"), aggregate("count", "A", BIGINT), aggregate("sum", "A", BIGINT), aggregate("avg", "x", BIGINT),
    aggregate("min", "B", BIGINT), aggregate("max", "A", BIGINT), aggregate("sum", "y", BIGINT), aggregate("count", "D"),
)  # fmt: skip


def run(rows: list[Event], *queries: CountedQuery, interpreted: bool | None = True) -> dict[str, list[dict[str, Any]]]:
    found = driven(table(rows), plan(*queries), interpreted=interpreted)
    return {name: sorted_rows(t.to_pylist()) for name, t in found.items()}


def counts(rows: list[Event], q: CountedQuery) -> dict[int | None, int]:
    return {row["window_start"]: row["count(None, False)"] for row in run(rows, q)["q"]}


# ---- all automata, at random -----------------------------------------------------------------------------------------


def check_all(
    rows: list[Event], window: tuple[int | None, int | None], group_by: tuple[str, ...], interpreted: bool
) -> None:
    queries = [query(a, *window, name=name, returns=RETURNS, group_by=group_by) for name, a in AUTOMATA.items()]
    found = run(rows, *queries, interpreted=interpreted)
    for q in queries:
        assert found[q.name] == sorted_rows(expected_rows(q, brute_force(q, rows))), q.name


@given(events(), WINDOWS, st.sampled_from([("g",), ()]))
def test_rows_are_those_of_the_accepted_words(
    rows: list[Event], window: tuple[int | None, int | None], group_by: tuple[str, ...]
) -> None:
    check_all(rows, window, group_by, interpreted=True)


@given(events(), WINDOWS, st.sampled_from([("g",), ()]))
def test_compiled_the_rows_are_the_same(
    rows: list[Event], window: tuple[int | None, int | None], group_by: tuple[str, ...]
) -> None:
    check_all(rows, window, group_by, interpreted=False)


@pytest.mark.parametrize("interpreted", [True, False])
@given(events(), WINDOWS)
def test_what_is_past_a_float_comes_out_right_modulo_64_bits(
    interpreted: bool, rows: list[Event], window: tuple[int | None, int | None]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cepc_runtime.numbers.counted_again.MANY", 1)
        for limit in ("LITTLE", "FEW"):
            patch.setattr(f"cepc_runtime.kernel.machine_code.{limit}", 10**9 if interpreted else 0)
        check_all(rows, window, ("g",), interpreted)


# ---- one by one ------------------------------------------------------------------------------------------------------


def test_windows_slide_also_before_the_epoch() -> None:
    rows: list[Event] = [(-3, "A", "g", 0), (-1, "B", "g", 0), (1, "B", "g", 0)]
    assert counts(rows, query(AUTOMATA["SEQ"], 4, 2)) == {-4: 1}
    assert counts(rows, query(AUTOMATA["SEQ"], 6, 2)) == {-6: 1, -4: 2}
    assert counts(rows, query(AUTOMATA["SEQ"], None)) == {None: 2}


def test_a_slide_longer_than_the_window_leaves_events_out() -> None:
    rows: list[Event] = [(t, "A", "g", 0) for t in range(-7, 12)]
    assert counts(rows, query(automaton("0 A 1", [1]), 2, 5)) == {-5: 2, 0: 2, 5: 2, 10: 2}


def test_events_that_tie_do_not_follow_each_other_but_may_stand_together() -> None:
    rows: list[Event] = [(0, "A", "g", 0), (0, "B", "g", 0), (0, "B", "g", 0), (1, "B", "g", 0)]
    assert counts(rows, query(AUTOMATA["SEQ"])) == {0: 1}
    assert counts(rows, query(AUTOMATA["AND"])) == {0: 3}


def test_a_group_does_not_see_another_ones_events() -> None:
    rows: list[Event] = [(0, "A", "g", 0), (1, "B", "h", 0), (2, "B", None, 0), (3, "A", None, 0), (4, "B", None, 0)]
    assert [row["g"] for row in run(rows, query(AUTOMATA["SEQ"]))["q"]] == [None]


def test_an_infinite_or_nan_value_spoils_only_matches_that_bind_it() -> None:
    nan, inf = float("nan"), float("inf")
    rows: list[Event] = [(0, "C", "g", nan), (1, "A", "g", 1.5), (2, "A", "g", inf), (3, "B", "g", 0.0)]
    sums = (
        aggregate("sum", "A", DOUBLE),
        aggregate("max", "A", DOUBLE),
        aggregate("min", "C", DOUBLE),
        aggregate("avg", "C", DOUBLE),
    )
    queries = [
        query(automaton("0 C 1, 0 A 2, 1 A 2, 2 B 3", [3]), 3, 3, name="a", returns=sums),
        query(automaton("0 A 1", [1]), 2, 2, name="b", returns=sums),
    ]
    found = driven(table(rows, DOUBLE), plan(*queries, x=DOUBLE), interpreted=True)
    assert found["a"].to_pylist() == []
    assert [r["sum(A, True)"] for r in sorted_rows(found["b"].to_pylist())] == [1.5, inf]
    whole = query(automaton("0 C 1, 0 A 2, 1 A 2, 2 B 3", [3]), None, name="c", returns=sums)
    row = driven(table(rows, DOUBLE), plan(whole, x=DOUBLE), interpreted=True)["c"].to_pylist()[0]
    assert (row["sum(A, True)"], row["max(A, True)"]) == (inf, inf)
    assert np.isnan(row["min(C, True)"])
    assert np.isnan(row["avg(C, True)"])


def test_counts_and_sums_of_any_size_are_exact() -> None:
    rows: list[Event] = [(t, "A", "g", (-1) ** t * (2**40 + t)) for t in range(200)]
    total = sum(x for _, _, _, x in rows) << 199
    q = query(
        AUTOMATA["A+"], 1000, returns=[aggregate("count", target=STRING), aggregate("sum", "A", BIGINT, target=STRING)]
    )
    q = replace(q, outputs=tuple(o for o in q.outputs if o.name != "count(None, False)"))
    row = run(rows, q)["q"][0]
    assert row["count(None, False) as STRING"] == str(2**200 - 1)
    assert row["sum(A, True) as STRING"] == str(total)


def test_many_groups_and_a_small_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = 500
    rows: list[Event] = [(t, "AB"[t % 2], g, g) for g in range(groups) for t in range(4)]
    source = pa.table(
        {"t": [r[0] for r in rows], "type": [r[1] for r in rows], "g": [r[2] for r in rows], "x": [r[3] for r in rows]}
    )
    s = replace(stream(), columns=(("t", BIGINT), ("g", BIGINT), *stream().columns[1:2], ("x", BIGINT)))
    arranged = arrange(read(source, s), s, ["g"], canonical=False)
    kinds = classify(arranged, LETTERS)
    queries = [query(AUTOMATA["SEQ"], 4, 1, returns=RETURNS), query(AUTOMATA["A+"], 2, 2)]
    large = count_matches(arranged, kinds, queries, interpreted=True)
    monkeypatch.setattr("cepc_runtime.kernel.run.ROWS", 1)
    small = count_matches(arranged, kinds, queries, interpreted=True)
    for a, b in zip(large.emissions, small.emissions, strict=True):
        assert a.groups.tolist() == b.groups.tolist()
        assert a.windows.tolist() == b.windows.tolist()
        assert a.planes.tolist() == b.planes.tolist()
    assert len(np.unique(large.emissions[0].groups)) == groups
    assert large.effort == small.effort


def test_events_that_no_query_mentions_do_nothing() -> None:
    rows: list[Event] = [(0, "A", "g", 0), (1, "B", "g", 0)]
    others: list[Event] = [(0, "D", "g", 0), (1, "D", "g", 0), (1, "D", "k", 0)]
    assert run(rows + others, query(AUTOMATA["SEQ"])) == run(rows, query(AUTOMATA["SEQ"]))


def test_no_events_have_no_rows() -> None:
    found = driven(table([]), plan(query(AUTOMATA["SEQ"], returns=RETURNS)), interpreted=True)["q"]
    assert found.num_rows == 0
    assert found.column_names[-2:] == ["window_start", "window_end"]


def test_events_are_run_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cepc_runtime.kernel.run.AT_ONCE", 4)
    events = arrange(read(table([(t, "A", "g", 0) for t in range(10)]), stream()), stream(), [])
    told: list[float] = []
    count_matches(events, classify(events, LETTERS), [query(AUTOMATA["SEQ"])], interpreted=True, tell=told.append)
    assert told == [0.4, 0.8, 1]


def test_what_changes_nothing_is_no_work() -> None:
    """The least of a number and infinity, and 0 times another one."""
    memory = np.array([9.0, 9.0, 1.0, 1.0, math.inf, 0.0, 3.0])

    def done(code: int, value: int) -> tuple[int, int]:
        return apply_all(np.array([code, 0, 2, 2, value]), memory, 0, OPERATION, 0)

    assert [done(LEAST, value) for value in (4, 5, 6)] == [(0, 0), (1, 2), (1, 2)]
    assert [done(MULTIPLY, value) for value in (5, 6)] == [(0, 0), (1, 2)]


# ---- programs --------------------------------------------------------------------------------------------------------


def operations(a: Automaton, letter: int) -> list[tuple[int, int, int]]:
    """What an event does, with one number for each state, and copies 10 further on: codes, sources and targets."""
    q = query(a)
    sharing = sharing_of([q], [])
    memory = memory_of(queries_of([q], [planes_of(a, q.measures)], [frozenset([letter])], {}, sharing), sharing)
    found = in_place(memory, atoms_of(memory, 0, 0), emptied_by(memory, 0, 0), 10)
    return [(o.code, o.source, o.target) for o in found]


def test_rows_change_after_all_who_read_them() -> None:
    a = automaton("0 A 1, 1 A 2, 2 A 3", [3])
    assert operations(a, 0) == [(ADD, 2, 3), (ADD, 1, 2), (ADD, 0, 1)]


def test_rows_that_read_each_other_have_a_copy() -> None:
    a = automaton("0 A 1, 1 A 2, 2 A 1", [2])
    assert operations(a, 0) == [(COPY, 1, 11), (ADD, 0, 1), (ADD, 2, 1), (ADD, 11, 2)]


def test_a_row_that_reads_itself_is_doubled() -> None:
    assert operations(AUTOMATA["A+"], 0) == [(TWICE, 0, 1), (ADD, 0, 1)]


def test_a_row_that_is_dropped_is_emptied() -> None:
    assert operations(AUTOMATA["SEQ(A, NOT C, B)"], C) == [(ZERO, 0, 1)]


def test_a_sum_is_carried_from_where_its_variable_is_bound_on() -> None:
    """An A adds a count, and so does a B, with its value to each of the sum's planes; a C adds all of them."""
    q = query(automaton("0 A 1, 1 B 2, 2 C 3", [3]), None, returns=[aggregate("sum", "B", BIGINT)])
    planes = planes_of(q.automaton, q.measures, nulls=False).count
    rows: list[Event] = [(0, "A", "g", 1), (1, "B", "g", 2), (2, "C", "g", 3)]
    changed = []
    for end in range(1, 4):
        events = arrange(read(table(rows[:end]), stream()), stream(), [])
        changed.append(count_matches(events, classify(events, LETTERS), [q], interpreted=True).effort.numbers)
    assert planes > 1
    assert changed == [1, 1 + planes, 1 + planes + planes]


def test_a_query_that_was_not_touched_is_skipped_by_what_cannot_start_a_match() -> None:
    assert effect(AUTOMATA["SEQ"], frozenset([0])).starts
    assert not effect(AUTOMATA["SEQ"], frozenset([1])).starts
    assert effect(AUTOMATA["SEQ(NOT C, A)"], frozenset([C])).starts


def test_events_that_begin_no_match_take_no_work_where_none_has_begun() -> None:
    rows: list[Event] = [(t, "B", "g", 0) for t in range(9)]
    events = arrange(read(table(rows), stream()), stream(), [])
    found = count_matches(events, classify(events, LETTERS), [query(AUTOMATA["SEQ"], 4, 1)], interpreted=True)
    assert found.effort.operations == 0


# ---- conditions between neighbours -------------------------------------------------------------------------------------

LATER, EARLIER = (Field(v, "x", "each", BIGINT) for v in ("later", "earlier"))


def compare(operator_: str, a: Expression = LATER, b: Expression = EARLIER) -> Call:
    return Call(operator_, (a, b), BOOLEAN)


GROWS = Call(">", (Call("-", (LATER, EARLIER), BIGINT), Literal(0, BIGINT)), BOOLEAN)
"""`later.x - earlier.x > 0`: no comparison of one side each."""

DIFFERS = Call("not", (compare("="),), BOOLEAN)

CONDITIONS: dict[str, tuple[Expression, Callable[[int, int], bool]]] = {
    ">": (compare(">"), operator.gt),
    ">=": (compare(">="), operator.ge),
    "<": (compare("<"), operator.lt),
    "<=, turned round": (compare(">=", EARLIER, LATER), operator.le),
    "=": (compare("="), operator.eq),
    "<>": (DIFFERS, operator.ne),
    "an expression on one side": (
        compare(">", b=Call("+", (EARLIER, Literal(1, BIGINT)), BIGINT)), lambda later, earlier: later > earlier + 1
    ),
    "of pairs": (GROWS, operator.gt),
    "two": (Call("and", (compare(">="), DIFFERS), BOOLEAN), operator.gt),
    "two, one of pairs": (Call("and", (DIFFERS, GROWS), BOOLEAN), operator.gt),
}  # fmt: skip

NEIGHBOURS: dict[str, tuple[Automaton, tuple[int, ...]]] = {
    "A+": (automaton("0 A 1, 1 A 1", [1]), (1,)),
    "SEQ": (automaton("0 A 1, 1 B 2", [2]), (1,)),
    "two sources": (automaton("0 A 1, 1 B 2, 2 A 1, 2 B 2", [2]), (1, 3)),
    "a source with two ways": (automaton("0 A 1, 1 B 2, 1 A 1, 2 C 3", [2, 3]), (1, 3)),
    "after an AND": (automaton("0 A 1, 0 B 2, 1 B 3, 2 A 3, 3 C 4", [4], ties="1 B 3, 2 A 3"), (4,)),
    "SEQ(A, NOT C, B)": (automaton("0 A 1, 1 B 2", [2], moves=(Move(0, (C,), 1, -1),)), (1,)),
    "OR(SEQ(A, NOT C, B), SEQ(A, D))": (
        automaton("0 A 1, 1 B 2, 1 D 2, 3 D 2", [2], moves=(Move(0, (C,), 1, 3),)), (1, 2, 3),
    ),
    "two states come together": (
        automaton("0 A 1, 0 B 2, 1 B 4, 2 B 4, 3 B 4", [4], moves=(Move(0, (C,), 1, 3), Move(0, (C,), 2, 3))), (2, 3, 4),
    ),
    "one NOT after the other": (
        automaton("0 A 1, 1 B 2, 3 B 2", [2], moves=(Move(0, (C,), 1, 3), Move(1, (D,), 3, -1))), (1, 2),
    ),
    "what is new moves too": (
        automaton(
            "0 A 1, 0 B 2, 1 B 3, 2 A 3, 3 A 4, 5 A 4", [4], ties="1 B 3, 2 A 3",
            moves=(Move(0, (C,), 1, -1), Move(0, (C,), 3, 5)), new_moves=(Move(0, (C,), 3, 5),),
        ), (4, 5),
    ),
    "A+ under CONTIGUOUS": (
        automaton("0 A 1, 1 A 1, 0 A 2, 1 A 2", [2], moves=tuple(Move(i, (i,), 1, -1) for i in range(4))), (1, 3),
    ),
}  # fmt: skip


@given(
    events(),
    WINDOWS,
    st.sampled_from(sorted(NEIGHBOURS)),
    st.sampled_from(sorted(CONDITIONS)),
    st.booleans(),
)
def test_conditions_between_neighbours_hold(
    rows: list[Event], window: tuple[int | None, int | None], name: str, condition: str, interpreted: bool
) -> None:
    a, where = NEIGHBOURS[name]
    expression, check = CONDITIONS[condition]
    q = query(a, *window, returns=RETURNS, adjacent=(AdjacentCondition(where, expression),))
    expected = expected_rows(q, brute_force(q, rows, dict.fromkeys(where, check)))
    assert run(rows, q, interpreted=interpreted)["q"] == sorted_rows(expected)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cepc_runtime.numbers.counted_again.MANY", 1)
        assert run(rows, q, interpreted=interpreted)["q"] == sorted_rows(expected)


@pytest.mark.parametrize("limits", [(1, 1), (3, 2), (1000, 5)])
def test_batches_of_windows_and_pairs_make_no_difference(limits: tuple[int, int]) -> None:
    rows: list[Event] = [(t // 2, "AAB"[t % 3], "gh"[t % 2], t * 7 % 5) for t in range(40)]
    q = query(NEIGHBOURS["two sources"][0], 6, 2, adjacent=(AdjacentCondition((1, 3), GROWS),))
    assert has_neighbours(q)
    s = stream()
    arranged = arrange(read(table(rows), s), s, ["g"])
    kinds = classify(arranged, LETTERS)
    layout = planes_of(q.automaton, q.measures)
    values = values_of([], arranged.table, kinds, arranged.group_starts)
    whole = Neighbours(arranged, kinds, q).count(layout, values.matrix, values.index, interpreted=True)
    parts = Neighbours(arranged, kinds, q, Failing.ERROR, *limits).count(
        layout, values.matrix, values.index, interpreted=True
    )
    assert whole.planes.tolist() == parts.planes.tolist()
    assert whole.windows.tolist() == parts.windows.tolist()
    assert len(whole.planes) > 5


def test_rising_runs_of_any_length_are_counted_exactly() -> None:
    rows: list[Event] = [(t, "A", "g", t) for t in range(100)]
    q = query(NEIGHBOURS["A+"][0], 1000, returns=[aggregate("count", target=STRING), aggregate("sum", "A", BIGINT, target=STRING)],
              adjacent=(AdjacentCondition((1,), compare(">")),))  # fmt: skip
    q = replace(q, outputs=tuple(o for o in q.outputs if o.name != "count(None, False)"))
    row = run(rows, q)["q"][0]
    assert row["count(None, False) as STRING"] == str(2**100 - 1)
    assert row["sum(A, True) as STRING"] == str(sum(range(100)) << 99)


# ---- compilation -----------------------------------------------------------------------------------------------------


COMPARED: dict[str, tuple[Expression, Comparison | None]] = {
    "the later one first": (compare("<", LATER, EARLIER), Comparison(LESS, LATER, EARLIER)),
    "the earlier one first": (compare("<", EARLIER, LATER), Comparison(GREATER, LATER, EARLIER)),
    "the earlier one first, or equal": (compare(">=", EARLIER, LATER), Comparison(LESS_EQUAL, LATER, EARLIER)),
    "equality, which has no order": (compare("=", EARLIER, LATER), Comparison(EQUAL, LATER, EARLIER)),
    "inequality": (
        Call("not", (compare("=", EARLIER, LATER),), BOOLEAN),
        Comparison(DIFFERENT, LATER, EARLIER),
    ),
    "not two of one event": (compare("<", EARLIER, EARLIER), None),
    "not both events on one side": (Call("<", (EARLIER, Call("+", (LATER, EARLIER), BIGINT)), BOOLEAN), None),
    "nor on the other": (Call("<", (Call("+", (LATER, EARLIER), BIGINT), EARLIER), BOOLEAN), None),
}


@pytest.mark.parametrize(("condition", "expected"), COMPARED.values(), ids=COMPARED)
def test_ranks_are_compared_for(condition: Expression, expected: Comparison | None) -> None:
    """Other conditions are evaluated for each pair, which takes longer."""
    assert comparison(condition) == expected


def test_all_is_done_in_the_end() -> None:
    told: list[float] = []
    events = arrange(read(table([(1, "A", "g", 0)]), stream()), stream(), [])
    count_matches(events, classify(events, LETTERS), [query(AUTOMATA["A+"], 2, 2)], interpreted=True, tell=told.append)
    assert told[-1] == 1


BATCHES: dict[str, tuple[list[int], list[list[int]]]] = {
    "as many as fit": ([1, 2, 3], [[1, 2], [3]]),
    "one that fits exactly": ([3, 3], [[3], [3]]),
    "one that is too large, alone": ([1, 9, 1], [[1], [9], [1]]),
    "none": ([], []),
}


@pytest.mark.parametrize(("sizes", "expected"), BATCHES.values(), ids=BATCHES)
def test_windows_are_counted_in_batches_of(sizes: list[int], expected: list[list[int]]) -> None:
    """Of three events."""
    end = np.cumsum(np.array(sizes, dtype=np.int64))
    numbers = np.arange(len(sizes))
    slices = Slices(np.arange(sum(sizes)), numbers, numbers, end - sizes, end)
    assert [(part.end - part.first).tolist() for part in slices.batches(3)] == expected
    assert [n for part in slices.batches(3) for n in part.windows.tolist()] == numbers.tolist()
    assert slices.longest == max(sizes, default=0)


def test_a_worker_of_many_small_tasks_loads_machine_code_in_the_end() -> None:
    so_far = Interpreted()
    assert [so_far.allows((LITTLE - 1) // 3, lambda: True) for _ in range(5)] == [True, True, True, False, False]


def test_machine_code_is_made_where_that_takes_less_than_to_do_without() -> None:
    so_far = Interpreted()
    assert [so_far.allows(FEW // 3, lambda: False) for _ in range(5)] == [True, True, False, False, False]


NOTHING_KEPT = "import cepc_runtime.kernel.machine_code as m\nm.is_kept = lambda _: False"
ANOTHER_PROCESSOR = "import cepc_runtime.kernel.machine_code as m\nm.is_common = lambda: False"


def test_a_first_run_on_few_events_makes_no_machine_code(tmp_path: Path) -> None:
    """It would take twenty seconds, for a run of two."""
    said = "from cepc_runtime.kernel import loop\nfrom cepc_runtime.kernel.machine_code import run_function\n"
    first = f"{said}assert run_function(loop, {FEW // 2}) is loop.run\nimport sys\nassert 'numba' not in sys.modules"
    nothing_kept = f"{NOTHING_KEPT}\n{first}"
    subprocess.run([sys.executable, "-c", nothing_kept], check=True, env=os.environ | {"XDG_CACHE_HOME": str(tmp_path)})


PLAIN = (
    "from cepc_runtime.kernel import loop\n"
    "from cepc_runtime.kernel.machine_code import run_function\n"
    "assert run_function(loop, 10**9) is loop.run"
)


@pytest.mark.parametrize("without", [("numba", NOTHING_KEPT), ("llvmlite", ANOTHER_PROCESSOR)], ids=lambda one: one[0])
def test_without_a_compiler_the_same_functions_run(without: tuple[str, str]) -> None:
    """Nor can what a compiler has made for an unusual processor be loaded without it."""
    missing, where = without
    subprocess.run([sys.executable, "-c", f"import sys; sys.modules[{missing!r}] = None\n{where}\n{PLAIN}"], check=True)


def test_an_environment_variable_turns_compilation_off() -> None:
    subprocess.run([sys.executable, "-c", PLAIN], check=True, env=os.environ | {"CEPC_INTERPRETED": "1"})


def test_steps_are_read_from_text() -> None:
    assert [(s.source, s.target, s.letter, s.variable) for s in steps("0 A 1, 1 B:x 2")] == [(0, 1, 0, 0), (1, 2, 1, 4)]
