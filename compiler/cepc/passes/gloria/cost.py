"""What executing a workload costs: the cost model as an argument of the pass.

A model prices single transitions for sets of queries. `weights.py` puts a plan's cost together from these.
"""

from __future__ import annotations

import math
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from cepc_runtime.cheap_dataclass import dataclass

from .query import Type

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Members:
    """What the cost of a set of queries depends on: how many they are, and how many numbers they keep for a state."""

    count: int
    columns: int


@dataclass(frozen=True, slots=True, order=True)
class BasisColumns:
    """Columns that a Kleene sub-pattern's states are expanded in over a run of its events: one for each of `types`.

    `runs` are expected in the time that rates are about.
    """

    types: tuple[Type, ...]
    runs: float


Snapshot = Type | BasisColumns | None
"""What a Q-set propagates instead of its queries' own numbers: the snapshots of a type, a basis, or nothing (None):
then their numbers lie side by side and are propagated by one operation.
"""


class CostModel(Protocol):
    """Costs in any unit, at least 0, the same unit in all methods."""

    @property
    def carries(self) -> bool:
        """Is the snapshot of a Q-set part of its state, so that a change of it needs an evaluation?"""
        ...

    def local(self, types: Sequence[Type], outside: Sequence[Type] | None) -> tuple[Snapshot, ...]:
        """The snapshots that a Q-set may begin with at a transition from `types[0]`, where `outside` is None, or in a
        Kleene sub-pattern of these types with those types before and after it.
        """
        ...

    def length(self, snapshot: Snapshot) -> float:
        """Of two Q-sets that differ in this alone, the one with less of it never costs more later on."""
        ...

    def start(self, kind: Type, queries: Members) -> float:
        """Events of the first type of queries."""
        ...

    def alone(self, source: Type, target: Type, queries: Members) -> float:
        """A transition for queries that do not share it."""
        ...

    def shared(self, source: Type, target: Type, snapshot: Snapshot, queries: Members) -> float:
        """A transition for a Q-set."""
        ...

    def renewed(self, sources: Sequence[tuple[Type, Members]], snapshot: Type, queries: Members) -> float:
        """All transitions into the snapshot's own type in a Kleene sub-pattern, for a Q-set."""
        ...

    def evaluated(self, kind: Type, snapshot: Snapshot, queries: Members) -> float:
        """Events of a type have to know the numbers of each of these queries."""
        ...

    def opened(self, snapshot: Snapshot, queries: Members) -> float:
        """What a Q-set costs in a pool apart from its transitions."""
        ...


@dataclass(frozen=True, slots=True)
class PaperModel:
    """The paper's costs (equations 2–4), as its numbers need them; rates of letters, `default` for others.

    >>> a, b, c = (Type((letter,)) for letter in range(3))
    >>> model, two = PaperModel({0: 5, 1: 10, 2: 12}), Members(2, 2)
    >>> model.alone(a, b, two), model.shared(a, b, a, two), model.shared(b, c, a, two), model.evaluated(c, a, two)
    (100, 5.0, 50, 120)
    """

    rates: Mapping[int, float] = field(default_factory=dict)
    default: float = 1.0

    def __post_init__(self) -> None:
        if min([self.default, *self.rates.values()]) < 0:
            raise ValueError("a rate is negative")

    @property
    def carries(self) -> bool:
        return True

    def local(self, types: Sequence[Type], outside: Sequence[Type] | None) -> tuple[Snapshot, ...]:  # noqa: ARG002
        return tuple(types)

    def length(self, snapshot: Snapshot) -> float:
        assert isinstance(snapshot, Type)
        return self._rate(snapshot)

    def start(self, kind: Type, queries: Members) -> float:
        return self._rate(kind) * queries.count

    def alone(self, source: Type, target: Type, queries: Members) -> float:
        return self._rate(target) * self._rate(source) * queries.count  # equation 2

    def shared(self, source: Type, target: Type, snapshot: Snapshot, queries: Members) -> float:  # noqa: ARG002
        # Equation 3, which lacks the factor |E| that equation 2 has; the printed weights lack it too.
        return self._rate(source) * (1.0 if snapshot == source else self.length(snapshot))

    def renewed(self, sources: Sequence[tuple[Type, Members]], snapshot: Type, queries: Members) -> float:
        """The cheaper of two ways to know each query's numbers: from its predecessors' numbers as if not shared, which
        is how example 6.2 is weighed, or by one evaluation of their sum, which is what replacing a snapshot costs
        elsewhere. With the first alone, plan P2 of example 6.5 (two predecessors) would cost more than P1, against the
        ranking printed.
        """
        apart = math.fsum(self.alone(source, snapshot, members) for source, members in sources)
        summed = math.fsum(self.shared(source, snapshot, snapshot, members) for source, members in sources)
        return min(apart, summed + self._rate(snapshot) * self._rate(snapshot) * queries.count)

    def evaluated(self, kind: Type, snapshot: Snapshot, queries: Members) -> float:
        if kind == snapshot:
            return 0.0  # the value of a snapshot is each query's own number
        return self._rate(kind) * self.length(snapshot) * queries.count  # equation 4

    def opened(self, snapshot: Snapshot, queries: Members) -> float:  # noqa: ARG002
        return 0.0

    def _rate(self, kind: Type) -> float:
        first, *others = kind.letters
        rate = self.rates.get(first, self.default)
        return math.fsum([rate, *(self.rates.get(e, self.default) for e in others)]) if others else rate


