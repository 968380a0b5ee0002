"""A format is one module and one line: one that a test brings along is read or written with nothing else changed."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from cepc.errors import DataError
from cepc.reading import readers
from cepc.reading.files import EventSource
from cepc.reading.read import Read, read_events
from cepc_runtime.plan.stream import StreamPlan
from cepc_runtime.sql.computed import StreamInput
from cepc_runtime.sql.types import DOUBLE, STRING, TIMESTAMP

from .bars import READER

ROOT = Path(__file__).parent.parent
EVENTS = "|at|kind|minutes|\n|2026-01-31T12:00:00Z|Travel|2.5|\n|2026-01-31T12:10:00Z|Delivery||\n"
COLUMNS = (("at", TIMESTAMP), ("kind", STRING), ("minutes", DOUBLE))
PROGRAM = """\
STREAM rides (at TIMESTAMP, kind STRING, minutes DOUBLE)
EVENT TIME at
EVENT TYPE kind IN ('Travel', 'Delivery')
FROM BARS 'rides.bars';
QUERY trips
  RETURN  COUNT(*) AS trips, SUM(Travel.minutes) AS minutes
  PATTERN SEQ(Travel, Delivery)
  WITHIN  1 HOUR SLIDE 1 HOUR;
"""


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rides.bars").write_text(EVENTS)


def cepc(brought: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, in which `brought` is run first."""
    script = (
        f"import sys\nsys.path.append({str(ROOT)!r})\n{brought}\nfrom cepc.cli import cepc\ncepc({list(arguments)!r})"
    )
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)


# ---- reading ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def _bars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "READERS", (*readers.READERS, READER))


def read(path: str, form: str | None = None) -> Read:
    plan = StreamPlan("rides", COLUMNS, tuple(n for n, _ in COLUMNS), "at", "us", (), "kind", None, None)
    return read_events(EventSource(path, form), plan, StreamInput(COLUMNS))


@pytest.mark.usefixtures("_bars")
@pytest.mark.parametrize(
    ("path", "form"),
    [("rides.bars", None), ("rides.bars.gz", None), ("rides.dat", "bars"), ("days", None), ("days/plain", "bars")],
)
def test_a_new_format_is_read_wherever_formats_are(path: str, form: str | None) -> None:
    Path("days/plain").mkdir(parents=True)
    for name in ("rides.dat", "days/rides.bars", "days/plain/part-0"):
        Path(name).write_text(EVENTS)
    Path("rides.bars.gz").write_bytes(gzip.compress(EVENTS.encode()))
    assert read(path, form).table.column("minutes").to_pylist() == [2.5, None]


@pytest.mark.usefixtures("_bars")
@pytest.mark.parametrize(
    ("name", "content", "form", "said"),
    [
        ("rides.dat", EVENTS, None, "it looks like Bars: add `--input-format bars`"),
        (
            "rides.dat",
            "\x01",
            None,
            "known are .parquet, .parq, .pq, .csv, .json, .jsonl, .ndjson, .orc, .avro and .bars",
        ),
        ("a.bars", "at\n", None, "it is no Bars file"),
        ("a.bars", "at\n", None, "`--input-format parquet`, `csv`, `json`, `orc` or `avro` names another format"),
        ("a.parquet", "at,kind\n", None, "`--input-format csv`, `json`, `orc`, `avro` or `bars` names another format"),
        ("a.bars", "|at|kind|\n", None, "the events have no column `minutes`"),
    ],
)
def test_what_is_said_of_files_names_a_new_format(name: str, content: str, form: str | None, said: str) -> None:
    Path(name).write_text(content)
    with pytest.raises(DataError) as caught:
        read(name, form)
    assert said in str(caught.value)


@pytest.mark.usefixtures("_bars")
def test_a_folder_of_a_new_format_and_another_is_refused() -> None:
    Path("days").mkdir()
    Path("days/a.bars").write_text(EVENTS)
    Path("days/a.csv").write_text("at,kind,minutes\n")
    with pytest.raises(DataError, match="there are CSV and Bars files"):
        read("days")


@pytest.mark.long
def test_the_command_knows_a_new_format_by_its_module_alone() -> None:
    Path("rides.cep").write_text(PROGRAM)
    brought = "from cepc.reading import readers\nfrom tests.bars import READER\nreaders.READERS += (READER,)"
    found = cepc(brought, "run", "rides.cep", "--format", "jsonl")
    assert found.returncode == 0, found.stderr
    assert [json.loads(line)["minutes"] for line in found.stdout.splitlines()] == [2.5]
    help_ = " ".join(cepc(brought, "run", "--help").stdout.split())
    assert "[parquet|csv|json|orc|avro|bars|delta]" in help_
    assert "Events are Parquet, CSV with a header, JSON lines, ORC, Avro or Bars of iron;" in help_
    Path("rides.cep").write_text(PROGRAM.replace("FROM BARS 'rides.bars'", ""))
    unnamed = cepc(brought, "run", "rides.cep")
    assert "name them: `--events PATH`, a Parquet, CSV, JSON lines, ORC, Avro or Bars file" in " ".join(
        unnamed.stderr.split()
    )


# ---- writing ---------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_command_writes_in_a_new_format_by_its_module_alone() -> None:
    Path("rides.csv").write_text("at,kind,minutes\n2026-01-31T12:00:00Z,Travel,2.5\n2026-01-31T12:10:00Z,Delivery,\n")
    Path("rides.cep").write_text(PROGRAM.replace("BARS 'rides.bars'", "CSV 'rides.csv'"))
    brought = "from cepc.writing import writers\nfrom tests.bars import WRITER\nwriters.WRITERS += (WRITER,)"
    rows = "|trips|minutes|window_start|window_end|\n|1|2.5|2026-01-31T12:00:00Z|2026-01-31T13:00:00Z|\n"
    assert cepc(brought, "run", "rides.cep", "--format", "bars").stdout == f"# trips\n{rows}"
    assert cepc(brought, "run", "rides.cep", "--format", "bars", "--output", "out").returncode == 0
    assert Path("out/trips.bars").read_text() == rows
    refused = cepc(brought, "run", "rides.cep", "--format", "table", "--output", "out")
    assert refused.returncode == 2
    assert "with --output choose jsonl, csv, parquet or bars" in refused.stderr
