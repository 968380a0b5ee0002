"""LAG in a stream: rows are those of a batch, whatever the micro-batches and the order, each of them a restart."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Final

import pytest

from cepc_runtime.events.grouped import read
from cepc_runtime.spark.schema import JobError
from cepc_runtime.spark.streaming.query import continuous
from cepc_runtime.streaming.state_bytes import tables as state_tables
from cepc_runtime.streaming.state_bytes import taken_apart
from tests import test_changed_programs, test_changed_queries
from tests.changed_programs import program
from tests.equivalence import answered, compile_text, same, table_of
from tests.generated_jobs import names_of_job
from tests.programs import OTHERS, Case, Make, bounded, cases
from tests.properties import NOTHING, Seen, hold
from tests.test_beside import beside
from tests.test_changed_programs import what
from tests.test_stream_operator import Stream, micro_batches, packed
from tests.test_streaming import Bucket, check

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from tests.equivalence import Compiled

# ---- by hand ---------------------------------------------------------------------------------------------------------

STREAM: Final = "STREAM s (at BIGINT, kind STRING, k INT, x INT) EVENT TIME at UNIT s EVENT TYPE kind IN ('A', 'B');\n"


def given(compiled: Compiled, text: str) -> pa.Table:
    """`3A7/2`: at 3 an A with x = 7 and k = 2, which is 1 unless said; n is null."""
    rows = []
    for word in text.split():
        at, kind, x, key = re.fullmatch(r"(\d+)([A-Z])(\d+)/?(\w*)", word).groups()  # type: ignore[union-attr]
        rows.append({"at": int(at), "kind": kind, "x": int(x), "k": None if key == "n" else int(key or 1)})
    return table_of(Case("", tuple(rows)), compiled)


def steps(query: str, *parts: tuple[str, int]) -> tuple[list[list[int]], Bucket]:
    """The events at `t` that are known after each step, of which the state is bytes between two."""
    compiled = compile_text(f"{STREAM}QUERY q RETURN MATCH A.at AS t {query};")
    bucket, found = Bucket.of(compiled), list[list[int]]()
    for text, watermark in parts:
        bucket.rows.clear()
        bucket.take(given(compiled, text), watermark)
        found.append(sorted(row["t"] for row in bucket.rows[0]))
    return found, bucket


@pytest.mark.parametrize(
    ("where", "parts", "expected"),
    [
        pytest.param("LAG(A.x) = 7", [("1A1 2C7", 3), ("3A2", 4)], [[], [3]], id="of any type, in a step before"),
        pytest.param("LAG(A.x) = 7", [("4A2", 1), ("2C7", 3), ("3C1", 5)], [[], [], []], id="what came behind it"),
        pytest.param("LAG(A.x) = 4", [("1A5", 1), ("1A4 1A3", 1), ("", 2)], [[], [], [1]], id="ties of several steps"),
        pytest.param("LAG(A.x) = 9", [("1A9", 5), ("2A8", 6), ("7A1", 8)], [[], [], [7]], id="what is late is none"),
        pytest.param("LAG(A.x, 3) = 1", [("1A1", 2), ("2B2", 3), ("3B3", 4), ("4A4", 5)], [[], [], [], [4]],
            id="further back, one at a time"),
        pytest.param("[k] AND LAG(A.x) = 1", [("1A1/n 2A1", 3), ("3A5/n 4A6/2 5A7", 6)], [[], [3, 5]],
            id="a null is a partition"),
        pytest.param("LAG(A.x) IS NULL AND LAG(A.x, 2) IS NULL", [("2A1", 1), ("1A2", 3), ("4A1", 9)], [[], [1], []],
            id="there is none before the first"),
        pytest.param("LAG(A.k) = 1 AND LAG(A.x, 2) = 2", [("1B2 2B3", 9), ("9A1", 10)], [[], [9]],
            id="several columns and places"),
    ],
)  # fmt: skip
def test_what_is_before_an_event(where: str, parts: list[tuple[str, int]], expected: list[list[int]]) -> None:
    assert steps(f"PATTERN A WHERE {where} WITHIN 1 s", *parts)[0] == expected


def test_no_more_is_kept_than_the_last_values_of_each_partition() -> None:
    parts = [(f"{t}A1 {t}B{t}/2 {t}C1/{t}", t + 1) for t in range(3, 30)]
    _, bucket = steps("PATTERN A WHERE [k] AND LAG(A.x) + LAG(A.x, 2) = 1 WITHIN 1 s", *parts)
    (tables,) = bucket.state.lags
    assert [table.column_names for table in tables] == [["k", "x"], ["k", "x"]]
    of_2 = [[row["x"] for row in table.to_pylist() if row["k"] == 2] for table in tables]
    assert sorted(of_2) == [[28, 29], [29]]
    assert [table.num_rows for table in tables] == [2 + 27, 2 * 2 + 27]
    assert bucket.state.events == 0
    assert any("by k" in what for what, _ in state_tables(taken_apart(bucket.data)))


def test_events_that_no_query_looks_at_are_gone_when_they_are_known() -> None:
    _, bucket = steps("PATTERN A WHERE LAG(A.x) = 1 WITHIN 60 s", ("1A1 2C1 3A2 4B1 5C3 8A1 9C1", 8))
    assert bucket.state.held[0] is not None
    assert bucket.state.held[0].events.column("at").to_pylist() == [3, 8, 9]
    text = "QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A b, A a) WHERE a.x > LAG(a.x) WITHIN 60 s;"
    compiled = compile_text(STREAM + text)
    counted = Bucket.of(compiled)
    counted.take(given(compiled, "1A1 2C1 3A2 4B1 5C3 8A1 9C1"), 8)
    assert counted.state.held[0] is not None
    assert counted.state.held[0].events.column("at").to_pylist() == [8, 9]
    assert counted.state.panes == 1


def test_an_event_between_windows_is_before_one_in_a_window() -> None:
    compiled = compile_text(f"{STREAM}QUERY q RETURN COUNT(*) AS n PATTERN A WHERE LAG(A.x) = 7 WITHIN 2 s SLIDE 10 s;")
    bucket = Bucket.of(compiled)
    for text, watermark in (("1A1 8A7", 5), ("", 9), ("11A2", 30)):
        bucket.take(given(compiled, text), watermark)
    assert [row["window_start"] for row in bucket.rows[0]] == [10]


def test_letters_that_an_automaton_tells_apart_wait_for_what_is_before_too() -> None:
    """They are not those of which a match is listed."""
    pattern = "SEQ(SEQ(NEXT(SOME(OR(B, ANY e), A*)), B), tested)"
    where = "e.x > 0 AND (LAG(B.x) >= B.x) IS NOT FALSE"
    text = f"""{STREAM}PATTERN tested AS B WHERE B.x < 7;
    QUERY q RETURN COUNT(*) AS n PATTERN {pattern} WHERE {where} WITHIN 10 s;"""
    found = []
    for more in ((), ((4, "B", 4), (5, "B", 3))):
        events = ((1, "C", 1), (2, "B", 5), (3, "B", 5), *more)
        rows = tuple({"at": at, "kind": kind, "k": 1, "x": x} for at, kind, x in events)
        found.append(through_the_operator(Case(text, rows), Random(1)).rows)
    assert found == [0, 1]


def test_what_cannot_be_asked_later_is_asked_before_or_refused_by_name() -> None:
    """SOUNDEX is Spark's alone."""
    stream = STREAM.replace("x INT", "x INT, t STRING")
    text = stream + "".join(
        f"QUERY q{n} RETURN COUNT(*) AS n PATTERN A WHERE {where} WITHIN 10 s;"
        for n, where in enumerate((
            "LAG(A.x) > 1 AND SOUNDEX(A.t) = 'C120' AND A.x / LAG(A.x) > 2",
            "SOUNDEX(LAG(A.t)) = 'C120'", "LEAD(A.x) > 1", "A.x > 1",
        ))
    )  # fmt: skip
    (part,) = names_of_job(text)["JOB"].parts
    known = [condition for _, condition in part.streamed.lags.known]
    assert known[:2] == ["(soundex(`t`) = 'C120')", "TRUE"]
    for query, said in (
        ("q1", r"query q1 has soundex in a condition with LAG.*`name AS soundex\(…\)`.*--queries q0,q3$"),
        ("q2", "query q2 has LEAD, which is for batches: .*--queries q0,q3$"),
    ):
        with pytest.raises(JobError, match=said):
            continuous(part.streamed, ["q0", query, "q3"], 2, 0)
    kept = continuous(part.streamed, ["q0", "q3"], 2, 0)
    assert [column.name for column in kept.plan.stream.beside] == ["LAG(x) OVER ()"]
    assert [one.letters for one in kept.classes] == [None]
    alone = continuous(part.streamed, ["q3"], 2, 0)
    assert (alone.plan.stream.beside, alone.left, alone.classes[0].letters is None) == ((), (), False)


