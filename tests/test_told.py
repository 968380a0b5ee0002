"""What buckets tell the driver of a micro-batch, and the directories that it makes of that, without Spark; with it
test_stream_spark.py.
"""

from __future__ import annotations

import uuid
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cepc_runtime.spark.forms import Parquet, TextLines
from cepc_runtime.spark.schema import JobError
from cepc_runtime.spark.streaming.blobs import DEAD, LATE
from cepc_runtime.spark.streaming.directories import OnDisk
from cepc_runtime.spark.streaming.made_files import OF_TEXT, file_of, text_file
from cepc_runtime.spark.streaming.tells import KEPT_BY_SPARK, OF_A_BUCKET, OF_ALL, MadeByWorkers, Tells, handed_on
from tests.equivalence import compile_text
from tests.programs import Case, cases, streamed
from tests.properties import Seen, hold
from tests.test_stream_operator import PLAIN, told_by_the_operator
from tests.told_rows import rows_told, told_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from random import Random

    from cepc_runtime.plan.physical import PhysicalPlan
    from cepc_runtime.spark.forms import FileKind
    from cepc_runtime.spark.streaming.tells import Aside
    from cepc_runtime.spark.streaming.told import Told
    from tests.equivalence import Rows
    from tests.test_stream_operator import Stream

PARQUET = Parquet("snappy", "TIMESTAMP_MICROS", "4.1.0")


def placed(folder: Path, kind: FileKind = PARQUET) -> Aside:
    return MadeByWorkers(kind, str(folder))


def on_disk(folder: Path) -> OnDisk:
    return OnDisk(str(folder), str(folder))


def put(to: OnDisk, plan: PhysicalPlan, found: Told, unfinished: Path, batch: str, kind: FileKind = PARQUET) -> None:
    """Directories of the rows of all queries that have some."""

    def made(what: str) -> list[Path]:
        return [unfinished / name for name in found.files.get(what, ())]

    for number, query in enumerate(plan.queries):
        if found.has(str(number)):
            tables = found.tables.get(str(number), ())
            contents = [partial(file_of, kind, plan, number, tables)] if tables else []
            to.put(f"{query.name}/{batch}", kind.ending, contents, made(str(number)))


def rows_in(folder: Path) -> Rows:
    """Those of all micro-batches of a query."""
    found: Rows = []
    for place in folder.glob("batch=*"):
        assert (place / "_SUCCESS").exists()
        for file in place.glob("*.parquet"):
            found += pq.ParquetFile(file).read().to_pylist()
    return found


@pytest.mark.parametrize(
    ("most", "tested"),
    [(300, None), pytest.param(0, 0, marks=pytest.mark.long), pytest.param(OF_A_BUCKET, 0, marks=pytest.mark.long)],
)
def test_directories_of_micro_batches_have_the_rows_of_a_batch(tmp_path: Path, most: int, tested: int | None) -> None:
    """Of many, few and no bytes that a bucket may tell the driver."""
    made = 0

    def by_the_driver(case: Case, chance: Random) -> Seen:
        folder, batches = tmp_path / uuid.uuid4().hex, count()
        unfinished, out = folder / "unfinished", folder / "out"

        def written(stream: Stream) -> dict[int, Rows]:
            nonlocal made
            plan, found = stream.answering.program.plan, told_of(stream.told)
            made += sum(map(len, found.files.values()))
            put(on_disk(out), plan, found, unfinished, f"batch={next(batches)}")
            assert not [*unfinished.glob("*")]
            return {number: rows_in(out / query.name) for number, query in enumerate(plan.queries)}

        return told_by_the_operator(case, chance, placed(unfinished), written, most)

    hold(f"stream: files that a driver makes, {most} bytes told", streamed(cases(size=3)), by_the_driver, tested=tested)
    assert (made > 0) == (most < OF_A_BUCKET)


ROWS = pa.table({name: pa.array([1, 2], pa.timestamp("us", "UTC")) for name in ("match_start", "match_end")})


def plain() -> PhysicalPlan:
    return compile_text(PLAIN.replace("MATCH *", "MATCH COUNT(*) AS n")).plan


def tables(n: int) -> pa.Table:
    return ROWS.add_column(0, "n", pa.array([n, n], pa.int64()))


@pytest.mark.parametrize(
    ("most", "expected"), [(0, ["0", LATE, DEAD]), (70, ["0"]), (110, [LATE, DEAD]), (130, [DEAD]), (OF_A_BUCKET, [])]
)
def test_what_is_too_much_to_be_told_is_put_aside(tmp_path: Path, most: int, expected: Sequence[str]) -> None:
    plan, rows, lost = plain(), [(0, tables(1)), (0, tables(2))], ["a" * 30, "é"]  # 96 bytes of rows, and 31
    for aside in (placed(tmp_path), KEPT_BY_SPARK):
        blobs = Tells(plan, 0, aside, most).all_of(rows, {LATE: lost, DEAD: lost}, '{"bucket": 3}')
        found = told_of(blobs)
        assert found.metrics == [{"bucket": 3}]
        assert sorted([*found.files, *found.kept]) == sorted(expected)
        assert {what for what in ("0", LATE, DEAD) if found.has(what)} == {"0", LATE, DEAD}
        if aside == KEPT_BY_SPARK:
            all_rows, texts = rows_told(plan, blobs)
            assert [row["n"] for row in all_rows[0]] == [1, 1, 2, 2]
            assert texts[LATE] == texts[DEAD] == lost


