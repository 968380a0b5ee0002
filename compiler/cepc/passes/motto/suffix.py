"""All common substrings of two lists in linear time, by a suffix automaton."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence


@dataclass(slots=True)
class _State:
    length: int
    link: int
    ways: dict[Hashable, int] = field(default_factory=dict)


class SuffixAutomaton:
    """Accepts the substrings of a text. It has at most two states for each symbol, and a link of a state leads to
    the longest suffix of its substrings that occurs in more places than they do.
    """

    def __init__(self, text: Sequence[Hashable]) -> None:
        self._states = [_State(0, -1)]
        last = 0
        for symbol in text:
            last = self._extended(last, symbol)

    def _extended(self, last: int, symbol: Hashable) -> int:
        states = self._states
        new = len(states)
        states.append(_State(states[last].length + 1, 0))
        at = last
        while at >= 0 and symbol not in states[at].ways:
            states[at].ways[symbol] = new
            at = states[at].link
        if at >= 0:
            states[new].link = self._ending(at, symbol)
        return new

    def _ending(self, at: int, symbol: Hashable) -> int:
        """The state of exactly the suffixes that `at` and the symbol make; a state that has longer ones too is
        split.
        """
        states = self._states
        found = states[at].ways[symbol]
        if states[found].length == states[at].length + 1:
            return found
        clone = len(states)
        states.append(_State(states[at].length + 1, states[found].link, dict(states[found].ways)))
        states[found].link = clone
        while at >= 0 and states[at].ways.get(symbol) == found:
            states[at].ways[symbol] = clone
            at = states[at].link
        return clone

    def longest(self, text: Sequence[Hashable]) -> list[int]:
        """For each place of a text the length of the longest substring of the automaton's that ends there.

        >>> SuffixAutomaton("abcbc").longest("xabcxbcb")
        [0, 1, 2, 3, 0, 1, 2, 3]
        """
        found, at, length = [], 0, 0
        for symbol in text:
            while at > 0 and symbol not in self._states[at].ways:
                at = self._states[at].link
                length = self._states[at].length
            if symbol in self._states[at].ways:
                at, length = self._states[at].ways[symbol], length + 1
            found.append(length)
        return found


def common_substrings(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Where in `right` (from, to) the substrings stand that `left` has too and that are in no longer one there.

    >>> common_substrings((1, 2, 3, 5, 6, 7, 8), (1, 3, 6, 5, 7, 8))  # example 3
    [(0, 1), (1, 2), (2, 3), (3, 4), (4, 6)]
    """
    lengths = SuffixAutomaton(left).longest(right)
    ends = [i for i, n in enumerate(lengths) if n and (i + 1 == len(lengths) or lengths[i + 1] <= n)]
    return [(i + 1 - lengths[i], i + 1) for i in ends]
