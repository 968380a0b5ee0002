"""Streams of the rows of queries: in which turn queries are resolved, and what such a stream has of its query."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.windows import Unbounded
from cepc_runtime.sql.types import STRING, Array, Struct, StructField

from .messages import from_query as say
from .names import circles
from .scopes import result_columns
from .streams import KnownStream, resolve_stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_runtime.sql.types import DataType

    from .. import model
    from .names import Declarations


@dataclass(frozen=True, slots=True)
class Turns:
    """The numbers of the queries, those first whose rows are events of others; and the streams of which it is not known
    what they are.
    """

    order: tuple[int, ...]
    unknown: frozenset[str]
    problems: tuple[Diagnostic, ...]


def turns(declared: Declarations, about: Sequence[Sequence[str] | None]) -> Turns:
    """`about` are the streams of each query, None where they are not known."""
    from_query = {name: stream.query for name, stream in declared.streams.items() if stream.query is not None}
    numbers = {query.name.text: n for n, query in reversed([*enumerate(declared.queries)])}
    problems = [
        say.unknown_query(query, list(declared.query_names))
        for query in from_query.values()
        if query.text not in numbers and query.text not in declared.lost.queries
    ]
    uses = {
        stream: [other for other in about[numbers[query.text]] or () if other in from_query]
        for stream, query in from_query.items()
        if query.text in numbers
    }
    found = circles(uses)
    told: set[str] = set()
    for stream, way in found.items():
        if stream not in told:
            told |= set(way)
            problems.append(say.circle(declared.streams[stream], [(one, from_query[one].text) for one in way]))
    unknown = {name for name, query in from_query.items() if query.text not in numbers} | {*found}
    made_by = {name: numbers.get(query.text) for name, query in from_query.items() if name not in unknown}
    order: dict[int, None] = {}
    for number in range(len(declared.queries)):
        _put(number, about, made_by, order)
    return Turns(tuple(order), frozenset(unknown), tuple(problems))


def _put(
    number: int, about: Sequence[Sequence[str] | None], made_by: Mapping[str, int | None], order: dict[int, None]
) -> None:
    """The query, and before it all that it needs; what leads into a circle is not `made_by` any."""
    waiting = [number]
    while waiting:
        made = (made_by.get(name) for name in about[waiting[-1]] or ())
        before = next((query for query in made if query is not None and query not in order), None)
        if before is None:
            order[waiting.pop()] = None
        else:
            waiting.append(before)


def row_columns(query: model.Query, stream: KnownStream) -> dict[str, DataType]:
    """The columns of the rows of a query over the stream, in their order."""
    assert stream.checked is not None
    found: dict[str, DataType] = {output.name: output.expression.type for output in query.outputs}
    if query.returns_events:
        found["events"] = _events(stream)
    return found | dict.fromkeys(result_columns(query.kind), stream.checked.time.type)


def _events(stream: KnownStream) -> DataType:
    """The type of the column of RETURN MATCH *."""
    names = (("variable", STRING), *((("stream", STRING),) if stream.members else ()), *stream.pairs)
    return Array(Struct(tuple(StructField(name, type_) for name, type_ in names)))


def of_its_rows(
    declaration: ast.Stream, query: model.Query, stream: KnownStream
) -> tuple[KnownStream, list[Diagnostic]]:
    """The stream of the rows of a query over the other stream, and all that is wrong with it. Its event time is the end
    of a match or a window, unless it names another; a time of the query's events has their unit.
    """
    assert stream.checked is not None
    assert declaration.query is not None
    rows = row_columns(query, stream)
    edges = result_columns(query.kind)
    time = declaration.event_time or ast.EventTime(ast.Name(edges[1], declaration.query.span))
    problems = [] if time.watermark is None else [say.watermark(declaration, time)]
    if time.column.text in edges:
        if query.kind == "aggregate" and isinstance(query.window, Unbounded):
            times = [name for name, type_ in rows.items() if type_ == stream.checked.time.type and name not in edges]
            problems.append(say.no_time(declaration, query, time.column.text, times))
        time = replace(time, unit=time.unit or stream.checked.time.unit)
    known, wrong = resolve_stream(replace(declaration, event_time=time), query, rows)
    return (replace(known, checked=None) if problems else known), [*problems, *wrong]
