"""What an event does to all queries of a component: the steps of its queries as operations on memory, as wide as they
can be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .effects import order
from .operations import ADD, COPY, INFINITE, LEAST, MIN, MULTIPLY, TWICE, ZERO, Operation, coalesced

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from ..plan.automaton import Step
    from .lanes import LaneColumn, LaneMemory
    from .shared_lanes import LaneState


class Atom(NamedTuple):
    """One place is added to another: its count, and these columns; to the bound ones the event's value for each match.

    Where a place is kept for several queries, each adds the columns that it is the owner of, so that nothing is added
    twice.
    """

    source: LaneState
    target: LaneState
    counts: bool
    columns: tuple[LaneColumn, ...]
    bound: tuple[LaneColumn, ...]


def atom(memory: LaneMemory, query: int, source: int, target: int, variable: int) -> Atom:
    """What a query adds at a step."""
    to, of = memory.place(query, target), memory.queries[query]
    own = tuple(c for c in of.columns if memory.owners[to, c] == query)
    columns = tuple(c for c in own if c in of.carried[source])
    bound = tuple(c for c in of.bound(variable) if c in own)
    return Atom(memory.place(query, source), to, to[0] == query, columns, bound)


def atoms_of(memory: LaneMemory, query: int, kind: int) -> list[Atom]:
    """What an event of the kind that is alone in its instant adds."""
    reads = memory.queries[query].effects[kind].reads
    return [atom(memory, query, read.source, read.target, read.variable) for read in reads]


def emptied_by(memory: LaneMemory, query: int, kind: int) -> list[LaneState]:
    """The places that an event of the kind empties."""
    kept = memory.queries[query].effects[kind].kept
    return [place for s, stays in enumerate(kept) if not stays and (place := memory.place(query, s)) == (query, s)]


# ---- in place --------------------------------------------------------------------------------------------------------


def in_place(memory: LaneMemory, atoms: Sequence[Atom], emptied: Iterable[LaneState], copies: int) -> list[Operation]:
    """The operations that empty places and add the atoms, as all stood before. What needs a copy has it `copies`
    further on.
    """
    away = frozenset(emptied)
    itself: dict[int, list[Atom]] = {}  # rows are known by where they begin
    others: dict[int, list[Atom]] = {}
    copied: set[int] = set()
    reads: dict[int, set[int]] = {}
    doubled: set[tuple[LaneState, LaneColumn | None]] = set()
    for a in atoms:
        source, target = memory.row(a.source), memory.row(a.target)
        changes = {(a.target, c) for c in (*a.columns, *a.bound, *((None,) if a.counts else ()))}
        if a.source == a.target and a.target not in away and not changes & doubled:  # can be in place, once
            doubled |= changes
            itself.setdefault(target, []).append(a)
            continue
        others.setdefault(target, []).append(a)
        if source == target:
            copied.add(target)
        else:
            reads.setdefault(target, set()).add(source)
    found = order(dict.fromkeys([*itself, *others, *map(memory.row, sorted(away))]), reads, copied)
    from_copies = dict.fromkeys(a.source for of in others.values() for a in of if memory.row(a.source) in found.copied)
    operations = copied_to(memory, from_copies, copies)
    for row in found.rows:
        operations += _doubled(memory, itself.get(row, ()))
        operations += cleared(memory, [place for place in away if memory.row(place) == row], 0)
        operations += added(memory, [(a, copies * (a.source in from_copies), 0) for a in others.get(row, ())])
    return operations


def _doubled(memory: LaneMemory, atoms: Sequence[Atom]) -> list[Operation]:
    """Places are added to themselves: the values are added to what stood before, so the counts come last."""
    sums = [
        Operation(TWICE, memory.column(a.target, c), 0, memory.slots(a.target))
        for a in atoms
        for c in a.columns
        if c.additive
    ]
    counts = [Operation(TWICE, memory.count(a.target), 0, memory.slots(a.target)) for a in atoms if a.counts]
    values = coalesced(_valued(memory, [(a, 0, 0) for a in atoms]))
    return [*coalesced(sums), *values, *coalesced(counts)] if values else coalesced([*sums, *counts])  # fmt: skip


def added(memory: LaneMemory, atoms: Collection[tuple[Atom, int, int]]) -> list[Operation]:
    """Operations for atoms none of which reads what another changes; how far off the source and the target are is said
    with each.
    """
    plain = []
    for a, off, to in atoms:
        slots = memory.slots(a.target)
        if a.counts:
            plain.append(Operation(ADD, memory.count(a.target) + to, memory.count(a.source) + off, slots))
        for c in a.columns:
            source, target = memory.column(a.source, c) + off, memory.column(a.target, c) + to
            plain.append(Operation(ADD if c.additive else MIN, target, source, slots))
    return [*coalesced(plain), *coalesced(_valued(memory, atoms))]


def _valued(memory: LaneMemory, atoms: Iterable[tuple[Atom, int, int]]) -> Iterator[Operation]:
    for a, off, to in atoms:
        for c in a.bound:
            code = MULTIPLY if c.additive else LEAST
            source, target = memory.count(a.source) + off, memory.column(a.target, c) + to
            yield Operation(code, target, source, memory.slots(a.target), c.value)


# ---- whole places ----------------------------------------------------------------------------------------------------


def copied_to(memory: LaneMemory, places: Iterable[LaneState], to: int) -> list[Operation]:
    """Places are copied so far."""
    return coalesced(
        Operation(COPY, at + to, at, memory.slots(place))
        for place in places
        for at in (memory.count(place), *(memory.column(place, c) for c in memory.all_columns(place)))
    )


def cleared(memory: LaneMemory, places: Iterable[LaneState], off: int) -> list[Operation]:
    """Places are emptied."""
    found = []
    for place in places:
        slots = memory.slots(place)
        found.append(Operation(ZERO, memory.count(place) + off, 0, slots))
        for c in memory.all_columns(place):
            found.append(Operation(ZERO if c.additive else INFINITE, memory.column(place, c) + off, 0, slots))
    return coalesced(found)


def merged(memory: LaneMemory, places: Iterable[LaneState], source: int, target: int) -> list[Operation]:
    """Places are added to themselves elsewhere."""
    found = []
    for place in places:
        slots = memory.slots(place)
        found.append(Operation(ADD, memory.count(place) + target, memory.count(place) + source, slots))
        for c in memory.all_columns(place):
            at = memory.column(place, c)
            found.append(Operation(ADD if c.additive else MIN, at + target, at + source, slots))
    return coalesced(found)


# ---- instants of several events --------------------------------------------------------------------------------------


def tied(
    memory: LaneMemory, queries: Iterable[int], letters: frozenset[int], second: int
) -> tuple[list[Operation], list[LaneState]]:
    """What one of several events of an instant adds to a second memory, and the places there that it changes.

    Steps read what stood before the instant. Ties read what the instant's earlier events have added, so what they add
    stays in a third memory until all have read.
    """
    third = 2 * second
    steps, ties = _atoms_tied(memory, queries, letters)
    places = list(dict.fromkeys(a.target for a in ties))
    found = cleared(memory, places, third)
    found += added(memory, [(a, second, third) for a in ties])
    found += added(memory, [(a, 0, second) for a in steps])
    found += merged(memory, places, third, second)
    return found, list(dict.fromkeys([*places, *(a.target for a in steps)]))


def _atoms_tied(memory: LaneMemory, queries: Iterable[int], letters: frozenset[int]) -> tuple[list[Atom], list[Atom]]:
    def atoms(n: int, steps: Sequence[Step]) -> Iterator[Atom]:
        return (atom(memory, n, s.source, s.target, s.variable) for s in steps if s.letter in letters)

    steps: list[Atom] = []
    ties: list[Atom] = []
    for n in queries:
        automaton = memory.queries[n].automaton
        steps += atoms(n, automaton.steps)
        ties += atoms(n, automaton.ties)
    return steps, ties
