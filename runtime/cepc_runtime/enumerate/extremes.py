"""A condition that compares each event of a variable with aggregates of all of them, as one on the least or the
greatest event: that one is kept in mind, so that a longer match takes no longer to check.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ..sql.aggregate_functions import COUNT, MAX, MIN
from ..sql.expression import Aggregate, Call, Field, Literal, aggregates, fields_outside_aggregates
from ..sql.functions.coercion import wider_type
from ..sql.types import BIGINT, BOOLEAN, is_numeric

if TYPE_CHECKING:
    from ..plan.positions import ConditionPlan
    from ..sql.expression import Expression
    from ..sql.types import DataType

_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def by_extremes(condition: ConditionPlan) -> ConditionPlan:
    """The condition as that, where it is one: `v.x <= AVG(v.x)` is `MAX(v.x) <= AVG(v.x)` of events without null."""
    match condition.expression:
        case Call(operator, (left, right)) if operator in _MIRRORED:
            found = _extreme(operator, left, right) or _extreme(_MIRRORED[operator], right, left)
            return condition if found is None else replace(condition, expression=found)
    return condition


def _extreme(operator: str, each: Expression, whole: Expression) -> Expression | None:
    variable = _variable(each)
    of = {a.variable for a in aggregates(whole) if not a.running}
    if variable not in of or fields_outside_aggregates(whole):
        return None
    extreme = Aggregate(MAX if operator in ("<", "<=") else MIN, variable, each, False, None, each.type)
    events, values = (Aggregate(COUNT, variable, of, False, None, BIGINT) for of in (None, each))
    none = Call("=", (events, Literal(0, BIGINT)), BOOLEAN)
    every = Call("=", (events, values), BOOLEAN)
    return Call("or", (none, Call("and", (every, Call(operator, (extreme, whole), BOOLEAN)), BOOLEAN)), BOOLEAN)


def _variable(each: Expression) -> str | None:
    """That of a column, perhaps as a wider number, whose value of any event can be had."""
    match each:
        case Field(variable, _, "each"):
            return variable
        case Call("cast", (Field(variable, _, "each") as field,), type_) if _is_wider(type_, field.type):
            return variable
    return None


def _is_wider(type_: DataType, than: DataType) -> bool:
    return is_numeric(type_) and is_numeric(than) and wider_type(than, type_) == type_
