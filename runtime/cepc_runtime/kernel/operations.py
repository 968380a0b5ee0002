"""Operations in place on runs of numbers in the kernel's memory. `numbers.py` carries them out."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
    for o in sorted(operations, key=_kind):
        if found:
            code, target, source, width, value = found[-1]
            if (
                (code, value, target + width) == (o.code, o.value, o.target)
                and (source + width == o.source or code in _ALONE)
            ):  # fmt: skip
                found[-1] = Operation(code, target, source, width + o.width, value)
                continue
        found.append(o)
    return found


def batches(several: Iterable[Iterable[Operation]]) -> Iterator[tuple[tuple[int, int, int], list[int]]]:
    """Lists of operations that do not touch each other's memory, by what is alike (code, width and value), with their
    targets and sources. Those of one list stay in their order.
    """
    found: dict[tuple[int, tuple[int, int, int]], list[int]] = {}
    for operations in several:
        step, before = 0, None
        for code, target, source, width, value in operations:
            alike = code, width, value
            step += before not in (None, alike)
            before = alike
            found.setdefault((step, alike), []).extend((target, source))
    return ((alike, pairs) for (_, alike), pairs in sorted(found.items()))


_ALONE: Final = frozenset([ZERO, INFINITE, TWICE, SCALE])
"""They read no source."""

_kind: Final = itemgetter(0, 4, 1, 2)
