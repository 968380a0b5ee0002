"""A group counted in panes or by partitions, put together, has the rows of the group as a whole."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from cepc_runtime.events.grouped import read, select
from cepc_runtime.events.letters import classify
from cepc_runtime.numbers.number_columns import from_arrow, objects, to_arrow
from cepc_runtime.panes.between_states import ways_of
from cepc_runtime.panes.cutting import can_be_cut, panes_in_time
from cepc_runtime.panes.folded import concatenated, fold, fold_exactly
from cepc_runtime.panes.shared_panes import Family
from cepc_runtime.panes.tables import from_table, to_table
from cepc_runtime.panes.windows import totals_of_folded
from cepc_runtime.plan.strategy import counted_queries
from cepc_runtime.plan.windows import Sliding, TimeParts
from cepc_runtime.results.as_columns import Results
from cepc_runtime.results.partition_sums import has_partitions, partition_query, totals_of_partitions
from cepc_runtime.results.result_rows import result_table
from cepc_runtime.spark.rows import table_of as from_bytes
from cepc_runtime.spark.rows import to_bytes
from tests.automata import automaton, query
from tests.driven import driven
from tests.equivalence import ABOUT, answered, compile_text, same, table_of
from tests.programs import Asked, Case, between_neighbours, bounded, case
from tests.properties import NOTHING, Seen, hold

if TYPE_CHECKING:
    from random import Random

    from cepc_runtime.plan.physical import PhysicalPlan
    from cepc_runtime.plan.strategy import CountedQuery

STREAM = "STREAM s (at BIGINT, kind STRING, t TIMESTAMP, u TIMESTAMP, g STRING) EVENT TIME at UNIT s EVENT TYPE kind;\n"

LENGTHS = [
    ("a divisor of the window and its slide", 600, 300, 50),
    ("eight to a slide", 6000, 1000, 125),
    ("not longer than the least step between two edges", 10, 4, 1),
    ("a slide that leaves gaps", 5, 20, 1),
    ("one tick", 1, 1, 1),
]


@pytest.mark.parametrize(
    ("within", "slide", "length"), [case[1:] for case in LENGTHS], ids=[case[0] for case in LENGTHS]
)
def test_no_edge_of_a_window_is_inside_a_pane(within: int, slide: int, length: int) -> None:
    assert panes_in_time(Sliding(within, slide)) == TimeParts(length)
    assert within % length == slide % length == 0


CUT = [
    ("a sequence", query(automaton("0 A 1, 1 B 2", [2])), True),
    ("a window over everything", query(automaton("0 A 1", [1]), None), False),
    ("a letter that ends all matches", query(automaton("0 A 1, 1 B 2", [2], kills=(2,))), False),
]


@pytest.mark.parametrize(("one", "can"), [case[1:] for case in CUT], ids=[case[0] for case in CUT])
def test_which_queries_can_be_cut(one: CountedQuery, can: bool) -> None:
    assert can_be_cut(one) == can


WAYS = [
    ("a sequence", "0 A 1, 1 B 2", [(0, 1), (0, 2), (1, 2)]),
    ("a loop is a way to itself", "0 A 1, 1 A 1, 1 B 2", [(0, 1), (0, 2), (1, 1), (1, 2)]),
    ("what leads nowhere is none", "0 A 1, 1 B 2, 0 C 3", [(0, 1), (0, 2), (1, 2)]),
]


@pytest.mark.parametrize(("text", "ends"), [case[1:] for case in WAYS], ids=[case[0] for case in WAYS])
def test_ways_are_between_the_states_on_a_match(text: str, ends: list[tuple[int, int]]) -> None:
    assert list(ways_of(automaton(text, [2]))) == ends


def test_ways_are_equal_whatever_the_states_are_called_and_what_else_there_is() -> None:
    one = ways_of(automaton("0 A 1, 1 B 1, 1 C 2", [2]))
    other = ways_of(automaton("0 A 3, 3 B 3, 3 D 1, 1 C 2", [2]))
    assert one[0, 1].shape == other[0, 3].shape
    assert one[1, 1].shape == other[3, 3].shape
    assert one[0, 2].shape != other[0, 2].shape


def cut(whole: PhysicalPlan, one: CountedQuery, table: Any) -> Any:
    """The query's rows by way of panes, each second of which was found in another task."""
    assert isinstance(one.window, Sliding)
    family = Family(tuple(sorted(one.partition)), panes_in_time(one.window), ((0, one),))
    reading = read(table, whole.stream)
    panes = family.times.number(reading.ticks)
    found = []
    for half in (panes % 2 == 0, panes % 2 == 1):
        part = select(reading, half)
        folded = fold_exactly(family, whole, part, classify(part, whole.letters), panes[half])
        found.append(from_table(family, from_bytes(to_bytes(to_table(folded)))))
    ((_, totals),) = totals_of_folded(family, (0,), concatenated(found))
    return result_table(Results(totals, whole.stream))


