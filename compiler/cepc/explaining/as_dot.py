"""Explanations as a graph for Graphviz: the queries' patterns; states that are shared have one colour, and one node if
kept once.
"""

from __future__ import annotations

from itertools import chain, count
from typing import TYPE_CHECKING, Final

from ..visible import visible
from .graph import graph_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .explanation import Explanation
    from .graph import Graph, GraphNode

COLOURS: Final = ("#a6cee3", "#b2df8a", "#fdbf6f", "#cab2d6", "#fb9a99", "#ffff99", "#8dd3c7", "#d9d9d9")


def to_dot(explanations: Sequence[Explanation]) -> str:
    lines = [
        "digraph program {",
        "  rankdir=LR;",
        '  node [shape=box, style="rounded,filled", fillcolor=white];',
    ]
    ends: dict[str, str] = {}  # by query, the node where its matches end
    for explanation in explanations:
        lines += (f"  {line}" for line in _stream(explanation, ends))
    return "\n".join([*lines, "}", ""])


def _stream(one: Explanation, ends: dict[str, str]) -> Iterator[str]:
    """Rows that are events go from where they are found to where matches of them begin."""
    graph = graph_of(one)
    names = _names(one, graph)
    ends |= {node.label: name for name, node in zip(names, graph.nodes, strict=True) if node.kind == "query"}
    for name, node in zip(names, graph.nodes, strict=True):
        yield f"{name} [{', '.join(_attributes(node))}];"
    for edge in graph.edges:
        attributes = [f"label={_quoted(edge.label)}"] if edge.label else []
        attributes += ["style=dashed"] if graph.nodes[edge.target].kind == "query" else []
        said = f" [{', '.join(attributes)}]" if attributes else ""
        yield f"{names[edge.source]} -> {names[edge.target]}{said};"
    starts = [name for name, node in zip(names, graph.nodes, strict=True) if node.kind in ("start", "large")]
    for stream, query in one.rows:
        yield from (f"{ends[query]} -> {start} [label={_quoted(stream)}, style=dotted];" for start in starts)


def _names(one: Explanation, graph: Graph) -> list[str]:
    """Different for each node: the stream, the first query that has it, and what it is called."""
    names: dict[str, None] = {}
    for node in graph.nodes:
        query = one.executions[node.queries[0]].query
        name = "/".join((one.stream, query) if node.kind == "query" else (one.stream, query, node.label))
        names[next(n for n in chain((name,), (f"{name}/{number}" for number in count(2))) if n not in names)] = None
    return [_quoted(name) for name in names]


def _attributes(node: GraphNode) -> Iterator[str]:
    yield f"label={_quoted(node.label, *node.lines)}"
    part = node.once if node.beside is None else node.beside
    if node.kind == "query":
        yield "shape=oval"
    elif node.kind == "not":
        yield 'style="dashed", color="#b3382c", fontcolor="#b3382c"'
    elif part is not None:
        yield f'fillcolor="{COLOURS[part % len(COLOURS)]}"'


def _quoted(*lines: str) -> str:
    """In the quotes of Graphviz, the lines below each other."""
    return '"' + "\\n".join(visible(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines) + '"'
