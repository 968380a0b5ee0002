"""An explanation as a graph to be drawn: the queries' automata, in which a state that is kept once is one node."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from typing import Literal as OneOf

from .automata import START

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .automata import Drawn
    from .explanation import Explanation, QueryExplanation, SharedPart

MOST_STATES: Final = 80
"""An automaton with more is one node: nobody follows its lines."""

ONCE: Final = ("kept once", "found once")

Place = tuple[str, str]  # a query, and a state of its automaton
Way = tuple[Place, Place, str, bool, bool]  # with its label, and whether it ties or is a move
Kind = OneOf["start", "state", "large", "query"]


@dataclass(frozen=True, slots=True)
class GraphNode:
    """`queries` are indices into the explanation's executions, ascending. `once` and `beside` are the parts (indices
    again) in which the state is kept once, or laid beside others.
    """

    kind: Kind
    label: str
    queries: tuple[int, ...]
    once: int | None = None
    beside: int | None = None
    accepting: bool = False
    listed: bool = False  # a place of a pattern whose matches are listed, or a part of one


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """Between nodes, by index. Into a node of kind "query" it says where matches end."""

    source: int
    target: int
    queries: tuple[int, ...]
    label: str = ""
    ties: bool = False
    moves: bool = False  # by a NOT


@dataclass(frozen=True, slots=True)
class Graph:
    """`lanes`: the queries in the order in which they are drawn, neighbours sharing most."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    lanes: tuple[int, ...]


def graph_of(one: Explanation) -> Graph:
    """The graph of a stream's queries."""
    leader = _leaders(one.parts)
    leader |= _starts(one, leader)
    lanes = _lanes(one, leader)
    places: dict[Place, list[int]] = {}  # of each node, the queries that have it
    edges: dict[Way, list[int]] = {}
    for q in lanes:
        execution = one.executions[q]
        answer = (execution.query, "")
        for place in (*(leader.get(p, p) for p in _places(execution)), answer):
            places.setdefault(place, []).append(q)
        for source, target, label, ties, moves in _edges(execution):
            way = (leader.get(source, source), leader.get(target, target), label, ties, moves)
            edges.setdefault(way, []).append(q)
    number = {place: n for n, place in enumerate(places)}
    return Graph(
        tuple(_node(one, place, queries) for place, queries in places.items()),
        tuple(
            GraphEdge(number[source], number[target], tuple(sorted(queries)), label, ties, moves)
            for (source, target, label, ties, moves), queries in edges.items()
        ),
        lanes,
    )


def _leaders(parts: Iterable[SharedPart]) -> dict[Place, Place]:
    """For a state that is kept once, or a part that is found once, the place that stands for it."""
    return {
        (query, state): (part.queries[0], part.states[i])
        for part in parts
        if part.how in ONCE
        for query, states in zip(part.queries, part.members, strict=True)
        for i, state in enumerate(states)
    }


def _starts(one: Explanation, leader: Mapping[Place, Place]) -> dict[Place, Place]:
    """Starts from which the same ways go are drawn once: they tell nothing apart."""
    first: dict[object, Place] = {}
    found: dict[Place, Place] = {}
    for execution in one.executions:
        start = (execution.query, START)
        ways = [(leader.get(b, b), *kind) for a, b, *kind in _edges(execution) if a == start]
        found[start] = first.setdefault(frozenset(ways), start)
    return found


def _lanes(one: Explanation, leader: Mapping[Place, Place]) -> tuple[int, ...]:
    """Queries that keep states once are neighbours, those with the longest common part nearest."""
    first: dict[str, int] = {}  # of a query, the first that it is connected with
    for q, execution in enumerate(one.executions):
        first[execution.query] = q
    for (query, _), (other, _) in leader.items():
        least = min(first[query], first[other])
        joined = {first[query], first[other]}
        first |= {name: least for name, f in first.items() if f in joined}
    seen: dict[Place, int] = {}

    def key(q: int) -> tuple[object, ...]:
        places = (leader.get(p) for p in _places(one.executions[q]))
        shared = tuple(seen.setdefault(place, len(seen)) for place in places if place is not None)
        return first[one.executions[q].query], shared, q

    return tuple(sorted(range(len(one.executions)), key=key))


def _shown(execution: QueryExplanation) -> Drawn | None:
    """None for one that is too large to be drawn."""
    found = execution.automaton or execution.places
    return found if found is not None and len(found.states) <= MOST_STATES else None


def _places(execution: QueryExplanation) -> list[Place]:
    shown = _shown(execution)
    return [(execution.query, state) for state in (shown.states if shown is not None else (START,))]


def _edges(execution: QueryExplanation) -> list[Way]:
    query, shown = execution.query, _shown(execution)
    if shown is None:
        return [((query, START), (query, ""), "", False, False)]
    labels: defaultdict[tuple[str, str, bool, bool], list[str]] = defaultdict(list)
    for step in shown.steps:
        labels[step.source, step.target, step.ties, step.moves].append(step.variable)
    steps = [
        ((query, source), (query, target), _label(target, variables), ties, moves)
        for (source, target, ties, moves), variables in labels.items()
    ]
    return steps + [((query, state), (query, ""), "", False, False) for state in shown.accepting]


def _label(target: str, variables: Sequence[str]) -> str:
    """What is read, unless the state is called after it."""
    read = " or ".join(variables)
    return "" if target == read or target.removeprefix(f"{read} ").isdigit() else read


def _node(one: Explanation, place: Place, queries: Sequence[int]) -> GraphNode:
    query, state = place
    execution = next(one.executions[q] for q in queries if one.executions[q].query == query)
    having = tuple(sorted(queries))
    if not state:
        return GraphNode("query", query, having, listed=execution.automaton is None)
    found = execution.automaton or execution.places
    assert found is not None
    if len(found.states) > MOST_STATES:
        return GraphNode("large", f"{len(found.states)} states", having, listed=execution.automaton is None)
    once, beside = None, None
    for number, part in enumerate(one.parts):
        if any(q == query and state in states for q, states in zip(part.queries, part.members, strict=True)):
            if part.how in ONCE:
                once = number
            else:
                beside = number
    kind: Kind = "start" if state == START else "state"
    return GraphNode(kind, state, having, once, beside, state in found.accepting, execution.automaton is None)
