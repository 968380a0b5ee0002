"""The result rows of a query: docs/language.md, "Results" and "Windows"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cepc_grammar import ast

from .aggregates import MATCH_ONLY, Aggregate, DoesNotFit, aggregate, at
from .conditions import Bindings, by_variable, variable_in
from .errors import EvaluationError, Overflow, Unsupported
from .expressions import compiled
from .matches import AGGREGATES, Finder, Found, Window, group_attributes
from .merging import OF
from .naming import column_name
from .typed import Env, Typed, constant, order_key
from .types import BIGINT, STRING, Type, array, normal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .stream import Event, Events
    from .types import Type

Row = dict[str, object]


@dataclass(frozen=True)
class Group:
    """What one result row is about: one match, or the matches of one group and window."""

    matches: Sequence[Bindings]
    window: Window | None
    number: int = 0

    @property
    def event(self) -> Event:
        """Any event: they agree on what a bare column may name."""
        return min(event for events in self.matches[0].values() for event in events)


class Columns:
    """The result columns of a query, ready to be computed for a group."""

    def __init__(self, finder: Finder) -> None:
        self._finder, self._events = finder, finder.events
        query = finder.query
        self._group = group_attributes(query, finder.events)
        self._shared = finder.equivalent + self._group if finder.of_matches else self._group
        self._items = {column_name(item, self._group): item.expression for item in query.returns.items}
        leaf = self._each_leaf if query.returns.each else self._leaf
        self._columns = {
            name: column
            for item in query.returns.items
            for name, column in (
                self._every_column()
                if query.returns.each and isinstance(item.expression, ast.Star)
                else [(column_name(item, self._group), compiled(item.expression, leaf))]
            )
        }
        self._having = None if query.having is None else compiled(query.having, self._having_leaf)

    @property
    def types(self) -> dict[str, Type]:
        """The types of the columns."""
        return {name: column.type for name, column in self._columns.items()}

    def row(self, group: Group) -> Row | None:
        """The group's row, or None when HAVING is not true for it."""
        env: Env = {Group: group, None: self._events.rows[group.event]}
        return self._row(group, env) if self._keeps(env) else None

    def rows_of_events(self, group: Group) -> list[Row]:
        """Of RETURN EACH: a row for each event of the match, none when HAVING is not true for the match."""
        if not self._keeps({Group: group, None: self._events.rows[group.event]}):
            return []
        bound = sorted((event, variable) for variable, events in group.matches[0].items() for event in events)
        return [self._row(group, {Group: group, None: self._events.rows[e], "at": (e, v)}) for e, v in bound]

    def _keeps(self, env: Env) -> bool:
        return self._having is None or self._having.run({**env, "exact": True}) is True

    def _row(self, group: Group, env: Env) -> Row:
        row: Row = {}
        for name, column in self._columns.items():
            try:
                row[name] = column.run(env)
            except DoesNotFit:
                values = [shared_value(self._events.attribute(group.event, a)) for a in self._group]
                raise Overflow(self._finder.query.name.text, name, values, group.window) from None
        return row

    # ---- what names and calls mean in RETURN and HAVING --------------------------------------------------------------

    def _leaf(self, node: ast.Expression) -> Typed | None:
        match node:
            case ast.Star():
                return self._whole_match()
            case ast.Cast(ast.Call() as call, written, safe) if self._is_aggregate(call):
                made = self._aggregate(call)
                target = normal(written)
                return Typed(target, lambda env: made.cast(self._exact(made, env), target, safe))
            case ast.Call(function, (ast.Reference((name,)),)) if function.text.upper() == "LABEL":
                (text,) = (text for label, text in self._finder.query.labels if label.text == name.text)
                return constant(STRING, text)
            case ast.Call(function, ()) if function.text.upper() == "MATCH_NUMBER":
                return Typed(BIGINT, _number)
            case ast.Call() if self._is_aggregate(node):
                made = self._aggregate(node)
                return Typed(made.type, lambda env: self._value(made, env))
            case ast.Member(ast.Call(function, (ast.Reference(parts), *far)) as call, name) if self._is_aggregate(call):
                return self._leaf(ast.Call(function, (ast.Reference((*parts, name)), *far)))  # FIRST(v).x is FIRST(v.x)
            case ast.Reference(parts):
                return self._reference(parts)
        return None

    def _each_leaf(self, node: ast.Expression) -> Typed | None:
        """In RETURN EACH: what is of the event at hand; anything else is of its match."""
        match node:
            case ast.Call(function, ()) if function.text.upper() == "VARIABLE":
                return Typed(STRING, lambda env: at(env)[1])
            case ast.Cast(ast.Call(running=True) as call, written, safe):
                made, target = self._aggregate(call), normal(written)
                return Typed(target, lambda env: made.cast(made.exact([_up_to(env)], self._events), target, safe))
            case ast.Call(running=True):
                made = self._aggregate(node)
                return Typed(made.type, lambda env: made.fitted(made.exact([_up_to(env)], self._events)))
            case ast.Reference(parts):
                variable, rest = variable_in(parts, self._finder.variables)
                if variable is None or not rest:
                    return self._of_event(parts)
                column = self._events.column(rest, variable)

                def run(env: Env) -> object:
                    event, bound_to = at(env)
                    return column.run({variable: self._events.rows[event]}) if bound_to == variable else None

                return Typed(column.type, run)
        return self._leaf(node)

    def _of_event(self, parts: tuple[ast.Name, ...]) -> Typed:
        if self._events.merged is not None and not all(
            parts[0].text in called for called in self._events.merged.own.values()
        ):
            raise Unsupported(f"not all streams have {parts[0].text}")
        return self._events.column(parts, None)

    def _every_column(self) -> list[tuple[str, Typed]]:
        """`RETURN EACH *`: what `RETURN MATCH *` shows of an event."""
        found = [("variable", Typed(STRING, lambda env: at(env)[1]))]
        if self._events.merged is not None:
            found.append(("stream", Typed(STRING, lambda env: self._events.rows[at(env)[0]][OF])))
        return found + [(name, self._column_shown(name, type_)) for name, type_ in self._events.columns.items()]

    def _column_shown(self, name: str, type_: Type) -> Typed:
        return Typed(type_, lambda env: self._shown(at(env)[0], name))

    def _having_leaf(self, node: ast.Expression) -> Typed | None:
        """In HAVING also a result column's name stands for its expression."""
        match node:
            case ast.Reference((name,)) if name.text in self._items:
                return compiled(self._items[name.text], self._leaf)
        return self._leaf(node)

    def _is_aggregate(self, call: ast.Call) -> bool:
        return call.function.text.upper() in AGGREGATES + MATCH_ONLY

    def _aggregate(self, call: ast.Call) -> Aggregate:
        return aggregate(call, self._finder.variables, self._events, self._finder.of_matches)

    def _exact(self, made: Aggregate, env: Env) -> Any:
        group = env[Group]
        assert isinstance(group, Group)
        return made.exact(group.matches, self._events)

    def _value(self, made: Aggregate, env: Env) -> Any:
        """HAVING compares exact values, so there none needs to fit (but TRY_ is null all the same)."""
        value = self._exact(made, env)
        return value if "exact" in env and not made.function.startswith("TRY_") else made.fitted(value)

    def _reference(self, parts: tuple[ast.Name, ...]) -> Typed:
        variable, rest = variable_in(parts, self._finder.variables)
        if variable is not None and self._finder.of_matches:
            return self._of_single(variable, rest)
        dotted = [".".join(part.text for part in rest[:end]) for end in range(1, len(rest) + 1)]
        if not any(name in self._shared for name in dotted) and rest[-1].text in self._shared:
            rest = rest[-1:]  # T.a for a grouping attribute a, T a type
        elif not any(name in self._shared for name in dotted):
            raise Unsupported(f"{rest[0].text} is no grouping attribute")
        column = self._events.column(rest, None)
        return Typed(column.type, lambda env: shared_value(column.run(env)))

    def _of_single(self, variable: str, rest: tuple[ast.Name, ...]) -> Typed:
        """`a.x` of a single variable: null when it is bound to nothing."""
        if not rest:
            raise Unsupported(f"variable {variable} without an attribute")
        column = self._events.column(rest, variable)

        def run(env: Env) -> object:
            group = env[Group]
            assert isinstance(group, Group)
            bound = group.matches[0].get(variable, ())
            if len(bound) > 1:
                raise Unsupported(f"{variable} is a list")
            return column.run({variable: self._events.rows[bound[0]]}) if bound else None

        return Typed(column.type, run)

    def _whole_match(self) -> Typed:
        """`RETURN MATCH *`: all events as structs with their variable, in canonical order."""

        def run(env: Env) -> object:
            group = env[Group]
            assert isinstance(group, Group)
            bound = sorted((event, variable) for variable, events in group.matches[0].items() for event in events)
            return [
                {
                    "variable": v,
                    **({} if self._events.merged is None else {"stream": self._events.rows[e][OF]}),
                    **{name: self._shown(e, name) for name in self._events.columns},
                }
                for e, v in bound
            ]

        shown = {
            "variable": STRING,
            **({} if self._events.merged is None else {"stream": STRING}),
            **self._events.columns,
        }
        fields = tuple(ast.TypeField(ast.Name(name), kind) for name, kind in shown.items())
        return Typed(array(ast.TypeExpr("STRUCT", fields=fields)), run)

    def _shown(self, event: Event, name: str) -> object:
        row, merged = self._events.rows[event], self._events.merged
        return row.get(name) if merged is None else merged.value(row, name)


