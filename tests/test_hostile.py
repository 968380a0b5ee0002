"""Programs and data that somebody wrote to see what happens: each gets a sentence, or is shown as what it is."""

from __future__ import annotations

import gc
import json
import os
import pty
import re
import resource
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

import cepc as python
from cepc.api import check_text
from cepc.cli import cepc
from cepc.diagnostics.render import errors
from cepc.errors import RunError
from cepc.files.read import ImportReader
from cepc.passes.strategy import strategy
from cepc.planning import plan_program
from cepc.resolve import check
from cepc_grammar.diagnostic import Diagnostic
from cepc_grammar.lost import NOTHING_LOST
from cepc_grammar.parser import parse
from cepc_grammar.source import Source
from cepc_grammar.tokens import MAX_TOKENS, tokenize
from cepc_runtime.enumerate.budget import TooManyPartialMatchesError, for_matches
from cepc_runtime.parts.classes import classes_of
from cepc_runtime.plan.as_json import to_text
from cepc_runtime.spark.kernel import run_partition
from cepc_runtime.spark.schema import JobError
from cepc_runtime.spark.settings import MOST as MOST_OF_SESSION
from cepc_runtime.spark.slices import MOST
from cepc_runtime.spark.streaming.outputs import check_columns
from cepc_runtime.streaming.advance import advance
from cepc_runtime.streaming.program import Program
from cepc_runtime.streaming.state import State
from cepc_runtime.streaming.ticks import END
from tests.generated_jobs import names_of_job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cepc_runtime.plan.physical import PhysicalPlan

pytestmark = pytest.mark.unhurried

STREAM = "STREAM s (at BIGINT, k STRING) EVENT TIME at UNIT s EVENT TYPE k;\n"
BELL = "\x1b[2J\x07\x9b1m\u202eevil\r"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cepc, list(arguments))


def diagnostics(text: str) -> list[str]:
    return [f"{d.code}: {d.title}" for d in check_text(text).diagnostics]


# ---- what reaches a terminal -----------------------------------------------------------------------------------------


def acting(text: str) -> set[str]:
    """What a terminal would act on."""
    return {c for c in text if not c.isprintable() and c != "\n"}


@pytest.mark.parametrize(
    "command",
    ["run p.cep --events e.jsonl --format table", "why p.cep --events e.jsonl", "analyze p.cep --events e.jsonl"],
)
def test_control_characters_of_data_and_names_are_shown_and_not_sent_to_the_terminal(command: str) -> None:
    name = BELL.replace("\r", "")
    Path("p.cep").write_text(
        f"{STREAM}QUERY `q{name}` RETURN MATCH k, A.k AS `c{name}` PATTERN ANY A WHERE [k] WITHIN 9 s;",
        encoding="utf-8",
    )
    Path("e.jsonl").write_text(json.dumps({"at": 1, "k": BELL + "\n"}))
    result = invoke(*command.split())
    assert result.exit_code == 0, result.stderr
    assert acting(result.stdout) == set()
    assert r"\x1b[2J\x07\x9b1m\u202eevil" in result.stdout


@pytest.mark.parametrize("form", ["text", "dot"])
def test_control_characters_of_names_are_shown_in_an_explanation(form: str) -> None:
    name = BELL.replace("\r", "")
    Path("p.cep").write_text(f"{STREAM}QUERY `q{name}` RETURN COUNT(*) PATTERN SEQ(`A{name}`, B) WITHIN 9 s;")
    result = invoke("explain", "p.cep", "--format", form)
    assert result.exit_code == 0, result.stderr
    assert acting(result.stdout) == set()
    assert r"\x1b[2J" in result.stdout


def at_a_terminal(*arguments: str) -> str:
    """What the command writes to a terminal; Click takes escape sequences out of what it writes to a pipe."""
    ours, its = pty.openpty()
    started = subprocess.Popen([sys.executable, "-m", "cepc", *arguments], stdin=its, stdout=its, stderr=its)
    os.close(its)
    read = b""
    with suppress(OSError):  # it has ended
        while some := os.read(ours, 1 << 16):
            read += some
    os.close(ours)
    assert started.wait(60) == 2, read
    return read.decode().replace("\r\n", "\n")


