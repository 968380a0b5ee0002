"""Which events of a word lie in a scope, where its conditions look at a variable that is bound outside of it too: in
`AND(p, B b)` where p binds b, the word does not say which of two events is p's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..cheap_dataclass import dataclass
from .equal_rows import number_of_each

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..numbers.columns import Bools, Ints
    from .block import MatchBlock
    from .condition import Condition
    from .pattern import IndexedPositions, Numbers


@dataclass(frozen=True, slots=True)
class ScopeShare:
    """For each edge, whether an instance of the scope begins with it, and on which side its event is: 1 inside, 2
    outside, 0 where no condition of the scope looks at its variable. For each state, whether such a condition may yet
    look at the instance.
    """

    enters: Bools
    side: Numbers
    is_open: Bools


def shares_of(pattern: IndexedPositions, conditions: Sequence[Condition]) -> tuple[ScopeShare, ...]:
    found = []
    for scope in {c.plan.scope: None for c in conditions if c.plan.scope is not None}:
        variables = {v for c in conditions if c.plan.scope == scope for v in c.variables}
        side = _side(pattern, scope, variables)
        if (side == 2).any():
            open_ = [not variables.isdisjoint(pattern.still_binds(s, scope)) for s in range(pattern.positions.states)]
            found.append(ScopeShare(pattern.enters(scope), side, np.array(open_, dtype=np.bool_)))
    return tuple(found)


def _side(pattern: IndexedPositions, scope: int, variables: set[str]) -> Numbers:
    side = np.zeros(len(pattern.edges), dtype=np.int32)
    for variable in variables:
        inside = pattern.binds(variable, scope)
        side[pattern.binds(variable, None)] = 2
        side[inside] = 1
    return side


def shares_after(shares: Sequence[ScopeShare], block: MatchBlock, target: Numbers) -> Ints | None:
    """A row for each share: rows of the block with equal words have equal numbers in it where the same events lie in
    the scope's instance, or where that does not matter any more.
    """
    if not shares:
        return None
    found = np.zeros((len(shares), len(block)), dtype=np.int64)
    for number, share in enumerate(shares):
        before = np.zeros(len(block), dtype=np.int64)
        if block.parent is not None and block.parent.shares is not None:
            before = np.where(share.enters[block.edge], 0, block.parent.shares[number][block.above])
        inside = number_of_each([before, share.side[block.edge]]) + 1
        found[number] = np.where(share.is_open[target[block.edge]], inside, 0)
    return found
