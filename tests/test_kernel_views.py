"""Interpreted, the kernel counts with Python's own numbers, where these cannot differ from those of 64 bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cepc_runtime.kernel.loop import Input
from cepc_runtime.kernel.views import on_views
from tests.automata import automaton, query
from tests.test_kernel import counts

if TYPE_CHECKING:
    from tests.automata import Event

FAR = 1 << 61


def kinds_of_numbers(t: Any, events: Input, matrix: Any) -> set[str]:
    return {type(number).__name__ for number in (t[0], events.ticks[0], matrix[0, 0])}


@pytest.mark.parametrize(
    ("numbers", "ticks", "expected"),
    [
        (np.float64, [1, 2], {"int", "float"}),
        (np.int64, [1, 2], {"int64"}),  # modulo 2**64, which Python's do not know
        (np.float64, [1, FAR], {"int64", "float64"}),
        (np.float64, [-FAR, 1], {"int64", "float64"}),
    ],
)
def test_python_counts_with_its_own_numbers_unless_they_may_wrap_around(
    numbers: type[Any], ticks: list[int], expected: set[str]
) -> None:
    integers, matrix = np.array(ticks), np.ones((1, 2), numbers)
    run = on_views(kinds_of_numbers, matrix.dtype, integers)
    assert run(integers, Input(integers, integers, integers, integers, matrix), matrix) == expected


def test_what_a_loop_writes_through_a_view_is_in_the_array() -> None:
    memory = np.zeros(3)

    def write(m: Any) -> None:
        m[1:][0] = 2.5

    on_views(write, memory.dtype)(memory)
    assert memory.tolist() == [0, 2.5, 0]


@pytest.mark.parametrize("start", [0, -(1 << 60) - 8, (1 << 60) + 8, (1 << 62) + 8, -(1 << 62)])
def test_counts_do_not_depend_on_how_far_the_times_are(start: int) -> None:
    rows: list[Event] = [(start + t, "A", "g", 0) for t in (0, 1, 5)]
    assert counts(rows, query(automaton("0 A 1", [1]), 4, 4)) == {start: 2, start + 4: 1}