USAGE = {
    "a stream of the program": "run p.cep --events x=e.csv",
    "a query of the program": "run p.cep --events e.csv --query nope",
    "a query of the program, for a row": "why p.cep --events e.csv",
    "a query that is typed": "run p.cep --events e.csv --query {}",
    "a test of the program": "test p.cep --test nope",
    "a test that is typed": "test p.cep --test {}",
    "a pass that is typed": "run p.cep --events e.csv --no-pass {}",
    "an option that is typed": "check --{} p.cep",
    "an option before the command": "--{} check p.cep",
    "a value of an option": "check p.cep --format {}",
    "a pair that is none": "run p.cep --events e.csv --option {}",
    "a command that is typed": "{}",
    "a module that is typed": "doc {}",
    "a function that is typed": "functions {}",
}


@pytest.mark.parametrize("command", USAGE.values(), ids=USAGE)
def test_control_characters_in_a_usage_error_do_not_reach_a_terminal(command: str) -> None:
    name = "n\x1b[2J\x07\x9b1m\u202eevil"
    test = f"TEST `t{name}` FOR `q{name}` GIVEN (at, k) VALUES (1, 'A') EXPECT NO ROWS;"
    query = "QUERY `{}` RETURN COUNT(*) AS n PATTERN ANY A WITHIN 9 s SLIDE 9 s;"
    Path("p.cep").write_text(
        STREAM.replace("s", f"`s{name}`", 1) + query.format(f"q{name}") + query.format(f"r{name}") + test
    )
    Path("e.csv").write_text("at,k\n1,A\n")
    said = at_a_terminal(*(part.format(name) for part in command.split(" ")))
    assert acting(said) == set()
    assert r"\x1b[2J" in said, said


# ---- programs --------------------------------------------------------------------------------------------------------


def test_a_pattern_declared_twice_the_second_time_in_a_circle_is_declared_twice() -> None:
    assert "E0205: the pattern `a` is declared twice" in diagnostics("PATTERN a AS (b); PATTERN a AS (a);")
    assert "E0205: the pattern `a` is declared twice" in diagnostics("PATTERN a AS (a); PATTERN a AS (b);")


def test_a_chain_of_many_imports_is_followed() -> None:
    for i in range(1500):
        Path(f"m{i}.cep").write_text(f"IMPORT './m{i + 1}.cep';\nEVENT E{i} AS ANY WHERE TRUE;\n")
    Path("m1500.cep").write_text(STREAM)
    result = invoke("check", "m0.cep")
    assert (result.exit_code, "declared" in result.output) == (0, False), result.output[-500:]


HALVES = [
    (r"'\ud800'", ["`\\ud800` is half a character"]),
    (r"'a\U0000DFFFb'", ["`\\U0000DFFF` is half a character"]),
    (r"'\ude00\ud83d'", ["`\\ude00` is half a character", "`\\ud83d` is half a character"]),
    ("'\ud800'", ["`\\ud800` is half a character"]),
    ("'\\\ud800'", ["`\\ud800` is half a character"]),
    ("/* \ud800 */ ''", ["`\\ud800` is half a character"]),
    (r"'\ud83d\ude00'", []),
    (r"'\\ud800'", []),
    (r"r'\ud800'", []),
]


@pytest.mark.parametrize(("text", "said"), HALVES, ids=[ascii(text) for text, _ in HALVES])
def test_half_a_character_is_found_by_check(text: str, said: list[str]) -> None:
    found = check_text(f"{STREAM}EVENT A AS ANY WHERE k = {text};")
    assert [d.title for d in found.diagnostics] == said
    assert all(d.hint == "write the whole character, or its number: `\\U0001F600`" for d in found.diagnostics)


def test_two_halves_written_one_by_one_are_the_character() -> None:
    Path("p.cep").write_text(
        STREAM + r"QUERY q RETURN MATCH A.at AS a PATTERN ANY A WHERE A.k = '\ud83d\ude00' WITHIN 9 s;"
    )
    Path("e.jsonl").write_text(json.dumps({"at": 1, "k": "\U0001f600"}))
    assert '"a":1' in invoke("run", "p.cep", "--events", "e.jsonl", "--format", "jsonl").stdout


