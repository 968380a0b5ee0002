"""The jobs beside the examples give the rows of the local engine on Spark; test_spark_cluster.py runs them on a
cluster.
"""

from __future__ import annotations

import runpy
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cepc
from tests.equivalence import same
from tests.spark_programs import rows_of
from tests.test_examples import NAMES, SMALL, generate, program

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

FILES = 3


@cache
def sample(name: str) -> pa.Table:
    """A few events of an example, of which most of its queries have rows."""
    return generate(name, SMALL[name])


def write_shuffled(table: pa.Table, folder: Path) -> None:
    """The events in several files and in no order, so that every group is in more than one of them."""
    folder.mkdir(parents=True)
    places = np.random.default_rng(1).permutation(table.num_rows)
    for number in range(FILES):
        pq.write_table(table.take(pa.array(places[number::FILES])), folder / f"{number}.parquet")


@pytest.mark.parametrize("name", NAMES)
def test_the_job_of_an_example_gives_the_rows_of_the_local_engine(
    spark: SparkSession, name: str, tmp_path: Path
) -> None:
    write_shuffled(sample(name), tmp_path / "events")
    build = runpy.run_path(str(program(name).with_name("job.py")), run_name="job")["build"]
    found = build(spark, spark.read.parquet(str(tmp_path / "events")))
    expected = cepc.compile(program(name)).run(sample(name))
    assert list(found) == list(expected)
    assert sum(rows.num_rows for rows in expected.values())
    for query, rows in expected.items():
        assert found[query].columns == rows.column_names
        assert same(rows_of(found[query]), rows.to_pylist()), query
