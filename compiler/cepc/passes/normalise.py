"""normalise: states of different queries that always hold the same are kept once.

Two states hold the same in every window if their queries have the same windows and groups, and what is added to them
comes from states that hold the same, on the same letters (hash-consing of prefixes; for loops, the coarsest such
partition). The rest of what a pattern's normal form is for has been done before: the automaton is the same however a
pattern is written.

    q: SEQ(A, B, C)     r: SEQ(A, B, D)      →      the states of A and of A, B are kept once, those of C and D are not
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from cepc_runtime.plan.automaton import DROPPED
from cepc_runtime.plan.sharing import Member, SharedStates

from ..automaton.minimal import numbered
from ..planning.logical import counted
from .workload import Note

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from cepc_runtime.plan.automaton import Automaton

    from ..planning.logical import CountableQuery
    from .engine import QueryState
    from .workload import Context, Workload


def normalise(workload: Workload, context: Context) -> Workload:  # noqa: ARG001 - a pass
    """Merge what is equal; say which queries ask the same."""
    queries = counted(workload.plan)
    classes = _classes(queries)
    members: defaultdict[tuple[str, ...], list[list[QueryState]]] = defaultdict(list)
    for places in classes:
        first = list({query: (query, state) for query, state in reversed(places)}.values())[::-1]
        if len(first) > 1:
            members[tuple(query for query, _ in first)].append(first)
    parts = [
        SharedStates(
            tuple(Member(name, tuple(places[i][1] for places in found)) for i, name in enumerate(names)), equal=True
        )
        for names, found in members.items()
        if any(state for places in found for _, state in places)  # the start alone is nothing to share
    ]
    result = workload.shared(*parts)
    return result.said(Note("normalise", names, text) for names, text in _sentences(queries, classes))


def _classes(queries: Sequence[CountableQuery]) -> list[list[QueryState]]:
    """All states by what they hold, as the coarsest partition that is stable under what is added to them.

    A state whose sources are known is known too, by one look at it; a source that it is itself counts as itself, since
    no two states of one automaton are reached by the same events. What circles lead to is refined in rounds.
    """
    known: dict[Hashable, int] = {}
    numbers: dict[QueryState, int] = {}
    left: dict[QueryState, list[tuple[Hashable, QueryState]]] = {}
    for query in queries:
        sources: list[list[tuple[Hashable, int]]] = [[] for _ in range(_automaton(query).states)]
        for target, key, source in _incoming(query):
            sources[target].append((key, source))
        own: dict[int, int] = {-1: -1}
        waiting = list(range(len(sources)))
        while waiting:
            later = []
            for state in waiting:
                added = [(key, own.get(-1 if source == state else source)) for key, source in sources[state]]
                if any(number is None for _, number in added):
                    later.append(state)
                    continue
                held = _kind(query, state), frozenset(Counter(added).items())
                own[state] = numbers[query.name, state] = known.setdefault(held, len(known))
            if len(later) == len(waiting):
                break
            waiting = later
        for state in waiting:
            left[query.name, state] = [(key, (query.name, source)) for key, source in sources[state]]
    if left:
        numbers |= _refined(left, numbers, {q.name: q for q in queries})
    classes: defaultdict[int, list[QueryState]] = defaultdict(list)
    for query in queries:
        for state in range(_automaton(query).states):
            classes[numbers[query.name, state]].append((query.name, state))
    return list(classes.values())


def _refined(
    left: Mapping[QueryState, Sequence[tuple[Hashable, QueryState]]],
    known: Mapping[QueryState, int],
    queries: Mapping[str, CountableQuery],
) -> dict[QueryState, int]:
    """Numbers of their own for the places that are left."""
    numbers = numbered({place: _kind(queries[place[0]], place[1]) for place in left})
    while True:

        def number(source: QueryState, numbers: Mapping[QueryState, int] = numbers) -> tuple[bool, int]:
            return (True, numbers[source]) if source in numbers else (False, known[source])

        refined = numbered(
            {
                place: (numbers[place], frozenset(Counter((key, number(source)) for key, source in added).items()))
                for place, added in left.items()
            }
        )
        if len(set(refined.values())) == len(set(numbers.values())):
            return {place: -1 - found for place, found in refined.items()}
        numbers = refined


def _kind(query: CountableQuery, state: int) -> Hashable:
    """What two states must agree on before anything is said of how they are reached. Where a NOT moves values between
    states, only states of the same number in queries with the same moves are compared.
    """
    automaton = _automaton(query)
    moved = automaton.moves or automaton.new_moves or automaton.kills
    negation = (automaton.moves, automaton.new_moves, automaton.kills, state) if moved else ()
    return query.partition, query.window, state == 0, negation


def _incoming(query: CountableQuery) -> Iterator[tuple[int, Hashable, int]]:
    """What is added to each state: the state, on what, and the state from which it comes."""
    automaton = _automaton(query)
    for tie, steps in enumerate((automaton.steps, automaton.ties)):
        for step in steps:
            yield step.target, ("step", tie, step.letter), step.source
    for new, moves in enumerate((automaton.moves, automaton.new_moves)):
        for move in moves:
            if move.target != DROPPED:
                yield move.target, ("move", new, move.negation, move.letters), move.source


def _sentences(
    queries: Sequence[CountableQuery], classes: Sequence[Sequence[QueryState]]
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Queries that ask the same, and those that count prefixes of another's matches."""
    number = {place: i for i, places in enumerate(classes) for place in places}
    accepted = {q.name: frozenset(number[q.name, state] for state in _automaton(q).accepting) for q in queries}
    by_matches: defaultdict[frozenset[int], list[CountableQuery]] = defaultdict(list)
    for query in queries:
        by_matches[accepted[query.name]].append(query)
    for same in by_matches.values():
        names = tuple(q.name for q in same)
        if len(same) < 2:
            continue
        rows = {(q.measures, q.outputs, q.having, q.group_by, q.variables) for q in same}
        yield names, "have the same rows" if len(rows) == 1 else "count the same matches"
    firsts = [same[0] for same in by_matches.values()]
    having: defaultdict[int, dict[str, None]] = defaultdict(dict)  # by state: those that have it, in order
    for query in firsts:
        for state in range(_automaton(query).states):
            having[number[query.name, state]][query.name] = None
    for shorter in (q.name for q in firsts):
        several = sorted((having[state] for state in accepted[shorter]), key=len)
        candidates = several[0] if several else [q.name for q in firsts]
        longer = (n for n in candidates if n != shorter and all(n in others for others in several[1:]))
        if found := next(longer, None):
            yield (shorter, found), f"what {shorter} counts is a prefix of what {found} counts"


def _automaton(query: CountableQuery) -> Automaton:
    return query.automaton
