"""What the kernel keeps for a state and a window: one number for each *plane*.

Plane 0 counts partial matches. Further additive planes sum a value over the events bound to a variable, over all
partial matches; minimum planes keep the least value of any. Which value an event has is said by a `ValueKey`; see
`values.py`.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final
from typing import Literal as OneOf

from ..cheap_dataclass import dataclass
from ..plan.automaton import DROPPED
from ..sql.types import DataType, is_float

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..plan.automaton import Automaton
    from ..plan.query import Measure
    from ..plan.strategy import CountedQuery
    from ..sql.expression import Expression

Role = OneOf["one", "present", "value", "rest", "last", "magnitude", "least", "greatest"]

PARTS: Final[tuple[Role, Role, Role]] = ("value", "rest", "last")
"""Of a FLOAT or DOUBLE."""


@dataclass(frozen=True, slots=True)
class ValueKey:
    """The value of an event that is bound to a variable: 1; 1 if the argument is not null; the argument; its magnitude;
    or its place among all values, negated for `greatest`. Of a FLOAT or DOUBLE, `value`, `rest` and `last` are the
    parts that it is taken into (doubles.py). `letters` are those with which the variable is bound: the argument is
    evaluated on no other event.
    """

    role: Role
    argument: Expression | None
    letters: frozenset[int]

    @property
    def is_whole(self) -> bool:
        """Whether it is 1, or an integer."""
        return self.role in ("one", "present", "magnitude") or (
            self.role == "value" and self.argument is not None and is_exact(self.argument.type)
        )


@dataclass(frozen=True, slots=True)
class Plane:
    variable: int
    value: ValueKey

    @property
    def additive(self) -> bool:
        return self.value.role not in ("least", "greatest")


@dataclass(frozen=True, slots=True)
class CountPlane:
    count: int

    @property
    def integers(self) -> tuple[int, ...]:
        return (self.count,)


@dataclass(frozen=True, slots=True)
class SumPlanes:
    """How many values there are, and their total; a rest is to be added to one of FLOAT and DOUBLE."""

    count: int
    total: int
    rest: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegerSumPlanes(SumPlanes):
    """As the kernel keeps them: a magnitude below 2^53 proves that the total is exact."""

    magnitude: int

    @property
    def integers(self) -> tuple[int, ...]:
        return self.count, self.total, self.magnitude


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubleSumPlanes(SumPlanes):
    """As the kernel keeps them: it adds up the last part apart; then it is in the rest."""

    rest: int
    last: int

    @property
    def parts(self) -> tuple[int, int, int]:
        return self.total, self.rest, self.last


@dataclass(frozen=True, slots=True)
class ExtremePlane:
    extreme: int


MeasurePlanes = CountPlane | SumPlanes | ExtremePlane
"""The indexes of the planes that a measure is computed from."""


@dataclass(frozen=True, slots=True)
class QueryPlanes:
    """Plane 0, which has no variable, is not in `planes`: plane p is `planes[p - 1]`. Additive planes come first."""

    planes: tuple[Plane, ...]
    additive: int  # plane 0 included
    measures: tuple[MeasurePlanes, ...]

    @property
    def count(self) -> int:
        return 1 + len(self.planes)


@dataclass(frozen=True)
class KeptPlanes:
    """What the kernel keeps of some queries, and for each the places of the planes that are asked for among these."""

    of: tuple[QueryPlanes, ...]
    asked: tuple[tuple[int, ...], ...]


def is_exact(argument_type: DataType) -> bool:
    """Whether sums over the type are exact: of everything but FLOAT and DOUBLE."""
    return not is_float(argument_type)


def planes_of(
    automaton: Automaton, measures: tuple[Measure, ...], *, rests: bool = True, nulls: bool = True
) -> QueryPlanes:
    """The planes of a query; what several measures need is kept once. Without rests, sums of DOUBLE are as exact as one
    is. Without nulls, a variable that each match binds once has as many values as there are matches: plane 0.
    """
    wanted = [_wanted(automaton, measure, rests, nulls) for measure in measures]
    planes = list(dict.fromkeys(plane for needed in wanted for plane in needed.values()))
    planes.sort(key=lambda plane: not plane.additive)
    index = {plane: i + 1 for i, plane in enumerate(planes)}
    found = tuple(_found({role: index[plane] for role, plane in needed.items()}) for needed in wanted)
    return QueryPlanes(tuple(planes), 1 + sum(plane.additive for plane in planes), found)


def planes_of_parts(query: CountedQuery) -> QueryPlanes:
    """Those of a query that is counted in parts: without rests, as sums of DOUBLE are rounded once for each part."""
    return planes_of(query.automaton, query.measures, rests=False)


def _found(places: dict[Role, int]) -> MeasurePlanes:
    count = places.get("present", places.get("one", 0))  # plane 0 is of matches
    match places:
        case {"value": total, "magnitude": magnitude}:
            return IntegerSumPlanes(count, total, magnitude=magnitude)
        case {"value": total, "rest": rest, "last": last}:
            return DoubleSumPlanes(count, total, rest=rest, last=last)
        case {"value": total}:
            return SumPlanes(count, total)
        case {"least": extreme} | {"greatest": extreme}:
            return ExtremePlane(extreme)
    return CountPlane(count)


def kept_planes(kept: Sequence[QueryPlanes], asked: Sequence[QueryPlanes]) -> KeptPlanes:
    """The numbers of a plane that is asked for and not kept are those of plane 0."""
    return KeptPlanes(tuple(kept), tuple(_places_in(*both) for both in zip(kept, asked, strict=True)))


def _places_in(kept: QueryPlanes, asked: QueryPlanes) -> tuple[int, ...]:
    places = {plane: i for i, plane in enumerate(kept.planes, start=1)}
    return 0, *(places.get(plane, 0) for plane in asked.planes)


def _is_bound_once(automaton: Automaton, variable: int) -> bool:
    """Whether every match binds the variable to one event."""
    ways_on: defaultdict[int, set[tuple[int, bool]]] = defaultdict(set)
    for step in (*automaton.steps, *automaton.ties):
        ways_on[step.source].add((step.target, step.variable == variable))
    for move in (*automaton.moves, *automaton.new_moves):
        if move.target != DROPPED:
            ways_on[move.source].add((move.target, False))
    times: defaultdict[int, set[int]] = defaultdict(set, {0: {0}})  # it may be bound in a state; 2 is more than once
    waiting = [0]
    while waiting:
        state = waiting.pop()
        for target, binds in ways_on[state]:
            if new := {min(n + binds, 2) for n in times[state]} - times[target]:
                times[target] |= new
                waiting.append(target)
    return all(times[state] <= {1} for state in automaton.accepting)


def _wanted(automaton: Automaton, measure: Measure, rests: bool, nulls: bool) -> dict[Role, Plane]:
    if measure.variable is None:
        return {}
    # A variable that the automaton never binds gets planes that stay empty.
    unbound = len(automaton.variables)
    variable = automaton.variables.index(measure.variable) if measure.variable in automaton.variables else unbound
    letters = frozenset(s.letter for s in (*automaton.steps, *automaton.ties) if s.variable == variable)

    def plane(role: Role) -> Plane:
        return Plane(variable, ValueKey(role, None if role == "one" else measure.argument, letters))

    if measure.argument is None:
        return {"one": plane("one")}
    alone = not nulls and _is_bound_once(automaton, variable)
    needed: dict[Role, Plane] = {r: plane(r) for r in measure.function.gathers if r != "present" or not alone}
    if not measure.function.adds:
        return needed
    if is_exact(measure.argument.type):
        needed["magnitude"] = plane("magnitude")
    elif rests:
        needed |= {"rest": plane("rest"), "last": plane("last")}
    return needed
