"""Match queries that share parts of their matches, on Spark: the rows are the oracle's."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from cepc.api import check_text
from cepc.codegen.compiling import job_of, load
from cepc.shared_plans import plan_shared
from tests.equivalence import by_oracle, compile_text, same
from tests.programs import Case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TEXT = """\
STREAM s (at BIGINT, kind STRING, k INT, x INT) EVENT TIME at UNIT s EVENT TYPE kind;
QUERY q0 RETURN MATCH a.x AS r, c.x AS t PATTERN SEQ(A a, B b, C c) WHERE [k] AND a.x < b.x WITHIN 5 s;
QUERY q1 RETURN MATCH a.x AS r, COUNT(*) AS n PATTERN SEQ(A a, B b, D d) WHERE [k] AND a.x < b.x WITHIN 5 s;
QUERY q2 RETURN MATCH a.x AS r PATTERN AND(SEQ(A a, B b), NOT C) WHERE [k] AND a.x < b.x WITHIN 4 s;
QUERY q3 RETURN MATCH a.x AS r PATTERN SEQ(A a, B b) WHERE [k] WITHIN 3 s;
"""
CHANCE = random.Random(5)
ROWS: tuple[dict[str, Any], ...] = tuple(
    {"at": i // 5, "kind": CHANCE.choice("AABBCD"), "k": CHANCE.randrange(2), "x": CHANCE.randrange(5)}
    for i in range(90)
)


@pytest.mark.long
def test_shared_matches_are_executed_by_a_job(spark: SparkSession) -> None:
    checked = check_text(TEXT, "case.cep")
    assert checked.program is not None
    (shared,) = plan_shared(checked.program).plans[0].shared_matches
    assert len(shared.answers) > 1
    job = job_of(checked.program, checked.sources)
    expected = by_oracle(Case(TEXT, ROWS), compile_text(TEXT))
    assert expected is not None
    columns = ("at", "kind", "k", "x")
    events = spark.createDataFrame(
        [tuple(row[c] for c in columns) for row in ROWS], "at BIGINT, kind STRING, k INT, x INT"
    )
    for name, frame in load(job).build(spark, events.repartition(3)).items():
        assert expected[name]
        assert same(frame.toArrow().to_pylist(), expected[name]), name