def cut_in_time(case: Case, _chance: Random) -> Seen:
    compiled = compile_text(case.text)
    table, answers = table_of(case, compiled), answered(case, compiled)
    if answers is None:
        return NOTHING
    cut_ones = [one for one in compiled.plan.queries if can_be_cut(one)]
    for one in cut_ones:
        rows = cut(replace(compiled.plan, queries=(one,)), one, table).to_pylist()
        assert same(rows, answers[one.name].rows, ABOUT), (one.name, rows, answers[one.name].rows)
    return Seen.of(case, {one.name: answers[one.name] for one in cut_ones})


def without_negation(chance: Random) -> Case:
    """Counted queries that panes can cut: they have windows, and nothing is negated."""
    asked = Asked(match=False, select="ANY", pairs=False, negation=False)
    return bounded(lambda c: case(c, 2, asked))(chance)


def test_cut_in_time_the_rows_are_the_same() -> None:
    hold("cut in panes", without_negation, cut_in_time)


def test_what_does_not_fit_does_not_fit_when_cut_in_time_either() -> None:
    text = (
        "STREAM s (at BIGINT, kind STRING, x BIGINT) EVENT TIME at UNIT s EVENT TYPE kind;"
        "QUERY q RETURN SUM(A.x) AS n PATTERN A WITHIN 10 s SLIDE 5 s;"
    )
    compiled = compile_text(text)
    table = table_of(Case(text, tuple({"at": at, "kind": "A", "x": 2**62} for at in (1, 6))), compiled)
    (one,) = counted_queries(compiled.plan.queries)
    for run in (lambda: driven(table, compiled.plan), lambda: cut(compiled.plan, one, table)):
        with pytest.raises(ArithmeticError):
            run()


def by_partitions(case: Case, chance: Random) -> Seen:
    compiled = compile_text(case.text)
    table, answers, tasks = table_of(case, compiled), answered(case, compiled), chance.choice((2, 3))
    if answers is None:
        return NOTHING
    apart_ones = [one for one in compiled.plan.queries if has_partitions(one)]
    for one in apart_ones:
        alone = replace(compiled.plan, queries=(one,))
        keys = [tuple(str(row[name]) for name in one.partition) for row in case.rows]
        places = {key: i % tasks for i, key in enumerate(dict.fromkeys(keys))}
        apart = replace(alone, queries=(partition_query(one),))
        parts = [
            driven(table.filter(pa.array([places[key] == task for key in keys], pa.bool_())), apart, interpreted=True)[
                one.name
            ]
            for task in range(tasks)
        ]
        totals = totals_of_partitions(one, [from_bytes(to_bytes(part)) for part in parts])
        rows = result_table(Results(totals, alone.stream)).to_pylist()
        assert same(rows, answers[one.name].rows, ABOUT), (one.name, rows, answers[one.name].rows)
    return Seen.of(case, {one.name: answers[one.name] for one in apart_ones})


