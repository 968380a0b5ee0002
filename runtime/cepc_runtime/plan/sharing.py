"""What queries share: states that are counted once, and parts of matches that are found once."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ..cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .positions import ConditionPlan


@dataclass(frozen=True, slots=True)
class Member:
    """States of the automaton of a query, in an order of their own."""

    query: str
    states: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SharedStates:
    """State i of each member corresponds to state i of the others: the kernel keeps them side by side.

    Any correspondence gives the right rows; it pays where the members' steps between these states are alike, as each is
    then one operation for all. `equal` is a promise that corresponding states hold the same in every window, so that
    they are kept once: the members' queries have the same windows, and what leads to a state is the same in each.
    `basis` says that a run of events may be propagated once, on basis columns (the papers' snapshots), instead of on
    each member's own.
    """

    members: tuple[Member, ...]
    equal: bool = False
    basis: bool = False

    def __post_init__(self) -> None:
        if len({len(member.states) for member in self.members}) != 1:
            raise ValueError("members with different numbers of states")

    @property
    def places(self) -> Iterator[tuple[str, int]]:
        """Every query and state of the part."""
        return ((member.query, state) for member in self.members for state in member.states)


@dataclass(frozen=True, slots=True)
class LeafCondition:
    """A condition in which the variable `condition.variables[i]` stands for the event at leaf `leaves[i]`."""

    condition: ConditionPlan
    leaves: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class JoinEvents:
    """The events of `letter` become the leaf in `leaves`: after the events at the leaves `after`, before those at
    `before`, and none of those at `apart`.
    """

    leaves: tuple[int, ...]
    letter: int
    after: tuple[int, ...] = ()
    before: tuple[int, ...] = ()
    apart: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class JoinMatches:
    """The matches of part number `part` become the leaves `leaves`, likewise."""

    leaves: tuple[int, ...]
    part: int
    after: tuple[int, ...] = ()
    before: tuple[int, ...] = ()
    apart: tuple[int, ...] = ()


JoinStep = JoinEvents | JoinMatches


@dataclass(frozen=True, slots=True)
class MatchPart:
    """A pattern of `leaves` single events, and how its matches are found: from those of part `source`, whose leaf i is
    leaf `places[i]` here, or from nothing; then join by join.

    Of the source's matches those stay in which the events at each pair of `order` follow one another and that fit in
    `within`. `conditions` are those that the inputs have not been asked for. No event of the letters `absent` lies
    anywhere in the window of a match. `leads`: the event at leaf 0 precedes all others.
    """

    leaves: int
    within: int | None
    joins: tuple[JoinStep, ...]
    source: int | None = None
    places: tuple[int, ...] = ()
    order: tuple[tuple[int, int], ...] = ()
    conditions: tuple[LeafCondition, ...] = ()
    absent: tuple[int, ...] = ()
    leads: bool = False


@dataclass(frozen=True, slots=True)
class MatchAnswer:
    """The matches of a query are those of a part, with these variables at its leaves."""

    query: str
    part: int
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SharedMatches:
    """Match queries of one partition that are answered by joins, and share the matches of parts of their patterns if
    they are several. A part uses earlier parts alone.
    """

    parts: tuple[MatchPart, ...]
    answers: tuple[MatchAnswer, ...]

    def __post_init__(self) -> None:
        for number, part in enumerate(self.parts):
            if any(used >= number for used in part_inputs(part)):
                raise ValueError(f"part {number} uses a part that comes later")


def part_inputs(part: MatchPart) -> tuple[int, ...]:
    """The parts whose matches it uses."""
    found = (part.source, *(join.part for join in part.joins if isinstance(join, JoinMatches)))
    return tuple(dict.fromkeys(number for number in found if number is not None))


def check_shared_once(sharing: Sequence[SharedStates]) -> None:
    """Raises ValueError where a state is in more parts than it may be."""
    for equal in (True, False):
        shared = Counter(place for part in sharing if part.equal == equal for place in part.places)
        if twice := [place for place, times in shared.items() if times > 1]:
            raise ValueError(f"state {twice[0][1]} of query {twice[0][0]} is shared twice")
    follow = {(m.query, state) for part in sharing if part.equal for m in part.members[1:] for state in m.states}
    for query, state in (place for part in sharing if not part.equal for place in part.places):
        if (query, state) in follow:
            raise ValueError(f"state {state} of query {query} is kept with another, which has to stand for it")
