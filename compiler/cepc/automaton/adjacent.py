"""Which conditions can be checked while counting: those between an event and the event read just before it.

A condition is *adjacent* if on every edge where it must be checked one side is the event read and the other the last
event read before (neighbours in a SEQ, PREV of a repeated variable, LAST of the variable before, FIRST of the variable
after).
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.expression import At, Expression, Field, aggregates, fields, rewrite

if TYPE_CHECKING:
    from cepc_runtime.plan.positions import ConditionPlan, Edge, Positions

EARLIER, LATER = "earlier", "later"


class NotAdjacent(Exception):  # noqa: N818 - an answer: this condition has to be checked on whole matches
    def __init__(self, condition: ConditionPlan) -> None:
        super().__init__(condition.text)
        self.condition = condition


def edge_conditions(positions: Positions, conditions: tuple[ConditionPlan, ...]) -> dict[Edge, frozenset[Expression]]:
    """What each edge has to check, over variables "earlier" and "later".

    Raises NotAdjacent for a condition that does not fit.
    """
    found: dict[Edge, frozenset[Expression]] = defaultdict(frozenset)
    arrivals = _arrivals(positions)
    bounds: dict[int | None, dict[int, _Counts]] = {}
    for condition in conditions:
        if condition.scope not in bounds:
            bounds[condition.scope] = _bound(positions, condition.scope)
        bound = bounds[condition.scope]
        for edge in positions.edges:
            check = _check(edge, condition, bound[edge.source], arrivals[edge.source])
            if check is not None:
                if edge.tie:
                    raise NotAdjacent(condition)
                found[edge] |= {check}
    return dict(found)


# ---- what is bound before an edge ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Counts:
    """How many events of each variable can be bound in the instance at hand.

    At least, and at most (2 stands for more).
    """

    least: dict[str, int]
    most: dict[str, int]


def _arrivals(positions: Positions) -> dict[int, frozenset[str]]:
    """The variables that the last event read can have, by state."""
    found: dict[int, frozenset[str]] = defaultdict(frozenset)
    for edge in positions.edges:
        found[edge.target] |= {edge.variable}
    return found


def _bound(positions: Positions, scope: int | None) -> dict[int, _Counts]:
    """By dataflow over the edges, to a fixed point."""
    leaving: dict[int, list[Edge]] = defaultdict(list)
    for edge in positions.edges:
        leaving[edge.source].append(edge)
    counts = {0: _Counts({}, {})}
    queue, waiting = [0], {0}
    for state in queue:
        waiting.remove(state)
        for edge in leaving[state]:
            known, after = counts.get(edge.target), _after(counts[state], edge, scope)
            merged = after if known is None else _merge(known, after)
            if merged != known:
                counts[edge.target] = merged
                if edge.target not in waiting:
                    queue.append(edge.target)
                    waiting.add(edge.target)
    return counts


def _after(before: _Counts, edge: Edge, scope: int | None) -> _Counts:
    if scope is not None and scope not in edge.scopes:
        return before
    if scope is not None and scope in edge.enters:
        before = _Counts({}, {})
    v = edge.variable
    return _Counts(
        {**before.least, v: min(before.least.get(v, 0) + 1, 2)}, {**before.most, v: min(before.most.get(v, 0) + 1, 2)}
    )


def _merge(a: _Counts, b: _Counts) -> _Counts:
    if a == b:
        return a
    names = {*a.most, *b.most}
    return _Counts(
        {v: min(a.least.get(v, 0), b.least.get(v, 0)) for v in names},
        {v: max(a.most.get(v, 0), b.most.get(v, 0)) for v in names},
    )


# ---- one condition on one edge ---------------------------------------------------------------------------------------


def _check(edge: Edge, condition: ConditionPlan, bound: _Counts, arrivals: frozenset[str]) -> Expression | None:
    """What the edge has to check for the condition, if anything."""
    far = any(f.places for f in fields(condition.expression))
    if condition.negation is not None or far or aggregates(condition.expression):
        raise NotAdjacent(condition)
    variable = edge.variable
    if variable not in condition.variables or (condition.scope is not None and condition.scope not in edge.scopes):
        return None
    if condition.scope is not None and condition.scope in edge.enters:
        bound = _Counts({}, {})
    uses = {(f.variable, f.at) for f in fields(condition.expression) if f.variable is not None}
    if len(condition.variables) == 1:
        return _previous(condition, uses, variable, bound, arrivals)
    if len(condition.variables) != 2 or len(uses) != 2:
        raise NotAdjacent(condition)
    ((other, other_at),) = (u for u in uses if u[0] != variable)
    ((_, own_at),) = (u for u in uses if u[0] == variable)
    return _neighbours(condition, (variable, own_at), (other, other_at), bound, arrivals)


def _previous(
    condition: ConditionPlan, uses: set[tuple[str, At]], variable: str, bound: _Counts, arrivals: frozenset[str]
) -> Expression | None:
    if not {at for _, at in uses} <= {"each", "prev"}:
        raise NotAdjacent(condition)
    if bound.most.get(variable, 0) == 0:
        return None  # the first one has no PREV, and so nothing to satisfy
    if arrivals != {variable} or bound.least.get(variable, 0) == 0:
        raise NotAdjacent(condition)
    return _renamed(condition.expression, {(variable, "prev"): EARLIER, (variable, "each"): LATER})


def _neighbours(
    condition: ConditionPlan,
    own: tuple[str, str],
    other: tuple[str | None, str],
    bound: _Counts,
    arrivals: frozenset[str],
) -> Expression | None:
    variable, own_at = own
    name = other[0] or ""
    if bound.most.get(name, 0) == 0:
        return None  # to be checked when the other one is read, if it is
    if own_at == "first" and bound.least.get(variable, 0) > 0:
        return None
    fits = (
        arrivals == {name}
        and (own_at == "each" or (own_at == "first" and bound.most.get(variable, 0) == 0))
        and (other[1] == "last" or (other[1] == "each" and bound.most[name] == 1))
    )
    if not fits:
        raise NotAdjacent(condition)
    return _renamed(condition.expression, {other: EARLIER, own: LATER})


def _renamed(expression: Expression, names: dict[tuple[str | None, str], str]) -> Expression:
    def change(node: Expression) -> Expression:
        if isinstance(node, Field) and node.variable is None:
            return Field(LATER, node.column, "each", node.type)  # shared by all events of the match
        if isinstance(node, Field) and (node.variable, node.at) in names:
            return Field(names[node.variable, node.at], node.column, "each", node.type)
        return node

    return rewrite(expression, change)
