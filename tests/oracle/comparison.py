"""Comparisons and three-valued logic. NaN equals NaN and is greater than any number (docs/language.md,
"Conditions").
"""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING, Any

from .errors import EvaluationError, Unsupported
from .typed import Env, Typed, order_key, strict, together
from .types import BOOLEAN, is_decimal, is_integral

if TYPE_CHECKING:
    from collections.abc import Callable

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compared(symbol: str, left: Typed, right: Typed) -> Typed:
    """One of = <> < <= > >= over operands brought to their common type."""
    compare = _COMPARE[symbol]
    return strict(BOOLEAN, lambda x, y: compare(order_key(x), order_key(y)), *_comparable(left, right))


def same(left: Typed, right: Typed) -> Typed:
    """`<=>`: equal, or both null."""
    a, b = _comparable(left, right)
    return Typed(BOOLEAN, lambda env: order_key(a.run(env)) == order_key(b.run(env)))


def conjunction(left: Typed, right: Typed) -> Typed:
    return Typed(BOOLEAN, lambda env: _and(left.run(env), lambda: right.run(env)))


def disjunction(left: Typed, right: Typed) -> Typed:
    return negation(conjunction(negation(left), negation(right)))


def negation(operand: Typed) -> Typed:
    return strict(BOOLEAN, operator.not_, operand)


def one_of(operand: Typed, options: tuple[Typed, ...]) -> Typed:
    """IN: true when an option is equal, else null when one is null, else false."""
    first, *others = _comparable(operand, *options)

    def run(env: Env) -> bool | None:
        value = first.run(env)
        results = [other.run(env) for other in others]
        if value is None:
            return None
        if any(order_key(value) == order_key(result) for result in results if result is not None):
            return True
        return None if None in results else False

    return Typed(BOOLEAN, run)


def like(operand: Typed, pattern: Typed, kind: str, escape: str | None) -> Typed:
    flags = re.DOTALL | (re.IGNORECASE if kind == "ILIKE" else 0)
    if kind == "RLIKE":
        return strict(BOOLEAN, lambda text, regex: re.search(regex, text) is not None, operand, pattern)

    def matches(text: str, simple: str) -> bool:
        return re.fullmatch(_like_regex(simple, escape or "\\"), text, flags) is not None

    return strict(BOOLEAN, matches, operand, pattern)


def _comparable(*operands: Typed) -> tuple[Typed, ...]:
    """Integers and decimals compare exactly as they are, also those too large for any type; others in their common
    type.
    """
    if all(is_integral(operand.type) or is_decimal(operand.type) for operand in operands):
        return operands
    return together(*operands)


def _and(left: bool | None, right: Callable[[], bool | None]) -> bool | None:
    if left is False:
        return False
    other = right()
    if other is False:
        return False
    return None if left is None or other is None else True


def _like_regex(pattern: str, escape: str) -> str:
    regex, characters = [], iter(pattern)
    for character in characters:
        if character == escape:
            literal = next(characters, None)
            if literal is None or literal not in ("_", "%", escape):
                raise EvaluationError(f"LIKE pattern {pattern!r} escapes {literal!r}")
            regex.append(re.escape(literal))
        else:
            regex.append({"%": ".*", "_": "."}.get(character) or re.escape(character))
    return "".join(regex)


def is_what(operand: Typed, what: str) -> Typed:
    """`IS NULL`, `TRUE`, `FALSE`, `UNKNOWN`: never null."""
    if what not in ("NULL", "UNKNOWN", "TRUE", "FALSE"):
        raise Unsupported(f"IS {what}")
    wanted = {"NULL": None, "UNKNOWN": None, "TRUE": True, "FALSE": False}[what]
    return Typed(BOOLEAN, lambda env: operand.run(env) is wanted)
