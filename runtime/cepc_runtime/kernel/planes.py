"""What the kernel keeps for a state and a window: one number for each *plane*.

Plane 0 counts partial matches. Further additive planes sum a value over the events bound to a variable, over all
partial matches; minimum planes keep the least value of any. Which value an event has is said by a `ValueKey`; see
`values.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from typing import Literal as OneOf

from ..sql.types import DataType, is_float

if TYPE_CHECKING:
    from ..plan.automaton import Automaton
    from ..plan.query import Measure
    from ..sql.aggregate_functions import Gathers
    from ..sql.expression import Expression

Role = OneOf["one", "present", "value", "rest", "last", "magnitude", "least", "greatest"]

_PLACES: Final[dict[Gathers, str]] = {"present": "count", "value": "total", "least": "extreme", "greatest": "extreme"}
"""Of a measure's planes, by what they gather."""

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

    @property
    def is_whole(self) -> bool:
        """Whether it is a count or a sum of integers."""
        return self.value.is_whole


@dataclass(frozen=True, slots=True)
class MeasurePlanes:
    """The indexes of the planes that a measure is computed from; None where it needs none."""

    count: int | None = None
    total: int | None = None
    rest: int | None = None  # of totals of FLOAT and DOUBLE: what is to be added,
    last: int | None = None  # and what the kernel adds up apart; then it is in the rest
    magnitude: int | None = None  # of exact totals: below 2^53 it proves that the total is exact
    extreme: int | None = None


@dataclass(frozen=True, slots=True)
class QueryPlanes:
    """Plane 0, which has no variable, is not in `planes`: plane p is `planes[p - 1]`. Additive planes come first."""

    planes: tuple[Plane, ...]
    additive: int  # plane 0 included
    measures: tuple[MeasurePlanes, ...]

    @property
    def count(self) -> int:
        return 1 + len(self.planes)


def is_exact(argument_type: DataType) -> bool:
    """Whether sums over the type are exact: of everything but FLOAT and DOUBLE."""
    return not is_float(argument_type)


def planes_of(automaton: Automaton, measures: tuple[Measure, ...], *, rests: bool = True) -> QueryPlanes:
    """The planes of a query; what several measures need is kept once. Without rests, sums of DOUBLE are as exact as one
    is.
    """
    wanted = [_wanted(automaton, measure, rests) for measure in measures]
    planes = list(dict.fromkeys(plane for needed in wanted for plane in needed.values()))
    planes.sort(key=lambda plane: not plane.additive)
    index = {plane: i + 1 for i, plane in enumerate(planes)}
    found = []
    for measure, needed in zip(measures, wanted, strict=True):
        places = {name: index[plane] for name, plane in needed.items()}
        if measure.variable is None:
            places["count"] = 0
        found.append(MeasurePlanes(**places))
    return QueryPlanes(tuple(planes), 1 + sum(plane.additive for plane in planes), tuple(found))


def _wanted(automaton: Automaton, measure: Measure, rests: bool) -> dict[str, Plane]:
    if measure.variable is None:
        return {}
    # A variable that the automaton never binds gets planes that stay empty.
    unbound = len(automaton.variables)
    variable = automaton.variables.index(measure.variable) if measure.variable in automaton.variables else unbound
    letters = frozenset(s.letter for s in (*automaton.steps, *automaton.ties) if s.variable == variable)

    def plane(role: Role) -> Plane:
        return Plane(variable, ValueKey(role, None if role == "one" else measure.argument, letters))

    if measure.argument is None:
        return {"count": plane("one")}
    needed = {_PLACES[role]: plane(role) for role in measure.function.gathers}
    if not measure.function.adds:
        return needed
    if is_exact(measure.argument.type):
        needed["magnitude"] = plane("magnitude")
    elif rests:
        needed |= {"rest": plane("rest"), "last": plane("last")}
    return needed
