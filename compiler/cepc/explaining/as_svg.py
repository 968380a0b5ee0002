"""Explanations as a picture: the queries' automata; what is kept once is one node, in the colour of the queries that
share it.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Final

from . import panes
from .colours import Colour, colours
from .escaping import escaped
from .graph import graph_of
from .layout import HEIGHT, LINE, Box, lay_out, shortened
from .node_style import edge_classes, node_style
from .routes import number as _n
from .routes import route

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .explanation import Explanation
    from .graph import Graph, GraphEdge, GraphNode, View
    from .layout import GraphLayout
    from .node_style import NodeStyle

PLAIN: Final = Colour("#ffffff", "#8b95a1")
TITLE: Final = 44  # the height of a stream's heading
LEGEND: Final = 30
ROW: Final = 20  # of the legend
WIDE: Final = 640.0  # at least


def to_svg(explanations: Sequence[Explanation]) -> str:
    """The streams below each other, as a file of its own."""
    parts, top, width = [], 0.0, 0.0
    for one in explanations:
        graph = graph_of(one)
        layout = lay_out(graph)
        heading = f'<text class="heading" x="24" y="30">{escaped(f"stream {one.title}")}</text>'
        strips = panes.panes(one)
        drawn = "\n".join((*_drawn(one, graph, layout), *panes.drawn(one, strips, layout.height)))
        below = layout.height + panes.height(strips)
        wide = max(layout.width, panes.width(one, strips), WIDE)
        rows = _rows(_entries(one, graph), wide)
        legend = "".join(_legend(rows, TITLE + below + 4))
        parts.append(
            f'<g transform="translate(0 {_n(top)})">{heading}'
            f'<g transform="translate(0 {TITLE})">{drawn}</g>{legend}</g>'
        )
        top += TITLE + below + LEGEND + ROW * (len(rows) - 1)
        width = max(width, wide)
    style = files(__package__).joinpath("picture.css").read_text("utf-8")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(width)}" height="{_n(top)}"'
        f' viewBox="0 0 {_n(width)} {_n(top)}"'
        f' role="img"><title>What the queries share</title><style>{style}</style>{ARROW}'
        f'<rect class="ground" width="100%" height="100%"/>\n{chr(10).join(parts)}\n</svg>\n'
    )


def still(one: Explanation) -> str:
    """The automata of a stream's queries, for a page whose script does not run."""
    graph = graph_of(one)
    layout = lay_out(graph)
    size = (
        f'width="{_n(layout.width)}" height="{_n(layout.height)}" viewBox="0 0 {_n(layout.width)} {_n(layout.height)}"'
    )
    drawn = "\n".join(_drawn(one, graph, layout))
    return f'<svg class="picture" {size} role="img" aria-label="The patterns of the queries">{ARROW}\n{drawn}\n</svg>'


ARROW: Final = (
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7.5" refY="4" markerUnits="userSpaceOnUse"'
    ' markerWidth="9" markerHeight="9" orient="auto-start-reverse">'
    '<path class="head" d="M0 0.5 8 4 0 7.5z"/></marker></defs>'
)


def _drawn(one: Explanation, graph: Graph, layout: GraphLayout) -> Iterator[str]:
    """Edges first: nodes lie over them."""
    palette = colours(one.parts)
    for edge in graph.edges:
        yield _edge(edge, graph, layout)
    for node, box in zip(graph.nodes, layout.boxes, strict=True):
        yield _node(node, box, node_style(node, one, palette))


# ---- nodes -----------------------------------------------------------------------------------------------------------


def _node(node: GraphNode, box: Box, look: NodeStyle) -> str:
    fill, line = look.fill or PLAIN.fill, look.line or PLAIN.line
    colour = (
        ""
        if node.kind in ("query", "not") or (node.listed and node.once is None)
        else f' fill="{fill}" stroke="{line}"'
    )
    lines = () if node.kind == "start" else (node.label, *node.lines)
    top = box.y + 4.5 - LINE * (len(lines) - 1) / 2
    label = "".join(
        f'<text class="{"more" if number else "name"}" x="{_n(box.x)}" y="{_n(top + LINE * number)}">'
        f"{escaped(shortened(line))}</text>"
        for number, line in enumerate(lines)
    )
    tip = f"<title>{escaped(look.tip)}</title>"
    return f'<g class="node {" ".join(look.classes)}">{tip}{_shape(node, box, colour, look.classes)}{label}</g>'


