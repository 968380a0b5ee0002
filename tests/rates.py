"""Rates of events for planners to believe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cepc_runtime.plan.stream import Letter


@dataclass(frozen=True)
class Same:
    """All letters come equally often, in one group."""

    def rate(self, letter: Letter) -> float:  # noqa: ARG002
        return 1000.0

    def groups(self, partition: tuple[str, ...]) -> float:  # noqa: ARG002
        return 1.0

    def largest(self, partition: tuple[str, ...]) -> float:  # noqa: ARG002
        return 0.0

    def in_groups_with(self, letter: Letter, partition: tuple[str, ...]) -> float:  # noqa: ARG002
        return 1.0


@dataclass(frozen=True)
class Frequent(Same):
    """Some types are frequent."""

    types: str

    def rate(self, letter: Letter) -> float:
        return 1000.0 if (letter.raw_type or "") in self.types else 1.0


@dataclass(frozen=True)
class Rare(Same):
    """Few groups have an event of any one letter."""

    def rate(self, letter: Letter) -> float:  # noqa: ARG002
        return 1.0

    def groups(self, partition: tuple[str, ...]) -> float:  # noqa: ARG002
        return 100.0

    def in_groups_with(self, letter: Letter, partition: tuple[str, ...]) -> float:  # noqa: ARG002
        return 0.001
