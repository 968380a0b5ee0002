"""A diagnostic is data until the command line renders it.

Five parts with fixed jobs: the title names the problem, the label says what is wrong with *this* text, notes say why,
further places point at the other text involved, and the hint says what to type. Where that is certain enough for an
editor to offer, `replacement` is what to write in place of the span.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from .source import Span

Severity = Literal["error", "warning"]

LONGEST: Final = 1000  # characters of a sentence: what a program has that is longer is quoted without its middle


def shortened(sentence: str) -> str:
    """The sentence with its beginning and its end, which say what there is to say of the text that it quotes.

    >>> shortened("a sentence"), len(shortened("`" + "a" * 10_000_000 + "` is no number"))
    ('a sentence', 1000)
    """
    if len(sentence) <= LONGEST:
        return sentence
    return f"{sentence[: LONGEST // 2]}…{sentence[1 - LONGEST // 2 :]}"


@dataclass(frozen=True, slots=True)
class Label:
    """A span and what to say under it."""

    span: Span
    label: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", shortened(self.label))


@dataclass(frozen=True, slots=True)
class Diagnostic:
    code: str
    title: str
    span: Span
    label: str = ""
    notes: tuple[str, ...] = ()
    hint: str = ""
    others: tuple[Label, ...] = ()
    replacement: str | None = None

    def __post_init__(self) -> None:
        for part in ("title", "label", "hint"):
            object.__setattr__(self, part, shortened(getattr(self, part)))
        object.__setattr__(self, "notes", tuple(map(shortened, self.notes)))
        if len(self.replacement or "") > LONGEST:
            object.__setattr__(self, "replacement", None)

    @property
    def severity(self) -> Severity:
        return "error" if self.code.startswith("E") else "warning"
