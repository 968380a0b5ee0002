"""A program that has been checked, with what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

from .diagnostics.render import as_text, errors, render

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.source import Source

    from .model import CheckedProgram


@dataclass(frozen=True)
class Checked:
    """What checking a program yields.

    `program` is None where there are errors, and where there is no STREAM to resolve names against. `sources` has
    every text that the diagnostics point into.

    >>> from cepc import check
    >>> checked = check("QUERY q RETRUN COUNT(*) AS n PATTERN A WITHIN 1 HOUR;")
    >>> print(checked.text().rstrip())
    error[E0101]: `RETRUN` is no keyword
     --> <text>:1:9
      |
    1 | QUERY q RETRUN COUNT(*) AS n PATTERN A WITHIN 1 HOUR;
      |         ^^^^^^ a keyword is expected
      |
      = help: did you mean `RETURN`?
    <BLANKLINE>
    1 error
    """

    program: CheckedProgram | None
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(errors(self.diagnostics))

    @property
    def ok(self) -> bool:
        """No errors; there may be warnings."""
        return not self.errors

    def text(self) -> str:
        """The diagnostics as the command line prints them."""
        return as_text(render(self.diagnostics, self.sources))
