"""Several derivations of one match: which rows of a block have read the same word, and which of them are as good as
one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .equal_rows import first_of_each, number_of_each, numbered
from .shares import shares_after

if TYPE_CHECKING:
    from ..numbers.columns import Ints
    from .block import MatchBlock
    from .extension import Extension


def merge(block: MatchBlock, extension: Extension, by_word: bool = True) -> MatchBlock:
    """The block with its words (the events read and the variables they are bound to) numbered from 0, and of rows that
    differ in nothing that can still matter only the first. Sorted by word if `by_word`.
    """
    parent = block.parent
    above = np.zeros(len(block), dtype=np.int64) if parent is None or parent.word is None else parent.word[block.above]
    order, numbers = numbered([above, block.position, extension.pattern.variable[block.edge]])
    shares = shares_after(extension.checks.shares, block, extension.pattern.target)
    block = replace(block, trace=_trace(block, extension), shares=shares)
    if by_word:
        block, words = block.take(order), numbers
    else:
        words = np.empty(len(block), dtype=np.int64)
        words[order] = numbers
    if block.excluded is not None:
        # Without a derivation that is not excluded, a word leads to no match.
        kept = np.isin(words, words[~block.excluded])
        block, words = block.take(kept), words[kept]
    state: list[Ints] = [words, extension.pattern.target[block.edge].astype(np.int64), block.end]
    state += [column for column in (block.trace, block.prefix) if column is not None]
    state += [] if block.excluded is None else [block.excluded.astype(np.int64)]
    state += [row for rows in (block.tracks, block.memory, block.shares) if rows is not None for row in rows]
    if block.undecided is not None:  # what is undecided is looked at again along its own path
        state.append(np.where(block.undecided != 0, np.arange(len(block)), -1))
    return replace(block, word=words).take(first_of_each(state))


def _trace(block: MatchBlock, extension: Extension) -> Ints | None:
    """Numbers for the ways in which the rows have passed guards that are looked at when the match is complete, and
    have read what lies in the scopes of these guards.
    """
    scopes = extension.guards.scopes
    waits = np.array(
        [
            bool(guards) or not scopes.isdisjoint(edge.scopes)
            for guards, edge in zip(extension.guards.late, extension.pattern.edges, strict=True)
        ],
        dtype=np.bool_,
    )
    if not waits.any():
        return None
    parent = block.parent
    late = waits[block.edge]
    columns = [np.where(late, block.edge, -1).astype(np.int64)]
    if parent is not None and parent.trace is not None:
        columns.append(parent.trace[block.above])
        if parent.tracks is not None:
            columns += [np.where(late, track[block.above], -1) for track in parent.tracks]
    return number_of_each(columns)
