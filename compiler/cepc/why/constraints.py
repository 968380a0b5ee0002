"""What a query asks of a match beyond its bare pattern, one thing at a time; and the query without some of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cepc_grammar.pattern import Named, Not, Repeat, Selected, children, fold, over, walk
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.windows import Sessions, Sliding, Unbounded

from .. import model

if TYPE_CHECKING:
    from collections.abc import Collection

    from cepc_runtime.plan.after import AfterMatchSkip
    from cepc_runtime.sql.expression import Expression


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
    negation: model.Negation


@dataclass(frozen=True, slots=True)
class AfterMatchConstraint:
    """What an earlier match has taken is gone, up to where AFTER MATCH SKIP says."""

    after: AfterMatchSkip


@dataclass(frozen=True, slots=True)
class SelectionConstraint:
    """SELECT NEXT or CONTIGUOUS."""


@dataclass(frozen=True, slots=True)
class PartConstraint:
    """NEXT or CONTIGUOUS around a part of the pattern."""

    part: Selected[model.Pattern]


@dataclass(frozen=True, slots=True)
class WithinConstraint:
    """WITHIN, in ticks; or WITHIN SESSION."""

    span: int
    session: bool = False


Constraint = Local | Joint | Negated | AfterMatchConstraint | SelectionConstraint | PartConstraint | WithinConstraint


def constraints_of(query: model.Query) -> tuple[Constraint, ...]:
    """All constraints of a query but its partition: conditions first, what is about time last."""
    negated = {v.name for v in query.variables if v.negated}
    found: list[Constraint] = []
    for variable in query.variables:
        if not variable.negated:
            inside = (c for e in model.events(query.pattern) if e.variable == variable.name for c in e.conditions)
            found += (Local(variable.name, c) for c in dict.fromkeys((*variable.test.conditions, *inside)))
    found += (Joint(c, None) for c in query.conditions if not negated & set(c.variables))
    for scope in model.scopes(query.pattern):
        found += (Joint(c, scope.name) for c in scope.conditions if not negated & set(c.variables))
    found += (Negated(node) for node in walk(query.pattern) if isinstance(node, Not))
    found += (PartConstraint(node) for node in walk(query.pattern) if isinstance(node, Selected))
    if query.after is not None:
        found.append(AfterMatchConstraint(query.after))
    if query.select != "ANY":
        found.append(SelectionConstraint())
    if isinstance(query.window, Sessions):
        found.append(WithinConstraint(query.window.gap, session=True))
    elif query.window.match_span is not None:
        found.append(WithinConstraint(query.window.match_span))
    return tuple(dict.fromkeys(found))


def without(query: model.Query, dropped: Collection[Constraint]) -> model.Query:
    """The query that does not ask for these. Conditions about what is no longer negated go with it."""
    gone = {v for d in dropped if isinstance(d, Negated) for v in _variables(d.negation)}
    locals_ = {(d.variable, d.condition) for d in dropped if isinstance(d, Local)}
    joints = {d.condition for d in dropped if isinstance(d, Joint)}
    nots: set[model.Pattern] = {d.negation for d in dropped if isinstance(d, Negated)}
    freed = {d.part for d in dropped if isinstance(d, PartConstraint)}

    def kept(variable: str, conditions: tuple[Expression, ...]) -> tuple[Expression, ...]:
        return tuple(c for c in conditions if (variable, c) not in locals_)

    def asked(conditions: tuple[model.Condition, ...]) -> tuple[model.Condition, ...]:
        return tuple(c for c in conditions if c not in joints and not gone & set(c.variables))

    def rebuilt(node: model.Pattern) -> model.Pattern:
        match node:
            case model.Event(variable, conditions):
                return replace(node, conditions=kept(variable, conditions))
            case Not():
                return replace(node, body=rebuilt(node.body))
            case Selected() if node in freed:
                return rebuilt(node.body)
            case Named(body, scope):
                return replace(node, body=rebuilt(body), scope=replace(scope, conditions=asked(scope.conditions)))
            case _:
                return over(node, tuple(rebuilt(p) for p in children(node) if p not in nots))

    variables = tuple(
        replace(v, test=replace(v.test, conditions=kept(v.name, v.test.conditions)))
        for v in query.variables
        if v.name not in gone
    )
    changed = replace(
        query, pattern=rebuilt(query.pattern), variables=variables, conditions=asked(query.conditions), having=None
    )
    if any(isinstance(d, SelectionConstraint) for d in dropped):
        changed = replace(changed, select="ANY", after=None)
    if any(isinstance(d, AfterMatchConstraint) for d in dropped):
        changed = replace(changed, after=None)
    if any(isinstance(d, WithinConstraint) for d in dropped):
        changed = unbounded(changed)
    return changed


def unbounded(query: model.Query) -> model.Query:
    return replace(query, window=Unbounded())


def of_one_window(query: model.Query, start: int) -> model.Query:
    """The query over the events of its window that begins then."""
    match query.window:
        case Sliding(span=span, bound=int(bound)):
            return replace(query, window=Sliding(span, span, start % span, bound))
    return unbounded(query)


def _variables(node: model.Pattern) -> frozenset[str]:
    return frozenset(event.variable for event in model.events(node))


def tells_iterations_apart(query: model.Query, constraint: Constraint) -> bool:
    """Whether a match alone says which of its events a condition is about: not where it stands in a named pattern that
    is matched several times.
    """
    return not (isinstance(constraint, Joint) and constraint.scope and _times(query.pattern, constraint.scope) > 1)


def _times(pattern: model.Pattern, scope: str) -> int:
    """How often a named pattern is matched, 2 for any number."""

    def times(node: model.Pattern, parts: tuple[int, ...]) -> int:
        here = isinstance(node, Named) and node.scope.name == scope
        return (2 if isinstance(node, Repeat) else 1) * sum(parts) + here

    return fold(pattern, times)
