"""Why there is no match, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.after import SkipFor

from ..diagnostics.listed import listed
from ..explaining.describe import duration
from .constraints import (
    AfterMatchConstraint,
    Constraint,
    Joint,
    Local,
    Negated,
    PartConstraint,
    SelectionConstraint,
    WithinConstraint,
)
from .missing import BeginsElsewhen, Question, Stopped, Unfinished, came, missing, spoiled_by
from .scope import equals, time_text
from .values import condition_values, local_text
from .wording import constraint_text, order_cure

if TYPE_CHECKING:
    from cepc_runtime.plan.positions import Edge
    from cepc_runtime.plan.stream import Letter

    from .. import model
    from .finder import Finder, Match
    from .values import ValueTexts

Lines = Iterator[str]

SHOWN = 3  # tuples of one condition, events that came and failed


@dataclass(frozen=True)
class Absent:
    """Explains a query that has no match among some events, which are from `since` on if that is given."""

    finder: Finder
    asked: Question
    stream: model.Stream
    values: ValueTexts
    since: int | None = None

    def lines(self) -> Lines:
        match missing(self.finder, self.asked):
            case None:
                yield "There are too many partial matches to say what is nearest; --group and --window narrow it down."
            case Stopped() as stopped:
                yield from self._stopped(stopped)
            case BeginsElsewhen(ticks):
                times = " and ".join(time_text(tick, self.stream) for tick in ticks)
                nearest = "times at which one could begin are" if len(ticks) > 1 else "time at which one could begin is"
                yield f"No match begins then; the nearest {nearest} {times}."
            case Unfinished() as unfinished:
                yield from self._unfinished(unfinished)

    # ---- a match that something stopped ------------------------------------------------------------------------------

    def _stopped(self, stopped: Stopped) -> Lines:
        yield "The nearest is this:"
        yield ""
        yield from (f"    {line}" for line in self.values.match_lines(stopped.match))
        yield ""
        if len(stopped.by) == 1:
            yield f"It is stopped by {self._named(stopped.by[0])}."
        else:
            yield f"It is stopped by {len(stopped.by)} things together:"
        for constraint in stopped.by:
            if len(stopped.by) > 1:
                yield f"  {self._named(constraint)}"
            yield from (f"    {line}" for line in self._evidence(stopped, constraint))
        if stopped.others:
            yield ""
            yield f"There would also be a match without {' or without '.join(map(self._named, stopped.others))}."

    def _named(self, constraint: Constraint) -> str:
        return constraint_text(constraint, self.asked.query, self.stream)

    def _evidence(self, stopped: Stopped, constraint: Constraint) -> Lines:
        """What shows that the constraint is not met."""
        match constraint:
            case Local() | Joint():
                tried = condition_values(self.values, self.asked.query, constraint, stopped.match)
                failed = [t for t in tried if not t.holds]
                for one in failed[:SHOWN]:
                    events = ", ".join(map(self.values.named, one.rows))
                    yield f"{one.text} is not true" + (f", for {events}" if events else "")
                if len(failed) > SHOWN:
                    yield f"and {len(failed) - SHOWN} more"
                if not tried:
                    yield "it is not true in each iteration of the pattern"
            case Negated() | SelectionConstraint() | PartConstraint():
                rows = spoiled_by(self.finder, self.asked, stopped, constraint)
                what = "this came" if isinstance(constraint, Negated) else "this may not be skipped"
                for line in self.values.event_lines([(row, self.values.type(row)) for row in rows]):
                    yield f"{what}: {line}"
            case AfterMatchConstraint():
                taken = self._taken(stopped.match)
                if taken is not None:
                    events = ", ".join(self.values.named(b.row) for b in taken)
                    yield f"{self._going_on()}: {events}"
            case WithinConstraint(gap, session):
                yield from self._apart(stopped, gap) if session else self._span(stopped)

    def _taken(self, match: Match) -> Match | None:
        """The match behind whose end the other begins too early: of those of its group the last before it."""
        table, rows, first = self.finder.reading.table, self.asked.rows, match[0].row
        for name in self.asked.query.partition:
            column = table.column(name)
            rows = rows[equals(column, column[first])[rows]]
        return self.finder.last(self.asked.query, rows, int(self.finder.reading.ticks[first]))

    def _going_on(self) -> str:
        after = self.asked.query.after
        if not isinstance(after, SkipFor):
            return "an earlier match is gone on from"
        return f"it begins less than {duration(after.ticks, self.stream)} after the end of an earlier match"

    def _apart(self, stopped: Stopped, gap: int) -> Lines:
        """The events of one match in several sessions."""
        inside, starts = self.finder.sessions(self.asked.query)
        if not all(inside[bound.row] for bound in stopped.match):
            yield "not all of its events are of types that the query mentions, and only such make a session"
            return
        begun = dict.fromkeys(int(starts[bound.row]) for bound in stopped.match)
        times = listed((time_text(start, self.stream) for start in sorted(begun)), "and")
        yield f"its events are in the sessions that begin at {times}"
        yield f"between two sessions of a group no event comes for {duration(gap, self.stream)}"

    def _span(self, stopped: Stopped) -> Lines:
        ticks = [int(self.finder.reading.ticks[b.row]) for b in stopped.match]
        span, within = max(ticks) - min(ticks), self.asked.query.window.match_span
        yield f"from its first event to its last it takes {duration(span, self.stream)}"
        if self.asked.query.kind == "aggregate" and within is not None and span < within:
            yield "no window holds all of it; with a smaller SLIDE there are more windows"

    # ---- a pattern that was not completed ----------------------------------------------------------------------------

    def _unfinished(self, found: Unfinished) -> Lines:
        reached = found.reached
        if reached.match:
            yield "The pattern came as far as this:"
            yield ""
            yield from (f"    {line}" for line in self.values.match_lines(reached.match))
            yield ""
        elif not len(self.asked.rows):
            yield "There are no events of the group in the window."
            return
        else:
            yield "The pattern does not even begin."
        after = int(self.finder.reading.ticks[reached.match[-1].row]) if reached.match else None
        for edge in found.edges:
            yield from self._awaited(edge, found, after)

    def _awaited(self, edge: Edge, found: Unfinished, after: int | None) -> Lines:
        letter = found.plan.letters[edge.letter]
        what = letter.raw_type or "an event"
        called = "" if edge.variable == what else f" for {edge.variable}"
        then = "Then " if after is not None else ""
        here = came(self.finder, letter, found.rows, after)
        if not here:
            yield f"{then}{what} is awaited{called}, and none comes{self._elsewhere(letter, found, after)}."
            return
        none = "one comes and does not pass" if len(here) == 1 else f"of {len(here):,} that come, none passes"
        yield f"{then}{what} is awaited{called}; {none}:"
        for row in here[:SHOWN]:
            yield f"    {self.values.event_lines([(row, what)])[0]}"
            for condition in letter.conditions:
                tried = self.values.local(condition, row, edge.variable)
                if not tried.holds:
                    yield f"      {local_text(condition, edge.variable)} is not true: {tried.text}"

    def _elsewhere(self, letter: Letter, found: Unfinished, after: int | None) -> str:
        """Where such an event is that does not count here."""
        reading, partition = self.finder.reading, self.asked.query.partition
        if self._at_once(letter, found):
            return f" later: one comes at the same time, and what has one time has no order; {order_cure(self.stream)}"
        everywhere = np.arange(len(reading.ticks))
        same = np.ones(len(everywhere), dtype=np.bool_)
        for name in partition if len(found.rows) else ():
            column = reading.table.column(name)
            same &= equals(column, column[int(found.rows[0])])
        other = ~same
        same[found.rows] = False
        before, late = self._parted(came(self.finder, letter, everywhere[same], after))
        if late:
            return f" in time: the next is at {self.values.time(late[0])}"
        if before:
            return f" in the window: the last before it is at {self.values.time(before[-1])}"
        before, late = self._parted(came(self.finder, letter, everywhere[other], after))
        if late or before:
            row = late[0] if late else before[-1]
            which = "next" if late or self.since is None else f"last before {time_text(self.since, self.stream)}"
            whose = ", ".join(f"{name} = {self.values.value(row, name)}" for name in partition)
            return f" in this group: the {which} is of {whose}, at {self.values.time(row)}"
        if came(self.finder, letter, everywhere, None):
            return "" if after is None else " later: all are earlier"
        return ": there is none among all events"

    def _parted(self, rows: list[int]) -> tuple[list[int], list[int]]:
        """Those before the window that is asked about, and the others."""
        ticks, since = self.finder.reading.ticks, self.since
        if since is None:
            return [], rows
        return [row for row in rows if ticks[row] < since], [row for row in rows if ticks[row] >= since]

    def _at_once(self, letter: Letter, found: Unfinished) -> bool:
        """Whether such an event of the group stands in the instant of the last one."""
        if not found.reached.match:
            return False
        reading, last = self.finder.reading, found.reached.match[-1].row
        rows = found.rows[reading.ticks[found.rows] == reading.ticks[last]]
        for name in self.finder.stream.order_by:
            column = reading.table.column(name)
            rows = rows[equals(column, column[last])[rows]]
        bound = {event.row for event in found.reached.match}
        return any(row not in bound for row in came(self.finder, letter, rows, None))
