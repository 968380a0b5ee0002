"""Why a query has no rows, in a few sentences: what the events show at a glance, the most telling first.

Only what is cheap is looked at: the first million events that the query may look at, all at once; and where matches
have to be listed, a few groups. So the first causes are certain, and of the last it is said of which events it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.enumerate.budget import TooManyPartialMatchesError
from cepc_runtime.numbers.columns import nulls
from cepc_runtime.parts.resources import Resources
from cepc_runtime.plan.windows import MatchBound, Sessions, Sliding, Unbounded
from cepc_runtime.sql.evaluate.errors import EvaluationError
from cepc_runtime.sql.spark_sql import describe

from ..diagnostics.listed import listed
from ..errors import RunError
from ..explaining.describe import duration
from ..passes.strategy import strategy
from ..reading.read import Read
from ..running.local import execute_plan
from ..wording import many
from .constraints import constraints_of
from .event_times import made_times, other_unit
from .furthest import awaited, distances
from .looked_at import PARTIAL_MATCHES, LookedAt, look_at
from .missing import Question, Stopped, missing
from .row import first_row, having_query, having_values, match_having_values
from .unsatisfied import Unsatisfied, failing_text, never_text, of_type, passed_over, unsatisfied
from .values import ValueTexts, with_values
from .wording import clause_text, constraint_text, order_cure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cepc_grammar.source import Source
    from cepc_runtime.numbers.columns import Bools, Ints
    from cepc_runtime.plan.positions import Edge
    from cepc_runtime.sql.expression import Expression

    from .. import model
    from .reach import Reach

Sentences = Iterator[str]

COUNTED: Final = 100_000
"""Among so many events, rows without HAVING."""
LISTED: Final = 1_000
"""Among so many, what stops a match."""
CONSTRAINTS: Final = 20
"""A query that asks for more things than that is not tried without each of them."""


def why_empty(
    program: model.CheckedProgram, query: model.Query, given: Read, sources: Mapping[str, Source]
) -> Sentences:
    """The causes found for a query that has no rows, each without a capital and a full stop."""
    looked = look_at(program, query, given)
    if looked is None:
        return
    glance = tuple(at_a_glance(looked))
    yield from glance or _of_the_pattern(looked, sources)
    for name in query.partition:
        if len(looked.reading.ticks) and nulls(looked.reading.table.column(name)).all():
            yield f"`{name}` is null in all events, which makes them one group"
    made = made_times(looked.stream, looked.reading.ticks)
    if made is not None:
        yield made


def at_a_glance(looked: LookedAt) -> Sentences:
    """What the events show whatever their order. Times of another unit are all that is said: nothing that has to do
    with time can be.
    """
    rows, stream, dropped = looked.read.rows, looked.finder.stream, looked.reading.dropped
    time, type_ = clause_text("event time", stream.time_column), clause_text("event type", stream.type_column or "")
    odd = other_unit(looked.stream, looked.reading.ticks)
    if not rows and looked.stream.query is not None:
        yield f"`{looked.stream.query.name}`, whose rows are its events, has none"
    elif not rows:
        yield f"there are no events{passed_over(looked, ': ')}"
    elif dropped.null_time == rows:
        yield f"the {time} is null in all {many(rows, 'event')}"
    elif dropped.null_type == rows:
        yield f"the {type_} is null in all {many(rows, 'event')}"
    elif dropped.null_time + dropped.null_type == rows:
        yield (
            f"no event has a time and a type: the {time} is null in "
            f"{many(dropped.null_time, 'event')}, the {type_} in {dropped.null_type:,} "
            "with a time"
        )
    elif odd is not None:
        yield odd
    else:
        yield from (never_text(looked, one) for one in unsatisfied(looked))


# ---- the pattern -----------------------------------------------------------------------------------------------------


def _of_the_pattern(looked: LookedAt, sources: Mapping[str, Source]) -> Sentences:
    query, window = looked.query, looked.query.window
    reach = looked.reach(query.partition)
    if not reach.is_completed:
        if query.partition and looked.reach(()).is_completed:
            yield from _other_groups(looked)
        yield from _furthest(looked, reach)
        return
    fitting = _fitting(looked, reach)
    if not isinstance(window, Unbounded | Sessions) and not fitting.any():
        yield _too_short(looked, reach, window)
        return
    refused = (
        None if query.having is None else _refused(looked, query.having, _sample(reach, fitting, COUNTED), sources)
    )
    yield from _stopped(looked, _sample(reach, fitting, LISTED)) if refused is None else (refused,)


def _other_groups(looked: LookedAt) -> Sentences:
    """The pattern is complete if events need not agree: a key is null for some of them alone, or ever different."""
    names = listed((f"`{name}`" for name in looked.query.partition), "and")
    for name in looked.query.partition:
        without = nulls(looked.reading.table.column(name))
        for letter, edge in {e.letter: e for e in reversed(looked.positions.edges)}.items():
            mask = looked.satisfying({letter})
            if mask.any() and without[mask].all() and not without.all():
                events = many(int(mask.sum()), "event")
                yield f"`{name}` is null in all {events} for {_called(looked, edge)}, and not in others"
                return
    yield f"there are events for the whole pattern, but none that agree on {names}"


def _furthest(looked: LookedAt, reach: Reach) -> Sentences:
    """Which step is not reached after those before it, and with what else the pattern would be as near its end."""
    furthest = reach.furthest()
    if furthest is None:  # no event with which it may begin: that is seen at a glance
        return
    state, way = furthest
    yield _not_after(looked, reach, state, way)
    missing = distances(looked.positions)
    if missing[0] <= missing[state]:
        begins = {edge.letter: edge for edge in reversed(awaited(looked.positions, 0))}
        for letter, edge in sorted(begins.items()):
            if not looked.satisfying({letter}).any():
                yield never_text(looked, Unsatisfied(looked.letters[letter], edge.variable))


def _not_after(looked: LookedAt, reach: Reach, state: int, way: tuple[Edge, ...]) -> str:
    events, at = reach.events, reach.at[state]
    reached = at < events.length
    groups = np.unique(events.groups[at[reached]])
    runs = [(name, len([*same])) for name, same in groupby(_called(looked, edge) for edge in way)]
    came = listed((name if times == 1 else f"{name} {times} times" for name, times in runs), "and")
    onward = awaited(looked.positions, state)
    next_ = listed(dict.fromkeys(_called(looked, edge) for edge in onward), "or")
    again = {edge.letter for edge in onward} & {edge.letter for edge in way}
    failing = _failing(looked, reach, onward, at[reached])
    rest = failing or ("" if again else _instead(looked, reach, onward, at[reached], groups))
    where = f"which {'comes' if len(way) == 1 else 'come'} in {_of_groups(looked, len(groups), reach)}"
    order = " in this order" if len(runs) > 1 else ""
    return f"after {came}{order}, {where}, no {'further ' if again else ''}{next_} comes{rest}"


def _called(looked: LookedAt, edge: Edge) -> str:
    type_ = looked.letters[edge.letter].raw_type
    return f"`{edge.variable}`" if type_ in (None, edge.variable) else f"`{type_} {edge.variable}`"


def _of_groups(looked: LookedAt, some: int, reach: Reach) -> str:
    if not looked.query.partition:
        return f"the events{_among(looked, reach)}"
    names = listed((f"`{name}`" for name in looked.query.partition), "and")
    return f"{some:,} of {many(len(reach.events.group_starts) - 1, 'group')} of {names}{_among(looked, reach)}"


def _among(looked: LookedAt, reach: Reach) -> str:
    """What a sentence is about, where that is not all there is."""
    return looked.among if reach.is_whole else f" from the first {len(reach.starts):,} events with which it may begin"


def _failing(looked: LookedAt, reach: Reach, onward: tuple[Edge, ...], at: Ints) -> str:
    """That events of a type that is awaited are behind, and what they fail."""
    events = reach.events
    instants = np.searchsorted(events.instant_starts, at, side="right")
    behind = np.zeros(events.length + 1, dtype=np.int64)  # from how many places each is reached
    np.add.at(behind, events.instant_starts[instants], 1)
    np.add.at(behind, events.group_starts[events.groups[at] + 1], -1)
    later = np.cumsum(behind[:-1]) > 0
    found = []
    for edge in onward:
        letter = looked.letters[edge.letter]
        rows = np.sort(events.order[later & of_type(looked, letter)[events.order]])
        if letter.conditions and len(rows):
            found.append(failing_text(looked, Unsatisfied(letter, edge.variable), rows, "later "))
    return f" that fits: {listed(found, 'and')}" if found else ""


def _instead(looked: LookedAt, reach: Reach, onward: tuple[Edge, ...], at: Ints, groups: Any) -> str:
    """Where what is awaited is, if it is not behind: in the same instant, or before."""
    events = reach.events
    mask = looked.satisfying({edge.letter for edge in onward})[events.order]
    places = np.append(np.flatnonzero(mask), events.length)
    instants = np.searchsorted(events.instant_starts, at, side="right") - 1
    begins, ends = events.instant_starts[instants], events.instant_starts[instants + 1]
    if (places[np.searchsorted(places, begins)] < ends).any():
        return f"; one comes at the same time, and what has one time has no order: {order_cure(looked.stream)}"
    if np.isin(events.groups[np.flatnonzero(mask)], groups).any():
        return "; those there are come earlier"
    return ""


def _fitting(looked: LookedAt, reach: Reach) -> Bools:
    """From which beginnings what completes the pattern soonest lies in a window."""
    window, events = looked.query.window, reach.events
    complete = reach.completed < events.length
    ticks = np.append(looked.reading.ticks[events.order], 0)
    first, last = ticks[reach.starts], ticks[reach.completed]
    match window:
        case Sliding():
            in_one = last < window.end(window.last_holding(first))
            return np.asarray(complete & in_one & (last - first < window.match_span))
        case MatchBound(span):
            return np.asarray(complete & (last - first < span))
    return np.asarray(complete)


def _too_short(looked: LookedAt, reach: Reach, window: Sliding | MatchBound) -> str:
    events = reach.events
    complete = reach.completed < events.length
    ticks = looked.reading.ticks[events.order]
    soonest = int((ticks[reach.completed[complete]] - ticks[reach.starts[complete]]).min())
    within, takes = duration(window.match_span, looked.stream), duration(soonest, looked.stream)
    if isinstance(window, Sliding) and soonest < window.match_span:
        long, slide = duration(window.span, looked.stream), duration(window.slide, looked.stream)
        return (
            f"what completes the pattern soonest takes {takes}{_among(looked, reach)}, and lies in none of the windows "
            f"of {long}, of which one begins each {slide}: a smaller SLIDE makes more"
        )
    return f"WITHIN {within} is too short: what completes the pattern soonest takes {takes}{_among(looked, reach)}"


# ---- HAVING, and what has to be tried --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Sample:
    """Rows of groups in which the pattern is completed in time; `where` says how many they are if not all."""

    rows: Ints
    where: str


def _sample(reach: Reach, fitting: Bools, room: int) -> _Sample:
    """Whole groups as far as there is room; of a larger one the events around the first completion."""
    events = reach.events
    beginnings = np.flatnonzero(fitting)
    groups, first = np.unique(events.groups[reach.starts[beginnings]], return_index=True)
    chosen: list[Ints] = []
    left = room
    for group, start in zip(groups.tolist(), beginnings[first].tolist(), strict=True):
        low, high = (int(events.group_starts[group + i]) for i in (0, 1))
        if high - low > left:
            if chosen:
                break
            low = int(reach.starts[start])
            high = min(high, low + 10 * room, max(low + room, int(reach.completed[start]) + 1))
        chosen.append(np.arange(low, high))
        left -= high - low
    rows = np.sort(events.order[np.concatenate(chosen)])
    if len(chosen) == len(groups) and (len(groups) > 1 or len(rows) == events.length):
        return _Sample(rows, "")
    what = many(len(chosen), "group") if len(events.group_starts) > 2 else many(len(rows), "event")
    return _Sample(rows, f" in the {what} looked at")


def _refused(looked: LookedAt, having: Expression, sample: _Sample, sources: Mapping[str, Source]) -> str | None:
    """Whether there are rows that HAVING leaves out."""
    query, finder, rows = looked.query, looked.finder, sample.rows
    text = describe(having)
    with suppress(RunError, TooManyPartialMatchesError, EvaluationError):
        if query.kind == "aggregate":
            first, count = first_row(finder, having_query(query, having), rows, sources)
            if first is None:
                return None
            values = having_values(having, first)
        else:
            bare = replace(query, having=None, outputs=(), each=False)
            match = finder.first(bare, rows)
            plan = finder.plan(bare)
            if match is None or plan is None:
                return None
            events = Read(looked.reading.table.take(pa.array(rows)), len(rows), 0, None)
            tables = execute_plan(
                strategy(plan, "local"), events, [bare], sources, resources=Resources(PARTIAL_MATCHES)
            ).tables
            values, count = match_having_values(finder, query, having, match), tables[query.name].num_rows
        one, several = ("match", "matches") if query.each else ("row", "rows")
        row = f"is not true for the only {one}" if count == 1 else f"is true for none of {count:,} {several}"
        of = ":" if count == 1 else "; of the first:"
        return f"HAVING {text} {row}{sample.where}{of} {with_values(having, values)}"
    return None


def _stopped(looked: LookedAt, sample: _Sample) -> Sentences:
    """What the query must do without for a match to stand."""
    query, finder = looked.query, looked.finder
    if len(constraints_of(query)) > CONSTRAINTS:
        return
    asked = Question(replace(query, having=None), sample.rows)
    if finder.first(asked.query, asked.rows) is not None:  # what stops it lies outside
        return
    found = missing(finder, asked)
    if not isinstance(found, Stopped):
        return
    values = ValueTexts(looked.reading, finder.stream, ())
    names = listed((constraint_text(c, query, looked.stream) for c in found.by), "and")
    events = listed((values.named(bound.row) for bound in found.match), "and")
    yield f"without {names} there would be a match{sample.where}: {events}"
