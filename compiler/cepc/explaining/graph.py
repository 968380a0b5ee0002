"""An explanation as a graph: what is drawn of each query, in which a state that is kept once is one node."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final
from typing import Literal as OneOf

from cepc_runtime.cheap_dataclass import dataclass

from .automata import START
from .sketches import END, Sketch, SketchNode, SketchStep

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .explanation import Explanation, QueryExplanation

MOST_STATES: Final = 80
"""What has more is one node: nobody follows its lines."""

ONCE: Final = ("kept once", "found once")

DrawnNode = tuple[str, str]  # a query, and a node of what is drawn of it
DrawnWay = tuple[DrawnNode, DrawnNode, str, bool, bool]  # with its label, and whether it ties or is a move
NodeKind = OneOf["start", "state", "not", "box", "large", "query"]
View = OneOf["pattern", "states"]


@dataclass(frozen=True, slots=True)
class GraphNode:
    """`lines` are below the label. `queries` are indices into the explanation's executions, ascending. `once` and
    `beside` are the parts (indices again) in which the state is kept once, or laid beside others.
    """

    kind: NodeKind
    label: str
    queries: tuple[int, ...]
    listed: bool  # of a query whose matches are listed, or a part of one
    lines: tuple[str, ...]
    once: int | None = None
    beside: int | None = None
    accepting: bool = False


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """Between nodes, by index. Into a node of kind "query" it says where matches end."""

    source: int
    target: int
    queries: tuple[int, ...]
    label: str
    ties: bool
    moves: bool  # by a NOT


@dataclass(frozen=True, slots=True)
class Graph:
    """`lanes`: the queries in the order in which they are drawn, neighbours sharing most."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    lanes: tuple[int, ...]


def graph_of(one: Explanation, view: View = "pattern") -> Graph:
    """The graph of a stream's queries: their patterns, or the states in which partial matches stand."""
    drawn = _Sketches(one, tuple(_bounded(e, view) for e in one.executions))
    leader = _leaders(drawn)
    lanes = _lanes(drawn, leader)
    places: dict[DrawnNode, list[int]] = {}  # of each node, the queries that have it
    edges: dict[DrawnWay, list[int]] = {}
    nodes: dict[DrawnNode, GraphNode] = {}
    for q in lanes:
        query = one.executions[q].query
        for node in drawn.sketches[q].nodes:
            place = leader.get((query, node.name), (query, node.name))
            places.setdefault(place, []).append(q)
            shown = _node(one, q, node, drawn.sketches[q])
            known = nodes.setdefault(place, shown)
            nodes[place] = replace(known, accepting=known.accepting or shown.accepting)
        places.setdefault((query, END), []).append(q)
        listed = one.executions[q].automaton is None
        nodes[query, END] = GraphNode("query", query, (), listed, drawn.sketches[q].end)
        for way in _ways(query, drawn.sketches[q], leader):
            edges.setdefault(way, []).append(q)
    number = {place: n for n, place in enumerate(places)}
    return Graph(
        tuple(replace(nodes[place], queries=tuple(sorted(queries))) for place, queries in places.items()),
        tuple(
            GraphEdge(number[source], number[target], tuple(sorted(queries)), label, ties, moves)
            for (source, target, label, ties, moves), queries in edges.items()
        ),
        lanes,
    )


def has_states(one: Explanation) -> bool:
    """Would the states be more than the patterns' events?"""
    return any(
        sum(node.kind != "not" for node in execution.sketch.nodes) != len(execution.states.nodes)
        or any(node.kind == "box" for node in execution.sketch.nodes)
        for execution in one.executions
    )


@dataclass(frozen=True, slots=True)
class _Sketches:
    """What is drawn of each execution."""

    one: Explanation
    sketches: tuple[Sketch, ...]


def _bounded(execution: QueryExplanation, view: View) -> Sketch:
    """One node where there are too many."""
    sketch = execution.sketch if view == "pattern" else execution.states
    if len(sketch.nodes) <= MOST_STATES:
        return sketch
    large = SketchNode(START, "large", f"{len(sketch.nodes)} {'events' if view == 'pattern' else 'states'}")
    return Sketch((large,), (SketchStep(START, END),), sketch.end)


def _leaders(drawn: _Sketches) -> dict[DrawnNode, DrawnNode]:
    """For a node that several queries have, the place that stands for all."""
    found = _kept_once(drawn)
    found |= _starts(drawn, found)
    found |= _nots(drawn, found)
    return found


