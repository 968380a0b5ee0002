"""How much a stream keeps, told before it runs. Imports no numpy, so that `cepc explain` need not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ..cheap_dataclass import dataclass
from ..panes.shared_panes import families_of
from ..plan.after import SkipFor
from ..plan.columns_read import beside_read
from ..plan.lags import lags_of
from ..plan.query import numbers_matches
from ..plan.windows import Unbounded
from ..sql.types import Array, DataType, Decimal, Map, Struct
from .decision import SessionEnds, Windows, decision_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..panes.shared_panes import Family
    from ..plan.physical import PhysicalPlan
    from ..plan.strategy import PhysicalQuery

_WIDTHS: Final = {
    "BOOLEAN": 1, "TINYINT": 1, "SMALLINT": 2, "INT": 4, "FLOAT": 4, "DATE": 4, "BIGINT": 8, "DOUBLE": 8,
    "TIMESTAMP": 8,
    "TIMESTAMP_NTZ": 8,
}  # fmt: skip
_TEXT: Final = 20
"""Of a string: its length, and sixteen bytes that are assumed."""

_LETTERS: Final = 62
"""In a word of bits (`letter_words.BITS`, which needs numpy)."""


NAMED: Final = 100
"""Queries of one pane that are named for each of them: of all of them that would be a square."""


@dataclass(frozen=True, slots=True)
class PaneSize:
    """A pane is `length` ticks of a partition: `least` events or more become `size` bytes at most, as long as its
    counts and sums fit 64 bits. The bytes are those of the `others` too, queries that are folded into the same panes.
    """

    length: int
    least: int
    size: int
    others: tuple[str, ...]  # of very many the first


@dataclass(frozen=True, slots=True)
class Silence:
    """After a match the values of its partition are kept for `length` ticks, in so many bytes at most."""

    length: int
    size: int


@dataclass(frozen=True, slots=True)
class QuerySize:
    """`event` is the bytes of an event at most, before compression. An event, or the pane that it was folded into, is
    gone at the latest when the watermark is `held` ticks after it; `windows` says in how many open windows of an
    aggregate query it stands. With MATCH_NUMBER(), each partition that had a match takes `numbered` bytes for good.
    Of a `session` an event is held until it is over, which is `held` ticks after its last event. With LAG, each
    partition takes `lags` bytes for good. Where it is `foreseen` that no match has an event, it is gone before.
    """

    query: str
    event: int
    held: int
    windows: int | None
    pane: PaneSize | None
    silence: Silence | None = None
    numbered: int | None = None
    session: bool = False
    lags: int | None = None
    foreseen: bool = False


def state_size(plan: PhysicalPlan) -> tuple[QuerySize, ...]:
    """What a bucket keeps, of the queries that can be a stream; those with WITHIN UNBOUNDED or LEAD are left out. What
    several queries need is kept once for each class of queries. An open window costs nothing beyond the
    events and panes in it.
    """
    classes: dict[tuple[str, ...], list[tuple[int, PhysicalQuery]]] = {}
    for number, query in enumerate(plan.queries):
        classes.setdefault(tuple(sorted(query.group_by)), []).append((number, query))
    families = [family for queries in classes.values() for family in families_of(queries)]
    event = _event(plan)
    of: dict[str, PaneSize] = {}
    for family in families:
        size, least = pane_bytes(plan, family), fold_from(plan, family)
        names = tuple(query.name for _, query in family.queries)
        for name in names:
            others = tuple(other for other in names[:NAMED] if other != name)
            of[name] = PaneSize(family.times.length, least, size, others)
    types = dict(plan.stream.columns)
    ahead = tuple(column for column in plan.stream.beside if column.places > 0)
    return tuple(
        replace(_size(query, event, of.get(query.name), types), lags=_lag_bytes(query, plan, types))
        for query in plan.queries
        if not isinstance(query.window, Unbounded) and not beside_read(query, plan.letters, ahead)
    )


def _lag_bytes(query: PhysicalQuery, plan: PhysicalPlan, types: Mapping[str, DataType]) -> int | None:
    """Of the last events of a partition at most."""
    lags = lags_of([query], plan.letters, plan.stream.beside)
    return sum(lag.places * sum(_width(types[name]) for name in lag.kept) for lag in lags) or None


def _size(query: PhysicalQuery, event: int, pane: PaneSize | None, types: Mapping[str, DataType]) -> QuerySize:
    decision = decision_of(query)
    if isinstance(decision, SessionEnds):
        return QuerySize(query.name, event, decision.gap, 1, None, session=True)
    if not isinstance(decision, Windows):
        silence = None
        partition = 8 + sum(_width(types[name]) for name in query.partition)
        if isinstance(query.after, SkipFor):
            silence = Silence(query.after.ticks, partition)
        numbered = partition if numbers_matches(query) else None
        held, foreseen = 1 - decision.needed_from(0), decision.forgets_early
        return QuerySize(query.name, event, held, None, None, silence, numbered, foreseen=foreseen)
    return QuerySize(query.name, event, decision.window.span, decision.window.open_at_once, pane)


def pane_bytes(plan: PhysicalPlan, family: Family) -> int:
    """Of a folded pane at most, as long as its counts and sums fit 64 bits: its partition, its place in time and its
    numbers.
    """
    types = dict(plan.stream.columns)
    values = (
        _width(number.argument.type) if number.role in ("least", "greatest") and number.argument is not None else 8
        for number in family.numbers
    )
    return 8 + sum(_width(types[name]) for name in family.partition) + sum(values)


def fold_from(plan: PhysicalPlan, family: Family) -> int:
    """How many events take twice the room of their pane."""
    return max(2, -(-2 * pane_bytes(plan, family) // _event(plan)))


def _event(plan: PhysicalPlan) -> int:
    letters = 8 * max(1, -(-len(plan.letters) // _LETTERS))
    after = sum(query.after is not None for query in plan.queries)
    return sum(_width(type_) for _, type_ in plan.stream.columns) + letters + after


def _width(type_: DataType) -> int:
    match type_:
        case Decimal():
            return 16
        case Array():
            return 4 + 4 * _width(type_.element)
        case Map():
            return 4 + 4 * (_width(type_.key) + _width(type_.value))
        case Struct():
            return sum(_width(field.type) for field in type_.fields)
    return _WIDTHS.get(type_.sql, _TEXT)
