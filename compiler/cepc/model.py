"""The checked program: every name resolved, every expression typed, every condition in its place.

What `resolve` makes of an AST and what everything after it starts from. Times are whole *ticks* of the stream's
event-time column: microseconds for TIMESTAMP and TIMESTAMP_NTZ, days for DATE, and the column's own unit for an integer
column.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING
from typing import Literal as OneOf

from cepc_grammar.pattern import Named, Not, Operator, walk
from cepc_grammar.source import NOWHERE, Span
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.stream import unit_of
from cepc_runtime.sql.computed import Computed
from cepc_runtime.sql.expression import Field, rewrite

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from cepc_runtime.plan.after import AfterMatchSkip
    from cepc_runtime.plan.stream import Beside, TickUnit
    from cepc_runtime.plan.windows import Window
    from cepc_runtime.sql.computed import StreamInput
    from cepc_runtime.sql.expression import Expression
    from cepc_runtime.sql.types import DataType


# ---- streams ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TimeColumn:
    """The event-time column; `unit` for an integer column, else None. `watermark` in ticks."""

    column: str
    type: DataType
    unit: OneOf["s", "ms", "us"] | None
    order_by: tuple[str, ...]
    watermark: int

    @property
    def tick(self) -> TickUnit:
        """What a tick is."""
        found = unit_of(self.type, self.unit)
        assert found is not None, "it is the time of a stream that was checked"
        return found


@dataclass(frozen=True, slots=True)
class MergedMember:
    """One of several streams that are merged: what it has in each column of the merged one, of its own columns."""

    stream: str
    columns: tuple[Computed, ...]

    def needed(self, names: Collection[str]) -> tuple[Computed, ...]:
        return tuple(column for column in self.columns if column.name in names)


def type_of(stream: str, type_: str) -> str:
    """What an event type of one of several streams is called among those of all."""
    return f"{_quoted(stream)}.{type_}"


def _quoted(stream: str) -> str:
    return f"`{stream}`" if "." in stream else stream


@dataclass(frozen=True, slots=True)
class Stream:
    """`columns` are those that queries see, `input` says what is read and what is computed of it. `fields` are columns,
    too, each of which some queries group by: fields of structs; and those `beside` are what some queries ask of other
    events of the partition.

    `type_column` is None for a stream with one type, named like the stream; `types` is None when none are listed.
    `members` are those of which it is merged, for queries over several; it then has no input of its own. `query` is the
    one whose rows are the events, for a stream of these: they are its input.
    """

    name: str
    columns: tuple[tuple[str, DataType], ...]
    input: StreamInput
    time: TimeColumn
    type_column: str | None
    types: tuple[str, ...] | None
    source: tuple[str, str] | None  # format and path
    options: tuple[tuple[str, str], ...]  # of the source
    span: Span = field(default=NOWHERE, compare=False, repr=False)
    fields: tuple[tuple[str, DataType], ...] = ()
    beside: tuple[Beside, ...] = ()
    members: tuple[MergedMember, ...] = ()
    query: Query | None = None

    @property
    def column_types(self) -> dict[str, DataType]:
        """Of what events come with."""
        return dict((*self.columns, *self.fields))

    def with_fields(self, fields: Iterable[Computed]) -> Stream:
        fields = tuple(fields)
        if self.members:
            members = tuple(_with_fields(member, fields) for member in self.members)
            own = tuple((column.name, column.expression.type) for column in fields)
            return replace(self, fields=(*self.fields, *own), members=members)
        given = replace(self.input, computed=(*self.input.computed, *fields))
        return replace(self, input=given, fields=tuple((column.name, column.expression.type) for column in fields))


def _with_fields(member: MergedMember, fields: tuple[Computed, ...]) -> MergedMember:
    of = {column.name: column.expression for column in member.columns}

    def change(node: Expression) -> Expression:
        return of[node.column] if isinstance(node, Field) else node

    made = (Computed(column.name, rewrite(column.expression, change)) for column in fields)
    return replace(member, columns=(*member.columns, *made))


# ---- patterns --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EventTest:
    """Which events an occurrence of a variable accepts: those of `raw_type` for which every condition is true.

    `raw_type` is None for any type, and in a stream with one type.

    Conditions are over the columns of the event at hand (`Field(None, …)`): those of derived types, then local ones.
    """

    raw_type: str | None
    conditions: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a pattern.

    `type` is the event type as written, `ANY` for any. `test` holds for each of its events.
    """

    name: str
    type: str
    test: EventTest
    is_list: bool
    negated: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition over several variables, or over the order of one's events (PREV, FIRST, LAST): true of every tuple.

    `variables` in the order of first mention. `text` as the user wrote it.
    """

    expression: Expression
    variables: tuple[str, ...]
    text: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Event:
    """One event bound to `variable`.

    `conditions`, over the event's columns, are those of the named patterns around it alone.
    """

    variable: str
    conditions: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """A named pattern with conditions of its own over several variables: they hold within each of its matches.

    Conditions over one event's columns are not here but on the Events inside.
    """

    name: str
    conditions: tuple[Condition, ...]


Negation = Not["Pattern", int]  # `within` in ticks
Pattern = Event | Operator["Pattern"] | Negation | Named["Pattern", Scope]


def scopes(pattern: Pattern) -> Iterator[Scope]:
    """The outer before the inner, from left to right."""
    return (node.scope for node in walk(pattern) if isinstance(node, Named))


def events(pattern: Pattern) -> Iterator[Event]:
    """From left to right, those under NOT included."""
    return (node for node in walk(pattern) if isinstance(node, Event))


# ---- queries ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Output:
    """A result column. Grouping attributes and shared attributes are `Field(None, …)`."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class Query:
    """A checked query.

    `partition` has the attributes on which all events of a match agree (`[ ]` and GROUP BY, each once), `group_by`
    those that make groups. `having` is over aggregates and fields, aliases already replaced by what they stand for.
    `returns_events` is RETURN MATCH *: then there are no outputs, and one column `events`. `each` is RETURN EACH: a row
    for each event, in which `Field(None, …)` is of it, and `Field(v, …)` too, null where it is not bound to v. `after`
    is what AFTER MATCH says. `mentioned` are the types in the pattern, those under NOT too.
    """

    name: str
    stream: str
    kind: OneOf["aggregate", "match"]
    pattern: Pattern
    variables: tuple[Variable, ...]
    partition: tuple[str, ...]
    group_by: tuple[str, ...]
    conditions: tuple[Condition, ...]
    window: Window
    outputs: tuple[Output, ...]
    having: Expression | None
    returns_events: bool
    select: OneOf["ANY", "NEXT", "CONTIGUOUS"]
    after: AfterMatchSkip | None
    labels: tuple[tuple[str, str], ...] = ()
    mentioned: tuple[EventTest, ...] = ()
    each: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    def variable(self, name: str) -> Variable:
        return next(v for v in self.variables if v.name == name)


