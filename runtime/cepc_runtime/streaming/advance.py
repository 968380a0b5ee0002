"""One step of a bucket: new events and a watermark in, rows out."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..cheap_dataclass import dataclass
from ..drive import found_together
from ..events.grouped import read, select, ticks_of
from ..events.letters import classify
from ..events.sessions import by_sessions
from ..plan.select import SelectContiguous
from ..plan.strategy import letters_read
from ..sql.types import to_arrow
from .decision import Decision, Windows
from .description import words
from .folding import Fold, Known, reads
from .foreseen import still_needed
from .held import Held, Panes
from .lags import letters_decided, with_lags, without_lags
from .matches import Advance, Behind, chosen, decided
from .quiet import still
from .row_numbers import with_row_numbers
from .sessions import ended
from .state import State
from .ticks import BEGIN, END, before
from .windows import closed

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterable, Iterator, Sequence

    from ..events.grouped import Reading
    from ..events.letters import Kinds
    from ..numbers.columns import Bools, Ints
    from ..plan.physical import PhysicalPlan
    from .program import Program


@dataclass(frozen=True)
class Late:
    """Events of a class that came after the bucket's watermark had passed them, and took part in nothing."""

    number: int
    events: Any


@dataclass(frozen=True)
class Advanced:
    """`rows` are tables with the number of their query. `due` is the next watermark at which there may be rows, if no
    event comes before; None where there is none.
    """

    state: State
    rows: tuple[tuple[int, Any], ...]
    late: tuple[Late, ...]
    due: int | None


def advance(program: Program, state: State, events: Sequence[Any], watermark: int) -> Advanced:
    """The rows that become known as the watermark goes on, each given once whatever comes later.

    `events` are tables of new events, one for each class, in any order. What is before the state's watermark is late;
    what is not counts, even where it is before the new one. A watermark never goes back. Raises what the queries fail
    with.
    """
    step = Advance(state.watermark, max(state.watermark, watermark), program.most)
    kept: list[_OfClass] = []
    rows: list[tuple[int, Any]] = []
    late: list[Late] = []
    for number, table in enumerate(events):
        old = _OfClass.of(program, state, number)
        reading, missed = old.joined(table, step.earlier)
        if missed is not None:
            late.append(Late(number, missed))
        rows += old.rows(reading, step)
        kept.append(old)
    held, folded = tuple(one.held for one in kept), tuple(one.folded for one in kept)
    quiet, numbered = tuple(one.quiet for one in kept), tuple(one.numbered for one in kept)
    lags = tuple(one.lags for one in kept)
    now = State(step.watermark, held, folded, sum(one.waiting for one in kept), quiet, numbered, lags)
    return Advanced(now, tuple(rows), tuple(late), due_of(program, now))


def due_of(program: Program, state: State) -> int | None:
    """The next watermark at which a bucket in this state may have rows, as `Advanced.due` says."""
    of_classes = (_OfClass.of(program, state, n) for n in range(len(program.classes)))
    return min((due for one in of_classes for due in one.dues(state.watermark)), default=None)


def flow(program: Program, tables: Iterable[Any], least: int) -> Iterator[tuple[int, Any]]:
    """The rows of a program of one class, as they are found, of events that come in the order of time.

    Beside events that are held for rows that are not known yet, `least` events are taken at a time, or as many as are
    held.
    """
    of_class = _OfClass.of(program, State(), 0)
    earlier, waiting = BEGIN, list[Any]()
    for table in chain(tables, [None]):
        if table is not None:
            waiting.append(table)
            if sum(t.num_rows for t in waiting) < max(least, of_class.length):
                continue
        reading, _ = of_class.joined(pa.concat_tables(waiting), earlier)
        if table is None:
            yield from of_class.rows(reading, Advance(earlier, END, program.most))
        elif reading is not None:
            watermark = int(reading.ticks[-1])  # more events of the last instant may come
            yield from of_class.rows(reading, Advance(earlier, watermark, program.most))
            earlier = watermark
        waiting = [waiting[0].slice(0, 0)]


