"""Which letters events satisfy: each distinct condition is evaluated once, on the events of its type alone.

The outcome is small: every event has a *kind*, a number, and a table says which letters the events of each kind
satisfy.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..cheap_dataclass import dataclass
from ..numbers.columns import Bools, Ints, as_bools, flat
from ..numbers.sorting import by_number
from ..sql.evaluate import evaluate
from ..sql.expression import FieldKey, fields
from .letter_words import kinds_of_words, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..plan.stream import Letter
    from ..sql.expression import Expression

Kinds32 = npt.NDArray[np.int32]

Readers: TypeAlias = "dict[int, list[int]]"
"""The kinds that satisfy a letter, by letter."""


@dataclass(frozen=True)
class Typed:
    """Events with their raw types: `types[i]` indexes `names`. `table` holds the columns that conditions read."""

    table: Any
    types: Kinds32
    names: tuple[str, ...]


@dataclass(frozen=True)
class Kinds:
    """`of[i]` is the kind of event i; `letters[k]` are the indexes of the letters that events of kind k satisfy."""

    of: Kinds32
    letters: tuple[frozenset[int], ...]

    @cached_property
    def _readers(self) -> Readers:
        return readers_of(self.letters)

    def satisfying(self, letters: Iterable[int]) -> Bools:
        """Which events satisfy one of the letters."""
        return self.of_these(letters)[self.of]

    def of_these(self, letters: Iterable[int]) -> Bools:
        """Which kinds satisfy one of the letters."""
        found = np.zeros(len(self.letters), dtype=np.bool_)
        found[kinds_that_satisfy(letters, self._readers)] = True
        return found


def readers_of(kinds: Sequence[frozenset[int]]) -> Readers:
    found: dict[int, list[int]] = {}
    for kind, letters in enumerate(kinds):
        for letter in letters:
            found.setdefault(letter, []).append(kind)
    return found


def kinds_that_satisfy(letters: Iterable[int], readers: Readers) -> list[int]:
    """Those that satisfy one of the letters, in order."""
    return sorted({kind for letter in letters for kind in readers.get(letter, ())})


def evaluate_on(expression: Expression, table: Any, rows: npt.NDArray[np.int64] | None) -> Any:
    """The expression over columns of single events: on the rows given, or on all. One array."""
    length = table.num_rows if rows is None else len(rows)
    columns: dict[FieldKey, Any] = {}
    for field in fields(expression):
        column = table.column(field.column)
        columns[field.key] = flat(column if rows is None else column.take(pa.array(rows)))
    return evaluate(expression, columns, length)


def classify(events: Typed, letters: Sequence[Letter], asked: frozenset[int] | None = None) -> Kinds:
    """The kind of each event, by the letters that are given (all by default). Kinds are numbered from 0; kind 0
    satisfies no letter and need not occur. Raises EvaluationError.
    """
    kind = np.zeros(len(events.types), dtype=np.int32)
    known: dict[frozenset[int], int] = {frozenset(): 0}
    if (words := words_of(letters)) is not None:
        which, found = kinds_of_words(events.table, words)
        place = np.array([known.setdefault(f, len(known)) for f in found], dtype=np.int32)
        return Kinds(place[which], tuple(known))
    by_type: dict[str | None, list[int]] = {}
    for number in range(len(letters)) if asked is None else asked:
        by_type.setdefault(letters[number].raw_type, []).append(number)
    of_any = by_type.get(None, [])
    for code, rows in enumerate(_rows_by_type(events)):
        wanted = sorted(of_any + by_type.get(events.names[code], []))
        if not wanted or not len(rows):
            continue
        which, found = _kinds_of_type(_Conditions(events.table, rows), wanted, letters)
        place = np.array([known.setdefault(f, len(known)) for f in found], dtype=np.int32)
        kind[rows] = place[which]
    return Kinds(kind, tuple(known))


def renumbered(numbers: Kinds32, places: Kinds32) -> Kinds32:
    """The place of each number."""
    return numbers if np.array_equal(places, np.arange(len(places))) else places[numbers]


@dataclass(frozen=True)
class ByType:
    """Events parted by their types, once."""

    events: Typed

    def satisfying(self, letter: Letter) -> Ints:
        """The events that satisfy the letter, those of a type together."""
        types = self._rows if letter.raw_type is None else [letter.raw_type]
        table, parts = self.events.table, [self._rows[name] for name in types if name in self._rows]
        own = [rows[_Conditions(table, rows).satisfied(letter)] for rows in parts]
        return np.concatenate([np.zeros(0, dtype=np.int64), *own])

    @cached_property
    def _rows(self) -> dict[str, Ints]:
        return dict(zip(self.events.names, _rows_by_type(self.events), strict=True))


def _rows_by_type(events: Typed) -> list[npt.NDArray[np.int64]]:
    if len(events.names) == 1:
        return [np.arange(len(events.types))]
    order = by_number(events.types)
    bounds = np.searchsorted(events.types[order], np.arange(len(events.names) + 1))
    return [order[bounds[i] : bounds[i + 1]] for i in range(len(events.names))]


def _kinds_of_type(
    conditions: _Conditions, wanted: list[int], letters: Sequence[Letter]
) -> tuple[npt.NDArray[np.int64], list[frozenset[int]]]:
    """The kinds of the events of one type: a number for each event, and what the numbers stand for."""
    always: set[int] = set()
    numbers = np.zeros(conditions.length, dtype=np.int64)
    found: list[frozenset[int]] = [frozenset()]
    for index in wanted:
        letter = letters[index]
        if not letter.conditions and not letter.excluded:
            always.add(index)
            continue
        numbers, found = _split(numbers, found, conditions.satisfied(letter), index)
    return numbers, [f | always for f in found]


def _split(
    numbers: npt.NDArray[np.int64], found: list[frozenset[int]], mask: Bools, letter: int
) -> tuple[npt.NDArray[np.int64], list[frozenset[int]]]:
    """The kinds told apart by one more letter; only those that occur are kept, so that there are never many."""
    doubled = numbers * 2 + mask
    occurs = np.flatnonzero(np.bincount(doubled, minlength=2 * len(found)))
    place = np.zeros(2 * len(found), dtype=np.int64)
    place[occurs] = np.arange(len(occurs))
    return place[doubled], [found[i >> 1] | {letter} if i & 1 else found[i >> 1] for i in occurs.tolist()]


class _Conditions:
    """The conditions of letters on the events of one type, each evaluated once."""

    def __init__(self, table: Any, rows: npt.NDArray[np.int64]) -> None:
        self.length = len(rows)
        self._table = table
        self._rows = rows
        self._known: dict[Expression, Bools | None] = {}

    def satisfied(self, letter: Letter) -> Bools:
        mask = self._all_true(letter.conditions, np.ones(self.length, dtype=np.bool_))
        for conjunction in letter.excluded:
            mask = mask & ~self._all_true(conjunction, mask)
        return mask

    def _all_true(self, conjunction: tuple[Expression, ...], among: Bools) -> Bools:
        """Where all conditions are true, among the events given."""
        for condition in conjunction:
            among = among & self._true(condition, among)
        return among

    def _true(self, condition: Expression, among: Bools) -> Bools:
        """Where the condition is true; outside `among` anything.

        It is tried on all events of the type, for other letters to share the outcome. Where it fails on one that an
        earlier condition excludes (`x <> 0`, `1 / x > 2`), it is evaluated on what is left alone.
        """
        if condition not in self._known:
            self._known[condition] = self._try_on_all(condition)
        outcome = self._known[condition]
        if outcome is None:
            outcome = np.zeros(self.length, dtype=np.bool_)
            outcome[among] = as_bools(evaluate_on(condition, self._table, self._rows[among]))
        return outcome

    def _try_on_all(self, condition: Expression) -> Bools | None:
        rows = None if self.length == self._table.num_rows else self._rows
        try:
            return as_bools(evaluate_on(condition, self._table, rows))
        except Exception:  # whatever it is, it comes again where it is the user's
            return None