def test_a_column_that_the_directories_of_micro_batches_would_hide_is_refused() -> None:
    job = names_of_job(STREAM + "QUERY q RETURN COUNT(*) AS Batch PATTERN SEQ(A, B) WITHIN 9 s;")
    with pytest.raises(
        JobError, match=r"query q has a column `Batch`: .* out/q .* batch=…\) instead; rename it with AS"
    ):
        check_columns([part.streamed for part in job["JOB"].parts], ["q"], "out")


# ---- time and memory -------------------------------------------------------------------------------------------------

MEGABYTES = 500


def limited(*arguments: str, seconds: float = 30) -> subprocess.CompletedProcess[str]:
    """The command in a process that may have so much memory and processor time."""

    def limits() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
        resource.setrlimit(resource.RLIMIT_DATA, (MEGABYTES << 20, MEGABYTES << 20))

    return subprocess.run(
        [sys.executable, "-m", "cepc", *arguments], capture_output=True, text=True, timeout=120, preexec_fn=limits
    )


OPEN = {"single quotes": "'", "double quotes": '"', "backquotes": "`", "a comment": "/*"}


@pytest.mark.long
@pytest.mark.parametrize("opening", OPEN.values(), ids=OPEN)
def test_ten_megabytes_that_are_not_closed_take_little_memory_and_time(opening: str) -> None:
    Path("p.cep").write_text(f"{STREAM}{opening}{'x' * 10_000_000}")
    done = limited("check", "p.cep", seconds=10)
    assert "error[E0102]" in done.stdout, done.stderr
    assert len(done.stdout) < 1000


QUERY = f"{STREAM}QUERY q RETURN MATCH A.at AS a PATTERN A WHERE "
LARGE = {
    "a string of lines": ("k = '", "a b\n", 2_500_000, "E0102"),
    "a string of lines in double quotes": ('k = "', "a b\n", 2_500_000, "E0102"),
    "a name of lines": ("k = `", "a b\n", 2_500_000, "E0102"),
    "brackets": ("at = ", "(", 3_000_000, "E0109"),
    "values": ("at IN (1", ", 1", 1_000_000, "E0109"),
    "what is no token": ("", "@", 5_000_000, "E0109"),
    "words": ("", "a ", 3_000_000, "E0109"),
    "lines": ("", "\n", 10_000_000, "E0101"),
}


LARGE_IN_LONG = ("a string of lines in double quotes", "a name of lines", "values", "words")


@pytest.mark.parametrize(
    ("begun", "more", "times", "code"),
    [
        pytest.param(*large, marks=pytest.mark.long if name in LARGE_IN_LONG else (), id=name)
        for name, large in LARGE.items()
    ],
)
def test_a_statement_of_megabytes_is_one_error_in_seconds(begun: str, more: str, times: int, code: str) -> None:
    Path("p.cep").write_text(QUERY + begun + more * times)
    done = limited("check", "p.cep", seconds=10)
    assert f"error[{code}]" in done.stdout, done.stderr
    assert done.stdout.endswith("\n1 error\n"), done.stdout


@pytest.mark.parametrize("comment", ["--\n", pytest.param("/**/", marks=pytest.mark.long)])
def test_millions_of_comments_take_little_memory_and_time(comment: str) -> None:
    Path("p.cep").write_text(f"{STREAM}{comment * 3_000_000}")
    done = limited("check", "p.cep", seconds=20)
    assert done.stdout == "no errors\n", done.stdout + done.stderr


@pytest.mark.long
def test_the_comments_of_a_module_are_looked_through_once() -> None:
    Path("m.cep").write_text("-- of the pattern\nPATTERN p AS A;\n-- aside\n\n" * 30_000)
    done = limited("doc", "m.cep", seconds=20)
    assert "of the pattern" in done.stdout, done.stderr


