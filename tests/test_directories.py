"""Directories of a micro-batch on file systems that only Hadoop knows: one that renames, and one that has a scheme of
its own, as an object store. Those on the driver's disk are in test_told.py.
"""

from __future__ import annotations

import uuid
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import cepc
from cepc_runtime.spark.schema import JobError
from cepc_runtime.spark.streaming.directories import ByHadoop, directories_in
from cepc_runtime.spark.streaming.sinks import Directories
from tests.equivalence import ABOUT, same
from tests.test_stream_spark import PROGRAM, SCHEMA, Job, events
from tests.test_stream_spark import put as put_events

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SYSTEMS = ("viewfs:///there", "bucket://b/there")


@pytest.fixture(scope="module")
def there(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder that both file systems call `there`: the same one for all tests, for Hadoop remembers what it is."""
    folder = tmp_path_factory.mktemp("there")
    settings = {
        "fs.viewfs.mounttable.default.link./there": folder.as_uri(),
        "fs.viewfs.mounttable.b.link./there": folder.as_uri(),
        "fs.bucket.impl": "org.apache.hadoop.fs.viewfs.ViewFileSystemOverloadScheme",
        "fs.AbstractFileSystem.viewfs.impl": "org.apache.hadoop.fs.viewfs.ViewFs",
    }
    for name, value in settings.items():
        spark.conf.set(name, value)
    yield folder
    for name in settings:
        spark.conf.unset(name)


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_directory_is_made_in_the_place_of_an_older_one(spark: SparkSession, there: Path, system: str) -> None:
    name = uuid.uuid4().hex
    out = there / name
    to = directories_in(spark, f"{system}/{name}")
    assert isinstance(to, ByHadoop)
    for left in ("q/_batch=7", "q/batch=7"):  # by a kill
        (out / left).mkdir(parents=True)
        (out / left / "part-of-a-kill.txt").write_text("half")
    for content in (b"one\n", bytes(range(256)) * 1000):
        to.put("q/batch=7", ".txt", [partial(bytes, content)])
        names = {path.name for path in (out / "q" / "batch=7").iterdir() if not path.name.endswith(".crc")}
        (file,) = names - {"_SUCCESS"}
        assert (out / "q" / "batch=7" / file).read_bytes() == content
        assert "_SUCCESS" in names
    assert [path.name for path in (out / "q").iterdir() if path.name != "_batch=7"] == ["batch=7"]


def test_a_place_that_cannot_be_written_is_named(spark: SparkSession, there: Path) -> None:
    (there / "file").write_text("is no folder")
    to = directories_in(spark, f"{SYSTEMS[0]}/file")
    assert isinstance(to, ByHadoop)
    with pytest.raises(JobError, match=r"^viewfs:///there/file/q/batch=0 cannot be written: "):
        to.put("q/batch=0", ".txt", [bytes])


@pytest.mark.long
@pytest.mark.parametrize("system", SYSTEMS)
def test_a_stream_has_the_rows_of_a_batch_there(spark: SparkSession, tmp_path: Path, there: Path, system: str) -> None:
    rows = events()
    for number in range(3):
        put_events(tmp_path / "in", number, rows[number * 300 : (number + 1) * 300])
    job = Job(spark, tmp_path)
    name = uuid.uuid4().hex
    job.sink = Directories(f"{system}/{name}", "parquet")
    job.run(flush=True)
    (tmp_path / "out").symlink_to(there / name)
    for query, table in cepc.compile(PROGRAM).run(pa.Table.from_pylist(rows, schema=SCHEMA)).items():
        assert table.num_rows
        assert same(job.rows(query, table.schema), table.to_pylist(), ABOUT), query
        assert job.makers(query) == {"parquet-cpp-arrow"}