def _kept_once(drawn: _Sketches) -> dict[DrawnNode, DrawnNode]:
    """Nodes whose states are kept once, or that are parts that are found once."""
    found: dict[DrawnNode, DrawnNode] = {}
    by_covers = {e.query: _by_covers(sketch) for e, sketch in zip(drawn.one.executions, drawn.sketches, strict=True)}
    for part in drawn.one.parts:
        if part.how not in ONCE:
            continue
        for query, states in zip(part.queries, part.members, strict=True):
            as_first = dict(zip(states, part.states, strict=True))
            for (covers, number), node in by_covers[query].items():
                if covers and covers <= as_first.keys():
                    theirs = by_covers[part.queries[0]].get((frozenset(as_first[s] for s in covers), number))
                    if theirs is not None and _alike(theirs, node):
                        found[query, node.name] = part.queries[0], theirs.name
    return found


def _alike(one: SketchNode, other: SketchNode) -> bool:
    """AND and SOME may have the same states, of which other ones accept."""
    return one.kind == other.kind and (one.kind != "box" or one.label == other.label)


def _by_covers(sketch: Sketch) -> dict[tuple[frozenset[str], int], SketchNode]:
    """The nodes by the states for which they stand; those of the same are numbered."""
    found: dict[tuple[frozenset[str], int], SketchNode] = {}
    for node in sketch.nodes:
        covers = frozenset(node.covers)
        number = sum(other == covers for other, _ in found)
        found[covers, number] = node
    return found


def _starts(drawn: _Sketches, leader: Mapping[DrawnNode, DrawnNode]) -> dict[DrawnNode, DrawnNode]:
    """Starts from which the same ways go are drawn once: they tell nothing apart."""
    first: dict[object, DrawnNode] = {}
    found: dict[DrawnNode, DrawnNode] = {}
    for execution, sketch in zip(drawn.one.executions, drawn.sketches, strict=True):
        start = (execution.query, START)
        ways = [(b, *kind) for a, b, *kind in _ways(execution.query, sketch, leader) if a == leader.get(start, start)]
        found[start] = first.setdefault(frozenset(ways), start)
    return found


def _nots(drawn: _Sketches, leader: Mapping[DrawnNode, DrawnNode]) -> dict[DrawnNode, DrawnNode]:
    """A NOT between nodes that several queries have is one node, too."""
    first: dict[object, DrawnNode] = {}
    found: dict[DrawnNode, DrawnNode] = {}
    for execution, sketch in zip(drawn.one.executions, drawn.sketches, strict=True):
        ways = list(_ways(execution.query, sketch, leader))
        for node in sketch.nodes:
            if node.kind == "not":
                place = (execution.query, node.name)
                around = (
                    frozenset(a for a, b, *_ in ways if b == place),
                    frozenset(b for a, b, *_ in ways if a == place),
                )
                found[place] = first.setdefault((node.label, node.lines, around), place)
    return found


def _lanes(drawn: _Sketches, leader: Mapping[DrawnNode, DrawnNode]) -> tuple[int, ...]:
    """Queries that keep states once are neighbours, those with the longest common part nearest."""
    executions = drawn.one.executions
    first: dict[str, int] = {}  # of a query, the first that it is connected with
    for q, execution in enumerate(executions):
        first[execution.query] = q
    for (query, _), (other, _) in leader.items():
        least = min(first[query], first[other])
        joined = {first[query], first[other]}
        first |= {name: least for name, f in first.items() if f in joined}
    seen: dict[DrawnNode, int] = {}

    def key(q: int) -> tuple[object, ...]:
        query = executions[q].query
        places = (leader.get((query, node.name)) for node in drawn.sketches[q].nodes)
        shared = tuple(seen.setdefault(place, len(seen)) for place in places if place is not None)
        return first[query], shared, q

    return tuple(sorted(range(len(executions)), key=key))


def _ways(query: str, sketch: Sketch, leader: Mapping[DrawnNode, DrawnNode]) -> Iterator[DrawnWay]:
    for step in sketch.steps:
        source, target = (query, step.source), (query, step.target)
        yield leader.get(source, source), leader.get(target, target), step.label, step.ties, step.moves


def _node(one: Explanation, q: int, node: SketchNode, sketch: Sketch) -> GraphNode:
    execution = one.executions[q]
    once, beside = None, None
    for number, part in enumerate(one.parts):
        for query, states in zip(part.queries, part.members, strict=True):
            if query == execution.query and node.covers and set(node.covers) <= set(states):
                once, beside = (number, beside) if part.how in ONCE else (once, number)
    accepting = any(step.source == node.name and step.target == END for step in sketch.steps)
    listed = execution.automaton is None
    return GraphNode(node.kind, node.label, (q,), listed, node.lines, once, beside, accepting)
