"""Streams: their columns, event time and event types."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_grammar.diagnostic import Diagnostic
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.computed import StreamInput
from cepc_runtime.sql.types import Array, DataType, Map, Struct, is_orderable, is_time

from .. import model
from ..diagnostics.near import nearest
from .columns import NO_ROWS, resolve_columns
from .durations import Tick, tick, ticks
from .messages import names as say
from .messages import streams as say_stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cepc_grammar.source import Span


FORMATS = ("parquet", "orc", "avro", "csv", "json", "text", "xml", "delta", "iceberg", "kafka", "jdbc")


@dataclass(frozen=True, slots=True)
class KnownStream:
    """A stream as far as it is right.

    `columns` are those with a known type that queries see, `broken` the names of the others; `input` has those of the
    input. `tick` is None where the event time is not known, `checked` where anything is wrong. `types` has the listed
    types with their places, None without a list.
    """

    name: str
    declaration: ast.Stream
    columns: Mapping[str, DataType]
    input: StreamInput
    broken: frozenset[str]
    tick: Tick | None
    types: Mapping[str, ast.Name] | None
    checked: model.Stream | None
    pairs: tuple[tuple[str, DataType], ...] = field(default=())
    members: tuple[KnownMember, ...] = ()

    @property
    def has_one_type(self) -> bool:
        return self.declaration.event_type is None and not self.members

    @property
    def names(self) -> list[str]:
        """Of the declared streams that it is."""
        return [member.stream.name for member in self.members] or [self.name]

    def member(self, name: str | None) -> KnownMember | None:
        """One of several streams that it stands for."""
        return next((member for member in self.members if member.stream.name == name), None)

    @property
    def attributes(self) -> list[str]:
        """Its columns, event time and event type last: those that conditions are mostly about come first."""
        declared = [self.declaration, *(member.stream.declaration for member in self.members)]
        clauses = [clause for one in declared for clause in (one.event_time, one.event_type)]
        last = {clause.column.text for clause in clauses if clause is not None}
        return sorted(self.columns, key=lambda column: column in last)

    def lacks(self, name: ast.Name) -> Diagnostic | None:
        """What to say where a column is named that the stream does not have."""
        if name.text in self.columns or name.text in self.broken or not (self.columns or self.broken):
            return None  # that there are no columns is an error of its own
        return self.unknown(name, sorted(self.broken))

    def unknown(
        self, name: ast.Name, more: Sequence[str] = (), cure: str = "write it with a variable before it"
    ) -> Diagnostic:
        """What to say of a name that is none of its columns: some of several streams may have one of it, which `cure`
        gets.
        """
        if any(name.text in member.columns for member in self.members):
            types = [(m.stream.name, m.stream.columns.get(name.text)) for m in self.members]
            return say.column_apart(name, types, cure)
        return say.unknown_column(name, [*self.columns, *more], *self.names)

    def unknown_value(self, name: ast.Name, cure: str = "write it with a variable before it") -> Diagnostic:
        """The same in an expression, where the name of an event type may be meant as a text."""
        if self.types is not None and not self.has_one_type and name.text in self.types:
            return say.type_for_text(name)
        return self.unknown(name, cure=cure)

    def unshared(self, name: ast.Name, *, each: bool = False) -> Diagnostic | None:
        """What to say where some of several streams have the column, and not all."""
        lacking = [m.stream.name for m in self.members if name.text not in {*m.stream.columns, *m.stream.broken}]
        return say.column_not_shared(name, lacking, each=each) if 0 < len(lacking) < len(self.members) else None


@dataclass(frozen=True, slots=True)
class KnownMember:
    """One of several streams that are merged, and what its columns are called there, with their own types."""

    stream: KnownStream
    columns: Mapping[str, tuple[str, DataType]]


def outline(stream: ast.Stream) -> KnownStream:
    """What is known of a stream of a query's rows before its query is: the types of its events."""
    return KnownStream(
        stream.name.text, stream, {}, StreamInput(()), frozenset(), None, _types(stream), None
    )  # fmt: skip


