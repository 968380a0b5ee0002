"""Operations in place on runs of numbers in the kernel's memory. `numbers.py` carries them out."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

ADD: Final = 0  # the source
TWICE: Final = 1  # itself
MULTIPLY: Final = 2  # add the source times the value; what is not finite only where the source is not 0
LEAST: Final = 3  # at most the value, where the source is above 0
MIN: Final = 4  # at most the source
ZERO: Final = 5
INFINITE: Final = 6
COPY: Final = 7
SCALE: Final = 8  # times the value, which is 1 at least
MIN_IF: Final = 9  # at most the source, if the value is above 0

VALUED: Final = frozenset([MULTIPLY, LEAST, SCALE, MIN_IF])


class Operation(NamedTuple):
    """`width` numbers from `target` on change by those from `source` on; `value` says where the value is."""

    code: int
    target: int
    source: int
    width: int
    value: int = 0


def coalesced(operations: Iterable[Operation]) -> list[Operation]:
    """Operations that may run in any order, with neighbours as one."""
    found: list[Operation] = []
    for (code, value), same in groupby(sorted(operations, key=_kind), key=lambda o: (o.code, o.value)):
        current: Operation | None = None
        for o in same:
            if (
                current is not None
                and o.target == current.target + current.width
                and (o.source == current.source + current.width or code in (ZERO, INFINITE, TWICE, SCALE))
            ):
                current = Operation(code, current.target, current.source, current.width + o.width, value)
                found[-1] = current
            else:
                current = o
                found.append(o)
    return found


def _kind(operation: Operation) -> tuple[int, int, int, int]:
    return operation.code, operation.value, operation.target, operation.source
