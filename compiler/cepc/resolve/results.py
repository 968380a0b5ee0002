"""What a query returns: its kind, the columns of its rows with their names, and HAVING."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.stream import PLACE
from cepc_runtime.sql.aggregate_functions import VARIABLE, aggregate_written, spellings
from cepc_runtime.sql.expression import NAME_OF_VARIABLE, Field, is_of_event

from .. import model
from ..expressions import ExpressionContext, cannot_be_called, column_name, type_condition, type_expression
from ..expressions.functions import BESIDE, LABEL, NAVIGATION, is_refused_aggregate, label_named
from ..expressions.messages import distinct
from .conditions import is_reported
from .messages import clauses as say
from .messages import names as say_names
from .scopes import PatternScope, having_column, result_columns
from .spark_alone import spark_alone
from .structure import check_structure
from .walk import references, rewrite, walk

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping
    from typing import Literal as OneOf

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.source import Span
    from cepc_runtime.sql.expression import Expression

    from .partition import Partition
    from .scopes import Names
    from .streams import KnownStream

_AGGREGATES = frozenset(spellings(countable=True))
_OF_A_MATCH = frozenset({*NAVIGATION, *BESIDE, "NEXT", *spellings(countable=False)})


@dataclass(frozen=True, slots=True)
class Returned:
    """The columns, none of them with RETURN MATCH *, which `returns_events`. Those of RETURN EACH * stand here."""

    outputs: tuple[model.Output, ...]
    having: Expression | None
    returns_events: bool


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of the rows as it is written: its name, and whether AS gives it."""

    name: str
    span: Span
    aliased: bool
    of_star: bool = False


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What expressions of RETURN and HAVING can name."""

    kind: OneOf["aggregate", "match"]
    names: Names
    partition: Partition
    stream: KnownStream | None
    labels: Mapping[str, str]
    each: bool
    ungrouped: tuple[str, ...] = ()

    @property
    def shared(self) -> frozenset[str]:
        return frozenset(self.partition.group_by if self.kind == "aggregate" else self.partition.agree)


def kind_of(query: ast.Query) -> OneOf["aggregate", "match"]:
    """`RETURN MATCH …`, or a RETURN without aggregates, makes a match query.

    `RETURN *` and an aggregate of Spark's that is refused are wrong; they are taken for what SLIDE and OFFSET tell.
    """
    nodes = [node for item in query.returns.items for node in walk(item.expression)]
    if query.after_within and not query.returns.match:
        refused = any(isinstance(node, ast.Call) and is_refused_aggregate(node) for node in nodes)
        if refused or isinstance(query.returns.items[0].expression, ast.Star):
            return "aggregate"
    aggregates = any(map(_is_aggregate, nodes))
    return "aggregate" if aggregates and not query.returns.match else "match"


def results(query: ast.Query, around: Surroundings) -> tuple[Returned | None, list[Diagnostic]]:
    """The results, and what is wrong with RETURN and HAVING.

    Without a stream only their structure is checked, and there are no results.
    """
    problems = _stars(query)
    if problems:
        return None, problems
    problems = [*_unknown_labels(query), *_numbers(query, around.kind)]
    around = replace(around, ungrouped=_ungrouped(query, around))
    returns_events = isinstance(query.returns.items[0].expression, ast.Star) and not around.each
    outputs: list[model.Output] = []
    columns: list[_Column] = []
    failed: set[str] = set()
    complete = True
    for item in () if returns_events else query.returns.items:
        if isinstance(item.expression, ast.Star):
            every = _every_column(around.stream)
            outputs += every
            columns += [_Column(output.name, item.expression.span, aliased=False, of_star=True) for output in every]
            continue
        columns.append(_Column(_name(item), (item.alias or item.expression).span, item.alias is not None))
        typed, found = _typed(item.expression, around)
        problems += found
        if typed is not None:
            outputs.append(model.Output(_name(item), typed))
        else:
            complete = False
            failed |= {item.alias.text} if item.alias is not None else set()
    if returns_events:
        columns += _twice_in_events(around.stream, query.returns.items[0].expression.span)
    problems += _clashes(columns, around.kind, {output.name for output in outputs})
    having: Expression | None = None
    if query.having is not None:
        aliases = {column.name for column in columns if column.aliased}
        named = {o.name: o.expression for o in outputs if o.name in aliases}
        of_event = {name for name, typed in named.items() if around.each and is_of_event(typed, around.shared)}
        problems += (wrong := list(_of_one_event(query.having, of_event)))
        if not wrong:
            having, found = _typed(query.having, around, named, frozenset(failed))
            problems += found
    if not complete or (query.having is not None and having is None):
        return None, problems
    return Returned(tuple(outputs), having, returns_events), problems


def _ungrouped(query: ast.Query, around: Surroundings) -> tuple[str, ...]:
    """The columns that stand bare in RETURN, outside aggregates, and not in GROUP BY."""
    if around.kind != "aggregate" or around.stream is None:
        return ()
    nodes = [node for item in query.returns.items for node in walk(item.expression)]
    of_aggregates = {id(part) for node in nodes if _is_aggregate(node) for part in walk(node)}
    outside = [node for node in nodes if isinstance(node, ast.Reference) and id(node) not in of_aggregates]
    names = [node.parts[0].text for node in outside if around.names.split(node) is None]
    return tuple(dict.fromkeys(name for name in names if name in around.stream.columns and name not in around.shared))


def _every_column(stream: KnownStream | None) -> list[model.Output]:
    """Of `RETURN EACH *`: what RETURN MATCH * shows of an event."""
    if stream is None or stream.checked is None:
        return []
    columns = [column for column in stream.checked.columns if column[0] != PLACE]
    return [
        model.Output(VARIABLE.name, NAME_OF_VARIABLE),
        *(model.Output(name, Field(None, name, "each", type_)) for name, type_ in columns),
    ]


def _twice_in_events(stream: KnownStream | None, span: Span) -> list[_Column]:
    """Of the columns of an event those that RETURN MATCH * cannot name, as both have one name."""
    names = Counter(output.name for output in _every_column(stream))
    return [
        _Column(name, span, aliased=False, of_star=True)
        for name, times in names.items()
        for _ in range(times)
        if times > 1
    ]


def _of_one_event(having: ast.Expression, columns: Container[str]) -> Iterator[Diagnostic]:
    """What HAVING, which is of a match, asks of its events."""
    for reference in references(having):
        if len(reference.parts) == 1 and reference.parts[0].text in columns:
            yield say.having_of_event(reference.parts[0])


def _unknown_labels(query: ast.Query) -> Iterator[Diagnostic]:
    """What LABEL names in RETURN and HAVING and the query has not."""
    known = {name.text for name, _ in query.labels}
    for node in _calls(query):
        if node.function.text.upper() == LABEL:
            name = label_named(node)
            if name is not None and name.text not in known:
                yield say_names.unknown_label(name, query)


def _numbers(query: ast.Query, kind: OneOf["aggregate", "match"]) -> Iterator[Diagnostic]:
    """MATCH_NUMBER where matches have no order."""
    if kind == "match" and query.after_match is None:
        for node in _calls(query):
            function = aggregate_written(node.function.text.upper())
            if function is not None and function.numbers:
                yield say.number_without_after_match(node.span, query.select)


def _calls(query: ast.Query) -> Iterator[ast.Call]:
    """The calls in RETURN and HAVING."""
    shown = [item.expression for item in query.returns.items] + ([query.having] if query.having is not None else [])
    return (node for expression in shown for node in walk(expression) if isinstance(node, ast.Call))


def _typed(
    expression: ast.Expression,
    around: Surroundings,
    aliases: dict[str, Expression] | None = None,
    failed: frozenset[str] = frozenset(),
) -> tuple[Expression | None, list[Diagnostic]]:
    """A column of the result, or with the columns that have aliases the condition of HAVING."""
    if around.kind == "aggregate":
        expression = _bare_groups(expression, around)
        misplaced = _misplaced(expression, around)
        if misplaced:
            return None, misplaced
    each = around.each and aliases is None
    if around.stream is None:
        shared = None if each else around.shared | failed | frozenset(aliases or ())
        return None, list(check_structure(expression, around.names, shared, around.kind))
    reported = around.partition.wrong | failed
    scope = PatternScope(
        around.names,
        around.stream,
        around.shared,
        around.kind,
        aliases,
        reported,
        each=each,
        ungrouped=around.ungrouped,
    )
    if is_reported(expression, scope):
        return None, []
    if aliases is not None:
        context = ExpressionContext.HAVING_AGGREGATE if around.kind == "aggregate" else ExpressionContext.HAVING_MATCH
        typed, found = type_condition(expression, scope, context, around.labels)
    else:
        of_match = ExpressionContext.EACH if each else ExpressionContext.MATCH
        context = ExpressionContext.AGGREGATE if around.kind == "aggregate" else of_match
        typed, found = type_expression(expression, scope, context, around.labels)
    if typed is not None and (alone := spark_alone(expression, typed, "a result" if aliases is None else "HAVING")):
        return None, [*found, alone]
    return typed, list(found)


def _bare_groups(expression: ast.Expression, around: Surroundings) -> ast.Expression:
    """`T.a`, where a is a grouping attribute and no aggregate is around it, as `a`: all events agree on it."""

    def change(node: ast.Expression) -> ast.Expression | None:
        if _is_aggregate(node):
            return node
        if isinstance(node, ast.Reference) and (found := around.names.split(node)) is not None:
            variable, path = found
            if path and path[0].text in around.partition.group_by and variable.negation is None:
                return ast.Reference(path, node.span)
        return None

    return rewrite(expression, change)


def _misplaced(expression: ast.Expression, around: Surroundings) -> list[Diagnostic]:
    """Columns of events outside an aggregate, and columns inside that do not say of which events."""
    problems: list[Diagnostic] = []

    def look(node: ast.Expression) -> ast.Expression | None:
        if _is_aggregate(node):
            problems.extend(_whose(node, around))
            return node
        if isinstance(node, ast.Call) and node.function.text.upper() in _OF_A_MATCH:
            return node
        if isinstance(node, ast.Call) and around.stream is not None and cannot_be_called(node):
            return node  # MEAN(A.x): the name is to be mended first
        if isinstance(node, ast.Reference) and (found := around.names.split(node)) is not None and found[1]:
            text = ".".join(p.text for p in node.parts)
            problems.append(say.event_column(text, node.span, found[1][0].text, around.partition.group_by))
        return None

    rewrite(expression, look)
    return problems


def _whose(aggregate: ast.Expression, around: Surroundings) -> Iterator[Diagnostic]:
    """Names in an aggregate that are no variables: bare columns, and what COUNT cannot count."""
    match aggregate:
        case ast.Call(_, (ast.Reference((_,)) as only,)) if around.stream is not None and around.names.complete:
            unknown = only.parts[0].text not in around.stream.columns and only.parts[0].text not in around.shared
            if around.names.split(only) is None and unknown and only.parts[0].text not in around.stream.broken:
                yield around.names.unknown(only)
                return
    for reference in references(aggregate):
        column = reference.parts[0]
        is_column = around.stream is None or column.text in around.stream.columns
        if (
            is_column
            and around.names.complete
            and around.names.split(reference) is None
            and column.text not in around.shared
        ) and (around.stream is not None or len(reference.parts) == 1):
            if isinstance(aggregate, ast.Call) and aggregate.distinct and around.kind == "aggregate":
                yield distinct(aggregate.span, aggregate.function.text.upper())  # whose column it is does not help
                return
            names = around.names.positive
            if around.stream is not None:
                names = having_column(column, names, around.names, around.stream)
            yield say_names.bare_column_in_aggregate(column, names)


def _is_aggregate(node: ast.Expression) -> bool:
    return isinstance(node, ast.Call) and node.function.text.upper() in _AGGREGATES


def _stars(query: ast.Query) -> list[Diagnostic]:
    items = () if query.returns.each else query.returns.items
    stars = [i.expression.span for i in items if isinstance(i.expression, ast.Star)]
    if stars and not query.returns.match:
        return [say.star_without_match(stars[0])]
    return [say.star_alone(stars[0])] if stars and len(items) > 1 else []


def _name(item: ast.Item) -> str:
    return item.alias.text if item.alias is not None else column_name(item.expression)


def _clashes(columns: Iterable[_Column], kind: str, right: set[str]) -> list[Diagnostic]:
    """Columns of one name, `right` being the names of those without an error.

    `window_start` alone has its error where the stream has no such column.
    """
    problems = []
    first: dict[str, tuple[str, Span]] = {}
    for column in columns:
        name, span = column.name, column.span
        if name.casefold() in result_columns(kind):
            if column.aliased or name in right:
                problems.append(say.reserved_column(name, span, "an aggregate" if kind == "aggregate" else "a match"))
        elif name.casefold() in first:
            problems.append(say.same_column(name, span, *first[name.casefold()], of_star=column.of_star))
        else:
            first[name.casefold()] = name, span
    return problems
