"""Files that are cut off or cannot be written: the sentence names the file, what is wrong, and what to do."""

from __future__ import annotations

import gzip
import io
import resource
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from cepc.cli import cepc

PROGRAM = """STREAM s (at BIGINT, k STRING) EVENT TIME at UNIT s EVENT TYPE k;
QUERY q RETURN MATCH A.at AS a, B.at AS b PATTERN SEQ(A, B) WITHIN 9 s;
"""
LINES = [f"{i},{'AB'[i % 2]}" for i in range(2000)]
CSV = "\n".join(["at,k", *LINES, ""])
JSON = "".join(f'{{"at":{i},"k":"A"}}\n' for i in range(2000))


def parquet() -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table({"at": list(range(2000)), "k": ["A", "B"] * 1000}), sink)
    return sink.getvalue()


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.cep").write_text(PROGRAM)


AGAIN = "write or copy it once more, and read it when that is done"
CUT = [
    ("Parquet without its end", "e.parquet", parquet()[:-200],
     "`e.parquet` cannot be read: its end, where Parquet says what there is, is missing, as if it were cut off", AGAIN),
    ("Parquet cut in its first bytes", "e.parquet", parquet()[:6],
     "`e.parquet` cannot be read: its end, where Parquet says what there is, is missing, as if it were cut off", AGAIN),
    ("Parquet overwritten in its middle", "e.parquet", parquet()[:60] + b"\xff" * 99 + parquet()[159:],
     "`e.parquet` cannot be read: it is damaged, or no Parquet file (", AGAIN),
    ("CSV cut in a line", "e.csv", CSV[:-4].encode(),
     "`e.csv` cannot be read: its last line has 1 of 2 columns, as if it were cut off", AGAIN),
    ("CSV cut in quotes", "e.csv", (CSV + '2000,"A').encode(),
     "`e.csv` cannot be read: it ends within a value in quotes, as if it were cut off", AGAIN),
    ("gzip without its end", "e.csv.gz", gzip.compress(CSV.encode())[:-2000],
     "`e.csv.gz` cannot be read: its compressed text has no end, as if it were cut off", AGAIN),
    ("JSON cut in a line", "e.jsonl", JSON[:-5].encode(), "a line is no JSON object", "e.jsonl:2000"),
    ("JSON in gzip without its end", "e.jsonl.gz", gzip.compress(JSON.encode())[:-500],
     "`e.jsonl.gz` cannot be read: its compressed text has no end, as if it were cut off", AGAIN),
]  # fmt: skip


@pytest.mark.parametrize(("name", "data", "said", "hint"), [case[1:] for case in CUT], ids=[case[0] for case in CUT])
def test_a_file_of_events_that_is_cut_off_is_named_with_what_to_do(
    name: str, data: bytes, said: str, hint: str
) -> None:
    Path(name).write_bytes(data)
    result = CliRunner().invoke(cepc, ["run", "p.cep", "--events", name])
    assert result.exit_code in (1, 2)
    assert said in result.stderr
    assert hint in result.stderr
    assert result.stdout == ""


def test_a_parquet_file_with_a_number_that_is_none_of_its_dictionary_is_damaged() -> None:
    kinds = [*"ABC"] * 40
    pq.write_table(pa.table({"at": [*range(120)], "k": kinds}), "e.parquet", compression="none")
    data = Path("e.parquet").read_bytes()
    numbers = bytes([0x24, 0x49, 0x92])  # 0, 1, 2 again and again, two bits each
    assert numbers * 2 in data
    Path("e.parquet").write_bytes(data.replace(numbers, b"\xff\x49\x92", 1))
    done = CliRunner().invoke(cepc, ["run", "p.cep", "--events", "e.parquet"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "`e.parquet` cannot be read: it is damaged, or no Parquet file (" in done.stderr


def test_a_quote_in_a_value_without_quotes_is_a_quote() -> None:
    Path("e.csv").write_text('at,k\n1,A\n2,B\n3,5" pipe\n')
    result = CliRunner().invoke(cepc, ["run", "p.cep", "--events", "e.csv"])
    assert (result.exit_code, result.stdout) == (0, '{"query":"q","a":1,"b":2,"match_start":1,"match_end":2}\n')


WRITING = {
    "results as Parquet": (["run", "p.cep", "--events", "e.csv", "--output", "out"], "out"),
    "results as CSV": (["run", "p.cep", "--events", "e.csv", "--output", "out", "--format", "csv"], "out"),
    "a report": (["run", "p.cep", "--events", "e.csv", "--query", "q", "--limit", "0", "--report", "r.html"], "r.html"),
    "a job": (["compile", "p.cep", "-o", "job.py"], "job.py"),
    "a bundle": (["compile", "p.cep", "--bundle", "job"], "job/job.py"),
    "an explanation": (["explain", "p.cep", "-o", "e.html"], "e.html"),
    "statistics": (["analyze", "p.cep", "--events", "e.csv", "-o", "stats.json"], "stats.json"),
}


@pytest.mark.long
@pytest.mark.parametrize(("command", "place"), WRITING.values(), ids=WRITING)
def test_a_full_disk_is_said_and_leaves_nothing_half_written(command: list[str], place: str) -> None:
    Path("e.csv").write_text(CSV)
    done = subprocess.run(
        [sys.executable, "-B", "-m", "cepc", *command], capture_output=True, text=True, timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert f"error[E0008]: the results cannot be written to `{place}`: File too large" in done.stderr
    assert "help: free some space, or name another place" in done.stderr
    assert [p for p in Path().rglob("*") if p.is_file() and p.name not in ("p.cep", "e.csv")] == []


def test_what_is_written_again_is_the_old_file_until_it_is_the_new_one() -> None:
    Path("job.py").write_text("old")
    Path("link.py").symlink_to("job.py")
    result = CliRunner().invoke(cepc, ["compile", "p.cep", "-o", "link.py"])
    assert result.exit_code == 0
    assert Path("link.py").is_symlink()
    assert Path("job.py").read_text().startswith('"""Complex-event')
