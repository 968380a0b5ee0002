"""Cures of a run name its settings as the command has them, and for Python as Python has them; what is said of a stream
is said of a table in SQL.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cepc import run_settings, stream_words
from cepc.run_settings import in_python
from cepc.stream_words import in_sql
from cepc_grammar.diagnostic import Diagnostic
from cepc_grammar.source import NOWHERE

from .sources import nodes

if TYPE_CHECKING:
    from cepc.other_words import OtherWords

COMPILER = Path(run_settings.__file__).parent

SAID = {
    "`--input-format csv`, `json` or `avro` names another format": "FROM in the STREAM names another format: `csv`, "
    "`json` or `avro`",
    "choose one: `--input-format csv`": "choose one: `FROM csv 'PATH'` in the STREAM",
    "take that line out, and then `--option 'delimiter=;'`, or `OPTIONS (delimiter = ';')` after FROM": "take that line "
    "out, and then `OPTIONS (delimiter = ';')` after FROM",
    "if it is Latin-1, add `--option encoding=latin-1`; cp1252 too": "if it is Latin-1, add `OPTIONS (encoding = "
    "'latin-1')` after FROM; cp1252 too",
    "fewer begin; `--most 100`, in Python `most=100`, lets the run go on": "fewer begin; `most=100` lets the run go on",
    "run it with `--engine spark`; `cepc functions` lists more": "run it with `compiled.spark(events)`; "
    "`cepc functions` lists more",
    "a wider type, `DECIMAL(38, 0)`": "a wider type, `DECIMAL(38, 0)`",
}


@pytest.mark.parametrize(("command", "python"), SAID.items())
def test_a_cure_is_said_in_words_of_python(command: str, python: str) -> None:
    found = in_python([Diagnostic("E0704", "title", NOWHERE, hint=command, notes=(command,))])
    assert [(one.hint, one.notes) for one in found] == [(python, (python,))]


@pytest.mark.parametrize("words", run_settings.EVERY, ids=lambda words: words.said)
def test_every_setting_is_found_among_the_others(words: OtherWords) -> None:
    fields = fields_of(words)
    hint = f"so: {words.of(**fields)} and no more"
    (found,) = in_python([Diagnostic("E0704", "title", NOWHERE, hint=hint)])
    assert found.hint == f"so: {words.instead.format(**fields)} and no more"
    assert "--" not in found.hint


@pytest.mark.parametrize("words", stream_words.EVERY, ids=lambda words: words.said)
def test_what_is_said_of_a_stream_is_said_of_a_table(words: OtherWords) -> None:
    fields = fields_of(words)
    said = in_sql(f"so: {words.of(**fields)} and no more")
    assert said == f"so: {words.instead.format(**fields)} and no more"
    assert not STREAMS.search(said)


def fields_of(words: OtherWords) -> dict[str, str]:
    return {name: f"the_{name}" for name in re.findall(r"\{(\w+)\}", words.said)}


STREAMS = re.compile(r"\bSTREAM\b|\bstream `|\bFROM \{")


def test_streams_are_named_in_words_that_tables_have_too() -> None:
    """So that what is written and what is looked for cannot part. The others are of programs alone."""
    assert {(module, text) for module, text in texts_of("reading", "running") if STREAMS.search(text)} == {
        ("reading/messages.py", "there are no columns for a STREAM in ")
    }  # a guess, which is none of SQL


def test_options_that_python_has_otherwise_are_named_by_their_settings() -> None:
    """So here as well. The others are of the command alone."""
    options = re.compile(r"`--(input-format|option|most|memory|skip-bad|dead|engine)\b")
    found = {
        (module, text.split("`--")[0])
        for module, text in texts_of("reading", "running", "files")
        if options.search(text)
    }
    assert found == {
        ("reading/messages.py", "` is a function of Spark's, which "),
        ("reading/messages.py", "Spark does not say which records are bad, so "),
        ("reading/messages.py", "copy them here; or compile the program with "),
        ("reading/messages.py", "leave "),
    }


def texts_of(*folders: str) -> set[tuple[str, str]]:
    """Modules and the texts in them, docstrings left out."""
    return {
        (str(path.relative_to(COMPILER)), node.value)
        for folder in folders
        for path in sorted((COMPILER / folder).rglob("*.py"))
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and not node.value.rstrip().endswith(".")
    }
