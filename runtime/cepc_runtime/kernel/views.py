"""What the kernel's loop reads and writes, as Python's own numbers where the loop is interpreted: numpy makes an object
of its own of each number that is taken from an array, and counts with these at half the speed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..numbers.columns import Ints

_NEAR: Final = 1 << 60
"""Python's integers do not wrap around where 64 bits do. What a loop makes of numbers up to this is no larger."""


def on_views(run: Callable[..., Any], numbers: np.dtype[Any], *integers: Ints) -> Callable[..., Any]:
    """An interpreted loop, over views of the arrays that it is given: the same memory, and the same results. The loop
    itself where it counts in integers, or where those that it begins with are too large for that.
    """
    if numbers != np.float64 or not all(_are_near(some) for some in integers):
        return run
    return lambda *arguments: run(*map(_view, arguments))


def _are_near(integers: Ints) -> bool:
    return not len(integers) or (integers.min() >= -_NEAR and integers.max() <= _NEAR)


def _view(argument: Any) -> Any:
    """A view of an array, or of those of a record."""
    if isinstance(argument, np.ndarray):
        return argument.data
    return type(argument)(*map(_view, argument)) if isinstance(argument, tuple) else argument
