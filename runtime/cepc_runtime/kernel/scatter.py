"""The rows that the loop has emitted, each to those of its query: a plain function, which is compiled like the loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ..numbers.columns import Floats, Ints

INLINED: Final = frozenset[str]()


def run(
    rows: Ints, values: Floats, widths: Ints, lengths: Ints, places: Ints, begins: Ints, groups: Ints, windows: Ints,
    planes: Floats,
) -> None:  # fmt: skip
    """`places` are where the next row of each query goes, `begins` where the next number of its first plane goes. Its
    planes, `widths` of them, stand one after the other, each with a number for each of its rows.
    """
    value = 0
    for row in range(len(rows)):
        query = rows[row, 0]
        place, number = places[query], begins[query]
        places[query] += 1
        begins[query] += 1
        groups[place] = rows[row, 1]
        windows[place] = rows[row, 2]
        for _ in range(widths[query]):
            planes[number] = values[value]
            number += lengths[query]
            value += 1
