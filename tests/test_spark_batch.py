"""Generated jobs on Spark: their rows are those of the local engine, however the events are spread."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings

from cepc.api import check_text
from cepc.codegen.compiling import job_of, load
from cepc_runtime.types import to_arrow
from tests.equivalence import Refused, by_engine, compile_text, same, table_of
from tests.programs import Case, cases

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tests.equivalence import Compiled

pytestmark = pytest.mark.spark


def build(spark: SparkSession, text: str, events: DataFrame | None = None, **options: Any) -> dict[str, DataFrame]:
    checked = check_text(text, "case.cep")
    assert checked.program is not None, checked.text()
    return load(job_of(checked.program, checked.sources)).build(spark, events, **options)


def rows_of(frame: DataFrame) -> list[dict[str, Any]]:
    """As the local engine has them: Spark calls every TIMESTAMP's zone by the session's."""
    table = frame.toArrow()
    fields = [
        pa.field(f.name, pa.timestamp("us", "UTC") if pa.types.is_timestamp(f.type) and f.type.tz else f.type)
        for f in table.schema
    ]
    rows: list[dict[str, Any]] = table.cast(pa.schema(fields)).to_pylist()
    return rows


def shuffled(spark: SparkSession, case: Case, compiled: Compiled, partitions: int) -> DataFrame:
    """The events of a case in any order, and its groups in several partitions."""
    rows = list(case.rows)
    random.Random(len(case.text)).shuffle(rows)
    table = table_of(replace(case, rows=tuple(rows)), compiled)
    (stream,) = compiled.program.streams
    table = table.cast(pa.schema([(name, to_arrow(type_)) for name, type_ in stream.columns]))
    return spark.createDataFrame(table).repartition(partitions)


def check(spark: SparkSession, case: Case) -> None:
    try:
        compiled = compile_text(case.text)
    except Refused:
        assume(False)
    expected = by_engine(case, compiled)
    assume(expected is not None)
    assert expected is not None
    results = build(spark, case.text, shuffled(spark, case, compiled, 3))
    assert list(results) == [q.name for q in compiled.plan.queries]
    for name, frame in results.items():
        assert same(rows_of(frame), expected[name]), (name, rows_of(frame), expected[name])


@given(case=cases(size=3))
@settings(
    max_examples=8,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],  # a job takes a second: who finds a difference shrinks it by hand
)
def test_rows_equal_those_of_the_local_engine(spark: SparkSession, case: Case) -> None:
    check(spark, case)


@given(case=cases(size=4))
@settings(max_examples=30, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate])
@pytest.mark.long
def test_rows_equal_those_of_the_local_engine_at_length(spark: SparkSession, case: Case) -> None:
    check(spark, case)
