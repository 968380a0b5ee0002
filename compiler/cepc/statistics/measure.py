"""Statistics of events that were read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cepc_runtime.events.grouped import arrange, read, select
from cepc_runtime.events.letters import ByType
from cepc_runtime.plan.stream import MICROSECONDS, Letter

from .conditions import letter_text
from .statistics import Grouping, Statistics, TypeStatistics

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from cepc_runtime.events.grouped import Events, Reading
    from cepc_runtime.numbers.columns import Ints

    from ..planning.logical import LogicalPlan


def measure(plan: LogicalPlan, table: Any, listed: Collection[str] | None = None) -> Statistics:
    """The statistics of a table of the plan's columns with events of all types. Raises EvaluationError.

    Where the stream lists its types, others are not told apart: no query can name them.

    Rates are over the time from the first event to the last; of events of one instant nothing can be said but their
    number, and they are taken for those of one second.
    """
    reading = read(table, plan.stream)
    length = len(reading.ticks)
    tick = MICROSECONDS[plan.stream.unit] / 1e6
    span = (int(reading.ticks.max()) - int(reading.ticks.min())) * tick if length else 0.0
    seconds = span or 1.0
    counts = dict(zip(reading.names, np.bincount(reading.types, minlength=len(reading.names)).tolist(), strict=True))
    asked = {letter.raw_type: 0 for letter in plan.letters if letter.raw_type is not None}
    of_stream = None if listed is None else frozenset(listed)
    told = {name: n for name, n in sorted({**asked, **counts}.items()) if of_stream is None or name in of_stream}
    shares = _shares(reading, plan.letters, counts)
    types = {name: TypeStatistics(count / seconds, shares.get(name, {})) for name, count in told.items()}
    anything = TypeStatistics(length / seconds, shares.get(None, {}))
    seen = _seen(reading, plan)
    asked_by = (by for query in plan.queries for by in (query.partition, query.group_by))
    partitions = sorted({(), *(tuple(sorted(set(by))) for by in asked_by)})
    letters = dict.fromkeys((*(Letter(letter.raw_type) for letter in plan.letters), *plan.letters))
    by_type = ByType(seen)
    parts = {letter: by_type.satisfying(letter) for letter in letters if letter.raw_type is not None}
    groupings = {by: _grouping(arrange(seen, plan.stream, by), parts) for by in partitions}
    return Statistics(types, anything, groupings, length, span) if length else Statistics()


def _seen(reading: Reading, plan: LogicalPlan) -> Reading:
    """The events of types that some query looks at: others stand in nobody's way."""
    if plan.stream.raw_types is None:
        return reading
    wanted = frozenset(plan.stream.raw_types)
    return select(reading, np.isin(reading.types, [i for i, name in enumerate(reading.names) if name in wanted]))


def _shares(reading: Reading, letters: Iterable[Letter], counts: dict[str, int]) -> dict[str | None, dict[str, float]]:
    """By type: for each letter and each single condition of one, the share of the type's events that satisfy it."""
    asked = dict.fromkeys(
        part
        for letter in letters
        for part in (
            *(Letter(letter.raw_type, (c,)) for c in letter.conditions),
            *(Letter(letter.raw_type, e) for e in letter.excluded),
            letter,
        )
        if part.conditions or part.excluded
    )
    by_type = ByType(reading)
    found: dict[str | None, dict[str, float]] = {}
    for letter in asked:
        total = len(reading.types) if letter.raw_type is None else counts.get(letter.raw_type, 0)
        if total:
            found.setdefault(letter.raw_type, {})[letter_text(letter)] = len(by_type.satisfying(letter)) / total
    return {name: dict(sorted(shares.items())) for name, shares in found.items()}


def _grouping(events: Events, letters: Mapping[Letter, Ints]) -> Grouping:
    if not events.length:
        return Grouping()
    return Grouping(
        groups=float(len(events.group_starts) - 1),
        largest=float(np.diff(events.group_starts).max() / events.length),
        in_groups_with=_in_groups_with(events, letters) if len(events.group_starts) > 2 else {},
    )


def _in_groups_with(events: Events, letters: Mapping[Letter, Ints]) -> dict[str, dict[str, float]]:
    """By type, and by the conditions of its letters: the share of the events in groups that have one."""
    sizes, group = np.diff(events.group_starts), np.empty_like(events.groups)
    group[events.order] = events.groups
    found: dict[str, dict[str, float]] = {}
    for letter, satisfied in letters.items():
        shares = found.setdefault(letter.raw_type or "", {})
        shares[letter_text(letter)] = float(sizes[np.unique(group[satisfied])].sum() / events.length)
    return {name: dict(sorted(shares.items())) for name, shares in sorted(found.items())}
