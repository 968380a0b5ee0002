"""What is said when a run has no result: the E08 family."""

from __future__ import annotations

import os
from datetime import date
from typing import TYPE_CHECKING

from cepc_grammar.diagnostic import Diagnostic
from cepc_grammar.source import NOWHERE

from .. import run_settings as settings

if TYPE_CHECKING:
    from cepc_grammar.source import Span
    from cepc_runtime.enumerate.budget import TooManyPartialMatchesError
    from cepc_runtime.results.as_columns import ResultOverflowError, WindowEdgeError
    from cepc_runtime.sql.evaluate.errors import EvaluationError


def overflow(error: ResultOverflowError, place: Span) -> Diagnostic:
    start, end = error.window
    window = (
        "in the one window over the whole input"
        if start is None
        else f"in the window from {_time(start)} to {_time(end)}"
    )
    group = ", ".join(f"{name} = {value}" for name, value in error.group.items())
    return Diagnostic(
        "E0802", f"{error.aggregate} of `{error.query}` does not fit {error.type}", place, "the value is too large",
        notes=(f"{window}, for {group}" if group else window,), hint=error.cure,
    )  # fmt: skip


def _time(value: object) -> str:
    return value.isoformat().replace("+00:00", "Z") if isinstance(value, date) else str(value)


def too_many_matches(error: TooManyPartialMatchesError, place: Span) -> Diagnostic:
    more = "1" + "0" * len(str(error.limit))  # ten times as large, as a person writes it
    hint = f"{error.cure}; {settings.MOST.of(number=more)} lets the run go on for longer"
    if error.listed.are_rows:
        return Diagnostic(
            "E0803", f"`{error.listed.query}` has too many matches", place,
            "each match is a row, and they are found one by one",
            notes=(f"more than {error.limit:,} partial matches were found",), hint=hint,
        )  # fmt: skip
    return Diagnostic(
        "E0803", f"`{error.listed.query}` has too many partial matches", place,
        "its matches cannot be counted without listing them",
        notes=(f"more than {error.limit:,} had to be listed {error.why or 'one by one'}",), hint=hint,
    )  # fmt: skip


def no_value(error: EvaluationError, place: Span, *, casts: bool = True) -> Diagnostic:
    """`casts`: somebody may have written a CAST that fails; else a text stands where another type is needed."""
    from cepc_runtime.sql.evaluate.errors import SparkOnlyError

    where = f" in `{error.expression}`" if error.expression else ""
    of_a_value = "it happened for a value of these events, as in Spark's ANSI mode"
    notes = [] if isinstance(error, SparkOnlyError) else [of_a_value]
    hint = error.hint
    if error.function == "cast" and not casts:
        notes.append("a text that stands for another type is read as one of it, as if CAST were written")
        hint = f"declare the column of its type, or write `TRY_{error.expression}`, which is null there"
    return Diagnostic("E0804", f"{error.reason}{where}", place, notes=tuple(notes), hint=hint)


def edge_overflow(error: WindowEdgeError, place: Span) -> Diagnostic:
    return Diagnostic(
        "E0808", f"an edge of a window of `{error.query}` is no {error.type}", place,
        "windows have the type of the event time",
        notes=(f"{error.shown} is {error.type}, and some events are at the end of its range",),
        hint=error.cure,
    )  # fmt: skip


def not_on_disk(folder: str, error: OSError) -> Diagnostic:
    said = (os.strerror(error.errno) if error.errno else str(error)).splitlines()[0]
    return Diagnostic(
        "E0811", f"what does not fit into memory cannot be kept in `{folder}`: {said}", NOWHERE,
        notes=("the files there have no names, and are gone when the run ends",),
        hint="free some space there, name another folder by `TMPDIR=…`, or allow more memory by "
        f"{settings.MEMORY.of()}",
    )  # fmt: skip


def nothing_to_run(what: str, hint: str) -> Diagnostic:
    return Diagnostic("E0805", f"there is nothing to run: the program has no {what}", NOWHERE, hint=hint)
