"""What the nodes and edges of a graph look like, whoever draws them: classes for a style, two colours, and what is said
about them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .colours import Colour
    from .explanation import Explanation
    from .graph import Graph, GraphEdge, GraphNode


@dataclass(frozen=True, slots=True)
class NodeStyle:
    """Of a node. Colours are None where the style says them; `bright` is a line on dark ground, where there is no
    `fill`.
    """

    classes: tuple[str, ...]
    fill: str | None
    line: str | None
    bright: str | None
    tip: str


def node_style(node: GraphNode, one: Explanation, palette: Sequence[Colour]) -> NodeStyle:
    classes: list[str] = [node.kind]
    if node.beside is not None:
        classes.append("basis" if one.parts[node.beside].how == "on basis columns" else "beside")
    classes += ["listed"] if node.listed and node.kind != "not" else []
    classes += ["found"] if node.listed and node.once is not None else []
    classes += ["accepting"] if node.accepting else []
    fill = palette[node.once].fill if node.once is not None else None
    bordered = node.once if node.beside is None else node.beside
    line = palette[bordered].line if bordered is not None else None
    bright = palette[bordered].fill if bordered is not None and fill is None else None
    return NodeStyle(tuple(classes), fill, line, bright, _tip(node, one))


def edge_classes(edge: GraphEdge, graph: Graph) -> tuple[str, ...]:
    answer = ("answer",) if graph.nodes[edge.target].kind == "query" else ()
    return (*answer, *(("ties",) if edge.ties else ("moves",) if edge.moves else ()))


def _tip(node: GraphNode, one: Explanation) -> str:
    if node.kind == "query":
        listed = ": its matches are listed one by one" if node.listed else ""
        return "\n".join([f"query {node.label}{listed}", *node.lines])
    names = [one.executions[q].query for q in node.queries]
    ways = [
        f"{part.how} for {', '.join(part.queries)}"
        for part in (one.parts[number] for number in (node.once, node.beside) if number is not None)
    ]
    said = {"AND": "all of these, in any order:", "SOME": "one or more of these, in any order:"}
    lines = [said[node.label], *node.lines] if node.kind == "box" else node.lines
    return "\n".join([f"{node.label}, of {', '.join(names)}", *lines, *ways])
