"""Expressions to documents, with no more parentheses than Spark SQL's precedence needs.

A part is wrapped in its `Origin` only where a line can break behind it, so that a comment there has a line to end. A
level of nesting takes few calls: `nesting.MAX_DEPTH` levels must stay well inside Python's limit on recursion.
"""

from __future__ import annotations

from . import ast
from .layout import LINE, Align, Cat, Doc, Fill, Group, Nest, Origin, bracketed, cat, commas, separated
from .spelling import OPERAND, dotted_text, duration_text, literal_text, name_text, string_text, type_text

# How tightly an expression holds together, weakest first.
_OR, _AND, _NOT, _PREDICATE, _COMPARISON = 1, 2, 3, 4, 5
_UNARY, _POSTFIX = 12, 13
_BINARY: dict[str, int] = {
    "OR": _OR,
    "AND": _AND,
    **dict.fromkeys(("=", "<=>", "<>", "<", "<=", ">", ">="), _COMPARISON),
    "|": 6,
    "^": 7,
    "&": 8,
    **dict.fromkeys(("<<", ">>", ">>>"), 9),
    **dict.fromkeys(("+", "-", "||"), 10),
    **dict.fromkeys(("*", "/", "%", "DIV"), 11),
}
_SPELLINGS = {"=": ("==",), "<>": ("!=",), "RLIKE": ("REGEXP",)}


def expression(node: ast.Expression) -> Origin:
    """The document of an expression, with its origin."""
    return Origin(bare(node), node.span)


def _strength(node: ast.Expression) -> int:
    match node:
        case ast.Binary(operator):
            return _BINARY[operator]
        case ast.Unary("NOT"):
            return _NOT
        case ast.Unary() | ast.Interval():
            return _UNARY
        case ast.Between() | ast.In() | ast.Like() | ast.Is() | ast.IsDistinct():
            return _PREDICATE
        case ast.Reference() | ast.Call() | ast.Member() | ast.Index() | ast.Cast() | ast.Extract():
            return _POSTFIX + 1
        case _:  # constants, CASE, [a, b]: nothing can come apart, but `.x` or `[i]` behind them would be hard to read
            return _UNARY


def _at_least(strength: int, node: ast.Expression) -> Doc:
    """The expression, in parentheses if it holds together less tightly than asked."""
    return bare(node) if _strength(node) >= strength else bracketed("(", expression(node), ")")


def _operand(strength: int, node: ast.Expression) -> Origin:
    return Origin(_at_least(strength, node), node.span)


def _gap(doc: Doc) -> Cat:
    """The document and a space, which becomes a line break only where what follows directly does not fit."""
    return cat(doc, Group(Nest(LINE)))


def _led(node: ast.Expression, strength: int, words: str, *spellings: str) -> Origin:
    """An operand with the words before it, which the source may spell in other ways."""
    return Origin(cat(words, " ", _at_least(strength, node)), node.span, (words, *spellings))


def bare(node: ast.Expression) -> Doc:
    """The document of an expression without its own origin."""
    match node:
        case ast.Literal():
            return literal_text(node)
        case ast.Interval(parts):
            return "INTERVAL " + " ".join(map(duration_text, parts))
        case ast.Reference(parts):
            return dotted_text(parts, OPERAND)
        case ast.Star():
            return "*"
        case ast.Call(function, arguments, distinct):
            opening = "RUNNING " * node.running + name_text(function, OPERAND) + "("
            return _call(opening, arguments, "DISTINCT " if distinct else "")
        case ast.Member(operand, name):
            return cat(_at_least(_POSTFIX, operand), "." + name_text(name))
        case ast.Index(operand, index):
            return cat(_at_least(_POSTFIX, operand), bracketed("[", expression(index), "]"))
        case ast.Unary(operator, operand):
            return _unary(operator, operand)
        case ast.Binary():
            return _binary(node)
        case ast.Case(operand, branches, otherwise):
            return _case(operand, branches, otherwise)
        case ast.Cast(operand, type_, safe):
            inside = cat(expression(operand), LINE, "AS ", type_text(type_))
            return bracketed("TRY_CAST(" if safe else "CAST(", inside, ")")
        case ast.Extract(field, operand):
            return bracketed("EXTRACT(", cat(name_text(ast.Name(field)), LINE, _led(operand, _OR, "FROM")), ")")
        case ast.Equivalence(attributes):
            dotted = (dotted_text((a,) if isinstance(a, ast.Name) else a.parts) for a in attributes)
            return f"[{', '.join(dotted)}]"
        case _:
            return _predicate(node)


