"""What a batch in one process may take. Imports no numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .enumerate.budget import PARTIAL_MATCHES

FEW: Final = 1 << 14
"""A part of fewer events takes its thread about as long as what is done for each part."""


@dataclass(frozen=True, slots=True)
class Resources:
    """The partial matches of a query that are listed at `most`, and the threads, of which none gets fewer events than
    `few`.
    """

    most: int = PARTIAL_MATCHES
    threads: int = 1
    few: int = FEW


ONE_THREAD: Final = Resources()