LONG = "a" * 1_000_000
QUOTED = {
    "a text for a number": f"1 = '{LONG}'",
    "a text that is not closed": f"1 = '{LONG}",
    "a column": f"A.{LONG} = 1",
    "a variable": f"`{LONG}`.at = 1",
    "a function": f"{LONG}(1) = 1",
    "a word too many": f"at = 1 {LONG}",
    "a type": f"CAST(at AS {LONG}) = 1",
    "a number": f"A.at = 1{'0' * 1_000_000}",
    "a number with a suffix": f"A.at = 1{'0' * 1_000_000}L",
    "an interval": f"A.at = INTERVAL '1{'0' * 1_000_000} 1:02' DAY TO MINUTE",
    "a file": f"at = 1 WITHIN 9 s; IMPORT '{LONG}.cep'",
    "a module": f"at = 1 WITHIN 9 s; IMPORT {LONG}",
    "a stream": f"at = 1 WITHIN 9 s; STREAM {LONG} (at INT)",
    "an event type": f"at = 1 WITHIN 9 s; QUERY r RETURN MATCH at PATTERN {LONG}",
}


@pytest.mark.parametrize("text", QUOTED.values(), ids=QUOTED)
def test_a_diagnostic_quotes_no_megabyte(text: str) -> None:
    Path("p.cep").write_text(QUERY + text + " WITHIN 9 s;")
    for form in ("text", "json"):
        said = invoke("check", "p.cep", "--format", form).stdout
        assert "error" in said
        assert len(said) < 10_000, said[:2000]


def test_zeros_before_a_number_are_as_many_as_one_likes() -> None:
    zeros = "0" * 100_000
    text = f"{QUERY}A.at = {zeros}7 AND INTERVAL '{zeros}1 2:03' DAY TO MINUTE > INTERVAL '1' DAY WITHIN 9 s;"
    assert [title for title in diagnostics(text) if title.startswith("E")] == []


def test_a_usage_error_quotes_no_megabyte() -> None:
    Path("p.cep").write_text(f"{STREAM}QUERY {LONG} RETURN COUNT(*) AS n PATTERN SEQ(A, B) WITHIN 9 s;")
    said = invoke("run", "p.cep", "--query", "nope").stderr
    assert "there is no query `nope`" in said
    assert len(said) < 3000


@pytest.mark.long
def test_quotes_behind_one_that_nothing_closes_are_read_once() -> None:
    Path("p.cep").write_text(QUERY + "k = 'a\n" + "\\'\n\\'''\n" * 200_000)
    assert "error[E0102]" in limited("check", "p.cep", seconds=10).stdout


def test_what_follows_a_statement_that_is_too_long_is_read() -> None:
    values = "1, '; `' /* ; */, \";\", `;`, -- ;\n" * 60_000
    text = f"{QUERY}at IN ({values}1);\nQUERY r RETURN MATCH B.at AS a PATTERN B WHERE B.y = 1 WITHIN 9 s;"
    assert [d for d in diagnostics(text) if d.startswith("E")] == [
        "E0109: a statement of more than 250,000 words and marks",
        "E0204: unknown column `y`",
    ]


def test_what_a_statement_that_is_too_long_declares_is_not_missing() -> None:
    text = f"{STREAM}EVENT e AS ANY WHERE at IN ({'1, ' * 200_000}1);\nQUERY q RETURN COUNT(*) PATTERN e WITHIN 9 s;"
    assert [d.code for d in check_text(text).diagnostics if d.severity == "error"] == ["E0109"]


def test_queries_in_bare_form_are_counted_one_by_one() -> None:
    queries = "".join(f"q{i}\nRETURN COUNT(*) AS n\nPATTERN SEQ(A, B)\nWITHIN 9 s\n\n" for i in range(20_000))
    found = tokenize(Source("p.cep", STREAM + queries))
    assert (len(found.tokens) > MAX_TOKENS, found.too_long, found.diagnostics) == (True, (), ())


def test_the_first_hundred_mistakes_are_shown_and_the_others_counted() -> None:
    Path("p.cep").write_text(
        STREAM + "QUERY w RETURN COUNT(*) AS n PATTERN SEQ(A, B) WITHIN 9 s;"
        + "".join(f"QUERY q{i} RETURN COUNT(*) AS n PATTERN SEQ(A, B) WHERE A.y = 1 WITHIN 9 s;" for i in range(300))
    )  # fmt: skip
    said = invoke("check", "p.cep").stdout
    assert said.endswith("\n300 errors, 301 warnings, of which the first 100 are shown\n"), said[-200:]
    assert (said.count("error[E0204]"), said.count("warning[")) == (100, 0)
    assert invoke("check", "p.cep", "--format", "json").stdout.count("\n") == 601  # for programs: all of them


