"""A pattern's positions as look-up tables over edges and states, and what can still be bound from a state on."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..numbers.columns import Bools
    from ..plan.positions import Acceptance, Edge, Positions

Numbers = npt.NDArray[np.int32]


class IndexedPositions:
    """`Positions`, indexed. Edges and variables are numbered; edge i binds `variables[variable[i]]`."""

    def __init__(self, positions: Positions) -> None:
        self.positions = positions
        self.edges: tuple[Edge, ...] = positions.edges
        self.variables: tuple[str, ...] = tuple(dict.fromkeys(edge.variable for edge in self.edges))
        place = {name: i for i, name in enumerate(self.variables)}
        self.variable: Numbers = np.array([place[edge.variable] for edge in self.edges], dtype=np.int32)
        self.target: Numbers = np.array([edge.target for edge in self.edges], dtype=np.int32)
        leaving: list[list[int]] = [[] for _ in range(positions.states)]
        for i in sorted(range(len(self.edges)), key=lambda i: self.edges[i].rank):
            leaving[self.edges[i].source].append(i)
        self.leaving: tuple[tuple[int, ...], ...] = tuple(map(tuple, leaving))
        self._tables: dict[tuple[str, int | None], Bools] = {}
        self._entered: dict[int, Bools] = {}
        self._lists: dict[int | None, frozenset[str]] = {}
        self._onward: dict[int | None, tuple[frozenset[str], ...]] = {}

    @cached_property
    def acceptances(self) -> tuple[tuple[Acceptance, ...], ...]:
        """For each state its acceptances, the preferred one first."""
        found: list[list[Acceptance]] = [[] for _ in range(self.positions.states)]
        for acceptance in sorted(self.positions.acceptances, key=lambda a: a.rank):
            found[acceptance.state].append(acceptance)
        return tuple(map(tuple, found))

    @cached_property
    def accepting(self) -> Bools:
        """For each edge whether a match may end with it."""
        return np.array([bool(self.acceptances[edge.target]) for edge in self.edges], dtype=np.bool_)

    @cached_property
    def goes_on(self) -> Bools:
        """For each edge whether another may follow it."""
        return np.array([bool(self.leaving[edge.target]) for edge in self.edges], dtype=np.bool_)

    def binds(self, variable: str, scope: int | None) -> Bools:
        """For each edge whether it binds the variable (in the scope, if one is given)."""
        key = variable, scope
        if key not in self._tables:
            self._tables[key] = _mask(
                self.edges, lambda edge: edge.variable == variable and (scope is None or scope in edge.scopes)
            )
        return self._tables[key]

    def lists(self, scope: int | None) -> frozenset[str]:
        """The variables that some path binds twice (in one instance of the scope, if one is given)."""
        if scope not in self._lists:
            self._lists[scope] = frozenset(
                edge.variable for edge in self.edges if edge.variable in self.still_binds(edge.target, scope)
            )
        return self._lists[scope]

    def enters(self, scope: int) -> Bools:
        """For each edge whether a new instance of the scope begins with it."""
        if scope not in self._entered:  # asked for each block of matches
            self._entered[scope] = _mask(self.edges, lambda edge: scope in edge.enters)
        return self._entered[scope]

    def on_track(self, track: int) -> Bools:
        """For each edge whether its event belongs to the track."""
        return _mask(self.edges, lambda edge: track in edge.tracks)

    def still_binds(self, state: int, scope: int | None) -> frozenset[str]:
        """The variables that some path from the state binds (in the same instance of the scope, if one is given)."""
        if scope not in self._onward:
            self._onward[scope] = self._bound_onward(scope)
        return self._onward[scope][state]

    def _bound_onward(self, scope: int | None) -> tuple[frozenset[str], ...]:
        """`still_binds` of every state: sets of variables, as bits, flow back over the edges until nothing changes."""
        edges = sorted(
            (
                (edge.source, edge.target, 1 << variable if scope is None or scope in edge.scopes else 0)
                for edge, variable in zip(self.edges, self.variable.tolist(), strict=True)
                if scope is None or scope not in edge.enters
            ),
            reverse=True,  # edges mostly lead to later states
        )
        bits, before = [0] * self.positions.states, None
        while bits != before:
            before = bits.copy()
            for source, target, own in edges:
                bits[source] |= own | bits[target]
        names = {b: frozenset(v for i, v in enumerate(self.variables) if b >> i & 1) for b in set(bits)}
        return tuple(names[b] for b in bits)


def _mask(edges: Iterable[Edge], test: Callable[[Edge], bool]) -> Bools:
    return np.array([test(edge) for edge in edges], dtype=np.bool_)
