"""Where the nodes of a graph are drawn: layers from left to right by the longest way from a start, a lane for each
query from top to bottom. A node that several queries have lies between their lanes, so that common beginnings look like
a tree.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .graph import Graph, GraphNode

HEIGHT: Final = 30  # of a node with one line
LINE: Final = 15  # for each more
BETWEEN: Final = 12  # nodes of one layer
APART: Final = HEIGHT + BETWEEN  # from middle to middle, if they have one line
LANE: Final = 50
BOW: Final = 16  # how far an edge that skips a layer, or goes back, leaves its lane, for each layer
GAP: Final = 54  # between layers
MARGIN: Final = 24
LONGEST: Final = 34  # letters of a line
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
    back = back_edges(graph)
    layers = _layers(graph, back)
    last = max((layers[n] for n, node in enumerate(graph.nodes) if node.kind != "query"), default=0) + 1
    layers = [last if node.kind == "query" else layers[n] for n, node in enumerate(graph.nodes)]
    y, height = _rows(graph, layers, back)
    widths = [_width(node) for node in graph.nodes]
    widest = [
        max((w for w, layer in zip(widths, layers, strict=True) if layer == at), default=0.0) for at in range(last + 1)
    ]
    gaps = _gaps(graph, layers, last)
    left = [MARGIN + sum(widest[:at]) + sum(gaps[:at]) for at in range(last + 1)]
    boxes = tuple(
        Box(
            left[layers[n]] + (widths[n] if node.kind == "query" else widest[layers[n]]) / 2,
            y[n],
            widths[n],
            _height(node),
        )
        for n, node in enumerate(graph.nodes)
    )
    return GraphLayout(boxes, tuple(layers), left[last] + widest[last] + MARGIN, height)


def shortened(label: str) -> str:
    return label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"


def _width(node: GraphNode) -> float:
    if node.kind == "start":
        return 14.0
    return max(34.0, *(len(shortened(line)) * LETTER + 20 for line in (node.label, *node.lines)))


def _height(node: GraphNode) -> float:
    return 14.0 if node.kind == "start" else HEIGHT + LINE * len(node.lines)


def _gaps(graph: Graph, layers: Sequence[int], last: int) -> list[float]:
    """After each layer: room for what is written on the edges to the next."""
    gaps = [float(GAP)] * (last + 1)
    for edge in graph.edges:
        at = layers[edge.source]
        if edge.label and layers[edge.target] == at + 1:
            gaps[at] = max(gaps[at], len(shortened(edge.label)) * LETTER + 24)
    return gaps


def back_edges(graph: Graph) -> frozenset[tuple[int, int]]:
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
    heights = [max(_height(node), float(HEIGHT)) for node in graph.nodes]
    own: defaultdict[int, defaultdict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    names = {node.queries[0]: n for n, node in enumerate(graph.nodes) if node.kind == "query"}
    for n, node in enumerate(graph.nodes):
        if node.kind != "query":
            for query in node.queries:
                own[query][layers[n]].append(n)
    wanted: defaultdict[int, list[float]] = defaultdict(list)
    middle: dict[int, float] = {}
    top = float(MARGIN)
    for query in graph.lanes:
        columns = [[n for n in nodes if graph.nodes[n].queries[0] == query] for nodes in own[query].values()]
        columns.append([names[query]])
        room = max(sum(heights[n] + BETWEEN for n in nodes) for nodes in columns) + LANE - APART
        top += above.get(query, 0)
        middle[query] = top + room / 2
        for nodes in own[query].values():
            at = middle[query] - sum(heights[n] + BETWEEN for n in nodes) / 2
            for n in nodes:
                wanted[n].append(at + (heights[n] + BETWEEN) / 2)
                at += heights[n] + BETWEEN
        top += room + below.get(query, 0)
    y = [
        sum(wanted[n]) / len(wanted[n]) if n in wanted else middle[graph.nodes[n].queries[0]]
        for n in range(len(layers))
    ]
    for layer in set(layers):
        column = sorted((n for n in range(len(y)) if layers[n] == layer), key=lambda n: (y[n], n))
        spread = _spread([y[n] for n in column], [heights[n] + BETWEEN for n in column])
        for n, placed in zip(column, spread, strict=True):
            y[n] = placed
    shift = max(0.0, MARGIN - min((value - high / 2 for value, high in zip(y, heights, strict=True)), default=0.0))
    bottom = max((value + high / 2 for value, high in zip(y, heights, strict=True)), default=0.0)
    return [value + shift for value in y], max(top, bottom - HEIGHT / 2) + shift + MARGIN


def _spread(wanted: Sequence[float], rooms: Sequence[float]) -> list[float]:
    """Ascending values, as near as can be (least squares) to those wanted, each in the middle of its room.

    >>> _spread([10.0, 10.0, 200.0], [42.0, 42.0, 42.0])
    [-11.0, 31.0, 200.0]
    >>> _spread([10.0, 10.0], [42.0, 82.0])
    [-21.0, 41.0]
    """
    starts = list(accumulate(((a + b) / 2 for a, b in pairwise(rooms)), initial=0.0))[: len(wanted)]
    blocks: list[
        tuple[float, int]
    ] = []  # the mean of what its members want, less their distance from the first; how many
    for value, start in zip(wanted, starts, strict=True):
        mean, size = value - start, 1
        while blocks and blocks[-1][0] > mean:
            before, count = blocks.pop()
            mean, size = (before * count + mean * size) / (count + size), count + size
        blocks.append((mean, size))
    flat = [mean for mean, size in blocks for _ in range(size)]
    return [mean + start for mean, start in zip(flat, starts, strict=True)]


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
