"""The rows that the loop has emitted, each to those of its query: a plain function, which is compiled like the loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from ..numbers.columns import Floats, Ints

INLINED: Final = frozenset[str]()


class ByQuery(NamedTuple):
    """Of each query: how many numbers it emits for a row; which of them its planes are, `asked[first:end]`; how many
    rows it has room for, where its next row goes and where the next number of its first plane.
    """

    widths: Ints
    asked: Ints
    first: Ints
    end: Ints
    rooms: Ints
    places: Ints
    begins: Ints


class Scattered(NamedTuple):
    """The rows query by query. The planes of a query stand one after the other, each with numbers for as many rows as
    have room.
    """

    groups: Ints
    windows: Ints
    planes: Floats


def run(rows: Ints, values: Floats, of: ByQuery, into: Scattered) -> None:
    """Put rows and their numbers into their places, and count these on."""
    widths, asked, first, end, rooms, places, begins = of
    groups, windows, planes = into
    value = 0
    for row in range(len(rows)):
        query = rows[row, 0]
        place, number = places[query], begins[query]
        places[query] += 1
        begins[query] += 1
        groups[place] = rows[row, 1]
        windows[place] = rows[row, 2]
        for plane in range(first[query], end[query]):
            planes[number] = values[value + asked[plane]]
            number += rooms[query]
        value += widths[query]
