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

    >>> import cepc
    >>> try:
    ...     cepc.compile("QUERY q RETURN COUNT(*) AS n PATTERN A WITHIN 1 HOUR;")
    ... except CepcError as error:
    ...     print(error)
    error[E0805]: there is nothing to run: the program has no STREAM
      = help: declare the events by a STREAM
    <BLANKLINE>
    1 error
    """

    def __init__(self, diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source] | None = None) -> None:
        self.diagnostics = tuple(diagnostics)
        self.sources = dict(sources or {})
        super().__init__(self.diagnostics, self.sources)

    def __str__(self) -> str:
        from .diagnostics.render import as_text, render

        return as_text(render(self.diagnostics, self.sources)).rstrip("\n")


class ProgramError(CepcError):
    """The program is wrong.

    >>> import cepc
    >>> try:
    ...     cepc.compile("QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A, B;")
    ... except ProgramError as error:
    ...     print([one.code for one in error.diagnostics])
    ['E0101']
    """


class DataError(CepcError):
    """The events cannot be read, or are not what the STREAM declares (E07).

    >>> import cepc, pyarrow
    >>> one = cepc.compile("STREAM s (at BIGINT) EVENT TIME at UNIT s; QUERY q RETURN MATCH s.at PATTERN s WITHIN 1 s;")
    >>> try:
    ...     one.run(pyarrow.table({"time": [1]}))
    ... except DataError as error:
    ...     print(error.diagnostics[0].title)
    the events have no column `at`
    """


class RunError(CepcError):
    """The program met events for which it has no result (E08).

    >>> import cepc, pyarrow
    >>> inverse = "QUERY q RETURN MATCH 1 / s.at AS x PATTERN s WITHIN 1 s;"
    >>> try:
    ...     cepc.compile("STREAM s (at BIGINT) EVENT TIME at UNIT s;" + inverse).run(pyarrow.table({"at": [0]}))
    ... except RunError as error:
    ...     print(error.diagnostics[0].title)
    division by zero in `1 / s.at`
    """
