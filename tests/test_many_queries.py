"""Programs of many queries: planning stays in proportion to what it can save, and jobs stay small."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from bench.gains.measured import program
from bench.queries import KINDS, counted, listed, much, nothing

from cepc.api import check_text
from cepc.codegen.compiling import job_of
from cepc.explaining.as_text import to_text as to_shown
from cepc.explaining.explanation import explain
from cepc.passes.engine import EngineModel
from cepc.passes.gloria import template
from cepc.passes.gloria.places import write
from cepc.passes.pattern import Event
from cepc.passes.worth import worth_planning
from cepc.planning import plan_program
from cepc.running.given import read_given
from cepc.running.local import run
from cepc.shared_plans import Options, plan_shared
from cepc_grammar.pattern import Seq
from cepc_runtime.plan.as_json import to_text

if TYPE_CHECKING:
    from cepc import model

STREAM = "STREAM s (kind STRING, ts TIMESTAMP, x DOUBLE) EVENT TIME ts EVENT TYPE kind;"


def checked(text: str) -> model.CheckedProgram:
    found = check_text(text, "t.cep").program
    assert found is not None
    return found


@pytest.mark.long
def test_a_long_plan_is_packed_in_the_job_and_comes_out_as_it_was() -> None:
    text = program(much(500, counted))
    found = check_text(text, "t.cep")
    assert found.program is not None
    job = job_of(found.program, found.sources)
    (plan,) = job.plans
    assert len(to_text(plan)) > 500_000 > 2 * len(job.text)
    namespace: dict[str, str] = {"__name__": "cepc_job"}
    exec(compile(job.text, "<cepc job>", "exec"), namespace)
    assert json.loads(namespace["S_PLAN"])["queries"] == json.loads(to_text(plan))["queries"]
    assert job.text == job_of(found.program, found.sources).text


@pytest.mark.unhurried
def test_the_head_of_a_job_tells_as_many_queries_as_are_read() -> None:
    found = check_text(program(nothing(1_002, counted)), "t.cep")
    assert found.program is not None
    text = job_of(found.program, found.sources, Options(0)).text
    assert "#   q999: counts" in text
    assert "#   q1000: counts" not in text
    assert "#   and 2 more queries, which the program tells" in text


@pytest.mark.parametrize("kind", KINDS)
def test_planning_for_few_events_is_left_out(kind: str) -> None:
    (plan,) = plan_program(checked(program(KINDS[kind](100, counted)))).plans
    assert not worth_planning(plan, 1_000, 20_000, EngineModel())
    assert worth_planning(plan, 10**9, 20_000, EngineModel()) == (kind != "nothing")


def test_of_many_queries_that_are_joined_the_explanation_names_a_few() -> None:
    found = checked(program(much(60, listed)))
    lines = to_shown(found, explain(found, plan_shared(found))).splitlines()
    joined = [line for line in lines if "its matches are joined, with q" in line]
    assert len(joined) > 40
    assert all(" more, from those of parts" in line and len(line) < 250 for line in joined)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_planning_for_match_queries_is_left_out_where_they_have_nothing_in_common(kind: str) -> None:
    (plan,) = plan_program(checked(program(KINDS[kind](1_000, listed)))).plans
    assert worth_planning(plan, 400_000, 20_000, EngineModel()) == (kind != "nothing")
    assert worth_planning(plan, 10**8, 20_000, EngineModel())


def test_a_run_of_few_events_says_that_it_planned_nothing() -> None:
    found = checked(program(much(100, counted)))
    events = pa.table({"at": [1, 2, 3], "kind": ["A00", "A01", "B00"], "x": [1.0, 2.0, 3.0], "g": [1, 1, 1]})
    events = events.cast(pa.schema([("at", pa.int64()), ("kind", pa.string()), ("x", pa.float64()), ("g", pa.int32())]))
    report = run(found, lambda stream, plan: read_given(events, plan, stream.input), {})
    (workload,) = report.workloads
    assert not workload.plan.sharing
    said = "did nothing: with so few events, planning would cost more than it saves"
    assert [note.text for note in workload.notes] == [said]
    # Who says what to do gets it.
    report = run(found, lambda stream, plan: read_given(events, plan, stream.input), {}, options=Options(seconds=None))
    assert report.workloads[0].plan.sharing


def test_columns_leave_apart_what_only_makes_more_operations() -> None:
    def shared(pattern: str, count: int) -> int:
        queries = [
            f"QUERY q{i} RETURN SUM(b.x) AS s PATTERN {pattern.replace('$', str(i))} WITHIN {i + 1} min;"
            for i in range(count)
        ]
        return len(plan_shared(checked(STREAM + "\n".join(queries)), Options(1)).plans[0].sharing)

    assert shared("SEQ(A a, B b, C c)", 20) == shared("SEQ(A a, B b, C c)", 2) == 4
    assert shared("SEQ(D$ d, B b, E$ e)", 20) == 0
    assert shared("SEQ(D$ d, B b, E$ e)", 2) == 2  # of few, all that could lie side by side does


def test_looking_for_circles_stops_in_the_midst_of_the_queries() -> None:
    chance = random.Random(1)
    events = [Event(i, "v") for i in range(40)]
    patterns = [write(Seq(tuple(chance.sample(events, 4))), f"q{i}") for i in range(1_500)]
    first, *others = template._layers(patterns, 2_000)
    assert len(first) < len(next(template._layers(patterns, None)))
    assert all(len(layer) == 1 for layer in others)
    assert sorted([*first, *(number for (number,) in others)]) == list(range(len(patterns)))
    # Who brings no new link is looked at no more, and fits.
    assert next(template._layers(patterns + patterns[:10], 2_000)) == (*first, *range(1_500, 1_510))
