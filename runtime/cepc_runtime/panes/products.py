"""Panes one after the other as sums of products of their numbers: one table for all queries of a family. Imports no
numpy.

From state i to k in two panes lead the ways from i to some j in the first, each with all from j to k in the second.
What is summed over ways is a sum over the first parts as often as there are second parts, and the other way round.
Every number of a pane is a number of some query's matrix, and which numbers it is made of follows from its shape, so
one query says it for all that have it.
"""

from __future__ import annotations

from array import array
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from ..cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..kernel.planes import QueryPlanes, Role

    Ends = tuple[int, int]
    MatrixEntry = tuple[int | None, ...]  # by plane, which number

EXTREME: Final = ("least", "greatest")


@dataclass(frozen=True)
class ProductSums:
    """`targets[t]` is the sum, over its terms from `starts[t]` on, of row `first` of the first pane times row `second`
    of the second one.
    """

    targets: array[int]
    starts: array[int]
    first: array[int]
    second: array[int]


@dataclass(frozen=True)
class Least:
    """`targets[t]` is the least, over its terms, of row `first` in the first pane and `second` in the second, where
    both panes have ways there: rows `first_ways` and `second_ways` are not 0.
    """

    targets: array[int]
    starts: array[int]
    first: array[int]
    second: array[int]
    first_ways: array[int]
    second_ways: array[int]


@dataclass(frozen=True)
class Table:
    """Of some numbers, and all others that these are made of in the first pane."""

    sums: ProductSums
    least: Least


@dataclass(frozen=True)
class MatrixRows:
    """Which row of a matrix a number is. Counts and sums: the numbers' own, then the magnitudes of exact sums, then one
    of ones. Least and greatest values: one for each, then one of nothing.
    """

    additive: Mapping[int, int]
    magnitudes: Mapping[int, int]
    extremes: Mapping[int, int]

    @cached_property
    def one(self) -> int:
        return len(self.additive) + len(self.magnitudes)

    @cached_property
    def nothing(self) -> int:
        return len(self.extremes)


def rows_of(numbers: Sequence[tuple[Role | None, bool]]) -> MatrixRows:
    """Of numbers by their role, and whether they are integers."""
    additive = [place for place, (role, _) in enumerate(numbers) if role not in EXTREME]
    sums = [place for place in additive if numbers[place] == ("value", True)]
    extremes = [place for place, (role, _) in enumerate(numbers) if role in EXTREME]
    return MatrixRows(
        {place: row for row, place in enumerate(additive)},
        {place: row for row, place in enumerate(sums, start=len(additive))},
        {place: row for row, place in enumerate(extremes)},
    )


@dataclass(frozen=True)
class Products:
    """`places` are a family's: for each query and entry of its matrix, which number is in which plane."""

    places: Mapping[int, Mapping[Ends, MatrixEntry]]
    layouts: Mapping[int, QueryPlanes]
    rows: MatrixRows
    _beginning: dict[tuple[int, ...], Table] = field(default_factory=dict, compare=False)

    @cached_property
    def whole(self) -> Table:
        """For all numbers."""
        return self._table(self._owner)

    def beginning(self, queries: tuple[int, ...]) -> Table:
        """For what leads from the start of the queries: the numbers of open windows."""
        if queries not in self._beginning:
            self._beginning[queries] = self._table(self._from_start(queries))
        return self._beginning[queries]

    def _from_start(self, queries: Iterable[int]) -> list[int]:
        waiting = [
            n for q in queries for (i, _), entry in self.places[q].items() if i == 0 for n in entry if n is not None
        ]
        found = dict.fromkeys(waiting)
        for number in waiting:  # which grows
            for first, _ in self._pairs(number):
                new = [n for n in first or () if n is not None and n not in found]
                found |= dict.fromkeys(new)
                waiting += new
        return sorted(found)

    @cached_property
    def _owner(self) -> dict[int, tuple[int, Ends, int]]:
        """A query, the entry of its matrix and the plane where a number is."""
        found: dict[int, tuple[int, Ends, int]] = {}
        for query, own in self.places.items():
            for ends, entry in own.items():
                for plane, number in enumerate(entry):
                    if number is not None:
                        found.setdefault(number, (query, ends, plane))
        return found

    def _pairs(self, number: int) -> Iterator[tuple[MatrixEntry | None, MatrixEntry | None]]:
        """Entries of the first and the second pane, by way of each state between; None where a state stays as it is."""
        query, (i, k), _ = self._owner[number]
        own = self.places[query]
        for j in sorted({j for ends in own for j in ends}):
            first, second = own.get((i, j)), own.get((j, k))
            if (first is not None or i == j) and (second is not None or j == k):
                yield first, second

    def _table(self, numbers: Iterable[int]) -> Table:
        sums: list[tuple[int, list[tuple[int, int]]]] = []
        least: list[tuple[int, list[tuple[int, int, int, int]]]] = []
        for number in numbers:
            plane = self._owner[number][2]
            if number in self.rows.extremes:
                least.append((self.rows.extremes[number], [self._least(*pair, plane) for pair in self._pairs(number)]))
                continue
            for rows in (self.rows.additive, self.rows.magnitudes):
                if number in rows:
                    terms = [term for pair in self._pairs(number) for term in self._terms(*pair, plane, rows)]
                    sums.append((rows[number], terms))
        return Table(
            ProductSums(array("q", (row for row, _ in sums)), _starts(terms for _, terms in sums), *_columns(sums, 2)),
            Least(array("q", (row for row, _ in least)), _starts(terms for _, terms in least), *_columns(least, 4)),
        )

    def _terms(
        self, first: MatrixEntry | None, second: MatrixEntry | None, plane: int, rows: Mapping[int, int]
    ) -> Iterator[tuple[int, int]]:
        if plane == 0:
            yield self._ways(first), self._ways(second)
            return
        if second is not None and (number := second[plane]) is not None:
            yield self._ways(first), rows[number]
        if first is not None and (number := first[plane]) is not None:
            yield rows[number], self._ways(second)

    def _least(self, first: MatrixEntry | None, second: MatrixEntry | None, plane: int) -> tuple[int, int, int, int]:
        return self._extreme(first, plane), self._extreme(second, plane), self._ways(first), self._ways(second)

    def _ways(self, entry: MatrixEntry | None) -> int:
        if entry is None:
            return self.rows.one
        assert entry[0] is not None
        return self.rows.additive[entry[0]]

    def _extreme(self, entry: MatrixEntry | None, plane: int) -> int:
        number = None if entry is None else entry[plane]
        return self.rows.nothing if number is None else self.rows.extremes[number]


def _starts(parts: Iterable[Sequence[object]]) -> array[int]:
    found, length = array("q"), 0
    for part in parts:
        found.append(length)
        length += len(part)
    return found


def _columns(targets: Sequence[tuple[int, Sequence[tuple[int, ...]]]], count: int) -> Iterator[array[int]]:
    for column in range(count):
        yield array("q", (term[column] for _, terms in targets for term in terms))
