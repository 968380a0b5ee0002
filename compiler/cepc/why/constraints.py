"""What a query asks of a match beyond its bare pattern, one thing at a time; and the query without some of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cepc_runtime.windows import Unbounded

from .. import model

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from cepc_runtime.expression import Expression


@dataclass(frozen=True, slots=True)
class Local:
    """A condition on single events of a variable."""

    variable: str
    condition: Expression


@dataclass(frozen=True, slots=True)
class Joint:
    """A condition over several events; `scope` is the named pattern that it stands in."""

    condition: model.Condition
    scope: str | None


@dataclass(frozen=True, slots=True)
class Negated:
    negation: model.Not


@dataclass(frozen=True, slots=True)
class AfterMatchConstraint:
    """What an earlier match has taken is gone."""


@dataclass(frozen=True, slots=True)
class SelectionConstraint:
    """SELECT NEXT or CONTIGUOUS."""


@dataclass(frozen=True, slots=True)
class WithinConstraint:
    """WITHIN."""


Constraint = Local | Joint | Negated | AfterMatchConstraint | SelectionConstraint | WithinConstraint


def constraints_of(query: model.Query) -> tuple[Constraint, ...]:
    """All constraints of a query but its partition: conditions first, what is about time last."""
    negated = {v.name for v in query.variables if v.negated}
    found: list[Constraint] = []
    for variable in query.variables:
        if not variable.negated:
            inside = (c for e in _events(query.pattern) if e.variable == variable.name for c in e.conditions)
            found += (Local(variable.name, c) for c in dict.fromkeys((*variable.test.conditions, *inside)))
    found += (Joint(c, None) for c in query.conditions if not negated & set(c.variables))
    for scope in _nodes(query.pattern):
        if isinstance(scope, model.Scope):
            found += (Joint(c, scope.name) for c in scope.conditions if not negated & set(c.variables))
    found += (Negated(node) for node in _nodes(query.pattern) if isinstance(node, model.Not))
    if query.after_match is not None:
        found.append(AfterMatchConstraint())
    if query.select != "ANY":
        found.append(SelectionConstraint())
    if query.window.span is not None:
        found.append(WithinConstraint())
    return tuple(dict.fromkeys(found))


def without(query: model.Query, dropped: Collection[Constraint]) -> model.Query:
    """The query that does not ask for these. Conditions about what is no longer negated go with it."""
    gone = {v for d in dropped if isinstance(d, Negated) for v in _variables(d.negation)}
    locals_ = {(d.variable, d.condition) for d in dropped if isinstance(d, Local)}
    joints = {d.condition for d in dropped if isinstance(d, Joint)}
    nots = {d.negation for d in dropped if isinstance(d, Negated)}

    def kept(variable: str, conditions: tuple[Expression, ...]) -> tuple[Expression, ...]:
        return tuple(c for c in conditions if (variable, c) not in locals_)

    def asked(conditions: tuple[model.Condition, ...]) -> tuple[model.Condition, ...]:
        return tuple(c for c in conditions if c not in joints and not gone & set(c.variables))

    def rebuilt(node: model.Pattern) -> model.Pattern:
        match node:
            case model.Event(variable, conditions):
                return replace(node, conditions=kept(variable, conditions))
            case model.Seq(parts):
                return replace(node, elements=tuple(rebuilt(p) for p in parts if p not in nots))
            case model.And(parts) | model.Or(parts) | model.Some(parts):
                return replace(node, operands=tuple(rebuilt(p) for p in parts if p not in nots))
            case model.Repeat(body) | model.Not(body):
                return replace(node, body=rebuilt(body))
            case model.Scope(body, _, conditions):
                return replace(node, body=rebuilt(body), conditions=asked(conditions))

    variables = tuple(
        replace(v, test=replace(v.test, conditions=kept(v.name, v.test.conditions)))
        for v in query.variables
        if v.name not in gone
    )
    changed = replace(
        query, pattern=rebuilt(query.pattern), variables=variables, conditions=asked(query.conditions), having=None
    )
    if any(isinstance(d, SelectionConstraint) for d in dropped):
        changed = replace(changed, select="ANY", after_match=None, after_variable=None)
    if any(isinstance(d, AfterMatchConstraint) for d in dropped):
        changed = replace(changed, after_match=None, after_variable=None)
    if any(isinstance(d, WithinConstraint) for d in dropped):
        changed = unbounded(changed)
    return changed


def unbounded(query: model.Query) -> model.Query:
    return replace(query, window=Unbounded())


def _nodes(node: model.Pattern) -> Iterator[model.Pattern]:
    yield node
    match node:
        case model.Seq(parts) | model.And(parts) | model.Or(parts) | model.Some(parts):
            for part in parts:
                yield from _nodes(part)
        case model.Repeat(body) | model.Not(body) | model.Scope(body):
            yield from _nodes(body)


def _events(node: model.Pattern) -> Iterator[model.Event]:
    return (n for n in _nodes(node) if isinstance(n, model.Event))


def _variables(node: model.Pattern) -> frozenset[str]:
    return frozenset(event.variable for event in _events(node))


def tells_iterations_apart(query: model.Query, constraint: Constraint) -> bool:
    """Whether a match alone says which of its events a condition is about: not where it stands in a named pattern that
    is matched several times.
    """
    return not (isinstance(constraint, Joint) and constraint.scope and _times(query.pattern, constraint.scope) > 1)


def _times(node: model.Pattern, scope: str) -> int:
    """How often a named pattern is matched, 2 for any number."""
    match node:
        case model.Scope(body, name, _):
            return (name == scope) + _times(body, scope)
        case model.Repeat(body):
            return 2 * _times(body, scope)
        case model.Not(body):
            return _times(body, scope)
        case model.Seq(parts) | model.And(parts) | model.Or(parts) | model.Some(parts):
            return sum(_times(part, scope) for part in parts)
    return 0
