"""Conditions on an event that is read next: comparisons of it and one other event, which is the one read just before,
the first of the match, or the first or last so far of another variable; and what else can be computed of these
(formulas.py).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...cheap_dataclass import dataclass
from ...kernel.adjacent.tests import Comparison, comparison
from ...sql.expression import Aggregate, Call, Field, Literal, conjuncts, fields_outside_aggregates, rewrite
from .formulas import Formula, HeldEvent, formula_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Literal as OneOf

    from ...sql.expression import Expression, FieldKey
    from ..checks import Check
    from ..condition import Condition
    from ..pattern import IndexedPositions
    from .formulas import EventPlace


@dataclass(frozen=True, slots=True)
class PairTest:
    """Of an event and the `other`: the one read just before it, the first of the match, or one that is held."""

    comparison: Comparison
    other: OneOf["earlier", "first"] | HeldEvent

    @property
    def from_first(self) -> bool:
        return self.other == "first"

    @property
    def is_local(self) -> bool:
        """Whether it is known by the event and the one before, whatever the match."""
        return self.other == "earlier"


@dataclass(frozen=True, slots=True)
class Bindings:
    """What has been read in a state: the variable of the last event, those that events before it may be bound to and
    those that some are, those that the match's first event alone can be bound to, and those with one event at most.
    """

    last: str | None
    before: frozenset[str]
    surely: frozenset[str]
    initial: frozenset[str]
    single: frozenset[str]

    def binds(self, variable: str) -> bool:
        """Whether some event may be bound to the variable."""
        return variable == self.last or variable in self.before


def bindings_of(pattern: IndexedPositions) -> tuple[Bindings, ...] | None:
    """Of each state; None where one is reached with different variables."""
    count = pattern.positions.states
    last: list[str | None] = [None] * count
    for edge in pattern.edges:
        if last[edge.target] not in (None, edge.variable):
            return None
        last[edge.target] = edge.variable
    own = [frozenset(() if name is None else (name,)) for name in last]
    before: list[frozenset[str]] = [frozenset() for _ in last]
    surely: list[frozenset[str]] = [frozenset(pattern.variables) if state else frozenset() for state in range(count)]
    changed = True
    while changed:
        known = [*before, *surely]
        for edge in pattern.edges:
            before[edge.target] |= before[edge.source] | own[edge.source]
            surely[edge.target] &= surely[edge.source] | own[edge.source]
        changed = known != [*before, *surely]
    inner = {edge.variable for edge in pattern.edges if edge.source != 0}
    initial = frozenset(pattern.variables) - inner
    again = {edge.variable for edge in pattern.edges if edge.variable in before[edge.target]}
    single = frozenset(pattern.variables) - again
    return tuple(Bindings(*of, initial, single) for of in zip(last, before, surely, strict=True))


def tests_on(
    checks: Iterable[Check],
    conditions: tuple[Condition, ...],
    bindings: Bindings,
    variable: str | None,
) -> tuple[tuple[PairTest, ...], tuple[Formula, ...]] | Condition:
    """What is to be true of an event of the variable that is read in the state, or without one of a match that ends
    there, given what is checked then; a condition that says something else where there is one.
    """
    tests: dict[PairTest, None] = {}
    formulas: dict[Formula, None] = {}
    for check in checks:
        condition, new = conditions[check.condition], check.extent == "new"
        if any(name != variable and not bindings.binds(name) for name in condition.of):
            continue  # there is no tuple: the condition holds
        running = condition.running
        if running and variable not in running:
            if any(bindings.binds(name) for name in running):  # their events are at hand, and not this one
                return condition
            continue
        own = running or tuple(name for name in condition.eaches if name == variable)
        if not new and any(bindings.binds(name) for name in own):
            return condition  # there are tuples without the event
        keys = [key for key in condition.keys if key.variable == variable or key.variable not in running]
        places = {key: _place(key, condition, bindings, variable, new) for key in keys}
        if "nowhere" in places.values():  # there is none with the event
            continue
        for part in conjuncts(_at_hand(condition.plan.expression, variable, running)):
            test = _test(part, places) if new or _is_in_every(variable, condition) else None
            formula = formula_of(part, places) if test is None else None
            if test is not None:
                tests[test] = None
            elif formula is not None:
                formulas[formula] = None
            else:
                return condition
    return tuple(tests), tuple(formulas)


def _at_hand(expression: Expression, variable: str | None, running: tuple[str, ...]) -> Expression:
    """What it says when the variable's event is at hand: columns of the other ones that are RUNNING are null, and of
    these there may be no events so far.
    """
    match expression:
        case Aggregate(running=True) if expression.variable != variable:
            return replace(expression, running=False)
        case Field(name, type=type_) if name in running and name != variable:
            return Literal(None, type_)
        case Call(arguments=arguments):
            return replace(expression, arguments=tuple(_at_hand(a, variable, running) for a in arguments))
    return expression


def _is_in_every(variable: str | None, condition: Condition) -> bool:
    """Whether every tuple of the condition has the event of the variable, before which no other was bound to it."""
    return variable in condition.eaches or any(name == variable for name, *_ in condition.lasts)


def _place(key: FieldKey, condition: Condition, bindings: Bindings, variable: str | None, new: bool) -> EventPlace:
    """Which event a field of the condition is of when an event of the variable is read in the state, or none is."""
    name = key.variable
    if name is None or key.places:
        return "far"
    if name == variable:
        return _own_place(key, condition, bindings, new)
    if name not in bindings.before:  # one event alone
        return "nowhere" if key.at == "prev" else "earlier"
    if name == bindings.last and key.at == "last":
        return "earlier"
    if name in bindings.initial and name in bindings.surely:
        return "nowhere" if key.at == "prev" else "first"
    if key.at == "prev" or not (name == bindings.last or name in bindings.surely):
        return "far"
    if name in bindings.single or key.at == "last":
        return HeldEvent(name, "last")
    return HeldEvent(name, "first") if key.at == "first" else "far"


def _own_place(key: FieldKey, condition: Condition, bindings: Bindings, new: bool) -> EventPlace:
    """The same of the variable that the event is bound to itself. `new`: tuples with the event are asked for."""
    name = key.variable
    assert name is not None
    match key.at:
        case "each" | "last":
            return "later"
        case "prev" if name == bindings.last:
            return "earlier"
        case "prev":
            return "far" if name in bindings.before else "nowhere"
    if not bindings.binds(name):
        return "later"
    if new and name not in condition.eaches:  # the condition is about its first event, which has been read
        return "nowhere" if name == bindings.last or name in bindings.surely else "far"
    return "earlier" if name not in bindings.before else "far"


def _test(part: Expression, places: Mapping[FieldKey, EventPlace]) -> PairTest | None:
    """A part of a condition as a test; None where it is something else."""
    others = {places[field.key] for field in fields_outside_aggregates(part)} - {"later"}
    compared = comparison(rewrite(part, lambda node: _placed(node, places)))
    if len(others) != 1 or compared is None or compared.later.type != compared.earlier.type:
        return None
    match others.pop():
        case "earlier" | "first" | HeldEvent() as other:
            return PairTest(compared, other)
    return None


def _placed(node: Expression, places: Mapping[FieldKey, EventPlace]) -> Expression:
    if not isinstance(node, Field) or node.key not in places:  # one that an aggregate adds up
        return node
    return Field("later" if places[node.key] == "later" else "earlier", node.column, "each", node.type)
