"""Abstract syntax to text, in the one layout that `cepc fmt` writes: `parse(to_text(program)).program == program`."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from . import ast
from .layout import (
    HARD,
    LINE,
    WIDTH,
    Align,
    Cat,
    Doc,
    Fill,
    Group,
    Nest,
    Origin,
    bracketed,
    cat,
    commas,
    render,
    separated,
    text_of,
)
from .pattern import OPERATORS, Not
from .print_expression import after_word, expression
from .print_pattern import pattern
from .source import NOWHERE
from .spelling import (
    STATEMENT,
    dotted_text,
    duration_text,
    literal_text,
    name_text,
    string_text,
    type_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .source import Span

Within = ast.Duration | ast.Unbounded | ast.Session
Printable = ast.Program | ast.Statement | ast.Pattern | ast.Expression | ast.TypeExpr | Within | ast.Item


def to_text(node: Printable) -> str:
    """The canonical text of any node; statements end with `;`, a program with a line end.

    >>> from .pattern import Repeat
    >>> to_text(Repeat(ast.Atom(ast.Name("E"), None, ast.Name("e")), 1, None))
    'E+ e'
    """
    if isinstance(node, OPERATORS):
        return text_of(render(pattern(node)))
    match node:
        case ast.Program(statements):
            return _program(statements)
        case (
            ast.Import()
            | ast.Stream()
            | ast.DerivedEvent()
            | ast.NamedPattern()
            | ast.Function()
            | ast.Query()
            | ast.Test()
        ):
            return text_of(render(cat(statement(node), ";")))
        case ast.TypeExpr():
            return type_text(node)
        case ast.Duration():
            return duration_text(node)
        case ast.Unbounded():
            return "UNBOUNDED"
        case ast.Session(gap):
            return f"SESSION {duration_text(gap)}"
        case ast.Item():
            return text_of(render(_item(node)))
        case ast.Atom() | ast.AnyEvent():
            return text_of(render(pattern(node)))
        case _:
            return text_of(render(expression(node)))


def _program(statements: tuple[ast.Statement, ...]) -> str:
    """A blank line between statements, except between short ones of a kind."""
    texts = list(map(to_text, statements))
    gaps = [
        "\n" if type(first) is type(second) and "\n" not in text + following else "\n\n"
        for (first, second), (text, following) in zip(pairwise(statements), pairwise(texts), strict=True)
    ]
    return "".join(text + gap for text, gap in zip(texts, [*gaps, "\n"], strict=True)) if texts else ""


def statement(node: ast.Statement, *, bare: bool = False) -> Origin:
    """The document of a statement without its `;`; `bare` for a query in the form of the papers' workload files."""
    return Origin(_statement(node, bare), node.span)


def _statement(node: ast.Statement, bare: bool) -> Doc:
    match node:
        case ast.Import(module, file):
            return "IMPORT " + (dotted_text(module) if module is not None else string_text(file or ""))
        case ast.Stream():
            return _stream(node)
        case ast.DerivedEvent(name, base, where):
            of = Origin(dotted_text((base,) if node.stream is None else (node.stream, base)), base.span)
            head = Group(Nest(cat("EVENT ", _name(name), LINE, _led("AS", of))))
            return Group(Nest(cat(head, LINE, _led("WHERE", expression(where)))))
        case ast.NamedPattern(name, parameters, body, where):
            listed = "" if parameters is None else f"({', '.join(map(name_text, parameters))})"
            declared = cat("PATTERN ", name_text(name), listed, " AS ", pattern(body))
            return (
                declared if where is None else Group(cat(declared, Nest(cat(LINE, _led("WHERE", expression(where))))))
            )
        case ast.Function(name, parameters, body):
            called = f"{name_text(name)}({', '.join(map(name_text, parameters))})"
            return Group(cat("FUNCTION ", called, Nest(cat(LINE, _led("AS", expression(body))))))
        case ast.Query(name):
            clauses = _clauses(node, bare)
            if bare:
                return separated((Origin(name_text(name, STATEMENT), name.span), *clauses), HARD)
            below = Cat(tuple(part for clause in clauses for part in (HARD, clause)))
            return cat("QUERY ", _name(name), _labels(node), Nest(below))
        case ast.Test(name, query, given, expected):
            events = (part for one in given for part in (HARD, _given(one)))
            return cat("TEST ", _name(name), " FOR ", _name(query), Nest(cat(*events, HARD, _expected(expected))))


