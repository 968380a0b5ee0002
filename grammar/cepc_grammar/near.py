"""Names near a mistyped one, for "did you mean …?"."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

from .ast import Name
from .spelling import name_text

if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `name` was most likely meant to be, or None where none is near enough.

    >>> nearest("Travle", ["Request", "Travel", "Trail"])
    'Travel'
    >>> nearest("TRAVEL", ["Travel"])
    'Travel'
    >>> nearest("x", ["y", "z"]) is None
    True
    """
    return _nearest(name, tuple(candidates))


@lru_cache(maxsize=1024)  # a pattern that is written out many times has the same unknown name as often
def _nearest(name: str, candidates: tuple[str, ...]) -> str | None:
    best: tuple[int, str] | None = None
    folded, letters = name.casefold(), Counter(name.casefold())
    for candidate in candidates:
        if candidate == name:
            continue
        other = candidate.casefold()
        if other == folded:
            return candidate
        limit = max(len(name), len(candidate)) // 3
        if best is not None:
            limit = min(limit, best[0] - 1)  # of two that are equally near the first is taken
        if abs(len(name) - len(candidate)) > limit:
            continue
        common = sum(min(times, other.count(letter)) for letter, times in letters.items())
        if max(len(folded), len(other)) - common > limit:
            continue  # so many letters have to change whatever their order, which is soon known
        apart = distance(folded, other, limit)
        if apart <= limit:
            best = (apart, candidate)
    return best[1] if best else None


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """A hint for the nearest candidate, or "".

    >>> did_you_mean("lenght", ["length", "trim"])
    'did you mean `length`?'
    """
    found = nearest(name, candidates)
    return f"did you mean `{found}`?" if found else ""


def replacement(name: str, candidates: Iterable[str]) -> str | None:
    """The nearest candidate as a program writes it.

    >>> replacement("drver id", ["driver id", "x"])
    '`driver id`'
    """
    found = nearest(name, candidates)
    return None if found is None else name_text(Name(found))


def distance(a: str, b: str, limit: int | None = None) -> int:
    """Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`; more than the limit where
    there are more.

    >>> distance("travle", "travel"), distance("abc", "xbcd")
    (1, 2)
    """
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row, before_above = row, [i], before
        for j, y in enumerate(b, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before_above[j - 2] + 1)
            row.append(cost)
        if limit is not None and min(row) > limit and min(above) >= limit:  # a swap adds to the row above
            return limit + 1
        before = above
    return row[-1]
