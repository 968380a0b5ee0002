"""A notation for small streams and for matches over them, as the papers write them: `a1 b2` is an A at time 1 and a B
at time 2.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from cepc_grammar.parser import parse
from cepc_grammar.source import Source
from tests import oracle

if TYPE_CHECKING:
    from cepc_grammar import ast

STREAM = """
STREAM s (at BIGINT, kind STRING, g INT, x INT, y DOUBLE, name STRING, seq INT)
EVENT TIME at UNIT s
EVENT TYPE kind IN ('A', 'B', 'C', 'D', 'E', 'F', 'G');
"""


def events(text: str) -> list[dict[str, object]]:
    """The rows of `a1 b2' c-3(x=5, g=1)`: type, time, marks that make the label unique, and columns (null where not
    given).

    The whole word before the bracket is in the column `name`, so that matches can be written with it.
    """
    rows: list[dict[str, object]] = []
    for label, kind, time, columns in re.findall(r"(([a-zA-Z])(-?\d+)'*)(?:\(([^)]*)\))?", text):
        row: dict[str, object] = {
            "at": int(time),
            "kind": kind.upper(),
            "g": None,
            "x": None,
            "y": None,
            "name": label,
            "seq": None,
        }
        for given in re.findall(r"(\w+)=(\S+?)(?:,|$|\s)", columns):
            row[given[0]] = _value(given[1])
        rows.append(row)
    return rows


def program(text: str) -> ast.Program:
    """The program of a text that has no syntax errors."""
    parsed = parse(Source("test", text))
    assert not parsed.diagnostics, [(d.title, d.label, text[d.span.start : d.span.end]) for d in parsed.diagnostics]
    return parsed.program


def query(clauses: str, returns: str = "MATCH *") -> ast.Program:
    """A program of STREAM and the query `q`. The clauses begin with a pattern, and have a window of 100 s if they name
    none.

    What precedes the keyword QUERY is put before the query: `EVENT …; QUERY SEQ(A, B)`.
    """
    before, _, clauses = clauses.rpartition("QUERY ")
    given = r"\bWITHIN (\d+ s(?! ?,| ?\))|UNBOUNDED)\s*(SLIDE \d+ s)?\s*(OFFSET -?\d+ s)?\s*$"
    window = "" if re.search(given, clauses) else " WITHIN 100 s"
    returned = "" if clauses.startswith("RETURN") else f"RETURN {returns} PATTERN "
    return program(f"{STREAM}{before}QUERY q {returned}{clauses}{window};")


def found(clauses: str, stream: str) -> set[str]:
    """The matches, each as the names of its events in order, with the variable where it is not the type: `a1 x=a2`."""
    rows = events(stream)
    return {_text(match, rows) for match in oracle.matches(query(clauses), "q", rows)}


def rows(clauses: str, stream: str) -> list[dict[str, Any]]:
    """The result rows, sorted by their text."""
    return sorted(oracle.evaluate(query(clauses), events(stream))["q"], key=repr)


def count(clauses: str, stream: str) -> int:
    """COUNT(*) where there is one window with matches, or none at all."""
    result = oracle.evaluate(query(clauses, "COUNT(*) AS n"), events(stream))["q"]
    assert len(result) <= 1
    return int(str(result[0]["n"])) if result else 0


def _text(match: frozenset[tuple[int, str]], rows: list[dict[str, object]]) -> str:
    ordered = sorted(match, key=lambda bound: (rows[bound[0]]["at"], bound))
    return " ".join(str(rows[e]["name"]) if v == rows[e]["kind"] else f"{v}={rows[e]['name']}" for e, v in ordered)


def _value(text: str) -> object:
    if text == "null":
        return None
    try:
        return float(text) if "." in text or text == "nan" else int(text)
    except ValueError:
        return text
