"""Events that do not fit into memory: the same bytes, however little there is, and nothing is left on a disk."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import cepc
import cepc.compiled_program
import cepc_runtime.parts.by_part
from cepc.cli import cepc as command
from cepc.reading import csv_files, json_lines, parquet_files
from cepc.reading.files import DataFile
from cepc.reading.reader import Wanted
from cepc.running import memory
from cepc.running.memory import memory_of
from cepc.writing import order_on_disk
from cepc.writing.order import in_order
from cepc.writing.writers import by_name
from cepc_runtime.batch import execute
from cepc_runtime.numbers.columns import codes
from cepc_runtime.parts.key_hashes import parts_by_key
from cepc_runtime.parts.on_disk import DiskError, EventFile, in_chunks
from cepc_runtime.parts.resources import PROGRAM, Resources
from cepc_runtime.parts.threads import drive_in_threads
from cepc_runtime.sql.types import BIGINT
from tests.equivalence import answered, compile_text, table_of
from tests.properties import NOTHING, Seen, hold
from tests.test_threads import in_a_line, mixed, written

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from cepc_runtime.plan.physical import PhysicalPlan
    from tests.programs import Case


FEW_ROWS: Final = 2_000
"""Bytes. Rows are sorted one by one in a test of their own, which takes a file for nearly each of them."""


def outcome(plan: PhysicalPlan, table: Any, resources: Resources) -> dict[str, bytes] | type[Exception]:
    """What a run writes for each query, sorted in memory for a few rows where it has little, or which kind of error it
    ends with.
    """
    memory = None if resources.sorting is None else FEW_ROWS
    try:
        found = execute(plan, table, resources=resources, interpreted=True)
    except DiskError:
        raise
    except Exception as error:
        return type(error)
    return {name: written(in_order(rows, memory)) for name, rows in found.tables.items()} | {
        "": repr((found.read, found.dropped)).encode()
    }


def in_little(table: Any, parts: int, threads: int = 1) -> Resources:
    """Memory in which so many parts of the events fit."""
    whole = Resources(memory=0, least=1).parts(table.num_rows, table.nbytes)
    return Resources(threads=threads, few=1, memory=0, least=max(int(whole) // parts, 1))


# ---- rows ------------------------------------------------------------------------------------------------------------


def in_parts(case: Case, chance: Random) -> Seen:
    """With parts of half the events and of a few, and, as these are very many, in one of four cases of less than one."""
    compiled = compile_text(case.text)
    answers = answered(case, compiled)
    table = table_of(case, compiled)
    whole = outcome(compiled.plan, table, Resources())
    for parts in (2, 5, *chance.choice(((10_000,), (), (), ()))):
        threads = chance.choice((1, 1, 3))
        assert outcome(compiled.plan, table, in_little(table, parts, threads)) == whole, (parts, threads)
    return NOTHING if answers is None else Seen.of(case, answers)


class Cuts:
    """How often events were parted by key, and by time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.by_key = self.by_time = 0
        self.names: set[str] = set()
        key, time = cepc_runtime.parts.by_part._by_key, cepc_runtime.parts.by_part._by_time

        def by_key(*given: Any) -> Any:
            parts = key(*given)
            self.by_key += sum(part.rows > 0 for part in parts) > 1
            return parts

        def by_time(*given: Any) -> Any:
            self.by_time += 1
            self.names |= {query.name for query in given[1].queries}
            return time(*given)

        monkeypatch.setattr(cepc_runtime.parts.by_part, "_by_key", by_key)
        monkeypatch.setattr(cepc_runtime.parts.by_part, "_by_time", by_time)


@pytest.fixture
def cuts(monkeypatch: pytest.MonkeyPatch) -> Cuts:
    return Cuts(monkeypatch)


FEW_CASES: Final = 25
"""A case is run with and without a limit, several times; the long run has them by the thousand."""


