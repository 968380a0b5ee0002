"""How many matches a window has at least that HAVING keeps, where that is plain: the kernel emits no others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from ..sql.expression import Aggregate, Call, Literal
from ..sql.types import DOUBLE

if TYPE_CHECKING:
    from ..plan.query import QueryPlan
    from ..sql.expression import Expression

LARGEST: Final = 1 << 53
"""So many are told from fewer in a float64."""

_MIRRORED: Final = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def fewest(query: QueryPlan) -> int:
    """For a query whose partitions are its groups. HAVING is evaluated afterwards; it cannot fail for what is left out,
    for it compares nothing but COUNT(*) with numbers, and so few fit any of the types.
    """
    if query.having is None or set(query.group_by) != set(query.partition):
        return 0
    return _fewest(query.having) or 0


def _fewest(condition: Expression) -> int | None:
    """None if it is anything but such comparisons, all of which hold."""
    match condition:
        case Call("and", parts):
            found = [_fewest(part) for part in parts]
            known = [least for least in found if least is not None]
            return max(known) if len(known) == len(found) else None
        case Call(name, (Literal(value), Aggregate() as count)) if name in _MIRRORED:
            return _least(_MIRRORED[name], count, value)
        case Call(name, (Aggregate() as count, Literal(value))) if name in _MIRRORED:
            return _least(name, count, value)
    return None


def _least(comparison: str, count: Aggregate, value: object) -> int | None:
    if count.variable is not None or count.target not in (None, DOUBLE):
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        return None
    match comparison:
        case ">":
            return min(max(math.floor(value) + 1, 0), LARGEST)
        case ">=" | "=":
            return min(max(math.ceil(value), 0), LARGEST)
    return 0
