"""What sharing costs and saves: the benefit model (§3, equations 1–8) as an argument of the pass.

A model prices two things, and everything else follows from them: a query with some of its parts computed elsewhere, and
such a part computed once for all who share it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from cepc_runtime.cheap_dataclass import dataclass

from .candidates import Candidate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from .candidates import Pattern, Query

PatternPart = tuple[int, int]
"""A part of a pattern from its first position to the one after its last."""


class CostModel(Protocol):
    """Costs in any unit, at least 0, the same unit in both methods."""

    def query(self, pattern: Pattern, cuts: Sequence[PatternPart]) -> float:
        """A query whose parts `cuts` (disjoint, ascending) are shared; without cuts, the query by itself."""
        ...

    def part(self, pattern: Pattern) -> float:
        """A shared part, computed once."""
        ...


@dataclass(frozen=True, slots=True)
class PaperModel:
    """The paper's model: work per unit of time from the rates of the event types.

    A type without a rate has `default`. A type that occurs k times in a pattern is counted at each of its positions,
    which is the factor k of §7.3 applied to the events of that type only.

    >>> model = PaperModel({"A": 2, "B": 3, "C": 5})
    >>> model.query(("A", "B", "C"), ())  # equation 2: 2 · (2 + 3 + 5)
    20.0
    >>> model.query(("A", "B", "C"), ((1, 3),))  # equations 4 and 5: 2 · 2 for the prefix, 2 · 3 to combine
    10.0
    >>> model.part(("B", "C"))  # the first term of equation 7: 3 · (3 + 5)
    24.0
    """

    rates: Mapping[str, float] = field(default_factory=dict)
    default: float = 1.0

    def __post_init__(self) -> None:
        if min([self.default, *self.rates.values()]) < 0:
            raise ValueError("a rate is negative")

    def query(self, pattern: Pattern, cuts: Sequence[PatternPart]) -> float:
        """Equation 2 without cuts; with cuts, equation 6: the parts that are not shared, and combining all parts."""
        if not cuts:
            return self.part(pattern)
        parts = [(pattern[start:end], (start, end) in cuts) for start, end in _parts(len(pattern), cuts)]
        computed = math.fsum(self.part(p) for p, is_shared in parts if not is_shared)  # equation 4
        # Equation 5 is the product of the numbers of counts, one for each START event of a part. It is written for a
        # prefix, p and a suffix that all exist. A part that does not exist has no counts and no factor (literally,
        # E_1 = E_m would be counted twice), and a query that is one shared part combines nothing. Several shared parts
        # in one query, which the paper leaves out, are further factors.
        combined = math.prod(self._rate(p[0]) for p, _ in parts) if len(parts) > 1 else 0.0
        return computed + combined

    def part(self, pattern: Pattern) -> float:
        """Each event updates one count per live START event: Rate(E_1) · Rate(P), equations 1 and 2."""
        return float(self._rate(pattern[0]) * math.fsum(self._rate(e) for e in pattern))

    def _rate(self, event_type: str) -> float:
        return self.rates.get(event_type, self.default)


def _parts(length: int, cuts: Sequence[PatternPart]) -> Iterator[PatternPart]:
    """The cuts and what lies between them, in order.

    >>> list(_parts(5, [(1, 3)]))
    [(0, 1), (1, 3), (3, 5)]
    """
    done = 0
    for start, end in cuts:
        if done < start:
            yield done, start
        yield start, end
        done = end
    if done < length:
        yield done, length


def spans(candidate: Candidate, query: str) -> tuple[PatternPart, ...]:
    """The parts of a query that the candidate takes up.

    >>> from .candidates import Candidate, Occurrence
    >>> spans(Candidate(("A", "B"), (Occurrence("q", 0), Occurrence("r", 4), Occurrence("q", 3))), "q")
    ((0, 2), (3, 5))
    """
    length = len(candidate.pattern)
    return tuple((o.start, o.start + length) for o in candidate.occurrences if o.query == query)


def workload_cost(queries: Iterable[Query], shared: Iterable[Candidate], model: CostModel) -> float:
    """These queries under a plan whose candidates do not overlap: equation 3 without candidates, equation 7 with them.

    Candidates may be used in other queries too; those are not counted.

    >>> from .candidates import Query, sharable
    >>> workload = [Query("q", ("A", "B")), Query("r", ("A", "B"))]
    >>> model = PaperModel({"A": 2, "B": 3})
    >>> workload_cost(workload, (), model), workload_cost(workload, sharable(workload), model)
    (20.0, 10.0)
    """
    cuts: defaultdict[str, list[PatternPart]] = defaultdict(list)
    patterns: dict[Pattern, None] = {}
    for candidate in shared:
        patterns[candidate.pattern] = None
        for occurrence in candidate.occurrences:
            cuts[occurrence.query].append((occurrence.start, occurrence.start + len(candidate.pattern)))
    costs = [model.query(q.pattern, sorted(cuts[q.name])) for q in queries]
    return math.fsum([*costs, *(model.part(p) for p in patterns)])


def profitable(candidate: Candidate, queries: Mapping[str, Query], model: CostModel) -> Candidate:
    """Without the queries in which the pattern costs more to combine than it saves; possibly without any.

    The paper shares a pattern among all queries that contain it (assumption 1) and drops a candidate whose sum is not
    positive. A query with a loss is worth dropping from every plan.

    >>> from .candidates import Query, sharable
    >>> workload = {"q": Query("q", ("A", "B")), "r": Query("r", ("C", "A", "B")), "s": Query("s", ("A", "B", "C"))}
    >>> profitable(sharable(list(workload.values()))[0], workload, PaperModel({"A": 1, "B": 1, "C": 9})).queries
    ('q', 'r')
    """
    used = candidate.disjoint()
    patterns = {name: queries[name].pattern for name in candidate.queries}
    kept = {name for name, p in patterns.items() if model.query(p, ()) > model.query(p, spans(used, name))}
    return Candidate(candidate.pattern, tuple(o for o in candidate.occurrences if o.query in kept))


def benefit(candidate: Candidate, queries: Mapping[str, Query], model: CostModel) -> float:
    """BValue(p, Q_p), equation 8: what the candidate saves if it is all that is shared.

    >>> from .candidates import Query, sharable
    >>> workload = {name: Query(name, ("A", "B")) for name in ("q", "r")}
    >>> benefit(sharable(list(workload.values()))[0], workload, PaperModel({"A": 2, "B": 3}))
    10.0
    """
    concerned = [queries[name] for name in candidate.queries]
    return workload_cost(concerned, (), model) - workload_cost(concerned, (candidate,), model)
