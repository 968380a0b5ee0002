"""A small world of names for tests of expressions: the bare columns of an event, and variables of a pattern."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cepc.expressions import ExpressionContext, VariableInfo, struct_field, type_condition, type_expression
from cepc_grammar import ast
from cepc_grammar.diagnostic import Diagnostic
from cepc_grammar.parser import parse
from cepc_grammar.source import Source
from cepc_runtime.sql.expression import Expression, Field
from cepc_runtime.sql.types import DataType, from_text

if TYPE_CHECKING:
    from collections.abc import Sequence

COLUMNS: dict[str, DataType] = {
    name: from_text(text)
    for name, text in {
        "bo": "BOOLEAN", "ti": "TINYINT", "si": "SMALLINT", "i": "INT", "l": "BIGINT", "f": "FLOAT", "d": "DOUBLE",
        "de": "DECIMAL(10,2)", "s": "STRING", "bi": "BINARY", "dt": "DATE", "ts": "TIMESTAMP", "nt": "TIMESTAMP_NTZ",
        "iv": "INTERVAL DAY TO SECOND", "ar": "ARRAY<INT>", "ma": "MAP<STRING, INT>",
        "st": "STRUCT<`x`: INT, `in`: STRUCT<`y`: DOUBLE>>",
    }.items()
}  # fmt: skip
"""One column of each type."""

VARIABLES = {
    "a": VariableInfo("a", is_list=False, negated=False, columns=tuple(COLUMNS.items())),
    "b": VariableInfo("b", is_list=True, negated=False, columns=tuple(COLUMNS.items())),
    "n": VariableInfo("n", is_list=False, negated=True, columns=tuple(COLUMNS.items())),
    "w.p": VariableInfo("w.p", is_list=False, negated=False, columns=tuple(COLUMNS.items())),
}
"""A single variable, a list, a negated one, and one of a named pattern with an alias."""


@dataclass(frozen=True)
class World:
    """A scope with COLUMNS and VARIABLES, and aliases of expressions for HAVING."""

    aliases: tuple[tuple[str, Expression], ...] = ()

    def reference(self, reference: ast.Reference) -> Expression | Diagnostic:
        parts = [p.text for p in reference.parts]
        if parts[0] in dict(self.aliases):
            return dict(self.aliases)[parts[0]]
        for length in (2, 1):
            variable = ".".join(parts[:length])
            if variable in VARIABLES and len(parts) > length and parts[length] in COLUMNS:
                field = Field(variable, parts[length], "each", COLUMNS[parts[length]])
                return self._fields(field, reference.parts[length + 1 :])
        if parts[0] in COLUMNS:
            return self._fields(Field(None, parts[0], "each", COLUMNS[parts[0]]), reference.parts[1:])
        return Diagnostic("E0299", "unknown name", reference.span)

    def _fields(self, operand: Expression, names: tuple[ast.Name, ...]) -> Expression | Diagnostic:
        for name in names:
            found = struct_field(operand, name)
            if isinstance(found, Diagnostic):
                return found
            operand = found
        return operand

    def variable(self, reference: ast.Reference) -> VariableInfo | Diagnostic:
        name = ".".join(p.text for p in reference.parts)
        return VARIABLES.get(name) or Diagnostic("E0298", "unknown variable", reference.span)

    def info(self, name: str) -> VariableInfo:
        return VARIABLES[name]

    def of_all_events(self, arguments: Sequence[ast.Expression]) -> None:
        """Aggregates here are over the events of a variable."""

    def beside(self, column: Field, places: int) -> Field:
        return replace(column, column=f"{column.column} at {places:+}")


def written(text: str) -> ast.Expression:
    """The syntax of an expression."""
    parsed = parse(Source("test", f"EVENT X AS Y WHERE {text};"))
    assert not parsed.diagnostics, parsed.diagnostics
    (event,) = parsed.program.statements
    assert isinstance(event, ast.DerivedEvent)
    return event.where


def typed(
    text: str, context: ExpressionContext = ExpressionContext.CONDITION, world: World | None = None
) -> Expression:
    """The typed expression, which has no errors."""
    expression, diagnostics = type_expression(written(text), world or World(), context)
    assert expression is not None, diagnostics
    return expression


def codes(text: str, context: ExpressionContext = ExpressionContext.CONDITION, *, condition: bool = False) -> list[str]:
    """The codes of everything that is wrong with it."""
    check = type_condition if condition else type_expression
    expression, diagnostics = check(written(text), World(), context)
    assert (expression is None) == any(d.severity == "error" for d in diagnostics)
    return [d.code for d in diagnostics]
