"""The blocks of the documentation's pages, and what its examples say when they are run."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from click.testing import CliRunner

from cepc.api import check_text
from cepc.cli import cepc
from cepc.compiled_program import Compiled
from cepc.writing.show import show

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
UPDATE = os.environ.get("UPDATE_GOLDEN") == "1"

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: what it is called, its text, where that begins, and the page it stands on."""

    kind: str
    text: str
    at: int
    page: Path

    @property
    def name(self) -> str:
        line = self.page.read_text(encoding="utf-8").count("\n", 0, self.at)
        return f"{self.page.relative_to(ROOT)}:{line}"


def blocks(page: Path) -> list[Block]:
    found = _BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [Block(one.group(1), one.group(2), one.start(2), page) for one in found]


def with_rows(page: Path, folder: Path) -> str:
    """The page, each ```rows block of which says what the ```cep or ```sql block before it gives for the ```csv block
    before it.
    """
    last: dict[str, str] = {}

    def block(found: re.Match[str]) -> str:
        kind, text = found.groups()
        if kind == "sql":
            last.pop("cep", None)
        if kind != "rows":
            last[kind] = text
            return found.group()
        rows = (
            rows_of(last["cep"], last["csv"], folder)
            if "cep" in last
            else sql_rows_of(last["sql"], last["csv"], folder)
        )
        return f"```rows\n{rows}```"

    return _BLOCK.sub(block, page.read_text(encoding="utf-8"))


def rows_of(program: str, events: str, folder: Path) -> str:
    """What `cepc run --format table` prints."""
    (folder / "events.csv").write_text(events, encoding="utf-8")
    checked = check_text(program, "example.cep")
    assert checked.program is not None, checked.text()
    out = io.StringIO()
    show(Compiled(checked, checked.program).run(str(folder / "events.csv")), out, None, colour=False)
    return out.getvalue()


def sql_rows_of(text: str, events: str, folder: Path) -> str:
    """What `cepc run --format table` prints of a text over the table in `ticker.csv`."""
    (folder / "ticker.csv").write_text(events, encoding="utf-8")
    (folder / "turns.sql").write_text(text, encoding="utf-8")
    done = CliRunner().invoke(cepc, ["run", str(folder / "turns.sql"), "--format", "table"])
    assert done.exit_code == 0, done.output
    return done.stdout


def with_output(page: Path, folder: Path) -> str:
    """The page, each ```console block of which says what its commands print, one after the other in one folder."""

    def block(found: re.Match[str]) -> str:
        kind, text = found.groups()
        if kind != "console":
            return found.group()
        return f"```console\n{''.join(command + _printed(command, folder) for command in commands(text))}```"

    return _BLOCK.sub(block, page.read_text(encoding="utf-8"))


def commands(text: str) -> list[str]:
    """What stands after `$ `, with the lines of its here-document, but not what it prints."""
    found: list[str] = []
    end = None
    for line in text.splitlines(keepends=True):
        if end is not None:
            found[-1] += line
            end = None if line.strip() == end else end
        elif line.startswith("$ "):
            found.append(line)
            here = re.search(r"<<'(\w+)'", line)
            end = here and here.group(1)
    return found


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The command behind a `$ `, with `cepc` on the path."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", command.removeprefix("$ ")],
        cwd=folder, env={**os.environ, "PATH": path, "LC_ALL": "C.UTF-8"}, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip


def _printed(command: str, folder: Path) -> str:
    """Its output, then what it says on standard error, as a reader sees them."""
    done = run(command, folder)
    return done.stdout + done.stderr


# ---- tables of matches -----------------------------------------------------------------------------------------------

_MATCHES = re.compile(
    r"(\sover `([^`]+)`:\n\n\| pattern \| matches \|\n\| --- \| --- \|\n)((?:\|.*\|\n)+)", re.IGNORECASE
)
_EVENT = re.compile(r"([a-z])(\d+)(?:=(\d+))?")
_STREAM = "STREAM s (at BIGINT, kind STRING, x INT) EVENT TIME at UNIT s EVENT TYPE kind IN ('A', 'B', 'C', 'D');"


def with_matches(page: Path) -> str:
    """The page, each table of which says what the pattern in its first column matches over the events named before the
    table.
    """

    def table(found: re.Match[str]) -> str:
        patterns = re.findall(r"^\| `([^`]+)` \|", found.group(3), re.MULTILINE)
        rows = (f"| `{pattern}` | {matches_of(pattern, found.group(2))} |\n" for pattern in patterns)
        return found.group(1) + "".join(rows)

    return _MATCHES.sub(table, page.read_text(encoding="utf-8"))


def matches_of(pattern: str, events: str) -> str:
    """`{a1 b2} {a1 b3}`, from the pattern and what follows it in a query; where two variables have one type, they are
    named.
    """
    given = [_EVENT.fullmatch(event) for event in events.split()]
    rows = [{"at": int(e[2]), "kind": e[1].upper(), "x": e[3] and int(e[3])} for e in given if e]
    assert len(rows) == len(given), events
    checked = check_text(f"{_STREAM} QUERY q RETURN MATCH * PATTERN {pattern} WITHIN 1 MINUTE;", pattern)
    assert checked.program is not None, checked.text()
    compiled = Compiled(checked, checked.program)
    schema = pa.schema([("at", pa.int64()), ("kind", pa.string()), ("x", pa.int32())])
    found = compiled.run(pa.Table.from_pylist(rows, schema))["q"].column("events").to_pylist()
    return " ".join(sorted((_match(match) for match in found), key=lambda text: (text.count(" "), text))) or "none"


def _match(events: list[dict[str, Any]]) -> str:
    variables: dict[str, list[str]] = {}
    for event in events:
        variables.setdefault(event["variable"], []).append(f"{event['kind'].lower()}{event['at']}")
    kinds = {(event["kind"], event["variable"]) for event in events}
    if len({kind for kind, _ in kinds}) == len(kinds):
        return "{" + " ".join(f"{event['kind'].lower()}{event['at']}" for event in events) + "}"
    return "{" + ", ".join(f"{name}: {' '.join(names)}" for name, names in sorted(variables.items())) + "}"
