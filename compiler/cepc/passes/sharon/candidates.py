"""Sharing candidates: the contiguous sub-patterns that more than one query contains (definition 3, appendix A)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Pattern = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """A sequence query: its name, unique in a workload, and the event types of its pattern in order (definition 1)."""

    name: str
    pattern: Pattern

    def __post_init__(self) -> None:
        if not self.pattern:
            raise ValueError(f"the pattern of {self.name} is empty")


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Where a pattern begins in a query; `start` counts from 0."""

    query: str
    start: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pattern and the places where it could be shared: the paper's (p, Q_p), by places instead of by queries.

    A pattern may occur in a query more than once (§7.3), so Q_p alone does not say which part of a query is meant.
    Occurrences stand in the order of the workload, then of their positions.
    """

    pattern: Pattern
    occurrences: tuple[Occurrence, ...]

    @property
    def queries(self) -> tuple[str, ...]:
        """Q_p, each query once.

        >>> Candidate(("A", "B"), (Occurrence("q", 0), Occurrence("q", 2), Occurrence("r", 0))).queries
        ('q', 'r')
        """
        return tuple(dict.fromkeys(o.query for o in self.occurrences))

    @property
    def shared(self) -> bool:
        """Is there more than one query to share it (definition 3)?"""
        return len(self.queries) > 1

    def slots(self, occurrence: Occurrence) -> list[tuple[str, int]]:
        """The positions that an occurrence takes up in its query."""
        return [(occurrence.query, occurrence.start + i) for i in range(len(self.pattern))]

    def disjoint(self) -> Candidate:
        """Without the occurrences that overlap an earlier one of the same query: a match is cut in one way only.

        >>> twice = Candidate(("A", "A"), (Occurrence("q", 0), Occurrence("q", 1), Occurrence("q", 2)))
        >>> [o.start for o in twice.disjoint().occurrences]
        [0, 2]
        """
        kept: list[Occurrence] = []
        for occurrence in self.occurrences:
            if not kept or not self.overlap(kept[-1], occurrence):
                kept.append(occurrence)
        return self if len(kept) == len(self.occurrences) else Candidate(self.pattern, tuple(kept))

    def overlap(self, a: Occurrence, b: Occurrence) -> bool:
        """Do two occurrences of this pattern share a position?"""
        return a.query == b.query and abs(a.start - b.start) < len(self.pattern)


def sharable(queries: Sequence[Query]) -> tuple[Candidate, ...]:
    """Every contiguous sub-pattern of length > 1 in more than one query, with all places where it occurs (algorithm 7).

    In alphabetical order of the patterns, as the paper keeps its plans (§6, data structures); occurrences of a pattern
    may overlap each other.

    >>> for found in sharable([Query("q", ("A", "B", "C")), Query("r", ("B", "C", "D"))]):
    ...     print(found.pattern, found.queries)
    ('B', 'C') ('q', 'r')
    """
    if len({q.name for q in queries}) < len(queries):
        raise ValueError("two queries of one workload have the same name")
    found: defaultdict[Pattern, list[Occurrence]] = defaultdict(list)
    for query in queries:
        for start, end in _spans(len(query.pattern)):
            found[query.pattern[start:end]].append(Occurrence(query.name, start))
    candidates = (Candidate(pattern, tuple(found[pattern])) for pattern in sorted(found))
    return tuple(c for c in candidates if c.shared)


def _spans(length: int) -> Iterable[tuple[int, int]]:
    return ((start, end) for start in range(length) for end in range(start + 2, length + 1))
