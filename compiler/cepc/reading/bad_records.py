"""Records that are no events: they stop the run, are passed over, or are set apart in a file.

A reader leaves them out of its batches and says what is wrong with each (`Wrong`). Where they stand, and what they look
like, is found afterwards by one more look at the file (`Reader.shown`), for as many as are asked for.
"""

from __future__ import annotations

import json
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cepc_grammar.source import NOWHERE, Source, Span
from cepc_runtime.cheap_dataclass import dataclass

from .. import run_settings as settings
from ..errors import DataError
from ..files.messages import among_events, unwritable
from ..files.write import is_in, other_contents
from . import messages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_runtime.sql.types import DataType

    Shown = Callable[[Sequence["Wrong"]], Iterator["BadRecord"]]

MOST: Final = 20
"""So many are said when they stop the run."""
WHOLE: Final = 3
"""So many of them with their lines."""
BEGINNING: Final = '{"file": '
"""How each line of a file of bad records begins."""


@dataclass(frozen=True, slots=True)
class NotARecord:
    """It is no `what`, at a column of its line if that is known."""

    record: int
    what: str
    why: str
    at: int | None = None
    hint: str = ""


@dataclass(frozen=True, slots=True)
class NotAValue:
    """Its value of a column, `found`, is none of the column's type. It stands in its line as `written`."""

    record: int
    column: str
    type: DataType
    found: str
    why: str
    written: str
    pattern: str | None = None  # that options say for its type


@dataclass(frozen=True, slots=True)
class Said:
    """What is wrong with it is about more than a place in its line: a column computed from it, the end of its file.

    `why` is the reason alone.
    """

    record: int
    problem: Diagnostic
    why: str


Wrong = NotARecord | NotAValue | Said
"""What is wrong with record number `record` of a file: of its lines, of a table's rows, after the header of a CSV file,
from 1.
"""


@dataclass(frozen=True, slots=True)
class RecordLine:
    """A line of a file, by its number, and what of it is meant."""

    number: int
    text: str
    at: tuple[int, int]


@dataclass(frozen=True, slots=True)
class BadRecord:
    """One that is no event, with its line, if it has one."""

    file: str
    wrong: Wrong
    line: RecordLine | None = None

    def problem(self, place: Span) -> Diagnostic:
        """What is said of it, if that is its place."""
        match self.wrong:
            case NotARecord():
                return messages.malformed(place, self.wrong.what, self.wrong.why, self.wrong.hint)
            case NotAValue():
                found = f"`{self.wrong.found}`"
                return messages.bad_value(
                    place, self.wrong.column, self.wrong.type, found, self.wrong.why, self.wrong.pattern
                )
            case Said():
                return replace(self.wrong.problem, span=place) if self.line else self.wrong.problem

    def why(self) -> str:
        """The reason alone."""
        return self.wrong.why if isinstance(self.wrong, Said) else self.problem(NOWHERE).label

    def sentence(self) -> str:
        """What is said of it, in a line."""
        problem = self.problem(Span(0, 0, self.file))
        is_said = isinstance(self.wrong, NotAValue) or self.why() in problem.title
        why = "" if is_said else f" ({self.why()})"
        where = f"line {self.line.number}" if self.line else f"record {self.wrong.record}"
        return f"{self.file + ', ' if self.file else ''}{where}: {problem.title}{why}"  # a table has no name


@dataclass(frozen=True, slots=True)
class Stop:
    """The first of them stop the run."""


@dataclass(frozen=True, slots=True)
class PassOver:
    """They are counted, and the first are shown."""


@dataclass(frozen=True, slots=True)
class SetApart:
    """They are added to a file, as JSON lines."""

    path: str


Treatment = Stop | PassOver | SetApart
STOP: Final = Stop()


