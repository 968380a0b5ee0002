"""motto, the pass: match queries share the matches of common parts of their patterns, and are answered by joins.

    q: SEQ(A a, B b, C c)     r: SEQ(A x, C y)
    →      the matches of SEQ(A, C) are found once; q joins the events of B between

It takes the queries that the runtime can answer by joins: every match, of patterns of SEQ and AND over single events,
with single types that NOT forbids in the whole window. The rest of MOTTO's plans, SOME and OR, is not executed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from cepc_grammar.pattern import And, Not, Seq
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.select import SelectAny
from cepc_runtime.plan.sharing import JoinEvents, JoinMatches, LeafCondition, MatchAnswer, MatchPart, SharedMatches
from cepc_runtime.sql.expression import Field, aggregates, rewrite, variables

from .. import pattern as tree
from ..workload import Note
from .cost import EngineModel, PatternStatistics
from .derivation import Derivation, leaf_places
from .graph import required
from .patterns import LeafTest, Pattern, Query, SubQuery, extents, leaves, pattern_of, sort_key
from .plan import MottoBudget, share

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from cepc_runtime.plan.positions import ConditionPlan
    from cepc_runtime.plan.query import QueryPlan
    from cepc_runtime.plan.sharing import JoinStep
    from cepc_runtime.sql.expression import Expression

    from ..workload import Context, Workload
    from .patterns import Operand, OperatorName
    from .plan import MottoPlan


@dataclass(frozen=True, slots=True)
class Asked:
    """A query of the plan as MOTTO sees it: its variable at each leaf, and a condition for each test."""

    query: Query
    variables: tuple[str, ...]
    conditions: Mapping[LeafTest, ConditionPlan]


def motto(workload: Workload, context: Context) -> Workload:
    """Decide for each partition which parts of its match queries are found once."""
    classes: defaultdict[tuple[str, ...], list[Asked]] = defaultdict(list)
    for query, pattern in zip(workload.plan.queries, workload.patterns, strict=True):
        asked = asked_of(query, pattern)
        if asked is not None:
            classes[tuple(sorted(query.partition))].append(asked)
    found: list[SharedMatches] = []
    for partition, several in classes.items():
        per_tick = context.second * max(context.rates.groups(partition), 1.0)
        rates = {i: context.rates.rate(letter) / per_tick for i, letter in enumerate(workload.plan.letters)}
        model = EngineModel(PatternStatistics(rates, horizon=3600 * context.second))
        near, far = _by_neighbourhood(several)
        if near:
            plan = share([a.query for a in near], model, MottoBudget(context.budget.steps))
            shared = shared_matches(plan, near)
            if shared is not None:
                found.append(shared)
                workload = _noted(workload, plan, shared)
            found += matches_alone(plan, near)
        found += [_by_itself(asked) for asked in far]
    if not found:
        return workload
    return replace(workload, plan=replace(workload.plan, shared_matches=(*workload.plan.shared_matches, *found)))


def _noted(workload: Workload, plan: MottoPlan, shared: SharedMatches) -> Workload:
    steps, users = plan.derived, defaultdict[SubQuery, list[str]](list)
    for answer in shared.answers:
        for part in dict.fromkeys(_made_of(plan.answers[answer.query], steps)):
            users[part].append(answer.query)
    workload = workload.said(
        Note("motto", tuple(users[part]), f"find {_text(part.pattern, workload.types)} once") for part in plan.shared
    )
    saving = f"joins are expected to cost {plan.cost / plan.unshared:.2f} of what they cost query by query"
    return workload.noted("motto", tuple(a.query for a in shared.answers), saving)


def _text(operand: Operand, types: Sequence[str]) -> str:
    if isinstance(operand, Pattern):
        return f"{operand.operator}({', '.join(_text(o, types) for o in operand.operands)})"
    return types[operand]


def _by_neighbourhood(several: Sequence[Asked]) -> tuple[list[Asked], list[Asked]]:
    """The queries that may have a sub-query in common with another: two operands that others have too, or one that some
    pattern repeats. And those on which no thought is to be spent.
    """
    operands = [[part.pattern.operands for part in required(asked.query.asks)] for asked in several]
    repeated = frozenset(o for parts in operands for own in parts if len(set(own)) < len(own) for o in own)
    users = Counter(o for parts in operands for o in {o for own in parts for o in own})

    def is_near(parts: Sequence[Sequence[Operand]]) -> bool:
        common = ({o for o in own if users[o] > 1} for own in parts)
        return any(len(own) > 1 or own & repeated for own in common)

    near: list[Asked] = []
    far: list[Asked] = []
    for asked, parts in zip(several, operands, strict=True):
        (near if is_near(parts) else far).append(asked)
    return near, far


# ---- queries ---------------------------------------------------------------------------------------------------------


def asked_of(query: QueryPlan, pattern: tree.PlannedPattern) -> Asked | None:
    """The query, if its matches can be found by joins."""
    if query.kind != "match" or not isinstance(query.select, SelectAny) or query.after is not None:
        return None
    if any(c.negation is not None or aggregates(c.expression) for c in query.conditions):
        return None
    absent: list[int] = []
    if isinstance(pattern, And):
        nots = [p for p in pattern.parts if isinstance(p, Not)]
        if not all(isinstance(n.body, tree.Event) and n.within is None for n in nots):
            return None
        absent = [n.body.letter for n in nots if isinstance(n.body, tree.Event)]
        pattern = And(tuple(p for p in pattern.parts if not isinstance(p, Not)))
    built = _built(pattern)
    if built is None:
        return None
    operand, names = built
    if not isinstance(operand, Pattern) or len(set(names)) < len(names):
        return None
    conditions = {_condition(c, names): c for c in query.conditions}
    asks = SubQuery(operand, query.window.span, frozenset(conditions), frozenset(absent))
    return Asked(Query(query.name, asks), names, conditions)


def _built(pattern: tree.PlannedPattern) -> tuple[Operand, tuple[str, ...]] | None:
    """The pattern in its one form, with the variable at each leaf; None if it has more than SEQ, AND and single
    events.
    """
    match pattern:
        case tree.Event(letter, variable):
            return letter, (variable,)
        case Seq(parts):
            return _operator("SEQ", parts)
        case And(parts):
            return _operator("AND", parts)
    return None


def _operator(operator: OperatorName, parts: Iterable[tree.PlannedPattern]) -> tuple[Operand, tuple[str, ...]] | None:
    found: list[tuple[Operand, tuple[str, ...]]] = []
    for part in parts:
        built = _built(part)
        if built is None:
            return None
        operand, names = built
        if isinstance(operand, Pattern) and operand.operator == operator:
            where = extents(operand)
            found += ((o, names[e.start : e.stop]) for o, e in zip(operand.operands, where, strict=True))
        else:
            found.append(built)
    if operator == "AND":
        found.sort(key=lambda pair: sort_key(pair[0]))
    return pattern_of(operator, [operand for operand, _ in found]), tuple(n for _, names in found for n in names)


def _condition(condition: ConditionPlan, names: Sequence[str]) -> LeafTest:
    """The condition with leaves for variables: equal ones of queries that name their variables differently are
    equal.
    """
    mentioned = variables(condition.expression)
    number = {name: str(i) for i, name in enumerate(mentioned)}

    def renamed(node: Expression) -> Expression:
        if isinstance(node, Field) and node.variable is not None:
            return replace(node, variable=number[node.variable], at="each")
        return node

    test: Hashable = rewrite(condition.expression, renamed)
    return LeafTest(tuple(names.index(name) for name in mentioned), test)


# ---- plans -----------------------------------------------------------------------------------------------------------


def shared_matches(plan: MottoPlan, several: Sequence[Asked]) -> SharedMatches | None:
    """What the runtime executes: the parts that some of the queries share, and those queries; None if none share."""
    sharing = _sharing(plan, several)
    return _matches(plan.derived, _order(plan), sharing) if sharing else None


def matches_alone(plan: MottoPlan, several: Sequence[Asked]) -> list[SharedMatches]:
    """The same for each query that shares nothing: joins find its matches faster than the search that can do every
    pattern.
    """
    sharing = {a.query.name for a in _sharing(plan, several)}
    steps, order = plan.derived, _order(plan)
    return [_matches(steps, order, [a]) for a in several if a.query.name not in sharing]


def _by_itself(asked: Asked) -> SharedMatches:
    steps = {part: Derivation(part) for part in required(asked.query.asks)}
    return _matches(steps, {part: place for place, part in enumerate(steps)}, [asked])


def _sharing(plan: MottoPlan, several: Sequence[Asked]) -> list[Asked]:
    steps, shared = plan.derived, set(plan.shared)
    return [a for a in several if any(part in shared for part in _made_of(a.query.asks, steps))]


def _order(plan: MottoPlan) -> dict[SubQuery, int]:
    """When each part is computed."""
    return {derivation.result: place for place, derivation in enumerate(plan.derivations)}


def _matches(
    steps: Mapping[SubQuery, Derivation], order: Mapping[SubQuery, int], kept: Sequence[Asked]
) -> SharedMatches:
    needed = sorted({part for a in kept for part in _made_of(a.query.asks, steps)}, key=lambda part: order[part])
    number = {part: i for i, part in enumerate(needed)}
    tests = {condition.test: given for a in kept for condition, given in a.conditions.items()}
    parts = tuple(_part(steps[part], number, tests) for part in needed)
    answers = tuple(MatchAnswer(a.query.name, number[a.query.asks], a.variables) for a in kept)
    return SharedMatches(parts, answers)


def _made_of(asked: SubQuery, steps: Mapping[SubQuery, Derivation]) -> list[SubQuery]:
    """What is computed for it, itself included."""
    return [asked, *(part for source in steps[asked].inputs for part in _made_of(source, steps))]


def _part(derivation: Derivation, number: Mapping[SubQuery, int], tests: Mapping[Hashable, ConditionPlan]) -> MatchPart:
    result, source = derivation.result, derivation.source
    pattern = result.pattern
    where = extents(pattern)
    places = () if source is None else leaf_places(source.pattern, pattern, derivation.places)
    given = frozenset() if source is None else _placed(source.conditions, places)
    nested = [i for i, o in enumerate(pattern.operands) if isinstance(o, Pattern)]
    inner = dict(zip(nested, result.inner(), strict=True))
    joins: list[JoinStep] = []
    bound = sorted(derivation.places)
    for i in derivation.rest:
        of, own = pattern.operands[i], tuple(where[i])
        made = JoinEvents(own, of) if isinstance(of, int) else JoinMatches(own, number[inner[i]])
        joins.append(_join(made, pattern, i, bound))
        if i in inner:
            given |= _placed(inner[i].conditions, own)
        bound = sorted([*bound, i])
    order: tuple[tuple[int, int], ...] = ()
    if "order" in derivation.filters:
        placed = sorted(derivation.places)
        pairs = pairwise(placed)
        order = tuple((a, b) for left, right in pairs for a in where[left] for b in where[right])
    left = sorted(result.conditions - given, key=lambda c: (c.leaves, repr(c.test)))
    return MatchPart(
        leaves=len(leaves(pattern)),
        within=result.window,
        joins=tuple(joins),
        source=None if source is None else number[source],
        places=places,
        order=order,
        conditions=tuple(LeafCondition(tests[c.test], _by_variable(c, tests[c.test])) for c in left),
        absent=tuple(sorted(result.absent - (frozenset() if source is None else source.absent))),
        leads=pattern.operator == "SEQ" and isinstance(pattern.operands[0], int),
    )


def _join(made: JoinStep, pattern: Pattern, operand: int, bound: Sequence[int]) -> JoinStep:
    """The operand as it is joined to those that are bound: in a SEQ only its neighbours among these matter."""
    where = extents(pattern)
    if pattern.operator == "AND":
        return replace(made, apart=tuple(leaf for i in bound for leaf in where[i]))
    earlier, later = [i for i in bound if i < operand], [i for i in bound if i > operand]
    return replace(
        made,
        after=tuple(where[earlier[-1]]) if earlier else (),
        before=tuple(where[later[0]]) if later else (),
    )


def _placed(conditions: Iterable[LeafTest], places: Sequence[int]) -> frozenset[LeafTest]:
    return frozenset(LeafTest(tuple(places[leaf] for leaf in c.leaves), c.test) for c in conditions)


def _by_variable(condition: LeafTest, plan: ConditionPlan) -> tuple[int, ...]:
    """The leaves in the order of the plan's variables; those of the condition are in that of the expression's."""
    leaf = dict(zip(variables(plan.expression), condition.leaves, strict=True))
    return tuple(leaf[name] for name in plan.variables)
