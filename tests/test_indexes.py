"""Loops that become machine code index only what is there: the translation leaves out what numba does for an index
that counts from the end, and machine code does not look whether one is too large.
"""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import cepc_runtime.enumerate.walk.run
import cepc_runtime.kernel.adjacent.run
import cepc_runtime.kernel.long
import cepc_runtime.kernel.run
from tests.equivalence import Refused, by_engine, compile_text
from tests.test_equivalence import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS = (
    cepc_runtime.enumerate.walk.run,
    cepc_runtime.kernel.adjacent.run,
    cepc_runtime.kernel.long,
    cepc_runtime.kernel.run,
)
CASES = 4

COUNTING = {"cepc_runtime.kernel.loop", "cepc_runtime.kernel.scatter"}
LOOPS = {
    "aggregates counted": COUNTING,
    "aggregates counted with SELECT NEXT": COUNTING,
    "aggregates counted with SELECT CONTIGUOUS": COUNTING,
    "several queries of one program": COUNTING,
    "conditions between neighbours, with NOT and CONTIGUOUS": {
        *COUNTING, "cepc_runtime.kernel.adjacent.loop", "cepc_runtime.kernel.digits",
    },
    "AFTER MATCH with SELECT NEXT": {"cepc_runtime.enumerate.walk.loop"},
    "AFTER MATCH with SELECT CONTIGUOUS": {"cepc_runtime.enumerate.walk.loop"},
}  # fmt: skip
"""What runs for programs of a kind."""


class Guarded:
    """An array that refuses an index outside of it."""

    def __init__(self, array: Any) -> None:
        self._array = array

    @property
    def shape(self) -> Any:
        return self._array.shape

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, at: Any) -> Any:
        found = self._array[self._there(at)]
        return Guarded(found) if isinstance(found, np.ndarray) else found

    def __setitem__(self, at: Any, value: Any) -> None:
        self._array[self._there(at)] = value

    def _there(self, at: Any) -> Any:
        for one, size in zip(at if isinstance(at, tuple) else (at,), self._array.shape, strict=False):
            if isinstance(one, slice):
                assert one.step is None
                assert 0 <= (one.start or 0) <= size, (at, self._array.shape)
                assert one.stop is None or 0 <= one.stop <= size, (at, self._array.shape)
            else:
                assert 0 <= one < size, (at, self._array.shape)
        return at


def guarded(argument: Any) -> Any:
    """An array, those of a record, or a number as it is."""
    if isinstance(argument, np.ndarray):
        return Guarded(argument)
    return type(argument)(*map(guarded, argument)) if isinstance(argument, tuple) else argument


def test_an_index_from_the_end_is_refused() -> None:
    array = Guarded(np.zeros((2, 3)))
    for at in (-1, 2, (0, -1), (0, 3), slice(-1, None)):
        with pytest.raises(AssertionError):
            array[at]


@pytest.mark.parametrize("kind", LOOPS)
def test_loops_index_what_is_there(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: set[str] = set()

    def interpreted(module: Any, _work: int, _interpreted: bool | None = None) -> Callable[..., Any]:
        def run(*arguments: Any) -> Any:
            ran.add(module.__name__)
            return module.run(*map(guarded, arguments))

        return run

    for module in RUNS:
        monkeypatch.setattr(module, "run_function", interpreted)
    made = 0
    for case in map(KINDS[kind], map(Random, range(10 * CASES))):
        with suppress(Refused):
            by_engine(case, compile_text(case.text))
            made += 1
        if made == CASES:
            break
    assert made == CASES
    assert ran >= LOOPS[kind]
