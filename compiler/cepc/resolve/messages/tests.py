"""What is said about tests: the E09 family."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar.diagnostic import Diagnostic
from cepc_runtime.sql.types import Array, Map, Struct

from ...diagnostics.listed import listed
from ...diagnostics.near import did_you_mean, replacement
from ...expressions.messages import article
from ...wording import first_of, many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cepc_grammar import ast
    from cepc_grammar.source import Span
    from cepc_runtime.sql.types import DataType


def unknown_query(name: ast.Name, known: Sequence[str]) -> Diagnostic:
    hint = did_you_mean(name.text, known) or (f"the queries are {first_of(known)}" if known else "write the query")
    return Diagnostic(
        "E0901",
        f"unknown query `{name.text}`",
        name.span,
        "a test is for a query",
        hint=hint,
        replacement=replacement(name.text, known),
    )


def given_of_which(given: ast.Given, query: str, streams: Sequence[str]) -> Diagnostic:
    several = f"`{query}` is about {listed((f'`{name}`' for name in streams), 'and')}"
    name = given.stream
    return Diagnostic(
        "E0907",
        "GIVEN does not say whose events these are" if name is None else f"`{query}` sees no events of `{name.text}`",
        given.span if name is None else name.span,
        several,
        hint=f"write `GIVEN {streams[0]} (…) VALUES …`"
        + (", and a GIVEN for each stream that has events" if len(streams) > 1 else ""),
    )


def given_for_nothing(given: ast.Given, query: str, rows: Sequence[str]) -> Diagnostic:
    """`rows` are streams of the rows of queries, for which there is a GIVEN."""
    name = given.stream.text if given.stream is not None else ""
    those = listed((f"`{one}`" for one in rows), "and")
    return Diagnostic(
        "E0907",
        f"`{query}` sees no events of `{name}`" if name else f"`{query}` sees none of these events",
        given.span,
        f"the events of {those} are given, and not made of these",
        hint=f"leave out this GIVEN, or the one of {those}",
    )


def given_twice(given: ast.Given, stream: str) -> Diagnostic:
    return Diagnostic(
        "E0907",
        f"a second GIVEN for `{stream}`",
        given.span,
        "its events are given already",
        hint="put the rows of both behind one VALUES",
    )


def no_result(name: ast.Name, query: str, known: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        "E0902", f"`{query}` has no column `{name.text}`", name.span, "no column of its rows",
        hint=did_you_mean(name.text, known) or f"its columns are {first_of(known)}",
        replacement=replacement(name.text, known),
    )  # fmt: skip


def not_given(columns: Sequence[ast.Name], read: Sequence[str], column: str, what: str) -> Diagnostic:
    """`read` are the columns of the input that the event time or type is computed from, or the only one that it is."""
    missing = read[0]
    computed = f", from which `{column}` is computed" if column not in read else ""
    return Diagnostic(
        "E0903", f"the events given have no `{missing}`{computed}", columns[0].span.to(columns[-1].span),
        f"the {what} is missing",
        notes=("columns that are not named are null, and a row without a time or a type is no event",),
        hint=f"add `{missing}`",
    )  # fmt: skip


def computed_given(name: ast.Name, read: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        "E0906", f"`{name.text}` is computed, and cannot be given", name.span, "no column of the input",
        notes=("the events of a test are those of the stream's input; the rest is computed of them, as in a run",),
        hint=f"give {first_of(read)}" if read else f"leave `{name.text}` out",
    )  # fmt: skip


def row_length(row: ast.Row, columns: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        "E0904", f"a row of {many(len(row.values), 'value')} for {many(len(columns), 'column')}", row.span,
        f"the columns are {first_of(columns)}", hint="write NULL for a value that is not there",
    )  # fmt: skip


def no_constant(span: Span, why: str) -> Diagnostic:
    return Diagnostic("E0905", "a value of a test is a constant", span, why, hint="write the value itself")


def other_type(span: Span, found: DataType, column: str, type_: DataType, wanted: DataType) -> Diagnostic:
    """`wanted` is the column's type, or that of a part of it."""
    hint = f"write {_WRITTEN[type(wanted)]}" if type(wanted) in _WRITTEN else ""
    return Diagnostic(
        "E0905", f"{article(found.sql)} is no {wanted.sql}", span, f"`{column}` is {type_.sql}", hint=hint
    )


def other_kind(call: ast.Call, column: str, type_: DataType, wanted: DataType) -> Diagnostic:
    kind = call.function.text.upper().removeprefix("NAMED_")
    hint = _WRITTEN.get(type(wanted), "the value itself")
    return Diagnostic(
        "E0905", f"{article(kind)} is no {wanted.sql}", call.span, f"`{column}` is {type_.sql}", hint=f"write {hint}"
    )


def in_turn(call: ast.Call, first: str, second: str) -> Diagnostic:
    name = call.function.text.upper()
    return Diagnostic(
        "E0905", f"{name} takes {first} and {second} in turn", call.span,
        f"{many(len(call.arguments), 'value')}, the last of them alone",
        hint=f"write {_WRITTEN[Map if name == 'MAP' else Struct]}",
    )  # fmt: skip


def struct_length(call: ast.Call, type_: Struct) -> Diagnostic:
    return Diagnostic(
        "E0905", f"a STRUCT of {many(len(call.arguments), 'value')} for {many(len(type_.fields), 'field')}",
        call.span,
        f"the fields are {first_of([f.name for f in type_.fields])}",
        hint="write NULL for a value that is not there, or name the others: NAMED_STRUCT('name', value, …)",
    )  # fmt: skip


def no_field_name(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0905", "the name of a field is a string", span, "no string", hint=f"write {_WRITTEN[Struct]}"
    )  # fmt: skip


def no_field(name: ast.Literal, type_: Struct) -> Diagnostic:
    known = [f.name for f in type_.fields]
    return Diagnostic(
        "E0905", f"the STRUCT has no field `{name.text}`", name.span, f"its type is {type_.sql}",
        hint=did_you_mean(name.text, known) or f"its fields are {first_of(known)}",
    )  # fmt: skip


def field_twice(name: ast.Literal) -> Diagnostic:
    return Diagnostic(
        "E0905", f"the field `{name.text}` is named twice", name.span, "the second one", hint="leave one of the two out"
    )


_WRITTEN = {
    Array: "ARRAY(value, value, …)",
    Map: "MAP(key, value, key, value, …)",
    Struct: "STRUCT(value, …), with a value for each field, or NAMED_STRUCT('name', value, …)",
}
"""Constants of types that have parts."""
