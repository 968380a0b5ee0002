"""Words in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def listed(words: Iterable[str], last: str) -> str:
    """`a, b or c`."""
    *before, end = [*words] or [""]
    return f"{', '.join(before)} {last} {end}" if before else end
