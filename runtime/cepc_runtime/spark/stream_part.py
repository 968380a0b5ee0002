"""What a generated job says of one stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

    from .query_results import Answers
    from .schema import Stream
    from .streaming.query import Streamed


@dataclass(frozen=True)
class StreamPart:
    """The part of a job that is about one stream: `events` of it have letters, `results` answer its queries in a
    batch.
    """

    streamed: Streamed
    events: Callable[..., DataFrame]
    results: Callable[..., Answers]

    @property
    def stream(self) -> Stream:
        return self.streamed.stream
