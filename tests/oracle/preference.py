"""MATCH_RECOGNIZE's order of preference (docs/language.md, "Selection").

A pattern is read as a machine that takes events one by one. In each state it has alternatives in order of preference:
take the next event at this leaf, or stop. Of two derivations the preferred is the one that takes the earlier
alternative where they first part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .errors import Unsupported
from .patterns import Choice, Close, Conjunction, Leaf, Negation, Node, Repetition, Scope, Sequence

if TYPE_CHECKING:
    from collections.abc import Sequence as List

    from .derivations import Bound, Path


@dataclass(frozen=True)
class Fresh:
    """A pattern of which nothing is taken yet."""

    node: Node
    path: Path


@dataclass(frozen=True)
class Chain:
    """One state after the other; with none left it can only stop."""

    states: tuple[State, ...]


@dataclass(frozen=True)
class Loop:
    """A repetition before its iteration number `count`."""

    node: Repetition
    path: Path
    count: int


@dataclass(frozen=True)
class Shuffle:
    """The operands of an AND, each in its own state."""

    states: tuple[State, ...]


State = Fresh | Chain | Loop | Shuffle


@dataclass(frozen=True)
class Take:
    """The alternative to take the next event at the leaf with this path, and the state after it."""

    path: Path
    then: State


STOP = None
Alternative = Take | None


def preferred(pattern: Node, derivations: List[frozenset[Bound]]) -> frozenset[Bound]:
    """The preferred one of some traced derivations. Where the same leaf may take one of several events, the canonically
    first.
    """
    candidates = [(sorted(bound, key=lambda b: b.event), bound) for bound in derivations]
    state: State = Fresh(pattern, ())
    place = 0
    while True:
        for alternative in alternatives(state):
            if alternative is STOP:
                stopped = [bound for steps, bound in candidates if len(steps) == place]
                if stopped:
                    return stopped[0]
                continue
            takers = [c for c in candidates if len(c[0]) > place and c[0][place].path == alternative.path]
            if takers:
                event = min(steps[place].event for steps, _ in takers)
                candidates = [c for c in takers if c[0][place].event == event]
                state, place = alternative.then, place + 1
                break
        else:
            raise AssertionError("a derivation that its pattern does not have")


def alternatives(state: State) -> list[Alternative]:
    match state:
        case Fresh(Leaf(), path):
            return [Take(path, Chain(()))]
        case Fresh(Sequence(elements), path):
            return alternatives(Chain(tuple(Fresh(element, (*path, i)) for i, element in enumerate(elements))))
        case Fresh(Conjunction(operands), path):
            return alternatives(Shuffle(tuple(Fresh(operand, (*path, i)) for i, operand in enumerate(operands))))
        case Fresh(Choice(options), path):
            return [found for i, option in enumerate(options) for found in alternatives(Fresh(option, (*path, i)))]
        case Fresh(Repetition() as node, path):
            return alternatives(Loop(node, path, 0))
        case Fresh(Scope(body=body) | Close(body=body), path):
            return alternatives(Fresh(body, path))
        case Fresh(Negation()):
            return [STOP]
        case Chain(states):
            return _in_turn(states)
        case Loop():
            return _iterate(state)
        case Shuffle(states):
            return _interleave(states)
    raise Unsupported("no order of preference")


def _in_turn(states: tuple[State, ...]) -> list[Alternative]:
    """Where the first state may stop, the next ones go on."""
    if not states:
        return [STOP]
    found: list[Alternative] = []
    for alternative in alternatives(states[0]):
        if alternative is STOP:
            found += _in_turn(states[1:])
        else:
            found.append(Take(alternative.path, Chain((alternative.then, *states[1:]))))
    return found


def _iterate(loop: Loop) -> list[Alternative]:
    """Greedy: another iteration rather than stop. Reluctant: the other way round.

    As in Perl, from which SQL has the rule, an iteration that matches nothing ends the repetition once there are enough
    of them.
    """
    node, count = loop.node, loop.count
    following = Loop(node, loop.path, count + 1)
    more: list[Alternative] = []
    for alternative in alternatives(Fresh(node.body, (*loop.path, count))) if count != node.most else ():
        if alternative is not STOP:
            more.append(Take(alternative.path, Chain((alternative.then, following))))
        elif count + 1 < node.least:
            more += alternatives(following)
        else:
            more.append(STOP)
    if count < node.least:
        return more
    return [STOP, *more] if node.reluctant else [*more, STOP]


def _interleave(states: tuple[State, ...]) -> list[Alternative]:
    """AND goes on, with the operand written first, where an operand prefers that to stopping; else it stops; else it
    goes on.
    """
    eager: list[Alternative] = []
    lazy: list[Alternative] = []
    can_stop = True
    for i, state in enumerate(states):
        found = alternatives(state)
        stop = found.index(STOP) if STOP in found else len(found)
        can_stop = can_stop and stop < len(found)
        for place, alternative in enumerate(found):
            if alternative is not STOP:
                take = Take(alternative.path, Shuffle((*states[:i], alternative.then, *states[i + 1 :])))
                (eager if place < stop else lazy).append(take)
    return [*eager, STOP, *lazy] if can_stop else [*eager, *lazy]