@pytest.mark.long
def test_random_programs_have_the_same_rows_in_little_memory(cuts: Cuts) -> None:
    hold("in parts on disk", mixed, in_parts, cases=FEW_CASES, tested=0, with_rows=0.6, differing=0.3)
    assert cuts.by_key > 10, cuts.by_key
    assert cuts.by_time > 5, cuts.by_time


@pytest.mark.long
def test_one_group_has_the_same_rows_cut_by_time(cuts: Cuts) -> None:
    hold("in parts of time on disk", in_a_line, in_parts, cases=FEW_CASES, tested=0, with_rows=0.6, differing=0)
    assert cuts.by_time > 10, cuts.by_time


# ---- rows that do not fit ------------------------------------------------------------------------------------------

LISTED: Final = """STREAM s (at BIGINT, kind STRING, g INT, x BIGINT) EVENT TIME at UNIT s EVENT TYPE kind;
QUERY pairs RETURN MATCH A.g, A.x AS a, B.x AS b PATTERN SEQ(A, B) WITHIN 1 HOUR;
QUERY sums RETURN g, SUM(A.x) AS x PATTERN SEQ(A, B) GROUP BY g WITHIN 90 s;
"""


@pytest.mark.parametrize("threads", [1, 3])
def test_rows_that_do_not_fit_are_the_same_bytes_and_take_no_memory_that_grows_with_them(threads: int) -> None:
    """Some 400,000 rows of 36 bytes of 4,600 events, all of which fit."""
    compiled, table = compile_text(LISTED), events(4600)
    plan, pool = compiled.plan, pa.default_memory_pool()

    def saved_and_taken(resources: Resources) -> tuple[dict[str, bytes], int]:
        assert resources.parts(table.num_rows, table.nbytes) <= 1
        before = pool.bytes_allocated()
        found = execute(plan, table, resources=resources).tables
        found = {name: in_order(rows, resources.sorting) for name, rows in found.items()}
        assert found["pairs"].num_rows > 400_000
        return {name: saved_as_parquet(rows) for name, rows in found.items()}, pool.bytes_allocated() - before

    plenty, whole = saved_and_taken(Resources(threads=threads))
    little, taken = saved_and_taken(Resources(threads=threads, few=1, memory=0, least=1 << 22))
    assert little == plenty
    assert whole > 14_000_000
    assert taken < 1_000_000


def saved_as_parquet(table: Any) -> bytes:
    """As with --output."""
    sink = io.BytesIO()
    save = by_name("parquet").save
    assert save is not None
    save(table, sink)
    return sink.getvalue()


