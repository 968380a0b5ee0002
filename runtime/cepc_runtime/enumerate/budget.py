"""How much an enumeration may try before it stops with an error: never a hang."""

from __future__ import annotations

from typing import Final

PARTIAL_MATCHES: Final = 10_000_000
_TRIED_FOR_EACH: Final = 100
"""Candidates that conditions exclude cost less than the partial matches that they let through, but not nothing."""


class TooManyPartialMatchesError(RuntimeError):
    """An aggregate query that has to enumerate its matches has more of them than it may look at."""

    def __init__(self, query: str, limit: int, condition: str | None) -> None:
        super().__init__(query, limit, condition)
        self.query, self.limit, self.condition = query, limit, condition

    def __str__(self) -> str:
        why = f" to check the condition {self.condition}" if self.condition else ""
        return (
            f"query {self.query}: more than {self.limit:,} partial matches had to be enumerated{why}; "
            "a shorter WITHIN, a condition on single events or between neighbours, or a finer GROUP BY lets fewer begin"
        )


class Budget:
    """Counts partial matches, and those tried; `limit` None is no limit."""

    def __init__(self, query: str, limit: int | None, condition: str | None) -> None:
        self._query, self._limit, self._condition = query, limit, condition
        self.partial = 0
        self.tried = 0

    def spend(self, *, tried: int, partial: int) -> None:
        self.tried += tried
        self.partial += partial
        if self._limit is not None and (self.partial > self._limit or self.tried > self._limit * _TRIED_FOR_EACH):
            raise TooManyPartialMatchesError(self._query, self._limit, self._condition)
