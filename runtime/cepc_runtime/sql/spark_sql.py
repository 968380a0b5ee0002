"""Typed expressions as Spark SQL text, for generated jobs and for messages.

Spark reads the text as an expression of the same meaning and type: coercions are printed as the casts that they are,
names are quoted, literals escaped, and every operator stands in parentheses.
"""

from __future__ import annotations

import decimal
import math
from typing import TYPE_CHECKING, Final

from .expression import Aggregate, Call, Expression, Field, Literal, as_written, in_parentheses, of_variable, rewrite
from .literal import literal_sql
from .types import BIGINT, INT, is_numeric, quote_name

if TYPE_CHECKING:
    from collections.abc import Callable

_ARITHMETIC: Final = frozenset(["+", "-", "*", "/", "%", "div", "&", "|", "^", "<<", ">>", ">>>"])
_COMPARISONS: Final = frozenset(["=", "<>", "<=>", "<", "<=", ">", ">="])
_INFIX: Final = _ARITHMETIC | _COMPARISONS

_PATTERN_MATCHES: Final = {"like": "LIKE", "ilike": "ILIKE", "rlike": "RLIKE"}

_TRIMS: Final = {"trim": "BOTH", "ltrim": "LEADING", "rtrim": "TRAILING"}

_EXTRACTS: Final = {
    "seconds_with_fraction": "SECOND",
    "yearofweek": "YEAROFWEEK",
    "interval_days": "DAY",
    "interval_hours": "HOUR",
    "interval_minutes": "MINUTE",
    "interval_seconds": "SECOND",
}


def to_sql(expression: Expression, column_namer: Callable[[Field | Aggregate], str]) -> str:
    """The expression as Spark SQL; each field or aggregate is the column that `column_namer` names."""
    return _print(expression, lambda leaf: quote_name(column_namer(leaf)))


def describe(expression: Expression) -> str:
    """The expression for people: names as in the program, without the conversions of numbers and the outermost
    parentheses.

    >>> from .types import INT
    >>> describe(Call("+", (Field("v", "x", "prev", INT), Literal(1, INT)), INT))
    'PREV(v).x + 1'
    """
    return _bare(rewrite(expression, _as_written))


def _bare(expression: Expression) -> str:
    """Without the outermost parentheses, and in a comparison without those of its two sides."""
    match expression:
        case Call(operator, (left, right)) if operator in _COMPARISONS:
            return f"{_side(left)} {operator} {_side(right)}"
    text = _print(expression, _readable, _plain)
    enclosed = isinstance(expression, Call) and expression.function not in ("item", "field") and text.startswith("(")
    return text[1:-1] if enclosed else text


def _side(expression: Expression) -> str:
    arithmetic = isinstance(expression, Call) and expression.function in _ARITHMETIC
    return _bare(expression) if arithmetic else _print(expression, _readable, _plain)


def _plain(literal: Literal) -> str:
    """As a person writes it: numbers without the letters of their types."""
    match literal.value:
        case decimal.Decimal() as number:
            return format(number, "f")
        case float() as number if math.isfinite(number):
            return repr(number)
    return literal_sql(literal)


def _as_written(expression: Expression) -> Expression:
    """Without conversions of numbers, and with `<>`, which is a NOT around `=` where it is computed."""
    match expression:
        case Call("not", (Call("=", sides),), type_):
            return Call("<>", sides, type_)
        case Call(function, arguments, type_) if function in _INFIX:
            return Call(function, tuple(_unconverted(a) for a in arguments), type_)
    return expression


def _unconverted(argument: Expression) -> Expression:
    match argument:
        case Call("cast", (inner,), type_) if is_numeric(type_) and is_numeric(inner.type):
            return inner
        case Literal(decimal.Decimal() | float() | int() as number, type_) if is_numeric(type_) and _is_whole(number):
            whole = int(number)
            return Literal(whole, BIGINT if abs(whole) >= 2**31 else INT)
    return argument


def _is_whole(number: decimal.Decimal | float | int) -> bool:
    return math.isfinite(number) and number == int(number)


def _readable(leaf: Field | Aggregate) -> str:
    match leaf:
        case Field(None, column):
            return as_written(column)
        case Field(str(variable), column, "each"):
            return of_variable(variable, column)
        case Field(_, column):
            return f"{leaf.event}.{as_written(column)}"
    text = f"{'RUNNING ' * leaf.running}{leaf.function.written}({in_parentheses(leaf, describe)})"
    if leaf.target is not None:
        return f"{'TRY_' * leaf.safe}CAST({text} AS {leaf.target.sql})"
    return f"{'TRY_' * leaf.safe}{text}"


def _print(
    expression: Expression, leaf: Callable[[Field | Aggregate], str], literal: Callable[[Literal], str] = literal_sql
) -> str:
    match expression:
        case Literal():
            return literal(expression)
        case Field() | Aggregate():
            return leaf(expression)
        case Call():
            return _call(expression, [_print(a, leaf, literal) for a in expression.arguments])


def _call(call: Call, arguments: list[str]) -> str:
    match call.function, arguments:
        case ("cast" | "try_cast") as cast, [value]:
            return f"{cast.upper()}({value} AS {call.type.sql})"
        case ("and" | "or") as connective, _:
            return f"({f' {connective.upper()} '.join(arguments)})"
        case operator, [left, right] if operator in _INFIX:
            return f"({left} {operator.upper()} {right})"
        case "negative", [value]:
            return f"(- {value})"
        case "~", [value]:
            return f"(~ {value})"
        case "not", [value]:
            return f"(NOT {value})"
        case "isnull", [value]:
            return f"({value} IS NULL)"
        case "isnotnull", [value]:
            return f"({value} IS NOT NULL)"
        case "in", [value, *options]:
            return f"({value} IN ({', '.join(options)}))"
        case match, [value, pattern, *escape] if match in _PATTERN_MATCHES:
            tail = f" ESCAPE {escape[0]}" if escape else ""
            return f"({value} {_PATTERN_MATCHES[match]} {pattern}{tail})"
        case "case", _:
            return _case(arguments)
        case trim, [text, characters] if trim in _TRIMS:
            return f"TRIM({_TRIMS[trim]} {characters} FROM {text})"
        case name, [value] if name in _EXTRACTS:
            return f"EXTRACT({_EXTRACTS[name]} FROM {value})"
        case "item", [value, index]:
            return f"{value}[{index}]"
        case "field", [value, _]:
            return f"{value}.{quote_name(_field_name(call))}"
    return f"{call.function}({', '.join(arguments)})"


def _field_name(call: Call) -> str:
    match call.arguments[1]:
        case Literal(value=str(name)):
            return name
    raise ValueError("a `field` call names its field by a string")


def _case(arguments: list[str]) -> str:
    branches = zip(arguments[0:-1:2], arguments[1:-1:2], strict=True)
    whens = " ".join(f"WHEN {condition} THEN {result}" for condition, result in branches)
    return f"CASE {whens} ELSE {arguments[-1]} END"
