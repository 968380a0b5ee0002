"""Which event comes after which, and after how long."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Any

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .groups import Key

MOST_KEYS = 3  # that are tried


@dataclass(frozen=True, slots=True)
class Pair:
    """Events of type `first` that events of type `then` follow next, of one `key` if there is one: how `often`, and
    after how many microseconds in at least half and three quarters of the cases. Where many events are at one time,
    each with each, there are more `matches`.
    """

    first: str
    then: str
    key: Key | None
    often: int
    half: int
    most: int
    matches: int


def most_frequent(times: Sequence[int | None], types: Sequence[str | None], keys: Sequence[Key]) -> Pair | None:
    """The most frequent pair of the first key that has one, of any key if none has; two types rather than one. None
    where all events are at one time.
    """
    for key in (*keys[:MOST_KEYS], None):
        values = key.leaf.values if key is not None else [0] * len(times)
        found = _of_key(times, types, values, key)
        if found is not None:
            return found
    return None


def _of_key(
    times: Sequence[int | None], types: Sequence[str | None], values: Sequence[Any], key: Key | None
) -> Pair | None:
    gaps: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    matches: Counter[tuple[str, str]] = Counter()
    for events in _by_value(times, types, values):
        for (before, firsts), (after, seconds) in pairwise(events):
            for first in firsts:
                for second in seconds:
                    gaps[first, second].append(after - before)
                    matches[first, second] += firsts[first] * seconds[second]
    if not gaps:
        return None
    counts = Counter({pair: len(found) for pair, found in gaps.items()})
    (first, then), often = max(counts.items(), key=lambda item: (item[0][0] != item[0][1], item[1]))
    ordered = sorted(gaps[first, then])
    half, most = (ordered[ceil(often * share) - 1] for share in (0.5, 0.75))  # at least so many are no longer
    return Pair(first, then, key, often, half, most, matches[first, then])


def _by_value(
    times: Sequence[int | None], types: Sequence[str | None], values: Sequence[Any]
) -> Iterable[list[tuple[int, Counter[str]]]]:
    """Of each value of the key, the times in order with the types that there are."""
    found: defaultdict[Any, defaultdict[int, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for time, type_, value in zip(times, types, values, strict=True):
        if time is not None and type_ is not None and value is not None:
            found[value][time][type_] += 1
    return [sorted(at.items(), key=lambda item: item[0]) for at in found.values()]