@dataclass
class _OfClass:
    """What a class of queries keeps; when all `rows` of a step are taken, what it keeps after it."""

    program: Program
    number: int
    held: Held | None
    folded: tuple[Panes | None, ...]
    quiet: dict[int, Any]
    numbered: dict[int, Any]
    lags: tuple[Any, ...]
    waiting: int = 0

    @classmethod
    def of(cls, program: Program, state: State, number: int) -> _OfClass:
        """That of a state, which may be of a bucket that had no events yet."""
        if not state.held:
            folded, lags = (None,) * len(program.families[number]), (None,) * len(program.lags[number])
            return cls(program, number, None, folded, {}, {}, lags)
        kept = state.held[number], state.folded[number], state.quiet[number], state.numbered[number]
        return cls(program, number, *kept, state.lags[number])

    @property
    def length(self) -> int:
        return 0 if self.held is None else int(self.held.events.num_rows)

    def joined(self, table: Any, earlier: int) -> tuple[Reading | None, Any]:
        """The events held and new, in this order, and those that come too late. The queries may see none before a
        tick.
        """
        stream, since, missed = self.program.plan.stream, self.program.classes[self.number].since, None
        if table.num_rows:
            table = read(without_lags(table, stream.beside), stream).table
            if since is not None:
                table = table.filter(pa.array(~before(ticks_of(table.column(stream.time_column)), since)))
            late = before(ticks_of(table.column(stream.time_column)), earlier)
            if late.any():
                table, missed = table.filter(pa.array(~late)), table.filter(pa.array(late))
        old = self.held
        if old is not None and table.num_rows:
            table = pa.concat_tables([old.events, table.select(old.events.column_names).cast(old.events.schema)])
        elif old is not None:
            table = old.events
        return (read(table, stream) if table.num_rows else None), missed

    def rows(self, reading: Reading | None, step: Advance) -> Iterator[tuple[int, Any]]:
        """The rows of a step, as they are found. `reading` are the events held and those that are new, in this
        order.
        """
        self.waiting = 0
        if reading is None and not any(self.folded):
            self.held = None
            self.quiet = _present({q: still(quiet, step.watermark) for q, quiet in self.quiet.items()})
            return
        plan, number = self.program.plan, self.number
        if reading is None:
            reading = read(_empty(plan), plan.stream)
        passed = self._passed(len(reading.ticks))
        final = before(reading.ticks, step.watermark)
        new = final & ~before(reading.ticks, step.earlier)
        if self.program.numbers is not None:
            reading = with_row_numbers(reading, final, new, self.program.numbers)
        if self.program.lags[number]:
            reading = self._lagged(reading, new)
        known = reading if final.all() else select(reading, final)
        alone = set(self.program.classes[number].queries) - {
            q for f in self.program.families[number] for q, _ in f.queries
        }
        for windows, queries in _by_windows(self.program, number, alone):
            numbers = {plan.queries[q].name: q for q in queries}
            found = closed(known, plan, [plan.queries[q] for q in queries], windows, step)
            yield from ((numbers[name], table) for name, table in found if table.num_rows)
        going_on = yield from self._sessions(reading, step)
        yield from self._listed(known, final, passed, step)
        self.quiet, self.numbered = _present(self.quiet), _present(self.numbered)
        kept = ~before(reading.ticks, self.program.needed_from(number, step.watermark))
        if self.program.families[number]:
            kept[final] = yield from self._counted(known, alone, step, going_on[final])
        elif self.program.lags[number]:  # for which there are events that no query looks at
            kept[final] = _needed(self.program, known, classify(known, plan.letters), alone, step.watermark)
        kept |= going_on
        if self.program.lags[number]:
            kept |= ~final  # for those that follow, also between windows
        if self.program.forgetting_early[number]:
            kept &= still_needed(reading, self.program.classes[number].keys, passed.values())
        self.held = _held(reading, passed, kept)

    def _lagged(self, reading: Reading, new: Bools) -> Reading:
        """The events, of which the `new` ones are known from now on, with all before them."""
        plan, number = self.program.plan, self.number
        found = with_lags(reading, new, plan.stream, self.program.lags[number], self.lags)
        self.lags = found.kept
        return letters_decided(found.events, new, plan.letters, self.program.asking[number])

    def _listed(
        self, known: Reading, final: Bools, passed: dict[int, Bools], step: Advance
    ) -> Iterator[tuple[int, Any]]:
        """The rows of match queries. `passed` is changed: with which events no match begins from now on; and so is what
        is silent, and what has been numbered.
        """
        plan = self.program.plan
        rows: Iterator[tuple[str, Any]]
        matched = {plan.queries[q].name: (q, decision) for q, decision in _match_queries(self.program, self.number)}
        for together in found_together([plan.queries[q] for q, _ in matched.values()]):
            if (q := matched[together[0].name][0]) in passed:
                (query,), marks = together, passed[q].copy()
                decision = matched[query.name][1]
                behind = Behind(passed[q][final], self.quiet.get(q), self.numbered.get(q))
                found, behind = chosen(known, plan, query, self.program.beginning[q], decision, step, behind)
                marks[final], self.quiet = behind.passed, {**self.quiet, q: behind.quiet}
                self.numbered = {**self.numbered, q: behind.numbered}
                passed[q] = marks
                rows = ((query.name, table) for table in found)
            else:
                rows = decided(known, plan, {query: matched[query.name][1] for query in together}, step)
            yield from ((matched[name][0], table) for name, table in rows if table.num_rows)

    def _sessions(self, reading: Reading, step: Advance) -> Generator[tuple[int, Any], None, Bools]:
        """The rows of queries with WITHIN SESSION; and which events are of sessions that go on."""
        plan, going_on = self.program.plan, np.zeros(len(reading.ticks), dtype=np.bool_)
        numbers = {plan.queries[q].name: q for q in self.program.classes[self.number].queries}
        for (sessions, _), queries in by_sessions(plan.queries[q] for q in numbers.values()).items():
            found, own = ended(reading, plan, queries, sessions, step)
            yield from ((numbers[name], table) for name, table in found if table.num_rows)
            going_on |= own
        return going_on

    def _counted(
        self, known: Reading, alone: Collection[int], step: Advance, going_on: Bools
    ) -> Generator[tuple[int, Any], None, Bools]:
        """The rows of queries whose events are folded; and which events are still needed, also by the queries that
        stand alone.
        """
        program, plan = self.program, self.program.plan
        kinds = classify(known, plan.letters)
        needed = going_on | _needed(program, known, kinds, alone, step.watermark)
        events, folded = Known(known, kinds, ~needed), []
        for family, old in zip(program.families[self.number], self.folded, strict=True):
            windows = {q: own for q, _ in family.queries if isinstance(own := program.decisions[q], Windows)}
            keys = program.classes[self.number].keys
            done = Fold(plan, family, windows, keys, program.least(family), program.enough(family), step).run(
                events, old
            )
            yield from ((q, table) for q, table in done.rows if table.num_rows)
            folded.append(done.panes)
            self.waiting += done.waiting
            needed = needed | done.needed
        self.folded = tuple(folded)
        return needed

    def _passed(self, length: int) -> dict[int, Bools]:
        """With which of so many events no match of a query begins any more; with new ones it may."""
        found = {}
        for query in self.program.classes[self.number].queries:
            if query in self.program.beginning:
                before_these = self.held.passed[query] if self.held is not None else np.zeros(0, dtype=np.bool_)
                found[query] = np.concatenate([before_these, np.zeros(length - len(before_these), dtype=np.bool_)])
        return found

    def dues(self, watermark: int) -> Iterator[int]:
        """The next watermarks at which queries may have rows."""
        if self.held is not None:
            ticks = ticks_of(self.held.events.column(self.program.plan.stream.time_column))
            yield from self._dues(self.program.classes[self.number].queries, ticks, watermark)
        for family, panes in zip(self.program.families[self.number], self.folded, strict=True):
            if panes is not None:
                yield from self._dues([q for q, _ in family.queries], family.times.start(panes.folded.panes), watermark)

    def _dues(self, queries: Iterable[int], ticks: Ints, watermark: int) -> Iterator[int]:
        found = (decision.due(ticks, watermark) for decision in {self.program.decisions[q] for q in queries})
        yield from (due for due in found if due is not None)


