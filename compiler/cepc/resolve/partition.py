"""The attributes on which the events of a match agree: `[ ]` and GROUP BY."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.types import is_orderable

from .conditions import equivalences
from .messages import clauses as say
from .messages import patterns as say_pattern

if TYPE_CHECKING:
    from cepc_grammar.diagnostic import Diagnostic

    from .scopes import Names
    from .streams import KnownStream


@dataclass(frozen=True, slots=True)
class Partition:
    """`agree` has all attributes, each once, `group_by` those that make groups. `wrong` are names given that are no
    columns.
    """

    agree: tuple[str, ...]
    group_by: tuple[str, ...]
    wrong: frozenset[str]


def partition(query: ast.Query, stream: KnownStream | None, names: Names) -> tuple[Partition, list[Diagnostic]]:
    """The attributes of a query, and what is wrong with them. Without a stream any name is a column."""
    problems: list[Diagnostic] = []
    written = equivalences(query.where)
    for second in written[1:]:
        both = ", ".join(dict.fromkeys(a.text for e in written for a in names_in(e)))
        problems.append(say_pattern.equivalence_twice(second.span, written[0].span, both))
    agree = [a for e in written for a in names_in(e)]
    groups: list[ast.Name] = []
    wrong: set[str] = set()
    for item in query.group_by:
        column, problem = _grouped(item, names)
        problems += [problem] if problem is not None else []
        if column is None:
            wrong.add(item.parts[0].text)
        else:
            groups.append(column)
    for name in (*agree, *groups):
        problem = None if stream is None else _problem(name, stream)
        if problem is not None:
            wrong.add(name.text)
            problems.append(problem)
    group_by = tuple(dict.fromkeys(g.text for g in groups))
    return Partition(tuple(dict.fromkeys((*(a.text for a in agree), *group_by))), group_by, frozenset(wrong)), problems


def names_in(equivalence: ast.Equivalence) -> list[ast.Name]:
    """Its attributes, where columns stand in the place of fields (`struct_parts`)."""
    return [attribute for attribute in equivalence.attributes if isinstance(attribute, ast.Name)]


def _grouped(item: ast.GroupItem, names: Names) -> tuple[ast.Name | None, Diagnostic | None]:
    """The column meant: `T.a` is `a`, where T is a variable or an event type of the pattern."""
    if len(item.parts) == 1:
        return item.parts[0], None
    found = names.split(ast.Reference(item.parts, item.span))
    path = found[1] if found is not None else item.parts[1:] if item.parts[0].text in names.aliases else ()
    text = ".".join(p.text for p in item.parts)
    if len(path) == 1:
        return path[0], say.group_by_event(item, path[0].text)
    if len(path) > 1:
        return None, say.not_a_column(item.span, text, path[0].text)
    if not names.complete:
        return item.parts[-1], None
    return None, names.unknown(ast.Reference(item.parts, item.span))


def _problem(name: ast.Name, stream: KnownStream) -> Diagnostic | None:
    type_ = stream.columns.get(name.text)
    if type_ is None:
        return stream.lacks(name)
    if (problem := stream.unshared(name)) is not None:
        return problem
    return say.not_comparable(name, type_.sql) if not is_orderable(type_) else None