MISTAKES = {
    "a column": "QUERY q{i} RETURN COUNT(*) AS n PATTERN SEQ(A, B) WHERE A.y = 1 WITHIN 9 s;",
    "a keyword": "EVENT e{i} AS ANY WERE at = 1;",
    "a word too many": "EVENT e{i} AS ANY WHERE at = 1 1;",
    "one name": "EVENT e AS ANY WHERE at = 1;",
    "a file": "IMPORT './p{i}.cep';",
    "a module": "IMPORT pkg.p{i};",
    "a pattern that nobody uses": "PATTERN p{i} AS (A x) WHERE x.y = 1;",
    "a parameter that nobody uses": "PATTERN p{i}(t, u) AS (A, t x);",
}


def seconds(mistake: str, count: int) -> tuple[float, float]:
    """To parse so many mistakes, and to check what was parsed."""
    source = Source("p.cep", STREAM + "\n".join(mistake.format(i=i) for i in range(count)))
    gc.collect()
    gc.disable()  # what other tests have left is not looked through meanwhile
    started = time.process_time()
    parsed = parse(source)
    between = time.process_time()
    resolved = check(parsed.program, ImportReader(), NOTHING_LOST)
    ended = time.process_time()
    gc.enable()
    wrong = errors([*parsed.diagnostics, *resolved.diagnostics])
    assert len(wrong) in (count, count - 1), len(wrong)  # a name that is taken: all but the first
    return between - started, ended - between


FAST = ("a file",)


@pytest.mark.parametrize(
    "mistake",
    [pytest.param(text, marks=() if name in FAST else pytest.mark.long, id=name) for name, text in MISTAKES.items()],
)
def test_of_eight_times_as_many_mistakes_each_takes_no_longer(mistake: str) -> None:
    seconds(mistake, 10)
    few, many = (
        [min(measured) for measured in zip(*(seconds(mistake, count) for _ in range(times)), strict=True)]
        for count, times in ((125, 3), (1000, 3))
    )
    for once, often in zip(few, many, strict=True):
        assert often < 16 * once + 0.02, (once, often)


def test_what_lies_around_missing_files_is_looked_at_for_no_more_of_them_than_are_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("p1.cep").write_text("")
    looked: list[Path] = []

    def entries(folder: Path) -> list[Path]:
        looked.append(folder)
        return [Path("p1.cep")]

    monkeypatch.setattr("cepc.files.read._entries", entries)
    reader = ImportReader()
    found = [reader(f"missing{i}.cep") for i in range(300)]
    assert len(looked) == 100
    assert [one.hint for one in found if isinstance(one, Diagnostic)] == [
        *["the programs there are `p1.cep`"] * 100,
        *["name the file that holds the program, or `-` for standard input"] * 200,
    ]


@pytest.mark.long
def test_a_chain_of_three_thousand_events_is_checked_in_seconds() -> None:
    chain = "".join(f"EVENT E{i} AS E{i - 1} WHERE at > {i};\n" for i in range(1, 3000))
    Path("p.cep").write_text(
        f"{STREAM}EVENT E0 AS ANY WHERE at > 0;\n{chain}QUERY q RETURN COUNT(*) PATTERN SEQ(E0, E2999) WITHIN 9 s;"
    )
    assert limited("check", "p.cep", seconds=15).returncode == 0


def test_patterns_that_double_each_other_are_refused_without_being_written_out() -> None:
    doubled = "".join(f"PATTERN p{i} AS SEQ(p{i - 1}, p{i - 1});\n" for i in range(1, 100))
    started = time.process_time()
    found = check_text(STREAM + "PATTERN p0 AS SEQ(A, B);\n" + doubled, "p.cep")
    assert time.process_time() - started < 3
    assert [d.code for d in found.diagnostics if d.severity == "error"] == ["E0417"] * 87


