"""Tests: the query that each is for, the columns that it names, and its values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import model
from .constants import constant
from .from_query import row_columns
from .messages import tests as say
from .messages.names import unknown_column
from .names import clashes
from .scopes import result_columns

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from cepc_grammar import ast
    from cepc_grammar.diagnostic import Diagnostic
    from cepc_runtime.sql.types import DataType

    from .names import Declarations
    from .streams import KnownStream


def check_tests(
    tests: Iterable[ast.Test],
    declared: Declarations,
    streams: Mapping[str, KnownStream],
    queries: Iterable[model.Query],
) -> tuple[list[model.Test], list[Diagnostic]]:
    """The tests that are right, and what is wrong with the others; `queries` are those that are right."""
    by_name = {query.name: query for query in queries}
    found: list[model.Test] = []
    problems: list[Diagnostic] = []
    for test in tests:
        query = by_name.get(test.query.text)
        if test.query.text not in declared.query_names:
            problems.append(say.unknown_query(test.query, list(declared.query_names)))
        if query is None or streams[query.stream].checked is None:
            continue
        stream = streams[query.stream]
        given, wrong = _of_streams(test.given, query, streams)
        problems += wrong
        expected, wrong = (None, []) if test.expected is None else _expected(test.expected, query, stream)
        problems += wrong
        if given is not None and (expected is not None or test.expected is None):
            found.append(model.Test(test.name.text, query.name, given, expected, test.span))
    return found, problems


def _of_streams(
    written: Iterable[ast.Given], query: model.Query, known: Mapping[str, KnownStream]
) -> tuple[tuple[tuple[str, model.Values], ...] | None, list[Diagnostic]]:
    """The events of each stream; GIVEN says whose they are where there are several. Of a stream of the rows of a query
    they stand for these: the query does not run then.
    """
    named = {one.stream.text for one in written if one.stream is not None}
    streams, all_ = _looked_at(query, known, named), _looked_at(query, known)
    read = [name for name in streams if known[name].declaration.query is None]
    found: dict[str, model.Values | None] = {}
    problems: list[Diagnostic] = []
    for one in written:
        name = one.stream.text if one.stream is not None else read[0] if len(read) == 1 else ""
        if name in all_ and name not in streams:
            problems.append(say.given_for_nothing(one, query.name, [other for other in streams if other not in read]))
        elif name not in streams:
            problems.append(say.given_of_which(one, query.name, read or all_))
        elif name in found:
            problems.append(say.given_twice(one, name))
        else:
            found[name], wrong = _given(one.values, known[name])
            problems += wrong
    right = tuple((name, values) for name, values in found.items() if values is not None)
    return (None if problems or len(right) < len(found) else right), problems


def _looked_at(query: model.Query, known: Mapping[str, KnownStream], given: Collection[str] = ()) -> list[str]:
    """The streams that the query looks at, and those that the queries do whose rows are not `given`."""
    found: dict[str, None] = {}
    waiting = [query]
    for one in waiting:
        over = known[one.stream]
        for stream in [member.stream for member in over.members] or [over]:
            found[stream.name] = None
            if stream.checked is not None and stream.checked.query is not None and stream.name not in given:
                waiting.append(stream.checked.query)
    return [name for name in known if name in found]


def _given(values: ast.Values, stream: KnownStream) -> tuple[model.Values | None, list[Diagnostic]]:
    """Values of the stream's input; the other columns are computed from them."""
    if values.columns is None:
        return _values(values, stream.input.columns)
    types = dict(stream.input.columns)
    problems = [d for name in values.columns if (d := _no_input(name, stream, types)) is not None]
    problems += clashes("column", values.columns)
    named = {name.text for name in values.columns}
    declaration = stream.declaration
    for clause, what in ((declaration.event_time, "event time"), (declaration.event_type, "event type")):
        if clause is not None and not problems:
            read = [name for name, _ in stream.input.needed((clause.column.text,)).columns]
            if read and named.isdisjoint(read):
                problems.append(say.not_given(values.columns, read, clause.column.text, what))
    if problems:
        return None, problems
    return _values(values, tuple((name.text, types[name.text]) for name in values.columns))


def _no_input(name: ast.Name, stream: KnownStream, types: Mapping[str, DataType]) -> Diagnostic | None:
    if name.text in types:
        return None
    computed = any(column.name == name.text for column in stream.input.computed)
    if computed:
        return say.computed_given(name, [read for read, _ in stream.input.needed((name.text,)).columns])
    return unknown_column(name, list(types), stream.name) if name.text not in stream.broken else None


def _expected(
    values: ast.Values, query: model.Query, stream: KnownStream
) -> tuple[model.Values | None, list[Diagnostic]]:
    known = row_columns(query, stream)
    if values.columns is None:
        edges = result_columns(query.kind)
        return _values(values, tuple(column for column in known.items() if column[0] not in edges))
    problems = [say.no_result(name, query.name, list(known)) for name in values.columns if name.text not in known]
    problems += clashes("column", values.columns)
    if problems:
        return None, problems
    return _values(values, tuple((name.text, known[name.text]) for name in values.columns))


def _values(
    values: ast.Values, columns: tuple[tuple[str, DataType], ...]
) -> tuple[model.Values | None, list[Diagnostic]]:
    problems: list[Diagnostic] = []
    rows: list[tuple[model.Value | model.Parts, ...]] = []
    for row in values.rows:
        if len(row.values) != len(columns):
            problems.append(say.row_length(row, [name for name, _ in columns]))
            continue
        read = [constant(value, *column) for value, column in zip(row.values, columns, strict=True)]
        problems += (d for _, found in read for d in found)
        rows.append(tuple(value for value, _ in read if value is not None))
    return (None if problems else model.Values(columns, tuple(rows))), problems
