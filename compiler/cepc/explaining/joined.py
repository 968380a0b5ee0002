"""Match queries that find the matches of common parts of their patterns once: these parts as what is drawn of the
queries.
"""

from __future__ import annotations

from itertools import chain, count
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.sharing import JoinEvents, part_inputs

from .automata import START, Drawn, NamedStep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cepc_runtime.plan.sharing import MatchPart, SharedMatches

    from ..passes.workload import Workload


@dataclass(frozen=True, slots=True)
class Joined:
    """Queries of one partition. `labels` are of the parts, `users` the queries whose matches are made of a part's."""

    labels: tuple[str, ...]
    users: tuple[tuple[str, ...], ...]
    drawn: tuple[tuple[str, Drawn], ...]  # of each query the way from single events over parts to its matches


def joined(workload: Workload) -> tuple[Joined, ...]:
    """Those of several queries: the matches of one by itself are shown along the places of its pattern."""
    return tuple(_joined(shared, workload.types) for shared in workload.plan.shared_matches if len(shared.answers) > 1)


def _joined(shared: SharedMatches, called: Sequence[str]) -> Joined:
    labels: dict[str, None] = {}
    for pattern in _patterns(shared.parts, called):
        labels[next(name for name in chain((pattern,), (f"{pattern} {n}" for n in count(2))) if name not in labels)] = (
            None
        )
    names = tuple(labels)
    made = {answer.query: _made_of(shared.parts, answer.part) for answer in shared.answers}
    users = tuple(tuple(q for q, parts in made.items() if number in parts) for number in range(len(names)))
    drawn = ((a.query, _drawn(shared.parts, made[a.query], names, names[a.part], called)) for a in shared.answers)
    return Joined(names, users, tuple(drawn))


def _made_of(parts: Sequence[MatchPart], part: int) -> frozenset[int]:
    """The part and those that it uses."""
    return frozenset((part,)).union(*(_made_of(parts, used) for used in part_inputs(parts[part])))


def _drawn(
    parts: Sequence[MatchPart], made: frozenset[int], names: Sequence[str], last: str, called: Sequence[str]
) -> Drawn:
    steps: list[NamedStep] = []
    for number in sorted(made):
        inputs = part_inputs(parts[number])
        alone = [called[join.letter] for join in parts[number].joins if isinstance(join, JoinEvents)]
        read = f"with {', '.join(alone)}" if inputs and alone else names[number]
        steps += [NamedStep(names[used], names[number], read) for used in inputs] or [
            NamedStep(START, names[number], read)
        ]
    return Drawn((START, *(names[number] for number in sorted(made))), (last,), tuple(steps), False)


# ---- their patterns --------------------------------------------------------------------------------------------------


def _patterns(parts: Sequence[MatchPart], called: Sequence[str]) -> Iterable[str]:
    """As the language writes them where they are made of SEQ and AND. `called`: the events of each letter."""
    types: list[list[str]] = []
    orders: list[frozenset[tuple[int, int]]] = []
    for part in parts:
        named = [""] * part.leaves
        order = set(part.order)
        if part.source is not None:
            named = _put(named, part.places, types[part.source])
            order |= {(part.places[a], part.places[b]) for a, b in orders[part.source]}
        for join in part.joins:
            if isinstance(join, JoinEvents):
                named = _put(named, join.leaves, [called[join.letter]])
            else:
                named = _put(named, join.leaves, types[join.part])
                order |= {(join.leaves[a], join.leaves[b]) for a, b in orders[join.part]}
            order |= {(a, leaf) for a in join.after for leaf in join.leaves}
            order |= {(leaf, b) for b in join.before for leaf in join.leaves}
        types.append(named)
        orders.append(_closed(order, part.leaves))
        absent = [f"NOT {called[letter]}" for letter in part.absent]
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
    >>> _written(["A", "B", "C", "D"], _closed({(0, 1), (0, 2), (2, 3)}, 4), ())
    'SEQ(A, AND(B, SEQ(C, D)))'
    >>> _written(["A", "B", "C", "D"], frozenset({(0, 2), (1, 2), (1, 3)}), ())
    'A, B, C, D partly in order'
    """
    text = _part_text(tuple(range(len(types))), types, order)
    if text is None:
        return f"{', '.join((*types, *absent))} partly in order"
    if not absent:
        return text
    inside = text.removeprefix("AND(").removesuffix(")") if text.startswith("AND(") else text
    return f"AND({', '.join((inside, *absent))})"


def _part_text(leaves: tuple[int, ...], types: Sequence[str], order: frozenset[tuple[int, int]]) -> str | None:
    """AND of what has no order to each other, SEQ of what is all before the rest; None if it is neither."""
    if len(leaves) == 1:
        return types[leaves[0]]
    for name, is_tied in (
        ("AND", lambda a, b: (a, b) in order or (b, a) in order),
        ("SEQ", lambda a, b: (a, b) not in order and (b, a) not in order),
    ):
        groups = _connected(leaves, is_tied)
        if len(groups) > 1:
            if name == "SEQ":
                groups.sort(key=lambda group: sum((leaf, group[0]) in order for leaf in leaves))
            texts = [_part_text(group, types, order) for group in groups]
            return None if None in texts else f"{name}({', '.join(filter(None, texts))})"
    return None


def _connected(leaves: Sequence[int], is_tied: Callable[[int, int], bool]) -> list[tuple[int, ...]]:
    """The leaves in groups, no two of which are tied."""
    groups: list[tuple[int, ...]] = []
    for leaf in leaves:
        met = [group for group in groups if any(is_tied(leaf, other) for other in group)]
        groups = [group for group in groups if group not in met]
        groups.append(tuple(sorted({leaf, *chain.from_iterable(met)})))
    return sorted(groups)
