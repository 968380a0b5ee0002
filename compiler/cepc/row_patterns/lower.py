"""MATCH_RECOGNIZE to a query of ours over numbered rows."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from cepc_grammar import ast
from cepc_grammar.pattern import Or, walk
from cepc_grammar.sql.syntax import Anchor, PatternVariable
from cepc_runtime.cheap_dataclass import dataclass

from ..automaton.positions import PatternTooLarge
from . import build
from . import messages as say
from .columns import UsedColumns
from .define import BoundVariable, ConditionWriter, Mentioned, Row, Unsure, rows_at
from .measures import MeasureWriter
from .navigation import ClauseScope, RefusedError
from .numbered import NumberedRows, RowOrder, SortColumn, unused
from .paths import paths_of
from .shape import (
    PlacePattern,
    VariablePlace,
    emptiness,
    numbered,
    over_events,
    places_of,
    shaped,
    without_edges,
    without_nothing,
)
from .skipping import SkipCheck, Skipping, skipping
from .spread import spread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.source import Span
    from cepc_grammar.sql.syntax import FoundClause, MatchRecognize

    from .paths import RowPaths
    from .tables import RowTable

RESERVED: Final = ("match_start", "match_end")
"""What every row of a match has in our results."""

ROUNDS: Final = 3
"""So often alternatives are written out for conditions."""


@dataclass(frozen=True, slots=True)
class LoweredClause:
    """`query` is over a stream of `rows`, which its FROM does not name yet. Its first columns are `shown` under these
    names.
    """

    rows: NumberedRows
    query: ast.Query
    shown: tuple[str, ...]
    check: SkipCheck | None


def lower_clause(found: FoundClause, table: RowTable, name: str) -> tuple[LoweredClause | None, list[Diagnostic]]:
    """The query, which is called `name`; and what is wrong, or not there."""
    work = _Lowering(found.clause, table, name)
    try:
        lowered = work.lowered()
    except RefusedError as error:
        work.problems.append(error.diagnostic)
        lowered = None
    except PatternTooLarge:
        work.problems.append(say.too_large(found.clause.span))
        lowered = None
    return (None if work.problems else lowered), work.problems


@dataclass(frozen=True, slots=True)
class _Bound:
    """A pattern whose places are divided among variables of ours, so that each has one condition."""

    pattern: PlacePattern
    paths: RowPaths
    mentioned: Mentioned
    variables: tuple[BoundVariable, ...]

    def of(self, place: VariablePlace) -> BoundVariable:
        return next(one for one in self.variables if place.number in one.places)


class _Lowering:
    def __init__(self, clause: MatchRecognize, table: RowTable, name: str) -> None:
        self.problems: list[Diagnostic] = []
        self._clause, self._table, self._name = clause, table, name
        self._used = UsedColumns(table)

    def lowered(self) -> LoweredClause | None:
        """Raises RefusedError and PatternTooLarge."""
        clause = self._clause
        order = self._order()
        self.problems += _refused(clause)
        variables = _variables(clause)
        members = self._members(variables)
        conditions = self._conditions(variables)
        scope = ClauseScope(self._table, {name.casefold(): name for name in members if name is not None})
        inner, edges = without_edges(clause.pattern)
        if (other := next((node for node in walk(inner) if isinstance(node, Anchor)), None)) is not None:
            raise RefusedError(say.anchor_inside(other))
        pattern = shaped(inner, variables)
        if pattern is None:
            raise RefusedError(say.only_empty(clause.span))
        empty = emptiness(pattern)
        if empty == "before others":
            raise RefusedError(say.empty_first(_span_of(pattern)))
        if empty == "last":
            pattern = numbered(without_nothing(pattern))
        bound = self._bound(pattern, conditions, scope, members)
        where = self._where(bound, conditions, scope)
        writer = MeasureWriter(bound.variables, scope, bound.mentioned, bound.paths, self._used)
        items = [*self._partition_items(order), *self._measures(writer)]
        shown = tuple(item.alias.text for item in items if item.alias is not None)
        self.problems += _twice(items)
        none = None
        if empty == "last" and all(edge.at != "end" for edge in edges):  # before a row there is no end
            none = unused("no row", frozenset(one.name for one in bound.variables))
        skip = skipping(clause.skip, scope, bound.variables, bound.mentioned, bound.paths, self._used)
        check = None
        if skip.landing is not None:
            check = self._check(skip, items, writer, none)
        where += [*self._bounds(bound), *self._at_edges(edges, bound, none)]
        span = clause.span
        if order.partition:
            agree = tuple(ast.Name(column, span) for column in order.partition)
            where.append(ast.Equivalence(agree, span))
        query = ast.Query(
            ast.Name(self._name, span), ast.Return(_apart(items), True, span), _written(bound, none),
            ast.Unbounded(span), build.conjunction(where), select="CONTIGUOUS", after_match=skip.after, span=span,
        )  # fmt: skip
        return LoweredClause(self._used.rows(order), query, shown, check)

    # ---- names -------------------------------------------------------------------------------------------------------

    def _order(self) -> RowOrder:
        """Raises RefusedError."""
        clause = self._clause
        partition = tuple(self._column(one, "PARTITION BY") for one in clause.partition_by)
        order = tuple(
            SortColumn(self._column(key.column, "ORDER BY"), key.descending, key.nulls_first) for key in clause.order_by
        )
        if not order:
            raise RefusedError(say.no_order(clause.span))
        return RowOrder(self._table.name, tuple(dict.fromkeys(partition)), order)

    def _column(self, reference: ast.Reference, where: str) -> str:
        if len(reference.parts) > 1:
            raise RefusedError(say.dotted(reference, where))
        return ClauseScope(self._table, {}).column_of(reference).column

    def _members(self, variables: Mapping[str, str]) -> dict[str | None, frozenset[str]]:
        """Which variables each variable, each union, and None stand for."""
        found: dict[str | None, frozenset[str]] = {name: frozenset({name}) for name in variables.values()}
        for subset in self._clause.subsets:
            taken = {name.casefold() for name in found if name is not None}
            if subset.name.text.casefold() in taken:
                self.problems.append(say.twice(subset.name, "named"))
                continue
            unknown = [member for member in subset.members if member.text.casefold() not in variables]
            self.problems += (say.unknown_variable(member, variables.values()) for member in unknown)
            known = (variables[m.text.casefold()] for m in subset.members if m not in unknown)
            found[subset.name.text] = frozenset(known)
        found[None] = frozenset(variables.values())
        return found

    def _conditions(self, variables: Mapping[str, str]) -> dict[str, ast.Expression]:
        found: dict[str, ast.Expression] = {}
        for definition in self._clause.definitions:
            variable = variables.get(definition.variable.text.casefold())
            if variable is None:
                self.problems.append(say.unknown_variable(definition.variable, variables.values()))
            elif variable in found:
                self.problems.append(say.twice(definition.variable, "defined"))
            else:
                found[variable] = definition.condition
        return found

    # ---- conditions --------------------------------------------------------------------------------------------------

    def _bound(
        self, pattern: PlacePattern, conditions: Mapping[str, ast.Expression], scope: ClauseScope,
        members: Mapping[str | None, frozenset[str]],
    ) -> _Bound:  # fmt: skip
        """Raises RefusedError and PatternTooLarge."""
        for _ in range(ROUNDS):
            paths = paths_of(pattern)
            places = places_of(pattern)
            mentioned = Mentioned(
                members, {k: frozenset(p.number for p in places if p.variable in own) for k, own in members.items()}
            )
            rows: dict[int, tuple[Row | Unsure, ...]] = {}
            refused: list[RefusedError] = []
            for place in places:
                try:
                    rows[place.number] = rows_at(place, conditions.get(place.variable), scope, mentioned, paths)
                except RefusedError as error:
                    refused.append(error)
            unsure = [row for found in rows.values() for row in found if isinstance(row, Unsure)]
            if not unsure:
                if refused:
                    raise refused[0]
                return _Bound(pattern, paths, mentioned, _divided(places, rows))
            wider = spread(pattern, frozenset().union(*(row.variables for row in unsure)))
            if wider is None:
                raise RefusedError(say.too_large(self._clause.span))
            pattern = wider
        raise RefusedError(unsure[0].refused)

    def _where(
        self, bound: _Bound, conditions: Mapping[str, ast.Expression], scope: ClauseScope
    ) -> list[ast.Expression]:
        found: list[ast.Expression] = []
        for variable in bound.variables:
            if variable.variable in conditions:
                place = next(place for place in places_of(bound.pattern) if place.number in variable.places)
                writer = ConditionWriter(variable, bound.variables, scope, bound.mentioned, bound.paths, self._used)
                try:
                    found += writer.conditions(conditions[variable.variable], place)
                except RefusedError as error:
                    self.problems.append(error.diagnostic)
        return found

    def _at_edges(self, edges: Sequence[Anchor], bound: _Bound, none: str | None) -> list[ast.Expression]:
        """`^` and `$`. Raises RefusedError where rows of several variables may be at such an end of a match."""
        found: list[ast.Expression] = []
        every = bound.mentioned.places[None]
        for edge in edges:
            span = edge.span
            places = bound.paths.firsts(every) if edge.at == "start" else bound.paths.lasts(every)
            names = [one.name for one in bound.variables if one.places & places]
            if len(names) > 1:
                raise RefusedError(say.anchor_of_several(edge, names))
            if edge.at == "end":
                after = build.call("LAST", [self._used.number_of(names[0], span, 1)], span)
                found.append(ast.Is(after, "NULL", False, span))
            else:
                for name in (names[0], *(() if none is None else (none,))):
                    number = build.call("FIRST", [self._used.number_of(name, span)], span)
                    found.append(ast.Binary("=", number, build.whole(1, span), span))
        return found

    def _bounds(self, bound: _Bound) -> list[ast.Expression]:
        """WITHIN, as Flink has it: the first and the last row are less than that apart. Raises RefusedError."""
        within, first = self._clause.within, self._clause.order_by[0]
        if within is None:
            return []
        if not isinstance(within, ast.Interval):
            raise RefusedError(say.no_within(within.span, "what is no INTERVAL"))
        if first.descending:
            raise RefusedError(say.no_within(within.span, "where ORDER BY descends"))
        column, span = self._column(first.column, "ORDER BY"), within.span
        found: list[ast.Expression] = []
        for begin in bound.variables:
            if begin.places & bound.paths.begins:
                for end in bound.variables:
                    written = ast.Reference((ast.Name(column, span),), span)
                    start = build.call("FIRST", [self._used.of(begin.name, written, 0)], span)
                    last = build.call("LAST", [self._used.of(end.name, written, 0)], span)
                    found.append(ast.Binary("<", last, ast.Binary("+", start, within, span), span))
        return found

    # ---- columns of the result ---------------------------------------------------------------------------------------

    def _partition_items(self, order: RowOrder) -> list[ast.Item]:
        span = self._clause.span
        return [ast.Item(ast.Reference((ast.Name(c, span),), span), ast.Name(c, span), span) for c in order.partition]

    def _measures(self, writer: MeasureWriter) -> list[ast.Item]:
        found: list[ast.Item] = []
        for measure in self._clause.measures:
            try:
                expression = writer.measure(measure.expression)
            except RefusedError as error:
                self.problems.append(error.diagnostic)
                continue
            found.append(ast.Item(expression, measure.name, measure.expression.span))
        if not found and not self._clause.partition_by and not self.problems:
            raise RefusedError(say.no_columns(self._clause.span))
        return found

    def _check(self, skip: Skipping, items: list[ast.Item], writer: MeasureWriter, none: str | None) -> SkipCheck:
        """With the columns that it needs."""
        span = self._clause.skip.span
        assert skip.landing is not None
        landing = self._hidden(items, "landing", skip.landing)
        first = self._hidden(items, "first row", writer.number_of_first(span))
        empty = None
        if none is not None:
            empty = self._hidden(items, "no row", build.call("LAST", [self._used.number_of(none, span)], span))
        return SkipCheck(landing, first, empty, skip.said, span)

    def _hidden(self, items: list[ast.Item], name: str, expression: ast.Expression) -> str:
        """A column more, which is not shown."""
        called = unused(name, frozenset(item.alias.text for item in items if item.alias is not None))
        items.append(ast.Item(expression, ast.Name(called, expression.span), expression.span))
        return called


def _refused(clause: MatchRecognize) -> list[Diagnostic]:
    return [say.all_rows(clause.rows)] if clause.rows.every else []


def _variables(clause: MatchRecognize) -> dict[str, str]:
    """The pattern's variables as they are first written, by their names in one case."""
    found: dict[str, str] = {}
    for node in walk(clause.pattern):
        if isinstance(node, PatternVariable):
            found.setdefault(node.name.text.casefold(), node.name.text)
    return found


