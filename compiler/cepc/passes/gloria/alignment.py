"""From shared transitions to states that correspond, which is what the runtime's plan says (`SharedStates`)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

from .cost import BasisColumns

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .plan import SharedTransition
    from .query import WrittenPlace

_State = tuple[str, "WrittenPlace"]


@dataclass(frozen=True, slots=True)
class Alignment:
    """Place i of each member corresponds to place i of the others. `basis`: runs of events between them go over basis
    columns.
    """

    members: tuple[tuple[str, tuple[WrittenPlace, ...]], ...]
    basis: bool = False


def alignments(shared: Iterable[SharedTransition]) -> tuple[Alignment, ...]:
    """The places that correspond under a plan; each place of a query stands in one alignment at most.

    A transition is one operation for a Q-set if both its ends lie side by side for all members. So the ends of all
    shared transitions correspond, and what corresponds to the same place corresponds. The places of a group of queries
    that transitions connect are one alignment; those of a basis are apart.

    >>> from .plan import SharedTransition
    >>> from .query import WrittenPlace, Type
    >>> (a, b, c), e = map(WrittenPlace, range(3)), Type((0,))
    >>> one = SharedTransition((("q", b, c), ("r", a, b)), None, e, e)
    >>> shared = one, SharedTransition((("q", a, b), ("s", a, b)), None, e, e)
    >>> for found in alignments(shared):
    ...     print([(query, [p.event for p in places]) for query, places in found.members])
    [('q', [0]), ('s', [0])]
    [('q', [1]), ('r', [0]), ('s', [1])]
    [('q', [2]), ('r', [1])]
    """
    shared = tuple(shared)
    corresponds = _Joined()
    for transition in shared:
        (first, source, target), *others = transition.members
        for query, other_source, other_target in others:
            corresponds.join((first, source), (query, other_source))
            corresponds.join((first, target), (query, other_target))
    rows: defaultdict[_State, list[_State]] = defaultdict(list)
    for state in corresponds.all():
        rows[corresponds.root(state)].append(state)
    on_basis = {
        corresponds.root((query, place))
        for transition in shared
        if isinstance(transition.snapshot, BasisColumns)
        for query, *places in transition.members
        for place in places
    }
    queries = {root: tuple(sorted(query for query, _ in row)) for root, row in rows.items()}
    connected = _Joined()
    for transition in shared:
        query, source, target = transition.members[0]
        ends = corresponds.root((query, source)), corresponds.root((query, target))
        if queries[ends[0]] == queries[ends[1]] and (ends[0] in on_basis) == (ends[1] in on_basis):
            connected.join(*ends)
    groups: defaultdict[_State, list[_State]] = defaultdict(list)
    for root in rows:
        groups[connected.root(root)].append(root)
    found = []
    for roots in groups.values():
        ordered = sorted((sorted(rows[root]) for root in roots), key=lambda row: row[0])
        members = [(row[0][0], tuple(place for _, place in row)) for row in zip(*ordered, strict=True)]
        found.append(Alignment(tuple(members), roots[0] in on_basis))
    return tuple(sorted(found, key=lambda a: (a.members, a.basis)))


class _Joined:
    """Which states have been joined, directly or through others (union-find)."""

    def __init__(self) -> None:
        self._parent: dict[_State, _State] = {}

    def root(self, state: _State) -> _State:
        self._parent.setdefault(state, state)
        while (parent := self._parent[state]) != state:
            self._parent[state] = state = self._parent[parent]
        return state

    def join(self, a: _State, b: _State) -> None:
        self._parent[self.root(b)] = self.root(a)

    def all(self) -> list[_State]:
        return sorted(self._parent)
