"""What is said about statistics files. Each function makes one diagnostic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar.diagnostic import Diagnostic
from cepc_grammar.source import Span

from ..diagnostics.near import did_you_mean
from ..wording import first_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def wrong_form(path: str, reason: str) -> Diagnostic:
    return Diagnostic(
        "E0809", f"`{path}` is no statistics file", Span(0, 0, path), notes=(reason,),
        hint="`cepc analyze FILE --events PATH -o stats.json` makes one",
    )  # fmt: skip


def does_not_fit(path: str, what: str, name: str, known: Sequence[str], owner: str) -> Diagnostic:
    """Statistics of a stream, type or column that is not there; `owner` is what does not have it."""
    there = f"there {'are' if len(known) > 1 else 'is'} {first_of(known)}" if known else ""
    near = did_you_mean(name, known) or there
    return Diagnostic(
        "E0810", f"`{path}` has statistics of the {what} `{name}`, which {owner} does not have", Span(0, 0, path),
        notes=(near,) if near else (), hint="take it out of the file, or make the file anew with `cepc analyze`",
    )  # fmt: skip
