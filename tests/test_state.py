"""A stream's state as bytes: read by another compilation of the same queries, refused for others, shown without any
program.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest

from cepc.codegen.stream_job import stream_job
from cepc.codegen.streaming import whole_plan
from cepc_runtime.events.grouped import read
from cepc_runtime.panes.between_states import Shape, ways_of
from cepc_runtime.panes.shared_panes import PaneGroup
from cepc_runtime.parts.classes import classes_of
from cepc_runtime.plan.as_json import to_text
from cepc_runtime.spark.schema import JobError
from cepc_runtime.spark.streaming.operator import Answering
from cepc_runtime.spark.streaming.time import SHIFT
from cepc_runtime.streaming.description import canonical
from cepc_runtime.streaming.state import State, from_bytes, to_bytes
from cepc_runtime.streaming.state_bytes import StateError, main, tables, taken_apart
from cepc_runtime.streaming.ticks import END
from tests.automata import automaton
from tests.equivalence import ABOUT, Compiled, answered, by_engine, compile_text, same, table_of
from tests.programs import Case, cases, streamed
from tests.properties import NOTHING, Seen, hold
from tests.test_stream_operator import Stream, packed
from tests.test_streaming import Bucket, micro_batches
from tests.told_rows import told_of

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from cepc_runtime.plan.physical import PhysicalPlan
    from tests.equivalence import Rows

STREAM = "STREAM s (at BIGINT, kind STRING, k INT, x INT, y INT) EVENT TIME at UNIT s EVENT TYPE kind;\n"
HIGH = "EVENT High AS A WHERE x > 1;\n"
FOLDED = "QUERY folded RETURN k, COUNT(*) AS n, SUM(b.x) AS s, MAX(a.x) AS m PATTERN SEQ(High a, B b) GROUP BY k WITHIN 20 s;\n"
TREND = "QUERY trend RETURN k, CAST(COUNT(*) AS STRING) AS n PATTERN SEQ(A+, B) GROUP BY k WITHIN 20 s SLIDE 10 s;\n"
BOTH = "QUERY both RETURN k, SUM(a.x) AS s, SUM(b.x) AS t PATTERN AND(A a, High b) GROUP BY k WITHIN 10 s;\n"
SKIPPING = (
    "QUERY skipping RETURN MATCH a.at AS since, COUNT(b) AS n PATTERN SEQ(A a, B+ b, C c) WHERE a.x = 2"
    " SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN 12 s;\n"
)
QUIET = (
    "QUERY quiet RETURN MATCH k, a.at AS at PATTERN SEQ(A a, B b) WHERE [k] SELECT NEXT AFTER MATCH SKIP FOR 30 s"
    " WITHIN 6 s;\n"
)
OTHER = "QUERY other RETURN MATCH d.y AS y PATTERN SEQ(C c, D d) WHERE c.y = 3 AND d.x > 0 WITHIN 5 s;\n"
QUERIES = (FOLDED, TREND, BOTH, SKIPPING, QUIET)
FIRST = STREAM + HIGH + "".join(QUERIES)
ROWS: tuple[dict[str, Any], ...] = tuple(
    {"at": n // 8, "kind": "ABBCAD"[n * n % 6], "k": n % 3, "x": n * 7 % 5, "y": n % 4} for n in range(400)
)


def job(text: str, queries: tuple[str, ...]) -> tuple[Compiled, Stream]:
    """Some queries of a program, as a job runs them."""
    compiled = compile_text(text)
    made = stream_job(compiled.program.streams[0], compiled.logical)
    whole, letters = whole_plan(made), tuple((letter.type, letter.condition) for letter in made.letters)
    plan = replace(whole, queries=tuple(query for query in whole.queries if query.name in queries))
    answering = Answering(to_text(plan), classes_of(plan.queries), letters)
    vars(answering)["program"] = replace(answering.program, fold_from=2, wait=0)  # so that few events are folded
    return compiled, Stream(answering)


def given(compiled: Compiled, stream: Stream, rows: tuple[dict[str, Any], ...], shown: int) -> None:
    table = read(table_of(Case("", rows), compiled), compiled.plan.stream).table
    events = packed(compiled, table, stream.answering.program.plan)
    stream.batch(events, shown)


def by_name(stream: Stream) -> dict[str, Rows]:
    queries = stream.answering.program.plan.queries
    return {query.name: stream.rows[number] for number, query in enumerate(queries)}


NAMES = ("folded", "trend", "both", "skipping", "quiet")
COMPILED_AGAIN = {
    "queries in another order": STREAM + HIGH + "".join(reversed(QUERIES)),
    "another query before them, which is not run": STREAM + HIGH + OTHER + "".join(QUERIES),
    "declarations that nobody uses": STREAM
    + "EVENT Low AS B WHERE x < 0;\nPATTERN p AS SEQ(D d, C c);\n"
    + HIGH
    + "".join(QUERIES),
    "OFFSETs of whole slides": FIRST.replace("WITHIN 10 s;", "WITHIN 10 s OFFSET -20 s;"),
    "labels": FIRST.replace("QUERY trend", "QUERY trend WITH (owner = 'us')"),
    "another query between them, in another order": STREAM + HIGH + SKIPPING + QUIET + BOTH + OTHER + TREND + FOLDED,
}


@pytest.mark.parametrize("text", COMPILED_AGAIN.values(), ids=COMPILED_AGAIN)
def test_another_compilation_of_the_same_queries_goes_on(text: str) -> None:
    """Its letters, queries, families and the numbers of panes are other numbers."""
    expected = by_engine(Case(FIRST, ROWS), compile_text(FIRST))
    assert expected is not None
    compiled, before = job(FIRST, NAMES)
    again, after = job(text, NAMES)
    half = [row for row in ROWS if row["at"] < 25], [row for row in ROWS if row["at"] >= 25]
    given(compiled, before, tuple(half[0]), SHIFT)
    given(compiled, before, (), SHIFT + 24_000)
    states = [from_bytes(data, before.answering.program) for data in before.states.values() if data]
    assert sum(state.panes for state in states) > 2
    assert sum(state.events for state in states) > 10
    assert sum(quiet.num_rows for state in states for silences in state.quiet for quiet in silences.values()) == 2
    after.states, after.timers = before.states, before.timers
    given(again, after, tuple(half[1]), SHIFT + 24_000)
    after.flush()
    for name, rows in by_name(before).items():
        assert same(rows + by_name(after)[name], expected[name], ABOUT), name
        assert by_name(after)[name], name


def test_what_other_statements_do_to_the_numbers_of_a_plan() -> None:
    """Else the test above would say little."""
    first, *others = [job(text, NAMES)[1].answering for text in (FIRST, *COMPILED_AGAIN.values())]
    assert [first.letters == other.letters for other in others] == [False, False, True, True, True, False]
    assert [first.plan_text == other.plan_text for other in others] == [False, False, True, True, True, False]
    numbers = [[family.numbers for family in one.program.families[0]] for one in (first, *others)]
    assert [numbers[0] == own for own in numbers[1:]] == [False, False, True, True, True, False]


def test_a_query_that_is_another_one_is_refused_by_name() -> None:
    compiled, before = job(FIRST, NAMES)
    given(compiled, before, ROWS, 0)
    changed = {
        "query folded is not what it was": FIRST.replace("SUM(b.x) AS s", "SUM(b.y) AS s"),
        "query skipping is not what it was": FIRST.replace("a.x = 2", "a.x = 3"),
        "query trend is not what it was": FIRST.replace("WITHIN 20 s SLIDE", "WITHIN 30 s SLIDE"),
        "query both is not what it was": FIRST.replace("WITHIN 10 s;", "WITHIN 10 s OFFSET 5 s;"),
        "query folded is not what it was; query both is not what it was": FIRST.replace("WHERE x > 1", "WHERE x > 2"),
        "the event time or the event types of stream s are not": FIRST.replace(
            "UNIT s EVENT", "UNIT s ORDER BY y EVENT"
        ),
        "column k of stream s was INT and is BIGINT": FIRST.replace("k INT", "k BIGINT"),
    }
    for said, text in changed.items():
        _, after = job(text, NAMES)
        assert said in told_instead(after, before)
    _, after = job(FIRST + OTHER, (*NAMES, "other"))
    assert "query other is new" in told_instead(after, before)


def told_instead(after: Stream, before: Stream) -> str:
    """What a bucket says of a state that is of another program."""
    done = after.answering.step(0, before.states[0] or b"", [], END)
    assert done.data == before.states[0]
    with pytest.raises(JobError) as raised:
        told_of(done.rows)
    return str(raised.value)


def test_what_was_kept_for_queries_that_are_gone_is_left() -> None:
    """Also the numbers of panes that another query has together with one that is gone."""
    expected = by_engine(Case(FIRST, ROWS), compile_text(FIRST))
    assert expected is not None
    for names in (("folded", "skipping"), ("trend", "quiet"), ("both",)):
        compiled, before = job(FIRST, NAMES)
        given(compiled, before, tuple(row for row in ROWS if row["at"] < 25), SHIFT)
        given(compiled, before, (), SHIFT + 24_000)
        _, after = job(FIRST, names)
        program = after.answering.program
        groups = tuple(
            PaneGroup(family.times, tuple(query.name for _, query in family.queries))
            for families in before.answering.program.families
            for family in families
        )
        vars(after.answering)["program"] = replace(program, panes=groups)
        after.states, after.timers, after.behind = before.states, before.timers, {*before.states}
        given(compiled, after, tuple(row for row in ROWS if row["at"] >= 25), SHIFT + 24_000)
        after.flush()
        for name in names:
            assert same(by_name(before)[name] + by_name(after)[name], expected[name], ABOUT), name
            assert by_name(after)[name], name


def test_a_window_closes_where_all_events_are_folded_and_none_comes() -> None:
    """A timer's step, in which there is no event that says which columns there are."""
    text = STREAM + "QUERY q RETURN k, COUNT(*) AS n PATTERN SEQ(A a, B b) GROUP BY k WITHIN 40 s;\n"
    compiled, stream = job(text, ("q",))
    given(compiled, stream, tuple({**row, "kind": "AB"[n % 2], "k": 1} for n, row in enumerate(ROWS[:80])), SHIFT)
    (bucket,) = stream.states
    for watermark in (11, 30, 41):
        stream._step(bucket, [], watermark)
        state = from_bytes(stream.states[bucket] or b"", stream.answering.program)
        assert (state.events, state.panes) == (0, int(watermark < 40))
    assert by_name(stream)["q"] == [{"k": 1, "n": 720, "window_start": 0, "window_end": 40}]


