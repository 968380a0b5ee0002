"""Patterns with every name resolved: named patterns stand in place with their parameters filled in, and variables have
full names.

Nodes are compared by identity: the same text in two places is two nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from cepc_grammar import ast
from cepc_grammar.pattern import And, Not, Or, Repeat, Selected, Seq, Some

from .stream import duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True, eq=False)
class Leaf:
    """One event of the type (None: of any type), bound to the variable."""

    type: str | None
    variable: str


@dataclass(frozen=True, eq=False)
class Sequence:
    elements: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Conjunction:
    """AND."""

    operands: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Choice:
    """OR, the preferred option first."""

    options: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Repetition:
    body: Node
    least: int
    most: int | None
    reluctant: bool


@dataclass(frozen=True, eq=False)
class Close:
    """CONTIGUOUS(P) or NEXT(P)."""

    body: Node
    select: str


@dataclass(frozen=True, eq=False)
class Negation:
    body: Node
    within: int | None  # microseconds


@dataclass(frozen=True, eq=False)
class Scope:
    """A match of a named pattern, in which the pattern's own conditions hold. `prefix` is what its variables' names
    begin with here.
    """

    body: Node
    where: ast.Expression
    prefix: str


Node = Leaf | Sequence | Conjunction | Choice | Repetition | Close | Negation | Scope


def resolved(program: ast.Program, pattern: ast.Pattern) -> Node:
    """The pattern of a query with its named patterns in place."""
    named = {
        statement.name.text: statement for statement in program.statements if isinstance(statement, ast.NamedPattern)
    }
    return _resolved(pattern, named, "", {})


def leaves(node: Node) -> Iterator[Leaf]:
    """All leaves, also negated ones."""
    match node:
        case Leaf():
            yield node
        case Sequence(parts) | Conjunction(parts) | Choice(parts):
            for part in parts:
                yield from leaves(part)
        case Repetition(body=body) | Close(body=body) | Negation(body=body) | Scope(body=body):
            yield from leaves(body)


def negated(node: Node) -> frozenset[str]:
    """The variables of what NOT forbids: no match binds them."""
    match node:
        case Negation(body=body):
            return variables(body)
        case Sequence(parts) | Conjunction(parts) | Choice(parts):
            return frozenset().union(*map(negated, parts))
        case Repetition(body=body) | Close(body=body) | Scope(body=body):
            return negated(body)
    return frozenset()


def of_streams(node: Node, owners: Mapping[str, str], *, apart: bool) -> Node:
    """The pattern with types written with their stream (`apart`), or without it."""
    match node:
        case Leaf(type_, variable):
            if type_ is None or type_ not in owners:
                return node
            name = type_.rpartition(".")[2]
            return Leaf(f"{owners[type_]}.{name}" if apart else name, variable)
        case Sequence(parts) | Conjunction(parts) | Choice(parts):
            return type(node)(tuple(of_streams(part, owners, apart=apart) for part in parts))
        case Repetition(body=body) | Close(body=body) | Negation(body=body) | Scope(body=body):
            return replace(node, body=of_streams(body, owners, apart=apart))


def variables(node: Node) -> frozenset[str]:
    return frozenset(leaf.variable for leaf in leaves(node))


def _resolved(
    pattern: ast.Pattern, named: Mapping[str, ast.NamedPattern], prefix: str, arguments: Mapping[str, ast.Expression]
) -> Node:
    def inner(part: ast.Pattern) -> Node:
        return _resolved(part, named, prefix, arguments)

    match pattern:
        case ast.Atom(name, given, alias):
            (type_name,) = _substituted(ast.Reference((name,)), arguments).parts
            if pattern.stream is not None:
                of_stream = f"{pattern.stream.text}.{type_name.text}"
                return Leaf(of_stream, prefix + (of_stream if alias is None else alias.text))
            if type_name.text not in named:
                return Leaf(type_name.text, prefix + (alias or type_name).text)
            definition = named[type_name.text]
            filled = dict(
                zip((p.text for p in definition.parameters or ()), _substituted(given or (), arguments), strict=True)
            )
            inside = f"{prefix}{alias.text}." if alias else prefix
            body = _resolved(definition.pattern, named, inside, filled)
            return Scope(body, _substituted(definition.where, filled), inside) if definition.where else body
        case ast.AnyEvent(alias):
            return Leaf(None, prefix + (alias.text if alias else "ANY"))
        case Seq(elements):
            return Sequence(tuple(inner(element) for element in elements))
        case And(operands):
            return Conjunction(tuple(inner(operand) for operand in operands))
        case Or(operands):
            return Choice(tuple(inner(operand) for operand in operands))
        case Some(operands):
            parts = [inner(operand) for operand in operands]
            subsets = [subset for size in range(1, len(parts) + 1) for subset in combinations(parts, size)]
            return Choice(tuple(subset[0] if len(subset) == 1 else Conjunction(subset) for subset in subsets))
        case Repeat(body, least, most, reluctant):
            return Repetition(inner(body), least, most, reluctant)
        case Selected(body, select):
            return Close(inner(body), select)
        case Not(body, within):
            return Negation(inner(body), duration(within) if within else None)


def _substituted(node: Any, arguments: Mapping[str, ast.Expression]) -> Any:
    """The syntax with arguments in the place of parameters, wherever a parameter is a name or a part of a dotted
    name.
    """
    match node:
        case ast.Reference((name,)) if name.text in arguments:
            return arguments[name.text]
        case ast.Name():
            argument = arguments.get(node.text)
            return argument.parts[0] if isinstance(argument, ast.Reference) else node
        case ast.Call(function=function):
            return replace(node, function=function, arguments=_substituted(node.arguments, arguments))
        case tuple():
            return tuple(_substituted(part, arguments) for part in node)
        case _ if is_dataclass(node) and not isinstance(node, type):
            changed = {f.name: _substituted(getattr(node, f.name), arguments) for f in fields(node) if f.name != "span"}
            return replace(node, **changed)
    return node
