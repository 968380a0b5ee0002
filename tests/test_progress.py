"""What a run tells of its progress while it lasts."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from cepc.running.progress import Progress
from cepc_runtime.batch import execute
from tests.equivalence import compile_text

if TYPE_CHECKING:
    from pathlib import Path

STREAM = "STREAM s (at BIGINT, kind STRING, x INT) EVENT TIME at EVENT TYPE kind;\n"
COUNTED = "QUERY c RETURN COUNT(*) AS n PATTERN SEQ(A, B) WITHIN 4 s SLIDE 2 s;\n"
LISTED = "QUERY l RETURN MATCH A.x AS a PATTERN SEQ(A, B) WITHIN 4 s;\n"
MERGED = "QUERY m RETURN MATCH COUNT(*) AS n PATTERN SEQ(A+, A+) WITHIN 3 s;\n"
AFTER = "QUERY f RETURN MATCH A.x AS a PATTERN SEQ(A, B) SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN 9 s;\n"


def told(queries: str, events: int) -> list[float]:
    plan = compile_text(STREAM + queries).plan
    kinds = np.array(["A", "B", "A", "C"])[np.arange(events) % 4]
    table = pa.table({"at": np.arange(events), "kind": kinds, "x": pa.array(np.arange(events), pa.int32())})
    found: list[float] = []
    execute(plan, table, tell=found.append)
    return found


@pytest.mark.parametrize("queries", [COUNTED, LISTED, MERGED, AFTER, COUNTED + LISTED + AFTER])
def test_what_is_done_grows_to_all(queries: str) -> None:
    found = told(queries, 1000)
    assert found == sorted(found)
    assert found[-1] == 1.0


@pytest.mark.parametrize("query", [LISTED, MERGED, AFTER])
def test_listing_matches_tells_how_far_it_is(query: str) -> None:
    assert any(0 < fraction < 1 for fraction in told(query, 300_000))


def test_counting_tells_how_far_it_is_within_one_pass() -> None:
    found = told(COUNTED, 700_000)
    assert len([fraction for fraction in found if 0 < fraction < 1]) >= 2


def test_every_query_is_a_part_of_the_work() -> None:
    found = told(COUNTED + LISTED, 1000)
    assert 0.5 in found


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_is_for_a_terminal_and_long_input() -> None:
    for stream, events, shown in (
        (Terminal(), 200_000, True),
        (Terminal(), 100, False),
        (io.StringIO(), 200_000, False),
    ):
        with Progress(stream) as progress:
            progress.running(events)(0.5)
        assert ("running the queries on 200,000 events" in stream.getvalue()) == shown


def test_a_log_has_a_line_now_and_then() -> None:
    stream = io.StringIO()
    with Progress(stream, every=0.02) as progress:
        progress.reading(30, 100)
        time.sleep(0.1)
        progress.running(1234)(0.5)
        time.sleep(0.1)
    lines = stream.getvalue().splitlines()
    assert lines[0] == "reading events: 30% after 0 s"
    assert lines[-1] == "running the queries on 1,234 events: 50% after 0 s"
    said = len(lines)
    time.sleep(0.1)
    assert len(stream.getvalue().splitlines()) == said, "nothing after the end"


def test_a_short_run_says_nothing_in_a_log() -> None:
    stream = io.StringIO()
    with Progress(stream) as progress:
        progress.reading(30, 100)
        progress.running(200_000)(0.5)
    assert stream.getvalue() == ""


@pytest.mark.parametrize("form", ["table", "jsonl", "csv"])
def test_rows_and_what_is_said_stand_in_order_in_one_file(form: str, tmp_path: Path) -> None:
    (tmp_path / "q.cep").write_text(STREAM + LISTED)
    (tmp_path / "e.csv").write_text("at,kind,x\n1,A,7\n2,B,8\n")
    with (tmp_path / "log").open("w") as log:
        command = [sys.executable, "-m", "cepc", "run", "q.cep", "--events", "e.csv", "--format", form]
        subprocess.run(command, cwd=tmp_path, stdout=log, stderr=log, check=True, timeout=60)
    *rows, last = (tmp_path / "log").read_text().splitlines()
    assert last.startswith("2 events read")
    assert any("7" in row for row in rows)