def test_bytes_of_version_4_are_read() -> None:
    """In which no class says since when its queries see events: all see all."""
    compiled, before = job(FIRST, NAMES)
    given(compiled, before, ROWS, 0)
    program = before.answering.program
    data = before.states[0] or b""
    assert data[:8] == b"cepc\0\0\0\x05"
    old = from_bytes(data[:7] + b"\x04" + data[8:], program)
    assert old.events == from_bytes(data, program).events > 0
    assert to_bytes(old, program) == data


def test_bytes_of_another_format_are_refused() -> None:
    program = job(FIRST, NAMES)[1].answering.program
    data = to_bytes(State(), program)
    assert from_bytes(data, program) == State()
    for wrong in (b"", data[:3], b"x" + data):
        with pytest.raises(StateError, match="no state of cepc's"):
            from_bytes(wrong, program)
    with pytest.raises(StateError, match="of version 9, this runtime's is 5"):
        from_bytes(data[:7] + b"\x09" + data[8:], program)


def reordered(case: Case, chance: Random) -> Seen:
    """Half of a stream, then the rest by a program that has the same queries in another order."""
    compiled = compile_text(case.text)
    expected = answered(case, compiled)
    if expected is None or by_engine(case, compiled) is None:
        return NOTHING
    other = replace(compiled, plan=reordered_plan(case.text, chance))
    buckets = [Bucket.of(one, chance.choice((1, None)), chance.choice((0, 3))) for one in (compiled, other)]
    table = table_of(case, compiled)
    parts = [*micro_batches(chance, table, compiled), (table.slice(0, 0), END)]
    data = buckets[0].data
    for events, watermark in parts:
        bucket = chance.choice(buckets)
        bucket.data = data
        bucket.take(events, watermark)
        data = bucket.data
    for query in compiled.plan.queries:
        found = [
            row
            for b in buckets
            for n, q in enumerate(b.program.plan.queries)
            if q.name == query.name
            for row in b.rows[n]
        ]
        assert same(found, expected[query.name].rows, ABOUT), query.name
    return Seen.of(case, expected)