def _shape(node: GraphNode, box: Box, colour: str, classes: Sequence[str]) -> str:
    if node.kind == "start":
        return f'<circle cx="{_n(box.x)}" cy="{_n(box.y)}" r="7"{colour}/>'
    left, top = box.x - box.width / 2, box.y - box.height / 2
    radius = HEIGHT / 2 if node.kind == "query" or "listed" in classes else 6
    size = f'width="{_n(box.width)}" height="{_n(box.height)}"'
    return f'<rect x="{_n(left)}" y="{_n(top)}" {size} rx="{_n(radius)}"{colour}/>'


# ---- edges -----------------------------------------------------------------------------------------------------------


def _edge(edge: GraphEdge, graph: Graph, layout: GraphLayout) -> str:
    path, (x, y) = route(edge, graph, layout)
    label = f'<text class="label" x="{_n(x)}" y="{_n(y)}">{escaped(shortened(edge.label))}</text>' if edge.label else ""
    line = f'<path d="{path}" marker-end="url(#arrow)"/>'
    return f'<g class="{" ".join(("edge", *edge_classes(edge, graph)))}">{line}{label}</g>'


# ---- what the signs mean ---------------------------------------------------------------------------------------------


def _entries(one: Explanation, graph: Graph) -> list[tuple[str, str]]:
    """The signs that this picture uses, by class of the swatch."""
    ways = {part.how for part in one.parts}
    kinds = {node.kind for node in graph.nodes}
    counted = any(node.kind == "state" and not node.listed for node in graph.nodes)
    entries = [("start", "where matches begin")] if "start" in kinds else []
    entries += [("state", "an event; matches are counted")] if counted else []
    entries += [("listed", "an event; matches are listed one by one")] if any(n.listed for n in graph.nodes) else []
    entries += [("box", "AND: all of these, SOME: one or more, in any order")] if "box" in kinds else []
    entries += [("not", "what must not happen there")] if "not" in kinds else []
    entries += [("large", "more than can be drawn")] if "large" in kinds else []
    entries += [("once", "kept once for several queries")] if "kept once" in ways else []
    entries += [("once found", "a part whose matches are found once")] if "found once" in ways else []
    entries += [("beside", "kept side by side: one operation for all")] if "side by side" in ways else []
    entries += [("basis", "on basis columns")] if "on basis columns" in ways else []
    entries += [("ties", "in the same instant")] if any(edge.ties for edge in graph.edges) else []
    entries += [("moves", "when that happens which NOT forbids")] if any(edge.moves for edge in graph.edges) else []
    return [*entries, ("query", "a query, with its window")]


def _rows(entries: Sequence[tuple[str, str]], wide: float) -> list[list[tuple[str, str]]]:
    """The legend in as many rows as it takes."""
    rows: list[list[tuple[str, str]]] = [[]]
    for entry in entries:
        if rows[-1] and 24 + sum(_legend_width(text) for _, text in (*rows[-1], entry)) > wide:
            rows.append([])
        rows[-1].append(entry)
    return rows


def _legend(rows: Sequence[Sequence[tuple[str, str]]], top: float) -> Iterator[str]:
    for number, row in enumerate(rows):
        x, y = 24.0, top + ROW * number
        for kind, text in row:
            yield f'{_swatch(kind, x, y)}<text class="legend" x="{_n(x + 28)}" y="{_n(y + 11)}">{escaped(text)}</text>'
            x += _legend_width(text)


def _swatch(kind: str, x: float, y: float) -> str:
    if kind in ("ties", "moves", "answer"):
        return f'<g class="edge {kind}"><path d="M{_n(x)} {_n(y + 7)}h22"/></g>'
    if kind == "start":
        return f'<g class="node swatch"><circle cx="{_n(x + 11)}" cy="{_n(y + 7)}" r="5"/></g>'
    radius = 7 if kind in ("query", "listed", "once found") else 3
    lines = f'<path d="M{_n(x + 5)} {_n(y + 5)}h12m-12 4h12"/>' if kind == "box" else ""
    size = f'x="{_n(x)}" y="{_n(y)}" width="22" height="14" rx="{radius}"'
    return f'<g class="node swatch {kind}"><rect {size}/>{lines}</g>'


def _legend_width(text: str) -> float:
    return 28 + len(text) * 6.3 + 24


def legend(one: Explanation, view: View = "pattern") -> str:
    """The signs that the picture uses, for a page."""
    return "".join(
        f'<span><svg width="24" height="16">{_swatch(kind, 1, 1)}</svg> {escaped(text)}</span>'
        for kind, text in _entries(one, graph_of(one, view))
    )
