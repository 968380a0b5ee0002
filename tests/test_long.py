"""Windows counted again in numbers of many digits, against the same in Python's integers."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepc_runtime.events.grouped import arrange, read
from cepc_runtime.events.letters import classify
from cepc_runtime.kernel import machine_code
from cepc_runtime.kernel.exact import Recount
from cepc_runtime.kernel.long import long_of
from cepc_runtime.kernel.run import count_matches
from cepc_runtime.sql.types import BIGINT, DOUBLE, STRING
from tests.automata import LETTERS, WINDOWS, Event, aggregate, events, plan, query, stream, table
from tests.driven import driven
from tests.test_kernel import AUTOMATA

if TYPE_CHECKING:
    from cepc_runtime.kernel.by_query import Emissions
    from cepc_runtime.plan.strategy import CountedQuery

SUMS = (
    aggregate("count"),
    aggregate("count", "A"),
    aggregate("sum", "A", BIGINT),
    aggregate("avg", "B", BIGINT),
)


def recounted(rows: list[Event], q: CountedQuery) -> tuple[Recount, Emissions]:
    s = stream()
    arranged = arrange(read(table(rows), s), s, ["g"], canonical=False)
    kinds = classify(arranged, LETTERS)
    counted = count_matches(arranged, kinds, [q], interpreted=True)
    (found,), (planes,) = counted.emissions, counted.planes
    return Recount(arranged, kinds, q, planes, counted.values), found


def both(rows: list[Event], q: CountedQuery, interpreted: bool, more: float = 1) -> list[tuple[Any, Any]]:
    """Each window's numbers in many digits (for a float so many times the count) and in Python's integers."""
    recount, found = recounted(rows, q)
    planes = recount.planes
    long = long_of(q.automaton, recount.events, recount.kinds, planes.planes[: planes.additive - 1], recount.values)
    assert long is not None
    pairs = []
    for group, window, count in zip(found.groups.tolist(), found.windows.tolist(), found.planes[:, 0], strict=True):
        digits = long.totals(*recount.bounds(group, window), float(count) * more, interpreted)
        pairs.append((digits, recount.in_python(group, window)))
    return pairs


@pytest.mark.parametrize("span", [10**9, 10**10])
def test_events_of_a_window_are_counted_in_many_groups_far_apart_in_time(span: int) -> None:
    """Groups times ticks pass 32 bits, as an hour of microseconds does."""
    rows: list[Event] = [(at, "A", group, 1) for group in "ghijk" for at in (0, 1, 3, span - 9, span - 7, span)]
    recount, found = recounted(rows, query(AUTOMATA["A+"], 4, 2, returns=SUMS))
    bounds = [recount.bounds(g, w) for g, w in zip(found.groups.tolist(), found.windows.tolist(), strict=True)]
    assert recount.lengths(found.groups, found.windows).tolist() == [end - first for first, end in bounds]


@pytest.mark.parametrize("name", AUTOMATA)
@given(rows=events(most=9), window=WINDOWS, more=st.sampled_from([1.0, 1e30, math.inf]))
def test_a_few_events_of_any_kind(name: str, rows: list[Event], window: tuple[int, int], more: float) -> None:
    for digits, exact in both(rows, query(AUTOMATA[name], *window, returns=SUMS), True, more):
        assert digits == exact


@pytest.mark.parametrize("interpreted", [True, False], ids=["plain", "compiled"])
@pytest.mark.parametrize("name", AUTOMATA)
def test_counts_of_hundreds_of_bits_and_sums_of_both_signs(name: str, interpreted: bool) -> None:
    chance = random.Random(name)
    rows: list[Event] = [
        (chance.randrange(260), "AAABBBCD"[chance.randrange(8)], "g", chance.choice([0, 1, -1, 2**40, -(2**60)]))
        for _ in range(300)
    ]
    pairs = both(rows, query(AUTOMATA[name], 200, 50, returns=SUMS), interpreted)
    for digits, exact in pairs:
        assert digits == exact
    if name in ("A+", "SEQ(A, B)+", "AND(A+, B)"):
        assert max(exact[0] for _, exact in pairs) > 2**64


def test_letters_of_an_instant_need_not_fit_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cepc_runtime.kernel.long.LETTERS", 1)
    chance = random.Random(5)
    rows: list[Event] = [(chance.randrange(90), chance.choice("AAABBBCD"), "g", 1) for _ in range(150)]
    for name in AUTOMATA:
        for digits, exact in both(rows, query(AUTOMATA[name], 30, 10, returns=SUMS), True):
            assert digits == exact, name


@pytest.mark.parametrize("length", [60, 300, 1100], ids=["past 53 bits", "past 64 bits", "past all floats"])
def test_an_average_over_a_long_repetition_needs_no_integers_of_python(
    length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[Event] = [(t, "A", "g", (-1) ** t * (2**40 + t)) for t in range(length)]

    def fail(*_: Any) -> None:
        raise AssertionError("counted in Python")

    monkeypatch.setattr(Recount, "_run", fail)
    monkeypatch.setattr(machine_code._SO_FAR, "work", machine_code.FEW)  # as of a process that has machine code
    average = query(AUTOMATA["A+"], 2000, returns=[aggregate("avg", "A", BIGINT)])
    average = replace(average, outputs=tuple(o for o in average.outputs if o.name != "count(None, False)"))
    (row,) = driven(table(rows), plan(average), interpreted=False)["q"].to_pylist()
    # Each event is in half of the matches.
    assert row["avg(A, True)"] == float(Fraction(sum(x for *_, x in rows), length))


@pytest.mark.parametrize(
    ("rows", "type_"),
    [([(0, "A", "g", 2**62)], BIGINT), ([(0, "A", "g", 0.5)], DOUBLE)],
    ids=["a number of 62 bits", "a float"],
)
def test_other_numbers_are_left_to_python(rows: list[Event], type_: Any) -> None:
    s = stream(type_)
    arranged = arrange(read(table(rows, type_), s), s, ["g"], canonical=False)
    kinds = classify(arranged, LETTERS)
    q = query(AUTOMATA["A+"], returns=[aggregate("sum", "A", type_, target=STRING)])
    counted = count_matches(arranged, kinds, [q], interpreted=True)
    (planes,) = counted.planes
    assert q.automaton is not None
    assert long_of(q.automaton, arranged, kinds, planes.planes[: planes.additive - 1], counted.values) is None
