"""The matches of the queries on ticks as a person would find them: a loop over the events of one account, in order of
time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Found = list[tuple[int, int, int]]
"""The first time, the last, and how many events of the variable that repeats."""
Events = tuple[Sequence[int], Sequence[str], Sequence[int]]
"""Times, kinds and prices."""


def fall(events: Events, least: int, rise: int, within: int) -> Found:
    at, _, price = events
    found, start = [], 0
    while start < len(at):
        end = start + 1
        while end < len(at) and price[end] < price[end - 1]:
            end += 1
        turned = end < len(at) and end - start > least and price[end] > price[end - 1] + rise
        if turned and at[end] - at[start] < within:
            found.append((at[start], at[end], end - start - 1))
            start = end
        start += 1
    return found


def followed(events: Events, first: int, then: int, within: int) -> Found:
    at, kind, _ = events
    found = []
    following = None  # from the last event to the first: which is the next of the other kind
    for start in range(len(at) - 1, -1, -1):
        if kind[start] == f"T{first}" and following is not None and at[following] - at[start] < within:
            found.append((at[start], at[following], following - start - 1))
        if kind[start] == f"T{then}":
            following = start
    return found


def burst(events: Events, kind: int, end: int, least: int, above: int, within: int) -> Found:
    at, kinds, price = events
    found, start = [], 0
    while start < len(at):
        stop = start
        while stop < len(at) and stop - start < 6 and kinds[stop] == f"T{kind}" and price[stop] > above:
            stop += 1
        ended = stop < len(at) and stop - start >= least and kinds[stop] == f"T{end}"
        if ended and at[stop] - at[start] < within:
            found.append((at[start], at[stop], stop - start))
            start = stop
        start += 1
    return found


SHAPES: dict[str, Callable[..., Found]] = {"fall": fall, "followed": followed, "burst": burst}