def _name(name: ast.Name) -> Origin:
    return Origin(name_text(name), name.span)


def _led(word: str, doc: Origin) -> Origin:
    return Origin(cat(word + " ", Align(doc)), doc.span, (word,))


# ---- tests -----------------------------------------------------------------------------------------------------------


def _given(given: ast.Given) -> Origin:
    stream = "" if given.stream is None else f"{name_text(given.stream, frozenset({'VALUES'}))} "
    return Origin(cat("GIVEN  ", stream, _values(given.values)), given.span, ("GIVEN",))


def _expected(values: ast.Values | None) -> Doc:
    return "EXPECT NO ROWS" if values is None else Origin(cat("EXPECT ", _values(values)), values.span, ("EXPECT",))


def _values(values: ast.Values) -> Doc:
    """The rows below one another, their values in columns; a row that is too long for a line goes on below by
    itself.
    """
    cells = [[text_of(render(expression(value), width=_UNBROKEN)) for value in row.values] for row in values.rows]
    widths = [max(len(row[i]) for row in cells if i < len(row)) for i in range(max(map(len, cells)))]
    padded = [[f"{cell}, ".ljust(w + 2) for cell, w in zip(row[:-1], widths, strict=False)] for row in cells]
    lines = [f"({''.join(pads)}{row[-1]})" for pads, row in zip(padded, cells, strict=True)]
    rows = [
        Origin(line if len(line) < _ROW else cat("(", Align(Fill(tuple(map(expression, node.values)))), ")"), node.span)
        for line, node in zip(lines, values.rows, strict=True)
    ]
    named = "" if values.columns is None else f"({', '.join(map(name_text, values.columns))}) "
    return cat(f"{named}VALUES", Nest(cat(HARD, separated(rows, cat(",", HARD)))))


_UNBROKEN = 1_000_000  # a line that long is never broken
_ROW = WIDTH - 5  # of a line behind four spaces, with a comma behind it


# ---- streams ---------------------------------------------------------------------------------------------------------

_WIDEST_NAME = 32  # names longer than this do not push the types of all columns away


def _stream(node: ast.Stream) -> Doc:
    names = [name_text(c.name) for c in node.columns]
    width = max((len(n) for n in names if len(n) <= _WIDEST_NAME), default=0)
    columns = [
        Origin(_column(name.ljust(width), column), column.span)
        for name, column in zip(names, node.columns, strict=True)
    ]
    head = cat("STREAM ", _name(node.name))
    if node.columns:
        head = cat(head, " (", Nest(cat(HARD, separated(columns, cat(",", HARD)))), HARD, ")")
    clauses: list[Doc] = []
    if node.event_time is not None:
        clauses += (HARD, Origin(_event_time(node.event_time), node.event_time.span))
    if node.event_type is not None:
        clauses += (HARD, Origin(_event_type(node.event_type), node.event_type.span))
    if isinstance(node.source, ast.FromQuery):
        alone = not node.columns and not clauses
        text = f"FROM QUERY {name_text(node.source.query)}"
        clauses += (" " if alone else HARD, Origin(text, node.source.span))
    elif node.source is not None:
        word = node.source.format
        format_name = name_text(ast.Name(word.upper() if word.isascii() else word))
        options = ", ".join(f"{name_text(name)} = {string_text(value)}" for name, value in node.source.options)
        text = f"FROM {format_name} {string_text(node.source.path)}" + (f" OPTIONS ({options})" if options else "")
        clauses += (HARD, Origin(text, node.source.span))
    return cat(head, *clauses)


def _column(name: str, column: ast.Column) -> Doc:
    declared = name if column.type is None else f"{name} {type_text(column.type)}"
    return declared if column.expression is None else cat(f"{declared} AS ", Align(expression(column.expression)))


