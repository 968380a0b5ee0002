"""What is read of a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from cepc_runtime.types import DataType

Columns = tuple[tuple[str, "DataType"], ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """`columns` are read; `declared`, which has these and the stream's others, must be there."""

    stream: str
    columns: Columns
    declared: Columns

    def without(self, names: Collection[str]) -> Wanted:
        """What is left to read where some columns come from elsewhere."""
        if not names:
            return self
        return replace(
            self,
            columns=tuple(c for c in self.columns if c[0] not in names),
            declared=tuple(c for c in self.declared if c[0] not in names),
        )
