"""The events of a stream, in the order and with the types that docs/language.md ("Time", "Events that are none") gives
them.

An event is named by its place in canonical order, so that comparing two events as numbers breaks every tie as the page
says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from typing import cast as assume

from cepc_grammar import ast

from .casts import from_micros, in_range, micros, to_string
from .errors import Overflow, Unsupported
from .expressions import Leaf, compiled, field_of
from .typed import Env, Typed, converted, order_key
from .types import Type, is_integral, normal

Row = Mapping[str, object]
Event = int

AMONG = " among"
"""Under this name a row has those of its partition; no column is called so."""

_UNIT = {"s": 1_000_000, "ms": 1_000, "us": 1}


@dataclass(frozen=True)
class Clock:
    """The event-time column: between its values and microseconds since the epoch."""

    column: str
    type: Type
    unit: int

    def micros(self, value: Any) -> int:
        return value * self.unit if is_integral(self.type) else micros(value)

    def value(self, microseconds: int) -> object:
        """A time that is a whole number of the column's units, in its type."""
        if not is_integral(self.type):
            return from_micros(microseconds, self.type)
        number = microseconds // self.unit
        if not in_range(number, self.type):
            raise Overflow("", self.column, None, number)
        return number


@dataclass(frozen=True)
class Events:
    """All events with a time and a type, in canonical order; each list is indexed by the event."""

    columns: dict[str, Type]
    clock: Clock
    rows: list[Row]
    inputs: list[int]  # where the row stood in the input
    time: list[int]  # microseconds since the epoch
    rank: list[int]  # its place by time and ORDER BY columns alone: events that tie share it
    types: list[frozenset[str]]

    def all(self) -> Iterable[Event]:
        return range(len(self.rows))

    def by(self, attributes: Iterable[str]) -> list[list[Event]]:
        """The events that agree on the attributes, in canonical order."""
        names, groups = tuple(attributes), dict[object, list[Event]]()
        for event in self.all():
            key = tuple(order_key(self.attribute(event, name)) for name in names)
            groups.setdefault(key, []).append(event)
        return list(groups.values())

    def partitioned(self, attributes: Iterable[str]) -> Events:
        """The same events, where each row knows those of its partition, and its own place among them."""
        rows = list[Any](self.rows)
        for members in self.by(attributes):
            together = [self.rows[event] for event in members]
            for place, event in enumerate(members):
                rows[event] = {**self.rows[event], AMONG: (together, place)}
        return replace(self, rows=rows)

    def attribute(self, event: Event, name: str) -> object:
        """A column of the event, or a field of one by its dotted name; null in a struct that is null."""
        row, (first, *path) = self.rows[event], [name] if name in self.columns else name.split(".")
        value: Any = row.get(first)
        for part in path:
            value = None if value is None else value[part]
        return value

    def column(self, parts: tuple[ast.Name, ...], key: object) -> Typed:
        """The column, or field of a column, with this dotted name, of the row that the environment has under `key`."""
        return self.beside(parts, key, 0)

    def beside(self, parts: tuple[ast.Name, ...], key: object, places: int) -> Typed:
        """The same of the event so many places after that row in its partition, or before it; null where there is
        none.
        """
        name = parts[0].text
        if name not in self.columns:
            raise Unsupported(f"no column {name}")

        def value(env: Env) -> object:
            row = assume("Row | None", env[key])
            if row is not None and places:
                together, place = assume("tuple[list[Row], int]", row[AMONG])
                row = together[place + places] if 0 <= place + places < len(together) else None
            return None if row is None else row.get(name)

        typed = Typed(self.columns[name], value)
        for part in parts[1:]:
            typed = field_of(typed, part.text)
        return typed


