"""What is gathered for an aggregate while matches are counted or listed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..cheap_dataclass import dataclass

if TYPE_CHECKING:
    from .columns import ExactColumn


@dataclass(frozen=True, slots=True)
class Gathered:
    """The sums that an aggregate ends from: in each place how many values there are, and as `sums` their total times
    10**scale, and that of their squares times 100**scale, where the aggregate needs them. A total of DOUBLE has a rest
    (doubles.py).
    """

    counts: ExactColumn
    sums: tuple[ExactColumn, ...] = ()
    rests: ExactColumn | None = None
    scale: int = 0
