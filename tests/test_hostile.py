"""Programs and data that somebody wrote to see what happens: each gets a sentence, or is shown as what it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cepc.api import check_text
from cepc.cli import cepc
from cepc.codegen.compiling import job_of
from cepc_runtime.spark.schema import JobError
from cepc_runtime.spark.streaming.arguments import check_columns

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
    checked = check_text(STREAM + "QUERY q RETURN COUNT(*) AS Batch PATTERN SEQ(A, B) WITHIN 9 s;")
    assert checked.program is not None
    job: dict[str, Any] = {"__name__": "cepc_job"}
    exec(job_of(checked.program, checked.sources).text, job)
    with pytest.raises(
        JobError, match=r"query q has a column Batch, .* out/q .* in batch=…: give it another name with AS"
    ):
        check_columns(job["STREAMED"], ["q"], "out")
