"""What is right and may still surprise: counts that can pass BIGINT, conditions that make matches be enumerated, and
conditions that mean something else in MATCH_RECOGNIZE.

Whether a condition can be checked while counting is the automaton's to say. It is imported only for a query that has
such conditions: `cepc check` starts in a fraction of a second, and that is felt in an editor.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_grammar.pattern import And, Not, Repeat, Selected, Some, fold, walk
from cepc_grammar.spelling import name_text
from cepc_runtime.sql.expression import Field, aggregates, fields

from .. import model
from . import written
from .messages import patterns as say

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal as OneOf

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_runtime.plan.positions import ConditionPlan, Positions

    from ..automaton.positions import Built
    from .written import Written


MOST_STATES = 1_000  # of an automaton that is worth building for a warning


def overflow(query: ast.Query, checked: model.Query, pattern: Written) -> Diagnostic | None:
    """A COUNT without a cast, over a repetition without bound, under ANY."""
    if checked.kind != "aggregate" or checked.select != "ANY":
        return None
    repeated = _unbounded(pattern)
    if repeated is None:
        return None
    for item, output in zip(query.returns.items, checked.outputs, strict=True):
        if any(a.function.counts and not a.safe and a.target is None for a in aggregates(output.expression)):
            return say.overflow(item.expression.span, repeated.span)
    return None


def positions_to_warn(checked: model.Query) -> Built | None:
    """What `enumeration` looks at, if it may have something to say."""
    if checked.kind != "aggregate" or not (checked.conditions or _scoped(checked)):
        return None
    if _states(checked.pattern) > MOST_STATES:
        return None

    from ..automaton.letters import Letters
    from ..automaton.positions import PatternTooLarge, positions_of

    try:
        return positions_of(checked, Letters())
    except PatternTooLarge:
        return None


def before_the_last(checked: model.Query) -> Iterator[Diagnostic]:
    """Conditions that compare each event of a variable with one so many before the last of the whole match, where
    MATCH_RECOGNIZE means the event before.
    """
    for condition in (*checked.conditions, *_scoped(checked)):
        found = list(fields(condition.expression))
        each = {field.variable for field in found if field.at == "each"}
        last = next((f for f in found if f.at == "last" and f.places and each == {f.variable}), None)
        if last is not None:
            earlier = Field(last.variable, last.column, "prev", last.type, last.places - 1)
            cure = f"{earlier.event}.{name_text(ast.Name(last.column))}"
            yield say.before_the_last(condition.span, last.event, cure, f"{last.variable}")


def _scoped(checked: model.Query) -> list[model.Condition]:
    return [c for scope in model.scopes(checked.pattern) for c in scope.conditions]


def enumeration(checked: model.Query, built: Built) -> Iterator[Diagnostic]:
    """Conditions of an aggregate query that cannot be checked while counting."""
    from cepc_runtime.enumerate.budget import other_bound
    from cepc_runtime.plan.positions import ConditionPlan

    negated = {v.name for v in checked.variables if v.negated}
    own = [ConditionPlan(c.expression, c.variables, None, None, c.text) for c in checked.conditions]
    places = {c.text: c for c in (*_scoped(checked), *checked.conditions)}
    reported: set[str] = set()
    for plan in (*own, *built.conditions):
        condition = places[plan.text]
        if plan.text in reported:
            continue
        why = _why_enumerated(plan, checked, built.positions, in_not=not negated.isdisjoint(plan.variables))
        if why is not None:
            reported.add(plan.text)
            cure = other_bound(condition.text) if checked.select == "ANY" else None
            yield say.enumeration(condition.span, condition.text, why, cure)


def _why_enumerated(
    condition: ConditionPlan, query: model.Query, positions: Positions, *, in_not: bool
) -> OneOf["NOT", "apart", "NEXT", "RUNNING", "whole"] | None:
    if found := aggregates(condition.expression):
        return "RUNNING" if found[0].running else "whole"
    if in_not:
        return "NOT"
    if not _is_adjacent(condition, positions):
        return "apart"
    return "NEXT" if query.select == "NEXT" else None


def _is_adjacent(condition: ConditionPlan, positions: Positions) -> bool:
    from ..automaton.adjacent import NotAdjacent, edge_conditions

    try:
        edge_conditions(positions, (condition,))
    except NotAdjacent:
        return False
    return True


def _unbounded(pattern: Written) -> Repeat[Written] | None:
    """The first repetition of events without bound, outside NOT and parts that may not skip events."""
    for node in walk(pattern, lambda node: not isinstance(node, Not | Selected)):
        if isinstance(node, Repeat) and node.most is None and next(written.positive(node), None) is not None:
            return node
    return None


def _states(pattern: model.Pattern) -> int:
    """About how many states the automaton of a pattern has."""

    def states(node: model.Pattern, parts: tuple[int, ...]) -> int:
        match node:
            case model.Event():
                return 1
            case And() | Some():
                return prod(n + 1 for n in parts)
            case Repeat(_, least, most):
                return parts[0] * max(least, most or 1)
            case Not():
                return 0
        return sum(parts)

    return fold(pattern, states)
