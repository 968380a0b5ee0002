"""Cures of a run name its settings as the command has them, and for Python as Python has them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from cepc import run_settings
from cepc.run_settings import EVERY, SettingWords, in_python
from cepc_grammar.diagnostic import Diagnostic
from cepc_grammar.source import NOWHERE

from .sources import nodes

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


@pytest.mark.parametrize("setting", EVERY, ids=lambda setting: setting.command)
def test_every_setting_is_found_among_the_others(setting: SettingWords) -> None:
    fields = {name: f"the_{name}" for name in re.findall(r"\{(\w+)\}", setting.command)}
    hint = f"so: {setting.of(**fields)} and no more"
    (found,) = in_python([Diagnostic("E0704", "title", NOWHERE, hint=hint)])
    assert found.hint == f"so: {setting.python.format(**fields)} and no more"
    assert "--" not in found.hint


def test_options_that_python_has_otherwise_are_named_by_their_settings() -> None:
    """So that what is written and what is looked for cannot part. The others are of the command alone."""
    options = re.compile(r"`--(input-format|option|most|memory|skip-bad|dead|engine)\b")
    found = {
        (str(path.relative_to(COMPILER)), node.value)
        for folder in ("reading", "running", "files")
        for path in sorted((COMPILER / folder).rglob("*.py"))
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and options.search(node.value)
    }
    assert {(module, text.split("`--")[0]) for module, text in found} == {
        ("reading/messages.py", "` is a function of Spark's, which "),
        ("reading/messages.py", "Spark does not say which records are bad, so "),
        ("reading/messages.py", "copy them here; or compile the program with "),
        ("reading/messages.py", "leave "),
    }
