"""Conditions of DEFINE as conjuncts of WHERE, where it is known which rows they mean."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final
from typing import Literal as OneOf

from cepc_grammar import ast
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.aggregate_functions import COUNT, MAX, MAX_BY, MIN, MIN_BY, aggregate_written

from ..resolve.walk import conjuncts, references, rewrite, walk
from . import build
from . import messages as say
from .aggregating import AggregateWriter, row_aggregate
from .define import Back, Earlier, EndRow, Missing, Own, SoFar, WhichRow, rows_in, rows_of
from .navigation import LOGICAL, RefusedError, of_row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc_grammar.source import Span
    from cepc_runtime.sql.aggregate_functions import AggregateFunction

    from .binding import BoundPattern
    from .columns import UsedColumns
    from .define import BoundVariable
    from .navigation import ClauseScope, RowReference
    from .shape import VariablePlace


PREV: Final = "PREV"


@dataclass(frozen=True, slots=True)
class ConditionWriter:
    """Writes the condition of one variable of a pattern."""

    variable: BoundVariable
    bound: BoundPattern
    scope: ClauseScope
    used: UsedColumns
    so_far: bool = False
    """Whether first and last rows are those of the rows so far."""

    def conditions(self, condition: ast.Expression, place: VariablePlace) -> list[ast.Expression]:
        """Conjuncts of WHERE. Raises RefusedError."""
        rows = iter(self.variable.rows)
        return [written for one in conjuncts(condition) for written in self._conjunct(one, place, rows)]

    def _conjunct(
        self, conjunct: ast.Expression, place: VariablePlace, rows: Iterator[WhichRow]
    ) -> list[ast.Expression]:
        """PREV is asked where there is such a row alone, so there is one condition for each number of rows that there
        may be.
        """
        mentioned = [self._row(next(rows), asked) for asked in rows_of(conjunct, self.scope, place)]
        offsets = sorted({row.offset for row in mentioned if isinstance(row, Back)})
        found: list[ast.Expression] = []
        for most in (*offsets, None):
            rows_meant = [_up_to(most, row) for row in mentioned]
            written = self._over(conjunct, place, rows_meant)
            running, ends = _running_in(written), _ends_in(written)
            if running - {self.variable.name} and ends & {self.variable.name, *running}:
                written = replace(self, so_far=True)._over(conjunct, place, rows_meant)
            if most is not None:
                few = ast.Binary("<=", self._count(conjunct.span), build.whole(most, conjunct.span), conjunct.span)
                written = ast.Binary("OR", ast.Unary("NOT", few, conjunct.span), written, conjunct.span)
            found.append(self._about_it(written))
        return found

    def _row(self, row: WhichRow, asked: RowReference) -> WhichRow:
        """An earlier row is none at places that none can come before, though it is one at other places."""
        return Missing() if isinstance(row, (Earlier, Back)) and not self._before(asked.variable) else row

    def _over(self, conjunct: ast.Expression, place: VariablePlace, mentioned: list[WhichRow]) -> ast.Expression:
        rows = iter(mentioned)
        return rows_in(
            conjunct, self.scope, place, lambda asked, node: self._value(next(rows), asked, node), self._aggregate
        )

    def _count(self, span: Span) -> ast.Expression:
        """The rows of the variable up to the one at hand."""
        return build.call(
            COUNT.written, [ast.Reference((ast.Name(self.variable.name, span),), span)], span, running=True
        )

    def _about_it(self, conjunct: ast.Expression) -> ast.Expression:
        """A condition that mentions the variable, for one that does not is of every match."""
        own, mentioned = self.variable.name, _mentioned(conjunct)
        calls, running = _calls(conjunct), _running_in(conjunct)
        if running - {own}:
            if _ends_in(conjunct) & {own, *running}:
                raise RefusedError(say.running_beside_others(conjunct.span))
            return self._of_several(conjunct, running)
        later = [call for call in calls if call.function.text in LOGICAL and len(call.arguments) > 1]
        if running and any(own in _mentioned(call) for call in later):
            raise RefusedError(say.running_beside_others(conjunct.span))
        if mentioned > {own} and any(call.function.text == PREV for call in calls):
            raise RefusedError(say.back_beside_others(conjunct.span, self.variable.variable))
        if own in _of_rows(conjunct):
            return conjunct
        span = conjunct.span
        return build.where(build.is_there(self.used.number_of(self.variable.name, span), span), conjunct, span)

    def _of_several(self, conjunct: ast.Expression, running: set[str]) -> ast.Expression:
        """With what is RUNNING of other variables, rows of these are at hand, too, of which it is not asked. What is of
        all rows, since no more can come, is of those so far.
        """
        span, own = conjunct.span, self.variable.name

        def up_to_it(node: ast.Expression) -> ast.Expression | None:
            if isinstance(node, ast.Call) and _mentioned(node) & {own, *running} and _is_aggregate(node):
                return replace(node, running=True)
            return None

        conjunct = rewrite(conjunct, up_to_it)
        if own not in running:
            there = ast.Binary(">", self._count(span), build.whole(0, span), span)
            conjunct = ast.Binary("AND", there, conjunct, span)
        another = ast.Is(self.used.number_of(own, span), "NULL", False, span)
        return ast.Binary("OR", another, conjunct, span)

    def _value(self, row: WhichRow, asked: RowReference, node: ast.Expression) -> ast.Expression:
        span = node.span
        match row:
            case Own(places):
                name = self.variable.name
                value = of_row(asked.body, lambda column: self.used.of(name, column, places))
                if places == 0 or isinstance(asked.body, ast.Reference):
                    return value
                return build.where(build.is_there(self.used.number_of(name, span, places), span), value, span)
            case Earlier() | Back() if not self._before(asked.variable) <= self.variable.places:
                raise RefusedError(say.depends_on_length(span, asked.variable, self.variable.variable))
            case Earlier(places, offset):
                number = self.used.number_of(self.variable.name, span)
                later = ast.Binary(">", number, self._first(number, span), span)
                if offset > 1:
                    later = ast.Binary(">", self._count(span), build.whole(offset, span), span)
                return build.where(later, self._value(Own(places), asked, node), span)
            case Back(places, offset):
                return at_end(self.used, PREV, self.variable.name, asked.body, places, span, offset)
            case Missing():
                return of_no_row(self.used, asked.body, span)
            case EndRow(end, variable, places, 0):
                if self.so_far or len(self._able(end, variable)) > 1:
                    return self._value(SoFar(end, variable, places), asked, node)
                (name,) = self._able(end, variable)
                return at_end(self.used, end, name, asked.body, places, span)
            case SoFar(end, variable, places):
                return self._so_far_of(end, self._able(end, variable), places, asked.body, span)
            case EndRow("FIRST", None, places, offset):
                name = self._beginning(span)
                first = build.call("FIRST", [self.used.number_of(name, span)], span)
                there = ast.Binary("+", first, build.whole(offset, span), span)
                return self._where_reached(
                    there, at_end(self.used, "FIRST", name, asked.body, places + offset, span), span
                )
            case EndRow(end, variable, places, offset):
                name = self._sole(variable, span)
                value = at_end(self.used, end, name, asked.body, places, span, offset)
                if end == "LAST":
                    return value
                number = self.used.number_of(name, span)
                return self._where_reached(build.call("FIRST", [number, build.whole(offset, span)], span), value, span)

    def _where_reached(self, number: ast.Expression, value: ast.Expression, span: Span) -> ast.Expression:
        """The value where the row of that number is not after the one at hand, else null."""
        return build.where(ast.Binary("<=", number, self.used.number_of(self.variable.name, span), span), value, span)

    def _before(self, variable: str | None) -> set[int]:
        """The places of a variable's rows before one of this."""
        places = self.bound.mentioned.places[variable]
        return {p for place in self.variable.places for p in self.bound.paths.may_precede(place, places)}

    def _sole(self, variable: str | None, span: Span) -> str:
        """The one variable of ours that has all rows of a variable up to the one at hand. Raises RefusedError."""
        reached = self._before(variable) | (self.bound.mentioned.places[variable] & self.variable.places)
        names = {one.name for one in self.bound.variables if one.places & reached}
        if len(names) > 1:
            raise RefusedError(say.several_rows_back(span, variable, self.variable.variable))
        return names.pop()

    def _beginning(self, span: Span) -> str:
        """The one variable of ours that has the first row of a match. Raises RefusedError."""
        names = self._able("FIRST", None)
        if len(names) > 1:
            raise RefusedError(say.depends_on_length(span, None, self.variable.variable))
        return names[0]

    def _able(self, end: OneOf["FIRST", "LAST"], variable: str | None) -> list[str]:
        """The variables of ours whose first or last row so far it may be."""
        places = self.bound.mentioned.places[variable]
        if end == "FIRST":
            reached = (self._before(variable) | (places & self.variable.places)) & self.bound.paths.firsts(places)
        else:
            reached = {p for place in self.variable.places for p in self.bound.paths.latest_before(place, places)}
        return [one.name for one in self.bound.variables if one.places & reached]

    def _so_far_of(
        self, end: OneOf["FIRST", "LAST"], names: list[str], places: int, body: ast.Expression, span: Span
    ) -> ast.Expression:
        """What is asked of the row so many places after the first or last one so far of some variables of ours."""
        numbers = [self.used.number_of(name, span) for name in names]
        by, extreme = (MIN_BY, MIN) if end == "FIRST" else (MAX_BY, MAX)

        def value_of(name: str, number: ast.Expression) -> ast.Expression:
            value = of_row(body, lambda column: self.used.of(name, column, places))
            if places and not isinstance(body, ast.Reference):
                value = build.where(build.is_there(self.used.number_of(name, span, places), span), value, span)
            return build.call(by.written, [value, number], span, running=True)

        values = [value_of(name, number) for name, number in zip(names, numbers, strict=True)]
        if len(names) == 1:
            return values[0]
        ends = [build.call(extreme.written, [number], span, running=True) for number in numbers]
        outermost = build.call(str(extreme.extreme), ends, span)
        branches = (
            ast.Branch(ast.Binary("=", outermost, number, span), value, span)
            for number, value in zip(ends, values, strict=True)
        )
        return ast.Case(None, tuple(branches), None, span)

    def _first(self, number: ast.Expression, span: Span) -> ast.Expression:
        """The number of a variable's first row."""
        if self.so_far:
            return build.call(MIN.written, [number], span, running=True)
        return build.call("FIRST", [number], span)

    def _aggregate(self, node: ast.Call, function: AggregateFunction) -> ast.Expression:
        """An aggregate, which in DEFINE is of the rows so far: all of the match, where no more can come. Raises
        RefusedError.
        """
        if node.distinct:
            raise RefusedError(say.no_distinct(node))
        if not function.runs or node.function.text.upper() != function.written:
            raise RefusedError(say.not_in_define(node, node.function.text.upper()))
        aggregate, own = row_aggregate(node, function, self.scope), self.variable
        places, paths = self.bound.mentioned.places[aggregate.variable], self.bound.paths
        writer = AggregateWriter(self.bound, self.scope, self.used)
        if not any(paths.can_follow(place, places) for place in own.places):
            return writer.over_rows_so_far(aggregate)
        is_own = own.variable in self.bound.mentioned.members[aggregate.variable]
        if is_own and self._before(aggregate.variable) <= own.places:
            return writer.over_one(aggregate, own.name, running=self.bound.repeats(own))
        if is_own and aggregate.variable is None and not aggregate.arguments:
            return self._rows_so_far(node.span)
        reached = (self._before(aggregate.variable) | (places & own.places)) or places
        members = [one for one in self.bound.variables if one.places & reached]
        return writer.together(aggregate, {one.name: self._may_grow(one) for one in members})

    def _may_grow(self, variable: BoundVariable) -> bool:
        """Whether more rows of the variable may come after one of this."""
        return any(self.bound.paths.can_follow(place, variable.places) for place in self.variable.places)

    def _rows_so_far(self, span: Span) -> ast.Expression:
        """How many rows the match has up to the one at hand, which follow each other. Where the first one may be of
        several variables, it is the least of theirs: aggregates have a value where a variable has no rows.
        """
        begins = (self._before(None) | self.variable.places) & self.bound.paths.begins
        numbers = [self.used.number_of(one.name, span) for one in self.bound.variables if one.places & begins]
        first: ast.Expression = self._first(numbers[0], span)
        if len(numbers) > 1:
            least = [build.call(MIN.written, [number], span, running=self.so_far) for number in numbers]
            first = build.call("LEAST", least, span)
        after = ast.Binary("-", self.used.number_of(self.variable.name, span), first, span)
        return ast.Binary("+", after, build.whole(1, span), span)


