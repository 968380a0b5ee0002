"""Files of a stream where workers and the driver are on one machine: directories with the rows of a batch, without Spark
here; with it test_stream_spark.py.
"""

from __future__ import annotations

import uuid
from itertools import count
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cepc_runtime.spark.forms import InFiles, Placed
from cepc_runtime.spark.schema import JobError
from cepc_runtime.spark.streaming import one_machine
from cepc_runtime.spark.streaming.blobs import DEAD, LATE, contents
from cepc_runtime.spark.streaming.one_machine import OneMachine, TellsFiles, told
from tests.equivalence import compile_text
from tests.programs import Case, cases, streamed
from tests.properties import Seen, hold
from tests.test_stream_operator import PLAIN, told_by_the_operator

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from cepc_runtime.plan.physical import PhysicalPlan
    from tests.equivalence import Rows
    from tests.test_stream_operator import Stream


def machine(folder: Path) -> OneMachine:
    form = InFiles("snappy", "TIMESTAMP_MICROS", "4.1.0", Placed(str(folder / "out/_unfinished/q"), "w"))
    lost = {LATE: folder / "late", DEAD: folder / "dead"}
    return OneMachine(form, folder / "out/_unfinished/q", folder / "out", lost)


def rows_in(folder: Path) -> Rows:
    """Those of all micro-batches of a query."""
    found: Rows = []
    for place in folder.glob("batch=*"):
        assert (place / "_SUCCESS").exists()
        for file in place.glob("*.parquet"):
            found += pq.ParquetFile(file).read().to_pylist()
    return found


@pytest.mark.parametrize(
    ("handed_on", "tested"),
    [(300, None), pytest.param(0, 0, marks=pytest.mark.long), pytest.param(1 << 20, 0, marks=pytest.mark.long)],
)
def test_directories_of_micro_batches_have_the_rows_of_a_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, handed_on: int, tested: int | None
) -> None:
    """Of many, few and no bytes that a bucket may tell the driver."""
    monkeypatch.setattr(one_machine, "HANDED_ON", handed_on)
    made = 0

    def on_one_machine(case: Case, chance: Random) -> Seen:
        own, batches = machine(tmp_path / uuid.uuid4().hex), count()

        def written(stream: Stream) -> dict[int, Rows]:
            nonlocal made
            plan, found = stream.answering.program.plan, told(contents(0, map(pa.scalar, stream.told)))
            made += sum(map(len, found.files.values()))
            own.write([found], [plan], f"batch={next(batches)}")
            assert not own.unfinished.exists()
            return {number: rows_in(own.output / query.name) for number, query in enumerate(plan.queries)}

        return told_by_the_operator(case, chance, own.form, written)

    hold(
        f"stream: files on one machine, {handed_on} bytes told", streamed(cases(size=3)), on_one_machine, tested=tested
    )
    assert (made > 0) == (handed_on < 1 << 20)


ROWS = pa.table({name: pa.array([1, 2], pa.timestamp("us", "UTC")) for name in ("match_start", "match_end")})


def plain() -> PhysicalPlan:
    return compile_text(PLAIN.replace("MATCH *", "MATCH COUNT(*) AS n")).plan


def tables(n: int) -> pa.Table:
    return ROWS.add_column(0, "n", pa.array([n, n], pa.int64()))


@pytest.mark.parametrize("handed_on", [0, 1 << 20])
def test_a_micro_batch_that_is_written_again_has_its_rows_and_lost_events_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, handed_on: int
) -> None:
    monkeypatch.setattr(one_machine, "HANDED_ON", handed_on)
    plan, own = plain(), machine(tmp_path)
    for left in ("out/q/_batch=7", "out/q/batch=7", "out/_unfinished/q"):  # by a kill
        (tmp_path / left).mkdir(parents=True)
        (tmp_path / left / "part-of-a-kill.parquet").write_bytes(b"half")
    for _ in range(2):
        tells = TellsFiles(plan, own.form)
        blobs = [
            *tells.all_of([(0, tables(1)), (0, tables(2))], {LATE: ["a", "é"]}, "{}"),
            *tells.all_of([(0, tables(3))], {DEAD: ["no event"]}, "{}"),
        ]
        own.write([told(map(pa.py_buffer, blobs))], [plan], "batch=7")
    assert sorted(row["n"] for row in rows_in(tmp_path / "out/q")) == [1, 1, 2, 2, 3, 3]
    for name, lines in (("late", ["a", "é"]), ("dead", ["no event"])):
        place = tmp_path / name / "batch=7"
        assert (place / "_SUCCESS").exists()
        (file,) = place.glob("*.txt")
        assert file.read_text("utf-8").splitlines() == lines
    assert sorted(path.name for path in (tmp_path / "out/q").iterdir()) == ["batch=7"]
    assert not own.unfinished.exists()


def test_a_micro_batch_without_rows_has_no_directory(tmp_path: Path) -> None:
    plan, own = plain(), machine(tmp_path)
    own.write([told(map(pa.py_buffer, TellsFiles(plan, own.form).all_of([], {}, "{}")))], [plan], "batch=0")
    assert not list(tmp_path.iterdir())


def test_the_first_error_of_a_bucket_is_raised_before_anything_is_written() -> None:
    own: Any = TellsFiles(plain(), machine_form())
    blobs = [*own.all_of([(0, tables(1))], {}, "{}"), own.error("2 / 0 in c.x > 1 / c.y")]
    with pytest.raises(JobError, match=r"^2 / 0 in c.x > 1 / c.y$"):
        told(map(pa.py_buffer, blobs))


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, own = plain(), machine(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "q").write_text("a file")
    blobs = TellsFiles(plan, own.form).all_of([(0, tables(1))], {}, "{}")
    with pytest.raises(JobError, match=r"/out/q/_batch=0 cannot be written: Not a directory; the same command goes on"):
        own.write([told(map(pa.py_buffer, blobs))], [plan], "batch=0")
    monkeypatch.setattr(one_machine, "HANDED_ON", 0)
    (tmp_path / "out" / "_unfinished").write_text("a file")
    (error,) = TellsFiles(plan, own.form).all_of([(0, tables(1))], {}, "{}")
    with pytest.raises(
        JobError, match=r"/out/_unfinished/q cannot be written: Not a directory; the same command goes on"
    ):
        told([pa.py_buffer(error)])


def machine_form() -> InFiles:
    return InFiles("none", "INT96", "4.1.0", Placed("nowhere", "w"))


def test_what_a_bucket_did_is_told_with_its_rows() -> None:
    found = told(map(pa.py_buffer, TellsFiles(plain(), machine_form()).all_of([(0, tables(1))], {}, '{"bucket": 3}')))
    assert found.metrics == [{"bucket": 3}]
    assert [table.num_rows for table in found.tables["0"]] == [2]
