"""The cures of a run as Python has them: arguments of `Compiled.run` and clauses of the program, where the command has
options.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ..reading.messages import TREATMENTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cepc_grammar.diagnostic import Diagnostic

_TREATMENTS: Final = (
    "`run(…, skip_bad=True)` passes over records that are no events, `dead='FILE'` writes them to a file"
)

_WORDS: Final = tuple(
    (re.compile(pattern), said)
    for pattern, said in (
        (re.escape(TREATMENTS), _TREATMENTS),
        (r"add `--input-format \w+` with `--option [^`]*`, or write", "write"),
        (r"add `--input-format (\w+)`", r"add `FROM \1 'PATH'` to the STREAM, and call `run` without a path"),
        (r"`--input-format (\w+)`((?:, `\w+`)*(?: or `\w+`)?)", r"`FROM \1 'PATH'`\2 in the STREAM"),
        (r"`--option [^`]*`,? or (`OPTIONS|OPTIONS \([^)]*\))", r"\1"),
        (r"`--option (\w+)=([^`]*)`", r"`OPTIONS (\1 = '\2')` after FROM"),
        (r"`--most \d+`, in Python (`most=\d+`),", r"\1"),
        (r"`--memory`, in Python ", ""),
        (r"`--engine spark`", "`compiled.spark(events)`"),
        (r"what `--events` or FROM name", "the events"),
    )
)


def in_python(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The diagnostics, with arguments in place of the command's options."""
    return tuple(replace(one, hint=_said(one.hint), notes=tuple(map(_said, one.notes))) for one in diagnostics)


def _said(text: str) -> str:
    """The text in Python's words.

    >>> _said("it looks like CSV: add `--input-format csv`")
    "it looks like CSV: add `FROM csv 'PATH'` to the STREAM, and call `run` without a path"
    >>> _said("add `--option encoding=UTF-16`, or `OPTIONS (encoding = 'UTF-16')` after FROM")
    "add `OPTIONS (encoding = 'UTF-16')` after FROM"
    """
    if "--" not in text:
        return text
    for pattern, said in _WORDS:
        text = pattern.sub(said, text)
    return text
