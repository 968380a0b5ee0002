"""Which windows hold an instant, against all windows one by one; and what is asked of every kind of window."""

from __future__ import annotations

from math import gcd

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepc_runtime.plan.windows import MatchBound, Sessions, Sliding, TimeParts, Unbounded, Window

windows = st.builds(
    lambda span, slide, offset: Sliding(span, slide, offset % slide),
    st.integers(1, 30),
    st.integers(1, 40),
    st.sampled_from((0, 0, *range(1, 40))),
)
parts = st.integers(1, 50).flatmap(lambda length: st.builds(TimeParts, st.just(length), st.integers(0, length - 1)))
ticks = st.integers(-200, 200)


def holding(window: Sliding, tick: int) -> list[int]:
    return [k for k in range(-300, 300) if window.begin(k) <= tick < window.end(k)]


@given(windows, ticks)
def test_the_windows_that_hold_an_instant(window: Sliding, tick: int) -> None:
    numbers = range(window.first_holding(tick), window.last_holding(tick) + 1)
    assert list(numbers) == holding(window, tick)
    assert len(numbers) <= window.open_at_once


@given(windows)
def test_some_instant_is_in_as_many_windows_as_are_open_at_once(window: Sliding) -> None:
    counts = {len(holding(window, tick)) for tick in range(window.slide)}
    assert max(counts) == window.open_at_once
    assert window.overlap == (max(counts) > 1)


@given(windows)
def test_panes_lie_between_edges_and_edges_are_counted_once(window: Sliding) -> None:
    edges = {edge for k in range(-40, 40) for edge in (window.begin(k), window.end(k))}
    assert all(edge == window.panes.start(window.panes.number(edge)) for edge in edges)
    assert window.panes.length == gcd(*(edge - window.offset for edge in edges))
    assert len({edge for edge in edges if 0 <= edge < window.slide}) == window.edges


@given(windows, ticks, ticks)
def test_when_windows_begin_and_end(window: Sliding, first: int, end: int) -> None:
    begins, ends = ({edge(k) for k in range(-300, 300)} for edge in (window.begin, window.end))
    assert set(window.beginnings(first, end)) == {edge for edge in begins if first <= edge < end}
    assert set(window.endings(first, end)) == {edge for edge in ends if first <= edge < end}


@given(windows, parts)
def test_how_far_windows_reach_over_the_end_of_a_part_of_time(window: Sliding, parts: TimeParts) -> None:
    found = (window.end(k) - parts.start(parts.number(window.begin(k)) + 1) for k in range(parts.length))
    assert window.overhang(parts) == max(0, *found)


@given(parts, ticks)
def test_an_instant_is_in_one_part_of_time(parts: TimeParts, tick: int) -> None:
    assert [k for k in range(-201, 202) if parts.start(k) <= tick < parts.start(k + 1)] == [parts.number(tick)]


@given(parts, parts)
def test_common_parts_of_time_have_the_edges_of_both(one: TimeParts, other: TimeParts) -> None:
    edges = [part.start(k) for part in (one, other) for k in range(51)]
    length = gcd(*(edge - edges[0] for edge in edges))
    assert one.common(other) == other.common(one) == TimeParts(length, edges[0] % length)


@given(windows)
def test_windows_are_panes_where_each_begins_as_the_one_before_ends(window: Sliding) -> None:
    assert window.is_pane == (window.begin(1) == window.end(0))


@given(windows, st.lists(ticks, min_size=1))
def test_of_many_instants_at_once(window: Sliding, at: list[int]) -> None:
    together = np.array(at, dtype=np.int64)
    assert window.first_holding(together).tolist() == [window.first_holding(tick) for tick in at]
    assert window.last_holding(together).tolist() == [window.last_holding(tick) for tick in at]
    assert window.end(window.last_holding(together)).tolist() == [window.end(window.last_holding(t)) for t in at]


@pytest.mark.parametrize(
    ("window", "span", "match_span", "open_at_once"),
    [
        (Sliding(9, 2), 9, 9, 5),
        (Sliding(9, 2, 0, 4), 9, 4, 5),
        (MatchBound(9), 9, 9, 1),
        (Unbounded(), None, None, 1),
        (Sessions(9), None, None, 1),
    ],
)
def test_every_kind_says_how_far_a_match_reaches(
    window: Window, span: int | None, match_span: int | None, open_at_once: int
) -> None:
    assert (window.span, window.match_span, window.open_at_once) == (span, match_span, open_at_once)


@pytest.mark.parametrize("bound", [0, 9, 10])
def test_the_bound_of_a_match_is_shorter_than_its_window(bound: int) -> None:
    with pytest.raises(ValueError, match=f"matches of less than {bound} in windows of 9"):
        Sliding(9, 2, 0, bound)
