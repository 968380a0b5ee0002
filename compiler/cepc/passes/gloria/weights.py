"""The weights of the GLORIA graph (definition 4.1): what a node costs by itself, and beside a node of the pool before.

The paper puts all of it on the edge into the next node. What depends on one node alone is kept with that node here, so
that it counts once where a pool has several successors; the sum over a path is the same (lemma 4.4).
"""

from __future__ import annotations

import math
from dataclasses import field
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

from .cost import Members
from .query import Type
from .template import bits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .cost import CostModel, Snapshot
    from .template import Link, Pool, QueryMask, Template

Node = tuple[tuple["QueryMask", "Snapshot"], ...]
"""A transition sharing plan (definition 2.6): disjoint Q-sets of two queries or more with their snapshots, by the least
query. The pool's other queries do not share.
"""
ALONE: Node = ()


def several(mask: QueryMask) -> bool:
    """Two queries at least."""
    return bool(mask & (mask - 1))


def node_of(qsets: Mapping[QueryMask, Snapshot]) -> Node:
    """In canonical order."""
    return tuple(sorted(qsets.items(), key=lambda q: q[0] & -q[0]))


@dataclass(slots=True)
class Weigher:
    """The weights of one template under one model. Without `splits`, no edge leads from a Q-set to a part of it (lemma
    5.2).
    """

    template: Template
    model: CostModel
    splits: bool = True
    _members: dict[QueryMask, Members] = field(default_factory=dict)

    def members(self, mask: QueryMask) -> Members:
        found = self._members.get(mask)
        if found is None:
            columns = sum(self.template.queries[q].columns for q in bits(mask))
            found = self._members[mask] = Members(mask.bit_count(), columns)
        return found

    def starts(self) -> float:
        """The first events of all queries, which no plan changes."""
        return math.fsum(self.model.start(kind, self.members(mask)) for kind, mask in self.template.starts)

    def starts_of(self, pool: Pool) -> float:
        return math.fsum(self.model.start(kind, self.members(mask)) for kind, mask in pool.begins.items())

    def inside(self, pool: Pool, node: Node) -> float:
        """The pool's transitions under a plan, and the results of queries that end here."""
        model = self.model
        cost = 0.0
        shared: QueryMask = 0
        for qset, snapshot in node:
            shared |= qset
            cost += self._qset(pool, qset, snapshot)
            for kind, enders in pool.finishes.items():
                if ending := known_by_snapshot(pool, qset, kind) & enders:
                    cost += model.evaluated(kind, snapshot, self.members(ending))
        for t in pool.transitions:
            if single := t.queries & ~shared:
                cost += model.alone(t.source, t.target, self.members(single))
        return cost

    def _qset(self, pool: Pool, qset: QueryMask, snapshot: Snapshot) -> float:
        model = self.model
        members = self.members(qset)
        cost = model.opened(snapshot, members)
        renewals: list[tuple[Type, Members]] = []
        for t in pool.transitions:
            here = t.queries & qset
            if several(here) and pool.kleene and t.target == snapshot:
                renewals.append((t.source, self.members(here)))
            elif several(here):
                cost += model.shared(t.source, t.target, snapshot, self.members(here))
            elif here:
                # One query goes on alone through the outer part of a nested Kleene sub-pattern.
                cost += model.alone(t.source, t.target, self.members(here))
                if known_by_snapshot(pool, qset, t.source) & here:
                    cost += model.evaluated(t.source, snapshot, self.members(here))
        if renewals and isinstance(snapshot, Type):
            cost += model.renewed(renewals, snapshot, members)
        return cost

    def between(self, link: Link, before: Node, after: Node) -> float:
        """Evaluations at the type between two pools: for queries whose Q-set or snapshot changes. Infinite if `after`
        goes on with snapshots that `before` does not have for all of a Q-set.
        """
        pool, kind = self.template.pools[link.before], link.type
        if self.model.carries and not _carried(self.template, link, before, after):
            return math.inf
        enders = pool.finishes.get(kind, 0)  # they have been evaluated anyway
        cost = 0.0
        for qset, snapshot in before:
            coming = known_by_snapshot(pool, qset, kind) & link.queries
            if not self.splits and self._split(link, coming, after):
                return math.inf
            leaving = coming & ~enders
            for onward, same in after:
                if same == snapshot:
                    leaving &= ~onward
            if leaving:
                cost += self.model.evaluated(kind, snapshot, self.members(leaving))
        return cost

    def _split(self, link: Link, coming: QueryMask, after: Node) -> bool:
        decided = several(coming) and not self.template.pools[link.after].trivial
        return decided and all(coming & ~onward for onward, _ in after)

    def total(self, plan: Mapping[int, Node]) -> float:
        """The weight of a path: one node for each pool by number, not sharing where there is none."""
        nodes = [plan.get(i, ALONE) for i in range(len(self.template.pools))]
        inside = (self.inside(pool, node) for pool, node in zip(self.template.pools, nodes, strict=True))
        between = (self.between(link, nodes[link.before], nodes[link.after]) for link in self.template.links)
        return math.fsum([self.starts(), *inside, *between])


def known_by_snapshot(pool: Pool, qset: QueryMask, kind: Type) -> QueryMask:
    """The queries of a Q-set whose numbers at a type are expressions over snapshots: those that share a transition into
    it.
    """
    if not pool.kleene:
        return qset
    known: QueryMask = 0
    for t in pool.transitions:
        if t.target == kind and several(t.queries & qset):
            known |= t.queries & qset
    return known


def _carried(template: Template, link: Link, before: Node, after: Node) -> bool:
    """Every Q-set that goes on with snapshots of before has them from one Q-set."""
    pool, own = template.pools[link.before], template.pools[link.after].types
    for onward, snapshot in after:
        coming = onward & link.queries
        if coming and snapshot not in own:
            sources = (q for q, s in before if s == snapshot)
            if not any(coming & ~known_by_snapshot(pool, q, link.type) == 0 for q in sources):
                return False
    return True
