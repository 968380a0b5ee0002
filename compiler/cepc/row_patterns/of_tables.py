"""What a run says of streams and queries, as it is said of the tables and clauses that they were made of."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from cepc_runtime.enumerate.budget import PAST_LAST

if TYPE_CHECKING:
    from cepc_grammar.diagnostic import Diagnostic

_TABLES: Final = (
    (r"\bFROM (\w+) is read\b", r"USING \1 is read"),
    (r"\bno events are named for the stream (`[^`]*`)", r"nothing says where the rows of the table \1 are"),
    (r"\bname them: `--events", "write `USING format LOCATION 'path'` in CREATE TABLE, or give `--events"),
    (r", in Python `most=\d+`,", ""),
    (r"\bthe stream `", "the table `"),
    (r"\ba stream `", "a table `"),
    (r"\bno query reads\b", "no clause is over"),
    (r"\bno STREAM can\b", "no table can"),
    (r"\b(in|out of) the STREAM\b", r"\1 CREATE TABLE"),
    (r" and what is computed from it, `\S+ AS (CAST\(.+\))`", r", and write `\1` in expressions"),
)

_FEWER: Final = (
    "a bound such as `{1,100}` in place of `+`, a reluctant `+?` or WITHIN INTERVAL lets matches be fewer or shorter"
)


def of_tables(problem: Diagnostic) -> Diagnostic:
    """The same with its title, notes and hint in words of SQL."""
    hint = problem.hint
    if problem.code == "E0803":
        cure, option, rest = hint.partition("; `--most")
        past_last = "AFTER MATCH SKIP PAST LAST ROW, " if PAST_LAST in cure else ""
        hint = past_last + _FEWER + option + rest
    notes = tuple(map(in_sql, problem.notes))
    return replace(problem, title=in_sql(problem.title), notes=notes, hint=in_sql(hint))


def in_sql(text: str) -> str:
    """What is said of a stream, of a table.

    >>> in_sql("if the events have none, take `p` out of the STREAM")
    'if the events have none, take `p` out of CREATE TABLE'
    """
    for of_streams, of_rows in _TABLES:
        text = re.sub(of_streams, of_rows, text)
    return text
