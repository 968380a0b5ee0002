"""Which parts of an expression every engine computes, and which only Spark does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..expression import Call, Expression, Literal, walk
from ..like import is_portable
from ..time_patterns import is_portable as reads
from . import GROUPS

if TYPE_CHECKING:
    from collections.abc import Iterator

_SYNTAX: Final = (
    "and", "or", "not", "case", "in", "cast", "try_cast", "field", "item", "=", "<", "<=", ">", ">=", "+", "-", "*",
    "/", "&", "|",
    "^", "~", "seconds_with_fraction", "yearofweek", "interval_days", "interval_hours", "interval_minutes",
    "interval_seconds",
)  # fmt: skip
"""What operators and other syntax become."""

_REWRITTEN: Final = frozenset(
    [
        "if", "nullif", "nvl", "nvl2", "nullifzero", "zeroifnull", "between", "positive", "date_part", "to_date",
        "btrim",
    ]
)  # fmt: skip
"""Functions of the catalogue that are written out as others."""

PORTABLE: Final = frozenset(_SYNTAX) | {f.name for group in GROUPS.values() for f in group} - _REWRITTEN
"""The names that calls computed by every engine have."""


def spark_only(expression: Expression) -> tuple[str, ...]:
    """The different functions in it that only Spark computes, in the order of first mention.

    RLIKE is one of them where its pattern uses what only Java's regular expressions have, TO_TIMESTAMP where its
    pattern has other letters than the common ones.
    """
    return tuple(dict.fromkeys(call.function for call in calls_of_spark_alone(expression)))


def calls_of_spark_alone(expression: Expression) -> Iterator[Call]:
    """The calls of these functions."""
    return (node for node in walk(expression) if isinstance(node, Call) and not _is_portable(node))


def _is_portable(call: Call) -> bool:
    match call:
        case Call("rlike", (_, Literal(value=str(pattern)))):
            return is_portable(pattern)
        case Call("to_timestamp" | "try_to_timestamp", (_, Literal(value=str(pattern)))):
            return reads(pattern)
        case Call("to_timestamp" | "try_to_timestamp"):
            return False
    return call.function in PORTABLE
