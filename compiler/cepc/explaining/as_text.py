"""An explanation as lines."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from .describe import describe, row, rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .. import model
    from ..passes.engine import Load
    from .automata import Drawn
    from .explanation import Explanation


def to_text(program: model.CheckedProgram, explanations: Sequence[Explanation]) -> str:
    """The streams and queries of the program, and what is shared."""
    automata = {e.query: e.automaton for one in explanations for e in one.executions}
    described = describe(program)
    for part, query in zip(described[len(program.streams) :], program.queries, strict=True):
        if query.name in automata:
            part += automaton_lines(automata[query.name])
    described += (list(lines(one)) for one in explanations)
    return "\n".join("\n".join(line.rstrip() for line in part) + "\n" for part in described)


def automaton_lines(automaton: Drawn | None) -> Iterator[str]:
    """How a query is executed, below its description."""
    if automaton is None:
        yield row("automaton", "none: its matches are listed one by one")
        return
    steps: defaultdict[str, list[str]] = defaultdict(list)
    for step in automaton.steps:
        tie = " in the same instant" if step.ties else ""
        variable = "" if step.target == step.variable else f" on {step.variable}"
        steps[step.source].append(f"{step.target}{variable}{tie}")
    ends = [f"{state} → {', '.join(steps[state])}" for state in automaton.states if state in steps]
    yield from rows("automaton", ends)
    yield row("", f"matches end in {', '.join(automaton.accepting)}{'; NOT is watched' if automaton.guarded else ''}")


def lines(explanation: Explanation) -> Iterator[str]:
    """What is shared in a stream."""
    yield f"shared in {explanation.stream}"
    if not explanation.parts:
        yield row("nothing", "every query is evaluated by itself")
    for how in ("kept once", "on basis columns", "side by side"):
        parts = [part for part in explanation.parts if part.how == how]
        yield from rows(how, (f"{', '.join(part.queries)}: {', '.join(part.states)}" for part in parts))
    if explanation.alone.operations:
        yield row("cost", f"by themselves {_load(explanation.alone)}")
        if explanation.parts:
            ratio = explanation.together.nanoseconds / explanation.alone.nanoseconds
            yield row("", f"as shared     {_load(explanation.together)}: {ratio:.2f} of that")
    notes = (
        (note.name, f"{', '.join(note.queries)}: " if note.queries else "", note.text) for note in explanation.notes
    )
    yield from rows("passes", (f"{name}: {queries}{text}" for name, queries, text in notes))
    yield from rows("could be", explanation.obstacles)


def _load(load: Load) -> str:
    return (
        f"{load.operations:,.4g} row operations and {load.numbers:,.4g} numbers for each second of events,"
        f" about {load.nanoseconds / 1000:,.3g} µs"
    )
