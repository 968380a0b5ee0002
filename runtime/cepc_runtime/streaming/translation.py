"""From the state that another program kept to that of this one: which class, mark, family, number and letter there is
which one here, of the queries that both have. What was kept for others is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..cheap_dataclass import dataclass
from ..events.letter_words import BITS
from ..panes.folded import Kept
from ..panes.tables import from_index, from_numbers
from ..plan.columns_read import columns_read
from ..plan.windows import TimeParts
from ..sql.expression import with_stream
from ..sql.types import to_arrow
from .description import changes, described_numbers, described_queries, number_names, words
from .held import Held, Panes
from .state_bytes import StateError, from_ipc

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ..numbers.columns import Bools
    from ..panes.shared_panes import Family
    from ..plan.lags import Lag
    from .description import LetterName, StateDescription
    from .state_bytes import ClassBytes, PaneBytes, StateBytes


@dataclass(frozen=True)
class FamilyTranslation:
    """The family is number `place` of its class in the bytes, with so `many` numbers; its number i is `numbers[i]`
    there.
    """

    family: Family
    place: int
    many: int
    numbers: tuple[int, ...]

    def read(self, found: PaneBytes) -> Panes:
        if self.numbers == tuple(range(self.many)):
            kept: Any = Kept(found.numbers, lambda: from_numbers(self.family, from_ipc(found.numbers)))
        else:
            kept = from_numbers(self.family, from_ipc(found.numbers).select(list(self.numbers)))
        return Panes(from_index(self.family, from_ipc(found.index), kept), found.until)


@dataclass(frozen=True)
class EventTranslation:
    """Columns are found by name, and the bits of the words as `letters` says: letter i of the program is letter
    `letters[i]` there, or none. A column that the program reads for other queries, and that is not there or one of
    those `of_other_types`, is null.
    """

    columns: tuple[tuple[str, Any], ...]  # with their types
    of_other_types: frozenset[str]
    words: tuple[str, ...]
    old_words: tuple[str, ...]
    letters: tuple[int | None, ...]

    @property
    def same_letters(self) -> bool:
        return self.words == self.old_words and self.letters == tuple(range(len(self.letters)))

    def read(self, table: Any) -> Any:
        names = [name for name in table.column_names if name not in self.old_words]
        if not self.words and {name for name, _ in self.columns} <= {*names} - self.of_other_types:
            return table  # letters are found from the columns
        if names == [name for name, _ in self.columns] and self.same_letters and not self.of_other_types:
            return table
        there = {*names} - self.of_other_types
        columns = {
            name: table.column(name) if name in there else pa.nulls(table.num_rows, type_)
            for name, type_ in self.columns
        }
        return pa.table(columns | self._words(table))

    def _words(self, table: Any) -> dict[str, Any]:
        old = [table.column(name).to_numpy() for name in self.old_words]
        new = {name: np.zeros(table.num_rows, dtype=np.int64) for name in self.words}
        for letter, place in enumerate(self.letters):
            if place is not None and new:
                bit = old[place // BITS] >> (place % BITS) & 1
                new[self.words[letter // BITS]] |= bit << (letter % BITS)
        return {name: pa.array(word) for name, word in new.items()}


@dataclass(frozen=True)
class NewClass:
    """A class that has nothing in the bytes, and so many families and lags."""

    families: int
    lags: int

    def held(self, _found: StateBytes) -> None:
        return None

    def silences(self, _found: StateBytes) -> dict[int, Any]:
        return {}

    def matches_had(self, _found: StateBytes) -> dict[int, Any]:
        return {}

    def last_events(self, _found: StateBytes) -> tuple[None, ...]:
        return (None,) * self.lags

    def folded(self, _found: StateBytes) -> tuple[None, ...]:
        return (None,) * self.families


@dataclass(frozen=True)
class ClassTranslation:
    """The class is number `place` in the bytes; `marks` says for each of its queries that has marks which of them are
    its own, of so `many`, or None if none is, `quiet` which silences are, and `numbered` which counts of matches. For
    each of the class's LAGs `lags` says which one it is there, if it is, and its columns. Families that are there alone
    are `lost`, with the names of their queries that are here.
    """

    place: int
    many: int
    marks: tuple[tuple[int, int | None], ...]
    quiet: tuple[tuple[int, int], ...]
    numbered: tuple[tuple[int, int], ...]
    lags: tuple[tuple[int | None, tuple[str, ...]], ...]
    families: tuple[FamilyTranslation | None, ...]
    lost: Mapping[int, Sequence[str]]
    events: EventTranslation

    def held(self, found: StateBytes) -> Held | None:
        own = self._of(found)
        if not own.events:
            return None
        table = from_ipc(own.events)
        columns = table.num_columns - self.many
        events = self.events.read(table.select(list(range(columns))))
        none = np.zeros(table.num_rows, dtype=np.bool_)
        marks = {q: none if mark is None else _bools(table.column(columns + mark)) for q, mark in self.marks}
        return Held(events, marks)

    def silences(self, found: StateBytes) -> dict[int, Any]:
        quiet = self._of(found).quiet
        return {query: from_ipc(quiet[place]) for query, place in self.quiet if quiet[place]}

    def matches_had(self, found: StateBytes) -> dict[int, Any]:
        numbered = self._of(found).numbered
        return {query: from_ipc(numbered[place]) for query, place in self.numbered if numbered[place]}

    def last_events(self, found: StateBytes) -> tuple[Any, ...]:
        lags = self._of(found).lags
        return tuple(
            None if place is None or not lags[place] else from_ipc(lags[place]).select(list(columns))
            for place, columns in self.lags
        )

    def folded(self, found: StateBytes) -> tuple[Panes | None, ...]:
        """Raises StateError."""
        there = self._of(found).panes
        for place, queries in self.lost.items():
            if there[place] is not None:
                raise StateError(f"events of query {queries[0]} are folded as this program does not read them")
        return tuple(
            None if own is None or (panes := there[own.place]) is None else own.read(panes) for own in self.families
        )

    def _of(self, found: StateBytes) -> ClassBytes:
        return found.classes[self.place]


def translation(about: Mapping[str, Any], own: StateDescription) -> tuple[ClassTranslation | NewClass, ...]:
    """For each class of the program with its `own` description, from that of what was kept. Raises StateError, which
    says what has changed.
    """
    old, new = described_queries(about), described_queries(own.data)
    kept = frozenset(name for name, query in new.items() if old.get(name) == query)
    if said := _otherwise(about, own, kept):
        raise StateError(f"the checkpoint's state is of another program: {'; '.join(said)}")
    letters = tuple((raw_type, condition) for raw_type, condition in about["letters"])
    places = {(tuple(one["keys"]), one.get("since")): place for place, one in enumerate(about["classes"])}
    found = [places.get((one.keys, one.since)) for one in own.classes]
    return tuple(
        NewClass(len(own.families[number]), len(own.lags[number]))
        if place is None
        else _of_class(own, number, place, about, letters, kept)
        for number, place in enumerate(found)
    )


def _otherwise(about: Mapping[str, Any], own: StateDescription, kept: Collection[str]) -> list[str]:
    """Of the queries that see all events those that are not `kept`, what is another of the stream, and columns of other
    types that these queries read.
    """
    old, new = described_queries(about), described_queries(own.data)
    seeing_all = {name: digest for name, (digest, since) in new.items() if since is None}
    before = {name: digest for name, (digest, since) in old.items() if name in seeing_all and since is None}
    said = changes(before, seeing_all)
    was, is_ = about["stream"], own.data["stream"]
    if not said and {**was, "columns": None} != {**is_, "columns": None}:
        said = [f"the event time or the event types of stream {is_['name']} are not what they were"]
    types, read = dict(was["columns"]), _read(own, {*kept, *seeing_all})
    return said + [
        f"column {with_stream(name)} of stream {is_['name']} was {types[name]} and is {type_}"
        for name, type_ in is_["columns"]
        if name in read and types.get(name, type_) != type_
    ]


def _read(own: StateDescription, names: Collection[str]) -> set[str]:
    """The columns that some queries read of events that are held; to know which one is before another, all."""
    plan = own.plan
    every = [name for name, _ in plan.stream.columns]
    numbers = {number for number, query in enumerate(plan.queries) if query.name in names}
    lagging = any(lags and not numbers.isdisjoint(one.queries) for one, lags in zip(own.classes, own.lags, strict=True))
    if not words(plan) or lagging:  # without words letters are found from them
        return {*every}
    queries = [query for query in plan.queries if query.name in names]
    groups = {name for query in queries for name in query.group_by}
    return {plan.stream.time_column, *plan.stream.order_by, *columns_read(queries, every)} | groups


def _of_class(
    own: StateDescription,
    number: int,
    place: int,
    about: Mapping[str, Any],
    letters: tuple[LetterName, ...],
    kept: Collection[str],
) -> ClassTranslation:
    described, plan = about["classes"][place], own.plan
    families = tuple(_of_family(own, family, described, letters, kept) for family in own.families[number])
    used = {family.place for family in families if family is not None}
    unread = {n: [q for q in one["queries"] if q in kept] for n, one in enumerate(described["families"])}
    lost = {n: queries for n, queries in unread.items() if queries and n not in used}
    where = {name: letter for letter, name in enumerate(letters)}
    types = dict(about["stream"]["columns"])
    events = EventTranslation(
        tuple((name, to_arrow(type_)) for name, type_ in plan.stream.columns),
        frozenset(name for name, type_ in plan.stream.columns if types.get(name, type_.sql) != type_.sql),
        words(plan), tuple(about["words"]), tuple(where.get(name) for name in own.letters),
    )  # fmt: skip

    def places(what: str) -> dict[str, int]:
        """Of the queries that both have, in a list of the description."""
        return {name: place for place, name in enumerate(described.get(what, ())) if name in kept}

    marks, silent, counted = places("marks"), places("quiet"), places("numbered")
    names = {q: plan.queries[q].name for q in own.classes[number].queries}
    marked = tuple((q, marks.get(name)) for q, name in names.items() if q in own.marked)
    quiet = tuple((q, silent[names[q]]) for q in own.silencing[number] if names[q] in silent)
    numbered = tuple((q, counted[names[q]]) for q in own.numbering[number] if names[q] in counted)
    lags = tuple(_of_lag(lag, described.get("lags", ())) for lag in own.lags[number])
    return ClassTranslation(place, len(described["marks"]), marked, quiet, numbered, lags, families, lost, events)


def _of_lag(lag: Lag, described: Sequence[Mapping[str, Any]]) -> tuple[int | None, tuple[str, ...]]:
    """Where it is among those that were described; one of which columns are not there is of a query that is new."""
    for place, other in enumerate(described):
        same = (tuple(other["partition"]), other["places"]) == lag.key
        if same and {*lag.kept} <= {*other["columns"]}:
            return place, lag.kept
    return None, lag.kept


def _of_family(
    own: StateDescription,
    family: Family,
    described: Mapping[str, Any],
    letters: tuple[LetterName, ...],
    kept: Collection[str],
) -> FamilyTranslation | None:
    """None where nothing was folded for its queries; they have their events."""
    names = {query.name for _, query in family.queries}
    for place, other in enumerate(described["families"]):
        times = TimeParts(other["length"], other.get("begin", 0))
        same = tuple(other["partition"]) == family.partition and times == family.times
        if same and names <= {*other["queries"]}.intersection(kept):
            numbers = {number: n for n, number in enumerate(described_numbers(other, letters))}
            wanted = number_names(family, own.letters)
            if all(number in numbers for number in wanted):
                return FamilyTranslation(
                    family, place, len(other["numbers"]), tuple(numbers[number] for number in wanted)
                )
    return None


def _bools(column: Any) -> Bools:
    return np.array(column.to_numpy(), dtype=np.bool_)
