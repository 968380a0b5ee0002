"""Units with the same windows that go from window to window as one: the same rows, whatever they do."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from cepc_runtime.events.grouped import arrange, read
from cepc_runtime.events.letters import classify
from cepc_runtime.kernel.run import count_matches
from cepc_runtime.kernel.table_cache import cached_table
from cepc_runtime.kernel.tables import MEMBERS
from cepc_runtime.kernel.together import ENOUGH
from cepc_runtime.plan.strategy import Count, counted_queries
from cepc_runtime.sql.expression import Call, Literal
from cepc_runtime.sql.types import BIGINT, BOOLEAN, DOUBLE
from tests.automata import COUNT, LETTERS, TYPES, Event, aggregate, automaton, plan, query, stream, table
from tests.driven import driven
from tests.equivalence import answered, by_engine, compile_text, same
from tests.properties import NOTHING, Seen, case_numbers, hold
from tests.test_kernel import AUTOMATA
from tests.test_shared_states import counted_programs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cepc_runtime.kernel.run import Counted
    from cepc_runtime.plan.strategy import CountedQuery
    from cepc_runtime.sql.expression import Aggregate
    from cepc_runtime.sql.types import DataType
    from tests.programs import Case

WINDOWS = [(100, 100), (60, 20), (50, 20), (20, 50), (None, None), (7, 3)]
AT_LEAST_THREE = Call(">=", (COUNT, Literal(3, BIGINT)), BOOLEAN)
RETURNS: dict[DataType, tuple[tuple[Aggregate, ...], ...]] = {
    type_: (
        (),
        (aggregate("sum", "A", type_),),
        (aggregate("sum", "B", type_), aggregate("min", "A", type_)),
        (aggregate("max", "C", type_), aggregate("avg", "A", type_)),
    )
    for type_ in (BIGINT, DOUBLE)
}


def counted(rows: Sequence[Event], queries: list[CountedQuery], x: DataType = BIGINT, *, interpreted: bool) -> Counted:
    s = stream(x)
    arranged = arrange(read(table(rows, x), s), s, ["g"], canonical=False)
    return count_matches(arranged, classify(arranged, LETTERS), queries, interpreted=interpreted)


def rows_of(events: Sequence[Event], *queries: CountedQuery, x: DataType, interpreted: bool) -> dict[str, list[str]]:
    """The rows of each query, as text: NaN is equal to itself then."""
    found = driven(table(events, x), plan(*queries, x=x), interpreted=interpreted)
    return {name: sorted(map(str, rows.to_pylist())) for name, rows in found.items()}


def emitted(found: Counted, number: int) -> list[tuple[int, int, str]]:
    e = found.emissions[number]
    return sorted(zip(e.groups.tolist(), e.windows.tolist(), map(str, e.planes.tolist()), strict=True))


def a_band(chance: Random, x: DataType) -> list[CountedQuery]:
    """Queries with one window, and sometimes one with another."""
    window = chance.choice(WINDOWS)
    found = []
    for number in range(chance.randint(MEMBERS, 9)):
        own = window if number < MEMBERS or chance.random() < 0.8 else chance.choice(WINDOWS)
        found.append(
            query(
                AUTOMATA[chance.choice(sorted(AUTOMATA))], *own, name=f"q{number}", returns=chance.choice(RETURNS[x]),
                having=AT_LEAST_THREE if chance.random() < 0.2 else None,
            )
        )  # fmt: skip
    return found


def bursts(chance: Random, x: DataType) -> list[Event]:
    """Events of a few groups, close together and far apart by turns, some at one time; in the order of time."""
    found: list[Event] = []
    tick = chance.randint(-40, 0)
    for _ in range(chance.randint(1, 8)):
        gap, types = chance.choice([0, 1, 1, 2, 5]), chance.choice([TYPES, TYPES[:2], TYPES[:3]])
        for _ in range(chance.randint(1, 20)):
            tick += chance.randint(0, 2 * gap)
            value = chance.randint(-3, 3) if x == BIGINT else chance.choice([0.1, 2.5, -0.0, 1e12, float("inf")])
            found.append((tick, chance.choice(types), chance.choice("gggh"), value))
        tick += chance.choice([0, 3, 30, 300])
    return found


@pytest.mark.parametrize("interpreted", [True, False], ids=["interpreted", "machine code"])
@pytest.mark.parametrize("x", [BIGINT, DOUBLE], ids=["integers", "doubles"])
def test_queries_with_the_same_windows_have_the_rows_that_each_has_by_itself(interpreted: bool, x: DataType) -> None:
    joined = rows = 0
    seeds = case_numbers(cases=100, tested=10)
    for seed in seeds:
        chance = Random(seed)
        queries, events = a_band(chance, x), bursts(chance, x)
        joined += counted(events, queries, x, interpreted=interpreted).effort.events_joined > 0
        found = rows_of(events, *queries, x=x, interpreted=interpreted)
        for q in queries:
            assert rows_of(events, q, x=x, interpreted=interpreted)[q.name] == found[q.name], (seed, q.name)
            rows += len(found[q.name])
    assert joined > len(seeds) / 2
    assert rows > 30 * len(seeds)


def sequences(*within: int | None) -> list[CountedQuery]:
    return [query(automaton("0 A 1, 1 B 2", [2]), *within, name=f"q{n}") for n in range(MEMBERS)]


def pairs(times: int, every: int, start: int = 0) -> list[Event]:
    return [(start + i * every, "AB"[i % 2], "g", 0) for i in range(times)]


@pytest.mark.parametrize(
    ("case", "queries", "events", "joined"),
    [
        ("from an instant on at which all are touched", sequences(None), pairs(20, 1), 20 - ENOUGH),
        ("not for fewer queries than a band has", sequences(None)[1:], pairs(20, 1), 0),
        ("not where windows change with nearly every event", sequences(4, 2), pairs(40, 2), 0),
        ("also after a silence in which windows have closed", sequences(40), pairs(20, 1) + pairs(20, 1, 400), 36),
        ("no longer where two events come between changes", sequences(40, 20), pairs(40, 1) + pairs(60, 10, 100), 38),
        ("not where most units have no partial match",
         [*sequences(None), *(query(automaton("0 C 1", [1]), None, name=f"c{n}") for n in range(2))], pairs(20, 1), 0),
    ],
)  # fmt: skip
def test_a_band_goes_as_one(case: str, queries: list[CountedQuery], events: list[Event], joined: int) -> None:
    found = counted(events, queries, interpreted=True)
    assert found.effort.events_joined == joined, case
    for number, q in enumerate(queries):
        assert emitted(found, number) == emitted(counted(events, [q], interpreted=True), 0)


def test_what_is_no_longer_a_band_goes_on_where_it_was() -> None:
    """Joined, parted and joined again: the rows are those of each query by itself."""
    events = pairs(40, 1) + pairs(20, 10, 100) + pairs(40, 1, 400) + pairs(5, 50, 500)
    queries = sequences(40, 20)
    found = counted(events, queries, interpreted=True)
    assert found.effort.events_joined == 36 + 2 + 36 + 1
    for number, q in enumerate(queries):
        assert emitted(found, number) == emitted(counted(events, [q], interpreted=True), 0)


def test_an_instant_of_several_events_closes_the_windows_of_a_band_once() -> None:
    events: list[Event] = [*pairs(12, 1), (60, "A", "g", 0), (60, "B", "g", 0), (61, "B", "g", 0), (200, "A", "g", 0)]
    found = counted(events, sequences(50), interpreted=True)
    assert found.effort.events_joined > 0
    for number in range(MEMBERS):
        assert [row[1:] for row in emitted(found, number)] == [(0, "[21.0]"), (1, "[1.0]")]


@pytest.fixture
def always_in_bands(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each unit is a band, and goes as one as soon as it is touched."""
    monkeypatch.setattr("cepc_runtime.kernel.tables.MEMBERS", 1)
    monkeypatch.setattr("cepc_runtime.kernel.together.ENOUGH", 1)
    cached_table.cache_clear()
    yield
    cached_table.cache_clear()


def interpreted_rows(case: Case, _: Random) -> Seen:
    """The oracle's rows against those of the kernel, interpreted, since what is patched is part of machine code."""
    compiled = compile_text(case.text)
    answers = answered(case, compiled)
    if answers is None:
        return NOTHING
    found = by_engine(case, compiled, interpreted=True)
    assert found is not None
    for name, answer in answers.items():
        assert same(found[name], answer.rows), (name, found[name], answer.rows)
    kept = [q.name for q in counted_queries(compiled.plan.queries) if isinstance(q.strategy, Count)]
    return Seen.of(case, {name: answers[name] for name in kept})


@pytest.mark.usefixtures("always_in_bands")
def test_rows_of_programs_are_the_oracles_where_each_unit_is_a_band() -> None:
    hold("each unit a band", counted_programs, interpreted_rows)
