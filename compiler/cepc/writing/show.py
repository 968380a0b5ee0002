"""Results as tables for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cepc_runtime.results.as_text import as_text

from ..visible import visible
from .writer import Writer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

AT_MOST = 100  # rows of a query, where no limit is given
WIDE = 100_000  # a table that is not for a terminal is as wide as its values


def show(tables: Mapping[str, Any], stream: TextIO, limit: int | None, colour: bool) -> None:
    """Print each query's table: its name, how many rows it has, and the first of them."""
    from rich.console import Console

    terminal = stream.isatty()
    console = Console(
        file=stream, width=None if terminal else WIDE, no_color=not colour, highlight=False, emoji=False,
        force_terminal=terminal and colour,
    )  # fmt: skip
    for i, (name, table) in enumerate(tables.items()):
        if i:
            console.print()
        _show_one(console, name, table, AT_MOST if limit is None else limit, terminal)


def _show_one(console: Any, name: str, table: Any, limit: int, terminal: bool) -> None:
    from rich.text import Text

    shown = table.slice(0, limit)
    first = "" if shown.num_rows == table.num_rows else f", the first {shown.num_rows:,} (--limit says how many)"
    console.print(Text.assemble((visible(name), "bold"), f"  {rows(table.num_rows)}{first}"))
    if shown.num_rows:
        with console.capture() as capture:
            console.print(_table(shown))
        # rich fills every line to the table's width; nobody wants that in a file.
        text = "\n".join(line if terminal else line.rstrip() for line in capture.get().splitlines())
        console.file.write(text + "\n")


def rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _table(table: Any) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    made = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for field in table.schema:
        made.add_column(
            Text(visible(field.name)), justify="right" if _is_number(field.type) else "left", overflow="fold"
        )
    for row in zip(*(as_text(table.column(i), iso=False) for i in range(table.num_columns)), strict=True):
        made.add_row(*(Text("NULL", "dim") if value is None else Text(visible(value)) for value in row))
    return made


def _is_number(type_: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_))


TABLE = Writer("table", show)