@dataclass(frozen=True, slots=True)
class EngineModel:
    """Nanoseconds that the runtime needs in a second, in which a letter comes `rates[letter]` times.

    A row operation costs `operation`, and `addition` for each column. Queries that share a transition have their
    columns side by side and need one operation. They may also share a basis for some states: `planes` columns for each
    of them and one for what comes in. A run of their events ends with an event around them or an edge of a window
    (`edges` in a second) in each of `groups`; then the basis is applied to all columns, by as many operations as it has
    columns squared. `passes/engine.py` weighs whole plans by the same rules.

    >>> a, b = Type((0,)), Type((1,))
    >>> model = EngineModel({0: 100, 1: 100}, operation=6, addition=0.5)
    >>> model.alone(a, b, Members(2, 40)), model.shared(a, b, None, Members(2, 40))
    (3200.0, 2600.0)
    """

    rates: Mapping[int, float] = field(default_factory=dict)
    default: float = 1.0
    operation: float = 6.0
    addition: float = 0.3
    groups: float = 1.0
    edges: float = 0.0
    planes: int = 1

    def __post_init__(self) -> None:
        if min([self.default, self.operation, self.addition, self.edges, *self.rates.values()]) < 0:
            raise ValueError("a rate or a cost is negative")

    @property
    def carries(self) -> bool:
        return False

    def local(self, types: Sequence[Type], outside: Sequence[Type] | None) -> tuple[Snapshot, ...]:
        return (None,) if outside is None else (None, self.basis(types, outside))

    def basis(self, types: Sequence[Type], outside: Sequence[Type]) -> BasisColumns:
        """A basis for the states of these types, of which those outside are before and after."""
        ends = self._total(outside) / self.groups + self.edges
        return BasisColumns(tuple(types), min(ends, self._total(types) / self.groups) * self.groups)

    def length(self, snapshot: Snapshot) -> float:  # noqa: ARG002
        return 0.0  # a basis is left behind with its Kleene sub-pattern

    def start(self, kind: Type, queries: Members) -> float:
        return self._total((kind,)) * self._rows(queries)

    def alone(self, source: Type, target: Type, queries: Members) -> float:  # noqa: ARG002
        return self._total((target,)) * self._rows(queries)

    def shared(self, source: Type, target: Type, snapshot: Snapshot, queries: Members) -> float:
        columns = queries.columns
        if isinstance(snapshot, BasisColumns) and source in snapshot.types and target in snapshot.types:
            columns = (len(snapshot.types) + 1) * self.planes
        return self._total((target,)) * self._row(columns)

    def renewed(
        self,
        sources: Sequence[tuple[Type, Members]],
        snapshot: Type,
        queries: Members,  # noqa: ARG002
    ) -> float:
        return math.fsum(self.shared(source, snapshot, None, members) for source, members in sources)

    def evaluated(self, kind: Type, snapshot: Snapshot, queries: Members) -> float:  # noqa: ARG002
        return 0.0

    def opened(self, snapshot: Snapshot, queries: Members) -> float:
        if not isinstance(snapshot, BasisColumns):
            return 0.0
        return snapshot.runs * (len(snapshot.types) + 1) ** 2 * self._row(queries.columns)

    def saving(self, basis: BasisColumns, into: Iterable[tuple[Type, Members]], queries: Members) -> float:
        """What a basis saves beside leaving its states side by side; `into` are the transitions to its types and who
        has them.
        """
        columns = (len(basis.types) + 1) * self.planes
        per_event = ((kind, self._row(members.columns) - self._row(columns)) for kind, members in into)
        return math.fsum(self._total((kind,)) * saved for kind, saved in per_event) - self.opened(basis, queries)

    def _total(self, types: Iterable[Type]) -> float:
        """Events of these types."""
        letters = {letter for kind in types for letter in kind.letters}
        return math.fsum(self.rates.get(letter, self.default) for letter in sorted(letters))

    def _rows(self, queries: Members) -> float:
        """A row operation of each query."""
        return self.operation * queries.count + self.addition * queries.columns

    def _row(self, columns: int) -> float:
        return self.operation + self.addition * columns
