"""Patterns over several streams in jobs of Spark: rows are the oracle's, of a batch and of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.equivalence import ABOUT, same
from tests.programs import cases
from tests.properties import NOTHING, Seen, hold
from tests.several_streams import answered, compile_text, tables, two_streams
from tests.spark_programs import loaded, rows_in, rows_of

if TYPE_CHECKING:
    from random import Random

    from pyspark.sql import SparkSession

    from tests.programs import Case

pytestmark = pytest.mark.spark


def test_rows_of_a_batch_are_the_oracles(spark: SparkSession) -> None:
    def check(case: Case, chance: Random) -> Seen:
        compiled = compile_text(case.text)
        expected = answered(case, compiled)
        if expected is None:
            return NOTHING
        events = {name: spark.createDataFrame(table) for name, table in tables(case, compiled).items()}
        job = loaded(case.text)
        given = {name: events[name] for name in job.sources}
        if chance.random() < 0.5:
            found = {name: rows_in(table) for name, table in job.tables(spark, given).items()}
        else:
            found = {name: rows_of(frame) for name, frame in job.build(spark, given).items()}
        spark.catalog.clearCache()
        for name, answer in expected.items():
            assert same(found[name], answer.rows, ABOUT), (name, found[name], answer.rows)
        return Seen.of(case, expected)

    hold("Spark: two streams", two_streams(cases(size=4)), check, cases=4)
