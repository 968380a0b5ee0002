"""One step of a bucket: new events and a watermark in, rows out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..events import read, select, ticks_of
from .decision import Decision, Windows
from .matches import Step, chosen, decided
from .state import Held, State
from .ticks import BEGIN, END, before
from .windows import closed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..columns import Bools, Ints
    from ..events import Reading
    from ..plan import QueryPlan
    from .program import Program


@dataclass(frozen=True)
class Late:
    """Events of a class that came after the bucket's watermark had passed them, and took part in nothing."""

    number: int
    events: Any


@dataclass(frozen=True)
class Advanced:
    """`rows` are tables with the number of their query. `due` is the next watermark at which there may be rows, if no event comes
    before; None where there is none.
    """

    state: State
    rows: tuple[tuple[int, Any], ...]
    late: tuple[Late, ...]
    due: int | None


def advance(program: Program, state: State, events: Sequence[Any], watermark: int) -> Advanced:
    """The rows that become known as the watermark goes on, each given once whatever comes later.

    `events` are tables of new events, one for each class, in any order. What is before the state's watermark is late; what is not
    counts, even where it is before the new one. A watermark never goes back. Raises what the queries fail with.
    """
    step = Step(state.watermark, max(state.watermark, watermark))
    held: list[Held | None] = []
    rows: list[tuple[int, Any]] = []
    late: list[Late] = []
    dues: list[int] = []
    for number, table in enumerate(events):
        old = state.held[number] if state.held else None
        reading, missed = _joined(program, old, table, step.earlier)
        if missed is not None:
            late.append(Late(number, missed))
        if reading is None:
            held.append(None)
            continue
        passed = _passed(program, number, old, len(reading.ticks))
        rows += _class_rows(program, number, reading, step, passed)
        kept = _kept(program, number, reading, passed, step.watermark)
        held.append(kept)
        if kept is not None:
            dues += _dues(
                program, number, ticks_of(kept.events.column(program.plan.stream.time_column)), step.watermark
            )
    return Advanced(State(step.watermark, tuple(held)), tuple(rows), tuple(late), min(dues, default=None))


def flow(program: Program, tables: Iterable[Any], least: int) -> Iterator[tuple[int, Any]]:
    """The rows of a program of one class, as they are found, of events that come in the order of time.

    Beside events that are held for rows that are not known yet, `least` events are taken at a time, or as many as are held.
    """
    held: Held | None = None
    earlier, waiting = BEGIN, list[Any]()
    for table in chain(tables, [None]):
        if table is not None:
            waiting.append(table)
            if sum(t.num_rows for t in waiting) < max(least, 0 if held is None else held.events.num_rows):
                continue
        reading, _ = _joined(program, held, pa.concat_tables(waiting), earlier)
        if reading is not None:
            watermark = END if table is None else int(reading.ticks[-1])  # more events of the last instant may come
            passed = _passed(program, 0, held, len(reading.ticks))
            yield from _class_rows(program, 0, reading, Step(earlier, watermark), passed)
            held, earlier = _kept(program, 0, reading, passed, watermark), watermark
        waiting = [waiting[0].slice(0, 0)]


def _joined(program: Program, old: Held | None, table: Any, earlier: int) -> tuple[Reading | None, Any]:
    """The events of a class held and new, in this order, and those that come too late."""
    stream, missed = program.plan.stream, None
    if table.num_rows:
        table = read(table, stream).table
        late = before(ticks_of(table.column(stream.time_column)), earlier)
        if late.any():
            table, missed = table.filter(pa.array(~late)), table.filter(pa.array(late))
    if old is not None and table.num_rows:
        table = pa.concat_tables([old.events, table.select(old.events.column_names).cast(old.events.schema)])
    elif old is not None:
        table = old.events
    return (read(table, stream) if table.num_rows else None), missed


def _passed(program: Program, number: int, old: Held | None, length: int) -> dict[int, Bools]:
    """With which events no match of a query begins any more; with new ones it may."""
    found = {}
    for query in program.classes[number].queries:
        if query in program.beginning:
            before_these = old.passed[query] if old is not None else np.zeros(0, dtype=np.bool_)
            found[query] = np.concatenate([before_these, np.zeros(length - len(before_these), dtype=np.bool_)])
    return found


def _class_rows(
    program: Program, number: int, reading: Reading, step: Step, passed: dict[int, Bools]
) -> Iterator[tuple[int, Any]]:
    """The rows of a class. When all are given, `passed` says with which events no match begins from then on."""
    plan = program.plan
    final = before(reading.ticks, step.watermark)
    known = reading if final.all() else select(reading, final)
    for windows, queries in _by_windows(program, number):
        numbers = {plan.queries[q].name: q for q in queries}
        found = closed(known, plan, [plan.queries[q] for q in queries], windows, step.earlier, step.watermark)
        yield from ((numbers[name], table) for name, table in found if table.num_rows)
    for q, query, decision in _match_queries(program, number):
        if q in passed:
            tables: Iterable[Any]
            marks = passed[q].copy()
            tables, marks[final] = chosen(known, plan, query, program.beginning[q], decision, step, passed[q][final])
            passed[q] = marks
        else:
            tables = decided(known, plan, query, decision, step)
        yield from ((q, table) for table in tables if table.num_rows)


def _by_windows(program: Program, number: int) -> Iterator[tuple[Windows, list[int]]]:
    found: dict[Windows, list[int]] = {}
    for q in program.classes[number].queries:
        decision = program.decisions[q]
        if isinstance(decision, Windows):
            found.setdefault(decision, []).append(q)
    yield from found.items()


def _match_queries(program: Program, number: int) -> Iterator[tuple[int, QueryPlan, Decision]]:
    for q in program.classes[number].queries:
        decision = program.decisions[q]
        if isinstance(decision, Decision):
            yield q, program.plan.queries[q], decision


def _kept(program: Program, number: int, reading: Reading, passed: dict[int, Bools], watermark: int) -> Held | None:
    """What later rows may need."""
    kept = ~before(reading.ticks, program.needed_from(number, watermark))
    if not kept.any():
        return None
    events = reading.table if kept.all() else reading.table.filter(pa.array(kept))
    return Held(events, {q: marks[kept] for q, marks in passed.items()})


def _dues(program: Program, number: int, ticks: Ints, watermark: int) -> list[int]:
    found = (program.decisions[q].due(ticks, watermark) for q in program.classes[number].queries)
    return [due for due in found if due is not None]
