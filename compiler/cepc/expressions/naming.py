"""The names of columns without AS: what Spark would print."""

from __future__ import annotations

import decimal
from typing import Final

from cepc_grammar import ast
from cepc_runtime.sql.aggregate_functions import aggregate_written
from cepc_runtime.sql.calendar import format_timestamp
from cepc_runtime.sql.expression import Literal
from cepc_runtime.sql.literal import interval_sql
from cepc_runtime.sql.text import format_double
from cepc_runtime.sql.types import DATE, TIMESTAMP, TIMESTAMP_NTZ, Interval, is_float

from . import literals
from .functions import LABEL, NAVIGATION, is_type, label_named
from .written_types import data_type

_UPPER: Final = frozenset(
    (
        "sqrt", "exp", "expm1", "log10", "log2", "log1p", "cbrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2",
        "sinh", "cosh", "tanh", "degrees", "radians", "hypot", "signum", "pi", "e", "rlike", "regexp",
    )
)  # fmt: skip
"""Functions that Spark prints in capitals."""

_AS_WRITTEN: Final = frozenset(["power"])


def column_name(expression: ast.Expression) -> str:
    """The name that Spark gives to the column: `SUM(t.duration)` is `sum(duration)`, `t.district` is `district`."""
    match expression:
        case ast.Reference(parts):
            return parts[-1].text
        case ast.Member(_, name) if not _of_event(expression):
            return name.text
        case ast.Call() if (label := label_named(expression)) is not None and expression.function.text.upper() == LABEL:
            return label.text
        case ast.Call(function, ()) if (known := aggregate_written(function.text.upper())) is not None and known.names:
            return known.name
        case ast.Cast(operand) if isinstance(operand, ast.Reference) and len(operand.parts) <= 2:
            return column_name(operand)
        case ast.Call(function, (operand,)) if is_type(function.text):
            return column_name(operand)
    return _text(expression)


def _of_event(member: ast.Member) -> bool:
    """Whether it is `FIRST(v).x` and the like."""
    return isinstance(member.operand, ast.Call) and member.operand.function.text.upper() in NAVIGATION


def _text(expression: ast.Expression) -> str:
    match expression:
        case ast.Literal() | ast.Interval():
            return _literal(expression)
        case ast.Reference(parts):
            return ".".join(p.text for p in parts[1:]) if len(parts) > 1 else parts[0].text
        case ast.Star():
            return "1"
        case ast.Call():
            return _call(expression)
        case ast.Member(ast.Call(function, (_, *places)), name) if _of_event(expression):
            return f"{function.text.lower()}({', '.join((name.text, *map(_text, places)))})"
        case ast.Member(operand, name):
            return f"{_text(operand)}.{name.text}"
        case ast.Index(operand, index):
            return f"{_text(operand)}[{_text(index)}]"
        case ast.Unary() | ast.Binary():
            return _operator(expression)
        case ast.Case():
            return _case(expression)
        case ast.Cast(operand, type_, safe):
            return f"{'TRY_CAST' if safe else 'CAST'}({_text(operand)} AS {_type(type_)})"
        case ast.Extract(field, operand):
            return f"extract({field} FROM {_text(operand)})"
        case ast.Equivalence(attributes):
            return f"[{', '.join(a.text if isinstance(a, ast.Name) else _text(a) for a in attributes)}]"
    return _predicate(expression)


def _predicate(expression: ast.Between | ast.In | ast.Like | ast.Is | ast.IsDistinct) -> str:
    match expression:
        case ast.Between(x, low, high, negated):
            text = f"between({_text(x)}, {_text(low)}, {_text(high)})"
        case ast.In(x, options, negated):
            text = f"({_text(x)} IN ({', '.join(map(_text, options))}))"
        case ast.Like(x, pattern, kind, escape, negated):
            text = _like(_text(x), _text(pattern), kind, escape)
        case ast.Is(x, "NULL" | "UNKNOWN", negated):
            return f"({_text(x)} IS {'NOT ' if negated else ''}NULL)"
        case ast.Is(x, what, negated):
            text = f"({_text(x)} <=> {what.lower()})"
        case ast.IsDistinct(left, right, same):
            text, negated = f"({_text(left)} <=> {_text(right)})", not same
    return f"(NOT {text})" if negated else text


def _like(x: str, pattern: str, kind: str, escape: str | None) -> str:
    if kind == "LIKE":
        return f"{x} LIKE {pattern}" + (f" ESCAPE '{escape}'" if escape else "")
    return f"{'ilike' if kind == 'ILIKE' else kind}({x}, {pattern})"


