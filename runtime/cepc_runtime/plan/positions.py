"""A pattern in its nondeterministic form: one path is one *derivation*. It knows negation in full, the scopes of named
patterns and MATCH_RECOGNIZE's preference, and drives enumeration.

An edge is a *step*, to an event of a strictly later instant than the last event read, or a *tie*, to an event of the
same instant that is canonically later; ties occur only inside AND.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from typing import Literal as OneOf

from ..cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..sql.expression import Expression

Instance = OneOf["current", "next", "none"]
"""Of a scope, seen from the event that ends a gap: the one begun before it, the one that it begins, or one without
events.
"""


@dataclass(frozen=True, slots=True)
class Guard:
    """No match of negation `negation` in the gap of `track` that the edge (or the acceptance) ends.

    The gap of a track begins after the last event read on that track (with the window if there is none). Track 0 is the
    whole match; an AND operand with a NOT inside has a track of its own. `scopes` are those in which the NOT stands and
    that have conditions on what it negates, each with the instance that it belongs to.
    """

    negation: int
    track: int = 0
    scopes: tuple[tuple[int, Instance], ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """Read an event of `letter`, bound to `variable`. `enters` are the scopes of which a new instance begins with this
    event; `tracks` those that the event belongs to; `rank` orders the edges (and the acceptance) of a state by
    preference, 0 first.
    """

    source: int
    target: int
    letter: int
    variable: str
    tie: bool = False
    guards: tuple[Guard, ...] = ()
    tracks: tuple[int, ...] = (0,)
    scopes: tuple[int, ...] = ()  # all scopes that the event stands in
    enters: tuple[int, ...] = ()
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The match may end in `state` if no guard is violated. A state can have several, with different guards."""

    state: int
    guards: tuple[Guard, ...] = ()
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Negation:
    """What a guard forbids.

    A match of `positions`, in which every variable is negated. `within` ends the gap early (ticks).
    """

    positions: Positions
    within: int | None = None
    window_wide: bool = False  # NOT in the outermost AND: nowhere in the window


@dataclass(frozen=True, slots=True)
class Positions:
    """State 0 is the start. `tracks` counts them. `ambiguous` says that a match can have several derivations."""

    states: int
    edges: tuple[Edge, ...]
    acceptances: tuple[Acceptance, ...]
    tracks: int = 1
    ambiguous: bool = False
    negations: tuple[Negation, ...] = ()


@dataclass(frozen=True, slots=True)
class ConditionPlan:
    """A condition over several variables or several events of one. `scope` is None for one of the query's own WHERE.

    `negation` is the negation whose variables it mentions, if any: then it narrows what that negation forbids.
    """

    expression: Expression
    variables: tuple[str, ...]
    scope: int | None
    negation: int | None
    text: str


def pattern_letters(positions: Positions) -> Iterator[int]:
    """The letters along which matches of a pattern are listed, negated ones too."""
    yield from (edge.letter for edge in positions.edges)
    for negation in positions.negations:
        yield from pattern_letters(negation.positions)