def read(program: ast.Program, rows: Sequence[Row]) -> Events:
    """The rows as events of the program's stream. A row without a time or a type is dropped."""
    streams = [statement for statement in program.statements if isinstance(statement, ast.Stream)]
    if len(streams) != 1 or streams[0].event_time is None:
        raise Unsupported("the oracle reads exactly one stream, with an event time")
    stream, event_time = streams[0], streams[0].event_time
    columns, rows = _computed(stream, rows)
    time_column = event_time.column.text
    clock = Clock(time_column, columns[time_column], _UNIT[event_time.unit or "s"])

    def order(row: Row) -> tuple[Any, ...]:
        return (clock.micros(row[time_column]), *(order_key(row.get(name.text)) for name in event_time.order_by))

    def canonical(place: int) -> tuple[Any, ...]:
        row = rows[place]
        return (order(row), *(order_key(row.get(name)) for name, kind in columns.items() if _has_order(kind)))

    type_column = stream.event_type.column.text if stream.event_type else None
    kept = [i for i, row in enumerate(rows) if row.get(time_column) is not None]
    kept = sorted((i for i in kept if type_column is None or rows[i].get(type_column) is not None), key=canonical)
    ranks = {key: rank for rank, key in enumerate(sorted({order(rows[i]) for i in kept}))}
    events = Events(
        columns,
        clock,
        rows=[rows[i] for i in kept],
        inputs=kept,
        time=[clock.micros(rows[i][time_column]) for i in kept],
        rank=[ranks[order(rows[i])] for i in kept],
        types=[],
    )
    derived = {
        statement: compiled(statement.where, _own_columns(statement, events))
        for statement in program.statements
        if isinstance(statement, ast.DerivedEvent)
    }
    for row in events.rows:
        own = stream.name.text if type_column is None else to_string(row[type_column], columns[type_column])
        events.types.append(_types(own, row, derived))
    return events


def _computed(stream: ast.Stream, rows: Sequence[Row]) -> tuple[dict[str, Type], list[Row]]:
    """The columns that queries see, and the rows with those that are computed, each from those before it."""
    types: dict[str, Type] = {}
    found = [dict(row) for row in rows]
    hidden: set[str] = set()

    def leaf(node: ast.Expression) -> Typed | None:
        if not isinstance(node, ast.Reference):
            return None
        name, *path = (part.text for part in node.parts)
        typed = Typed(types[name], lambda env: assume("Row", env[None]).get(name))
        for part in path:
            typed = field_of(typed, part)
        return typed

    for column in stream.columns:
        name = column.name.text
        if column.expression is None:
            assert column.type is not None
            types[name] = normal(column.type)
            continue
        value = compiled(column.expression, leaf)
        if column.type is not None:
            value = converted(value, normal(column.type))
        for row in found:
            row[name] = value.run({None: row})
        hidden |= {other for other in types if other.casefold() == name.casefold()}
        types[name] = value.type
    return {name: kind for name, kind in types.items() if name not in hidden}, list[Row](found)


def _types(own: str, row: Row, derived: Mapping[ast.DerivedEvent, Typed]) -> frozenset[str]:
    """The event's own type, and every derived type whose base it has, or ANY, and whose condition is true for it."""
    types = {own}
    waiting = list(derived)
    while ready := [event for event in waiting if event.base.text in types or event.base.text.upper() == "ANY"]:
        for event in ready:
            waiting.remove(event)
            if derived[event].run({None: row}) is True:
                types.add(event.name.text)
    return frozenset(types)


def _own_columns(event: ast.DerivedEvent, events: Events) -> Leaf:
    """In a derived type's condition a column is of the event; the type's or its base's name may stand before it."""

    def leaf(node: ast.Expression) -> Typed | None:
        if not isinstance(node, ast.Reference):
            return None
        qualified = node.parts[0].text not in events.columns and node.parts[0].text in (
            event.name.text,
            event.base.text,
        )
        return events.column(node.parts[1:] if qualified else node.parts, None)

    return leaf


def _has_order(kind: Type) -> bool:
    """Whether values of the type can be sorted: all but maps, and what holds a map."""
    return (
        kind.name != "MAP"
        and all(_has_order(p) for p in kind.parameters)
        and all(_has_order(f.type) for f in kind.fields)
    )


def duration(written: ast.Duration) -> int:
    """A duration in microseconds; one without a length is an error that the checker reports."""
    length = written.microseconds
    if length is None or length.denominator != 1 or length <= 0:
        raise Unsupported(f"duration {written.amount} {written.unit}")
    return int(length)


def offset(written: ast.Duration) -> int:
    """The same of an OFFSET, which may be 0 or negative."""
    length = written.microseconds
    if length is None or length.denominator != 1:
        raise Unsupported(f"offset {written.amount} {written.unit}")
    return int(length)