def at_end(
    used: UsedColumns, end: str, name: str, body: ast.Expression, places: int, span: Span, offset: int = 0
) -> ast.Expression:
    """What is asked of the row so many places after the first or last one of a variable of ours but `offset`; null
    where there is none, whatever the body makes of nulls.
    """
    far = [build.whole(offset, span)] if offset else []

    def of_column(column: ast.Reference) -> ast.Expression:
        return build.call(end, [used.of(name, column, places), *far], span)

    if isinstance(body, ast.Reference):
        return of_column(body)
    if offset:
        value = of_row(body, of_column)
    else:
        value = build.call(end, [of_row(body, lambda column: used.of(name, column, places))], span)
    there = build.is_there(build.call(end, [used.number_of(name, span, places), *far], span), span)
    return build.where(there, value, span)


def of_no_row(used: UsedColumns, body: ast.Expression, span: Span) -> ast.Expression:
    """What is asked of a row that is not there: the null of its type."""
    types = {used.number: ast.TypeExpr("BIGINT"), **used.table.types}
    value = of_row(body, lambda column: build.null_of(types[column.parts[0].text], column.parts[1:], span))
    if isinstance(body, ast.Reference):
        return value
    return build.where(ast.Literal("boolean", "FALSE", span), value, span)


def _mentioned(expression: ast.Expression) -> set[str]:
    """The variables of ours in it."""
    return {reference.parts[0].text for reference in references(expression)}