# ---- tests -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Value:
    """A constant of a test, of its column's type."""

    expression: Expression
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Parts:
    """An ARRAY of constants, a MAP of them (keys and values in turn) or a STRUCT (a value for each field)."""

    type: DataType
    parts: tuple[Value | Parts, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Values:
    """Rows of some columns: of the events given, or of the rows expected."""

    columns: tuple[tuple[str, DataType], ...]
    rows: tuple[tuple[Value | Parts, ...], ...]


@dataclass(frozen=True, slots=True)
class Test:
    """`given` are the events, by stream; `expected` is None where no row is expected."""

    name: str
    query: str
    given: tuple[tuple[str, Values], ...]
    expected: Values | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


# ---- programs --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CheckedProgram:
    """All queries of a program over its streams, in the order of the text; the tests are those of its own files.
    `merged` are those for queries over several.
    """

    streams: tuple[Stream, ...]
    queries: tuple[Query, ...]
    tests: tuple[Test, ...]
    merged: tuple[Stream, ...]

    @property
    def source_paths(self) -> tuple[str, ...]:
        """What FROM names."""
        return tuple(stream.source[1] for stream in self.streams if stream.source is not None)

    @property
    def queries_of_rows(self) -> dict[str, str]:
        """Of each stream whose events are the rows of a query, that query."""
        return {stream.name: stream.query.name for stream in self.streams if stream.query is not None}

    def stream(self, name: str) -> Stream:
        """The one that queries name as theirs: a declared one, or several as one."""
        return next(s for s in (*self.streams, *self.merged) if s.name == name)

    def members(self, name: str) -> tuple[Stream, ...]:
        """The declared streams that it stands for."""
        stream = self.stream(name)
        return tuple(map(self.stream, (one.stream for one in stream.members))) if stream.members else (stream,)

    @property
    def with_needed(self) -> CheckedProgram:
        """The program with the queries whose rows are events of its queries, and of those in turn."""
        needed = {query.name: query for query in self.queries}
        waiting = list(self.queries)
        for query in waiting:
            for stream in self.members(query.stream):
                if stream.query is not None and stream.query.name not in needed:
                    needed[stream.query.name] = stream.query
                    waiting.append(stream.query)
        return self if len(needed) == len(self.queries) else replace(self, queries=tuple(needed.values()))

    @property
    def in_turn(self) -> tuple[Stream, ...]:
        """All streams that queries can name, those first whose queries' rows are events of others; the order of the
        text where that says nothing.
        """
        found: dict[str, Stream] = {}

        def put(stream: Stream) -> None:
            for member in self.members(stream.name):
                if member.query is not None and member.query.stream not in found:
                    put(self.stream(member.query.stream))
            found.setdefault(stream.name, stream)

        for stream in (*self.streams, *self.merged):
            put(stream)
        return tuple(found.values())
