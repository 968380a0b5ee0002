"""What a run says of streams and queries, as it is said of the tables and clauses that they were made of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from cepc_runtime.enumerate.budget import PAST_LAST

from ..stream_words import in_sql

if TYPE_CHECKING:
    from cepc_grammar.diagnostic import Diagnostic

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
