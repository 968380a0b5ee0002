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
    from collections.abc import Mapping
    from typing import Any

    from .checked import Checked
    from .compiled_program import Compiled

__all__ = [
    "CepcError", "Checked", "Compiled", "DataError", "ProgramError", "RunError",
    "check", "compile", "spark_session", "sql", "stream_of",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """The types that functions here give, and `__version__`: imported when they are asked for."""
    if name == "Compiled":
        from .compiled_program import Compiled

        return Compiled
    if name == "Checked":
        from .checked import Checked

        return Checked
    if name == "__version__":
        from .version import version

        return version()
    raise AttributeError(f"module `cepc` has no attribute `{name}`")


def check(text: str, name: str = "<text>") -> Checked:
    """Check a program; `name` is what its diagnostics call it.

    >>> [error.title for error in check("QUERY q RETURN COUNT(*) PATTERN SEQ(A, B)").errors]
    ['query `q` has no WITHIN']
    """
    from .api import check_text

    return check_text(text, name)


def compile(*programs: str | os.PathLike[str]) -> Compiled:  # noqa: A001 - the word for it
    """The program of a text, or of files, to be run. Raises ProgramError, which shows what is wrong.

    >>> stream = "STREAM s (at BIGINT, kind STRING) EVENT TIME at UNIT s EVENT TYPE kind;"
    >>> compile(f"{stream} QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A, B) WITHIN 1 HOUR;").queries
    ('q',)
    """
    from .api import compile_program

    return compile_program(*programs)


def stream_of(events: Any, name: str | None = None, *, session: Any = None) -> str:
    """A program to begin with, from a look at events, as `cepc init` writes it: a STREAM and a first query.

    `events` are a pyarrow table, a pandas frame, a Spark DataFrame, a path of files, or, with a session, the name of a
    table there. The stream gets the `name`. Raises DataError where there are no events.

    >>> import pyarrow
    >>> text = stream_of(pyarrow.table({"at": [1, 2, 3], "kind": ["A", "B", "B"]}), "shop")
    >>> print(text[text.index("STREAM") : text.index(";")])
    STREAM shop (
      at   BIGINT,
      kind STRING
    )
    EVENT TIME at
    EVENT TYPE kind IN ('B', 'A')
    """
    from .beginning.given import program_of

    return program_of(events, name, session)


def spark_session(settings: Mapping[str, str] | None = None) -> Any:
    """A Spark session on this machine, or where SPARK_REMOTE or Spark's own configuration says.

    It needs no JAVA_HOME where a Java is on the PATH or comes from `cepc[java]`, its workers are this Python, and it
    has what suits a job; `settings` come first. Raises RunError where there is no Spark, or no Java.
    """
    from .running.session import local_session

    return local_session(settings)


def sql(spark: Any, text: str) -> Any:
    """The DataFrame of a text of Spark SQL's, which may have MATCH_RECOGNIZE in it.

    The clauses are over tables and views of the session's catalogue; each stands in the query as a view, and the rest
    is Spark's. Of several statements, parted by `;`, all run, and the result is that of the last. Raises ProgramError
    where something is wrong with a clause, before Spark is asked, and whatever Spark raises.

    >>> try:
    ...     sql(None, "SELECT * FROM ticker MATCH_RECOGNIZE (ORDER BY at PATTERN (A, B))")
    ... except ProgramError as error:
    ...     print(error.diagnostics[0].title)
    `,` cannot stand here
    """
    from .row_patterns.on_spark import run_sql

    return run_sql(spark, text)


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext cepc` in a notebook gives it the magics %%cep and %%cepsql."""
    from .editing.notebook import load
    from .editing.sql_cell import load_sql

    load(shell)
    load_sql(shell)
