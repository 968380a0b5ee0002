"""The rows of match queries that a watermark decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..columns import codes, combine_codes
from ..enumerate.budget import PARTIAL_MATCHES, MatchBudget, for_matches
from ..enumerate.evaluation import Evaluator
from ..enumerate.matches import MatchRows
from ..enumerate.run import Arranged, arrange_for, joined_matches
from ..events import read, select
from ..letters import classify
from .program import FREE, ROW
from .ticks import before

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..columns import Bools, Ints
    from ..enumerate.standing import Matches
    from ..enumerate.timeline import Timeline
    from ..events import Events, Reading
    from ..plan import Plan, QueryPlan, SharedMatches
    from .decision import Decision


@dataclass(frozen=True)
class Step:
    """A watermark goes on from `earlier` to `watermark`; `most` bounds the partial matches of a query that are listed."""

    earlier: int
    watermark: int
    most: int = PARTIAL_MATCHES


def decided(final: Reading, plan: Plan, query: QueryPlan, decision: Decision, step: Step) -> Iterator[Any]:
    """Tables of the matches of a query without AFTER MATCH that become known, given the final events."""
    concerned = _partitions_of(final, query, decision.may_decide(final.ticks, step.earlier, step.watermark))
    if not concerned.any():
        return
    reading = select(final, concerned)
    arranged = arrange_for(reading, classify(reading, plan.letters), plan, [query])
    enumerator = arranged.enumerator(query, limit=for_matches(step.most, arranged.events.length))
    rows, ticks = MatchRows(query, plan.stream, enumerator.evaluator), arranged.events.ticks
    for matches in enumerator.matches():
        now = _known_now(matches, ticks, decision, step)
        if now.any():
            yield rows.table(matches.take(now))


def decided_together(
    final: Reading,
    plan: Plan,
    shared: SharedMatches,
    queries: Mapping[QueryPlan, Decision],
    step: Step,
) -> Iterator[tuple[str, Any]]:
    """The same for queries that share matches of parts of their patterns, by name."""
    some = [decision.may_decide(final.ticks, step.earlier, step.watermark) for decision in queries.values()]
    concerned = _partitions_of(final, next(iter(queries)), np.any(some, axis=0))
    if not concerned.any():
        return
    reading = select(final, concerned)
    arranged = arrange_for(reading, classify(reading, plan.letters), plan, list(queries))
    evaluator, ticks = Evaluator(arranged.events.table), arranged.events.ticks
    made = {query.name: (MatchRows(query, plan.stream, evaluator), decision) for query, decision in queries.items()}
    first, most = next(iter(queries)), for_matches(step.most, arranged.events.length)
    budget = MatchBudget(first.name, most, None, first.select, matches=True)
    for name, matches in joined_matches(arranged, shared, list(queries), evaluator, budget=budget):
        rows, decision = made[name]
        now = _known_now(matches, ticks, decision, step)
        if now.any():
            yield name, rows.table(matches.take(now))


def _known_now(matches: Matches, ticks: Ints, decision: Decision, step: Step) -> Bools:
    first, last = ticks[matches.positions[0]], ticks[matches.positions[-1]]
    return decision.known(first, last, step.watermark) & ~decision.known(first, last, step.earlier)


def chosen(
    final: Reading, plan: Plan, query: QueryPlan, beginning: Plan, decision: Decision, step: Step, passed: Bools
) -> tuple[list[Any], Bools]:
    """The same for a query with AFTER MATCH. `passed` says with which events no match begins; so does the second part of
    the answer, from now on.

    `beginning` is `Program.beginning` of the query.
    """
    assert decision.after_first is not None
    free = ~passed & before(final.ticks, step.watermark - decision.after_first + 1)
    concerned = np.flatnonzero(_partitions_of(final, query, free))
    if not len(concerned):
        return [], passed
    table = select(final, concerned).table.append_column(FREE, pa.array(free[concerned]))
    reading = read(table.append_column(ROW, pa.array(concerned)), beginning.stream)
    # The query's own letters keep the first events that are not free yet: a row may pass over them.
    queries = [query, *beginning.queries]
    arranged = arrange_for(reading, classify(reading, beginning.letters), beginning, queries)
    most = for_matches(step.most, arranged.events.length)
    enumerator = arranged.enumerator(beginning.queries[0], limit=most)
    rows = MatchRows(query, plan.stream, enumerator.evaluator)
    tables, until = [], np.zeros(len(arranged.events.group_starts) - 1, dtype=np.int64)
    for matches in enumerator.matches():
        tables.append(rows.table(matches))
        resume = _resume(matches, query, enumerator.timeline)
        np.maximum.at(until, arranged.events.groups[matches.positions[0]], resume)
    passed = passed | free
    passed[_rows_before(arranged, until)] = True
    return tables, passed


def _partitions_of(events: Reading, query: QueryPlan, some: Bools) -> Bools:
    """All events of the partitions that some of them belong to."""
    numbers, _ = combine_codes([codes(events.table.column(name)) for name in query.partition], len(some))
    return np.isin(numbers, numbers[some])


def _resume(matches: Matches, query: QueryPlan, timeline: Timeline) -> Ints:
    """Before which position no match begins any more (docs/language.md, "Selection")."""
    assert query.after is not None
    skip, variable = query.after
    first, last = matches.positions[0], matches.positions[-1]
    resume: Ints = timeline.instant_end[last if skip == "PAST LAST EVENT" else first]
    if skip in ("PAST LAST EVENT", "TO NEXT EVENT") or variable not in matches.names:
        return resume
    bound = matches.variables == matches.names.index(variable)
    if skip == "TO FIRST":
        event = np.where(bound, matches.positions, timeline.length).min(axis=0)
        event[event == timeline.length] = -1
    else:
        event = np.where(bound, matches.positions, -1).max(axis=0)
    return np.asarray(np.maximum(resume, event), dtype=np.int64)


def _rows_before(arranged: Arranged, until: Ints) -> Ints:
    """The rows of events that stand before a position, one for each group."""
    events: Events = arranged.events
    passed = np.flatnonzero(np.arange(events.length) < until[events.groups])
    return np.asarray(events.table.column(ROW).take(pa.array(passed)).to_numpy(), dtype=np.int64)
