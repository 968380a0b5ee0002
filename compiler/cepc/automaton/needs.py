"""What every match needs: events without which no way through an automaton leads to its end.

A *cut* is a set of letters on every accepting path: without the steps that read them, no end can be reached. Of each
smallest cut some event is in every match, and as many as the path with the fewest of them has.

    SEQ(A, OR(B, C), A)      {A} twice and {B, C} once
    SEQ(A, B?)               {A} once
    A*                       nothing: it ends where it begins

What an automaton forbids is left out, guards, conditions and moves of a NOT alike. So there are more paths than
matches, and what lies on all paths is in all matches.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING, Final

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.automaton import DROPPED
from cepc_runtime.plan.physical import Need
from cepc_runtime.plan.positions import Positions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cepc_runtime.plan.automaton import Automaton
    from cepc_runtime.plan.stream import Letter

LETTERS: Final = 6
"""Of a cut. Of so many alternatives a group has one, nearly always."""

PATHS: Final = 200
EDGES: Final = 4_000
"""How many paths are looked for, in automata of so many edges: each path may be a walk over all of them."""


@dataclass(frozen=True, slots=True)
class Paths:
    """Ways from state 0 to an end. An edge is (source, target, letter); one without a letter reads no event."""

    edges: tuple[tuple[int, int, int | None], ...]
    ends: frozenset[int]


def paths_of(automaton: Automaton | Positions) -> Paths:
    """Those along which matches are found, and perhaps more."""
    if isinstance(automaton, Positions):
        edges = tuple((edge.source, edge.target, edge.letter) for edge in automaton.edges)
        return Paths(edges, frozenset(acceptance.state for acceptance in automaton.acceptances))
    steps = ((step.source, step.target, step.letter) for step in (*automaton.steps, *automaton.ties))
    moves = ((m.source, m.target, None) for m in (*automaton.moves, *automaton.new_moves) if m.target != DROPPED)
    return Paths((*steps, *dict.fromkeys(moves)), frozenset(automaton.accepting))


def needs_of(paths: Paths, letters: Sequence[Letter]) -> tuple[Need, ...]:
    """What every path reads, as far as it is worth looking for. `letters` are those of the plan."""
    if len(paths.edges) > EDGES:
        return ()
    found = [Need(tuple(sorted(cut)), fewest(paths, cut) or 0) for cut in cuts(paths)]
    every = frozenset(letter for _, _, letter in paths.edges if letter is not None)
    events = fewest(paths, every)
    if events is not None and events > max(_told(found, letters), *(need.events for need in found), 0):
        found.append(Need(tuple(sorted(every)), events))
    return tuple(sorted(found, key=lambda need: (len(need.letters), need.letters)))


def _told(needs: Sequence[Need], letters: Sequence[Letter]) -> int:
    """How many events are needed as the needs say, of which two may mean the same event if it can be of both."""
    seen: set[str | None] = set()
    total = 0
    for need in needs:
        types = {letters[letter].raw_type for letter in need.letters}
        if None not in types and seen.isdisjoint(types):
            seen |= types
            total += need.events
    return total


def cuts(paths: Paths) -> list[frozenset[int]]:
    """The smallest cuts: a path that avoids some letters names those of which a cut that has these needs one more."""
    found: list[frozenset[int]] = []
    waiting, seen = deque([frozenset[int]()]), {frozenset[int]()}
    for _ in range(PATHS):
        if not waiting:
            break
        avoided = waiting.popleft()
        if any(cut <= avoided for cut in found):
            continue
        path = _path(paths, avoided)
        if path is None:
            found.append(avoided)
        elif len(avoided) < LETTERS:
            more = [avoided | {letter} for letter in sorted(set(path))]
            waiting.extend(one for one in more if one not in seen)
            seen.update(more)
    return [cut for cut in found if cut]


def _path(paths: Paths, avoided: frozenset[int]) -> list[int] | None:
    """The letters of a shortest path without these; None if there is no path."""
    ways = _ways(paths)
    reached: dict[int, list[int]] = {0: []}
    waiting = deque([0])
    while waiting:
        state = waiting.popleft()
        if state in paths.ends:
            return reached[state]
        for target, letter in ways[state]:
            if target not in reached and letter not in avoided:
                reached[target] = reached[state] if letter is None else [*reached[state], letter]
                waiting.append(target)
    return None


def fewest(paths: Paths, letters: frozenset[int]) -> int | None:
    """How many events of the letters a path has at least; None if there is no path."""
    ways = _ways(paths)
    least: dict[int, int] = {0: 0}
    waiting = deque([0])
    while waiting:  # a step that reads none of them comes first
        state = waiting.popleft()
        for target, letter in ways[state]:
            reads = letter in letters
            events = least[state] + reads
            if events < least.get(target, events + 1):
                least[target] = events
                (waiting.append if reads else waiting.appendleft)(target)
    return min((least[end] for end in paths.ends if end in least), default=None)


def _ways(paths: Paths) -> defaultdict[int, list[tuple[int, int | None]]]:
    """The edges by their sources."""
    ways: defaultdict[int, list[tuple[int, int | None]]] = defaultdict(list)
    for source, target, letter in paths.edges:
        ways[source].append((target, letter))
    return ways
