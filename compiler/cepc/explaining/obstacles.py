"""What keeps queries of one shape apart: a window, a group, a condition, or that one of them is enumerated."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from ..passes.pattern import events, outline
from ..planning.logical import Uncountable
from .describe import window

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from cepc_runtime.plan.stream import Letter

    from .. import model
    from ..passes.pattern import PlannedPattern
    from ..passes.workload import Workload
    from ..planning.logical import Countability, LogicalQuery

    QueryAndPattern = tuple[LogicalQuery[Countability], PlannedPattern]

MOST: Final = 20


def obstacles(program: model.CheckedProgram, workload: Workload) -> tuple[str, ...]:
    """A sentence for each query that has the pattern of an earlier one, up to conditions, and yet does not share all of
    it.
    """
    stream = program.stream(workload.plan.stream.name)
    shapes: defaultdict[Hashable, list[QueryAndPattern]] = defaultdict(list)
    for query, pattern in zip(workload.plan.queries, workload.patterns, strict=True):
        if query.kind == "aggregate":
            shapes[_shape(pattern, workload.plan.letters)].append((query, pattern))
    found: list[str] = []
    for same in shapes.values():
        first, *others = same
        for other in others:
            wishes = list(_wishes(first, other, stream))
            if wishes:
                found.append(f"{other[0].name} would share all with {first[0].name} if {' and '.join(wishes)}")
    return (*found[:MOST], f"and {len(found) - MOST} more") if len(found) > MOST else tuple(found)


def _wishes(first: QueryAndPattern, other: QueryAndPattern, stream: model.Stream) -> Iterator[str]:
    a, b = first[0], other[0]
    if a.window != b.window:
        yield f"its window were {window(a, stream)}"
    if set(a.partition) != set(b.partition):
        yield f"its events agreed on {', '.join(a.partition) or 'nothing'}"
    if different := _different(first[1], other[1]):
        yield f"{', '.join(different)} had the same conditions"
    if a.select.word != b.select.word:
        yield f"its matches were chosen by SELECT {a.select.word}"
    elif isinstance(a.counting, Uncountable) != isinstance(b.counting, Uncountable):
        yield "neither had its matches listed one by one"


def _different(a: PlannedPattern, b: PlannedPattern) -> list[str]:
    pairs = zip(events(a), events(b), strict=True)
    return list(dict.fromkeys(y.variable for x, y in pairs if x.letter != y.letter))


def _shape(pattern: PlannedPattern, letters: Sequence[Letter]) -> Hashable:
    """The pattern over event types."""
    return outline(pattern, lambda event: letters[event.letter].raw_type)