def _calls(expression: ast.Expression) -> list[ast.Call]:
    return [node for node in walk(expression) if isinstance(node, ast.Call)]


def _running_in(expression: ast.Expression) -> set[str]:
    """The variables of which something in it is RUNNING."""
    return set[str]().union(*(_mentioned(call) for call in _calls(expression) if call.running))


def _ends_in(expression: ast.Expression) -> set[str]:
    """The variables of whose first, last or earlier row it is."""
    ends = (call for call in _calls(expression) if call.function.text in (*LOGICAL, PREV))
    return set[str]().union(*map(_mentioned, ends))


def _is_aggregate(call: ast.Call) -> bool:
    return aggregate_written(call.function.text.upper()) is not None


def _of_rows(conjunct: ast.Expression) -> set[str]:
    """The variables that it mentions outside of aggregates of whole matches, which have a value without rows, too."""
    found: set[str] = set()

    def look(node: ast.Expression) -> ast.Expression | None:
        if isinstance(node, ast.Call) and not node.running and _is_aggregate(node):
            return node
        if isinstance(node, ast.Reference):
            found.add(node.parts[0].text)
        return None

    rewrite(conjunct, look)
    return found


def _up_to(most: int | None, row: WhichRow) -> WhichRow:
    """The row as it is where a variable has no more rows than that."""
    return Missing() if isinstance(row, Back) and most is not None and row.offset >= most else row
