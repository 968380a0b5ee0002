"""How a cure names a setting of a run: as an option of the command, and as Python has it, where it is an argument of
`Compiled.run` or a clause of the program.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cepc_grammar.diagnostic import Diagnostic


@dataclass(frozen=True, slots=True)
class SettingWords:
    """What stands in texts for the command and for Python, both with the same fields in braces."""

    command: str
    python: str

    def of(self, **fields: str) -> str:
        """As the command says it, which is how all cures are written first.

        >>> MOST.of(number="100")
        '`--most 100`, in Python `most=100`,'
        """
        return self.command.format(**fields)

    def in_python(self, text: str) -> str:
        """The text with Python's words in place of the command's.

        >>> MOST.in_python("too many: `--most 100`, in Python `most=100`, lets the run go on")
        'too many: `most=100` lets the run go on'
        """
        return re.sub(self._pattern(), lambda found: self.python.format(**found.groupdict()), text)

    def _pattern(self) -> str:
        names: set[str] = set()
        parts = []
        for place, part in enumerate(re.split(r"\{(\w+)\}", self.command)):
            if place % 2 == 0:
                parts.append(re.escape(part))
            else:
                parts.append(f"(?P={part})" if part in names else f"(?P<{part}>.*?)")
                names.add(part)
        return "".join(parts)


TREATMENTS: Final = SettingWords(
    "`--skip-bad` passes over records that are no events, `--dead FILE` writes them to a file",
    "`run(…, skip_bad=True)` passes over records that are no events, `dead='FILE'` writes them to a file",
)
TABS: Final = SettingWords(
    r"add `--input-format csv` with `--option 'delimiter=\t'`, or write `FROM CSV '…' OPTIONS (delimiter = '\t')`",
    r"write `FROM CSV '…' OPTIONS (delimiter = '\t')`",
)
ADDED_FORMAT: Final = SettingWords(
    "add `--input-format {form}`", "add `FROM {form} 'PATH'` to the STREAM, and call `run` without a path"
)
ANOTHER_FORMAT: Final = SettingWords(
    "`--input-format {form}` names another format", "FROM in the STREAM names another format: `{form}`"
)
FORMAT: Final = SettingWords("`--input-format {form}`", "`FROM {form} 'PATH'` in the STREAM")
FORMAT_OF_OTHERS: Final = SettingWords("`--input-format`", "FROM in the STREAM, with a format,")
OPTION_OR_CLAUSE: Final = SettingWords(
    "`--option {key}={value}`, or `OPTIONS ({key} = '{value}')` after FROM", "`OPTIONS ({key} = '{value}')` after FROM"
)
DELIMITER: Final = SettingWords(
    "`--option 'delimiter={value}'`, or `OPTIONS (delimiter = '{value}')` after FROM",
    "`OPTIONS (delimiter = '{value}')` after FROM",
)
FORM_OF_TIMES: Final = SettingWords(
    "`--option {key}=…` or OPTIONS ({key} = '…') says another form", "OPTIONS ({key} = '…') says another form"
)
OPTION: Final = SettingWords("`--option {key}={value}`", "`OPTIONS ({key} = '{value}')` after FROM")
MOST: Final = SettingWords("`--most {number}`, in Python `most={number}`,", "`most={number}`")
MEMORY: Final = SettingWords("`--memory`, in Python `memory=…`", "`memory=…`")
ON_SPARK: Final = SettingWords("`--engine spark`", "`compiled.spark(events)`")
NAMED_EVENTS: Final = SettingWords("what `--events` or FROM name", "the events")

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
    for setting in EVERY if "--" in text else ():
        text = setting.in_python(text)
    return text
