"""Patterns to documents."""

from __future__ import annotations

from . import ast
from .layout import Doc, Origin, bracketed, cat, commas
from .spelling import ALIAS, ARGUMENT, EVENT_TYPE, dotted_text, duration_text, literal_text, name_text


def pattern(node: ast.Pattern) -> Origin:
    """The document of a pattern, with its origin."""
    return Origin(_bare(node), node.span)


def _bare(node: ast.Pattern) -> Doc:
    match node:
        case ast.Atom(alias=alias) | ast.AnyEvent(alias=alias):
            return _event(node) + _alias(alias)
        case ast.Seq(parts):
            return _composed("SEQ", parts)
        case ast.And(parts):
            return _composed("AND", parts)
        case ast.Or(parts):
            return _composed("OR", parts)
        case ast.Some(parts):
            return _composed("SOME", parts)
        case ast.Repeat(ast.Atom(alias=alias) | ast.AnyEvent(alias=alias) as event):
            return _event(event) + _quantifier(node) + _alias(alias)
        case ast.Repeat(body):
            return cat(_closed(body), _quantifier(node))
        case ast.Not(body, within):
            negated = _in_parentheses(body) if isinstance(body, ast.Not) else _bare(body)
            return cat("NOT ", negated, "" if within is None else f" WITHIN {duration_text(within)}")


def _composed(word: str, parts: tuple[ast.Pattern, ...]) -> Doc:
    return bracketed(word + "(", commas([Origin(_bare(p), p.span) for p in parts]), ")")


def _in_parentheses(node: ast.Pattern) -> Doc:
    return bracketed("(", pattern(node), ")")


def _closed(node: ast.Pattern) -> Doc:
    """What a quantifier can follow."""
    return _in_parentheses(node) if isinstance(node, ast.Repeat | ast.Not) else _bare(node)


def _event(node: ast.Atom | ast.AnyEvent) -> str:
    if isinstance(node, ast.AnyEvent):
        return "ANY"
    name = name_text(node.name, EVENT_TYPE)
    return name if node.arguments is None else f"{name}({', '.join(map(_argument, node.arguments))})"


def _argument(node: ast.Expression) -> str:
    match node:
        case ast.Literal():
            return literal_text(node)
        case ast.Unary("-", ast.Literal() as number):
            return "-" + literal_text(number)
        case ast.Reference(parts):
            return dotted_text(parts, ARGUMENT)
        case _:
            raise TypeError(f"not an argument of a pattern: {node!r}")


def _alias(alias: ast.Name | None) -> str:
    return "" if alias is None else " " + name_text(alias, ALIAS)


def _quantifier(node: ast.Repeat) -> str:
    reluctant = "?" if node.reluctant else ""
    match node.least, node.most:
        case 1, None:
            return "+" + reluctant
        case 0, None:
            return "*" + reluctant
        case 0, 1:
            return "?" + reluctant
        case least, None:
            return f"{{{least},}}{reluctant}"
        case least, most if least == most:
            return f"{{{least}}}{reluctant}"
        case least, most:
            return f"{{{least},{most}}}{reluctant}"