def partitioned(chance: Random) -> Case:
    """Counted queries whose groups have partitions, where they have any."""
    if chance.random() < 0.25:
        return between_neighbours(chance, grouped=False, keyed=True)
    return case(chance, 2, Asked(match=False, pairs=False, keyed=True, group=""))


def test_from_some_partitions_each_the_rows_are_the_same() -> None:
    hold("partitions counted apart", partitioned, by_partitions)


def test_counts_of_any_size_are_exact() -> None:
    """As text, for a run of 100 events makes 2^100 - 1 matches."""
    text = (
        "STREAM s (at BIGINT, kind STRING, z DECIMAL(38, 2)) EVENT TIME at UNIT s EVENT TYPE kind;"
        "QUERY q RETURN CAST(COUNT(*) AS STRING) AS n, CAST(SUM(A.z) AS STRING) AS z, MAX(A.z) AS most PATTERN A+"
        " WITHIN 100 s SLIDE 50 s;"
    )
    compiled = compile_text(text)
    table = table_of(Case(text, tuple({"at": i, "kind": "A", "z": Decimal(i) / 100} for i in range(150))), compiled)
    (one,) = counted_queries(compiled.plan.queries)
    rows = cut(compiled.plan, one, table).to_pylist()
    assert same(rows, driven(table, compiled.plan)["q"].to_pylist(), ABOUT)
    assert {"n": str(2**100 - 1), "most": Decimal("0.99")}.items() <= rows[1].items()


@pytest.mark.parametrize(
    ("result", "cut"),
    [("COUNT(a.t)", True), ("MAX(a.g)", True), ("MIN(a.t - a.u)", True), ("SUM(a.t - a.u)", False)],
)
def test_what_adds_up_other_things_than_numbers_is_not_cut(result: str, cut: bool) -> None:
    (plan,) = compile_text(f"{STREAM}QUERY q RETURN {result} AS r PATTERN SEQ(A a, B) WITHIN 9 s;").plan.queries
    assert can_be_cut(plan) is cut


SIZES = [
    ("none", [], pa.int8()),
    ("a byte", [-128, 127], pa.int8()),
    ("all of 64 bits", [-(2**63), 2**63 - 1], pa.int64()),
    ("a bit more", [0, 2**63], pa.binary(9)),
    ("a bit less", [1, -(2**63) - 1], pa.binary(9)),
    ("hundreds of digits", [10**300, -(10**300), 7], pa.binary(125)),
]


@pytest.mark.parametrize(("numbers", "type_"), [case[1:] for case in SIZES], ids=[case[0] for case in SIZES])
def test_integers_travel_in_as_few_bytes_as_they_need(numbers: list[int], type_: pa.DataType) -> None:
    column = to_arrow(objects(numbers))
    assert column.type == type_
    assert from_arrow(column).tolist() == numbers
    assert from_arrow(column.slice(1)).tolist() == numbers[1:]


def test_floats_travel_as_such() -> None:
    column = to_arrow(np.array([0.5, 2.0**70, float("inf")]))
    assert column.type == pa.float64()
    assert from_arrow(column).tolist() == [0.5, 2.0**70, float("inf")]


def test_panes_of_a_batch_have_all_digits_even_where_results_do_not_ask_for_them() -> None:
    text = (
        "STREAM s (at BIGINT, kind STRING) EVENT TIME at UNIT s EVENT TYPE kind;"
        "QUERY q RETURN CAST(COUNT(*) AS DOUBLE) AS n PATTERN A+ WITHIN 100 s;"
    )
    compiled = compile_text(text)
    reading = read(
        table_of(Case(text, tuple({"at": i, "kind": "A"} for i in range(90))), compiled), compiled.plan.stream
    )
    (one,) = counted_queries(compiled.plan.queries)
    family, kinds = Family((), TimeParts(100), ((0, one),)), classify(reading, compiled.plan.letters)
    for how, exact in ((fold_exactly, True), (fold, False)):
        folded = how(family, compiled.plan, reading, kinds, reading.ticks // 100)
        assert (2**90 - 1 in folded.numbers[0].tolist()) is exact
