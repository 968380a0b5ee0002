"""The constants of a test as a table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cepc_grammar.diagnostic import Diagnostic
from cepc_runtime.results.as_text import as_text
from cepc_runtime.sql.evaluate import EvaluationError, evaluate
from cepc_runtime.sql.types import Array, Map, to_arrow

from .. import model
from ..errors import ProgramError
from ..running.local import streams_read

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cepc_grammar.source import Source, Span
    from cepc_runtime.sql.types import DataType


def tables_of(
    test: model.Test, program: model.CheckedProgram, sources: Mapping[str, Source]
) -> tuple[dict[str, Any], Any | None]:
    """The events of each stream that its query sees, in the columns of the input, and the rows expected, None where
    these are no rows. Raises ProgramError with all constants that have no value.
    """
    events, expected, problems = values_of(test, program)
    if problems:
        raise ProgramError(problems, sources)
    return events, expected


def values_of(
    test: model.Test, program: model.CheckedProgram
) -> tuple[dict[str, Any], Any | None, tuple[Diagnostic, ...]]:
    """The same, with what is wrong; the tables count only where that is nothing."""
    problems: list[Diagnostic] = []
    query = next(query for query in program.queries if query.name == test.query)
    given = {one.name: model.Values((), ()) for one in streams_read(of_test(program, test, query))} | dict(test.given)
    events = {name: _table_of(values, program.stream(name).input.columns, problems) for name, values in given.items()}
    expected = None if test.expected is None else _table_of(test.expected, test.expected.columns, problems)
    return events, expected, tuple(problems)


def of_test(program: model.CheckedProgram, test: model.Test, query: model.Query) -> model.CheckedProgram:
    """The program with the query alone. Where rows of a query are given, that does not run: they are like the events of
    any other stream.
    """
    given = dict(test.given)
    streams = tuple(replace(one, query=None) if one.name in given else one for one in program.streams)
    return replace(program, queries=(query,), streams=streams)


def _table_of(values: model.Values, columns: Sequence[tuple[str, DataType]], problems: list[Diagnostic]) -> Any:
    """The rows with all of `columns`, null where they are not named; None where there are problems."""
    arrays: dict[str, Any] = {}
    for i, (name, type_) in enumerate(values.columns):
        cells = [_cell(row[i], name, type_, problems) for row in values.rows]
        arrays[name] = pa.concat_arrays(cells) if not problems else None
    if problems:
        return None
    nothing = len(values.rows)
    return pa.table({n: arrays[n] if n in arrays else pa.nulls(nothing, to_arrow(type_)) for n, type_ in columns})


def _cell(value: model.Value | model.Parts, name: str, type_: DataType, problems: list[Diagnostic]) -> Any:
    """An array of one value; null where the constant has none, which is then among the problems."""
    if isinstance(value, model.Parts):
        return _nested(value, name, type_, problems)
    try:
        return evaluate(value.expression, {}, 1)
    except EvaluationError as error:
        problems.append(_without_meaning(error.reason, value.span, name, type_))
        return pa.nulls(1, to_arrow(value.expression.type))


def _nested(value: model.Parts, name: str, type_: DataType, problems: list[Diagnostic]) -> Any:
    cells = [_cell(part, name, type_, problems) for part in value.parts]
    match value.type:
        case Array(element):
            return pa.ListArray.from_arrays([0, len(cells)], _concat(cells, element))
        case Map(key, item):
            keys = _concat(cells[::2], key)
            for number, text in enumerate(texts := as_text(keys)):
                if text is None or text in texts[:number]:
                    why = "a key of a MAP is NULL" if text is None else f"the MAP has two values for the key {text}"
                    problems.append(_without_meaning(why, value.parts[2 * number].span, name, type_))
                    return pa.nulls(1, to_arrow(value.type))
            return pa.MapArray.from_arrays([0, len(keys)], keys, _concat(cells[1::2], item))
    return pa.StructArray.from_arrays(cells, fields=list(to_arrow(value.type)))


def _concat(cells: list[Any], type_: DataType) -> Any:
    return pa.concat_arrays(cells) if cells else pa.nulls(0, to_arrow(type_))


def _without_meaning(reason: str, span: Span, name: str, type_: DataType) -> Diagnostic:
    return Diagnostic("E0905", f"the value has no meaning: {reason}", span, f"`{name}` is {type_.sql}")
