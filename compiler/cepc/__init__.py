"""A compiler from complex-event-processing queries to one shared PySpark job.

    >>> import cepc
    >>> cepc.check("QUERY q RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 1 HOUR").ok
    True

    compiled = cepc.compile("queries.cep")      # or the program's text
    compiled.run("data/rides")                  # {query: pyarrow table}; a table or a pandas frame will do as well

Importing this is light: each function imports what it needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import CepcError, DataError, ProgramError, RunError

if TYPE_CHECKING:
    import os
    from typing import Any

    from .api import Checked
    from .compiled_program import Compiled

__all__ = ["CepcError", "DataError", "ProgramError", "RunError", "check", "compile"]


def check(text: str, name: str = "<text>") -> Checked:
    """Check a program; `name` is what its diagnostics call it."""
    from .api import check_text

    return check_text(text, name)


def compile(*programs: str | os.PathLike[str]) -> Compiled:  # noqa: A001 - the word for it
    """The program of a text, or of files, to be run. Raises ProgramError, which shows what is wrong."""
    from .api import compile_program

    return compile_program(*programs)


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext cepc` in a notebook gives it the magic %%cep."""
    from .editing.notebook import load

    load(shell)
