"""LAG in a stream: rows are those of a batch, whatever the micro-batches and the order, each of them a restart."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from cepc_runtime.events.grouped import read
from tests import test_changed_programs, test_changed_queries
from tests.changed_programs import program
from tests.equivalence import answered, compile_text, same, table_of
from tests.programs import OTHERS, Case, Make, bounded, cases
from tests.properties import NOTHING, Seen, hold
from tests.test_beside import beside
from tests.test_changed_programs import what
from tests.test_stream_operator import Stream, micro_batches, packed
from tests.test_streaming import check

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        hold(f"stream: {kind}", make, check, cases=40, tested=6)


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
        hold(f"stream: Spark's operator: {kind}", make, through_the_operator, cases=40, tested=6)


def test_a_changed_program_goes_on() -> None:
    hold("stream: a changed program with LAG", lagging(program), test_changed_programs.check, cases=20, tested=3)


def test_queries_that_stay_and_queries_that_are_new_have_their_rows() -> None:
    make = lagging(test_changed_queries.program)
    hold("stream: other queries with LAG", make, test_changed_queries.check, cases=20, tested=3, differing=0)
