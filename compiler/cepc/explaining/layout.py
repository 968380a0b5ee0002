"""Where the nodes of a graph are drawn: layers from left to right by the longest way from a start, a lane for each
query from top to bottom. A node that several queries have lies between their lanes, so that common beginnings look like
a tree.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .graph import Graph

HEIGHT: Final = 30  # of a node
APART: Final = 42  # between nodes of one layer, from middle to middle
LANE: Final = 50
BOW: Final = 16  # how far an edge that skips a layer, or goes back, leaves its lane, for each layer
GAP: Final = 54  # between layers
MARGIN: Final = 24
LONGEST: Final = 24  # letters of a label
LETTER: Final = 7.0


@dataclass(frozen=True, slots=True)
class Box:
    """The middle of a node, and its size."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class GraphLayout:
    boxes: tuple[Box, ...]  # of the graph's nodes
    layers: tuple[int, ...]
    width: float
    height: float


def lay_out(graph: Graph) -> GraphLayout:
    """Nodes of one layer do not overlap; a query's name stands in the last layer, in the middle of its lane."""
    back = _back_edges(graph)
    layers = _layers(graph, back)
    last = max((layers[n] for n, node in enumerate(graph.nodes) if node.kind != "query"), default=0) + 1
    layers = [last if node.kind == "query" else layers[n] for n, node in enumerate(graph.nodes)]
    y, height = _rows(graph, layers, back)
    widths = [_width(node.kind, node.label) for node in graph.nodes]
    widest = [
        max((w for w, layer in zip(widths, layers, strict=True) if layer == at), default=0.0) for at in range(last + 1)
    ]
    left = [MARGIN + sum(widest[:at]) + GAP * at for at in range(last + 1)]
    boxes = tuple(
        Box(
            left[layers[n]] + (widths[n] if node.kind == "query" else widest[layers[n]]) / 2,
            y[n],
            widths[n],
            HEIGHT if node.kind != "start" else 14,
        )
        for n, node in enumerate(graph.nodes)
    )
    return GraphLayout(boxes, tuple(layers), left[last] + widest[last] + MARGIN, height)


def shortened(label: str) -> str:
    return label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"


def _width(kind: str, label: str) -> float:
    return 14.0 if kind == "start" else max(34.0, len(shortened(label)) * LETTER + 20)


def _back_edges(graph: Graph) -> frozenset[tuple[int, int]]:
    """Edges to a node that is still being walked from, in a walk depth first from the starts."""
    ways: defaultdict[int, dict[int, None]] = defaultdict(dict)
    for edge in graph.edges:
        ways[edge.source][edge.target] = None
    back: set[tuple[int, int]] = set()
    seen: set[int] = set()
    for root in range(len(graph.nodes)):
        if root in seen:
            continue
        seen.add(root)
        walk = [(root, iter(ways[root]))]
        on_way = {root}
        while walk:
            node, rest = walk[-1]
            target = next(rest, None)
            if target is None:
                walk.pop()
                on_way.discard(node)
            elif target in on_way:
                back.add((node, target))
            elif target not in seen:
                seen.add(target)
                on_way.add(target)
                walk.append((target, iter(ways[target])))
    return frozenset(back)


def _layers(graph: Graph, back: frozenset[tuple[int, int]]) -> list[int]:
    forward = {(e.source, e.target) for e in graph.edges} - back
    ways: defaultdict[int, list[int]] = defaultdict(list)
    waiting: Counter[int] = Counter()
    for source, target in forward:
        ways[source].append(target)
        waiting[target] += 1
    layers = [0] * len(graph.nodes)
    ready = [n for n in range(len(graph.nodes)) if not waiting[n]]
    while ready:
        node = ready.pop()
        for target in ways[node]:
            layers[target] = max(layers[target], layers[node] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    return layers


def _rows(graph: Graph, layers: Sequence[int], back: frozenset[tuple[int, int]]) -> tuple[list[float], float]:
    """The y of every node, and the height of all."""
    above, below = _bows(graph, layers, back)
    own: defaultdict[int, defaultdict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for n, node in enumerate(graph.nodes):
        if node.kind != "query":
            for query in node.queries:
                own[query][layers[n]].append(n)
    wanted: defaultdict[int, list[float]] = defaultdict(list)
    middle: dict[int, float] = {}
    top = float(MARGIN)
    for query in graph.lanes:
        most = max(sum(graph.nodes[n].queries[0] == query for n in nodes) for nodes in own[query].values())
        room = max(most - 1, 0) * APART + LANE
        top += above.get(query, 0)
        middle[query] = top + room / 2
        for nodes in own[query].values():
            for i, n in enumerate(nodes):
                wanted[n].append(middle[query] + (i - (len(nodes) - 1) / 2) * APART)
        top += room + below.get(query, 0)
    y = [
        sum(wanted[n]) / len(wanted[n]) if n in wanted else middle[graph.nodes[n].queries[0]]
        for n in range(len(layers))
    ]
    for layer in set(layers):
        column = sorted((n for n in range(len(y)) if layers[n] == layer), key=lambda n: (y[n], n))
        for n, placed in zip(column, _spread([y[n] for n in column]), strict=True):
            y[n] = placed
    shift = max(0.0, MARGIN + HEIGHT / 2 - min(y, default=0.0))
    return [value + shift for value in y], max([top, *y]) + shift + MARGIN


def _spread(wanted: Sequence[float]) -> list[float]:
    """Ascending values, as near as can be (least squares) to those wanted, at least `APART` from each other.

    >>> _spread([10.0, 10.0, 200.0])
    [-11.0, 31.0, 200.0]
    """
    blocks: list[
        tuple[float, int]
    ] = []  # the mean of what its members want, less their distance from the first; how many
    for i, value in enumerate(wanted):
        mean, size = value - i * APART, 1
        while blocks and blocks[-1][0] > mean:
            before, count = blocks.pop()
            mean, size = (before * count + mean * size) / (count + size), count + size
        blocks.append((mean, size))
    flat = [mean for mean, size in blocks for _ in range(size)]
    return [mean + i * APART for i, mean in enumerate(flat)]


def _bows(
    graph: Graph, layers: Sequence[int], back: frozenset[tuple[int, int]]
) -> tuple[Mapping[int, float], Mapping[int, float]]:
    """How much room edges take above and below the nodes of each query's lane."""
    above: dict[int, float] = {}
    below: dict[int, float] = {}
    for edge in graph.edges:
        if graph.nodes[edge.target].kind == "query":
            continue
        span = layers[edge.target] - layers[edge.source]
        side = below if span < 0 else above
        room = bow(span)
        if room and ((edge.source, edge.target) in back or span > 1):
            for query in edge.queries[:1]:
                side[query] = max(side.get(query, 0.0), room - 10)
    return above, below


def bow(span: int) -> float:
    """How far an edge over so many layers (0: to its own node; negative: back) leaves the straight line."""
    if span == 0:
        return 24.0
    return 0.0 if span == 1 else min(12.0 + BOW * abs(span), 90.0)