@pytest.mark.long
def test_nested_repetitions_that_are_too_many_are_refused_in_seconds() -> None:
    Path("p.cep").write_text(f"{STREAM}QUERY q RETURN COUNT(*) PATTERN ((T{{1,12}}){{1,12}}){{1,12}} WITHIN 9 s;")
    assert "error[E0801]" in limited("check", "p.cep", seconds=15).stdout


def test_a_long_repetition_is_explained_in_seconds() -> None:
    Path("p.cep").write_text(f"{STREAM}QUERY q RETURN COUNT(*) PATTERN SEQ(A, B){{1,250}} WITHIN 9 s;")
    assert limited("explain", "p.cep", seconds=10).returncode == 0


IMPORTS = [
    ("a pipe", "pipe.cep", "`pipe.cep` cannot be read: it is no regular file"),
    ("a device", "/dev/zero.cep", "there is no file `/dev/zero.cep`"),
    ("a file of secrets", "/etc/passwd", "`/etc/passwd` does not have the name of a program"),
    ("a link to it", "link.cep", "`link.cep` does not have the name of a program"),
    ("a link to a link to it", "twice.cep", "`twice.cep` does not have the name of a program"),
    ("a link to itself", "loop.cep", "`loop.cep` cannot be read: "),
]


@pytest.mark.parametrize(("file", "said"), [case[1:] for case in IMPORTS], ids=[case[0] for case in IMPORTS])
def test_what_is_no_program_is_not_imported_and_not_shown(file: str, said: str) -> None:
    os.mkfifo("pipe.cep")
    for link, target in (("link.cep", "/etc/passwd"), ("twice.cep", "link.cep"), ("loop.cep", "loop.cep")):
        Path(link).symlink_to(target)
    Path("p.cep").write_text(f"IMPORT '{file}';\n{STREAM}")
    done = limited("check", "p.cep")
    assert done.returncode == 1
    assert said in done.stdout
    assert "root" not in done.stdout


def test_a_link_to_a_program_is_imported() -> None:
    Path("target.cep").write_text(STREAM)
    Path("link.cep").symlink_to("target.cep")
    Path("p.cep").write_text("IMPORT './link.cep';\nQUERY q RETURN COUNT(*) AS n PATTERN SEQ(A, B) WITHIN 9 s;")
    assert invoke("check", "p.cep").exit_code == 0


RUNAWAY = {
    "2^n rows": ("RETURN MATCH COUNT(A) AS n PATTERN A+", range(64), 1),
    "rows of one instant": ("RETURN MATCH A.at AS a PATTERN AND(A, B x, A y, B z)", [1] * 400, 2),
    "partial matches that are no rows": ("RETURN MATCH C.at AS a PATTERN SEQ(A+, C)", range(64), 1),
}


@pytest.mark.parametrize(("query", "times", "types"), RUNAWAY.values(), ids=RUNAWAY)
def test_matches_without_end_are_an_error_that_says_how_to_go_on(query: str, times: Any, types: int) -> None:
    Path("p.cep").write_text(f"{STREAM}QUERY q {query} WITHIN 1 h;")
    Path("e.csv").write_text("at,k\n" + "".join(f"{at},{'AB'[i % types]}\n" for i, at in enumerate(times)))
    result = invoke("run", "p.cep", "--events", "e.csv", "--most", "100000")
    assert (result.exit_code, result.stdout) == (1, "")
    most = 100000 + 20 * len(times)
    assert "error[E0803]: `q` has too many matches" in result.stderr
    assert f"more than {most:,} partial matches were found" in result.stderr
    assert "`--most 1000000`, in Python `most=1000000`, lets the run go on for longer" in result.stderr


def test_many_events_with_few_matches_of_each_are_not_too_many() -> None:
    Path("p.cep").write_text(f"{STREAM}QUERY q RETURN MATCH A.at AS a PATTERN SEQ(A, A b) SELECT NEXT WITHIN 9 s;")
    Path("e.csv").write_text("at,k\n" + "".join(f"{at},A\n" for at in range(3000)))
    result = invoke("run", "p.cep", "--events", "e.csv", "--most", "1")
    assert (result.exit_code, result.stdout.count("\n")) == (0, 2999), result.stderr