def reordered_plan(text: str, chance: Random) -> PhysicalPlan:
    """Of the program with its queries in another order."""
    head, *queries = text.split("QUERY ")
    chance.shuffle(queries)
    rest = [query if query.rstrip().endswith(";") else query + ";\n" for query in queries]
    return compile_text("QUERY ".join([head, *rest])).plan


def test_rows_are_the_same_when_programs_take_turns() -> None:
    hold("stream: programs take turns", streamed(cases(size=3)), reordered)


def test_a_shape_has_one_form_whatever_its_letters_are_numbered() -> None:
    names = [("A", "TRUE"), ("A", "x > 1"), ("B", "TRUE")]
    one = automaton("0 A 1, 0 B 2, 1 B 3, 2 A 3, 1 A 1, 3 C 3", [3])
    for order in permutations(range(3)):
        moved = [names[order.index(place)] for place in range(3)]
        for way in ways_of(one).values():
            shape = way.shape
            steps = tuple(sorted((s, t, order[letter], v, tie) for s, t, letter, v, tie in shape.steps))
            other = canonical(Shape(steps, shape.end), moved)
            assert other.named(moved) == canonical(shape, names).named(names)


def test_it_is_read_without_a_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compiled, stream = job(STREAM + HIGH + TREND + SKIPPING, NAMES)
    as_many = tuple({"at": n % 10, "kind": "A", "k": 1, "x": 2, "y": n} for n in range(1000))
    given(compiled, stream, (*as_many, {"at": 12, "kind": "B", "k": 1, "x": None, "y": 0}), SHIFT)
    given(compiled, stream, (), SHIFT + 10_000)
    given(compiled, stream, (), SHIFT + 10_000)
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for number, data in stream.states.items():
        assert data is not None
        (tmp_path / str(number)).write_bytes(data)
        for what, table in tables(taken_apart(data)):
            found[what] += table.to_pylist()
    (event,) = found["events of trend, by k"]
    assert event == {
        "at": 12, "kind": "B", "k": 1, "x": None, "y": 0,
        "is A": False, "is B": True, "is A with (`x` = 2)": False, "is C": False,
    }  # fmt: skip
    assert sum(row["no match of skipping begins here"] for row in found["events of skipping, by nothing"]) == 0
    (panes,) = found["panes of trend, by k"]
    assert {
        "k": 1,
        "pane of 10 ticks": 0,
        "ways (0 - A v0 > 1, 1 - A v0 > 1; to 1)": str(101**10 - 1),
    }.items() <= panes.items()
    main([str(path) for path in tmp_path.iterdir()])
    said = capsys.readouterr().out
    assert "events of trend, by k\n" in said
    assert '"queries": [' in said


