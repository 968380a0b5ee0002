"""The Greedy optimizer (§8.1), the baseline: one node for each pool, the one whose incoming edges weigh least."""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING

from .nodes import PAPER, Generator
from .weights import ALONE, Weigher, node_of, several

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .cost import CostModel
    from .template import Template
    from .weights import Node


def greedy(template: Template, model: CostModel) -> dict[int, Node]:
    """A node for each pool; nothing keeps the plan from being worse than not sharing.

    A Q-set goes on as it came. Queries that came alone are merged, which costs nothing on the way in, so of two nodes
    with equal edges the one that shares more is taken. The edges of a Kleene sub-graph lie inside it, so there its own
    weight decides too.
    """
    weigher = Weigher(template, model)
    plan: dict[int, Node] = {}
    for number, pool in enumerate(template.pools):
        links = template.before[number]
        if pool.trivial:
            plan[number] = ALONE
            continue
        generator = Generator(template, number, model, PAPER)
        parts = [next(iter(generator.parts(i, (plan[link.before],)))) for i, link in enumerate(links)]

        def weight(node: Node, number: int = number) -> float:
            before = template.before[number]
            edges = math.fsum(weigher.between(link, plan[link.before], node) for link in before)
            return edges + (weigher.inside(template.pools[number], node) if template.pools[number].kleene else 0.0)

        plan[number] = min(_reusing(generator, parts), key=weight)
    return plan


def _reusing(generator: Generator, parts: Sequence[Node]) -> list[Node]:
    """Principle 1 with and without merging those that are alone, and not sharing."""
    if generator.pool.kleene:
        return list(reversed(generator.generate(parts)))
    kept = generator.kept(parts)
    alone = generator.pool.queries
    for qset, _ in kept:
        alone &= ~qset
    merged = [node_of(dict(chain(kept, ((alone, o.snapshot),)))) for o in generator.options if several(alone)]
    return [*merged, kept, ALONE]