def _event_time(node: ast.EventTime) -> Doc:
    text = f"EVENT TIME {name_text(node.column)}"
    if node.unit is not None:
        text += f" UNIT {node.unit}"
    if node.order_by:
        text += f" ORDER BY {', '.join(map(name_text, node.order_by))}"
    return text if node.watermark is None else f"{text} WATERMARK {duration_text(node.watermark)}"


def _event_type(node: ast.EventType) -> Doc:
    text = f"EVENT TYPE {name_text(node.column)}"
    if node.types is None:
        return text
    return bracketed(f"{text} IN (", Fill(tuple(Origin(literal_text(t), t.span) for t in node.types)), ")")


# ---- queries ---------------------------------------------------------------------------------------------------------


def _labels(node: ast.Query) -> Doc:
    if not node.labels:
        return ""
    labels = (Origin(f"{name_text(name)} = {string_text(value)}", name.span) for name, value in node.labels)
    return bracketed(" WITH (", Fill(tuple(labels)), ")")


_GROUP_BY = ("GROUP BY", "GROUP - BY", "GROUPBY", "GROUP_BY")


def _clauses(node: ast.Query, bare: bool) -> Iterator[Doc]:
    """The clauses in canonical order, keywords in a column of their own; unaligned, as in the papers, if bare."""

    def clause(word: str, doc: Doc, span: Span, *spellings: str) -> Origin:
        placed = Align(doc) if not bare else doc if word == "PATTERN" else Nest(doc)
        return Origin(cat(word + " " if bare else f"{word:<9}", placed), span, spellings or (word,))

    yield clause("RETURN", _items(node.returns), node.returns.span)
    negated = isinstance(node.pattern, Not) and node.pattern.within is None  # it would take the query's WITHIN
    whole = bracketed("(", pattern(node.pattern), ")") if negated else pattern(node.pattern)
    yield clause("PATTERN", whole, node.pattern.span)
    if node.streams:
        names = commas(Origin(name_text(name), name.span) for name in node.streams)
        yield clause("FROM", Group(names), node.streams[0].span.to(node.streams[-1].span))
    if node.where is not None:
        yield clause("WHERE", expression(node.where), node.where.span)
    if node.group_by:
        groups = commas(Origin(dotted_text(g.parts), g.span) for g in node.group_by)
        span = node.group_by[0].span.to(node.group_by[-1].span)
        yield clause("GROUP-BY" if bare else "GROUP BY", Group(groups), span, *_GROUP_BY)
    if node.having is not None:
        yield clause("HAVING", expression(node.having), node.having.span)
    if node.select != "ANY":
        yield clause("SELECT", node.select, NOWHERE)
    if node.after_match is not None:
        yield Origin(_after_match(node.after_match), node.after_match.span, ("AFTER MATCH SKIP",))
    yield clause("WITHIN", _window(node), _window_span(node), "WITHIN", "WINDOW")


def _items(node: ast.Return) -> Doc:
    if not node.match:
        return Group(commas(map(_item, node.items)))
    first, *others = node.items
    return Group(cat("EACH " if node.each else "MATCH ", commas([_item(first, after_word), *map(_item, others)])))


def _item(node: ast.Item, printed: Callable[[ast.Expression], Origin] = expression) -> Origin:
    if node.alias is None:
        return Origin(printed(node.expression), node.span)
    return Origin(cat(printed(node.expression), Group(Nest(LINE)), "AS ", name_text(node.alias)), node.span)


def _after_match(node: ast.AfterMatch) -> str:
    variables = " " * bool(node.variables) + ", ".join(dotted_text(variable.parts) for variable in node.variables)
    length = "" if node.duration is None else " " + duration_text(node.duration)
    return f"AFTER MATCH SKIP {node.skip}{variables}{length}"


def _window(node: ast.Query) -> Doc:
    within = to_text(node.within)
    if not node.after_within:
        return within
    others = [Origin(f"{word} {duration_text(found)}", found.span, (word,)) for word, found in node.after_within]
    return Group(cat(Origin(within, node.within.span), *(doc for other in others for doc in (LINE, other))))


def _window_span(node: ast.Query) -> Span:
    ends = [found.span for _, found in node.after_within]
    return node.within.span.to(ends[-1]) if ends else node.within.span
