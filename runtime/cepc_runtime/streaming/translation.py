"""From the state that another compilation of the same queries kept to that of a program: which class, mark, family,
number and letter there is which one here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..cheap_dataclass import dataclass
from ..events.letter_words import BITS
from ..panes.folded import Kept
from ..panes.tables import from_index, from_numbers
from ..plan.windows import TimeParts
from ..sql.expression import with_stream
from ..sql.types import to_arrow
from .description import changes, described_numbers, number_names, words
from .held import Held, Panes
from .state_bytes import StateError, from_ipc

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..numbers.columns import Bools
    from ..panes.shared_panes import Family
    from .description import LetterName, StateDescription
    from .state_bytes import ClassBytes, PaneBytes


@dataclass(frozen=True)
class FamilyTranslation:
    """The family is number `place` of its class in the bytes; its number i is `numbers[i]` there."""

    family: Family
    place: int
    numbers: tuple[int, ...]

    def read(self, found: PaneBytes) -> Panes:
        if self.numbers == tuple(range(len(self.numbers))):
            kept: Any = Kept(found.numbers, lambda: from_numbers(self.family, from_ipc(found.numbers)))
        else:
            kept = from_numbers(self.family, from_ipc(found.numbers).select(list(self.numbers)))
        return Panes(from_index(self.family, from_ipc(found.index), kept), found.until)


@dataclass(frozen=True)
class EventTranslation:
    """Columns are found by name, and the bits of the words as `letters` says: letter i of the program is letter
    `letters[i]` there, or none. A column that the program reads for other queries, and that is not there, is null.
    """

    columns: tuple[tuple[str, Any], ...]  # with their types
    words: tuple[str, ...]
    old_words: tuple[str, ...]
    letters: tuple[int | None, ...]

    @property
    def same_letters(self) -> bool:
        return self.words == self.old_words and self.letters == tuple(range(len(self.letters)))

    def read(self, table: Any) -> Any:
        if not self.words:  # letters are found from the columns
            return table
        names = [name for name in table.column_names if name not in self.old_words]
        if names == [name for name, _ in self.columns] and self.same_letters:
            return table
        columns = {
            name: table.column(name) if name in names else pa.nulls(table.num_rows, type_)
            for name, type_ in self.columns
        }
        return pa.table(columns | self._words(table))

    def _words(self, table: Any) -> dict[str, Any]:
        old = [table.column(name).to_numpy() for name in self.old_words]
        new = {name: np.zeros(table.num_rows, dtype=np.int64) for name in self.words}
        for letter, place in enumerate(self.letters):
            if place is not None:
                bit = old[place // BITS] >> (place % BITS) & 1
                new[self.words[letter // BITS]] |= bit << (letter % BITS)
        return {name: pa.array(word) for name, word in new.items()}


@dataclass(frozen=True)
class ClassTranslation:
    """The class is number `place` in the bytes; `marks` says for each of its queries that has marks which of them are
    its own, of so `many`, `quiet` which silences are, and `numbered` which counts of matches. Families that are there
    alone are `lost`, with the names of their queries.
    """

    place: int
    many: int
    marks: tuple[tuple[int, int], ...]
    quiet: tuple[tuple[int, int], ...]
    numbered: tuple[tuple[int, int], ...]
    families: tuple[FamilyTranslation | None, ...]
    lost: Mapping[int, Sequence[str]]
    events: EventTranslation

    def held(self, found: ClassBytes) -> Held | None:
        if not found.events:
            return None
        table = from_ipc(found.events)
        columns = table.num_columns - self.many
        events = self.events.read(table.select(list(range(columns))))
        return Held(events, {query: _bools(table.column(columns + mark)) for query, mark in self.marks})

    def silences(self, found: ClassBytes) -> dict[int, Any]:
        return {query: from_ipc(found.quiet[place]) for query, place in self.quiet if found.quiet[place]}

    def matches_had(self, found: ClassBytes) -> dict[int, Any]:
        return {query: from_ipc(found.numbered[place]) for query, place in self.numbered if found.numbered[place]}

    def folded(self, found: ClassBytes) -> tuple[Panes | None, ...]:
        """Raises StateError."""
        for place, queries in self.lost.items():
            if found.panes[place] is not None:
                raise StateError(f"events of query {queries[0]} are folded as this program does not read them")
        return tuple(
            None if own is None or (panes := found.panes[own.place]) is None else own.read(panes)
            for own in self.families
        )


def translation(about: Mapping[str, Any], own: StateDescription) -> tuple[ClassTranslation, ...]:
    """For each class of the program with its `own` description, from that of what was kept. Raises StateError, which
    says what has changed.
    """
    _check_same(about, own.data)
    letters = tuple((raw_type, condition) for raw_type, condition in about["letters"])
    places = {tuple(one["keys"]): place for place, one in enumerate(about["classes"])}
    return tuple(_of_class(own, number, places[one.keys], about, letters) for number, one in enumerate(own.classes))


def _check_same(about: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    said = changes(dict(about["queries"]), dict(own["queries"]))
    old, new = about["stream"], own["stream"]
    if not said and {**old, "columns": None} != {**new, "columns": None}:
        said = [f"the event time or the event types of stream {new['name']} are not what they were"]
    types = dict(old["columns"])
    said += [
        f"column {with_stream(name)} of stream {new['name']} was {types[name]} and is {type_}"
        for name, type_ in new["columns"]
        if types.get(name, type_) != type_
    ]
    if said:
        raise StateError(f"the checkpoint's state is of another program: {'; '.join(said)}")


def _of_class(
    own: StateDescription, number: int, place: int, about: Mapping[str, Any], letters: tuple[LetterName, ...]
) -> ClassTranslation:
    described, plan = about["classes"][place], own.plan
    marks = {name: mark for mark, name in enumerate(described["marks"])}
    families = tuple(_of_family(own, family, described, letters) for family in own.families[number])
    used = {family.place for family in families if family is not None}
    lost = {n: one["queries"] for n, one in enumerate(described["families"]) if n not in used}
    where = {name: letter for letter, name in enumerate(letters)}
    events = EventTranslation(
        tuple((name, to_arrow(type_)) for name, type_ in plan.stream.columns), words(plan), tuple(about["words"]),
        tuple(where.get(name) for name in own.letters),
    )  # fmt: skip
    marked = tuple((q, marks[plan.queries[q].name]) for q in own.classes[number].queries if q in own.marked)
    silent = {name: table for table, name in enumerate(described.get("quiet", ()))}
    quiet = tuple((q, silent[plan.queries[q].name]) for q in own.silencing[number])
    counted = {name: table for table, name in enumerate(described.get("numbered", ()))}
    numbered = tuple((q, counted[plan.queries[q].name]) for q in own.numbering[number])
    return ClassTranslation(place, len(marks), marked, quiet, numbered, families, lost, events)


def _of_family(
    own: StateDescription, family: Family, described: Mapping[str, Any], letters: tuple[LetterName, ...]
) -> FamilyTranslation | None:
    """None where nothing was folded for its queries; they have their events."""
    names = sorted(query.name for _, query in family.queries)
    for place, other in enumerate(described["families"]):
        times = TimeParts(other["length"], other.get("begin", 0))
        if (tuple(other["partition"]), times, sorted(other["queries"])) == (family.partition, family.times, names):
            numbers = {number: n for n, number in enumerate(described_numbers(other, letters))}
            wanted = number_names(family, own.letters)
            if all(number in numbers for number in wanted):
                return FamilyTranslation(family, place, tuple(numbers[number] for number in wanted))
    return None


def _bools(column: Any) -> Bools:
    return np.array(column.to_numpy(), dtype=np.bool_)
