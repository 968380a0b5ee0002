"""What a result column is called without AS: as Spark would name it (docs/language.md, "Results")."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from cepc_grammar import ast

from .casts import to_string
from .errors import Unsupported
from .expressions import compiled
from .types import DOUBLE, normal

_UPPER = ("SQRT", "EXP", "CEIL", "FLOOR", "RLIKE", "POWER")


def column_name(item: ast.Item, group: tuple[str, ...]) -> str:
    """The alias, else the bare name of a grouping attribute, else Spark's text of the expression."""
    if item.alias:
        return item.alias.text
    match item.expression:
        case ast.Star():
            return "events"
        case ast.Reference(parts) if parts[-1].text in group:
            return parts[-1].text
        case ast.Cast(ast.Reference(parts)):
            return parts[-1].text
        case ast.Call(function, (ast.Reference((label,)),)) if function.text.upper() == "LABEL":
            return label.text
        case ast.Call(function, ()) if function.text.upper() == "VARIABLE":
            return "variable"
    return written(item.expression)


def written(node: ast.Expression) -> str:
    """The expression as Spark's `toPrettySQL` writes it: a column by its last name, a variable not at all."""
    match node:
        case ast.Star():
            return "1"
        case ast.Reference(parts):
            return parts[-1].text
        case ast.Literal():
            return _literal(node)
        case ast.Unary("-", ast.Literal() as literal):
            return "-" + _literal(literal)
        case ast.Unary("~", operand):
            return "~" + written(operand)
        case ast.Unary(operator, operand):
            return f"({operator} {written(operand)})"
        case ast.Binary("<>", left, right):
            return f"(NOT ({written(left)} = {written(right)}))"
        case ast.Binary("||", left, right):
            return f"concat({written(left)}, {written(right)})"
        case ast.Binary(operator, left, right):
            return f"({written(left)} {'div' if operator == 'DIV' else operator} {written(right)})"
        case ast.Between(operand, low, high, negated):
            return _negated(negated, f"between({written(operand)}, {written(low)}, {written(high)})")
        case ast.In(operand, options, negated):
            return _negated(negated, f"({written(operand)} IN ({', '.join(map(written, options))}))")
        case ast.Like(operand, pattern, kind, escape, negated):
            return _negated(negated, _like(written(operand), written(pattern), kind, escape))
        case ast.Is(operand, "NULL" | "UNKNOWN", negated):
            return f"({written(operand)} IS {'NOT ' if negated else ''}NULL)"
        case ast.Is(operand, what, negated):
            return _negated(negated, f"({written(operand)} <=> {what.lower()})")
        case ast.IsDistinct(left, right, negated):
            return _negated(not negated, f"({written(left)} <=> {written(right)})")
        case ast.Case(operand, branches, otherwise):
            return _case(operand, branches, otherwise)
        case ast.Cast(operand, kind, safe):
            return f"{'TRY_' if safe else ''}CAST({written(operand)} AS {type_name(kind)})"
        case ast.Extract(field, operand):
            return f"extract({field} FROM {written(operand)})"
        case ast.Call(running=True):
            return f"running {written(replace(node, running=False))}"
        case ast.Call(function, arguments, distinct):
            return _call(function.text, ("DISTINCT " if distinct else "") + ", ".join(map(written, arguments)))
        case ast.Member(operand, name):
            return f"{written(operand)}.{name.text}"
        case ast.Index(operand, index):
            return f"{written(operand)}[{written(index)}]"
    raise Unsupported("a column of an interval needs a name")


def type_name(kind: ast.TypeExpr) -> str:
    plain = normal(kind)
    return f"{plain.name}({','.join(map(str, plain.numbers))})" if plain.numbers else plain.name


def _call(name: str, arguments: str) -> str:
    upper = name.upper()
    if upper == "IF":
        return f"(IF({arguments}))"
    if upper == "ROUND" and "," not in arguments:
        return f"round({arguments}, 0)"
    if upper == "ISNULL":
        return f"({arguments} IS NULL)"
    if upper == "ISNOTNULL":
        return f"({arguments} IS NOT NULL)"
    return f"{upper if upper in _UPPER else name.lower()}({arguments})"


def _negated(negated: bool, text: str) -> str:
    return f"(NOT {text})" if negated else text


def _like(operand: str, pattern: str, kind: str, escape: str | None) -> str:
    if kind == "RLIKE":
        return f"RLIKE({operand}, {pattern})"
    if kind == "ILIKE":
        return f"ilike({operand}, {pattern})"
    return f"{operand} LIKE {pattern}" + (f" ESCAPE '{escape}'" if escape else "")


def _case(operand: ast.Expression | None, branches: tuple[ast.Branch, ...], otherwise: ast.Expression | None) -> str:
    whens = []
    for branch in branches:
        test = written(branch.condition)
        whens.append(f"WHEN {f'({written(operand)} = {test})' if operand else test} THEN {written(branch.result)}")
    return " ".join(["CASE", *whens, *([f"ELSE {written(otherwise)}"] if otherwise else []), "END"])


def _literal(literal: ast.Literal) -> str:
    match literal.kind:
        case "null":
            return "NULL"
        case "boolean":
            return literal.text.lower()
        case "binary":
            return f"X'{literal.text}'"
        case "double" | "float":
            return to_string(float(literal.text), DOUBLE)
        case "decimal":
            return str(Decimal(literal.text))
        case "date" | "timestamp" | "timestamp_ntz":
            typed = compiled(literal, lambda _: None)
            return f"{typed.type.name} '{to_string(typed.run({}), typed.type)}'"
    return literal.text