def _empty(plan: PhysicalPlan) -> Any:
    """No events, which have words of letters where others do."""
    columns = [(name, to_arrow(type_)) for name, type_ in plan.stream.columns]
    return pa.schema([*columns, *((name, pa.int64()) for name in words(plan))]).empty_table()


def _needed(program: Program, known: Reading, kinds: Kinds, queries: Collection[int], watermark: int) -> Bools:
    """Which of the known events one of the queries needs, whose events are not folded."""
    found = np.zeros(len(known.ticks), dtype=np.bool_)
    for q in queries:
        query = program.plan.queries[q]
        looked_at = True if isinstance(query.select, SelectContiguous) else reads(kinds, letters_read(query))
        found |= looked_at & ~before(known.ticks, program.decisions[q].needed_from(watermark))
    return found


def _by_windows(program: Program, number: int, of: Collection[int]) -> Iterator[tuple[Windows, list[int]]]:
    found: dict[Windows, list[int]] = {}
    for q in program.classes[number].queries:
        decision = program.decisions[q]
        if isinstance(decision, Windows) and q in of:
            found.setdefault(decision, []).append(q)
    yield from found.items()


def _match_queries(program: Program, number: int) -> Iterator[tuple[int, Decision]]:
    for q in program.classes[number].queries:
        decision = program.decisions[q]
        if isinstance(decision, Decision):
            yield q, decision


def _present(tables: dict[int, Any]) -> dict[int, Any]:
    return {query: table for query, table in tables.items() if table is not None}


def _held(reading: Reading, passed: dict[int, Bools], kept: Bools) -> Held | None:
    if not kept.any():
        return None
    events = reading.table if kept.all() else reading.table.filter(pa.array(kept))
    return Held(events, {q: marks[kept] for q, marks in passed.items()})
