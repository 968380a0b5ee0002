"""What is gathered for an aggregate while matches are counted or listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy.typing as npt

    Column = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Gathered:
    """The sums that an aggregate ends from: in each place how many values there are, and their total times 10**scale. A
    total of DOUBLE has a rest (doubles.py). Squares are times 100**scale.
    """

    counts: Column
    totals: Column | None = None
    rests: Column | None = None
    scale: int = 0
    squares: Column | None = None
