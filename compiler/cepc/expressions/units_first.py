"""Spark's forms of functions of times that begin with a unit, `datediff(HOUR, a, b)`, which are not there: what is
written for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cepc_grammar import ast
from cepc_grammar.printer import to_text
from cepc_grammar.units import UNITS
from cepc_runtime.sql.types import TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cepc_runtime.sql.types import DataType

_DIFFERENCES: Final = frozenset(["DATEDIFF", "DATE_DIFF", "TIMESTAMPDIFF"])
_SUMS: Final = frozenset(["DATEADD", "DATE_ADD", "TIMESTAMPADD"])
_MONTHS: Final = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
"""Units that are months, so many."""


def unit_of(e: ast.Call) -> str | None:
    """The unit with which the call begins, if it is of such a form."""
    if e.function.text.upper() not in _DIFFERENCES | _SUMS or len(e.arguments) != 3:
        return None
    match e.arguments[0]:
        case ast.Reference((name,)):
            word = name.text
        case ast.Literal("string", text):
            word = text
        case _:
            return None
    return word if word.upper() == "QUARTER" or word.lower() in UNITS else None


def cure(e: ast.Call, word: str, types: Sequence[DataType]) -> str:
    """What the call is with functions that there are; `types` are those of its second and third argument."""
    _, first, second = e.arguments
    unit = UNITS.get(word.lower())
    if unit is None or unit in _MONTHS:
        months = _MONTHS["QUARTER" if unit is None else unit]
        if _is_sum(e):
            return to_text(_months_later(first, second, months))
        return _months_between(to_text(first), to_text(second), months)
    if _is_sum(e):
        return to_text(_later(first, second, unit))
    start, end = (_micros(x, type_) for x, type_ in zip((first, second), types, strict=True))
    return to_text(ast.Binary("DIV", ast.Binary("-", end, start), _integer(ast.MICROSECONDS[unit])))


def _is_sum(e: ast.Call) -> bool:
    return e.function.text.upper() in _SUMS


def _months_between(start: str, end: str, months: int) -> str:
    """The whole months from one time to a later one: those of the calendar, but for one that has not passed yet."""
    short = f"{end} - date_trunc('MONTH', {end}) < {start} - date_trunc('MONTH', {start})"
    whole = f"year({end}) * 12 + month({end}) - year({start}) * 12 - month({start}) - if({short}, 1, 0)"
    return whole if months == 1 else f"({whole}) DIV {months}"


def _later(amount: ast.Expression, time: ast.Expression, unit: ast.Unit) -> ast.Expression:
    if isinstance(amount, ast.Literal) and amount.kind == "integer":
        return ast.Binary("+", time, ast.Interval((ast.Duration(amount.text, unit),)))
    return ast.Binary("+", time, ast.Binary("*", amount, ast.Interval((ast.Duration("1", unit),))))


def _months_later(amount: ast.Expression, time: ast.Expression, months: int) -> ast.Expression:
    return _call("add_months", time, amount if months == 1 else ast.Binary("*", amount, _integer(months)))


def _micros(time: ast.Expression, type_: DataType) -> ast.Expression:
    timestamp = ast.Cast(time, ast.TypeExpr("TIMESTAMP"), False)
    return _call("unix_micros", time if type_ == TIMESTAMP else timestamp)


def _call(name: str, *arguments: ast.Expression) -> ast.Call:
    return ast.Call(ast.Name(name), arguments)


def _integer(value: int) -> ast.Literal:
    return ast.Literal("integer", str(value))
