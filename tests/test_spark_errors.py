"""What Spark says of packages, and what a job says of it. No Spark runs here."""

from __future__ import annotations

import pyspark
import pytest

from cepc_runtime.spark.errors import package_for, sentence

VERSION = "4.2.0"
SIGNATURE = "'void org.apache.spark.sql.execution.LogicalRDD.<init>(scala.collection.immutable.Seq, boolean)'"
DELTA = "io.delta:delta-spark_4.2_2.13:VERSION"
OTHER = f"a package on the class path was made for another Spark than this one, {VERSION}"

SAID = [
    pytest.param(
        "[DATA_SOURCE_NOT_FOUND] Failed to find the data source: delta. Make sure that it is there. SQLSTATE: 42K02",
        "Failed to find the data source: delta. Make sure that it is there. Run the job with spark-submit --packages "
        f"{DELTA} --conf spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension"
        " --conf spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog",
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


@pytest.fixture
def _of_spark_with_delta(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyspark, "__version__", VERSION)


@pytest.mark.usefixtures("_of_spark_with_delta")
@pytest.mark.parametrize(("text", "said"), SAID)
def test_a_package_that_is_missing_or_of_another_spark_is_named(text: str, said: str) -> None:
    assert sentence(RuntimeError(text)) == said


@pytest.mark.parametrize(
    ("version", "package"),
    [
        ("4.1.1", "io.delta:delta-spark_4.1_2.13:VERSION"),
        ("4.3.0", "io.delta:delta-spark_4.2_2.13:VERSION on Spark 4.2 (when cepc was made Delta had none for 4.3)"),
        (
            "5.0.0.dev1",
            "io.delta:delta-spark_4.2_2.13:VERSION on Spark 4.2 (when cepc was made Delta had none for 5.0)",
        ),
    ],
)
def test_no_package_of_delta_is_named_that_there_is_not(
    version: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pyspark, "__version__", version)
    assert package_for("delta") == package


CALLED = "An error occurred while calling o248.save.\n: "
ABORTED = "org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times: "
UNMADE = "java.io.IOException: Mkdirs failed to create file:/r/out/n/_temporary/0/_temporary/attempt_1 (exists=false, cwd=file:/)"
HADOOP = "org.apache.hadoop.fs"
IN_THE_JVM = [
    (
        f"{CALLED}{HADOOP}.ParentNotDirectoryException: Parent path is not a directory: file:/f\n\tat {HADOOP}.X",
        "Parent path is not a directory: file:/f",
    ),
    (
        f"{CALLED}{ABORTED}{UNMADE}\n\tat a.B\nCaused by: {UNMADE}\n\tat a.B\n",
        "the directory file:/r/out/n cannot be made: name a place where this user may write",
    ),
    (
        f"{CALLED}{ABORTED}\n\tat a.B\nCaused by: a.Error: other\n\tat a.B\nCaused by: java.io.IOException: gone\n\t... 1 more",
        "gone",
    ),
    (f"{CALLED}java.lang.NullPointerException\n\tat a.B", "java.lang.NullPointerException"),
]


@pytest.mark.parametrize(("text", "said"), IN_THE_JVM)
def test_an_error_of_the_jvm_that_spark_has_no_name_for_is_its_innermost_cause(text: str, said: str) -> None:
    assert sentence(RuntimeError(text)) == said


LOST = """calling o9.start.
: org.apache.spark.SparkException: Exception thrown in awaitResult: Traceback (most recent call last):
  File "worker.py", line 1, in main
ModuleNotFoundError: No module named '{}'
	at org.apache.spark.X
Relation
+- LocalRelation <empty>"""
READ = "calling o8.collect.\n: org.apache.spark.SparkException: [FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:///in/1.x. SQLSTATE: KD001\n\tat a.B\n"
WHOLE = "if it is damaged or cut off, put the whole file in its place, by the same name"
DICTIONARY = "java.lang.UnsupportedOperationException: org.apache.parquet.column.values.dictionary.PlainValuesDictionary$PlainLongDictionary"
UNREAD = [
    pytest.param(
        f"{CALLED}org.apache.spark.sql.AnalysisException: Illegal Parquet type: INT64 (TIMESTAMP(NANOS,true)). SQLSTATE: X",
        "a Parquet file has times in nanoseconds, which Spark does not read: write them in microseconds (of pandas by"
        " `to_parquet(…, coerce_timestamps='us', allow_truncated_timestamps=True)`), or run it in process",
        id="nanoseconds, as pandas writes them",
    ),
    pytest.param(
        f"{READ}Caused by: java.io.EOFException: Unexpected end of input stream\n\tat c.D",
        f"file:///in/1.x cannot be read (Unexpected end of input stream): {WHOLE}", id="JSON that is cut off",
    ),
    pytest.param(
        f"{READ}Caused by: java.lang.RuntimeException: a\n\tat c.D\nCaused by: java.lang.IndexOutOfBoundsException\n\tat c.D",
        f"file:///in/1.x cannot be read (java.lang.IndexOutOfBoundsException): {WHOLE}", id="a cause of a cause",
    ),
    pytest.param(READ, f"file:///in/1.x cannot be read: {WHOLE}", id="no cause"),
    pytest.param(
        f"{CALLED}{ABORTED}{DICTIONARY}\n\tat a.B\nCaused by: {DICTIONARY}\n\tat a.B\n",
        "a Parquet file has a column of another type than is declared, such as UINT64 for BIGINT: declare the type that is"
        " written there (of UINT64 it is DECIMAL(20, 0)), or keep the file apart", id="Parquet's UINT64 for BIGINT",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), UNREAD)
def test_a_file_that_cannot_be_read_has_a_reason_and_a_cure(text: str, said: str) -> None:
    assert sentence(RuntimeError(text)) == said


def test_a_bug_is_what_was_raised_and_not_the_plan_behind_it() -> None:
    text = LOST.format("x").replace(
        "ModuleNotFoundError: No module named 'x'\n\tat org.apache.spark.X", "a.OddError: no"
    )
    assert sentence(RuntimeError(text)) == "a bug in cepc (a.OddError: no); CEPC_DEBUG=1 shows the trace"


SEND = "start the job with spark-submit --py-files cepc_runtime.zip, which `cepc compile --bundle` writes beside it, or send"
MODULES = [
    ("cepc_runtime", SEND),
    ("cepc_runtime.spark.later", SEND),
    ("pandas.io", "install pandas for the Python that they run, which PYSPARK_PYTHON names"),
]


@pytest.mark.parametrize(("module", "cure"), MODULES)
def test_a_module_that_workers_lack_is_named_with_its_cure(module: str, cure: str) -> None:
    assert sentence(RuntimeError(LOST.format(module))).startswith(f"Spark's workers have no module {module}: {cure}")


TASK = "calling o8.save.\n: [TASK_WRITE_FAILED] Task failed while writing rows to {}. SQLSTATE: 58030\n\tat x"
JAVA = "\nCaused by: java.io.IOException: No space left on device\n\tat y"
FULL = [
    pytest.param(
        TASK.format("file:/out/q/batch=000000001") + JAVA, " of file:/out/q/batch=000000001", id="while rows are written",
    ),
    pytest.param(
        "Caused by: java.io.FileNotFoundException: /tmp/blockmgr/0c/x (No space left on device)", " of /tmp/blockmgr/0c/x",
        id="Spark's own files",
    ),
    pytest.param(
        "Traceback (most recent call last):\nOSError: [Errno 28] No space left on device: '/tmp/a b'", " of /tmp/a b", id="a worker",
    ),
    pytest.param("java.io.IOException: Disk quota exceeded", "", id="somewhere"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "where"), FULL)
def test_a_disk_that_is_full_is_named_where_it_is_known(text: str, where: str) -> None:
    assert sentence(RuntimeError(text)) == f"no space is left on the disk{where}: free some and run the job again"


def test_a_record_may_speak_of_full_disks() -> None:
    said = "a record of stream s is no event: No space left on device"
    assert sentence(RuntimeError(f"[USER_RAISED_EXCEPTION] {said} SQLSTATE: P0001")) == said
