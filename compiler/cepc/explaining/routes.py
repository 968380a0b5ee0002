"""The line of an edge, as an SVG path, and where its label stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .layout import HEIGHT, bow

if TYPE_CHECKING:
    from .graph import Graph, GraphEdge
    from .layout import Box, GraphLayout

Point = tuple[float, float]


def route(edge: GraphEdge, graph: Graph, layout: GraphLayout) -> tuple[str, Point]:
    """To the next layer straight away; over a layer and back in a bow; to a query's name along its lane."""
    a, b = layout.boxes[edge.source], layout.boxes[edge.target]
    span = layout.layers[edge.target] - layout.layers[edge.source]
    if graph.nodes[edge.target].kind == "query":
        return _along_the_lane(edge, layout)
    if edge.source == edge.target:
        return _loop(a)
    if span <= 0:
        return _back(a, b, bow(span))
    if span == 1 or abs(a.y - b.y) > HEIGHT:
        return _across(a, b)
    return _over(a, b, bow(span))


def number(value: float) -> str:
    """
    >>> number(12.04), number(7.0), number(0.5)
    ('12', '7', '0.5')
    """
    return f"{value:.1f}".rstrip("0").rstrip(".")


def _across(a: Box, b: Box) -> tuple[str, Point]:
    x1, x2 = a.x + a.width / 2, b.x - b.width / 2
    half = max((x2 - x1) / 2, 18)
    path = _from(x1, a.y) + _curve((x1 + half, a.y), (x2 - half, b.y), (x2, b.y))
    return path, ((x1 + x2) / 2, (a.y + b.y) / 2 - 5)


def _loop(a: Box) -> tuple[str, Point]:
    top, out = a.y - a.height / 2, min(a.width / 2 - 4, 13)
    high = top - 22
    path = _from(a.x + out, top) + _curve((a.x + out + 7, high), (a.x - out - 7, high), (a.x - out, top))
    return path, (a.x, high + 3)


def _back(a: Box, b: Box, depth: float) -> tuple[str, Point]:
    x1, y1, x2, y2 = a.x - a.width / 4, a.y + a.height / 2, b.x + b.width / 4, b.y + b.height / 2
    low = max(y1, y2) + depth
    return _from(x1, y1) + _curve((x1 - 6, low), (x2 + 6, low), (x2, y2)), ((x1 + x2) / 2, low)


def _over(a: Box, b: Box, depth: float) -> tuple[str, Point]:
    x1, y1, x2, y2 = a.x + a.width / 4, a.y - a.height / 2, b.x - b.width / 4, b.y - b.height / 2
    high = min(y1, y2) - depth
    return _from(x1, y1) + _curve((x1 + 8, high), (x2 - 8, high), (x2, y2)), ((x1 + x2) / 2, high + 10)


def _along_the_lane(edge: GraphEdge, layout: GraphLayout) -> tuple[str, Point]:
    """Into the lane at once, then straight on; below what stands in the way."""
    a, b = layout.boxes[edge.source], layout.boxes[edge.target]
    first, last = layout.layers[edge.source], layout.layers[edge.target]
    x1, x2 = a.x + a.width / 2, b.x - b.width / 2
    inside = [
        box
        for box, layer in zip(layout.boxes, layout.layers, strict=True)
        if first < layer < last and abs(box.y - b.y) < box.height / 2 + 4
    ]
    if inside:
        low = max(box.y + box.height / 2 for box in inside) + 8
        into = _curve((x1 + 14, a.y), (x1 + 8, low), (x1 + 22, low))
        out = _curve((x2 - 8, low), (x2 - 14, b.y), (x2, b.y))
        return f"{_from(x1, a.y)}{into}H{number(x2 - 22)}{out}", ((x1 + x2) / 2, low - 5)
    turn = min(x1 + 44, x2)
    middle = (x1 + turn) / 2
    return f"{_from(x1, a.y)}{_curve((middle, a.y), (middle, b.y), (turn, b.y))}H{number(x2)}", ((x1 + x2) / 2, b.y - 5)


def _from(x: float, y: float) -> str:
    return f"M{number(x)} {number(y)}"


def _curve(*points: Point) -> str:
    """A cubic Bézier curve to the last point."""
    return "C" + " ".join(f"{number(x)} {number(y)}" for x, y in points)
