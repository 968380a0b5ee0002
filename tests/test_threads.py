"""The bytes of a run are the same on any number of threads; so are its errors, and an interruption ends it."""

from __future__ import annotations

import os
import signal
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import permutations
from random import Random
from threading import Barrier, Event
from threading import enumerate as enumerate_threads
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import cepc
import cepc.reading.read
import cepc_runtime.enumerate.listing
import cepc_runtime.parts.cutting
import cepc_runtime.parts.threads
from cepc.cli import cepc as command
from cepc.passes.strategy import strategy
from cepc.reading import csv_files, parquet_files
from cepc.running.given import read_given
from cepc.running.local import share_for
from cepc.shared_plans import Options
from cepc.writing.order import in_order
from cepc.writing.store import store
from cepc_runtime.batch import execute
from cepc_runtime.enumerate.budget import PARTIAL_MATCHES
from cepc_runtime.events.stretch import EVERYWHERE
from cepc_runtime.parts.at_once import at_once, in_turn
from cepc_runtime.parts.resources import MANY as EVENTS
from cepc_runtime.parts.resources import Resources
from tests.equivalence import answered, compile_text, table_of
from tests.oracle import Answer
from tests.programs import HEADER, Asked, Case, between_neighbours, bounded, case, overlapping, query
from tests.properties import NOTHING, Seen, hold
from tests.test_examples import NAMES, generate, program
from tests.words import stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from types import FrameType

    from cepc_runtime.parts.cutting import Part
    from cepc_runtime.plan.physical import PhysicalPlan

MANY: Final = (2, 3, 7)
SELECTS: Final = ("ANY", "ANY", "NEXT", "CONTIGUOUS")


def outcome(
    plan: PhysicalPlan,
    table: Any,
    threads: int,
    most: int = PARTIAL_MATCHES,
    interpreted: bool | None = None,
    many: int = EVENTS,
) -> dict[str, bytes] | tuple[Any, ...]:
    """What a run writes for each query, or the error that it ends with. No part is too small."""
    try:
        found = execute(plan, table, resources=Resources(most, threads, few=1, many=many), interpreted=interpreted)
    except Exception as error:
        return type(error), str(error), getattr(error, "query", None)
    return {name: written(in_order(rows)) for name, rows in found.tables.items()}


def written(table: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table.combine_chunks())
    return bytes(sink.getvalue())