def _operator(expression: ast.Unary | ast.Binary) -> str:
    match expression:
        case ast.Unary("-", ast.Literal() as number) if literals.is_number(number):
            return _literal(number, "-")
        case ast.Unary("~", operand):
            return f"~{_text(operand)}"
        case ast.Unary(operator, operand):
            return f"({operator} {_text(operand)})"
        case ast.Binary("<>", left, right):
            return f"(NOT ({_text(left)} = {_text(right)}))"
        case ast.Binary("||", left, right):
            return f"concat({_text(left)}, {_text(right)})"
        case ast.Binary("+" | "-" as sign, left, right) if isinstance(right, ast.Interval):
            return f"{_text(left)} {sign} {_text(right)}"
        case ast.Binary(operator, left, right):
            return f"({_text(left)} {'div' if operator == 'DIV' else operator} {_text(right)})"


def _case(case: ast.Case) -> str:
    subject = None if case.operand is None else _shortened(_text(case.operand))
    whens = [(_text(b.condition), _text(b.result)) for b in case.branches]
    text = " ".join(f"WHEN {c if subject is None else f'({subject} = {c})'} THEN {r}" for c, r in whens)
    otherwise = "" if case.otherwise is None else f" ELSE {_text(case.otherwise)}"
    return f"CASE {text}{otherwise} END"


def _shortened(text: str) -> str:
    """Each branch repeats the subject, and each branch of a CASE in the subject does so again."""
    return text if len(text) <= _LONGEST_SUBJECT else f"{text[:_LONGEST_SUBJECT]}…"


_LONGEST_SUBJECT: Final = 1000


def _call(call: ast.Call) -> str:
    """Spark fills in what was left out, and prints some names in its own way."""
    written, name = call.function.text, call.function.text.lower()
    arguments = [_text(a) for a in call.arguments]
    if is_type(written) and len(arguments) == 1:
        return arguments[0]
    match name, arguments:
        case "if", _:
            return f"(IF({', '.join(arguments)}))"
        case "isnull" | "isnotnull", [x]:
            return f"({x} IS {'NOT ' if name == 'isnotnull' else ''}NULL)"
        case "ceil" | "floor", [x]:
            return f"{name.upper()}({x})"
        case "log", _:
            return f"LOG({', '.join(arguments if len(arguments) == 2 else ['E()', *arguments])})"
        case (("trim" | "ltrim" | "rtrim"), [characters, text]):
            side = {"trim": "BOTH", "ltrim": "LEADING", "rtrim": "TRAILING"}[name]
            return f"TRIM({side} {characters} FROM {text})"
        case "locate" | "position", [_, _]:
            arguments = [*arguments, "1"]
        case "substring" | "substr", [_, _]:
            arguments = [*arguments, "2147483647"]
        case "lpad" | "rpad", [_, _]:
            arguments = [*arguments, " "]
        case "round" | "bround", [_]:
            arguments = [*arguments, "0"]
        case "replace", [_, _]:
            arguments = [*arguments, ""]
        case "unix_timestamp" | "to_unix_timestamp", [_]:
            arguments = [*arguments, "yyyy-MM-dd HH:mm:ss"]
    shown = written if name in _AS_WRITTEN else name.upper() if name in _UPPER else name
    return f"{'running ' * call.running}{shown}({'DISTINCT ' * call.distinct}{', '.join(arguments)})"


def _type(written: ast.TypeExpr) -> str:
    type_, _ = data_type(written)
    return written.name if type_ is None else type_.sql


def _literal(written: ast.Literal | ast.Interval, sign: str = "") -> str:
    value = literals.interval(written) if isinstance(written, ast.Interval) else literals.literal(written, sign)
    if not isinstance(value, Literal):
        return sign + written.text if isinstance(written, ast.Literal) else "INTERVAL"
    match value.value:
        case None:
            return "NULL"
        case bool(truth):
            return "true" if truth else "false"
        case float(number) if is_float(value.type):
            return (
                format_double(number) if isinstance(written, ast.Literal) and written.kind == "double" else repr(number)
            )
        case decimal.Decimal() as number:
            return format(number, "f")
        case bytes(data):
            return f"X'{data.hex().upper()}'"
        case int(number):
            return _time(number, value)
        case text:
            return str(text)


def _time(number: int, literal: Literal) -> str:
    if isinstance(literal.type, Interval):
        return interval_sql(number, literal.type)
    if literal.type == DATE:
        return f"DATE '{format_timestamp(number * 86_400_000_000).partition(' ')[0]}'"
    if literal.type in (TIMESTAMP, TIMESTAMP_NTZ):
        return f"{literal.type.sql} '{format_timestamp(number)}'"
    return str(number)
