"""Records that are no events: how they are said, passed over, and set apart."""

from __future__ import annotations

import gzip
import io
import json
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import cepc
from cepc.cli import cepc as command
from cepc.reading import csv_files, json_lines
from cepc.reading.bad_records import MOST
from cepc.reading.csv_files import Passing, without_marks
from cepc.reading.csv_options import CsvOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

STREAM = """STREAM s (at TIMESTAMP, kind STRING, id BIGINT) EVENT TIME at EVENT TYPE kind IN ('A', 'B');
QUERY q RETURN MATCH A.id PATTERN A WITHIN 1 MINUTE;
"""
COMPUTED = """STREAM s (ts STRING, kind STRING, n STRING, at AS CAST(ts AS TIMESTAMP), id AS CAST(n AS BIGINT))
EVENT TIME at EVENT TYPE kind IN ('A', 'B');
QUERY q RETURN MATCH A.id PATTERN A WITHIN 1 MINUTE;
"""


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def csv_of(lines: Sequence[str], header: str = "at,kind,id") -> bytes:
    return "".join(f"{line}\n" for line in (header, *lines)).encode()


def json_of(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def ids(events: str, program: str = STREAM, **how: Any) -> list[int]:
    found: list[int] = cepc.compile(program).run(events, **how)["q"].column("id").to_pylist()
    return found


def said(events: str, program: str = STREAM) -> str:
    with pytest.raises(cepc.DataError) as caught:
        ids(events, program)
    return str(caught.value)


def test_a_line_of_blanks_is_said_where_it_is() -> None:
    Path("e.csv").write_bytes(csv_of(["2026-03-02 10:00:00,A,1", "", " \t", "2026-03-02 10:00:01,A,2"]))
    assert "a line is no CSV row\n --> e.csv:4:1\n  |\n4 |" in said("e.csv")
    Path("e.csv").write_bytes(csv_of([" "]))
    assert " --> e.csv:2:1\n" in said("e.csv")


CSV = [
    "2026-01-01 10:00:00,A,1",
    "2026-01-01 10:00:01,A,x",
    "",
    "yesterday,A,3",
    "2026-01-01 10:00:03,A",
    "2026-01-01 10:00:04,A,5",
    '"2026-01-01 10:00:05",A,"7\n8"',
    "2026-01-01 10:00:06,A,8,9",
    "2026-01-01 10:00:07,A,9",
]
JSON = [
    '{"at": "2026-01-01T10:00:00", "kind": "A", "id": 1}',
    '{"at": "2026-01-01T10:00:01", "kind": "A", "id": "x"}',
    "",
    '{"at": "yesterday", "kind": "A", "id": 3}',
    '{"at": "2026-01-01T10:00:03", "kind": "A"',
    '{"at": "2026-01-01T10:00:04", "kind": "A", "id": 5}',
    "[1]",
    '{"at": "2026-01-01T10:00:06", "kind": "A", "id": 8.5}',
    '{"at": "2026-01-01T10:00:07", "kind": "A", "id": 9}',
]
TEXTS = [line for line in CSV if "," in line and "A,8,9" not in line and not line.endswith(",A")]


@pytest.mark.parametrize(
    ("name", "content", "program", "lines"),
    [
        ("e.csv", csv_of(CSV), STREAM, [3, 5, 6, 8, 10]),
        ("e.csv.gz", gzip.compress(csv_of(CSV)), STREAM, [3, 5, 6, 8, 10]),
        ("e.jsonl", json_of(JSON), STREAM, [2, 4, 5, 7, 8]),
        ("e.csv", csv_of(TEXTS, "ts,kind,n"), COMPUTED, [3, 4, 6]),
    ],
    ids=["CSV", "CSV, compressed", "JSON lines", "computed columns"],
)
def test_bad_records_are_said_with_their_lines_passed_over_or_set_apart(
    name: str, content: bytes, program: str, lines: list[int]
) -> None:
    Path(name).write_bytes(content)
    good = [1, 5, 9]
    assert ids(name, program, skip_bad=True) == good
    assert ids(name, program, dead="dead.jsonl") == good
    dead = [json.loads(line) for line in Path("dead.jsonl").read_text().splitlines()]
    assert [one["line"] for one in dead] == lines
    whole = content if name != "e.csv.gz" else gzip.decompress(content)
    written = whole.decode().splitlines()
    assert [one["text"] for one in dead] == [written[line - 1] for line in lines]
    assert all(one["file"] == name and one["problem"] for one in dead)
    text = said(name, program)
    assert text.splitlines()[-1] == "3 errors"
    assert [f"{name}:{line}:" in text for line in lines[:3]] == [True] * 3
    assert [f"{name}, line {line}:" in text for line in lines[3:]] == [True] * len(lines[3:])
    assert "`run(…, skip_bad=True)` passes over records that are no events, `dead='FILE'` writes them to a file" in text
    Path("p.cep").write_text(program)
    typed = CliRunner().invoke(command, ["run", "p.cep", "--events", name]).stderr
    assert "`--skip-bad` passes over records that are no events, `--dead FILE` writes them to a file" in typed


def test_records_that_are_no_text_are_bad_by_themselves() -> None:
    Path("e.csv").write_bytes(csv_of(CSV[:1]) + b"2026-01-01 10:00:01,\xf6,2\n2026-01-01 10:00:02,A,3\n")
    Path("e.jsonl").write_bytes(json_of(JSON[:1]) + b'{"kind": "\xf6"}\n' + json_of(JSON[-1:]))
    assert ids("e.csv", skip_bad=True) == [1, 3]
    assert ids("e.jsonl", skip_bad=True) == [1, 9]


def test_a_row_of_another_width_may_be_no_text_and_is_bad_by_itself(capfd: pytest.CaptureFixture[str]) -> None:
    """pyarrow asked nothing about such a row, told Python of its own error, and ended the run."""
    good = CSV[0].encode() + b"\n"
    Path("e.csv").write_bytes(csv_of([]) + good + b"2026-01-01 10:00:01,A,2,\xff\xfe\n" + good)
    assert "the header has 3 columns, this line 4" in said("e.csv")
    assert ids("e.csv", skip_bad=True) == [1, 1]
    assert capfd.readouterr().err == ""


@given(st.binary(max_size=60), st.lists(st.integers(1, 9), min_size=1))
def test_bytes_that_are_no_text_are_marked_wherever_a_stream_is_cut(data: bytes, sizes: list[int]) -> None:
    options = CsvOptions()
    passing, parts = Passing(io.BytesIO(data), options), list[bytes]()
    for size in cycle(sizes):
        parts.append(passing.read(size))
        assert len(parts[-1]) <= size
        if not parts[-1]:
            break
    text = b"".join(parts).decode()
    end = "" if data[-1:] in (b"", b"\n", b"\r") else "\n"
    assert without_marks(text) == data.decode(errors="replace") + end
    assert passing.is_marked == (_is_text(data) is False)
    assert passing.quotes == data.count(b'"')


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_of_many_the_first_twenty_are_said_and_all_are_passed_over(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where they lie in many blocks, whose rows are counted on."""
    monkeypatch.setattr(csv_files, "BLOCK", 256)
    monkeypatch.setattr(json_lines, "BLOCK", 256)
    times = [f"2026-01-01 10:{i // 60:02}:{i % 60:02}" for i in range(600)]
    bad = {i for i in range(600) if i % 7 == 3}
    wrong = {i: ("x" if i % 2 else None) for i in bad}  # a wrong value, or too few of them
    lines = {
        "csv": [f"{at},A" + (f",{wrong.get(i, i)}" if wrong.get(i, i) is not None else "") for i, at in enumerate(times)],
        "jsonl": [
            f'{{"at": "{at}", "kind": "A", "id": {(wrong[i] and json.dumps(wrong[i])) or "}"}}}' if i in bad else f'{{"at": "{at}", "kind": "A", "id": {i}}}'
            for i, at in enumerate(times)
        ],
    }[form]  # fmt: skip
    Path(f"e.{form}").write_bytes((csv_of if form == "csv" else json_of)(lines))
    assert ids(f"e.{form}", dead="dead.jsonl") == [i for i in range(600) if i not in bad]
    first = 2 if form == "csv" else 1
    dead = [json.loads(line) for line in Path("dead.jsonl").read_text().splitlines()]
    assert sorted(one["line"] for one in dead) == [i + first for i in sorted(bad)]
    text = said(f"e.{form}")
    assert text.count("e." + form + ", line ") == MOST - 3
    assert "these are the first twenty" in text


def test_rows_of_tables_are_counted_too() -> None:
    table = pa.table({"ts": ["2026-01-01", "x", "2026-01-03"], "kind": ["A"] * 3, "n": ["1", "2", "3"]})
    compiled = cepc.compile(COMPUTED)
    assert compiled.run(table, skip_bad=True)["q"].column("id").to_pylist() == [1, 3]
    with pytest.raises(cepc.DataError, match="record 2"):
        compiled.run(table)
    pq.write_table(table, "e.parquet")
    assert ids("e.parquet", COMPUTED, dead="dead.jsonl") == [1, 3]
    (dead,) = map(json.loads, Path("dead.jsonl").read_text().splitlines())
    assert (dead["file"], dead["record"], dead["line"], dead["text"]) == ("e.parquet", 2, None, None)


def test_records_of_a_table_are_said_without_a_file(caplog: pytest.LogCaptureFixture) -> None:
    table = pa.table({"ts": ["2026-01-01", "x"], "kind": ["A"] * 2, "n": ["1", "2"]})
    cepc.compile(COMPUTED).run(table, skip_bad=True)
    assert "note: the first: record 2: the column" in caplog.messages[0]


def test_why_a_column_cannot_be_computed_is_kept() -> None:
    Path("p.cep").write_text(STREAM.replace("id BIGINT", "text STRING, id AS CAST(text AS DOUBLE)"))
    Path("e.csv").write_text("at,kind,text\n2026-01-01,A,abc\n")
    why = "'abc' cannot be read as DOUBLE in `CAST(text AS DOUBLE)`"
    passed_over = CliRunner().invoke(command, ["run", "p.cep", "--events", "e.csv", "--skip-bad"])
    said = f"e.csv, line 2: the column `id` of `s` cannot be computed of record 1 ({why})"
    assert said in " ".join(passed_over.stderr.replace("  =", "").split())
    CliRunner().invoke(command, ["run", "p.cep", "--events", "e.csv", "--dead", "dead.jsonl"])
    (dead,) = map(json.loads, Path("dead.jsonl").read_text().splitlines())
    assert dead["why"] == why


def test_why_the_end_of_a_file_is_no_event_is_kept() -> None:
    Path("e.csv").write_text("at,kind,id\n2026-01-01,A,1\n2026-01-0")
    assert ids("e.csv", dead="dead.jsonl") == [1]
    (dead,) = map(json.loads, Path("dead.jsonl").read_text().splitlines())
    assert dead["why"] == "its last line has 1 of 3 columns"


def test_a_file_of_which_no_record_is_an_event_has_no_rows() -> None:
    program = STREAM.replace("id BIGINT", "id BOOLEAN")
    Path("e.csv").write_bytes(csv_of(["2026-01-01,A,7"] * 3))
    assert ids("e.csv", program, skip_bad=True) == []


def test_a_quote_that_is_not_closed_swallows_no_records() -> None:
    Path("e.csv").write_bytes(csv_of([*CSV[:1], '2026-01-01 10:00:01,A,"2', *CSV[-1:]]))
    with pytest.raises(cepc.DataError, match="ends within a value in quotes"):
        ids("e.csv", skip_bad=True)


@pytest.mark.parametrize(
    ("source", "events", "said"),
    [
        ("", ["--events", "s3a://bucket/e.csv"], "the events at `s3a://bucket/e.csv` are read by Spark alone"),
        ("FROM CSV 's3a://bucket/e.csv'", [], "the events at `s3a://bucket/e.csv` are read by Spark alone"),
        ("FROM KAFKA 'topic'", [], "FROM KAFKA is read by Spark alone"),
        ("", [], "no events are named for the stream `s`"),
    ],
)
def test_what_spark_alone_can_read_is_not_read_without_its_bad_records(
    source: str, events: list[str], said: str
) -> None:
    Path("p.cep").write_text(STREAM.replace("BIGINT)", f"BIGINT) {source}"))
    done = CliRunner().invoke(command, ["run", "p.cep", *events, "--engine", "spark", "--skip-bad"])
    assert done.exit_code == 2
    assert said in done.stderr
    assert "help: " in done.stderr


def run(*arguments: str) -> Any:
    Path("p.cep").write_text(STREAM)
    Path("e.csv").write_bytes(csv_of(CSV))
    return CliRunner().invoke(command, ["run", "p.cep", "--events", "e.csv", *arguments])


@pytest.mark.parametrize("treatment", [["--skip-bad"], ["--dead", "d.jsonl"]], ids=lambda options: options[0])
def test_those_of_each_stream_are_said(treatment: list[str]) -> None:
    streams = "".join(f"STREAM {name} (at BIGINT, x INT) EVENT TIME at UNIT s;\n" for name in "abc")
    queries = (
        "QUERY one RETURN MATCH c.x PATTERN c WITHIN 1 HOUR; QUERY q RETURN MATCH a.x PATTERN SEQ(a, b) WITHIN 1 HOUR;"
    )
    Path("p.cep").write_text(streams + queries)
    for name in "abc":
        Path(f"{name}.csv").write_text("at,x\n1,1\n2,wrong\n")
    events = [f"--events={name}={name}.csv" for name in "abc"]
    done = CliRunner().invoke(command, ["run", "p.cep", *events, *treatment])
    assert done.exit_code == 0, done.output
    for name in "abc":
        assert f"warning[W0717]: 1 record of `{name}` is no event, and was passed over" in done.stderr
        assert treatment[0] == "--dead" or f"the first: {name}.csv, line 3: `wrong` is no INT for `x`" in done.stderr


def test_the_command_counts_them_and_shows_the_first() -> None:
    done = run("--skip-bad")
    assert done.exit_code == 0
    assert len(done.stdout.splitlines()) == 3
    assert "warning[W0717]: 5 records of `s` are no events, and were passed over" in done.stderr
    assert "the first: e.csv, line 3: `x` is no BIGINT for `id`" in done.stderr
    assert done.stderr.count("e.csv, line ") == 3
    assert "3 events read from 1 file, 5 bad records passed over, none dropped; 3 rows of 1 query" in done.stderr


def test_the_command_sets_them_apart_and_says_where() -> None:
    done = run("--dead", "dead.jsonl")
    assert done.exit_code == 0
    assert "they are in `dead.jsonl`" in done.stderr
    assert len(Path("dead.jsonl").read_text().splitlines()) == 5


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        ([], 1, "3 errors"),
        (["--skip-bad", "--dead", "d"], 2, "give one of the two"),
        (["--dead", "no/such/folder"], 2, "no/such/folder"),
        (["--dead", "both", "--report", "./both"], 2, "--report and --dead name the same file"),
    ],
)
def test_the_command_fails_with_a_reason(arguments: list[str], code: int, text: str) -> None:
    done = run(*arguments)
    assert (done.exit_code, done.stdout) == (code, "")
    assert text in done.stderr


REPLACED = {
    "bad records, and the program": (["run", "p.cep", "--events", "e.csv", "--dead", "p.cep"], "p.cep", 2),
    "bad records, and other data": (["run", "p.cep", "--events", "e.csv", "--dead", "o.csv"], "o.csv", 2),
    "a report, and the events": (["run", "p.cep", "--events", "e.csv", "--report", "e.csv"], "e.csv", 2),
    "a job, and the program": (["compile", "p.cep", "-o", "p.cep"], "p.cep", 2),
    "an explanation, and the program": (["explain", "p.cep", "--format", "text", "-o", "p.cep"], "p.cep", 2),
    "a job, and events": (["compile", "from.cep", "-o", "e.csv"], "e.csv", 2),
    "an explanation, and events": (["explain", "from.cep", "--format", "text", "-o", "e.csv"], "e.csv", 2),
    "statistics, and events": (["analyze", "p.cep", "--events", "e.csv", "-o", "e.csv"], "e.csv", 2),
    "a beginning, and the events": (["init", "e.csv", "-o", "e.csv", "--force"], "e.csv", 2),
    "a beginning, and a file of a directory": (["init", "in", "-o", "in/f.csv", "--force"], "in/f.csv", 2),
    "statistics, and the program": (["analyze", "p.cep", "--events", "e.csv", "-o", "p.cep"], "p.cep", 2),
}


@pytest.mark.parametrize(("arguments", "file", "code"), REPLACED.values(), ids=REPLACED)
def test_no_result_is_written_over_events_or_a_program(arguments: list[str], file: str, code: int) -> None:
    Path("p.cep").write_text(STREAM)
    Path("from.cep").write_text(STREAM.replace(";", " FROM CSV 'e.csv';", 1))
    Path("in").mkdir()
    for name in ("e.csv", "o.csv", "in/f.csv"):
        Path(name).write_bytes(csv_of(CSV[:1]))
    before = Path(file).read_bytes()
    done = CliRunner().invoke(command, arguments)
    assert f"error[E0008]: `{file}` is not written over: it is no " in done.output
    assert done.exit_code == code
    assert Path(file).read_bytes() == before


AMONG_EVENTS = {  # events, where results go, the file that is refused
    "the file that is read": (["--events", "q.csv"], ".", "q.csv"),
    "the file, by another name": (["--events", "link.csv"], ".", "q.csv"),
    "the file that FROM names": ([], ".", "q.csv"),
    "a file of the directory that is read": (["--events", "s=in"], "in", "in/q.csv"),
    "a new file of that directory": (["--events", "in"], "in", "in/r.csv"),
    "a new directory below it": (["--events", "in"], "in/out", "in/out/q.csv"),
}


@pytest.mark.parametrize(("events", "output", "file"), AMONG_EVENTS.values(), ids=AMONG_EVENTS)
def test_results_are_not_written_among_the_events(events: list[str], output: str, file: str) -> None:
    Path("in").mkdir()
    for name in ("q.csv", "in/q.csv"):
        Path(name).write_bytes(csv_of(CSV[:1]))
    Path("link.csv").symlink_to("q.csv")
    Path("p.cep").write_text(
        STREAM.replace(";", " FROM CSV 'q.csv';", 1).replace("QUERY q", f"QUERY {Path(file).stem}")
    )
    before = {path: path.read_bytes() for path in Path().rglob("*.csv")}
    done = CliRunner().invoke(command, ["run", "p.cep", *events, "--output", output, "--format", "csv"])
    assert f"error[E0008]: results cannot be written to `{file}`, which is among the events" in done.output
    assert done.exit_code == 2
    assert {path: path.read_bytes() for path in Path().rglob("*.csv")} == before


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("option", ["--dead", "--report"])
@pytest.mark.parametrize("file", ["out/q.jsonl", "out/../out/q.jsonl"])
def test_no_other_file_is_one_of_the_results(option: str, file: str, before: bool) -> None:
    Path("p.cep").write_text(STREAM)
    Path("e.csv").write_bytes(csv_of(CSV))
    if before:
        Path("out").mkdir()
        Path("out/q.jsonl").write_text("")
    arguments = ["run", "p.cep", "--events", "e.csv", option, file, "--output", "out", "--format", "jsonl"]
    done = CliRunner().invoke(command, arguments)
    assert f"Error: {option} names `out/q.jsonl`, which is a file of --output: name another" in done.output
    assert done.exit_code == 2
    assert Path("out").exists() == before


def test_a_directory_in_the_place_of_a_result_is_named() -> None:
    Path("p.cep").write_text(STREAM)
    Path("e.csv").write_bytes(csv_of(CSV[:1]))
    Path("out/q.csv").mkdir(parents=True)
    done = CliRunner().invoke(command, ["run", "p.cep", "--events", "e.csv", "--output", "out", "--format", "csv"])
    assert "error[E0008]: the results cannot be written to `out/q.csv`: Is a directory" in done.output
    assert done.exit_code == 2


@pytest.mark.parametrize("name", ["run", "why", "analyze"])
@pytest.mark.parametrize(
    ("arguments", "also"),
    [
        (["-", "--events", "-"], "the program and events"),
        (["-", "--events", "s=-"], "the program and events"),
        (["p.cep", "--events", "a=-", "--events", "b=-"], "the events of several streams"),
    ],
)
def test_standard_input_is_read_for_one_thing(name: str, arguments: list[str], also: str) -> None:
    done = CliRunner().invoke(command, [name, *arguments], input=STREAM)
    assert f"Error: standard input is named twice, for {also}: name a file for one of them" in done.output
    assert done.exit_code == 2


@pytest.mark.parametrize("name", ["run", "why", "analyze", "test"])
def test_a_program_without_a_stream_is_told_how_this_command_gets_it(name: str) -> None:
    Path("q.cep").write_text("QUERY q RETURN MATCH A.at PATTERN A WITHIN 1 MINUTE;")
    done = CliRunner().invoke(command, [name, "q.cep"])
    assert "error[E0805]: there is nothing to run: the program has no STREAM" in done.stderr
    assert f"help: give the file with the STREAM as well: `cepc {name} stream.cep …`" in done.stderr


@pytest.mark.parametrize("treatment", [["--skip-bad"], ["--dead", "dead.jsonl"]])
@pytest.mark.parametrize("name", ["why", "analyze"])
def test_what_is_passed_over_is_said_whoever_reads(name: str, treatment: list[str]) -> None:
    Path("p.cep").write_text(STREAM)
    Path("e.csv").write_bytes(csv_of(CSV))
    done = CliRunner().invoke(command, [name, "p.cep", "--events", "e.csv", *treatment])
    assert done.exit_code == 0
    assert "warning[W0717]: 5 records of `s` are no events, and were passed over" in done.stderr
    assert "W0717" not in done.stdout


def test_results_are_written_beside_the_events() -> None:
    Path("p.cep").write_text(STREAM)
    Path("e.csv").write_bytes(csv_of(CSV[:1]))
    done = CliRunner().invoke(command, ["run", "p.cep", "--events", "e.csv", "--output", ".", "--format", "csv"])
    assert (done.exit_code, Path("q.csv").is_file()) == (0, True)


@pytest.mark.parametrize("dead", ["in/e.jsonl", "in/new.jsonl", "in/../in/new.jsonl"])
def test_bad_records_are_not_written_among_the_events(dead: str) -> None:
    Path("in").mkdir()
    text = '{"file": "a", "at": "2026-01-01T10:00:00", "kind": "A", "id": 1}\n'  # as of a file of bad records
    Path("in/e.jsonl").write_text(text)
    with pytest.raises(cepc.DataError, match=r"bad records cannot be written to `.*`, which is among the events"):
        ids("in", dead=dead)
    assert [(path.name, path.read_text()) for path in Path("in").iterdir()] == [("e.jsonl", text)]


def test_what_a_run_before_has_set_apart_is_replaced() -> None:
    Path("e.csv").write_bytes(csv_of(CSV))
    for _ in range(2):
        ids("e.csv", dead="dead.jsonl")
        assert len(Path("dead.jsonl").read_text().splitlines()) == 5