def treatment(*, skip_bad: bool = False, dead: str | None = None, events: Iterable[str] = ()) -> Treatment:
    """What is asked for. A file for them is empty at first. Raises DataError where it cannot be written, has other
    contents, or is where `events` are read.
    """
    if dead is None:
        return PassOver() if skip_bad else STOP
    if any(is_in(dead, path) for path in events):
        raise DataError([among_events(dead, "bad records", "file")])
    if (other := other_contents(dead, BEGINNING, "file of bad records")) is not None:
        raise DataError([other])
    try:
        Path(dead).write_text("")
    except OSError as error:
        raise DataError([unwritable(dead, error)]) from None
    return SetApart(dead)


@dataclass
class BadRecords:
    """Those of one stream, while its files are read one after the other. `count` of them were passed over."""

    stream: str
    treatment: Treatment = STOP
    count: int = 0
    _first: list[BadRecord] = field(default_factory=list)
    _out: Any = None

    @property
    def most(self) -> int | None:
        """How many more are looked for; None: all there are."""
        return MOST - len(self._first) if isinstance(self.treatment, Stop) else None

    def take(self, wrong: Sequence[Wrong], shown: Shown) -> None:
        """What is wrong in a file. Raises DataError when it is enough, or cannot be set apart."""
        if not wrong:
            return
        self.count += len(wrong)
        wrong = sorted(wrong, key=lambda one: one.record)
        if isinstance(self.treatment, SetApart):
            self._write(self.treatment.path, shown(wrong))
            return
        room = (MOST if isinstance(self.treatment, Stop) else WHOLE) - len(self._first)
        self._first += shown(wrong[:room])
        if self.most == 0:
            self.end()

    def end(self) -> tuple[Diagnostic, ...]:
        """When all files have been read: a warning of those that were passed over. Raises DataError where they stop
        the run.
        """
        if self._out is not None:
            self._out.close()
        if not self.count:
            return ()
        match self.treatment:
            case SetApart(path):
                return (messages.passed_over(self.stream, self.count, f"they are in `{path}`", ()),)
            case PassOver():
                first = [bad.sentence() for bad in self._first]
                return (messages.passed_over(self.stream, self.count, "", first),)
            case Stop():
                raise _stopped(self._first)

    def _write(self, path: str, records: Iterator[BadRecord]) -> None:
        try:
            if self._out is None:
                self._out = Path(path).open("a", encoding="utf-8", errors="replace")  # noqa: SIM115 - until the end
            for bad in records:
                problem = bad.problem(NOWHERE)
                said = {
                    "file": bad.file, "record": bad.wrong.record, "line": bad.line and bad.line.number,
                    "problem": problem.title, "why": bad.why() or None, "text": bad.line and bad.line.text,
                }  # fmt: skip
                self._out.write(json.dumps(said, ensure_ascii=False) + "\n")
        except OSError as error:
            raise DataError([unwritable(path, error)]) from None


def _stopped(first: Sequence[BadRecord]) -> DataError:
    """The first few with their lines, and a line for each of the others."""
    whole = sorted(first[:WHOLE], key=lambda bad: (bad.file, bad.line.number if bad.line else 0))
    texts: dict[str, str] = {}
    problems = []
    for bad in whole:
        text = texts.get(bad.file, "")
        if bad.line is None:
            problems.append(bad.problem(Span(0, 0, bad.file)))
            continue
        text += "\n" * (bad.line.number - 1 - text.count("\n"))
        start = len(text)
        texts[bad.file] = text + bad.line.text.rstrip("\r")
        problems.append(bad.problem(Span(start + bad.line.at[0], start + bad.line.at[1], bad.file)))
    notes = [bad.sentence() for bad in first[WHOLE:]]
    if len(first) >= MOST:
        notes.append("these are the first twenty")
    problems[-1] = replace(problems[-1], notes=(*problems[-1].notes, *notes, settings.TREATMENTS.of()))
    return DataError(problems, {name: Source(name, _with_an_end(text)) for name, text in texts.items()})


def _with_an_end(text: str) -> str:
    """With a line behind a last one of blanks: a span in the blank rest of a text is said to be where it ends."""
    return text if text.rpartition("\n")[2].strip() else f"{text}\n…"