class Cuts:
    """How the runs of a test were cut."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.kinds: Counter[str] = Counter()
        self.last: list[list[Part]] = []
        plain = cepc_runtime.parts.cutting.parts_of

        def noted(*given: Any) -> list[list[Part]]:
            lists = self.last = plain(*given)
            self.kinds.update(self._kind(parts) for parts in lists)
            self.kinds["small groups"] += any(len(parts) > given[4] for parts in lists)
            return lists

        monkeypatch.setattr(cepc_runtime.parts.threads, "parts_of", noted)

    def _kind(self, parts: Sequence[Part]) -> str:
        if len(parts) < 2:
            return "whole"
        if all(part.span == EVERYWHERE for part in parts):
            return "groups"
        return "time of windows" if parts[0].queries[0].kind == "aggregate" else "time of matches"


@pytest.fixture
def cuts(monkeypatch: pytest.MonkeyPatch) -> Cuts:
    return Cuts(monkeypatch)


# ---- rows ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_rows_of_an_example_are_the_same_bytes(name: str, cuts: Cuts) -> None:
    compiled = compile_text(program(name).read_text(encoding="utf-8"))
    (stream,) = compiled.program.streams
    read = read_given(generate(name, 6_000, 3), compiled.logical.stream, stream.input)
    plan = strategy(share_for(compiled.program, compiled.logical, read, Options(level=2)).plan, "local")
    alone = outcome(plan, read.table, 1)
    assert isinstance(alone, dict)
    assert all(pa.ipc.open_stream(rows).read_all().num_rows for rows in alone.values())
    for threads in MANY:
        assert outcome(plan, read.table, threads) == alone, threads
    assert cuts.kinds["groups"] + cuts.kinds["time of windows"] + cuts.kinds["time of matches"] >= len(MANY)


def on_threads(case: Case, chance: Random) -> Seen:
    compiled = compile_text(case.text)
    answers = answered(case, compiled)
    table = table_of(case, compiled)
    interpreted = chance.random() < 0.9 or None
    alone = outcome(compiled.plan, table, 1, interpreted=interpreted)
    for threads in MANY:
        assert outcome(compiled.plan, table, threads, interpreted=interpreted) == alone, threads
    for threads in (1, 2):
        many = len(table) // 9 + 1
        assert outcome(compiled.plan, table, threads, interpreted=interpreted, many=many) == alone, threads
    return NOTHING if answers is None else Seen.of(case, answers)


def mixed(chance: Random) -> Case:
    """Of many groups and of few, counted and listed."""
    one = chance.random()
    if one < 0.2:
        return bounded(between_neighbours)(chance)
    if one < 0.4:
        return bounded(overlapping())(chance)
    asked = Asked(keyed=chance.random() < 0.7, group=chance.choice((None, None, "")))
    return (bounded(lambda c: case(c, 3, asked)) if chance.random() < 0.8 else lambda c: case(c, 3, asked))(chance)


WHOLE: Final = Case(
    "STREAM s (at BIGINT, kind STRING, x BIGINT) EVENT TIME at UNIT s EVENT TYPE kind;\n"
    "QUERY q RETURN SUM(A.x) AS n PATTERN SEQ(A, B) WITHIN UNBOUNDED;",
    tuple({"at": at, "kind": "AB"[at % 2], "x": at} for at in range(9)),
)
"""One query over one group, for all time: it cannot be cut."""


def test_random_programs_have_the_same_rows_and_errors(cuts: Cuts) -> None:
    tally = hold("on 1, 2, 3 and 7 threads", mixed, on_threads, with_rows=0.6, differing=0.3)
    assert cuts.kinds["groups"] >= len(MANY) * tally.drawn // 2, cuts.kinds
    assert cuts.kinds["small groups"] >= tally.drawn // 2, cuts.kinds
    before = cuts.kinds["whole"]  # of four random programs perhaps none
    assert on_threads(WHOLE, Random(0)).rows == 1
    assert cuts.kinds["whole"] == before + len(MANY) + 1, cuts.kinds  # on two threads twice


FEW_MATCHES: Final = 20_000


def in_a_line(chance: Random) -> Case:
    """Programs that take no words apart, on words that follow each other in time."""
    time, unit = chance.choice((("TIMESTAMP", ""), ("BIGINT", " UNIT s")))
    asked = Asked(keyed=False, group=chance.choice(("", "", "", "k", "y")), match=chance.random() < 0.5)
    texts = [query(chance, f"q{i}", replace(asked, select=chance.choice(SELECTS))) for i in range(2)]
    text = HEADER.format(time=time, unit=unit, order="") + "".join(texts)
    rows, _ = stream(text, chance, 40)
    second = timedelta(seconds=1) if time == "TIMESTAMP" else 1
    moved = [row | {"at": row["at"] + 9 * row["word"] * second} for row in rows if row["at"] is not None]
    return Case(text, tuple(sorted(moved, key=lambda row: row["at"]) if chance.random() < 0.5 else moved))


def in_pieces_of_time(case: Case, _chance: Random) -> Seen:
    compiled = compile_text(case.text)
    table = table_of(case, compiled)
    alone = outcome(compiled.plan, table, 1, interpreted=True, most=FEW_MATCHES)
    for threads in MANY:
        assert outcome(compiled.plan, table, threads, interpreted=True, most=FEW_MATCHES) == alone, threads
    if not isinstance(alone, dict):
        return NOTHING
    rows = {name: pa.ipc.open_stream(found).read_all().to_pylist() for name, found in alone.items()}
    return Seen({name: Answer(found, frozenset()) for name, found in rows.items()})


@pytest.mark.unhurried
def test_few_groups_are_cut_by_time_and_have_the_same_rows_and_errors(cuts: Cuts) -> None:
    tally = hold("cut by time", in_a_line, in_pieces_of_time, with_rows=0.6, differing=0)
    for kind in ("time of windows", "time of matches"):
        assert cuts.kinds[kind] >= len(MANY) * tally.drawn // 5, cuts.kinds


def test_queries_over_one_group_that_cannot_be_cut_are_divided(cuts: Cuts) -> None:
    after = "RETURN MATCH A.x AS x PATTERN SEQ(A, {b}) SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN {within} s"
    counted = "RETURN SUM(A.x) AS n PATTERN SEQ(A, {b}) WITHIN UNBOUNDED"
    own = {f"m{b}{within}": after.format(b=b, within=within) for b in "BC" for within in (5, 9)}
    own |= {"s": counted.format(b="B"), "u": counted.format(b="C")}
    own["t"] = counted.format(b="B").replace("WITHIN", "WHERE A.x <= B.x WITHIN")
    text = "".join(f"QUERY {name} {query};\n" for name, query in own.items())
    plan, table = compile_text(STREAM + text).plan, events([*range(60)], 1, "ABCC")
    alone = outcome(plan, table, 1)
    assert isinstance(alone, dict)
    for threads in MANY:
        assert outcome(plan, table, threads) == alone
        bundles = [{query.name for query in parts[0].queries} for parts in cuts.last]
        assert all(len(parts) == 1 for parts in cuts.last)
        assert len(bundles) == min(threads, 6)
        assert sorted(name for names in bundles for name in names) == sorted(own)
        assert any({"s", "u"} <= names for names in bundles), "one pass counts both"


def test_rows_that_are_equal_and_not_the_same_have_one_order() -> None:
    table = pa.table(
        {
            "a": [0.0, -0.0, None, 0.0, -0.0, float("nan")],
            "b": [[{"x": 0.0}], [{"x": 0.0}], None, [{"x": -0.0}], [], [{"x": None}]],
            "c": [1, 1, 1, 1, 1, 1],
        }
    )
    ordered = {written(in_order(table.take(list(rows)))) for rows in permutations(range(table.num_rows))}
    assert len(ordered) == 1


def test_a_group_shows_the_first_of_its_equal_values(cuts: Cuts) -> None:
    text = "STREAM s (at BIGINT, kind STRING, y DOUBLE) EVENT TIME at UNIT s EVENT TYPE kind;\n"
    text += "QUERY q RETURN y, COUNT(*) AS n PATTERN SEQ(A, B) GROUP BY y WITHIN 4 s;\n"
    text += "QUERY p RETURN COUNT(*) AS n PATTERN SEQ(A, B) WITHIN 4 s;\n"
    plan, number = compile_text(text).plan, np.arange(100)
    kinds = pa.array(["A", "B"]).take(pa.array(number % 2))
    table = pa.table({"at": number, "kind": kinds, "y": np.where(number < 50, -0.0, 0.0)})
    alone = outcome(plan, table, 1)
    for threads in MANY:
        assert outcome(plan, table, threads) == alone
    assert (cuts.kinds["time of windows"], cuts.kinds["whole"]) == (len(MANY), len(MANY))


# ---- errors ----------------------------------------------------------------------------------------------------------

STREAM: Final = "STREAM s (at BIGINT, kind STRING, g INT, x BIGINT) EVENT TIME at UNIT s EVENT TYPE kind;\n"
SUM: Final = "QUERY {q} RETURN {keys}SUM(A.x) AS n PATTERN SEQ(A, B) {group}WITHIN 4 s;\n"
DIVIDED: Final = "QUERY {q} RETURN MATCH A.x AS x PATTERN SEQ(A, B) WHERE [g] AND 1 / (A.x + B.x) > 5 WITHIN 4 s;\n"
LISTED: Final = "QUERY {q} RETURN MATCH COUNT(A) AS n PATTERN A+ {where}WITHIN {within} s;\n"
HUGE: Final = 1 << 62


def events(xs: Sequence[int], groups: int, kinds: str = "AB", step: int = 1) -> pa.Table:
    """An event every `step` seconds, in turn of each kind; as many groups, one after the other."""
    number = np.arange(len(xs))
    return pa.table(
        {
            "at": number * step,
            "kind": [kinds[i % len(kinds)] for i in number],
            "g": pa.array(number * groups // max(len(xs), 1), pa.int32()),
            "x": pa.array(xs, pa.int64()),
        }
    )


def at(places: dict[int, int], length: int = 120) -> list[int]:
    return [places.get(i, 1) for i in range(length)]


BY_GROUP: Final = {"keys": "g, ", "group": "GROUP BY g "}
AS_ONE: Final = {"keys": "", "group": ""}
FAIL: Final[dict[str, tuple[str, Any, str]]] = {
    "of several windows the first": (SUM.format(q="q", **AS_ONE), (at({80: HUGE, 82: HUGE, 20: HUGE, 22: HUGE}), 1), "q"),
    "of several groups the first": (SUM.format(q="q", **BY_GROUP), (at({80: HUGE, 82: HUGE, 20: HUGE, 22: HUGE}), 6), "q"),
    "of several queries the first, though it fails in the last group": (
        SUM.format(q="p", **BY_GROUP) + SUM.format(q="q", **BY_GROUP).replace("A.x", "A.x + 1"),
        (at({1: 1, 110: HUGE, 112: HUGE, 20: 2**63 - 1}), 6),
        "q",
    ),
    "what is counted before what is listed": (
        DIVIDED.format(q="p") + SUM.format(q="q", **BY_GROUP), (at({0: -1, 110: HUGE, 112: HUGE}), 6), "q",
    ),
    "a value that there is not": (DIVIDED.format(q="q"), (at({0: 1, 60: -1, 80: -1}), 6), "q"),
    "of two listed queries the first": (
        DIVIDED.format(q="p").replace("[g] AND ", "") + DIVIDED.format(q="q"), (at({100: -1, 30: -1}), 6), "p",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAIL)
def test_the_first_error_of_one_thread_is_the_error_of_many(name: str, cuts: Cuts) -> None:
    text, given, query = FAIL[name]
    plan, table = compile_text(STREAM + text).plan, events(*given)
    alone = outcome(plan, table, 1, interpreted=True)
    assert isinstance(alone, tuple), "it fails"
    assert alone[2] == query
    for threads in MANY:
        assert outcome(plan, table, threads, interpreted=True) == alone, threads
    assert cuts.kinds["groups"] + cuts.kinds["time of windows"] + cuts.kinds["time of matches"] > 0


def test_partial_matches_of_all_parts_are_counted_together(cuts: Cuts) -> None:
    plan = compile_text(STREAM + LISTED.format(q="q", where="WHERE [g] ", within=5)).plan
    table = events([1] * 60, 12, "A")  # each group has five events, and so 31 matches
    own = 20 * 60
    for most in (12 * 31 - own, 12 * 31 - own - 1):
        alone = outcome(plan, table, 1, most=most)
        assert isinstance(alone, dict) == (most == 12 * 31 - own)
        for threads in MANY:
            assert outcome(plan, table, threads, most=most) == alone, (most, threads)
    assert cuts.kinds["groups"] == 2 * len(MANY)


def test_the_budget_is_that_of_all_queries_where_some_are_run_again(cuts: Cuts) -> None:
    """Events that only another query looks at count as well, and this one is done when the first fails."""
    runs_away = "QUERY q RETURN MATCH COUNT(A) AS n PATTERN A+ WITHIN UNBOUNDED;\n"
    other = "QUERY p RETURN MATCH C.x AS x PATTERN SEQ(B, C) WITHIN 3 s;\n"
    plan, table = compile_text(STREAM + other + runs_away).plan, events([1] * 90, 1, "ABC")
    alone = outcome(plan, table, 1, most=1000)
    assert "more than 2,800 partial matches" in str(alone)
    for threads in MANY:
        assert outcome(plan, table, threads, most=1000) == alone
    assert (cuts.kinds["time of matches"], cuts.kinds["whole"]) == (len(MANY), len(MANY))


@pytest.mark.long
def test_what_is_looked_at_by_two_parts_is_not_too_much(cuts: Cuts) -> None:
    plan = compile_text(STREAM + LISTED.format(q="q", where="", within=4)).plan
    table = events([1] * 90, 1, "A")
    most = next(most for most in range(-1800, 1000) if isinstance(outcome(plan, table, 1, most=most), dict))
    assert outcome(plan, table, 3, most=most) == outcome(plan, table, 1, most=most)
    assert cuts.kinds["time of matches"] == 1


# ---- progress, and an interruption -----------------------------------------------------------------------------------

MANY_QUERIES: Final = "".join(
    [
        SUM.format(q="counted", **BY_GROUP),
        LISTED.format(q="listed", where="WHERE [g] ", within=3),
        "QUERY pairs RETURN MATCH A.x AS x PATTERN SEQ(A, B) WITHIN 3 s;\n",
    ]
)


def test_what_is_done_grows_to_all_on_threads_too() -> None:
    plan, told = compile_text(STREAM + MANY_QUERIES).plan, list[float]()
    execute(plan, events([1] * 3000, 10), tell=told.append, resources=Resources(threads=3, few=1))
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert len(told) > 6


def running() -> list[str]:
    return [thread.name for thread in enumerate_threads() if thread.name.startswith("cepc")]


@pytest.fixture
def heard() -> Iterator[Event]:
    """Set when an interruption is heard, also where the tests run in the background of a shell, which has it ignored."""
    event = Event()

    def hear(number: int, frame: FrameType | None) -> None:
        event.set()
        signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, hear)
    yield event
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("interrupted", ["the thread that waits", "one that works"])
def test_an_interruption_ends_all_threads(interrupted: str, heard: Event) -> None:
    plan, told = compile_text(STREAM + MANY_QUERIES).plan, list[float]()

    def tell(fraction: float) -> None:
        told.append(fraction)
        if interrupted == "one that works":
            raise KeyboardInterrupt
        if len(told) == 1:  # a second one would end the wait for the threads
            os.kill(os.getpid(), signal.SIGINT)
            assert heard.wait(60)  # on a busy machine all would be done before

    with pytest.raises(KeyboardInterrupt):
        execute(plan, events([1] * 300_000, 1000), tell=tell, resources=Resources(threads=2))
    assert running() == []
    assert told[-1] < 1.0
    assert interrupted != "one that works" or len(told) == 1, "it is not run once more"


def test_a_failure_of_ours_is_told_as_by_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr(cepc_runtime.enumerate.listing, "MatchRows", broken)
    plan, table = compile_text(STREAM + MANY_QUERIES).plan, events([1] * 100, 10)
    assert outcome(plan, table, 3) == outcome(plan, table, 1) == (MemoryError, "no room", None)
    assert running() == []


# ---- tasks, and reading ----------------------------------------------------------------------------------------------


def test_the_first_task_that_fails_is_told_and_no_other_is_begun() -> None:
    begun: list[int] = []
    second = Barrier(2, timeout=10)

    def broken(number: int) -> int:
        raise ValueError(number)

    def task(number: int) -> int:
        begun.append(number)
        if number in (1, 2):
            second.wait()  # both fail, whichever is sooner
            raise ValueError(number)
        return number

    with pytest.raises(ValueError, match="1"):
        at_once([partial(task, number) for number in range(50)], 2)
    assert max(begun) < 10
    with pytest.raises(ValueError, match="1"):
        at_once([partial(broken, 1), partial(broken, 2)], 2)
    assert at_once([partial(task, number) for number in (5, 0, 7)], 2) == [5, 0, 7]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_what_is_fetched_comes_back_in_turn_and_so_do_failures(threads: int) -> None:
    def items(broken: int) -> Iterator[int]:
        for number in range(20):
            if number == broken:
                raise OSError(number)
            yield number

    def work(number: int, broken: int) -> int:
        if number == broken:
            raise ValueError(number)
        return 10 * number

    def taken(fetch: int, fails: int) -> tuple[list[tuple[int, int]], str]:
        seen = []
        try:
            for pair in in_turn(items(fetch), partial(work, broken=fails), threads):
                seen.append(pair)
        except (OSError, ValueError) as error:
            return seen, repr(error)
        return seen, ""

    every = [(number, 10 * number) for number in range(20)]
    assert taken(99, 99) == (every, "")
    assert taken(12, 99) == (every[:12], "OSError(12)")
    assert taken(99, 7) == (every[:7], "ValueError(7)")
    assert taken(8, 7) == (every[:7], "ValueError(7)")
    assert taken(7, 8) == (every[:7], "OSError(7)")


READ: Final = """STREAM s (written STRING, kind STRING, g INT, x BIGINT, at AS CAST(written AS BIGINT), y AS 100 / x)
EVENT TIME at UNIT s EVENT TYPE kind;
QUERY q RETURN MATCH g, A.y AS y, B.written AS w PATTERN SEQ(A, B) WHERE [g] WITHIN 9 s;
QUERY n RETURN g, SUM(A.y) AS y PATTERN SEQ(A, B) GROUP BY g WITHIN 9 s;
"""
BAD: Final[dict[str, dict[int, Any]]] = {
    "none": {},
    "a late time": {15_000: "?"},
    "a zero": {14_000: 0},
    "both": {15_000: "?", 19_000: 0, 9: 0},
}


@pytest.mark.unhurried
@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("form", ["memory", "parquet", "csv"])
def test_a_whole_run_is_the_same_bytes(form: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read, run, sorted and stored; and where records are bad, what is said of them."""
    for module in (cepc.reading.read, parquet_files):
        monkeypatch.setattr(module, "ROWS", 1 << 11)
    monkeypatch.setattr(csv_files, "BLOCK", 1 << 14)  # a thousand rows
    rows, bad = 20_000, BAD[name]
    number = np.arange(rows)
    table = pa.table(
        {
            "written": [bad[i] if isinstance(bad.get(i), str) else str(i) for i in range(rows)],
            "kind": pa.array(["A", "B", "C", "D"]).take(pa.array(number % 4)),
            "g": pa.array(number // 3 % 50, pa.int32()),
            "x": pa.array([0 if bad.get(i) == 0 else 7 for i in range(rows)], pa.int64()),
        }
    )
    source: Any = table
    if form != "memory":
        source = tmp_path / f"events.{form}"
        pq.write_table(table, source) if form == "parquet" else pc.write_csv(table, source)
    compiled = cepc.compile(READ)

    def told(threads: int, **how: Any) -> Any:
        folder = tmp_path / f"{threads}"
        try:
            found = compiled.run(source, threads=threads, **how)
        except cepc.DataError as error:
            return str(error)
        store(found, str(folder), "parquet", threads=threads)
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    alone, passed_over = told(1), told(1, skip_bad=True)
    assert isinstance(alone, dict) == (not bad)
    assert set(passed_over) == {"q.parquet", "n.parquet"}
    for threads in MANY:
        assert told(threads) == alone
        assert told(threads, skip_bad=True) == passed_over


def test_a_run_wants_one_thread_at_least() -> None:
    with pytest.raises(ValueError, match="0 threads"):
        cepc.compile(READ).run(pa.table({}), threads=0)


def test_the_command_has_threads_and_writes_the_same(tmp_path: Path) -> None:
    (tmp_path / "q.cep").write_text(READ)
    (tmp_path / "e.csv").write_text("written,kind,g,x\n1,A,1,7\n2,B,1,7\n")
    asked = ["run", str(tmp_path / "q.cep"), "--events", str(tmp_path / "e.csv")]
    alone, many = (CliRunner().invoke(command, [*asked, "--threads", n]) for n in ("1", "3"))
    assert alone.exit_code == 0
    assert alone.stdout == many.stdout != ""
    assert CliRunner().invoke(command, [*asked, "--threads", "0"]).exit_code == 2
    refused = CliRunner().invoke(command, [*asked, "--threads", "2", "--engine", "spark"])
    assert refused.exit_code == 2
    assert "--threads is for the engine of this process" in refused.stderr
