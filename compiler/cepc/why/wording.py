"""Groups, numbers and constraints in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cepc_grammar.pattern import with_leaves
from cepc_runtime.plan.stream import TIME, TYPE

from .. import model
from ..explaining.describe import duration, skipped
from ..explaining.describe import pattern as pattern_text
from .constraints import (
    AfterMatchConstraint,
    Constraint,
    Joint,
    Local,
    Negated,
    PartConstraint,
    SelectionConstraint,
    WithinConstraint,
)
from .values import local_text, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping


def clause_text(clause: str, column: str) -> str:
    """The event time or event type with the column that has it, or alone where each of several streams has its own.

    >>> clause_text("event time", "at"), clause_text("event type", TYPE)
    ('event time `at`', 'event type')
    """
    return clause if column in (TIME, TYPE) else f"{clause} `{column}`"


def order_cure(stream: model.Stream) -> str:
    """How events of one time come to have an order."""
    if stream.members:
        return "`ORDER BY` a column that all its streams have gives it one, in the EVENT TIME of each"
    return f"`EVENT TIME {stream.time.column} ORDER BY` another column gives it one"


def group_text(group: Mapping[str, Any]) -> str:
    """`driver = 7, district = 'north'`."""
    return ", ".join(f"{name} = {scalar_text(value)}" for name, value in group.items())


def scalar_text(value: Any) -> str:
    return text_of(pa.chunked_array([pa.array([value.as_py()], value.type)]))


def listed(limit: int) -> str:
    """
    >>> listed(1), listed(5)
    ('the first is this', 'the first 5 are these')
    """
    return "the first is this" if limit == 1 else f"the first {limit} are these"


def constraint_text(constraint: Constraint, query: model.Query, stream: model.Stream) -> str:
    """What the query says there."""
    match constraint:
        case Local(variable, condition):
            return f"the condition {local_text(condition, variable)}"
        case Joint(condition, scope):
            return f"the condition {condition.text}" + (f" of the pattern {scope}" if scope else "")
        case Negated(negation):
            return pattern_text(_typed(negation, query), stream)
        case AfterMatchConstraint(after):
            return f"AFTER MATCH SKIP {skipped(after, stream)}"
        case PartConstraint(part):
            return pattern_text(_typed(part, query), stream)
        case SelectionConstraint():
            return f"SELECT {query.select}"
        case WithinConstraint(span, session):
            return f"WITHIN {'SESSION ' if session else ''}{duration(span, stream)}"


def _typed(node: model.Pattern, query: model.Query) -> model.Pattern:
    """The pattern with events called by their types as well as their variables."""

    def typed(event: model.Event) -> model.Event:
        type_ = query.variable(event.variable).type
        return event if event.variable == type_ else model.Event(f"{type_} {event.variable}")

    return with_leaves(node, model.Event, typed)
