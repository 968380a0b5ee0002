"""Numbers and lists of names in messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

SHOWN: Final = 8
"""Names of a list; of more, the first are shown."""


def many(count: int, one: str, more: str | None = None) -> str:
    """
    >>> many(1, "row"), many(2000, "match", "matches")
    ('1 row', '2,000 matches')
    """
    return f"1 {one}" if count == 1 else f"{count:,} {more or one + 's'}"


def first_of(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    shown = ", ".join(f"`{name}`" for name in names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"