def _divided(places: list[VariablePlace], rows: Mapping[int, tuple[Row | Unsure, ...]]) -> tuple[BoundVariable, ...]:
    """Places of a variable in whose condition other rows are meant get a name of their own: `A`, `A 2`."""
    groups: dict[tuple[str, tuple[Row, ...]], set[int]] = {}
    for place in places:
        known = tuple(row for row in rows[place.number] if not isinstance(row, Unsure))
        groups.setdefault((place.variable, known), set()).add(place.number)
    numbers: Counter[str] = Counter()
    found: list[BoundVariable] = []
    for (variable, known), numbers_of in groups.items():
        numbers[variable] += 1
        name = variable if numbers[variable] == 1 else f"{variable} {numbers[variable]}"
        found.append(BoundVariable(name, variable, frozenset(numbers_of), known))
    return tuple(found)


def _written(bound: _Bound, none: str | None) -> ast.Pattern:
    """The pattern of our query. An empty match is one of a row that has no variable of SQL's."""

    def event(place: VariablePlace) -> ast.Pattern:
        return ast.AnyEvent(ast.Name(bound.of(place).name, place.name.span), place.name.span)

    written = over_events(bound.pattern, event)
    return written if none is None else Or((written, ast.AnyEvent(ast.Name(none))))


def _apart(items: list[ast.Item]) -> tuple[ast.Item, ...]:
    """The columns under names that our results can have."""
    taken = frozenset(RESERVED)
    return tuple(
        ast.Item(item.expression, ast.Name(unused(item.alias.text, taken), item.alias.span), item.span)
        for item in items
        if item.alias is not None
    )


def _twice(items: list[ast.Item]) -> list[Diagnostic]:
    names = [item.alias for item in items if item.alias is not None]
    seen = Counter(name.text.casefold() for name in names)
    repeated = {text for text, times in seen.items() if times > 1}
    return [say.twice(name, "a column") for name in reversed(names) if _take(repeated, name.text.casefold())]


def _take(names: set[str], name: str) -> bool:
    if name not in names:
        return False
    names.remove(name)
    return True


def _span_of(pattern: PlacePattern) -> Span:
    places = places_of(pattern)
    return places[0].name.span.to(places[-1].name.span)
