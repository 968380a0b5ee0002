"""One checked query to its plan: its automata, and whether its matches can be counted."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from cepc_runtime.plan.positions import ConditionPlan, Positions
from cepc_runtime.plan.query import Measure, OutputPlan
from cepc_runtime.plan.select import Select, SelectAny, SelectContiguous, SelectNext
from cepc_runtime.plan.strategy import AdjacentCondition, Reason
from cepc_runtime.plan.windows import Sessions, Sliding
from cepc_runtime.sql.expression import Aggregate, Expression, aggregates, counted, walk
from cepc_runtime.sql.types import DOUBLE

from ..automaton.adjacent import NotAdjacent, edge_conditions
from ..automaton.bound import MAX_STATES
from ..automaton.deterministic import Deterministic, TooManyStates, Undecided, deterministic
from ..automaton.gaps import NotCounted
from ..automaton.letters import letter_of
from ..automaton.positions import PatternTooLarge, positions_of
from .logical import Countable, CountableNeighbours, LogicalQuery, Uncountable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc_runtime.plan.automaton import Automaton
    from cepc_runtime.plan.windows import Window
    from cepc_runtime.sql.aggregate_functions import AggregateFunction

    from .. import model
    from ..automaton.letters import Letters
    from ..automaton.positions import Built
    from .logical import Countability


MOST_LETTERS = 62
"""Of what is negated, where there are conditions between neighbours: the kernel keeps them as bits."""


def plan_query(query: model.Query, letters: Letters, *, listed: bool = False) -> LogicalQuery[Countability]:
    """With `listed` for who wants the matches, and not to know whether they can be counted. Raises PatternTooLarge."""
    return plan_built(query, positions_of(query, letters), listed=listed)


def plan_built(query: model.Query, built: Built, *, listed: bool = False) -> LogicalQuery[Countability]:
    """The same, from the query's positions."""
    conditions = (*(p for c in query.conditions for p in _conditions(c, built.negated)), *built.conditions)
    counting: Countability = Uncountable(Reason("match query"))
    if query.kind == "aggregate" and not listed:
        counting = _counting(query, built.positions, conditions, built.letters)
    return LogicalQuery(
        name=query.name,
        kind=query.kind,
        partition=query.partition,
        group_by=query.group_by,
        window=_window(query, built.letters),
        variables=tuple(v.name for v in query.variables if not v.negated),
        lists=tuple(v.name for v in query.variables if v.is_list and not v.negated),
        positions=built.positions,
        conditions=conditions,
        measures=_measures(query),
        outputs=tuple(OutputPlan(o.name, o.expression) for o in query.outputs),
        having=query.having,
        returns_events=query.returns_events,
        each=query.each,
        select=_select(query, built.positions, built.letters),
        after=query.after,
        counting=counting,
    )


def _window(query: model.Query, letters: Letters) -> Window:
    """With the letters of the types that make sessions."""
    if not isinstance(query.window, Sessions):
        return query.window
    return replace(query.window, letters=tuple(sorted({letters.number(letter_of(test)) for test in query.mentioned})))


def _conditions(condition: model.Condition, negated: dict[str, tuple[int, ...]]) -> Iterator[ConditionPlan]:
    """A condition of the query's WHERE, for each negation in which a variable of it stands."""
    numbers = next((negated[v] for v in condition.variables if v in negated), (None,))
    for number in numbers:
        yield ConditionPlan(condition.expression, condition.variables, None, number, condition.text)


def _counting(
    query: model.Query, positions: Positions, conditions: tuple[ConditionPlan, ...], letters: Letters
) -> Countability:
    """Along which automaton the kernel can count, or what is in the way."""
    if isinstance(query.window, Sliding) and query.window.bound is not None:
        return Uncountable(Reason("bound"))
    if query.select == "NEXT" and conditions:
        return Uncountable(Reason("NEXT", conditions[0].text))
    try:
        on_edges = edge_conditions(positions, conditions)
        made = deterministic(positions, letters, on_edges, query.select)
    except NotAdjacent as answer:
        condition = answer.condition
        if found := aggregates(condition.expression):
            return Uncountable(Reason("running" if found[0].running else "whole", condition.text))
        return Uncountable(Reason("no neighbours" if condition.negation is None else "negated", condition.text))
    except NotCounted as answer:
        return Uncountable(Reason("NOT", str(answer)))
    except Undecided:
        return Uncountable(Reason("undecided"))
    except TooManyStates:
        if query.select != "ANY":
            return Uncountable(Reason("states"))
        raise PatternTooLarge("the pattern", MAX_STATES) from None
    if not on_edges:
        return Countable(made.automaton)
    watched = frozenset().union(*made.automaton.negation_letters.values())
    if len(watched) > MOST_LETTERS:
        return Uncountable(Reason("letters"))
    return CountableNeighbours(made.automaton, _adjacent(made))


def _adjacent(made: Deterministic) -> tuple[AdjacentCondition, ...]:
    steps: dict[Expression, list[int]] = defaultdict(list)
    for step, condition in made.conditions:
        steps[condition].append(step)
    return tuple(AdjacentCondition(tuple(numbers), condition) for condition, numbers in steps.items())


def _select(query: model.Query, positions: Positions, letters: Letters) -> Select:
    match query.select:
        case "NEXT":
            return SelectNext(_prefixes(positions, letters))
        case "CONTIGUOUS":
            return SelectContiguous()
        case "ANY":
            return SelectAny()


def _prefixes(positions: Positions, letters: Letters) -> Automaton:
    """Which words are prefixes of the pattern, whatever NOT says."""
    bare = replace(
        positions,
        edges=tuple(dict.fromkeys(replace(e, guards=()) for e in positions.edges)),
        acceptances=tuple(dict.fromkeys(replace(a, guards=()) for a in positions.acceptances)),
        negations=(),
    )
    try:
        return deterministic(bare, letters).automaton
    except TooManyStates:
        raise PatternTooLarge("the pattern", MAX_STATES) from None


def _measures(query: model.Query) -> tuple[Measure, ...]:
    """The different aggregates of an aggregate query; approximate only where every use of it says DOUBLE."""
    if query.kind == "match":
        return ()
    shown = [o.expression for o in query.outputs] + ([query.having] if query.having is not None else [])
    exact: dict[tuple[AggregateFunction, str | None, Expression | None], bool] = {}
    for node in (part for e in shown for n in walk(e) if isinstance(n, Aggregate) for part in counted(n)):
        key = (node.function, node.variable, node.argument)
        exact[key] = exact.get(key, False) or node.target != DOUBLE
    return tuple(Measure(f, v, a, e) for (f, v, a), e in exact.items())
