"""A graph as the elements that Cytoscape.js draws, for the page's script.

The label of an edge is a node between two halves of it: the layout then keeps labels off each other and off the nodes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .colours import colours
from .graph import graph_of
from .layout import back_edges, shortened
from .node_style import edge_classes, node_style

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .explanation import Explanation
    from .graph import Graph, GraphEdge, View


def elements(one: Explanation, number: int, view: View = "pattern") -> list[dict[str, Any]]:
    """Nodes and edges say in `queries` (`STREAM-QUERY`) to which queries they belong, and nodes in `parts` to which
    parts.
    """
    graph, palette = graph_of(one, view), colours(one.parts)
    found = []
    for n, node in enumerate(graph.nodes):
        look = node_style(node, one, palette)
        data = {
            "id": f"n{n}",
            "label": "" if node.kind == "start" else shortened(node.label),
            "lines": [shortened(line) for line in node.lines],
            "tip": look.tip,
            "queries": _of(number, node.queries),
            "parts": _of(number, [part for part in (node.once, node.beside) if part is not None]),
        }
        colour = {"fill": look.fill, "line": look.line, "bright": look.bright}
        colour = {name: value for name, value in colour.items() if value is not None}
        found.append({"data": data | colour, "classes": " ".join(look.classes)})
    back = back_edges(graph)
    for e, edge in enumerate(graph.edges):
        found += _edge(e, edge, graph, _of(number, edge.queries), (edge.source, edge.target) in back)
    return found


def as_json(one: Explanation, number: int, view: View = "pattern") -> str:
    """For a `<script>` that holds data: no name can end it."""
    text = json.dumps(elements(one, number, view), separators=(",", ":"))  # of ASCII alone
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _of(number: int, members: Sequence[int]) -> list[str]:
    return [f"{number}-{member}" for member in members]


def _edge(
    number: int, edge: GraphEdge, graph: Graph, queries: Sequence[str], goes_back: bool
) -> Iterator[dict[str, Any]]:
    source, target, classes = f"n{edge.source}", f"n{edge.target}", edge_classes(edge, graph)
    if edge.label and edge.source != edge.target:
        label, tip = f"l{number}", edge.label
        yield {
            "data": {
                "id": label,
                "label": shortened(edge.label),
                "lines": [],
                "tip": tip,
                "queries": queries,
                "parts": [],
            },
            "classes": "read",
        }
        classes = (*classes, "backward") if goes_back else classes
        yield _line(f"e{number}a", source, label, queries, "", (*classes, "half", "first"))
        yield _line(f"e{number}b", label, target, queries, "", (*classes, "half"))
        return
    if any((other.target, other.source) == (edge.source, edge.target) and not other.label for other in graph.edges):
        classes = (
            *classes,
            *(("loop",) if edge.source == edge.target else ("there",) if edge.source < edge.target else ("back",)),
        )
    yield _line(f"e{number}", source, target, queries, shortened(edge.label), classes)


def _line(
    identity: str, source: str, target: str, queries: Sequence[str], label: str, classes: Sequence[str]
) -> dict[str, Any]:
    data = {"id": identity, "source": source, "target": target, "label": label, "queries": queries}
    return {"data": data, "classes": " ".join(classes)}
