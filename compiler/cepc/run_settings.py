"""How a cure names a setting of a run: as an option of the command, and as Python has it, where it is an argument of
`Compiled.run` or a clause of the program.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from .other_words import OtherWords, in_other_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cepc_grammar.diagnostic import Diagnostic


TREATMENTS: Final = OtherWords(
    "`--skip-bad` passes over records that are no events, `--dead FILE` writes them to a file",
    "`run(…, skip_bad=True)` passes over records that are no events, `dead='FILE'` writes them to a file",
)
TABS: Final = OtherWords(
    r"add `--input-format csv` with `--option 'delimiter=\t'`, or write `FROM CSV '…' OPTIONS (delimiter = '\t')`",
    r"write `FROM CSV '…' OPTIONS (delimiter = '\t')`",
)
ADDED_FORMAT: Final = OtherWords(
    "add `--input-format {form}`", "add `FROM {form} 'PATH'` to the STREAM, and call `run` without a path"
)
ANOTHER_FORMAT: Final = OtherWords(
    "`--input-format {form}` names another format", "FROM in the STREAM names another format: `{form}`"
)
FORMAT: Final = OtherWords("`--input-format {form}`", "`FROM {form} 'PATH'` in the STREAM")
FORMAT_OF_OTHERS: Final = OtherWords("`--input-format`", "FROM in the STREAM, with a format,")
OPTION_OR_CLAUSE: Final = OtherWords(
    "`--option {key}={value}`, or `OPTIONS ({key} = '{value}')` after FROM", "`OPTIONS ({key} = '{value}')` after FROM"
)
DELIMITER: Final = OtherWords(
    "`--option 'delimiter={value}'`, or `OPTIONS (delimiter = '{value}')` after FROM",
    "`OPTIONS (delimiter = '{value}')` after FROM",
)
FORM_OF_TIMES: Final = OtherWords(
    "`--option {key}=…` or OPTIONS ({key} = '…') says another form", "OPTIONS ({key} = '…') says another form"
)
OPTION: Final = OtherWords("`--option {key}={value}`", "`OPTIONS ({key} = '{value}')` after FROM")
MOST: Final = OtherWords("`--most {number}`, in Python `most={number}`,", "`most={number}`")
MEMORY: Final = OtherWords("`--memory`, in Python `memory=…`", "`memory=…`")
ON_SPARK: Final = OtherWords("`--engine spark`", "`compiled.spark(events)`")
NAMED_EVENTS: Final = OtherWords("what `--events` or FROM name", "the events")

EVERY: Final = (
    TREATMENTS, TABS, ADDED_FORMAT, ANOTHER_FORMAT, FORMAT, FORMAT_OF_OTHERS, OPTION_OR_CLAUSE, DELIMITER,
    FORM_OF_TIMES, OPTION, MOST, MEMORY, ON_SPARK, NAMED_EVENTS,
)  # fmt: skip
"""Those that others begin with come first."""


def in_python(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The diagnostics of a run that Python began."""
    return tuple(replace(one, hint=_said(one.hint), notes=tuple(map(_said, one.notes))) for one in diagnostics)


def _said(text: str) -> str:
    """The text in Python's words.

    >>> _said("it looks like CSV: add `--input-format csv`")
    "it looks like CSV: add `FROM csv 'PATH'` to the STREAM, and call `run` without a path"
    """
    return in_other_words(text, EVERY) if "--" in text else text
