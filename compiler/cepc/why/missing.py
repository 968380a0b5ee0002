"""What stopped a row that is not there: the least that has to be left out of the query for a match to stand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.events.grouped import arrange, select
from cepc_runtime.events.letters import classify

from .constraints import (
    AfterMatchConstraint,
    Constraint,
    Local,
    Negated,
    PartConstraint,
    SelectionConstraint,
    constraints_of,
    without,
)
from .furthest import GroupEvent, Reached, awaited, furthest
from .spoilers import spoilers

if TYPE_CHECKING:
    from collections.abc import Collection

    from cepc_runtime.numbers.columns import Ints
    from cepc_runtime.plan.positions import Edge
    from cepc_runtime.plan.stream import Letter

    from .. import model
    from ..planning.logical import LogicalPlan
    from .finder import Finder, Match


@dataclass(frozen=True, slots=True)
class Question:
    """A query about some events: `rows` of the reading, and when a match of a match query begins."""

    query: model.Query
    rows: Ints
    start: int | None = None


@dataclass(frozen=True, slots=True)
class Stopped:
    """The nearest match and what stopped it: without all of `by` it would be one. `others` would each have sufficed
    too, for some match.
    """

    match: Match
    by: tuple[Constraint, ...]
    others: tuple[Constraint, ...] = ()


@dataclass(frozen=True, slots=True)
class Unfinished:
    """No match even of the bare pattern: how far it came, and the edges by which it did not go on."""

    reached: Reached
    edges: tuple[Edge, ...]
    plan: LogicalPlan
    rows: Ints  # of the group in which it came so far


@dataclass(frozen=True, slots=True)
class BeginsElsewhen:
    """No event of the time that was asked about can be the first of a match. At `ticks`, the nearest before it and
    after it, there is one that can.
    """

    ticks: tuple[int, ...]


def missing(finder: Finder, asked: Question) -> Stopped | Unfinished | BeginsElsewhen | None:
    """Why there is no match; None where that cannot be said within reason."""
    constraints = constraints_of(asked.query)
    alone = [(c, match) for c in constraints if (match := _found(finder, asked, [c])) is not None]
    if alone:
        (first, match), *others = alone
        return Stopped(match, (first,), tuple(c for c, _ in others))
    if _found(finder, asked, constraints) is None:
        return _unfinished(finder, asked)
    dropped = list(constraints)
    for constraint in reversed(constraints):  # what is about time comes back first, so that conditions are blamed
        if _found(finder, asked, [d for d in dropped if d != constraint]) is not None:
            dropped.remove(constraint)
    match = _found(finder, asked, dropped)
    return None if match is None else Stopped(match, tuple(dropped))


def _found(finder: Finder, asked: Question, dropped: Collection[Constraint]) -> Match | None:
    return finder.first(without(asked.query, dropped), asked.rows, asked.start)


def spoiled_by(finder: Finder, asked: Question, stopped: Stopped, constraint: Constraint) -> tuple[int, ...]:
    """The rows of the events because of which the match does not stand under a NOT, a SELECT, or that of a part."""
    if not isinstance(constraint, Negated | SelectionConstraint | PartConstraint):
        return ()
    after = AfterMatchConstraint if isinstance(constraint, SelectionConstraint) else ()
    others = (c for c in constraints_of(asked.query) if c != constraint)
    asking = without(asked.query, [c for c in others if c in stopped.by or isinstance(c, after)])
    own = {bound.row for bound in stopped.match}
    return spoilers(finder, asking, stopped.match, np.array([r for r in asked.rows.tolist() if r not in own], np.int64))


# ---- the bare pattern is not completed -------------------------------------------------------------------------------


def _unfinished(finder: Finder, asked: Question) -> Unfinished | BeginsElsewhen | None:
    """Conditions on single events are kept: of what fails them it is said later that it came."""
    bare = without(asked.query, [c for c in constraints_of(asked.query) if not isinstance(c, Local)])
    plan = finder.plan(replace(bare, select="ANY"))
    if plan is None:
        return None
    positions = plan.queries[0].positions
    start = furthest(positions, ())
    best = Unfinished(start, awaited(positions, start.state), plan, asked.rows)
    for rows, events in _groups(finder, asked, plan):
        reached = furthest(positions, events, at_once=asked.start is not None)
        if _nearness(reached) < _nearness(best.reached):
            best = Unfinished(reached, awaited(positions, reached.state), plan, rows)
    if asked.start is not None and not best.reached.match and (ticks := _beginnings(finder, asked, plan, asked.start)):
        return BeginsElsewhen(ticks)
    return best


def _beginnings(finder: Finder, asked: Question, plan: LogicalPlan, start: int) -> tuple[int, ...]:
    """The nearest times before and after, at which there is an event that can be the first of a match."""
    reading = select(finder.reading, asked.rows)
    first = {edge.letter for edge in plan.queries[0].positions.edges if edge.source == 0 and not edge.tie}
    ticks = reading.ticks[classify(reading, plan.letters).satisfying(first)]
    before, after = ticks[ticks < start], ticks[ticks > start]
    return (*((int(before.max()),) if len(before) else ()), *((int(after.min()),) if len(after) else ()))


def _nearness(reached: Reached) -> tuple[int, int]:
    return reached.missing, -len(reached.match)


def _groups(finder: Finder, asked: Question, plan: LogicalPlan) -> list[tuple[Ints, list[GroupEvent]]]:
    """The events of each group in canonical order."""
    rows = asked.rows if asked.start is None else asked.rows[finder.reading.ticks[asked.rows] >= asked.start]
    reading = select(finder.reading, rows)
    kinds = classify(reading, plan.letters)
    events = arrange(reading, finder.stream, tuple(sorted(asked.query.partition)))
    instants = np.repeat(np.arange(len(events.instant_starts) - 1), np.diff(events.instant_starts))
    found = []
    for low, high in zip(events.group_starts[:-1].tolist(), events.group_starts[1:].tolist(), strict=True):
        own = rows[events.order[low:high]]
        if asked.start is not None and finder.reading.ticks[own[0]] != asked.start:
            continue  # no match of this group begins then
        letters = (kinds.letters[kinds.of[place]] for place in events.order[low:high].tolist())
        listed = zip(own.tolist(), instants[low:high].tolist(), letters, strict=True)
        found.append((own, [GroupEvent(row, instant, ls) for row, instant, ls in listed]))
    return found


def came(finder: Finder, letter: Letter, rows: Ints, after: int | None) -> list[int]:
    """The rows of events of the letter's type, whatever its conditions, later than a time; the earliest first."""
    reading = finder.reading
    mask = np.ones(len(rows), dtype=np.bool_) if after is None else reading.ticks[rows] > after
    if letter.raw_type is not None:
        types = reading.types[rows]
        mask &= np.array([name == letter.raw_type for name in reading.names], dtype=np.bool_)[types]
    some = rows[mask]
    return [int(row) for row in some[np.argsort(reading.ticks[some], kind="stable")]]
