"""Patterns to documents."""

from __future__ import annotations

from . import ast
from .layout import Doc, Origin, bracketed, cat, commas
from .pattern import SELECTION_WORDS, Not, Repeat, Selected, Seq, children, word
from .spelling import ALIAS, ARGUMENT, EVENT_TYPE, dotted_text, duration_text, literal_text, name_text, quantifier_text


def pattern(node: ast.Pattern) -> Origin:
    """The document of a pattern, with its origin."""
    return Origin(_bare(node), node.span)


def _bare(node: ast.Pattern) -> Doc:
    match node:
        case ast.Atom(alias=alias) | ast.AnyEvent(alias=alias):
            return _event(node) + _alias(alias)
        case Repeat(ast.Atom(alias=alias) | ast.AnyEvent(alias=alias) as event):
            return _event(event) + quantifier_text(node) + _alias(alias)
        case Repeat(body):
            return cat(_closed(body), quantifier_text(node))
        case Not(body, within):
            negated = _in_parentheses(body) if isinstance(body, Not) else _bare(body)
            return cat("NOT ", negated, "" if within is None else f" WITHIN {duration_text(within)}")
        case Selected(Seq(parts)):
            return bracketed(word(node) + "(", commas([Origin(_bare(p), p.span) for p in parts]), ")")
        case _:
            return bracketed(word(node) + "(", commas([Origin(_bare(p), p.span) for p in children(node)]), ")")


def _in_parentheses(node: ast.Pattern) -> Doc:
    return bracketed("(", pattern(node), ")")


def _closed(node: ast.Pattern) -> Doc:
    """What a quantifier can follow."""
    return _in_parentheses(node) if isinstance(node, Repeat | Not) else _bare(node)


def _event(node: ast.Atom | ast.AnyEvent) -> str:
    if isinstance(node, ast.AnyEvent):
        return "ANY"
    name = name_text(node.name, EVENT_TYPE if node.arguments is None else EVENT_TYPE | SELECTION_WORDS)
    if node.stream is not None:
        name = f"{name_text(node.stream, EVENT_TYPE)}.{name_text(node.name)}"
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
