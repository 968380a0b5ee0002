"""From a pattern with its conditions sorted to the pattern of the checked program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar.pattern import Named, Not, Seq, children, over

from .. import model
from . import written
from .conditions import NOTHING, Sorted
from .durations import Tick, ticks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cepc_runtime.sql.expression import Expression

    from .written import Written


def build(pattern: Written, conditions: Mapping[int, Sorted], unit: Tick) -> model.Pattern:
    """`conditions` are those of named patterns, by the identity of their nodes."""
    return _build(pattern, {}, conditions, unit)


def _build(
    node: Written,
    tests: Mapping[str, tuple[Expression, ...]],
    conditions: Mapping[int, Sorted],
    unit: Tick,
) -> model.Pattern:
    def part(inner: Written) -> model.Pattern:
        return _build(inner, tests, conditions, unit)

    match node:
        case written.Event(variable):
            return model.Event(variable, tests.get(variable, ()))
        case Seq((only,)):
            return part(only)
        case Not(body, within, span):
            length = None if within is None else ticks(within, unit)
            assert length is None or isinstance(length, int)
            return Not(part(body), length, span)
        case Named(body, written.Use(name), span):
            own = conditions.get(id(node), NOTHING)
            # What mentions no variable holds for the events of a match of this pattern, in a NOT around it too.
            matched = {e.variable for e in written.positive(body)}
            inside = dict(tests)
            for variable in {e.variable for e in written.events(body)}:
                found = (*own.tests.get(variable, ()), *(own.shared if variable in matched else ()))
                inside[variable] = (*tests.get(variable, ()), *found)
            inner = _build(body, inside, conditions, unit)
            return Named(inner, model.Scope(name, own.conditions), span) if own.conditions else inner
        case _:
            return over(node, tuple(map(part, children(node))))
