"""Match queries that find the matches of common parts of their patterns once: these parts as what is drawn of the
queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, combinations, count
from typing import TYPE_CHECKING

from cepc_runtime.plan import part_inputs

from .automata import START, Drawn, NamedStep

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cepc_runtime.plan import Letter, MatchPart, SharedMatches

    from ..planning.logical import LogicalPlan


@dataclass(frozen=True, slots=True)
class Joined:
    """Queries of one partition. `labels` are of the parts, `users` the queries whose matches are made of a part's."""

    labels: tuple[str, ...]
    users: tuple[tuple[str, ...], ...]
    drawn: tuple[tuple[str, Drawn], ...]  # of each query the way from single events over parts to its matches


def joined(plan: LogicalPlan) -> tuple[Joined, ...]:
    """Those of several queries: the matches of one by itself are shown along the places of its pattern."""
    return tuple(_joined(shared, plan.letters) for shared in plan.shared_matches if len(shared.answers) > 1)


def _joined(shared: SharedMatches, letters: Sequence[Letter]) -> Joined:
    labels: dict[str, None] = {}
    for pattern in _patterns(shared.parts, letters):
        labels[next(name for name in chain((pattern,), (f"{pattern} {n}" for n in count(2))) if name not in labels)] = (
            None
        )
    names = tuple(labels)
    made = {answer.query: _made_of(shared.parts, answer.part) for answer in shared.answers}
    users = tuple(tuple(q for q, parts in made.items() if number in parts) for number in range(len(names)))
    drawn = ((a.query, _drawn(shared.parts, made[a.query], names, names[a.part], letters)) for a in shared.answers)
    return Joined(names, users, tuple(drawn))


def _made_of(parts: Sequence[MatchPart], part: int) -> frozenset[int]:
    """The part and those that it uses."""
    return frozenset((part,)).union(*(_made_of(parts, used) for used in part_inputs(parts[part])))


def _drawn(
    parts: Sequence[MatchPart], made: frozenset[int], names: Sequence[str], last: str, letters: Sequence[Letter]
) -> Drawn:
    steps: list[NamedStep] = []
    for number in sorted(made):
        inputs = part_inputs(parts[number])
        alone = [_type(letters[join.letter]) for join in parts[number].joins if join.letter is not None]
        read = f"with {', '.join(alone)}" if inputs and alone else names[number]
        steps += [NamedStep(names[used], names[number], read) for used in inputs] or [
            NamedStep(START, names[number], read)
        ]
    return Drawn((START, *(names[number] for number in sorted(made))), (last,), tuple(steps), False)


# ---- their patterns --------------------------------------------------------------------------------------------------


def _patterns(parts: Sequence[MatchPart], letters: Sequence[Letter]) -> Iterable[str]:
    """As the language writes them where they are one SEQ or one AND."""
    types: list[list[str]] = []
    orders: list[frozenset[tuple[int, int]]] = []
    for part in parts:
        named = [""] * part.leaves
        order = set(part.order)
        if part.source is not None:
            named = _put(named, part.places, types[part.source])
            order |= {(part.places[a], part.places[b]) for a, b in orders[part.source]}
        for join in part.joins:
            if join.letter is not None:
                named = _put(named, join.leaves, [_type(letters[join.letter])])
            if join.part is not None:
                named = _put(named, join.leaves, types[join.part])
                order |= {(join.leaves[a], join.leaves[b]) for a, b in orders[join.part]}
            order |= {(a, leaf) for a in join.after for leaf in join.leaves}
            order |= {(leaf, b) for b in join.before for leaf in join.leaves}
        types.append(named)
        orders.append(_closed(order, part.leaves))
        absent = [f"NOT {_type(letters[letter])}" for letter in part.absent]
        yield _written(named, orders[-1], absent)


def _put(named: list[str], leaves: Sequence[int], types: Sequence[str]) -> list[str]:
    put = dict(zip(leaves, types, strict=True))
    return [put.get(leaf, name) for leaf, name in enumerate(named)]


def _closed(order: set[tuple[int, int]], leaves: int) -> frozenset[tuple[int, int]]:
    """
    >>> sorted(_closed({(0, 1), (1, 2)}, 3))
    [(0, 1), (0, 2), (1, 2)]
    """
    found = set(order)
    for middle in range(leaves):
        before = {a for a, b in found if b == middle}
        after = {b for a, b in found if a == middle}
        found |= {(a, b) for a in before for b in after}
    return frozenset(found)


def _written(types: Sequence[str], order: frozenset[tuple[int, int]], absent: Sequence[str]) -> str:
    """
    >>> _written(["A", "B", "C"], _closed({(0, 1), (1, 2)}, 3), ()), _written(["B", "A"], frozenset(), ["NOT C"])
    ('SEQ(A, B, C)', 'AND(B, A, NOT C)')
    >>> _written(["A", "B", "C"], frozenset({(0, 2)}), ())
    'A, B, C partly in order'
    """
    leaves = range(len(types))
    if all((a, b) in order or (b, a) in order for a, b in combinations(leaves, 2)):
        first = sorted(leaves, key=lambda leaf: sum(b == leaf for _, b in order))
        text = f"SEQ({', '.join(types[leaf] for leaf in first)})"
        return f"AND({', '.join((text, *absent))})" if absent else text
    if not order:
        return f"AND({', '.join((*types, *absent))})"
    return f"{', '.join((*types, *absent))} partly in order"


def _type(letter: Letter) -> str:
    return (letter.raw_type or "ANY") + (" WHERE …" if letter.conditions else "")
