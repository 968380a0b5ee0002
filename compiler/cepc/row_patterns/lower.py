"""MATCH_RECOGNIZE to a query of ours over numbered rows."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from cepc_grammar import ast
from cepc_grammar.pattern import Or, walk
from cepc_grammar.sql.syntax import Anchor
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.row_numbers import SortColumn
from cepc_runtime.sql.types import is_orderable

from ..automaton.positions import PatternTooLarge
from ..expressions.written_types import data_type
from . import build
from . import messages as say
from .binding import bound
from .columns import UsedColumns
from .coming import length_of_matches
from .conditions import ConditionWriter
from .each_row import RowMeasureWriter
from .edges import at_edges, within
from .measures import MeasureWriter
from .naming import names_of
from .navigation import ClauseScope, RefusedError
from .numbered import NumberedRows, RowOrder, unused
from .shape import around_nothing, numbered, over_events, places_of, shaped, without_edges
from .skipping import SkipCheck, skipping
from .tables import RowsComing
from .unmatched import check_unmatched, of_matches

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.source import Span
    from cepc_grammar.sql.syntax import FoundClause, MatchRecognize, RowPattern, RowsPerMatch

    from .binding import BoundPattern
    from .naming import ClauseNames
    from .shape import PlacePattern, VariablePlace
    from .skipping import Skipping
    from .tables import RowTable

KEPT: Final = "kept"

RESERVED: Final = ("match_start", "match_end")
"""What every row of a match has in our results."""


@dataclass(frozen=True, slots=True)
class LoweredClause:
    """`query` is over a stream of `rows`, which its FROM does not name yet. Its first columns are `shown` under these
    names. Of ALL ROWS PER MATCH some may not be `kept`: the column says which. They are `sorted_by` columns: one
    partition after the other, and in these matches row by row.
    """

    rows: NumberedRows
    query: ast.Query
    shown: tuple[str, ...]
    check: SkipCheck | None
    kept: str | None
    sorted_by: tuple[str, ...]


def lower_clause(found: FoundClause, table: RowTable, name: str) -> tuple[LoweredClause | None, list[Diagnostic]]:
    """The query, which is called `name`; and what is wrong, or not there."""
    problems: list[Diagnostic] = []
    lowered = None
    try:
        lowered = _lowered(found.clause, table, name, problems)
    except RefusedError as error:
        problems.append(error.diagnostic)
    except PatternTooLarge as problem:
        problems.append(say.too_large(found.clause.span, problem))
    return (None if problems else lowered), problems


def _lowered(clause: MatchRecognize, table: RowTable, name: str, problems: list[Diagnostic]) -> LoweredClause:
    """What is wrong here and there goes to the problems. Raises RefusedError, where nothing more can be said, and
    PatternTooLarge.
    """
    used, span = UsedColumns(table), clause.span
    order = _order(clause, table)
    names, wrong = names_of(clause)
    problems += wrong
    measures = {measure.name.text.casefold(): measure.expression for measure in clause.measures}
    scope = ClauseScope(table, names.rows, measures)
    inner, edges = without_edges(clause.pattern)
    if (other := next((node for node in walk(inner) if isinstance(node, Anchor)), None)) is not None:
        raise RefusedError(say.anchor_inside(other))
    pattern, has_empty = _some_rows(clause, inner, edges, names)
    of_ours = bound(pattern, names, scope, span, rows_shown=clause.rows.every)
    unmatched = clause.rows.of_others == "WITH UNMATCHED"
    if unmatched:
        check_unmatched(clause, inner, has_empty=has_empty, edges=edges)
    none = None
    if unmatched or (has_empty and all(edge.at != "end" for edge in edges)):  # before a row there is no end
        none = unused("no row", frozenset(one.name for one in of_ours.variables))
    where = _conditions(names, of_ours, scope, used, problems)
    where += at_edges(edges, of_ours, none if has_empty else None, used)
    length: ast.Duration | ast.Unbounded = ast.Unbounded(span)
    if isinstance(table.rows, RowsComing):
        length = length_of_matches(clause, order, table.rows)
    elif clause.within is not None:
        time = order.order[0].column
        where += within(clause.within, clause.order_by[0], time, table.types[time].name, of_ours, used)
    if order.partition:
        where.append(ast.Equivalence(tuple(ast.Name(column, span) for column in order.partition), span))
    of_match = MeasureWriter(of_ours, scope, used)
    of_rows = RowMeasureWriter(of_ours, scope, used, none) if clause.rows.every else of_match
    asked = _measures(clause, of_rows, problems)
    if none is not None and not has_empty:
        asked = [of_matches(item, none) for item in asked]
    before, behind = _of_table(order, table, used, clause.rows)
    items = [*before, *asked, *behind]
    shown = tuple(item.alias.text for item in items if item.alias is not None)
    problems += _twice([*before, *behind, *asked])
    skip = skipping(clause.skip, scope, of_ours, used)
    check = None if skip.landing is None else _checked(skip, clause.skip.span, items, of_match, none, used)
    kept = _kept(clause.rows, items, of_ours, none) if clause.rows.every else None
    number = with_hidden(items, "row number", _column(used.number, span)) if clause.rows.every else None
    returns = ast.Return(_apart(items), match=True, each=clause.rows.every, span=span)
    query = ast.Query(
        ast.Name(name, span), returns, _written(of_ours, none), length, build.conjunction(where),
        select="CONTIGUOUS", after_match=skip.after, span=span,
    )  # fmt: skip
    in_order = () if number is None else (*_names(returns, len(order.partition)), RESERVED[0], number)
    return LoweredClause(used.rows(order), query, shown, check, kept, in_order)


# ---- rows and pattern ------------------------------------------------------------------------------------------------


def _order(clause: MatchRecognize, table: RowTable) -> RowOrder:
    """Raises RefusedError."""
    scope = ClauseScope(table, {}, {})

    def column(reference: ast.Reference, where: str) -> str:
        if len(reference.parts) > 1:
            raise RefusedError(say.dotted(reference, where))
        found = scope.column_of(reference).column
        type_, _ = data_type(table.types[found])
        if type_ is not None and not is_orderable(type_):
            raise RefusedError(say.not_ordered(reference, where, type_))
        return found

    partition = tuple(column(one, "PARTITION BY") for one in clause.partition_by)
    order = tuple(
        SortColumn(column(key.column, "ORDER BY"), key.descending, key.nulls_first) for key in clause.order_by
    )
    if not order:
        raise RefusedError(say.no_order(clause.span))
    return RowOrder(table.name, tuple(dict.fromkeys(partition)), order)


def _some_rows(
    clause: MatchRecognize, inner: RowPattern, edges: list[Anchor], names: ClauseNames
) -> tuple[PlacePattern, bool]:
    """The pattern without its match of no row, and whether it has that. No row is a match wherever one can begin, so
    what is not preferred to it has none; but at the end of a partition no match begins. Raises RefusedError.
    """
    every = set(names.variables.values())
    pattern = shaped(inner, names.variables)
    if pattern is None:
        raise RefusedError(say.only_empty(clause.span))
    places = places_of(pattern)
    if rowless := every - {place.variable for place in places}:
        raise RefusedError(say.rowless(inner, rowless))
    around = around_nothing(pattern)
    if around is None:
        return pattern, False
    found = around.both if any(edge.at == "end" for edge in edges) else around.before
    if found is None:
        raise RefusedError(say.empty_first(inner, places[0].name.span.to(places[-1].name.span)))
    if rowless := every - {place.variable for place in places_of(found)}:
        raise RefusedError(say.behind_nothing(inner, rowless))
    return numbered(found), True


def _conditions(
    names: ClauseNames, of_ours: BoundPattern, scope: ClauseScope, used: UsedColumns, problems: list[Diagnostic]
) -> list[ast.Expression]:
    """What DEFINE says, as conjuncts of WHERE."""
    where: list[ast.Expression] = []
    for variable in of_ours.variables:
        if variable.variable in names.conditions:
            writer = ConditionWriter(variable, of_ours, scope, used)
            try:
                where += writer.conditions(names.conditions[variable.variable], of_ours.place_of(variable))
            except RefusedError as error:
                problems.append(error.diagnostic)
    return where


def _written(of_ours: BoundPattern, none: str | None) -> ast.Pattern:
    """The pattern of our query. An empty match is one of a row that has no variable of SQL's, and so is a row that no
    match has.
    """

    def event(place: VariablePlace) -> ast.Pattern:
        return ast.AnyEvent(ast.Name(of_ours.of(place).name, place.name.span), place.name.span)

    written = over_events(of_ours.pattern, event)
    return written if none is None else Or((written, ast.AnyEvent(ast.Name(none))))


# ---- columns of the result -------------------------------------------------------------------------------------------


def _column(column: str, span: Span) -> ast.Reference:
    return ast.Reference((ast.Name(column, span),), span)


def _columns(columns: Iterable[str], span: Span) -> list[ast.Item]:
    return [ast.Item(_column(c, span), ast.Name(c, span), span) for c in columns]


def _names(returns: ast.Return, count: int) -> tuple[str, ...]:
    """What the first columns are called."""
    return tuple(item.alias.text for item in returns.items[:count] if item.alias is not None)


def _of_table(
    order: RowOrder, table: RowTable, used: UsedColumns, rows: RowsPerMatch
) -> tuple[list[ast.Item], list[ast.Item]]:
    """The columns before the measures and behind them: of the partition; with ALL ROWS PER MATCH of the order, and the
    rest of the row. Raises RefusedError.
    """
    if not rows.every:
        return _columns(order.partition, rows.span), []
    for column, type_ in table.others.items():
        raise RefusedError(say.unshown_column(rows, column, type_))
    for column in table.types:
        used.use(column)
    first = dict.fromkeys((*order.partition, *(key.column for key in order.order)))
    rest = [column for column in table.types if column not in first]
    return _columns(first, rows.span), _columns(rest, rows.span)


def _kept(rows: RowsPerMatch, items: list[ast.Item], of_ours: BoundPattern, none: str | None) -> str | None:
    """A column behind those that are shown, which says whether a row is; None where each is."""
    left_out = [one.name for one in of_ours.variables if one.excluded]
    left_out += [none] if none is not None and rows.of_others == "OMIT EMPTY" else []
    if not left_out:
        return None
    conditions = [
        ast.Binary("<>", build.at_variable(rows.span), build.text(name, rows.span), rows.span) for name in left_out
    ]
    kept = build.conjunction(conditions)
    assert kept is not None
    return with_hidden(items, KEPT, kept)


def with_hidden(items: list[ast.Item], name: str, expression: ast.Expression) -> str:
    """What the column is called that stands behind the others now."""
    called = unused(name, frozenset(item.alias.text for item in items if item.alias is not None))
    items.append(ast.Item(expression, ast.Name(called, expression.span), expression.span))
    return called


def _measures(
    clause: MatchRecognize, writer: MeasureWriter | RowMeasureWriter, problems: list[Diagnostic]
) -> list[ast.Item]:
    if not clause.measures and not clause.partition_by and not clause.rows.every:
        raise RefusedError(say.no_columns(clause.span))
    found: list[ast.Item] = []
    for measure in clause.measures:
        try:
            found.append(ast.Item(writer.measure(measure.expression), measure.name, measure.expression.span))
        except RefusedError as error:
            problems.append(error.diagnostic)
    return found


def _checked(
    skip: Skipping, span: Span, items: list[ast.Item], writer: MeasureWriter, none: str | None, used: UsedColumns
) -> SkipCheck:
    """The check, with the columns that it needs behind those that are shown."""
    assert skip.landing is not None
    landing = with_hidden(items, "landing", skip.landing)
    first = with_hidden(items, "first row", writer.number_of_first(span))
    empty = None
    if none is not None:
        empty = with_hidden(items, "no row", build.call("LAST", [used.number_of(none, span)], span))
    return SkipCheck(landing, first, empty, skip.said, span)


def _apart(items: Sequence[ast.Item]) -> tuple[ast.Item, ...]:
    """The columns under names that our results can have."""
    taken = frozenset(RESERVED)
    return tuple(
        ast.Item(item.expression, ast.Name(unused(item.alias.text, taken), item.alias.span), item.span)
        for item in items
        if item.alias is not None
    )


def _twice(items: Sequence[ast.Item]) -> list[Diagnostic]:
    """Names that are there before, each once."""
    names = [item.alias for item in items if item.alias is not None]
    times = Counter(name.text.casefold() for name in names)
    last = {name.text.casefold(): name for name in names}
    return [say.twice(name, "a column") for folded, name in last.items() if times[folded] > 1]
