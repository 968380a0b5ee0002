"""What the Python API raises: diagnostics, rendered when somebody reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.source import Source


class CepcError(Exception):
    """Something that a user can mend. `str` is what the command line prints; `sources` are the texts it shows parts
    of.
    """

    def __init__(self, diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source] | None = None) -> None:
        self.diagnostics = tuple(diagnostics)
        self.sources = dict(sources or {})
        super().__init__(self.diagnostics, self.sources)

    def __str__(self) -> str:
        from .diagnostics.render import as_text, render

        return as_text(render(self.diagnostics, self.sources)).rstrip("\n")


class ProgramError(CepcError):
    """The program is wrong."""


class DataError(CepcError):
    """The events cannot be read, or are not what the STREAM declares (E07)."""


class RunError(CepcError):
    """The program met events for which it has no result (E08)."""
