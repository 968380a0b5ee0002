"""When a condition holds for events bound to variables (docs/language.md, "Conditions")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import cast as assume

from cepc_grammar import ast

from .errors import EvaluationError, Unsupported
from .expressions import compiled
from .stream import Event, Events
from .typed import Env, Typed, order_key

Bindings = Mapping[str, tuple[Event, ...]]
"""The events bound to each variable, in canonical order. A variable that is bound to nothing may be absent."""


def by_variable(bound: Iterable[tuple[Event, str]]) -> Bindings:
    grouped: dict[str, list[Event]] = {}
    for event, variable in sorted(bound):
        grouped.setdefault(variable, []).append(event)
    return {variable: tuple(events) for variable, events in grouped.items()}


def merged(a: Bindings, b: Bindings) -> Bindings:
    return {variable: tuple(sorted(a.get(variable, ()) + b.get(variable, ()))) for variable in {**a, **b}}


def variable_in(
    parts: tuple[ast.Name, ...], variables: frozenset[str], prefix: str = ""
) -> tuple[str | None, tuple[ast.Name, ...]]:
    """The variable that a dotted name begins with, and what follows it. The longest wins: `w.p` before `w`."""
    for length in range(len(parts), 0, -1):
        variable = prefix + ".".join(part.text for part in parts[:length])
        if variable in variables:
            return variable, parts[length:]
    return None, parts


NAVIGATION = ("FIRST", "LAST", "PREV")
WHOLE = ("COUNT", "SUM", "AVG", "MIN", "MAX", "MIN_BY", "MAX_BY")
"""Aggregates of all events bound to a variable."""


def places(written: list[ast.Expression], otherwise: int) -> int:
    """How many places an argument says, if there is one."""
    return int(assume("ast.Literal", written[0]).text) if written else otherwise


class Condition:
    """One conjunct of the conditions of a query or of a named pattern."""

    def __init__(self, expression: ast.Expression, variables: frozenset[str], prefix: str, events: Events) -> None:
        self._variables, self._prefix, self._events = variables, prefix, events
        self._plain: set[str] = set()
        self._edges: set[tuple[str, str, int]] = set()  # ("FIRST" or "LAST", variable, how many further)
        self._previous: set[tuple[str, int]] = set()  # variable, how many back
        self._running: set[str] = set()
        self._whole: set[str] = set()
        self._has_column = False
        self._test = compiled(expression, self._leaf)
        previous = {variable for variable, _ in self._previous}
        edges = {variable for _, variable, _ in self._edges}
        mentions = self._plain | edges | previous | self._running | self._whole
        if previous and len(mentions) > 1:
            raise Unsupported("a conjunct with PREV(v) mentions v alone")
        late = {variable for edge, variable, far in self._edges if edge == "LAST" or far}
        if self._running & (late | self._whole) or (len(self._running) > 1 and self._running & edges):
            raise Unsupported("what is not known yet beside what is RUNNING of the same variable")
        self._needed = frozenset((self._plain | edges) - self._running)
        self.mentions = frozenset(mentions)

    @property
    def local(self) -> str | None:
        """The variable, when the condition is about each of its events by itself."""
        others = self._edges or self._previous or self._running or self._whole
        return next(iter(self._plain)) if len(self._plain) == 1 and not others else None

    @property
    def waits(self) -> bool:
        """Whether it is of all events of a variable, so that nothing is known of it before a match is complete."""
        return bool(self._whole)

    def holds(self, bindings: Bindings) -> bool:
        """For every tuple of the events; also when one of its variables, or a bare column, has no event to speak of. An
        aggregate has one of none: COUNT is 0 then, and the others are null.
        """
        asked = self._running | {variable for variable, _ in self._previous}
        if (
            not all(bindings.get(variable) for variable in self._needed)
            or (asked and not any(bindings.get(variable) for variable in asked))
            or (self._has_column and not any(bindings.values()))
        ):
            return True
        rows = self._events.rows
        anything = next((events[0] for events in bindings.values() if events), None)
        fixed: dict[object, object] = {None: None if anything is None else rows[anything]}
        for edge, v, far in self._edges:
            event = bindings[v][far if edge == "FIRST" else -1 - far] if far < len(bindings[v]) else None
            fixed[edge, v, far] = None if event is None else rows[event]
        fixed |= {("ALL", v): bindings.get(v, ()) for v in self._whole}
        return all(self._test.run({**fixed, **chosen}) is True for chosen in self._tuples(bindings))

    def _tuples(self, bindings: Bindings) -> Iterable[Env]:
        """What is RUNNING is up to one event of its variables, whose turn it is; what is PREV is before it."""
        rows = self._events.rows
        turns: list[Env] = [{}]
        if self._previous or self._running:
            in_turn = self._running | {variable for variable, _ in self._previous}
            turns = [
                turn for v in sorted(in_turn) for event in bindings.get(v, ())
                if (turn := self._turn(event, v, in_turn, bindings)) is not None
            ]  # fmt: skip
            names = sorted(self._plain - in_turn)
        else:
            names = sorted(self._plain)
        for turn in turns:
            for events in product(*(bindings[v] for v in names)):
                yield {**turn, **{v: rows[event] for v, event in zip(names, events, strict=True)}}

    def _turn(self, event: Event, variable: str, in_turn: set[str], bindings: Bindings) -> Env | None:
        rows, rank = self._events.rows, self._events.rank
        found: dict[object, object] = dict.fromkeys(in_turn)
        found[variable] = rows[event]
        earlier = [other for other in bindings[variable] if rank[other] < rank[event]]
        for v, far in self._previous:
            if len(earlier) < far:
                return None
            found["PREV", v, far] = rows[earlier[-far]]
        for v in self._running:
            found["RUNNING", v] = tuple(other for other in bindings.get(v, ()) if other <= event)
        return found

    def _leaf(self, node: ast.Expression) -> Typed | None:
        match node:
            case ast.Call(function) if node.running or function.text.upper() in WHOLE:
                return self._aggregate(node)
            case ast.Reference(parts):
                variable, rest = variable_in(parts, self._variables, self._prefix)
                if variable is None:
                    self._has_column = True
                    return self._events.column(parts, None)
                self._plain.add(variable)
                return self._column(rest, variable)
            case ast.Member(ast.Call(function, (ast.Reference(parts), *far)), name) if (
                function.text.upper() in NAVIGATION
            ):
                return self._navigation(function.text.upper(), (*parts, name), far)
            case ast.Call(function, (ast.Reference(parts), *far)) if function.text.upper() in NAVIGATION:
                return self._navigation(function.text.upper(), parts, far)
            case ast.Call(function, (ast.Reference(parts), *far)) if function.text.upper() in ("LAG", "LEAD"):
                return self._beside(parts, far, -1 if function.text.upper() == "LAG" else 1)
        return None

    def _aggregate(self, call: ast.Call) -> Typed:
        """Of all events bound to the variable; of what is RUNNING, up to the one at hand, it included."""
        from .aggregates import DoesNotFit, aggregate

        made = aggregate(call, self._variables, self._events, True, self._prefix)
        if made.variable is None:
            raise Unsupported("COUNT(*) in a condition")
        variable = made.variable
        (self._running if call.running else self._whole).add(variable)

        def value(env: Env) -> object:
            bound = assume("tuple[Event, ...]", env["RUNNING" if call.running else "ALL", variable])
            try:
                return made.fitted(made.exact([{variable: bound}], self._events))
            except DoesNotFit as error:
                raise EvaluationError(f"{made.function} does not fit") from error

        return Typed(made.type, value)

    def _beside(self, parts: tuple[ast.Name, ...], far: list[ast.Expression], direction: int) -> Typed:
        """LAG and LEAD: a value of the event, for all that it is another event's."""
        variable, rest = variable_in(parts, self._variables, self._prefix)
        if variable is None or not rest:
            raise Unsupported("LAG and LEAD of no column of a variable")
        self._plain.add(variable)
        return self._events.beside(rest, variable, direction * places(far, 1))

    def _navigation(self, function: str, parts: tuple[ast.Name, ...], written: list[ast.Expression]) -> Typed:
        variable, rest = variable_in(parts, self._variables, self._prefix)
        if variable is None:
            raise Unsupported(f"{function} of no variable")
        far = places(written, 1 if function == "PREV" else 0)
        if function == "PREV":
            self._previous.add((variable, far))
        else:
            self._edges.add((function, variable, far))
        return self._column(rest, (function, variable, far))

    def _column(self, parts: tuple[ast.Name, ...], key: object) -> Typed:
        if not parts:
            raise Unsupported("a variable without an attribute in a condition")
        return self._events.column(parts, key)


def agree(events: Events, attributes: Iterable[str], among: Iterable[Event]) -> bool:
    """Whether the events have one value of each attribute. As in Spark's GROUP BY, null is null and NaN is NaN."""
    names = tuple(attributes)
    return not names or len({tuple(order_key(events.attribute(event, name)) for name in names) for event in among}) <= 1
