"""Which nodes a pool gets (§5.1): from plans of the pools before it, by Reuse, Local Snapshot and Merging, and not
sharing.
"""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import product
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

from .cost import BasisColumns
from .template import bits
from .weights import ALONE, known_by_snapshot, node_of, several

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .cost import CostModel, Snapshot
    from .query import Type
    from .template import KleenePart, Pool, QueryMask, Template
    from .weights import Node


@dataclass(frozen=True, slots=True)
class Breadth:
    """What is tried beyond the paper.

    `groups`: where no more Q-sets and single queries than this come in, all ways of merging are tried, else only the
    paper's, which merges all. `futures`: merging only those that go on together, for this many later pools with
    different queries. `splits`: a Q-set may be split, which lemma 5.2 excludes, and a Kleene sub-pattern shared by only
    some of the queries that have it or with earlier snapshots, which §6 excludes by assumption.
    """

    groups: int = 3
    futures: int = 4
    splits: bool = True


PAPER = Breadth(0, 0, splits=False)


@dataclass(frozen=True, slots=True)
class _Group:
    """Queries that come in together, one alone or a Q-set. `snapshot` is carried on if it is handed on (`carried`)."""

    queries: QueryMask
    snapshot: Snapshot
    carried: bool


@dataclass(frozen=True, slots=True)
class SnapshotOption:
    """A snapshot that Q-sets may begin with in a pool, and the queries that may."""

    snapshot: Snapshot
    queries: QueryMask
    part: KleenePart | None


def options_of(template: Template, number: int, model: CostModel) -> tuple[SnapshotOption, ...]:
    """What Local Snapshot and Merging have to choose from."""
    pool = template.pools[number]
    if not pool.kleene:
        return tuple(SnapshotOption(s, pool.queries, None) for s in model.local(pool.types, None))
    found: dict[tuple[Snapshot, QueryMask], SnapshotOption] = {}
    for part in pool.cycles:
        for snapshot in model.local(part.types, _outside(template, number, part)):
            found.setdefault((snapshot, part.queries), SnapshotOption(snapshot, part.queries, part))
    return tuple(found.values())


def _outside(template: Template, number: int, part: KleenePart) -> tuple[Type, ...]:
    """The types before and after a Kleene sub-pattern."""
    found = _crossing(template.pools[number], part)
    for link in template.before[number]:
        found |= {t.source for t in template.pools[link.before].transitions if link.type in part.types}
    for link in template.after[number]:
        found |= {t.target for t in template.pools[link.after].transitions if link.type in part.types}
    return tuple(sorted(found - set(part.types)))


def _crossing(pool: Pool, part: KleenePart) -> set[Type]:
    """Types of transitions that lead into or out of an inner Kleene sub-pattern."""
    pairs = [(t.source, t.target) for t in pool.transitions]
    return {kind for pair in pairs if (pair[0] in part.types) != (pair[1] in part.types) for kind in pair}