def after_word(node: ast.Expression) -> Origin:
    """An expression behind CASE, DISTINCT, MATCH or EACH: names where an operator follows, so `CASE (+x) WHEN`."""
    first: ast.Expression | None = node
    while first is not None and not isinstance(first, ast.Unary):
        first = getattr(first, "left", None) or getattr(first, "operand", None)
    signed = first is not None and first.operator == "+"
    return Origin(bracketed("(", expression(node), ")"), node.span) if signed else expression(node)


def _call(opening: str, arguments: tuple[ast.Expression, ...], before: str) -> Doc:
    if not arguments:
        return opening + ")"
    if opening.upper() in _IN_PAIRS and not before:
        return bracketed(opening, commas(_pair(arguments[i : i + 2]) for i in range(0, len(arguments), 2)), ")")
    first = after_word(arguments[0]) if before else expression(arguments[0])
    return bracketed(opening, cat(before, commas([first, *[Origin(bare(a), a.span) for a in arguments[1:]]])), ")")


def _pair(both: tuple[ast.Expression, ...]) -> Origin:
    """A name and its value, which stay on one line; the last name may be alone."""
    return Origin(separated(map(bare, both), ", "), both[0].span.to(both[-1].span))


_IN_PAIRS = ("MAP(", "NAMED_STRUCT(")
"""How calls begin whose arguments are names and values in turn."""


def _unary(operator: str, operand: ast.Expression) -> Doc:
    if operator == "NOT":
        return cat("NOT ", _at_least(_NOT, operand))
    space = " " if isinstance(operand, ast.Unary) and operand.operator == operator else ""  # `--` would begin a comment
    return cat(operator + space, _at_least(_UNARY, operand))


def _binary(node: ast.Binary) -> Doc:
    """A chain of operators of one strength, which all group to the left, breaks before each of them or before none."""
    strength = _BINARY[node.operator]
    first: ast.Expression = node
    rest: list[Doc] = []
    while isinstance(first, ast.Binary) and _BINARY[first.operator] == strength:
        rest += (_led(first.right, strength + 1, first.operator, *_SPELLINGS.get(first.operator, ())), LINE)
        first = first.left
    start = _operand(strength, first)
    if len(rest) == 2 and strength > _AND:
        return cat(_gap(start), rest[0])
    chain = Cat((start, *reversed(rest)))
    return Group(Align(chain) if strength <= _AND else Nest(chain))


def _predicate(node: ast.Between | ast.In | ast.Like | ast.Is | ast.IsDistinct) -> Doc:
    negated = "NOT " if node.negated else ""
    part = _COMPARISON + 1  # clearer than the grammar's minimum: `(a = b) IS NULL`
    match node:
        case ast.Between(operand, low, high):
            bounds = cat(_gap(_led(low, part, f"{negated}BETWEEN")), _led(high, part, "AND"))
            return cat(_gap(_operand(part, operand)), bounds)
        case ast.In(operand, options):
            inside = Fill(tuple([Origin(bare(o), o.span) for o in options]))
            return cat(_gap(_operand(part, operand)), bracketed(f"{negated}IN (", inside, ")"))
        case ast.Like(operand, pattern, kind, escape):
            tail = () if escape is None else (LINE, f"ESCAPE {string_text(escape)}")
            like = _led(pattern, part, *(negated + spelling for spelling in (kind, *_SPELLINGS.get(kind, ()))))
            return cat(_gap(_operand(part, operand)), Group(Nest(cat(like, *tail))))
        case ast.Is(operand, what):
            return cat(_gap(_operand(part, operand)), f"IS {negated}{what}")
        case ast.IsDistinct(left, right):
            return cat(_gap(_operand(part, left)), _led(right, part, f"IS {negated}DISTINCT FROM"))


def _case(operand: ast.Expression | None, branches: tuple[ast.Branch, ...], otherwise: ast.Expression | None) -> Doc:
    head = cat("CASE ", after_word(operand)) if operand is not None else "CASE"
    lines: list[Doc] = [Origin(_branch(branch), branch.span) for branch in branches]
    if otherwise is not None:
        lines.append(_led(otherwise, _OR, "ELSE"))
    inside = Cat(tuple(part for line in lines for part in (LINE, line)))
    return Group(Align(cat(head, Nest(inside), LINE, "END")))


def _branch(branch: ast.Branch) -> Doc:
    return cat("WHEN ", _gap(expression(branch.condition)), _led(branch.result, _OR, "THEN"))
