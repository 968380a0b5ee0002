"""What names mean in the expressions of a query and of a named pattern."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.stream import Beside
from cepc_runtime.sql.expression import Expression, Field

from ..expressions import VariableInfo, nested_field
from .messages import clauses as say_clause
from .messages import names as say
from .messages import patterns as say_pattern
from .names import free
from .walk import references

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Literal as OneOf

    from cepc_grammar import ast
    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.source import Span

    from .streams import KnownStream
    from .variables import Variable


@dataclass(frozen=True, slots=True)
class Names:
    """The variables that expressions of one place can name, by the name used there.

    Inside `trip w` the variable `w.p` is `p`. `aliases` has, for each event type, the aliases of its variables. With
    a pattern that is not `complete` a name that is none of these may be right.
    """

    variables: Mapping[str, Variable]
    aliases: Mapping[str, Sequence[str]]
    where: str
    complete: bool

    @property
    def positive(self) -> list[str]:
        """The names of variables outside NOT."""
        return [name for name, variable in self.variables.items() if variable.negation is None]

    def split(self, reference: ast.Reference) -> tuple[Variable, tuple[ast.Name, ...]] | None:
        """The variable that a dotted name begins with, and the rest of the name."""
        for end in range(len(reference.parts), 0, -1):
            variable = self.variables.get(".".join(p.text for p in reference.parts[:end]))
            if variable is not None:
                return variable, reference.parts[end:]
        return None

    def unknown(self, reference: ast.Reference) -> Diagnostic:
        """What to say of a dotted name that begins with no variable."""
        first, *rest = reference.parts
        name, span = first.text, first.span
        inside = [v for v, of in self.variables.items() if v.startswith(f"{name}.") and not of.is_called_by_type]
        if inside and rest:
            name, span = f"{name}.{rest[0].text}", first.span.to(rest[0].span)
        return say.unknown_variable(name, span, inside or list(self.variables), self.aliases.get(name, ()), self.where)


def names(
    variables: Mapping[str, Variable], prefix: str = "", where: str = "the pattern", *, complete: bool = True
) -> Names:
    """The names of these variables where the prefix is left out."""
    aliases: dict[str, list[str]] = {}
    for name, variable in variables.items():
        if variable.type is not None and variable.type.text != name:
            aliases.setdefault(variable.type.text, []).append(name.removeprefix(prefix))
    return Names({n.removeprefix(prefix): v for n, v in variables.items()}, aliases, where, complete)


class Others:
    """The columns of a query that are of events beside the one at hand, among those that agree on the partition."""

    def __init__(self, partition: tuple[str, ...]) -> None:
        self._partition = tuple(sorted(partition))
        self.columns: dict[str, Beside] = {}

    def column(self, of: Field, places: int, known: Iterable[str]) -> Field:
        """The column of the events so many places after those that have the column."""
        far = "" if abs(places) == 1 else f", {abs(places)}"
        name = f"{'LEAD' if places > 0 else 'LAG'}({of.column}{far}) OVER ({', '.join(self._partition)})"
        name = free(name, {other.casefold() for other in known})
        self.columns[name] = Beside(name, of.column, of.type, places, self._partition)
        return replace(of, column=name)


@dataclass(frozen=True, slots=True)
class PatternScope:
    """The scope of conditions, and with `result` that of RETURN and HAVING.

    `shared` are the columns that may stand bare, None for all of them; in RETURN EACH these are all that every stream
    has. `columns` are the result columns that HAVING may name, None elsewhere. `reported` are names that have their
    error already. `others` learns of which other events columns are asked for. `returned` are result columns that only
    HAVING may name. `ungrouped` are columns that RETURN names and GROUP BY does not.
    """

    names: Names
    stream: KnownStream
    shared: frozenset[str] | None
    result: OneOf["aggregate", "match"] | None = None
    columns: Mapping[str, Expression] | None = None
    reported: frozenset[str] = frozenset()
    others: Others = field(default_factory=lambda: Others(()))
    each: bool = False
    returned: frozenset[str] = frozenset()
    ungrouped: tuple[str, ...] = ()

    def of_all_events(self, arguments: Sequence[ast.Expression]) -> PatternScope | None:
        mentioned = (reference for argument in arguments for reference in references(argument))
        if self.result != "match" or any(self._of_variable(reference) is not None for reference in mentioned):
            return None
        # in `SUM(x) AS x … HAVING SUM(x) > 1` what is added up is the column, as in SQL
        returned = self.columns
        if returned is not None:
            returned = {name: e for name, e in returned.items() if name not in self.stream.columns}
        return replace(self, each=True, columns=returned)

    def _of_variable(self, reference: ast.Reference) -> tuple[Variable, tuple[ast.Name, ...]] | None:
        """The variable that the name begins with, and the rest of it; None where that is a column."""
        found = self.names.split(reference)
        is_column = found is not None and not found[1] and reference.parts[0].text in self.stream.columns
        return None if is_column else found

    def beside(self, column: Field, places: int) -> Field | None:
        """Over several streams it is of the column that all of them share, for the event may be of any."""
        if self.stream.members:
            variable = next(v for v in self.names.variables.values() if v.name == column.variable)
            member = self.stream.member(variable.stream)
            own = {} if member is None else {merged: name for name, (merged, _) in member.columns.items()}
            name = own.get(column.column, column.column)
            if name not in self.stream.columns:
                return None
            column = replace(column, column=name, type=self.stream.columns[name])
        return self.others.column(column, places, self.stream.columns)

    def reference(self, reference: ast.Reference) -> Expression | Diagnostic:
        first, *rest = reference.parts
        if not rest and self.columns is not None and first.text in self.columns:
            return self.columns[first.text]
        found = self._of_variable(reference)
        if found is not None:
            variable, path = found
            return self._negated(variable, reference.span) or self._column(variable, path, reference)
        if first.text in self.stream.columns:
            return self._bare(first) or nested_field(
                Field(None, first.text, "each", self.stream.columns[first.text]), rest
            )
        return self.names.unknown(reference) if rest else self._unknown(first)

    def variable(self, reference: ast.Reference) -> VariableInfo | Diagnostic:
        found = self.names.split(reference)
        if found is None:
            return self.names.unknown(reference)
        variable, path = found
        if path:
            known = list(self.names.variables)
            return say.unknown_variable(_text(reference), reference.span, known, (), self.names.where)
        return self._negated(variable, reference.span) or self._info(variable)

    def info(self, name: str) -> VariableInfo:
        return self._info(next(v for v in self.names.variables.values() if v.name == name))

    def _info(self, variable: Variable) -> VariableInfo:
        member = self.stream.member(variable.stream)
        pairs = self.stream.pairs if member is None else member.stream.pairs
        return VariableInfo(variable.name, variable.is_list, variable.negation is not None, pairs)

    def _negated(self, variable: Variable, span: Span) -> Diagnostic | None:
        if self.result is None or variable.negation is None:
            return None
        return say_pattern.negated_returned(variable.name, span, variable.negation.span)

    def _column(
        self, variable: Variable, path: tuple[ast.Name, ...], reference: ast.Reference
    ) -> Expression | Diagnostic:
        member = self.stream.member(variable.stream)
        stream = self.stream if member is None else member.stream
        if not path:
            own_type = _text(reference) if variable.is_called_by_type else None
            return say.bare_variable(_text(reference), reference.span, stream.attributes, own_type)
        column, *rest = path
        type_ = stream.columns.get(column.text)
        if type_ is None:
            return stream.unknown(column, cure="write it with a variable of one stream")
        name = column.text
        if member is not None and name in member.columns:  # a field of a struct that stands in `[ ]` is of all streams
            name, type_ = member.columns[name]
        return nested_field(Field(variable.name, name, "each", type_), rest)

    def _bare(self, column: ast.Name) -> Diagnostic | None:
        if self.each:
            return self.stream.unshared(column, each=True)
        if self.shared is None or column.text in self.shared:
            return None
        shared = sorted(self.shared)
        if self.result == "aggregate":
            return say_clause.not_grouped(column, shared, self.ungrouped)
        names = list(self.names.variables) if self.result is None else self.names.positive
        return say.bare_column(
            column,
            having_column(column, names, self.names, self.stream),
            shared,
            is_of_all=self.stream.unshared(column) is None,
        )

    def _unknown(self, name: ast.Name) -> Diagnostic:
        if self.result is not None and name.text in result_columns(self.result):
            return say.column_of_result(name, "an aggregate" if self.result == "aggregate" else "a match")
        if self.columns is not None:
            return say.unknown_in_having(name, [*self.columns, *sorted(self.shared or ())])
        if name.text in self.returned:
            return say.returned_column(name)
        return self.stream.unknown_value(name)


def having_column(column: ast.Name, variables: Iterable[str], names: Names, stream: KnownStream) -> list[str]:
    """Those of the variables whose events have the column: of several streams perhaps not all."""
    members = [(variable, stream.member(names.variables[variable].stream)) for variable in variables]
    return [variable for variable, member in members if member is None or column.text in member.stream.columns]


def result_columns(kind: str) -> tuple[str, str]:
    """The columns that every result of such a query has."""
    return ("window_start", "window_end") if kind == "aggregate" else ("match_start", "match_end")


def _text(reference: ast.Reference) -> str:
    return ".".join(p.text for p in reference.parts)
