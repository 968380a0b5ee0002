"""An explanation as lines."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from ..visible import visible
from .describe import listed, queries, streams
from .strategies import strategy_facts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .. import model
    from ..passes.engine import Load
    from .automata import Drawn
    from .describe import Fact
    from .explanation import Explanation

LABEL: Final = 16  # the width of the column of labels
MOST: Final = 20  # queries that are named for what they share


def to_text(program: model.CheckedProgram, explanations: Sequence[Explanation]) -> str:
    """The streams and queries of the program, and what is shared."""
    executions = {execution.query: execution for one in explanations for execution in one.executions}
    parts = [(f"stream {stream.name}", stream.facts) for stream in streams(program)]
    for query in queries(program):
        execution = executions.get(query.name)
        made = (
            ()
            if execution is None
            else (
                *strategy_facts(execution.strategy, execution.batch),
                *automaton_facts(execution.automaton),
                *listed("as a stream", execution.keeps),
            )
        )
        parts.append((f"query {query.name}", (*query.facts, *made)))
    parts += ((f"shared in {one.stream}", tuple(sharing_facts(one))) for one in explanations)
    return "\n".join(
        "".join(f"{visible(line.rstrip())}\n" for line in (title, *map(_row, facts))) for title, facts in parts
    )


def automaton_facts(automaton: Drawn | None) -> Iterator[Fact]:
    """The steps along which matches are counted."""
    if automaton is None:
        return
    steps: defaultdict[str, list[str]] = defaultdict(list)
    for step in automaton.steps:
        tie = " in the same instant" if step.ties else ""
        variable = "" if step.moves or step.target == step.variable else f" on {step.variable}"
        steps[step.source].append(f"{step.target}{variable}{tie}")
    ends = [f"{state} → {', '.join(steps[state])}" for state in automaton.states if state in steps]
    yield from listed("automaton", ends)
    yield "", f"matches end in {', '.join(automaton.accepting)}{'; NOT is watched' if automaton.guarded else ''}"


def sharing_facts(explanation: Explanation) -> Iterator[Fact]:
    """What is shared in a stream."""
    if not explanation.parts:
        yield "nothing", "every query is evaluated by itself"
    yield from parts_shared(explanation)
    if explanation.alone.operations:
        yield "cost", f"by themselves {_load(explanation.alone)}"
        if any(part.how != "found once" for part in explanation.parts):
            ratio = explanation.together.nanoseconds / explanation.alone.nanoseconds
            yield "", f"as shared     {_load(explanation.together)}: {ratio:.2f} of that"
    notes = (
        (note.name, f"{_several(note.queries)}: " if note.queries else "", note.text) for note in explanation.notes
    )
    yield from listed("passes", (f"{name}: {queries}{text}" for name, queries, text in notes))
    yield from listed("could be", explanation.obstacles)


def parts_shared(explanation: Explanation) -> Iterator[Fact]:
    """What several queries have in common, and how."""
    for how in ("found once", "kept once", "on basis columns", "side by side"):
        parts = [part for part in explanation.parts if part.how == how]
        yield from listed(how, (f"{_several(part.queries)}: {', '.join(part.states)}" for part in parts))


def _several(names: Sequence[str]) -> str:
    """The names, of many the first."""
    left = len(names) - MOST
    return ", ".join(names) if left <= 1 else f"{', '.join(names[:MOST])} and {left:,} more"


def _row(fact: Fact) -> str:
    label, text = fact
    return f"  {label:{LABEL}} {text}"


def _load(load: Load) -> str:
    return (
        f"{load.operations:,.4g} row operations and {load.numbers:,.4g} numbers for each second of events,"
        f" about {load.nanoseconds / 1000:,.3g} µs"
    )
