"""How the streams of a job are to run."""

from __future__ import annotations

from typing import Any, Final

from ...cheap_dataclass import dataclass
from ..schema import JobError
from ..sinks import path_of

DAY: Final = 86_400_000
"""How many milliseconds ahead of the clock an event is dropped, where nobody says."""

EVERY: Final = "10 seconds"
"""How often a stream looks for events, where nobody says."""


@dataclass(frozen=True)
class Folders:
    """Where a stream keeps what it needs to go on and, if anywhere, writes late events and records that are no
    events.
    """

    checkpoint: str
    late: str | None = None
    dead: str | None = None

    def of(self, stream: str) -> Folders:
        """Those of one stream of a job."""
        late, dead = (folder and path_of(folder, stream) for folder in (self.late, self.dead))
        return Folders(path_of(self.checkpoint, stream), late, dead)


@dataclass(frozen=True)
class Terms:
    """How the streams of a job run: how often, in how many buckets (None: as the checkpoint has, or by default), and
    how many milliseconds ahead of the clock an event is dropped.
    """

    folders: Folders
    trigger: str
    buckets: int | None
    ahead: int
    change: bool
    """Whether the queries may be others than those of the checkpoint."""


def trigger_of(text: str) -> dict[str, Any]:
    """`available-now`, or how long from one micro-batch to the next. Raises JobError."""
    if text == "available-now":
        return {"availableNow": True}
    number, _, unit = text.partition(" ")
    if not (number.isdecimal() and unit.strip().lower().rstrip("s") in ("second", "minute", "hour", "millisecond")):
        raise JobError(f'--trigger {text}: write available-now, or a time such as "10 seconds"')
    return {"processingTime": text}