def test_silences_are_read_without_a_program_and_end_with_the_watermark() -> None:
    compiled, stream = job(STREAM + QUIET, NAMES)
    rows = (("A", 1, 7), ("B", 1, 9), ("A", 2, 8), ("B", 3, 9))
    given(compiled, stream, tuple({"at": at, "kind": kind, "k": k, "x": 0, "y": 0} for kind, k, at in rows), SHIFT)

    def silent(watermark: int) -> list[Any]:
        given(compiled, stream, (), SHIFT + watermark * 1_000)
        given(compiled, stream, (), SHIFT + watermark * 1_000)
        return [
            (what, table.to_pylist())
            for data in stream.states.values()
            for what, table in tables(taken_apart(data or b""))
        ]

    what = "silences of quiet: the last tick with which no match begins"
    assert silent(20) == [(what, [{"k": 1, "through": 38}])]  # and no events
    assert silent(38) == [(what, [{"k": 1, "through": 38}])]
    its_bucket_is_read = ({"at": 39, "kind": "A", "k": 1, "x": 0, "y": 0},)
    given(compiled, stream, its_bucket_is_read, SHIFT + 39_000)
    assert [(title, len(rows)) for title, rows in silent(39)] == [("events of quiet, by k", 1)]


def test_a_query_over_sessions_goes_on_when_its_letters_have_other_numbers() -> None:
    text = "QUERY visits RETURN k, COUNT(*) AS n PATTERN SEQ(High, NOT C, B) GROUP BY k WITHIN SESSION 2 s;\n"
    first, then = STREAM + HIGH + text, STREAM + HIGH + OTHER + TREND + text
    expected = by_engine(Case(first, ROWS), compile_text(first))
    assert expected is not None
    compiled, before = job(first, ("visits",))
    again, after = job(then, ("visits",))
    given(compiled, before, tuple(row for row in ROWS if row["at"] < 25), SHIFT)
    given(compiled, before, (), SHIFT + 24_000)
    after.states, after.timers = before.states, before.timers
    given(again, after, tuple(row for row in ROWS if row["at"] >= 25), SHIFT + 24_000)
    after.flush()
    assert same(by_name(before)["visits"] + by_name(after)["visits"], expected["visits"], ABOUT)
    assert by_name(after)["visits"]


