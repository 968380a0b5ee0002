"""A batch on several threads: each of its parts is a stretch, whose rows the one driver finds.

What takes time are loops of machine code, of numpy and of Arrow over many events, for which other threads need not
wait. What is Python's costs every part the same; so there are as many parts as threads, and no small ones. Of many
events there are more parts, one thread's too, for what each of them makes takes no more memory than one part's.

Rows are those of one thread, and so are errors: where a part fails, what is not done yet is done again by one thread,
whose error it is. That finds rows after all where a part was too much because some events are in two.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from ..cheap_dataclass import dataclass
from ..drive import by_strategy, drive, found_together, kinds_of, letters_asked
from ..enumerate.budget import budget_over
from ..events.columns_read import narrowed
from ..events.grouped import select
from ..events.letters import Kinds, Typed, classify, renumbered
from ..events.stretch import Stretch
from ..plan.query import by_partition
from ..plan.strategy import is_counted
from ..work_done import Work
from .at_once import at_once, tried
from .classes import classes_of
from .cutting import begins_in, parts_of
from .found import Found

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..enumerate.budget import MatchBudget
    from ..events.stretch import Means
    from ..kernel.run import Effort
    from ..plan.strategy import PhysicalQuery
    from .cutting import Part
    from .resources import Resources


class OverError(BaseException):
    """Nobody waits for this part any more. No `Exception`, which some try for."""


def drive_in_threads(
    stretch: Stretch, queries: Sequence[PhysicalQuery], means: Means, resources: Resources
) -> Iterator[tuple[str, Any]]:
    """What `drive` gives, on as many threads as have events enough; tables that do not fit into memory are Mapped.
    Queries of a part of a batch have their budgets from the means.
    """
    events = len(stretch.reading.ticks)
    pieces = max(min(resources.threads, events // max(resources.few, 1)), 1)
    is_long = events > resources.many and any(one.keys for one in classes_of(queries))
    if pieces < 2 and not is_long:
        yield from drive(stretch, queries, means)
        return
    kinds = _kinds(stretch, queries, pieces)
    lists = parts_of(stretch.reading, kinds, stretch.plan.stream, queries, pieces, resources.many)
    over, told, spent = Event(), _Told(means.work), {name: budget.spent for name, budget in means.budgets.items()}
    means_of_all = means if means.budgets else replace(means, budgets=_budgets(kinds, queries, means.most))
    most = None if resources.found is None else resources.found // sum(map(len, lists))
    tasks = [
        partial(_rows, stretch, kinds, part, replace(means_of_all, work=told.of(part, parts, over)), most)
        for parts in lists
        for part in parts
    ]
    ended = tried(tasks, resources.threads, over)
    for outcome in ended:
        if not outcome.cancelled() and _ends_all(error := outcome.exception()):
            raise error
    outcomes, left = iter(ended), set[str]()
    for parts in lists:
        found = [next(outcomes) for _ in parts]
        names = {query.name for query in parts[0].queries}
        if any(outcome.cancelled() or outcome.exception() for outcome in found):
            left |= names
            continue
        means.work.finished(len(names))
        for outcome in found:
            rows, effort = outcome.result()
            means.work.spent(effort)
            yield from rows
    if left:
        again = [query for query in queries if query.name in left]
        for name in left & set(spent):
            means.budgets[name].back_to(spent[name])
        fresh = means if means.budgets else replace(means, budgets=_budgets(kinds, queries, means.most))
        yield from drive(stretch, again, fresh)


def _ends_all(error: BaseException | None) -> TypeGuard[BaseException]:
    """Whether it ends the run, as an interruption does, and one thread is not to try again."""
    return error is not None and not isinstance(error, Exception | OverError)


def _rows(
    stretch: Stretch, kinds: Kinds, part: Part, means: Means, most: int | None
) -> tuple[list[tuple[str, Any]], Effort]:
    """The rows of a part, of which so many bytes are in memory, and what they took."""
    rows = part.rows()
    reading = select(narrowed(stretch.reading, stretch.plan.stream, part.queries), rows)
    own = Kinds(kinds.of[rows], kinds.letters)
    span = stretch.span.within(part.span)
    known = stretch.known if part.known is None else partial(begins_in, span)
    of_part = Stretch(stretch.plan, reading, span, known, whole=stretch.whole and part.has_groups)
    return list(Found(most).add(by_strategy(of_part, own, part.queries, means)).rows()), means.work.effort


def _kinds(stretch: Stretch, queries: Sequence[PhysicalQuery], pieces: int) -> Kinds:
    """Those of all events, found for ranges of them."""
    reading, asked = stretch.reading, letters_asked(stretch, queries)

    def of_range(low: int, high: int) -> Kinds:
        rows = slice(low, high)
        events = Typed(reading.table.slice(low, high - low), reading.types[rows], reading.names)
        return classify(events, stretch.plan.letters, asked)

    bounds = np.linspace(0, len(reading.ticks), pieces + 1).astype(int).tolist()
    try:
        found = at_once([partial(of_range, low, high) for low, high in pairwise(bounds)], pieces)
    except Exception:  # it comes again, with the query that it is about
        return kinds_of(stretch, queries)
    known: dict[frozenset[int], int] = {}
    places = [np.array([known.setdefault(f, len(known)) for f in k.letters], dtype=np.int32) for k in found]
    of = [renumbered(own.of, place) for place, own in zip(places, found, strict=True)]
    return Kinds(np.concatenate(of), tuple(known))


@dataclass(frozen=True)
class Listed:
    """Queries of one partition whose matches are listed."""

    queries: tuple[PhysicalQuery, ...]

    def count(self, kinds: Kinds) -> int:
        """The events that they look at."""
        from ..enumerate.arranged import mattering  # which few short runs need

        return int(np.count_nonzero(mattering(kinds, self.queries)))


def events_listed(queries: Sequence[PhysicalQuery]) -> list[Listed]:
    """The queries that are not counted."""
    return [Listed(tuple(same)) for same in by_partition(query for query in queries if not is_counted(query))]


def budgets_of(listed: Sequence[Listed], events: Sequence[int], most: int | None) -> dict[str, MatchBudget]:
    """Their budgets, as one thread would have them, where they look at so many events."""
    found: dict[str, MatchBudget] = {}
    for same, many in zip(listed, events, strict=True):
        for together in found_together(same.queries):
            found |= dict.fromkeys((query.name for query in together), budget_over(together, most, many))
    return found


def _budgets(kinds: Kinds, queries: Sequence[PhysicalQuery], most: int | None) -> dict[str, MatchBudget]:
    listed = events_listed(queries)
    return budgets_of(listed, [one.count(kinds) for one in listed], most)


class _Told:
    """Adds up what parts say of their work."""

    def __init__(self, work: Work) -> None:
        self._work, self._lock = work, Lock()
        self._done: list[float] = []

    def of(self, part: Part, parts: Sequence[Part], over: Event) -> Work:
        """The work of a part, which ends when all is `over`."""
        queries, number = len(part.queries), len(self._done)
        weight = queries * part.size / max(sum(one.size for one in parts), 1)
        self._done.append(0.0)

        def tell(fraction: float) -> None:
            if over.is_set():
                raise OverError
            with self._lock:
                self._done[number] = weight * fraction
                self._work.reached(sum(self._done))

        return Work(queries, tell)