def _up_to(env: Env) -> Bindings:
    """The match's events up to the one at hand, in canonical order."""
    group = env[Group]
    assert isinstance(group, Group)
    last, _ = at(env)
    return {variable: tuple(e for e in events if e <= last) for variable, events in group.matches[0].items()}


def _number(env: Env) -> int:
    group = env[Group]
    assert isinstance(group, Group)
    return group.number


def shared_value(value: object) -> object:
    """The value that all events of a group share, as Spark's GROUP BY gives it: -0.0 is 0.0."""
    return 0.0 if isinstance(value, float) and value == 0 else value


def rows(finder: Finder, found: Sequence[Found]) -> list[Row]:
    """All result rows of the query, in no particular order, from the matches that it finds."""
    columns = Columns(finder)
    make = _match_rows if finder.of_matches else _aggregate_rows
    try:
        return make(finder, columns, found)
    except Overflow as overflow:
        raise Overflow(finder.query.name.text, overflow.column, overflow.group, overflow.window) from None
    except DoesNotFit:
        raise Overflow(finder.query.name.text, "HAVING") from None


def _match_rows(finder: Finder, columns: Columns, matches: Sequence[Found]) -> list[Row]:
    """One row for each match, or each event of it, with `match_start` and `match_end`."""
    events, found = finder.events, []
    for result in matches:
        group = Group([by_variable(result.match)], None, result.number)
        if finder.query.returns.each:
            kept = columns.rows_of_events(group)
        else:
            kept = [row for row in [columns.row(group)] if row is not None]
        bound = sorted(event for event, _ in result.match)
        edges = {"match_start": bound[0], "match_end": bound[-1]}
        found += [row | {name: _time(events, edge) for name, edge in edges.items()} for row in kept]
    return found


def _time(events: Events, event: Event) -> object:
    return events.rows[event][events.clock.column] if events.merged is None else events.clock.value(events.time[event])


def _aggregate_rows(finder: Finder, columns: Columns, matches: Sequence[Found]) -> list[Row]:
    """One row for each value of GROUP BY and each window with at least one match."""
    events = finder.events
    groups: dict[tuple[Any, Window], list[Bindings]] = {}
    for result in matches:
        first = min(event for event, _ in result.match)
        key = tuple(order_key(events.attribute(first, name)) for name in group_attributes(finder.query, events))
        for window in result.windows:
            groups.setdefault((key, window), []).append(by_variable(result.match))
    found = []
    for (_, window), of_group in groups.items():
        row_of = columns.row(Group(of_group, window))
        if row_of is not None:
            found.append(row_of | _edges(events, window))
    return found


def _edges(events: Events, window: Window) -> Row:
    """`window_start` and `window_end` in the event-time column's type; null where the window has no edge."""
    return {
        name: None if edge is None else events.clock.value(edge)
        for name, edge in (("window_start", window.start), ("window_end", window.end))
    }


__all__ = ["EvaluationError", "Row", "rows"]