def resolve_stream(
    stream: ast.Stream, query: model.Query | None = None, rows: Mapping[str, DataType] = NO_ROWS
) -> tuple[KnownStream, list[Diagnostic]]:
    """The stream, and all that is wrong with it; of a query's rows it is with these columns of them."""
    found = resolve_columns(stream, rows)
    problems = list(found.problems)
    resolved = KnownStream(
        stream.name.text, stream, found.visible, found.input, found.broken, None, _types(stream), None,
        tuple(found.visible.items()),
    )  # fmt: skip
    spans = {column.name.text: column.span for column in reversed(stream.columns)}
    if stream.query is not None:
        spans = dict.fromkeys(rows, stream.query.span) | spans
    time, unit, wrong = _event_time(resolved, spans)
    problems += wrong
    problems += _event_type(resolved)
    problems += _source(stream)
    checked = None
    if time is not None and all(d.severity != "error" for d in problems):
        types = None if resolved.types is None or resolved.has_one_type else tuple(resolved.types)
        type_column = None if stream.event_type is None else stream.event_type.column.text
        files = stream.source if isinstance(stream.source, ast.From) else None
        source = None if files is None else (files.format, files.path)
        options = () if files is None else tuple((name.text, value) for name, value in files.options)
        checked = model.Stream(
            resolved.name, resolved.pairs, found.input, time, type_column, types, source, options, stream.span,
            query=query,
        )  # fmt: skip
    return replace(resolved, tick=unit, checked=checked), problems


def _types(stream: ast.Stream) -> dict[str, ast.Name] | None:
    if stream.event_type is None:
        return {stream.name.text: stream.name}
    if stream.event_type.types is None:
        return None
    names: dict[str, ast.Name] = {}
    for literal in stream.event_type.types:
        names.setdefault(literal.text, ast.Name(literal.text, literal.span))
    return names


def _event_time(
    stream: KnownStream, columns: dict[str, Span]
) -> tuple[model.TimeColumn | None, Tick | None, list[Diagnostic]]:
    event_time = stream.declaration.event_time
    if event_time is None:
        return None, None, []
    problems = [d for name in (event_time.column, *event_time.order_by) if (d := stream.lacks(name))]
    for name in event_time.order_by:
        if name.text in stream.columns and not is_orderable(stream.columns[name.text]):
            problems.append(say_stream.not_orderable(name, stream.columns[name.text]))
    type_ = stream.columns.get(event_time.column.text)
    unit = None if type_ is None else tick(type_, event_time.unit)
    integer = None
    if type_ is not None and unit is None:
        problems.append(say_stream.event_time_type(event_time.column, type_, columns[event_time.column.text], columns))
    elif type_ is not None:
        integer = (event_time.unit or "s") if type_.sql in ("TINYINT", "SMALLINT", "INT", "BIGINT") else None
        if event_time.unit is not None and integer is None:
            problems.append(say_stream.unit_of_time(event_time.column, type_, event_time.unit))
    watermark = 0 if event_time.watermark is None else ticks(event_time.watermark, unit, zero=True)
    if isinstance(watermark, Diagnostic):
        problems.append(watermark)
    if type_ is None or not isinstance(watermark, int) or problems:
        return None, unit, problems
    order_by = tuple(n.text for n in event_time.order_by)
    return model.TimeColumn(event_time.column.text, type_, integer, order_by, watermark), unit, []


def _event_type(stream: KnownStream) -> list[Diagnostic]:
    event_type = stream.declaration.event_type
    if event_type is None:
        return []
    if (problem := stream.lacks(event_type.column)) is not None:
        return [problem]
    type_ = stream.columns.get(event_type.column.text)
    return [say_stream.type_column(event_type.column, type_)] if isinstance(type_, Array | Map | Struct) else []


def _source(stream: ast.Stream) -> list[Diagnostic]:
    """A format that looks like a mistyped one; any other may be a data source of Spark's that is not known here."""
    source = stream.source
    if not isinstance(source, ast.From) or source.format in FORMATS:
        return []
    near = nearest(source.format, FORMATS)
    return [] if near is None else [say_stream.source_format(source, near)]


def time_columns(stream: KnownStream) -> list[str]:
    """The columns that could be its event time, the likeliest first."""
    fitting = [name for name, type_ in stream.columns.items() if tick(type_, None) is not None]
    return sorted(fitting, key=lambda name: not is_time(stream.columns[name]))