class Generator:
    """The node generation principles for one pool; `futures` are the query sets of later pools."""

    def __init__(self, template: Template, number: int, model: CostModel, breadth: Breadth) -> None:
        self.template, self.model, self.breadth = template, model, breadth
        self.pool, self.links = template.pools[number], template.before[number]
        self.options = options_of(template, number, model)
        self.futures = _futures(template, number, breadth.futures)
        self._alike = _alike(template, number)

    def parts(self, link_number: int, nodes: Iterable[Node]) -> dict[Node, None]:
        """What the nodes of a pool before this one can hand on, without what does not concern this pool."""
        link = self.links[link_number]
        before = self.template.pools[link.before]
        found: dict[Node, None] = {}
        for node in nodes:
            qsets = ((known_by_snapshot(before, q, link.type) & link.queries, s) for q, s in node)
            found[node_of({q: s for q, s in qsets if several(q)})] = None
        return found

    def generate(self, parts: Sequence[Node]) -> dict[Node, None]:
        """The nodes for one combination of what comes in, one part for each link; the first one does not share."""
        groups = self._groups(parts)
        found: dict[Node, None] = {ALONE: None}
        if self.pool.kleene and not self.breadth.splits:
            return found | dict.fromkeys(self._whole(self.pool.queries))  # §6.1: all queries or none
        qsets = [g for g in groups if several(g.queries)]
        for kept in _combinations([self._kept(g) for g in qsets]):
            found[node_of(dict(kept))] = None
        for merged in self._merged(groups, qsets):
            keeping = _combinations([self._kept(g) for g in qsets if not g.queries & merged])
            for node in self._whole(merged):
                for kept in keeping:
                    found[node_of(dict((*node, *kept)))] = None
        return found

    def kept(self, parts: Sequence[Node]) -> Node:
        """Reuse alone: every Q-set goes on as it is."""
        return node_of(dict(self._kept(g)[0] for g in self._groups(parts) if several(g.queries)))

    def _groups(self, parts: Sequence[Node]) -> list[_Group]:
        """The queries of the pool by the Q-sets that they come from; Q-sets go on only for queries that come the same
        way.
        """
        groups: list[_Group] = []
        left = self.pool.queries
        for alike in self._alike:
            queries, links, inside = alike.queries, alike.links, [alike.queries]
            snapshots: dict[QueryMask, set[Snapshot]] = {queries: set()}
            for number in links:
                refined: dict[QueryMask, set[Snapshot]] = {}
                for mask in inside:
                    for qset, snapshot in parts[number]:
                        if several(both := mask & qset):
                            refined[both] = snapshots[mask] | {snapshot}
                snapshots, inside = refined, list(refined)
            if not links:
                continue
            for mask in inside:
                carried = self.model.carries and alike.carries and len(snapshots[mask]) == 1
                snapshot = next(iter(snapshots[mask])) if carried else None
                groups.append(_Group(mask, snapshot, carried))
                left &= ~mask
        while left:
            groups.append(_Group(left & -left, None, False))
            left &= left - 1
        return groups

    def _kept(self, group: _Group) -> list[tuple[QueryMask, Snapshot]]:
        """Principles 1 and 2 for one Q-set: as it is, or with snapshots created here if these are fewer."""
        own = [o.snapshot for o in self.options if self.allowed(group.queries, o)]
        if not group.carried:
            return [(group.queries, s) for s in own]
        # In a cycle every evaluation comes round again, so what is fewer is not all; all types are tried there (§6.1).
        fewer = [s for s in own if self.pool.kleene or self.model.length(s) < self.model.length(group.snapshot)]
        return [(group.queries, s) for s in dict.fromkeys([group.snapshot, *fewer])]

    def _merged(self, groups: Sequence[_Group], qsets: Sequence[_Group]) -> Iterator[QueryMask]:
        """Principle 3: which queries are merged. The paper's way, all of them, comes first."""
        everything = self.pool.queries
        found = {everything: None}
        sets = [everything]
        if self.breadth.futures:
            singles = everything
            for g in qsets:
                singles &= ~g.queries
            sets += [singles, everything & ~singles, *self.futures]
        if len(groups) <= self.breadth.groups:
            for chosen in range(1 << len(groups)):
                sets.append(sum(g.queries for i, g in enumerate(groups) if chosen >> i & 1))
        for queries in sets:
            whole = sum(g.queries for g in groups if g.queries & ~queries == 0)
            if several(whole) and not any(g.queries == whole for g in qsets):
                found[whole] = None
        yield from (mask for mask in found if several(mask))

    def _whole(self, queries: QueryMask) -> Iterator[Node]:
        """These queries merged, with each snapshot that could be created.

        In a pool of several Kleene sub-patterns they cannot all be one Q-set; those of each sub-pattern are one then,
        in every combination.
        """
        if all(o.part is None for o in self.options):
            yield from (((queries, o.snapshot),) for o in self.options)
            return
        whole = [o for o in self.options if self.allowed(queries, o)]
        yield from (((queries, o.snapshot),) for o in whole)
        classes = [c for c in self._classes(queries) if several(c)]
        if classes != [queries]:
            choices = [[(c, o.snapshot) for o in self.options if self.allowed(c, o)] for c in classes]
            for chosen in _combinations(choices):
                yield self._joined(chosen)
            for choice in choices:
                yield from ((qset,) for qset in choice)

    def _classes(self, queries: QueryMask) -> list[QueryMask]:
        """By the Kleene sub-patterns that they contain."""
        classes = [queries]
        for part in self.pool.cycles:
            classes = [piece for c in classes for piece in (c & part.queries, c & ~part.queries) if piece]
        return classes

    def _joined(self, qsets: Iterable[tuple[QueryMask, Snapshot]]) -> Node:
        """Q-sets of different Kleene sub-patterns that share an inner one become one, if their snapshots are the
        same.
        """
        joined: list[tuple[QueryMask, Snapshot]] = []
        for mask, snapshot in qsets:
            for i, (other, same) in enumerate(joined):
                both = mask | other
                if same == snapshot and any(o.snapshot == snapshot and self.allowed(both, o) for o in self.options):
                    joined[i] = (both, snapshot)
                    break
            else:
                joined.append((mask, snapshot))
        return node_of(dict(joined))

    def allowed(self, queries: QueryMask, option: SnapshotOption) -> bool:
        """May these queries be a Q-set with this snapshot? In a Kleene sub-pattern all must contain it, and what only
        some of them bring in from an outer one must arrive at the snapshot's type: elsewhere one expression could not
        stand for all.
        """
        if queries & ~option.queries:
            return False
        if option.part is None or isinstance(option.snapshot, BasisColumns) or option.snapshot is None:
            return True
        inner = set(option.part.types)
        for t in self.pool.transitions:
            entering = t.target in inner and t.source not in inner
            if entering and t.target != option.snapshot and 0 < (t.queries & queries) < queries:
                return False
        return True


