"""What is assumed where nothing is known.

The shares are those of the first cost-based optimiser (Selinger et al., SIGMOD 1979, table 1): without knowledge, a
guess that everybody knows is better than one that nobody does.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cepc_runtime.sql.expression import Call, Literal

if TYPE_CHECKING:
    from cepc_runtime.sql.expression import Expression

RATE = 1.0  # events of a type in a second
GROUPS = 100.0  # that one or more columns make

EQUAL, RANGE, BETWEEN, HALF = 1 / 10, 1 / 3, 1 / 4, 1 / 2
NULL = 1 / 10
OTHERWISE = 1 / 3


def assumed_selectivity(condition: Expression) -> float:
    """The share of events for which a condition is taken to be true.

    >>> from cepc_runtime.sql.expression import Field
    >>> from cepc_runtime.sql.types import BOOLEAN, INT
    >>> x, one, nine = Field(None, "x", "each", INT), Literal(1, INT), Literal(9, INT)
    >>> assumed_selectivity(Call("=", (x, one), BOOLEAN))
    0.1
    >>> assumed_selectivity(Call("and", (Call(">=", (x, one), BOOLEAN), Call("<=", (x, nine), BOOLEAN)), BOOLEAN))
    0.25
    """
    match condition:
        case Literal(value=value):
            return 1.0 if value is True else 0.0
        case Call("not", (inner,)):
            return 1 - assumed_selectivity(inner)
        case Call("and", (Call(">=", (low, _)), Call("<=", (high, _)))) if low == high:
            return BETWEEN
        case Call("and", operands):
            return math.prod(map(assumed_selectivity, operands))
        case Call("or", operands):
            return 1 - math.prod(1 - assumed_selectivity(o) for o in operands)
        case Call("=" | "<=>" | "like" | "ilike" | "rlike"):
            return EQUAL
        case Call("<" | "<=" | ">" | ">="):
            return RANGE
        case Call("in", (_, *options)):
            return min(HALF, EQUAL * len(options))
        case Call("isnull"):
            return NULL
        case Call("isnotnull"):
            return 1 - NULL
    return OTHERWISE