@pytest.mark.parametrize(
    ("form", "written"),
    [
        ("json", ['{"n":1,"match_start":"1970-01-01T00:00:00.000001Z","match_end":"1970-01-01T00:00:00.000001Z"}',
                  '{"n":1,"match_start":"1970-01-01T00:00:00.000002Z","match_end":"1970-01-01T00:00:00.000002Z"}']),
        ("csv", ["n,match_start,match_end", "1,1970-01-01T00:00:00.000001Z,1970-01-01T00:00:00.000001Z",
                 "1,1970-01-01T00:00:00.000002Z,1970-01-01T00:00:00.000002Z"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("most", [0, OF_A_BUCKET])
def test_files_of_text_have_a_line_for_each_row(tmp_path: Path, form: str, written: list[str], most: int) -> None:
    plan, kind, unfinished = plain(), TextLines(form), tmp_path / "unfinished"
    found = told_of(Tells(plan, 0, placed(unfinished, kind), most).all_of([(0, tables(1))], {}, "{}"))
    put(on_disk(tmp_path), plan, found, unfinished, "batch=0", kind)
    (file,) = (tmp_path / "q" / "batch=0").glob(f"part-*.{form}")
    assert file.read_text("utf-8").splitlines() == written


def test_a_table_without_rows_is_not_told() -> None:
    found = told_of(Tells(plain(), 0, KEPT_BY_SPARK, 0).all_of([(0, tables(1).slice(2))], {}, "{}"))
    assert not found.has("0")


@pytest.mark.parametrize(("buckets", "each"), [(1, OF_A_BUCKET), (16, OF_A_BUCKET), (1000, OF_ALL // 1000)])
def test_many_buckets_tell_less_each(buckets: int, each: int) -> None:
    assert handed_on(buckets) == each


@pytest.mark.parametrize("most", [0, OF_A_BUCKET])
def test_a_micro_batch_that_is_written_again_has_its_rows_and_lost_events_once(tmp_path: Path, most: int) -> None:
    plan, out, late, unfinished = plain(), tmp_path / "out", tmp_path / "late", tmp_path / "unfinished"
    for left in ("out/q/_batch=7", "out/q/batch=7", "unfinished"):  # by a kill
        (tmp_path / left).mkdir(parents=True)
        (tmp_path / left / "part-of-a-kill.parquet").write_bytes(b"half")
    for _ in range(2):
        tells = Tells(plan, 0, placed(unfinished), most)
        found = told_of([
            *tells.all_of([(0, tables(1)), (0, tables(2))], {LATE: ["a", "é"]}, "{}"),
            *tells.all_of([(0, tables(3))], {}, "{}"),
        ])  # fmt: skip
        put(on_disk(out), plan, found, unfinished, "batch=7")
        lines, made = found.lines(LATE), [unfinished / name for name in found.files.get(LATE, ())]
        on_disk(late).put("batch=7", OF_TEXT, [partial(text_file, lines)] if lines else [], made)
    assert sorted(row["n"] for row in rows_in(out / "q")) == [1, 1, 2, 2, 3, 3]
    assert (late / "batch=7" / "_SUCCESS").exists()
    (file,) = (late / "batch=7").glob("*.txt")
    assert file.read_text("utf-8").splitlines() == ["a", "é"]
    assert sorted(path.name for path in (out / "q").iterdir()) == ["batch=7"]


def test_the_first_error_of_a_bucket_is_raised_before_anything_is_written() -> None:
    own: Any = Tells(plain(), 0, KEPT_BY_SPARK, OF_A_BUCKET)
    with pytest.raises(JobError, match=r"^2 / 0 in c.x > 1 / c.y$"):
        told_of([*own.all_of([(0, tables(1))], {}, "{}"), own.error("2 / 0 in c.x > 1 / c.y")])


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    plan, unfinished = plain(), tmp_path / "out" / "_unfinished"
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "q").write_text("a file")
    found = told_of(Tells(plan, 0, placed(unfinished), OF_A_BUCKET).all_of([(0, tables(1))], {}, "{}"))
    with pytest.raises(JobError, match=r"/out/q/_batch=0 cannot be written: Not a directory; the same command goes on"):
        put(on_disk(tmp_path / "out"), plan, found, unfinished, "batch=0")
    unfinished.write_text("a file")
    with pytest.raises(JobError, match=r"/out/_unfinished cannot be written: File exists; the same command goes on"):
        told_of(Tells(plan, 0, placed(unfinished), 0).all_of([(0, tables(1))], {}, "{}"))