COLUMNS: Final[dict[str, Callable[[np.random.Generator, int], Any]]] = {
    "few integers": lambda chance, n: pa.array(chance.integers(-1, 2, n), mask=chance.random(n) < 0.2),
    "many integers": lambda chance, n: pa.array(chance.integers(-(2**62), 2**62, n)),
    "mostly one": lambda chance, n: pa.array(np.where(chance.random(n) < 0.98, 7, chance.integers(0, 14, n))),
    "one": lambda _chance, n: pa.array(np.full(n, 5)),
    "nulls": lambda _chance, n: pa.nulls(n, pa.int64()),
    "doubles": lambda chance, n: pa.array(
        chance.choice([0.0, -0.0, np.nan, -np.nan, np.inf, 1.5], n), mask=chance.random(n) < 0.1
    ),
    "texts": lambda chance, n: pa.array(["", "a", "ab", "b", "ä", None]).take(pa.array(chance.integers(0, 6, n))),
    "moments": lambda chance, n: pa.array(chance.integers(-50, 50, n), pa.timestamp("us", "UTC")),
    "decimals": lambda chance, n: pa.array(
        [Decimal(int(v)) / 4 for v in chance.integers(-9, 9, n)], pa.decimal128(9, 2)
    ),
    "lists": lambda chance, n: pa.array(
        [None if v > 6 else [0.0, -0.0, None][: v % 4] for v in chance.integers(0, 8, n)]
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("memory", [0, 2_000, 20_000])
@pytest.mark.parametrize("first", COLUMNS)
def test_rows_are_sorted_on_disk_as_in_memory(first: str, memory: int) -> None:
    chance = np.random.default_rng(len(first) + memory)
    names = [first, *chance.permutation([name for name in COLUMNS if name != first])[:3]]
    rows = 700 if memory else 250  # some of the one go together; of the other each is divided by itself
    table = pa.table({name: COLUMNS[name](chance, rows) for name in names})
    chunks = pa.concat_tables([table.slice(0, 100), table.slice(100, 1), table.slice(101)])
    expected = in_order(table)
    assert written(in_order(chunks, memory)) == written(expected)
    assert not expected.equals(table)


def test_a_column_that_a_sample_shows_with_one_value_still_sorts_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order_on_disk, "SAMPLE", 2)
    table = pa.table({"a": [5, 4, 5, 6, 5], "b": [1, 9, 0, 0, 2]})
    found = in_order(table, 0).to_pydict()
    assert found == {"a": [4, 5, 5, 5, 6], "b": [9, 0, 1, 2, 0]}


# ---- keys ------------------------------------------------------------------------------------------------------------

KEYS: Final[dict[str, Any]] = {
    "integers": pa.array([3, None, -1, 3, 0, None, 2**40], pa.int64()),
    "small": pa.array([3, None, -1, 3, 0, None, 7], pa.int8()),
    "texts": pa.array(["ab", "ba", "", None, "ab", "ä", "", "abc"]),
    "bytes": pa.array([b"\x00", b"", None, b"\x00\x00", b"\x00"]),
    "doubles": pa.array([0.0, -0.0, float("nan"), -float("nan"), None, 1.5, 1.5]),
    "floats": pa.array([0.0, -0.0, float("nan"), None, 1.5, 1.5], pa.float32()),
    "decimals": pa.array([1, 2, None, 1], pa.decimal128(20, 2)),
    "booleans": pa.array([True, False, None, True]),
    "dates": pa.array([1, 2, None, 1], pa.date32()),
    "times": pa.array([1, 2, None, 1], pa.timestamp("us", "UTC")),
    "structs": pa.array([{"a": 0.0}, {"a": -0.0}, None, {"a": 1.0}, {"a": None}]),
    "lists": pa.array([[1], [], None, [1], [None]], pa.list_(pa.int64())),
    "dictionary": pa.array(["a", "b", None, "a"]).dictionary_encode(),
    "empty": pa.array([], pa.string()),
    "nulls alone": pa.array([None, None], pa.string()),
}


@pytest.mark.parametrize("name", KEYS)
def test_equal_keys_are_in_one_part_in_every_batch(name: str) -> None:
    column = KEYS[name]
    part, (code, _) = parts_by_key([column], 60_000), codes(column)
    for i, j in np.argwhere(code[:, None] == code[None, :]):
        assert part[i] == part[j], (column[int(i)], column[int(j)])
    assert len(set(part.tolist())) >= len(set(code.tolist())) - 1, "others are mostly apart"
    for i in range(len(column)):
        assert parts_by_key([column.slice(i)], 60_000).tolist() == part[i:].tolist()


def test_many_keys_are_spread_over_the_parts() -> None:
    numbers = np.arange(100_000)
    texts = pa.array([f"account {i}" for i in numbers])
    for columns in ([pa.array(numbers)], [pa.array(numbers * 4096)], [texts], [pa.array(numbers % 7), texts]):
        sizes = np.bincount(parts_by_key(columns, 100), minlength=100)
        assert sizes.min() > 800
        assert sizes.max() < 1200


# ---- files -----------------------------------------------------------------------------------------------------------

READ: Final = """STREAM s (at BIGINT, kind STRING, g INT, x BIGINT) EVENT TIME at UNIT s EVENT TYPE kind;
QUERY pairs RETURN MATCH g, A.x AS a, B.x AS b PATTERN SEQ(A, B) WHERE [g] AND A.x < B.x WITHIN 9 s;
QUERY sums RETURN g, SUM(A.x) AS x PATTERN SEQ(A, B) GROUP BY g WITHIN 90 s;
QUERY whole RETURN COUNT(*) AS n PATTERN SEQ(A, B, C) WITHIN UNBOUNDED;
QUERY line RETURN COUNT(*) AS n PATTERN SEQ(A, C) WITHIN 40 s SLIDE 20 s;
"""
NONE: Final = "QUERY none RETURN MATCH A.x AS x PATTERN SEQ(A, B) WHERE [g] AND A.x > 9000 WITHIN 9 s;\n"


def events(rows: int = 30_000) -> pa.Table:
    chance = np.random.default_rng(5)
    return pa.table(
        {
            "at": pa.array([None if i % 997 == 5 else i // 5 for i in range(rows)], pa.int64()),
            "kind": pa.array(["A", "B", "C", "D", None]).take(pa.array(chance.integers(0, 5, rows))),
            "g": pa.array(chance.integers(0, 40, rows), pa.int32(), mask=chance.random(rows) < 0.01),
            "x": pa.array(chance.integers(0, 1000, rows)),
        }
    )


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the program there is hardly any memory."""
    monkeypatch.setattr(cepc.compiled_program, "Resources", partial(Resources, least=200_000))


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("form", ["memory", "parquet"])
def test_a_whole_run_in_little_memory_has_the_same_rows(form: str, tmp_path: Path, cuts: Cuts) -> None:
    source: Any = events()
    if form == "parquet":
        pq.write_table(events(), tmp_path / "events.parquet", row_group_size=2000)
        source = tmp_path / "events.parquet"
    compiled = cepc.compile(READ)
    found = {size: compiled.run(source, memory=size, threads=2) for size in ("20GB", "1KB")}
    assert {name: written(rows) for name, rows in found["1KB"].items()} == {
        name: written(rows) for name, rows in found["20GB"].items()
    }
    assert all(rows.num_rows for rows in found["1KB"].values())
    assert cuts.by_key == 1, "the queries by `g` are one class"
    assert "line" in cuts.names, "it has one group, and short windows"
    assert "whole" not in cuts.names


@pytest.mark.usefixtures("little")
def test_why_there_are_no_rows_is_said_of_events_on_disk_too(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pq.write_table(events(), tmp_path / "events.parquet", row_group_size=2000)
    compiled = cepc.compile(READ + NONE)
    said = []
    for size in ("20GB", "1KB"):
        caplog.clear()
        with caplog.at_level("INFO", logger="cepc"):
            compiled.run(tmp_path / "events.parquet", memory=size)
        said.append(caplog.messages)
    assert said[0] == said[1]
    assert "`none` has no rows: `A.x > 9000` is true for none" in said[0][-1]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The temporary folder."""
    inside = tmp_path / "temporary"
    inside.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(inside))
    return inside


def open_files(folder: Path) -> list[str]:
    """What this process has open there, with a name or without."""
    found = []
    for link in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # it was that of the list
            found.append(str(link.readlink()))
    return [name for name in found if name.startswith(str(folder))]


def interrupted() -> None:
    raise KeyboardInterrupt


def broken() -> None:
    raise ValueError("broken")


@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("how", [interrupted, broken, None])
def test_nothing_is_left_however_a_run_ends(
    how: Callable[[], None] | None, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(events(), tmp_path / "events.parquet", row_group_size=2000)
    run, seen = drive_in_threads, list[int]()

    def noted(*given: Any) -> Any:
        seen.append(len(open_files(folder)))
        if how is not None and len(seen) == 3:
            how()
        return run(*given)

    monkeypatch.setattr(cepc_runtime.parts.by_part, "drive_in_threads", noted)
    ending = None
    try:
        cepc.compile(READ).run(tmp_path / "events.parquet", memory="1KB", threads=1)
    except (KeyboardInterrupt, ValueError) as error:
        ending = type(error)
    assert ending == {interrupted: KeyboardInterrupt, broken: ValueError, None: None}[how]
    assert min(seen[:3]) >= 1, "events were on disk"
    assert open_files(folder) == []
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="files have names elsewhere until they are closed")
def test_a_run_that_is_killed_leaves_nothing(tmp_path: Path) -> None:
    (folder := tmp_path / "temporary").mkdir()
    code = """
import pyarrow as pa, os, signal
from cepc_runtime.parts.on_disk import EventFile
file = EventFile(pa.schema({"x": pa.int64()}))
file.add(pa.table({"x": pa.array(range(100_000))}))
print(file.batch(0).num_rows, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("100000\n", -signal.SIGKILL)
    assert list(folder.iterdir()) == []


@pytest.mark.usefixtures("little")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk is full here")
@pytest.mark.parametrize("when", ["as events are read", "as they are parted"])
def test_a_full_disk_is_said_with_a_cure(
    when: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(events(), tmp_path / "events.parquet", row_group_size=2000)
    plain, files = tempfile.TemporaryFile, list[int]()

    def full(**given: Any) -> Any:
        files.append(1)
        if when == "as they are parted" and len(files) == 1:
            return plain(**given)
        return Path("/dev/full").open("wb+", buffering=0)

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(cepc.RunError) as raised:
        cepc.compile(READ).run(tmp_path / "events.parquet", memory="1KB")
    text = str(raised.value)
    assert f"error[E0811]: what does not fit into memory cannot be kept in `{folder}`: No space left" in text
    assert "TMPDIR" in text
    assert "or allow more memory by `memory=…`\n" in text
    assert list(folder.iterdir()) == []


@pytest.mark.usefixtures("little")
def test_a_missing_folder_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    pq.write_table(events(), tmp_path / "events.parquet")
    with pytest.raises(cepc.RunError, match=re.compile("E0811.*No such file or directory", re.S)):
        cepc.compile(READ).run(tmp_path / "events.parquet", memory="1KB")


def test_what_was_written_is_read_again() -> None:
    table = pa.table({"x": [1, 2, 3], "y": ["a", None, "c"]})
    file = EventFile(table.schema)
    assert list(file.add(table)) == [0]
    assert list(file.add(table.slice(1))) == [1]
    assert pa.Table.from_batches([file.batch(1), file.batch(0)]).equals(pa.concat_tables([table.slice(1), table]))
    file.close()
    with pytest.raises(ValueError, match="closed"):
        file.batch(0)


@pytest.mark.parametrize("rows", [1, 3, 4, 7, 100])
def test_tables_become_chunks_of_the_same_rows(rows: int) -> None:
    lengths = (3, 0, 1, 9, 2)
    whole = pa.table({"x": range(sum(lengths))})
    bounds = np.cumsum((0, *lengths)).tolist()
    chunks = list(in_chunks([whole.slice(b, n) for b, n in zip(bounds, lengths, strict=False)], rows))
    assert pa.concat_tables(chunks).equals(whole)
    assert [chunk.num_rows for chunk in chunks[:-1]] == [rows] * (len(chunks) - 1)


# ---- how much --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "size"),
    [
        ("1GB", 10**9),
        ("1 gb", 10**9),
        ("1.5GiB", 3 << 29),
        ("100", 100),
        (100, 100),
        ("2kb", 2000),
        ("64MiB", 64 << 20),
    ],
)
def test_sizes_are_read(asked: str | int, size: int) -> None:
    assert memory_of(asked) == size


@pytest.mark.parametrize("asked", ["", "much", "1XB", "-1GB", "0", 0, "0.1", "GB", "1,5GB", -3])
def test_what_is_no_size_is_said(asked: str | int) -> None:
    with pytest.raises(ValueError, match=r"write 512MB, 1GB or 1\.5GiB"):
        memory_of(asked)
    with pytest.raises(ValueError, match="is not an amount of memory"):
        cepc.compile(READ).run(events(10), memory=asked)


def test_unless_asked_most_of_what_is_free_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine, group = tmp_path / "meminfo", tmp_path / "max"
    monkeypatch.setattr(memory, "MEMINFO", machine)
    monkeypatch.setattr(memory, "LIMITS", (group,))
    assert memory_of(None) is None
    machine.write_text("MemTotal: 9000 kB\nMemAvailable:    4000 kB\n")
    assert memory_of(None) == 3000 * 1024
    group.write_text("max\n")
    assert memory_of(None) == 3000 * 1024
    group.write_text("400000\n")
    assert memory_of(None) == 300_000


@pytest.mark.long
@pytest.mark.parametrize("reader", [parquet_files, csv_files, json_lines], ids=lambda reader: reader.__name__)
def test_what_was_read_of_a_file_is_not_kept(reader: Any, tmp_path: Path) -> None:
    """Arrow keeps the bytes of a Parquet file that it has read, unless it is told not to."""
    path, many = tmp_path / "events", 1_000_000
    columns = {"at": np.arange(many), "x": np.random.default_rng(1).integers(0, 1 << 60, many)}
    match reader.__name__.rpartition(".")[2]:
        case "parquet_files":
            pq.write_table(pa.table(columns), path, row_group_size=many)
        case "csv_files":
            pa.csv.write_csv(pa.table(columns), path)
        case _:
            path.write_text("".join(map('{{"at": {}, "x": {}}}\n'.format, *columns.values())))
    file = DataFile(str(path), None, path.stat().st_size)
    declared = (("at", BIGINT), ("x", BIGINT))
    wanted = Wanted("s", declared, declared)
    before, most, rows = pa.total_allocated_bytes(), 0, 0
    for batch in reader.batches(file, wanted):
        rows += batch.table.num_rows
        most = max(most, pa.total_allocated_bytes() - before)
    assert rows == many
    assert most < file.size * 0.8


def test_what_fits_is_not_parted() -> None:
    assert Resources().parts(10**12, 10**14) == 0
    assert Resources(memory=10 * PROGRAM).parts(1_000_000, 30_000_000) < 1
    assert Resources(memory=2 * PROGRAM).parts(4_000_000, 120_000_000) > 3


def test_what_is_freed_is_kept_where_the_c_library_can() -> None:
    code = """
import resource
from cepc.running.allocation import keep_what_is_freed
done = keep_what_is_freed()
import numpy as np
np.ones(10_000_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    np.ones(10_000_000)
print(done, resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert done[0] == "False" or int(done[1]) < 100


def test_the_command_has_memory_and_writes_the_same(tmp_path: Path) -> None:
    (tmp_path / "q.cep").write_text(READ)
    pq.write_table(events(), tmp_path / "e.parquet", row_group_size=2000)
    asked = ["run", str(tmp_path / "q.cep"), "--events", str(tmp_path / "e.parquet")]
    much, little = (CliRunner().invoke(command, [*asked, "--memory", size]) for size in ("1GB", "1MB"))
    assert much.exit_code == 0
    assert much.stdout == little.stdout != ""
    wrong = CliRunner().invoke(command, [*asked, "--memory", "much"])
    assert wrong.exit_code == 2
    assert "'much' is not an amount of memory; write 512MB, 1GB or 1.5GiB, or bytes" in wrong.stderr
    refused = CliRunner().invoke(command, [*asked, "--memory", "1GB", "--engine", "spark"])
    assert refused.exit_code == 2
    assert "--memory is for the engine of this process" in refused.stderr
