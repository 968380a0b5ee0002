"""`%%cepsql`: a text of Spark SQL's in a cell, with MATCH_RECOGNIZE in it; its rows as a table."""

from __future__ import annotations

import sys
from html import escape
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

from cepc_runtime.cheap_dataclass import dataclass

from ..errors import CepcError
from .notebook import AT_MOST, first_rows

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class SqlOutput:
    """The first rows of a DataFrame as a table of texts, and whether there are more."""

    first: Any
    more: bool

    def __repr__(self) -> str:
        return f"{self.first.to_string(index=False)}\n{self._count}"

    def _repr_html_(self) -> str:
        return f"{self.first.to_html(index=False)}\n<small>{escape(self._count)}</small>"

    @property
    def _count(self) -> str:
        rows = "1 row" if len(self.first) == 1 else f"{len(self.first)} rows"
        return f"the first {AT_MOST} rows" if self.more else rows


def load_sql(shell: Any) -> None:
    """Give the shell the magic."""
    shell.register_magic_function(sql_magic(shell.user_ns), "cell", "cepsql")


def sql_magic(variables: dict[str, Any]) -> Callable[[str, str], SqlOutput | None]:
    """The magic over a notebook's variables, one of which may be the session, and one gets the DataFrame."""

    def cepsql(line: str, cell: str) -> SqlOutput | None:
        """A text of Spark SQL's with MATCH_RECOGNIZE; the word behind %%cepsql is the variable for its DataFrame."""
        try:
            return _run(line.strip(), cell, variables)
        except CepcError as error:
            print(error, file=sys.stderr)
        return None

    return cepsql


def _run(name: str, cell: str, variables: dict[str, Any]) -> SqlOutput | None:
    from ..row_patterns.on_spark import run_sql
    from ..running.session import need_pyspark, session_of

    if name and (not name.isidentifier() or iskeyword(name)):
        print(f"`{name}` is no name of a variable; write a name of Python's, `rows`, say", file=sys.stderr)
        return None
    need_pyspark()
    from cepc_runtime.spark.query_results import table_from

    frame = run_sql(variables.get("spark") or session_of(()), cell)
    if name:
        variables[name] = frame
    if frame.isStreaming:
        cure = (
            f"`{name}.writeStream`" if name else "a name behind %%cepsql gets its DataFrame, and `.writeStream` of that"
        )
        print(f"the rows of a stream are shown by what it is written to: {cure} begins it")
        return None
    first = table_from(frame.limit(AT_MOST + 1))
    return SqlOutput(first_rows(first), first.num_rows > AT_MOST)
