"""LAG and LEAD: which event stands beside another, and what is made of it (docs/language.md, "Conditions")."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pytest

from cepc.api import check_text
from cepc.codegen.compiling import job_of
from cepc_runtime.batch import execute
from cepc_runtime.events.grouped import read
from cepc_runtime.parts.resources import Resources
from cepc_runtime.plan.as_json import from_text_of_plan, to_text
from cepc_runtime.plan.strategy import Count
from tests.equivalence import compile_text
from tests.programs import HEADER, Case, with_stream
from tests.properties import hold
from tests.spark_programs import agree
from tests.test_equivalence import compare
from tests.test_memory import in_little, in_parts
from tests.test_threads import on_threads

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

STREAM: Final = """STREAM s (at BIGINT, seq INT, kind STRING, k INT, x INT, y DOUBLE)
EVENT TIME at ORDER BY seq EVENT TYPE kind IN ('A', 'B');
"""

NEIGHBOURS: Final = {
    "the event before is of any type, listed or not": ("LAG(A.x) = 7", "1A1 2C7 3A2 4B1", [3]),
    "the event behind is of any type": ("LEAD(A.x) = 7", "1A1 2C7 3A2 4B1", [1]),
    "another partition is not looked at": ("[k] AND LAG(A.x) = 1", "1A1 2A1/2 3A5 4A6/2", [3, 4]),
    "a null is a partition": ("[k] AND LAG(A.x) = 1", "1A1/n 2A1 3A5/n", [3]),
    "without one there is null": ("LAG(A.x, 2) IS NULL AND LEAD(A.x, 2) IS NULL", "1A1 2A2 3A3", [2]),
    "a window is no edge": ("LAG(A.x) = 1", "1A1 1000A2", [1000]),
    "an event without a type is none": ("LAG(A.x) = 1", "1A1 2-9 3A2", [3]),
    "an event without a time is none": ("LAG(A.x) = 1", "1A1 nA9 3A2", [3]),
    "ties have the canonical order": ("LAG(A.x) = 4", "1A5 1A4 1A3", [1]),
    "the type comes before other columns in it": ("LAG(A.x) = 9", "1B1 1A9 1A2", []),
    "a field is of a column": ("LAG(A.x) + LEAD(A.x) = 4", "1A1 2A9 3A3", [2]),
}


def rows_of(text: str) -> pa.Table:
    """`3A7/2`: at 3 an A with x = 7 and k = 2; k is 1 unless said, n is null, and `-` no type."""
    rows = []
    for event in text.split():
        place = next(i for i, letter in enumerate(event) if letter in "ABC-")
        value, _, key = event[place + 1 :].partition("/")
        rows.append(
            {
                "at": None if event[:place] == "n" else int(event[:place]),
                "seq": 1,
                "kind": None if event[place] == "-" else event[place],
                "k": None if key == "n" else int(key or 1),
                "x": int(value),
                "y": None,
            }
        )
    types = {"at": pa.int64(), "seq": pa.int32(), "kind": pa.string(), "k": pa.int32(), "x": pa.int32()}
    return pa.Table.from_pylist(rows, schema=pa.schema([*types.items(), ("y", pa.float64())]))


@pytest.mark.parametrize("title", NEIGHBOURS)
def test_which_event_stands_beside_another(title: str) -> None:
    where, events, expected = NEIGHBOURS[title]
    text = f"{STREAM}QUERY q RETURN MATCH A.at AS t PATTERN A WHERE {where} WITHIN 5 s;"
    table = rows_of(events)
    for rows in (table, table.take(pa.array([*range(table.num_rows)][::-1]))):
        for resources in (Resources(), in_little(rows, 3)):
            found = execute(compile_text(text).plan, rows, interpreted=True, resources=resources)
            assert sorted(found.tables["q"].column("t").to_pylist()) == expected


def test_a_condition_on_one_variable_is_counted() -> None:
    text = f"{STREAM}QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A a, B+ b) WHERE b.x > LAG(b.x) AND LEAD(a.y) > 1 WITHIN 5 s;"
    plan = compile_text(text).plan
    assert isinstance(plan.queries[0].strategy, Count)
    assert from_text_of_plan(to_text(plan)) == plan
    assert plan.stream.raw_types is None


def test_queries_of_one_partition_have_one_column() -> None:
    query = "QUERY {n} RETURN MATCH A.x AS x PATTERN A WHERE {w} WITHIN 5 s;"
    wheres = ("[k, x] AND LAG(A.y) > 1", "[x, k] AND LAG(A.y) > 2", "[k] AND LAG(A.y) > 1 AND LAG(A.y, 2) > 1")
    plan = compile_text(STREAM + "".join(query.format(n=f"q{i}", w=w) for i, w in enumerate(wheres))).plan
    assert [(one.places, one.partition) for one in plan.stream.beside] == [(-1, ("k", "x")), (-1, ("k",)), (-2, ("k",))]


def test_a_column_of_the_same_name_is_another() -> None:
    stream = STREAM.replace("y DOUBLE", "`LAG(x) OVER ()` INT, y DOUBLE")
    plan = compile_text(f"{stream}QUERY q RETURN MATCH A.x AS x PATTERN A WHERE LAG(A.x) = 1 WITHIN 5 s;").plan
    assert [one.name for one in plan.stream.beside] == ["LAG(x) OVER ()'"]
    table = rows_of("1A1 2A3").append_column("LAG(x) OVER ()", pa.array([1, 7], pa.int32()))
    assert execute(plan, table, interpreted=True).tables["q"].column("x").to_pylist() == [3]


def test_a_job_takes_them_from_the_window_functions_of_spark_in_canonical_order() -> None:
    stream = STREAM.replace("y DOUBLE", "y DOUBLE, m MAP<STRING, INT>")
    checked = check_text(f"{stream}QUERY q RETURN MATCH A.x AS x PATTERN A WHERE [k] AND LEAD(A.x, 2) = 1 WITHIN 5 s;")
    assert checked.program is not None
    text = job_of(checked.program, checked.sources).text
    order = "`at`, `seq`, `kind`, `k`, `x`, `y`"
    assert f"LEAD(`x`, 2) OVER (PARTITION BY `k` ORDER BY {order})" in text
    assert text.index(".transform(job.with_beside, S_BESIDE)") < text.index("*job.letters(")


def test_what_came_with_the_events_is_not_made_again() -> None:
    plan = compile_text(f"{STREAM}QUERY q RETURN MATCH A.x AS x PATTERN A WHERE LAG(A.x) = 1 WITHIN 5 s;").plan.stream
    table = read(rows_of("1A1 2A3"), plan).table
    assert table.column("LAG(x) OVER ()").to_pylist() == [None, 1]
    assert read(table.slice(1), plan).table.column("LAG(x) OVER ()").to_pylist() == [1]


# ---- random programs -------------------------------------------------------------------------------------------------

OF_ONE: Final = (
    "{v}.x > LAG({v}.x)", "LEAD({v}.y) IS NULL", "LAG({v}.g, 2) <=> {v}.g", "(LEAD({v}.x, 3) <= {v}.x) IS NOT FALSE",
    "LAG({v}.kind) <> 'D'", "LEAD({v}.at) IS NOT NULL", "(LAG({v}.o) OR LEAD({v}.o)) IS NOT FALSE",
    "LAG({v}.d) <= {v}.d", "(LAG({v}.z) + LEAD({v}.n) > 0) IS NOT FALSE",
)  # fmt: skip
OF_TWO: Final = ("(LAG(b.x) <= a.x) IS NOT FALSE", "LEAD(a.g) <=> LAG(b.g)", "(LAST(b).x >= LAG(a.y)) IS NOT FALSE")
PATTERNS: Final = ("SEQ(A a, B+ b)", "SEQ(A a, NOT C c, B b)", "SEQ(A+ a, B b)", "OR(SEQ(A a, B b), SEQ(C, B b, A a))")


def beside(chance: Random) -> Case:
    """Some queries of one pattern each, of which every one has LAG or LEAD."""
    texts = []
    for number in range(chance.choice((1, 2))):
        pattern = chance.choice(PATTERNS)
        where = [chance.choice(OF_ONE).format(v=chance.choice("ab" if "C c" not in pattern else "abc"))]
        where += [chance.choice(OF_TWO)] * (chance.random() < 0.3) + ["b.x >= PREV(b).x"] * ("B+" in pattern)
        returned = chance.choice(("MATCH word, COUNT(b) AS n, LAST(b.x) AS x", "word, COUNT(*) AS n, SUM(b.x) AS x"))
        group = f"[word{chance.choice(('', ', k'))}]" if returned.startswith("MATCH") else "[g]"
        groups = "" if returned.startswith("MATCH") else "GROUP BY word"
        select = chance.choice(("", "", "SELECT NEXT", "SELECT CONTIGUOUS"))
        clauses = f"WHERE {' AND '.join((group, *where))} {groups} {select} WITHIN {chance.randint(3, 8)} s"
        texts.append(f"QUERY q{number} RETURN {returned} PATTERN {pattern} {clauses};\n")
    time, unit = chance.choice((("TIMESTAMP", ""), ("BIGINT", " UNIT s")))
    header = HEADER.format(time=time, unit=unit, order=chance.choice(("", " ORDER BY seq")))
    return with_stream(chance, header + "".join(texts))


def test_rows_are_the_oracles() -> None:
    hold("LAG and LEAD", beside, lambda case, _chance: compare(case, interpreted=True))


def test_rows_are_the_same_on_threads_and_in_little_memory() -> None:
    hold("LAG and LEAD on threads", beside, on_threads, cases=5, tested=3)
    hold("LAG and LEAD in parts on disk", beside, in_parts, cases=5, tested=3)


def test_rows_of_a_batch_of_spark_are_the_oracles(spark: SparkSession, tmp_path: Path) -> None:
    """`python -m tests.spark_programs` runs any number of programs with them."""
    assert agree(spark, beside(Random(1)), tmp_path / "events").rows
