"""What passes ask of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from cepc_runtime.plan.stream import Letter


class Rates(Protocol):
    """What is known of a stream: see `cepc.statistics`."""

    def rate(self, letter: Letter) -> float:
        """Events of the letter in a second, over all groups."""
        ...

    def groups(self, partition: tuple[str, ...]) -> float:
        """How many groups these attributes make."""
        ...

    def largest(self, partition: tuple[str, ...]) -> float:
        """The share of the events that the largest of these groups has; 0 where it is not known."""
        ...

    def in_groups_with(self, letter: Letter, partition: tuple[str, ...]) -> float:
        """The share of the events in those groups that have an event of the letter; 1 where it is not known."""
        ...
