"""`%load_ext cepc`, then a program in a cell under `%%cep`: its rows as tables, below them what its queries share as a
picture.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import field
from html import escape
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from cepc_runtime.cheap_dataclass import dataclass

from ..diagnostics.near import did_you_mean
from ..errors import CepcError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cepc_grammar.source import Source

    from ..compiled_program import Compiled
    from ..model import CheckedProgram

AT_MOST = 20  # rows of a query that a notebook shows


class _Usage(Exception):  # noqa: N818 - what a wrong line is answered with
    """The line behind %%cep cannot be read."""


class _Line(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _Usage(f"{message}\n{self.format_usage().strip()}")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:  # noqa: ARG002 - for --help
        raise _Usage(message or "")  # of --help, which has been printed


@dataclass(frozen=True)
class CellOutput:
    """What a cell shows: what its tests say, the rows, if it was told where events are, and the picture."""

    rows: Mapping[str, Any]
    picture: str
    queries: tuple[str, ...] = ()
    tests: str = field(default="", repr=False)
    warnings: str = field(default="", repr=False)

    def __repr__(self) -> str:
        parts = [text.rstrip("\n") for text in (self.warnings, self.tests) if text]
        parts += (
            f"{name}  {_count(table)}\n{first_rows(table).to_string(index=False)}" for name, table in self.rows.items()
        )
        if not self.rows:
            parts.append(f"checked: {', '.join(self.queries)}; with events, `--events EVENTS`, they give rows")
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        parts = [f"<pre>{escape(text)}</pre>" for text in (self.warnings, self.tests) if text]
        for name, table in self.rows.items():
            parts.append(f"<h4>{escape(name)} <small>{_count(table)}</small></h4>")
            parts.append(first_rows(table).to_html(index=False))
        from ..summary import image

        opened = "" if self.rows else " open"
        parts.append(f"<details{opened}><summary>The queries</summary>{image(self.picture)}</details>")
        return "\n".join(parts)


def _count(table: Any) -> str:
    rows = "1 row" if table.num_rows == 1 else f"{table.num_rows:,} rows"
    return rows if table.num_rows <= AT_MOST else f"{rows}, the first {AT_MOST}"


def first_rows(table: Any) -> Any:
    """The first rows as a frame of texts, those of the command line: as values pandas would round integers beside a
    null, and take NaN for one.
    """
    import pandas as pd

    from cepc_runtime.results.as_text import as_text

    first = table.slice(0, AT_MOST)
    texts = {name: as_text(column, iso=False) for name, column in zip(first.column_names, first.columns, strict=True)}
    return pd.DataFrame(
        {name: ["NULL" if text is None else text for text in column] for name, column in texts.items()}, dtype="object"
    )


def load(shell: Any) -> None:
    """Give the shell the magic."""
    shell.register_magic_function(magic(shell.user_ns), "cell", "cep")


def magic(variables: dict[str, Any]) -> Callable[[str, str], CellOutput | None]:
    """The magic over a notebook's variables: events are looked for among them, and rows put there."""
    reader = _Line(prog="%%cep", add_help=True)
    reader.add_argument("name", nargs="?", help="the variable that gets the rows: a dictionary of tables by query")
    reader.add_argument(
        "-e", "--events", action="append", default=[], metavar="[STREAM=]EVENTS",
        help="a variable with a table or a frame, or a path; without it the program is checked and its picture shown",
    )  # fmt: skip
    reader.add_argument("-q", "--query", action="append", help="run this query; may be given several times")

    def cep(line: str, cell: str) -> CellOutput | None:
        """A program of cepc: checked, run over events, its rows shown."""
        try:
            asked = reader.parse_args(_words(line))
            return _run(cell, asked, variables)
        except (_Usage, CepcError) as error:
            if str(error):
                print(error, file=sys.stderr)
        return None

    return cep


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        lost = "a `\\` at the end of" if line.endswith("\\") else "a quote is not closed in"
        raise _Usage(f"{lost} `{line}`: take it out, or write it once more") from None


def _run(cell: str, asked: argparse.Namespace, variables: dict[str, Any]) -> CellOutput:
    from ..api import check_text
    from ..compiled_program import Compiled
    from ..errors import ProgramError
    from ..explaining.as_svg import to_svg
    from ..explaining.explanation import explain
    from ..running.messages import nothing_to_run
    from ..shared_plans import plan_shared

    if asked.name is not None and (not asked.name.isidentifier() or iskeyword(asked.name)):
        raise _Usage(f"`{asked.name}` is no name of a variable; write a name of Python's, `rows`, say")
    checked = check_text(cell, "<cell>")
    if not checked.ok:
        raise ProgramError(checked.diagnostics, checked.sources)
    if checked.program is None:
        raise ProgramError([nothing_to_run("STREAM", "write the STREAM into the same cell")], checked.sources)
    compiled = Compiled(checked, checked.program)
    if wrong := [name for name in asked.query or () if name not in compiled.queries]:
        raise _Usage(f"there is no query `{wrong[0]}`; there are {', '.join(compiled.queries)}")
    has_events = bool(asked.events) or any(stream.source for stream in compiled.program.streams)
    rows = _tables(compiled, asked, variables) if has_events else {}
    if asked.name is not None and has_events:
        variables[asked.name] = rows
    picture = to_svg(explain(checked.program, plan_shared(checked.program)))
    warnings = checked.text() if checked.diagnostics else ""
    return CellOutput(rows, picture, compiled.queries, _tests(checked.program, checked.sources), warnings)


def _tests(program: CheckedProgram, sources: Mapping[str, Source]) -> str:
    """What the tests in the cell say."""
    if not program.tests:
        return ""
    from ..testing.run import run_test
    from ..testing.show import show, summary

    outcomes = [run_test(program, test, sources) for test in program.tests]
    return "".join([*(show(outcome, sources) for outcome in outcomes if not outcome.passed), summary(outcomes)])


def _tables(compiled: Compiled, asked: argparse.Namespace, variables: Mapping[str, Any]) -> dict[str, Any]:
    from ..compiled_program import tables
    from ..running.given import NoEventsError, UnknownStreamError

    try:
        return tables(compiled, _events(asked.events, variables), asked.query, how_given=_by_option)
    except (NoEventsError, UnknownStreamError) as error:
        raise _Usage(str(error)) from None


def _by_option(stream: str, several: bool) -> str:
    """How a cell is given events."""
    return f"`--events {shlex.quote(f'{stream}=EVENTS' if several else 'EVENTS')}`, a variable with a table or a frame"


def _events(asked: Sequence[str], variables: Mapping[str, Any]) -> Any:
    """As `Compiled.run` takes them; None where the streams say FROM."""
    streams = dict(one.split("=", 1) for one in asked if "=" in one)
    alone = [one for one in asked if "=" not in one]
    if len(alone) > 1 or (alone and streams):
        raise _Usage("events of several streams are given as --events STREAM=EVENTS, once for each")
    if alone:
        return _value(alone[0], variables)
    return {stream: _value(events, variables) for stream, events in streams.items()} or None


def _value(events: str, variables: Mapping[str, Any]) -> Any:
    if events in variables:
        return variables[events]
    if events.isidentifier() and not Path(events).exists():
        near = did_you_mean(events, [name for name in variables if not name.startswith("_")])
        raise _Usage(f"there is no variable `{events}`, and no file of that name" + (f"; {near}" if near else ""))
    return events
