"""The values of tests: constants of the types of their columns. ARRAY(…), MAP(…), STRUCT(…) and NAMED_STRUCT(…) hold
others.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, NoReturn

from cepc_grammar import ast
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.aggregate_functions import spellings
from cepc_runtime.sql.expression import Literal
from cepc_runtime.sql.functions.coercion import can_cast, cast_to
from cepc_runtime.sql.functions.portable import spark_only
from cepc_runtime.sql.types import Array, DataType, Map, Struct

from .. import model
from ..expressions import ExpressionContext, type_expression
from ..expressions.functions import BESIDE, NAVIGATION
from .messages import tests as say
from .walk import walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_runtime.sql.expression import Field

    from ..expressions import VariableInfo

_OF_EVENTS = frozenset({*spellings(), *NAVIGATION, *BESIDE, "NEXT"})
_KINDS: dict[str, type[Array] | type[Map] | type[Struct]] = {
    "ARRAY": Array, "MAP": Map, "STRUCT": Struct, "NAMED_STRUCT": Struct
}  # fmt: skip


def constant(
    value: ast.Expression, column: str, type_: DataType
) -> tuple[model.Value | model.Parts | None, list[Diagnostic]]:
    """The constant as a value of the column; None with what is wrong with it."""
    for node in walk(value):
        if isinstance(node, ast.Equivalence):  # the parser has said so
            return None, []
        if isinstance(node, ast.Reference | ast.Star) or (
            isinstance(node, ast.Call) and node.function.text.upper() in _OF_EVENTS
        ):
            return None, [say.no_constant(node.span, "it is about events")]
    reader = _Reader(column, type_)
    found = reader.read(value, type_)
    return (None if reader.problems else found), reader.problems


@dataclass(slots=True)
class _Reader:
    """Reads the parts of one constant and collects what is wrong with them."""

    column: str
    column_type: DataType
    problems: list[Diagnostic] = field(default_factory=list)

    def read(self, value: ast.Expression, type_: DataType) -> model.Value | model.Parts | None:
        if isinstance(value, ast.Call) and (kind := _KINDS.get(value.function.text.upper())) and not value.distinct:
            if not isinstance(type_, kind):
                self.problems.append(say.other_kind(value, self.column, self.column_type, type_))
                return None
            return self._parts(value, type_)
        typed, found = type_expression(value, _NoNames(), ExpressionContext.EVENT)
        self.problems += found
        if typed is None:
            return None
        if functions := spark_only(typed):
            self.problems.append(say.no_constant(value.span, f"only Spark computes {functions[0].upper()}"))
            return None
        if not can_cast(typed.type, type_):
            self.problems.append(say.other_type(value.span, typed.type, self.column, self.column_type, type_))
            return None
        return model.Value(cast_to(typed, type_), value.span)

    def _parts(self, call: ast.Call, type_: DataType) -> model.Parts | None:
        match type_:
            case Array(element):
                return self._each(call, type_, call.arguments, [element] * len(call.arguments))
            case Map(key, item):
                if len(call.arguments) % 2:
                    self.problems.append(say.in_turn(call, "a key", "its value"))
                    return None
                return self._each(call, type_, call.arguments, [key, item] * (len(call.arguments) // 2))
            case Struct(fields) if call.function.text.upper() == "STRUCT":
                if len(call.arguments) != len(fields):
                    self.problems.append(say.struct_length(call, type_))
                    return None
                return self._each(call, type_, call.arguments, [f.type for f in fields])
            case Struct():
                return self._named(call, type_)
        raise AssertionError(type_)

    def _named(self, call: ast.Call, type_: Struct) -> model.Parts | None:
        """A value for each field in the struct's order, null for those that are not named."""
        if len(call.arguments) % 2:
            self.problems.append(say.in_turn(call, "a field's name", "its value"))
            return None
        given: dict[str, ast.Expression] = {}
        for name, value in zip(call.arguments[::2], call.arguments[1::2], strict=True):
            if not isinstance(name, ast.Literal) or name.kind != "string":
                self.problems.append(say.no_field_name(name.span))
            elif type_.field(name.text) is None:
                self.problems.append(say.no_field(name, type_))
            elif name.text in given:
                self.problems.append(say.field_twice(name))
            else:
                given[name.text] = value
        if self.problems:
            return None
        nulls = {f.name: model.Value(Literal(None, f.type), call.span) for f in type_.fields if f.name not in given}
        parts = [nulls.get(f.name) or self.read(given[f.name], f.type) for f in type_.fields]
        return self._made(call, type_, parts)

    def _each(
        self, call: ast.Call, type_: DataType, values: Sequence[ast.Expression], types: Sequence[DataType]
    ) -> model.Parts | None:
        return self._made(call, type_, [self.read(value, t) for value, t in zip(values, types, strict=True)])

    def _made(
        self, call: ast.Call, type_: DataType, parts: Sequence[model.Value | model.Parts | None]
    ) -> model.Parts | None:
        found = tuple(part for part in parts if part is not None)
        return model.Parts(type_, found, call.span) if len(found) == len(parts) else None


class _NoNames:
    """The scope of constants, which is never used, because what mentions a name is not a constant."""

    def reference(self, reference: ast.Reference) -> NoReturn:
        raise AssertionError(reference)

    def variable(self, reference: ast.Reference) -> NoReturn:
        raise AssertionError(reference)

    def info(self, name: str) -> VariableInfo:
        raise AssertionError(name)

    def of_all_events(self, arguments: Sequence[ast.Expression]) -> None:
        """There are no matches."""

    def beside(self, column: Field, places: int) -> Field:
        raise NotImplementedError
