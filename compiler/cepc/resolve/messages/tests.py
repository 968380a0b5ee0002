"""What is said about tests: the E09 family."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar.diagnostic import Diagnostic

from ...diagnostics.near import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cepc_grammar import ast
    from cepc_grammar.source import Span
    from cepc_runtime.types import DataType


def unknown_query(name: ast.Name, known: Sequence[str]) -> Diagnostic:
    hint = did_you_mean(name.text, known) or (f"the queries are {_listed(known)}" if known else "write the query")
    return Diagnostic("E0901", f"unknown query `{name.text}`", name.span, "a test is for a query", hint=hint)


def no_result(name: ast.Name, query: str, known: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        "E0902", f"`{query}` has no column `{name.text}`", name.span, "no column of its rows",
        hint=did_you_mean(name.text, known) or f"its columns are {_listed(known)}",
    )  # fmt: skip


def columns_needed(values: ast.Values, query: str) -> Diagnostic:
    return Diagnostic(
        "E0902", f"EXPECT does not name the columns of `{query}`", values.span, "which columns are these?",
        notes=("RETURN MATCH * is an array of events, which no constant is",),
        hint="name others: `EXPECT (match_start, match_end) VALUES …`",
    )  # fmt: skip


def not_given(columns: Sequence[ast.Name], missing: str, what: str) -> Diagnostic:
    return Diagnostic(
        "E0903", f"the events given have no `{missing}`", columns[0].span.to(columns[-1].span), f"the {what} is missing",
        notes=("columns that are not named are null, and a row without a time or a type is no event",), hint=f"add `{missing}`",
    )  # fmt: skip


def row_length(row: ast.Row, columns: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        "E0904", f"a row of {_many(len(row.values), 'value')} for {_many(len(columns), 'column')}", row.span,
        f"the columns are {_listed(columns)}", hint="write NULL for a value that is not there",
    )  # fmt: skip


def no_constant(span: Span, why: str) -> Diagnostic:
    return Diagnostic("E0905", "a value of a test is a constant", span, why, hint="write the value itself")


def other_type(span: Span, found: DataType, column: str, type_: DataType) -> Diagnostic:
    return Diagnostic("E0905", f"a {found.sql} is no {type_.sql}", span, f"`{column}` is {type_.sql}")


def _many(count: int, what: str) -> str:
    return f"1 {what}" if count == 1 else f"{count} {what}s"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:8])
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8} more"
