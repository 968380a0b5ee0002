"""A diagnostic is data until the command line renders it.

Five parts with fixed jobs: the title names the problem, the label says what is wrong with *this* text, notes say why,
further places point at the other text involved, and the hint says what to type. Where that is certain enough for an
editor to offer, `replacement` is what to write in place of the span.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from .source import Span

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Label:
    """A span and what to say under it."""

    span: Span
    label: str = ""


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

    @property
    def severity(self) -> Severity:
        return "error" if self.code.startswith("E") else "warning"
