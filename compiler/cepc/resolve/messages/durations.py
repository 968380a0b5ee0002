"""What is said about durations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from cepc_grammar.diagnostic import Diagnostic

if TYPE_CHECKING:
    from cepc_grammar import ast


def zero(duration: ast.Duration) -> Diagnostic:
    return Diagnostic(
        "E0507", "a duration of 0", duration.span, "nothing fits in here", hint="give a duration greater than 0"
    )


def no_length(duration: ast.Duration) -> Diagnostic:
    months, of = ("months", "28 to 31 days") if duration.unit == "MONTH" else ("years", "365 or 366 days")
    days = "30 DAYS" if duration.unit == "MONTH" else "365 DAYS"
    return Diagnostic(
        "E0508",
        f"a duration in {months}",
        duration.span,
        f"{months} differ in length",
        notes=(f"a {months[:-1]} has {of}",),
        hint=f"give days: `{days}`, say",
    )


def not_whole(duration: ast.Duration, unit: str) -> Diagnostic:
    return Diagnostic(
        "E0509",
        f"a duration that is no whole number of {unit}",
        duration.span,
        f"the event time is in {unit}",
        notes=("windows begin and end where the event time can stand",),
        hint=f"give a whole number of {unit}",
    )


def too_long(duration: ast.Duration) -> Diagnostic:
    return Diagnostic(
        "E0510",
        "a duration that no event time can span",
        duration.span,
        "longer than 64 bits can count, or finer",
        hint="`WITHIN UNBOUNDED` is one window over everything",
    )


def too_long_offset(offset: ast.Duration) -> Diagnostic:
    return Diagnostic(
        "E0510",
        "an OFFSET that no event time can span",
        offset.span,
        "written with more digits than any clock has",
        notes=("windows begin every SLIDE, so an OFFSET of a SLIDE more says the same",),
        hint="give an OFFSET of less than a SLIDE, or of less than WITHIN where there is none",
    )


_SKIPPED: Final = {
    "E0507": "give a duration greater than 0, or write `AFTER MATCH SKIP PAST LAST EVENT`",
    "E0510": "give a shorter duration; after `SKIP FOR 100000 DAYS` hardly a match begins again",
}


def skipped(found: Diagnostic) -> Diagnostic:
    """The same of AFTER MATCH SKIP FOR, which is no window."""
    return replace(found, notes=(), hint=_SKIPPED[found.code]) if found.code in _SKIPPED else found