def test_the_budget_of_an_aggregate_query_is_the_option_too() -> None:
    Path("p.cep").write_text(
        f"{STREAM}QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A+, B, C) WHERE A.at < C.at WITHIN 1 h;"
    )
    Path("e.csv").write_text("at,k\n" + "".join(f"{at},A\n" for at in range(12)))
    result = invoke("run", "p.cep", "--events", "e.csv", "--most", "1000")
    assert "more than 1,000 had to be listed" in result.stderr
    assert "; `--most 10000`, in Python `most=10000`, lets the run go on for longer" in result.stderr
    assert invoke("run", "p.cep", "--events", "e.csv", "--most", "10000").exit_code == 0


@pytest.mark.long
def test_python_has_the_same_budget() -> None:
    compiled = python.compile(f"{STREAM}QUERY q RETURN MATCH COUNT(A) AS n PATTERN A+ WITHIN 1 h;")
    events = pa.table({"at": pa.array(range(40), pa.int64()), "k": ["A"] * 40})
    with pytest.raises(RunError, match="`most=100000000` lets the run go on"):
        compiled.run(events)
    with pytest.raises(RunError, match="more than 1,800 partial matches were found"):
        compiled.run(events, most=1000)
    assert compiled.run(events.slice(0, 8), most=1000)["q"].num_rows == 2**8 - 1


def running_away(query: str, times: Any, types: int) -> tuple[PhysicalPlan, pa.Table]:
    compiled = python.compile(f"{STREAM}QUERY q {query} WITHIN 1 h;")
    plan = strategy(plan_program(compiled.program).plans[0], "local")
    return plan, pa.table({"at": pa.array(times, pa.int64()), "k": ["AB"[i % types] for i in range(len(times))]})


@pytest.mark.parametrize("most", [10, MOST])
@pytest.mark.parametrize("case", RUNAWAY.values(), ids=RUNAWAY)
def test_a_task_stops_where_its_matches_have_no_end(case: tuple[str, Any, int], most: int) -> None:
    plan, events = running_away(*case)
    found = run_partition(
        events.to_batches(), to_text(plan), classes_of(plan.queries), None, most=most, limit=100_000
    )  # with a most of 10 events, in pieces
    error = [row["error"] for batch in found for row in batch.to_pylist()][-1]
    assert re.match(r"query q: more than 10\d,\d{3} partial matches had to be enumerated", error)
    assert error.endswith("; a larger --most, or spark.cepc.most in Spark's configuration, lets it go on for longer")


@pytest.mark.parametrize("case", RUNAWAY.values(), ids=RUNAWAY)
def test_a_stream_stops_where_its_matches_have_no_end(case: tuple[str, Any, int]) -> None:
    plan, events = running_away(*case)
    program = Program(plan, classes_of(plan.queries), most=100_000)
    with pytest.raises(TooManyPartialMatchesError, match=r"more than 10\d,\d{3} partial matches"):
        advance(program, State(), [events], END)


@pytest.mark.long
@pytest.mark.spark
def test_on_spark_the_budget_is_the_option_too(spark: SparkSession) -> None:
    assert spark.version
    Path("p.cep").write_text(f"{STREAM}QUERY q RETURN MATCH COUNT(A) AS n PATTERN A+ WITHIN 1 h;")
    Path("e.csv").write_text("at,k\n" + "".join(f"{at},A\n" for at in range(40)))
    asked = (
        "run",
        "p.cep",
        "--events",
        str(Path("e.csv").resolve()),
        "--engine",
        "spark",
    )  # Spark is at home elsewhere
    try:
        result = invoke(*asked, "--most", "1000")
    finally:
        spark.conf.unset(MOST_OF_SESSION)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "query q: more than 1,800 partial matches had to be enumerated" in " ".join(result.stderr.split())
    assert invoke(*asked, "--most", "0").exit_code == 2


def test_the_budget_does_not_grow_with_events_without_end() -> None:
    assert for_matches(10, 100) == 2_010
    assert for_matches(10, 10_000_000) == for_matches(10, 100_000_000) == 50_000_010
    assert for_matches(None, 5) is None
