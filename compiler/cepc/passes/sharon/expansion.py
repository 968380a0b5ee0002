"""Conflict resolution (§7.1): a candidate in conflict is also offered to fewer of its queries.

The paper drops queries from Q_p; here it is occurrences that are dropped, which is the same where no type occurs twice
in a pattern.
"""

from __future__ import annotations

from collections import defaultdict, deque
from itertools import combinations
from typing import TYPE_CHECKING

from .candidates import Candidate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .candidates import Occurrence

DroppedOccurrences = frozenset["Occurrence"]


def expand(candidates: Sequence[Candidate], per_candidate: int, vertices: int) -> tuple[Candidate, ...]:
    """The candidates and their options (algorithm 6), in rounds: each candidate's first option before any one's second.

    At most `per_candidate` options each and `vertices` in all, but never fewer than the candidates themselves. The
    number of options is exponential in the number of conflicts (equation 14).

    >>> from .candidates import Query, sharable
    >>> workload = [Query("q", ("A", "B", "C")), Query("r", ("A", "B", "C")), Query("s", ("A", "B"))]
    >>> for candidate in expand(sharable(workload), per_candidate=2, vertices=5):
    ...     print(candidate.pattern, candidate.queries)
    ('A', 'B') ('q', 'r', 's')
    ('A', 'B', 'C') ('q', 'r')
    ('B', 'C') ('q', 'r')
    ('A', 'B') ('r', 's')
    ('A', 'B') ('q', 's')
    """
    expanded = [c.disjoint() for c in candidates]
    unused = [options(c, causes) for c, causes in zip(candidates, conflict_causes(candidates), strict=True)]
    for _ in range(per_candidate):
        for option in [next(more, None) for more in unused]:
            if len(expanded) >= vertices:
                return tuple(expanded)
            if option is not None:
                expanded.append(option)
    return tuple(expanded)


def conflict_causes(candidates: Sequence[Candidate]) -> tuple[tuple[DroppedOccurrences, ...], ...]:
    """For each candidate, and each other that it conflicts with, its occurrences that cause the conflict, once each."""
    users: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
    for v, candidate in enumerate(candidates):
        for occurrence in candidate.occurrences:
            for slot in candidate.slots(occurrence):
                users[slot].add(v)
    causes = []
    for v, candidate in enumerate(candidates):
        by_other: defaultdict[int, set[Occurrence]] = defaultdict(set)
        for occurrence in candidate.occurrences:
            for slot in candidate.slots(occurrence):
                for other in users[slot]:
                    by_other[other].add(occurrence)
        by_other.pop(v)
        causes.append(tuple(dict.fromkeys(frozenset(by_other[other]) for other in sorted(by_other))))
    return tuple(causes)


def options(candidate: Candidate, causes: Iterable[DroppedOccurrences]) -> Iterator[Candidate]:
    """The candidate for fewer places (algorithm 5), each option once, those that settle whole conflicts first.

    First the paper's tree (figure 11): breadth first, dropping all that causes a conflict with one other candidate.
    Then the combinations that settle a conflict together with an option of the other side (definition 16). Equation 14
    counts only proper subsets of the causing queries, but example 14 drops all of them, which is what helps most.

    >>> from .candidates import Query, sharable
    >>> longer = (Query(name, ("A", "B", "C")) for name in "st")
    >>> p1, p2 = sharable([Query("q", ("A", "B")), Query("r", ("A", "B")), *longer])[:2]
    >>> p1.pattern, p2.pattern
    (('A', 'B'), ('A', 'B', 'C'))
    >>> [option.queries for option in options(p1, conflict_causes((p1, p2))[0])]
    [('q', 'r'), ('q', 'r', 't'), ('q', 'r', 's')]
    """
    causes = tuple(causes)
    seen = {candidate.disjoint()}
    for dropped in _dropped(candidate, causes):
        option = without(candidate, dropped).disjoint()
        if option.shared and option not in seen:
            seen.add(option)
            yield option


def without(candidate: Candidate, dropped: DroppedOccurrences) -> Candidate:
    return Candidate(candidate.pattern, tuple(o for o in candidate.occurrences if o not in dropped))


def _dropped(candidate: Candidate, causes: tuple[DroppedOccurrences, ...]) -> Iterator[DroppedOccurrences]:
    tried: set[DroppedOccurrences] = {frozenset()}
    queue: deque[DroppedOccurrences] = deque(tried)
    while queue:
        dropped = queue.popleft()
        for cause in causes:
            more = dropped | cause
            if more not in tried and without(candidate, more).shared:
                tried.add(more)
                queue.append(more)
                yield more
    contested = [o for o in candidate.occurrences if any(o in c for c in causes) or _overlapped(candidate, o)]
    for size in range(1, len(contested) + 1):
        yield from (frozenset(some) for some in combinations(contested, size))


def _overlapped(candidate: Candidate, occurrence: Occurrence) -> bool:
    """Does another occurrence of the same pattern take up one of its positions?"""
    return any(o != occurrence and candidate.overlap(o, occurrence) for o in candidate.occurrences)
