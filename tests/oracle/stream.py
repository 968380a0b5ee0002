"""The events of a stream, in the order and with the types that docs/language.md ("Time", "Events that are none") gives
them.

An event is named by its place in canonical order, so that comparing two events as numbers breaks every tie as the page
says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import takewhile
from typing import Any, TypeGuard
from typing import cast as assume

from cepc_grammar import ast

from .casts import from_micros, in_range, micros, to_string
from .errors import Overflow, Unsupported
from .expressions import Leaf, compiled, field_of
from .merging import Merged, merged
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
    merged: Merged | None = None  # where they are of several streams

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
        value: Any = row.get(first) if self.merged is None else self.merged.value(row, first)
        for part in path:
            value = None if value is None else value[part]
        return value

    def column(self, parts: tuple[ast.Name, ...], key: object) -> Typed:
        """The column, or field of a column, with this dotted name, of the row that the environment has under `key`."""
        return self.beside(parts, key, 0)

    def beside(self, parts: tuple[ast.Name, ...], key: object, places: int) -> Typed:
        """The same of the event so many places after that row in its partition, or before it; null where there is
        none. Of several streams it is a column that has a name in all of them: the event may be of any.
        """
        name, whole = parts[0].text, self.merged
        if whole is not None and not places:
            return whole.column(parts, key)
        if name not in (self.columns if whole is None else whole.shared):
            raise Unsupported(f"no column {name}")

        def value(env: Env) -> object:
            row = assume("Row | None", env[key])
            if row is not None and places:
                together, place = assume("tuple[list[Row], int]", row[AMONG])
                row = together[place + places] if 0 <= place + places < len(together) else None
            if row is None or whole is None:
                return None if row is None else row.get(name)
            return whole.value(row, name)

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

    sorted_by = [name for name, kind in columns.items() if has_order(kind)]

    def order(row: Row) -> tuple[Any, ...]:
        return (clock.micros(row[time_column]), *(order_key(row.get(name.text)) for name in event_time.order_by))

    type_column = stream.event_type.column.text if stream.event_type else None
    kept = [i for i, row in enumerate(rows) if row.get(time_column) is not None]
    kept = [i for i in kept if type_column is None or rows[i].get(type_column) is not None]
    instants = {i: order(rows[i]) for i in kept}
    kept.sort(key=lambda i: (instants[i], *(order_key(rows[i].get(name)) for name in sorted_by)))
    ranks = {instant: rank for rank, instant in enumerate(sorted({*instants.values()}))}
    events = Events(
        columns,
        clock,
        rows=[rows[i] for i in kept],
        inputs=kept,
        time=[instants[i][0] for i in kept],
        rank=[ranks[instants[i]] for i in kept],
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


def read_several(program: ast.Program, rows: Mapping[str, Sequence[Row]], names: Sequence[str]) -> Events:
    """The rows of these streams as the events of a query over all of them. An event's place in the input is its stream
    and its place there.
    """
    declared = {s.name.text: s for s in program.statements if isinstance(s, ast.Stream)}
    own = {name: read(one_stream(program, name), rows.get(name, ())) for name in declared if name in names}
    first, *others = own.values()
    if any(other.clock.type != first.clock.type or other.clock.unit != first.clock.unit for other in others):
        raise Unsupported("event times of several types")
    whole = merged({name: events.columns for name, events in own.items()})
    orders = [[c.text for c in time.order_by] for name in own if (time := declared[name].event_time) is not None]
    order_by = [some[0] for some in takewhile(lambda some: len({*some}) == 1, zip(*orders, strict=False))]
    derived = {
        event: compiled(event.where, lambda node: whole.column(node.parts, None) if _is_reference(node) else None)
        for event in program.statements
        if isinstance(event, ast.DerivedEvent) and event.base.text.upper() == "ANY" and names_only(event, whole.shared)
    }
    found: list[tuple[Any, ...]] = []
    for place, (name, events) in enumerate(own.items()):
        for event in events.all():
            row = whole.row(name, events.rows[event])
            instant = (events.time[event], *(order_key(whole.value(row, column)) for column in order_by))
            columns = tuple(
                order_key(whole.value(row, column)) for column, kind in whole.columns.items() if has_order(kind)
            )
            types = set(events.types[event])
            types |= {f"{name}.{t}" for t in types}
            types |= {event_.name.text for event_ in derived if derived[event_].run({None: row}) is True}
            found.append((instant, place, columns, events.inputs[event], name, row, frozenset(types)))
    found.sort(key=lambda one: one[:4])
    ranks = {instant: rank for rank, instant in enumerate(sorted({one[0] for one in found}))}
    return Events(
        whole.columns,
        first.clock,
        rows=[one[5] for one in found],
        inputs=[(one[4], one[3]) for one in found],  # type: ignore[misc]
        time=[one[0][0] for one in found],
        rank=[ranks[one[0]] for one in found],
        types=[one[6] for one in found],
        merged=whole,
    )


def _is_reference(node: ast.Expression) -> TypeGuard[ast.Reference]:
    return isinstance(node, ast.Reference)


def one_stream(program: ast.Program, name: str) -> ast.Program:
    """The program with one of its streams, and the derived events that its events can be of."""
    streams = {s.name.text: s for s in program.statements if isinstance(s, ast.Stream)}
    listed = {n: None if s.event_type is None or s.event_type.types is None else {t.text for t in s.event_type.types}
              for n, s in streams.items()}  # fmt: skip
    types = {name} if streams[name].event_type is None else listed[name]
    events = {e.name.text: e for e in program.statements if isinstance(e, ast.DerivedEvent)}

    def fits(event: ast.DerivedEvent) -> bool:
        if event.stream is not None and event.stream.text != name:
            return False
        base = events.get(event.base.text)
        if base is not None:
            return fits(base)
        if event.base.text.upper() == "ANY":
            return names_only(event, {c.name.text: None for c in streams[name].columns})
        return types is None or event.base.text in types

    kept = []
    for statement in program.statements:
        if isinstance(statement, ast.Stream) and statement.name.text != name:
            continue
        if isinstance(statement, ast.DerivedEvent):
            if not fits(statement):
                continue
            statement = replace(statement, stream=None)
        kept.append(statement)
    return ast.Program(tuple(kept))


def names_only(event: ast.DerivedEvent, columns: Mapping[str, object]) -> bool:
    """Whether the condition of a derived event names these columns alone."""
    return all(parts[0].text in columns or parts[0].text == event.name.text for parts in _references(event.where))


def _references(node: Any) -> Iterator[tuple[ast.Name, ...]]:
    if isinstance(node, ast.Reference):
        yield node.parts
    elif isinstance(node, tuple):
        for part in node:
            yield from _references(part)
    elif is_dataclass(node):
        for field in fields(node):
            yield from _references(getattr(node, field.name))


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


def has_order(kind: Type) -> bool:
    """Whether values of the type can be sorted: all but maps, and what holds a map."""
    return (
        kind.name != "MAP"
        and all(has_order(p) for p in kind.parameters)
        and all(has_order(f.type) for f in kind.fields)
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
