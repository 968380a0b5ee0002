"""HAVING compares exact values: also those of counts and sums that do not fit their types.

Where all aggregates fit, the condition is evaluated like any other. The few rows where one does not are looked at one
by one.
"""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..numbers.columns import Bools, as_bools
from ..sql.expression import Aggregate, Call, Field, Literal
from ..sql.types import Decimal, is_float, is_integer

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..sql.expression import Expression
    from .as_columns import Results

_COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_ARITHMETIC: Final[dict[str, Callable[[Any, Any], Any]]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}


class _Unknown(Exception):  # noqa: N818 - an answer: the condition has a part that is not evaluated here
    pass


def kept(results: Results, having: Expression) -> Bools:
    """Which rows HAVING keeps. Raises ResultOverflowError where the condition needs a value as its type, and it does
    not fit.
    """
    column, misfits = results.fitting(having)
    keep = as_bools(column).copy()
    for row in np.flatnonzero(misfits).tolist():
        try:
            keep[row] = _value(having, results, row) is True
        except _Unknown:
            raise results.first_overflow(having, row) from None
    return keep


def _value(expression: Expression, results: Results, row: int) -> Any:
    """The exact value in one row; None for null."""
    match expression:
        case Literal(value, type_):
            return Fraction(str(value)) if isinstance(type_, Decimal) and value is not None else value
        case Aggregate(target=None, function=function) if function.of_any_size:
            return results.exact(expression, row)
        case Aggregate(target=None, function=function) if not function.countable:
            raise _Unknown
        case Field() | Aggregate(target=None):
            return _plain(expression, results, row)
        case Call("and" | "or" as connective, arguments):
            return _connective(connective, [_value(a, results, row) for a in arguments])
        case Call("not", (argument,)):
            value = _value(argument, results, row)
            return None if value is None else not value
        case Call("isnull" | "isnotnull" as name, (argument,)):
            return (_value(argument, results, row) is None) == (name == "isnull")
        case Call("<=>", (a, b)):
            pair = _value(a, results, row), _value(b, results, row)
            return pair[0] is pair[1] if None in pair else _binary(operator.eq, *pair)
        case Call("in", (argument, *options)):
            value = _value(argument, results, row)
            return _connective("or", [_binary(operator.eq, value, _value(o, results, row)) for o in options])
        case Call("case", (*branches, otherwise)):
            for condition, result in zip(branches[::2], branches[1::2], strict=True):
                if _value(condition, results, row) is True:
                    return _value(result, results, row)
            return _value(otherwise, results, row)
        case Call("cast", (argument,), type_) if is_integer(type_) or is_float(type_) or isinstance(type_, Decimal):
            return _cast(_value(argument, results, row), is_float(type_))
        case Call(name, (a, b)) if name in _COMPARISONS:
            return _binary(_COMPARISONS[name], _value(a, results, row), _value(b, results, row))
        case Call(name, (a, b), type_) if name in _ARITHMETIC and not is_float(type_):
            return _binary(_ARITHMETIC[name], _value(a, results, row), _value(b, results, row))
    raise _Unknown


def _plain(expression: Expression, results: Results, row: int) -> Any:
    value = results.of_rows(np.array([row])).evaluate(expression)[0].as_py()
    return Fraction(value) if isinstance(expression.type, Decimal) and value is not None else value


def _connective(name: str, values: list[Any]) -> bool | None:
    decisive = name == "or"
    if any(value is decisive for value in values):
        return decisive
    return None if None in values else not decisive


def _cast(value: Any, to_float: bool) -> Any:
    if not to_float or value is None or isinstance(value, float):
        return value
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _binary(function: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    if a is None or b is None:
        return None
    if any(isinstance(v, float) and math.isnan(v) for v in (a, b)) or isinstance(a, str) != isinstance(b, str):
        raise _Unknown
    return function(a, b)
