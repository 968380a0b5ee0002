"""What Spark says of packages, and what a job says of it. No Spark runs here."""

from __future__ import annotations

import pyspark
import pytest

from cepc_runtime.spark.errors import sentence

LINE = ".".join(pyspark.__version__.split(".")[:2])
SIGNATURE = "'void org.apache.spark.sql.execution.LogicalRDD.<init>(scala.collection.immutable.Seq, boolean)'"
DELTA = f"io.delta:delta-spark_{LINE}_2.13:VERSION"
OTHER = f"a package on the class path was made for another Spark than this one, {pyspark.__version__}"

SAID = [
    pytest.param(
        "[DATA_SOURCE_NOT_FOUND] Failed to find the data source: delta. Make sure that it is there. SQLSTATE: 42K02",
        "Failed to find the data source: delta. Make sure that it is there. Run the job with spark-submit --packages " + DELTA,
        id="a source whose package is known",
    ),
    pytest.param(
        "[DATA_SOURCE_NOT_FOUND] Failed to find the data source: mine. Make sure that it is there. SQLSTATE: 42K02",
        "Failed to find the data source: mine. Make sure that it is there.", id="a source of which nothing is known",
    ),
    pytest.param(
        f"An error occurred while calling o52.save.\n: java.lang.NoSuchMethodError: {SIGNATURE}\n\tat org.apache.spark.sql.delta.X",
        f"{OTHER}: it needs {DELTA}, or a Spark for which there is one", id="Delta of another line of Spark",
    ),
    pytest.param(
        f"[STREAM_FAILED] Query terminated with exception: {SIGNATURE} SQLSTATE: XXKST\nDeltaSource[file:/t]",
        f"{OTHER}: it needs {DELTA}, or a Spark for which there is one", id="the same in a stream, without the error's name",
    ),
    pytest.param(
        "calling o52.save.\n: java.lang.NoClassDefFoundError: org/apache/spark/Gone\n\tat mine.Source", OTHER, id="another package",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), SAID)
def test_a_package_that_is_missing_or_of_another_spark_is_named(text: str, said: str) -> None:
    assert sentence(RuntimeError(text)) == said
