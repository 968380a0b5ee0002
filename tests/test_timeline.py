"""Where events stand in time, by counting them one by one."""

from __future__ import annotations

from itertools import chain
from random import Random

import numpy as np
import pytest

from cepc_runtime.enumerate.timeline import Timeline

FIRST, LAST = -(2**63), 2**63 - 1
TICKS = {
    "close together": range(-6, 7),
    "so far apart that all groups' ticks in one line are too long": [
        FIRST,
        FIRST + 1,
        -5,
        0,
        1,
        2,
        5,
        2**62,
        LAST - 1,
        LAST,
    ],
}


@pytest.mark.parametrize("ticks", TICKS.values(), ids=TICKS)
@pytest.mark.parametrize("seed", range(20))
def test_the_first_event_of_a_group_from_a_tick_on(ticks: list[int], seed: int) -> None:
    chance = Random(seed)
    groups = [
        sorted(chance.choices(list(ticks), k=chance.choice([1, 1, 2, 5, 9]))) for _ in range(chance.randint(1, 5))
    ]
    starts = np.cumsum([0, *map(len, groups)])
    line = Timeline(
        np.array(list(chain(*groups)), dtype=np.int64), starts, starts, lambda _letter: np.ones(0, dtype=np.bool_)
    )
    for span in (1, 3, 2**62, None):
        events = np.arange(line.length)
        reach, since = line.reach(events, span).tolist(), line.since(events, span).tolist()
        for number, group in enumerate(groups):
            for at, tick in enumerate(group):
                begin = int(starts[number])
                before = sum(span is None or other < tick + span for other in group)
                assert reach[begin + at] == begin + before, (group, tick, span)
                gone = sum(span is not None and other <= tick - span for other in group)
                assert since[begin + at] == begin + gone, (group, tick, span)
