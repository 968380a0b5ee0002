"""How many events conditions leave a variable: of `COUNT(v) <= 3` in WHERE at most three, since a count only grows.

A condition with an aggregate of all of v's events is asked when v can no longer be bound, which may be thousands of
events later. A partial match with more than these is none that a match comes of, whatever follows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..cheap_dataclass import dataclass
from ..sql.expression import Aggregate, Call, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..plan.positions import ConditionPlan
    from ..sql.expression import Expression

_SWAPPED: Final = {"<": ">", "<=": ">=", "=": "=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class CountLimit:
    """So many of the aggregate, which counts in the current instance of the scope if there is one, `most` at most."""

    count: Aggregate
    scope: int | None
    most: int


def count_limits(condition: ConditionPlan) -> Iterator[CountLimit]:
    """Those that follow from a condition."""
    for count, most in _limits(condition.expression):
        yield CountLimit(count, condition.scope, most)


def _limits(expression: Expression) -> Iterator[tuple[Aggregate, int]]:
    match expression:
        case Call(function="and", arguments=parts):
            for part in parts:
                yield from _limits(part)
        case Call(function=function, arguments=(Literal() as limit, Aggregate() as count)) if function in _SWAPPED:
            yield from _limit(count, _SWAPPED[function], limit)
        case Call(function=function, arguments=(Aggregate() as count, Literal() as limit)) if function in _SWAPPED:
            yield from _limit(count, function, limit)


def _limit(count: Aggregate, function: str, limit: Literal) -> Iterator[tuple[Aggregate, int]]:
    grows = count.function.counts and count.variable is not None and not count.running
    if grows and type(limit.value) is int and function in ("<", "<=", "="):
        yield count, limit.value - (function == "<")