COMBINATIONS = 64


def _combinations(
    choices: Sequence[Sequence[tuple[QueryMask, Snapshot]]],
) -> list[tuple[tuple[QueryMask, Snapshot], ...]]:
    """One of each, in all ways; if these are very many, all the first, all the second, and so on.

    >>> _combinations([[(3, None)], [(12, None)]])
    [((3, None), (12, None))]
    """
    if math.prod(map(len, choices)) <= COMBINATIONS:
        return list(product(*choices))
    return [tuple(c[min(i, len(c) - 1)] for c in choices) for i in range(max(map(len, choices)))]


@dataclass(frozen=True, slots=True)
class _Alike:
    """Queries that come into a pool by the same links."""

    queries: QueryMask
    links: tuple[int, ...]
    carries: bool


def _alike(template: Template, number: int) -> list[_Alike]:
    """Only these can go on with earlier snapshots: none of them may begin here or stand in another Kleene
    sub-pattern.
    """
    pool = template.pools[number]
    keys: defaultdict[tuple[tuple[int, ...], tuple[int, ...], bool], QueryMask] = defaultdict(int)
    beginning = 0
    for mask in pool.begins.values():
        beginning |= mask
    for query in bits(pool.queries):
        links = tuple(i for i, link in enumerate(template.before[number]) if link.queries >> query & 1)
        parts = tuple(i for i, part in enumerate(pool.cycles) if part.queries >> query & 1)
        keys[links, parts, not beginning >> query & 1] |= 1 << query
    return [_Alike(mask, links, carries) for (links, _, carries), mask in keys.items()]


def _futures(template: Template, number: int, most: int) -> list[QueryMask]:
    """The queries of this pool that later pools have together, the nearest pools first, each set once."""
    if not most:
        return []
    here = template.pools[number].queries
    found: dict[QueryMask, None] = {}
    seen, stack = {number}, [number]
    for pool in stack:
        for link in template.after[pool]:
            if link.after in seen:
                continue
            seen.add(link.after)
            together = template.pools[link.after].queries & here
            if several(together):
                stack.append(link.after)
                if together != here:
                    found[together] = None
        if len(found) >= most:
            break
    return list(found)[:most]