def test_what_labels_say_is_not_what_a_state_is_of() -> None:
    text = (
        STREAM
        + "QUERY q WITH (a = '{}', b = 'x') RETURN MATCH LABEL({}) AS l PATTERN A HAVING LABEL(a) <> 'n' WITHIN 9 s;"
    )

    def digest_of(said: str, label: str) -> str:
        ((_, digest),) = job(text.format(said, label), ("q",))[1].answering.program.description.data["queries"]
        return str(digest)

    assert digest_of("high", "a") == digest_of("low", "a")
    assert digest_of("high", "a") != digest_of("high", "b")


NUMBERED = (
    "QUERY numbered RETURN MATCH k, a.at AS at, MATCH_NUMBER() AS n PATTERN SEQ(A a, B b) WHERE [k]"
    " SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN 6 s;\n"
)


def test_matches_are_numbered_on_after_a_restart_with_another_compilation() -> None:
    names = ("numbered", "silently")
    silently = NUMBERED.replace("numbered", "silently").replace("PAST LAST EVENT", "FOR 9 s")
    first, then = STREAM + NUMBERED + silently, STREAM + HIGH + OTHER + silently + NUMBERED
    expected = by_engine(Case(first, ROWS), compile_text(first))
    assert expected is not None
    compiled, before = job(first, names)
    again, after = job(then, names)
    given(compiled, before, tuple(row for row in ROWS if row["at"] < 25), SHIFT)
    given(compiled, before, (), SHIFT + 90_000)  # no event is held any more
    given(compiled, before, (), SHIFT + 90_000)
    found = {what for data in before.states.values() for what, _ in tables(taken_apart(data or b""))}
    assert found == {f"how many matches of {name} partitions have had" for name in names}
    after.states, after.timers = before.states, before.timers
    later = tuple({**row, "at": row["at"] + 200} for row in ROWS if row["at"] >= 25)
    expected = by_engine(Case(first, (*(row for row in ROWS if row["at"] < 25), *later)), compile_text(first))
    assert expected is not None
    given(again, after, later, SHIFT + 90_000)
    after.flush()
    for name, rows in by_name(before).items():
        assert same(rows + by_name(after)[name], expected[name], ABOUT), name
        assert {row["n"] for row in by_name(after)[name]}.isdisjoint({1, 2}), name
