"""Tests: the query that each is for, the columns that it names, and its values."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from cepc_grammar import ast
from cepc_runtime.functions.coercion import can_cast, cast_to
from cepc_runtime.functions.portable import spark_only

from .. import model
from ..expressions import Context, type_expression
from .messages import tests as say
from .names import clashes
from .scopes import result_columns
from .walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_runtime.expression import Expression
    from cepc_runtime.types import DataType

    from ..expressions import VariableInfo
    from .names import Declarations
    from .streams import Stream

Columns = tuple[tuple[str, "DataType"], ...]

_OF_EVENTS = frozenset(
    {"COUNT", "SUM", "AVG", "MIN", "MAX", "TRY_COUNT", "TRY_SUM", "FIRST", "LAST", "PREV", "NEXT", "COLLECT"}
)


def check_tests(
    tests: Iterable[ast.Test], declared: Declarations, streams: Mapping[str, Stream], queries: Iterable[model.Query]
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
        given, wrong = _given(test.given, stream)
        problems += wrong
        expected, wrong = (None, []) if test.expected is None else _expected(test.expected, query, stream)
        problems += wrong
        if given is not None and (expected is not None or test.expected is None):
            found.append(model.Test(test.name.text, query.name, given, expected, test.span))
    return found, problems


def _given(values: ast.Values, stream: Stream) -> tuple[model.Values | None, list[Diagnostic]]:
    if values.columns is None:
        return _values(values, tuple(stream.columns.items()))
    problems = [d for name in values.columns if (d := stream.lacks(name)) is not None]
    problems += clashes("column", values.columns)
    named = {name.text for name in values.columns}
    declaration = stream.declaration
    for clause, what in ((declaration.event_time, "event time"), (declaration.event_type, "event type")):
        if clause is not None and clause.column.text not in named and not problems:
            problems.append(say.not_given(values.columns, clause.column.text, what))
    if problems:
        return None, problems
    return _values(values, tuple((name.text, stream.columns[name.text]) for name in values.columns))


def _expected(values: ast.Values, query: model.Query, stream: Stream) -> tuple[model.Values | None, list[Diagnostic]]:
    returned: Columns = tuple((output.name, output.expression.type) for output in query.outputs)
    if values.columns is None:
        return _values(values, returned) if returned else (None, [say.columns_needed(values, query.name)])
    assert stream.checked is not None
    known = dict([*returned, *((edge, stream.checked.time.type) for edge in result_columns(query.kind))])
    problems = [say.no_result(name, query.name, list(known)) for name in values.columns if name.text not in known]
    problems += clashes("column", values.columns)
    if problems:
        return None, problems
    return _values(values, tuple((name.text, known[name.text]) for name in values.columns))


def _values(values: ast.Values, columns: Columns) -> tuple[model.Values | None, list[Diagnostic]]:
    problems: list[Diagnostic] = []
    rows: list[tuple[model.Value, ...]] = []
    for row in values.rows:
        if len(row.values) != len(columns):
            problems.append(say.row_length(row, [name for name, _ in columns]))
            continue
        typed = [_value(value, *column) for value, column in zip(row.values, columns, strict=True)]
        problems += (d for _, found in typed for d in found)
        rows.append(tuple(model.Value(e, v.span) for (e, _), v in zip(typed, row.values, strict=True) if e is not None))
    return (None if problems else model.Values(columns, tuple(rows))), problems


def _value(value: ast.Expression, name: str, type_: DataType) -> tuple[Expression | None, Sequence[Diagnostic]]:
    """A constant as a value of the column."""
    for node in walk(value):
        if isinstance(node, ast.Equivalence):  # the parser has said so
            return None, []
        if isinstance(node, ast.Reference | ast.Star) or (
            isinstance(node, ast.Call) and node.function.text.upper() in _OF_EVENTS
        ):
            return None, [say.no_constant(node.span, "it is about events")]
    typed, found = type_expression(value, _NoNames(), Context.EVENT)
    if typed is None:
        return None, found
    if functions := spark_only(typed):
        return None, [say.no_constant(value.span, f"only Spark computes {functions[0].upper()}")]
    if not can_cast(typed.type, type_):
        return None, [say.other_type(value.span, typed.type, name, type_)]
    return cast_to(typed, type_), ()


class _NoNames:
    """The scope of constants: nothing is asked of it, because what mentions a name is no constant."""

    def reference(self, reference: ast.Reference) -> NoReturn:
        raise AssertionError(reference)

    def variable(self, reference: ast.Reference) -> NoReturn:
        raise AssertionError(reference)

    def info(self, name: str) -> VariableInfo:
        raise AssertionError(name)
