"""A table for machine code: records of whole numbers, one after the other in one list."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def appended(table: list[int], records: Iterable[Sequence[int]]) -> tuple[int, int]:
    """Where the records start and end in the table, which has them now."""
    start = len(table)
    for record in records:
        table += record
    return start, len(table)
