"""Explanations as a graph for Graphviz: the queries' automata; states that are shared have one colour, and one node if
kept once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .explanation import Explanation

COLOURS: Final = ("#a6cee3", "#b2df8a", "#fdbf6f", "#cab2d6", "#fb9a99", "#ffff99", "#8dd3c7", "#d9d9d9")


def to_dot(explanations: Sequence[Explanation]) -> str:
    lines = [
        "digraph program {",
        "  rankdir=LR;",
        '  node [shape=box, style="rounded,filled", fillcolor=white];',
    ]
    for explanation in explanations:
        lines += (f"  {line}" for line in _stream(explanation))
    return "\n".join([*lines, "}", ""])


def _stream(one: Explanation) -> Iterator[str]:
    node: dict[tuple[str, str], str] = {}
    colour: dict[tuple[str, str], str] = {}
    for number, part in enumerate(one.parts):
        for query, states in zip(part.queries, part.members, strict=True):
            for i, state in enumerate(states):
                colour[query, state] = COLOURS[number % len(COLOURS)]
                if part.how == "kept once":
                    node[query, state] = _id(one.stream, part.queries[0], part.states[i])
    seen: set[str] = set()
    for execution in one.executions:
        query, automaton = execution.query, execution.automaton
        if automaton is None:
            yield f"{_id(one.stream, query)} [label={_quoted(f'{query}: matches listed')}, shape=note];"
            continue
        for state in automaton.states:
            name = node.get((query, state), _id(one.stream, query, state))
            if name in seen:
                continue
            seen.add(name)
            attributes = [f"label={_quoted(state)}"]
            if (query, state) in colour:
                attributes.append(f'fillcolor="{colour[query, state]}"')
            yield f"{name} [{', '.join(attributes)}];"
        for state in automaton.accepting:
            answer = _id(one.stream, query)
            if answer not in seen:
                seen.add(answer)
                yield f"{answer} [label={_quoted(query)}, shape=oval];"
            yield f"{node.get((query, state), _id(one.stream, query, state))} -> {answer} [style=dashed];"
        for step in automaton.steps:
            ends = [node.get((query, state), _id(one.stream, query, state)) for state in (step.source, step.target)]
            edge = f"{ends[0]} -> {ends[1]} [label={_quoted(step.variable)}];"
            if edge not in seen:
                seen.add(edge)
                yield edge


def _id(*names: str) -> str:
    return _quoted("/".join(names))


def _quoted(text: str) -> str:
    escaped = visible(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
