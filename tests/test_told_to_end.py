"""What a run that is told to end leaves: nothing of its own, and what was there before."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from concurrent.futures import CancelledError
from threading import Event
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import cepc.writing.store
from cepc.writing.store import store
from cepc.writing.writers import by_name

if TYPE_CHECKING:
    from pathlib import Path

LONG = """
import time, sys
import cepc.writing.store as store
from cepc.cli import main
def write(table, path, *_):
    with path.open("wb") as file:
        file.write(b"half")
        file.flush()
        time.sleep(2)
store._write = write
main()
"""
PROGRAM = """STREAM s (at TIMESTAMP, kind STRING) EVENT TIME at EVENT TYPE kind IN ('A', 'B');
QUERY q RETURN MATCH A.at PATTERN A WITHIN 1 h;
QUERY r RETURN MATCH B.at PATTERN B WITHIN 1 h;
"""
CODES = {signal.SIGTERM: 143, signal.SIGINT: 130}


@pytest.mark.long
@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("number", CODES)
def test_a_signal_while_rows_are_written(number: signal.Signals, threads: str, tmp_path: Path) -> None:
    (tmp_path / "q.cep").write_text(PROGRAM)
    (tmp_path / "e.csv").write_text("at,kind\n2026-03-02 10:00:00,A\n2026-03-02 10:00:01,B\n")
    out = tmp_path / "out"
    out.mkdir()
    (out / "q.csv").write_text("before")
    given = ["run", "q.cep", "--events", "e.csv", "--output", "out", "--format", "csv", "--threads", threads]
    process = subprocess.Popen(
        [sys.executable, "-c", LONG, *given], cwd=tmp_path, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    until = time.monotonic() + 60
    while len(list(out.iterdir())) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == CODES[number], said
    assert [path.name for path in out.iterdir()] == ["q.csv"]
    assert (out / "q.csv").read_text() == "before"


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_files_that_others_write_are_not_finished_first(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread fails: the others stop at their next line, or piece of a file."""
    written, save, over = list[int](), by_name(form).save, list[Event]()
    assert save is not None
    write = cepc.writing.store._write

    def failing(table: Any, path: Path, save: Any, all_over: Event) -> None:
        over.append(all_over)
        if path.name.startswith(".fails"):
            raise OSError("disk")
        assert all_over.wait(60)
        try:
            write(table, path, save, all_over)
        except CancelledError:
            written.append(path.stat().st_size)
            raise

    monkeypatch.setattr(cepc.writing.store, "_write", failing)
    table = pa.table({"x": pa.array(range(1_000_000), pa.int64())})
    with pytest.raises(OSError, match="disk"):
        store({"long": table, "fails": table}, str(tmp_path), form, threads=2)
    assert written == [0]
    assert list(tmp_path.iterdir()) == []