# ---- random programs -------------------------------------------------------------------------------------------------


def lagging(make: Make) -> Make:
    """Those that have LAG, and as what can be a stream."""

    def made(chance: Random) -> Case:
        while True:
            case = bounded(make)(Random(chance.random()))
            if OTHERS.search(case.text):
                return replace(case, text=case.text.replace("LEAD(", "LAG("))

    return made


KINDS: Mapping[str, Make] = {
    "every query with LAG": lagging(beside),
    "any with LAG": lagging(cases(size=2)),
    "LAG and AFTER MATCH": lagging(cases(match=True, select="NEXT", after=True)),
    "LAG counted": lagging(cases(match=False, select="ANY", pairs=False)),
}


def test_rows_are_those_of_a_batch() -> None:
    for kind, make in KINDS.items():
        hold(f"stream: {kind}", make, check, cases=40, tested=2)


def through_the_operator(case: Case, chance: Random) -> Seen:
    """Of Spark, which decides of each letter what it can."""
    compiled = compile_text(case.text)
    answers = answered(case, compiled)
    if answers is None:
        return NOTHING
    stream = Stream(what(case.text).answering())
    program = stream.answering.program
    table = read(table_of(case, compiled), compiled.plan.stream).table
    for part, shown in micro_batches(chance, table, compiled.plan.stream):
        stream.batch(packed(compiled, table.take(part), program.plan, program.classes), shown)
    stream.flush()
    assert stream.lost == 0
    for number, query in enumerate(program.plan.queries):
        rows = answers[query.name].rows
        assert same(stream.rows.get(number, []), rows), (query.name, stream.rows.get(number), rows)
    return Seen.of(case, answers)


def test_rows_through_the_operator_of_spark_are_those_of_a_batch() -> None:
    for kind, make in KINDS.items():
        hold(f"stream: Spark's operator: {kind}", make, through_the_operator, cases=40, tested=2)


def test_a_changed_program_goes_on() -> None:
    hold("stream: a changed program with LAG", lagging(program), test_changed_programs.check, cases=20, tested=1)


def test_queries_that_stay_and_queries_that_are_new_have_their_rows() -> None:
    make = lagging(test_changed_queries.program)
    hold("stream: other queries with LAG", make, test_changed_queries.check, cases=20, tested=1, differing=0)
