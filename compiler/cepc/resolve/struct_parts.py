"""Fields of structs in `[ ]` and GROUP BY: a column of its own for each, which this query alone sees.

`[user.id]` asks for a column `user.id`, and so does a bare `user.id` in the rest of the query; a result column of it is
called `id`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_grammar.diagnostic import Diagnostic
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.computed import Computed
from cepc_runtime.sql.expression import Expression, Field

from ..expressions import column_name, nested_field
from .conditions import equivalences
from .messages import clauses as say
from .walk import atoms, rewrite

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .streams import KnownStream


FieldPath = tuple[ast.Name, ...]


@dataclass(frozen=True, slots=True)
class OverColumns:
    """A query over columns alone, its stream with a column for each field, and how these are computed."""

    query: ast.Query
    stream: KnownStream | None
    computed: tuple[Computed, ...] = ()
    problems: tuple[Diagnostic, ...] = ()


def over_columns(query: ast.Query, stream: KnownStream | None) -> OverColumns:
    """The query with a column in the place of each field that stands in `[ ]` or GROUP BY; without a stream all names
    are right.
    """
    bound = frozenset(name.text for a in atoms(query.pattern) for name in (a.name, a.alias) if name is not None)
    dotted = list(_dotted(query, stream, bound))
    if not dotted:
        return OverColumns(query, stream)
    if stream is None:
        return OverColumns(_Rewriting(frozenset(map(text_of, dotted)), bound).query(query), None)
    found: dict[str, Computed] = {}
    problems: list[Diagnostic] = []
    wrong: set[str] = set()
    variables = frozenset((a.alias or a.name).text for a in atoms(query.pattern))
    hidden = variables & stream.columns.keys()
    for parts in dotted:
        name = text_of(parts)
        if parts[0].text in hidden:
            problems.append(say.part_like_variable(parts))
        expression = _field(parts, stream)
        if parts[0].text in bound and parts[0].text not in stream.columns:
            wrong.add(name)
            problems.append(say.event_agrees(parts))
        elif name in stream.columns:
            wrong.add(name)
            problems.append(say.part_like_column(parts))
        elif expression is None or isinstance(expression, Diagnostic):
            wrong.add(name)
            problems += [] if expression is None else [expression]
        else:
            found.setdefault(name, Computed(name, expression))
    types = {name: column.expression.type for name, column in found.items()}
    seen = replace(
        stream,
        columns={**stream.columns, **types},
        broken=stream.broken | wrong,
        pairs=(*stream.pairs, *types.items()),
    )
    rewritten = _Rewriting(frozenset((*found, *wrong)), variables).query(query)
    return OverColumns(rewritten, seen, tuple(found.values()), tuple(dict.fromkeys(problems)))


def text_of(parts: Sequence[ast.Name]) -> str:
    return ".".join(part.text for part in parts)


def _dotted(query: ast.Query, stream: KnownStream | None, bound: frozenset[str]) -> Iterator[FieldPath]:
    """The dotted names in `[ ]` and GROUP BY that begin with a column. In GROUP BY a variable or a type may stand
    before a column.
    """
    for equivalence in equivalences(query.where):
        yield from (a.parts for a in equivalence.attributes if isinstance(a, ast.Reference))
    for item in query.group_by:
        first = item.parts[0].text
        if len(item.parts) > 1 and stream is not None and first in stream.columns and first not in bound:
            yield item.parts


def _field(parts: FieldPath, stream: KnownStream) -> Expression | Diagnostic | None:
    """None where what is wrong has been said."""
    first, *rest = parts
    type_ = stream.columns.get(first.text)
    if type_ is None:
        return stream.lacks(first)
    if (problem := stream.unshared(first)) is not None:
        return problem
    return nested_field(Field(None, first.text, "each", type_), rest)


@dataclass(frozen=True, slots=True)
class _Rewriting:
    """Puts columns of these names in the place of fields. What begins with a name that is `bound` is of an event; a
    type that has an alias is none.
    """

    names: frozenset[str]
    bound: frozenset[str]

    def query(self, query: ast.Query) -> ast.Query:
        items = tuple(map(self._item, query.returns.items))
        return replace(
            query,
            returns=replace(query.returns, items=items),
            where=None if query.where is None else rewrite(query.where, self._change),
            group_by=tuple(replace(item, parts=self._parts(item.parts)) for item in query.group_by),
            having=None if query.having is None else rewrite(query.having, self._change),
        )

    def _item(self, item: ast.Item) -> ast.Item:
        """A column keeps the name that it has without AS."""
        changed = rewrite(item.expression, self._change)
        if changed is item.expression or item.alias is not None:
            return replace(item, expression=changed)
        return replace(item, expression=changed, alias=ast.Name(column_name(item.expression), item.span))

    def _change(self, node: ast.Expression) -> ast.Expression | None:
        match node:
            case ast.Equivalence(attributes):
                names = (a if isinstance(a, ast.Name) else ast.Name(text_of(a.parts), a.span) for a in attributes)
                return replace(node, attributes=tuple(names))
            case ast.Reference(parts) if len(parts) > 1 and parts[0].text not in self.bound:
                return replace(node, parts=self._parts(parts))
        return None

    def _parts(self, parts: FieldPath) -> FieldPath:
        for end in range(len(parts), 1, -1):
            if (name := text_of(parts[:end])) in self.names:
                return (ast.Name(name, parts[0].span.to(parts[end - 1].span)), *parts[end:])
        return parts
