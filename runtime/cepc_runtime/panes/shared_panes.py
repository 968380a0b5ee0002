"""Queries whose events are folded into the same panes, and the numbers that a pane has for all of them. Imports no
numpy.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from ..cheap_dataclass import dataclass
from ..kernel.planes import is_exact, planes_of, planes_of_parts
from ..plan.query import Measure
from ..plan.sharing import Member, SharedStates
from ..plan.strategy import Count, PhysicalQuery
from ..plan.windows import Sliding, TimeParts, Unbounded
from ..sql.aggregate_functions import ALONE, COUNT
from ..sql.expression import of_no_variable
from .between_states import count_of_ways, from_to, ways_of
from .cutting import can_be_cut
from .products import Products, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..kernel.planes import Plane, QueryPlanes, Role
    from ..plan.strategy import CountedQuery
    from ..sql.expression import Expression
    from .between_states import Shape, Way

PANE: Final = "_pane"
"""The column with the number of an event's pane; no stream of a job has one of this name."""

MOST: Final = 200
"""So many entries a query's matrix may have; the events of one with more are kept."""

OWN: Final = 2
"""What a pane costs beside its numbers, in numbers: its place in time, and a key."""


@dataclass(frozen=True, slots=True)
class Number:
    """What a pane tells of the ways of a shape: how many they are (`role` None), or what is gathered on them of the
    events bound to a variable of the shape's. The argument is about the event at hand.
    """

    shape: Shape
    role: Role | None = None
    variable: int = -1
    argument: Expression | None = None

    @property
    def whole(self) -> bool:
        """Whether it is an integer, if it is a count or a sum."""
        return self.role != "value" or self.argument is None or is_exact(self.argument.type)


@dataclass(frozen=True)
class Counting:
    """A query that counts the ways of a shape, and which of its planes have which of the family's numbers. The ways
    lead from the state of the query that `source` says.
    """

    query: CountedQuery
    source: tuple[int, int]
    planes: tuple[tuple[int, int], ...]  # plane, number


@dataclass(frozen=True)
class Family:
    """`queries` are numbers of the plan's. A pane is of a partition, and its `times` say where it lies."""

    partition: tuple[str, ...]
    times: TimeParts
    queries: tuple[tuple[int, CountedQuery], ...]

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        return _numbers(query for _, query in self.queries)

    @cached_property
    def letters(self) -> frozenset[int]:
        """Of the events that some query reads."""
        return frozenset(step[2] for number in self.numbers for step in number.shape.steps)

    @cached_property
    def layouts(self) -> dict[int, QueryPlanes]:
        return {number: planes_of_parts(query) for number, query in self.queries}

    @cached_property
    def places(self) -> dict[int, dict[tuple[int, int], tuple[int | None, ...]]]:
        """For each query and entry of its matrix which of the numbers is in which plane; None is nothing."""
        index = {number: place for place, number in enumerate(self.numbers)}
        return {
            n: {
                ends: tuple(None if one is None else index[one] for one in _of_entry(way, self.layouts[n]))
                for ends, way in ways_of(query.automaton).items()
            }
            for n, query in self.queries
        }

    @cached_property
    def products(self) -> Products:
        """What the numbers of two panes are, one after the other."""
        return Products(self.places, self.layouts, rows_of([(n.role, n.whole) for n in self.numbers]))

    @cached_property
    def exact(self) -> frozenset[int]:
        """Which of the numbers results need as integers of any size."""
        return frozenset(place for place, number in enumerate(self.numbers) if number in self._exact)

    @cached_property
    def identities(self) -> frozenset[int]:
        """The numbers that count ways from a state to itself: there is always one."""
        found = (planes[0] for own in self.places.values() for (i, j), planes in own.items() if i == j)
        return frozenset(place for place in found if place is not None)

    @cached_property
    def counting(self) -> tuple[Counting, ...]:
        """The queries that find the numbers, whose groups are panes: their key is that of the family and PANE. They are
        exact where a query's results have to be.
        """
        return tuple(_counting(self, self._exact))

    @cached_property
    def counting_exactly(self) -> tuple[Counting, ...]:
        """The same, all exact."""
        return tuple(_counting(self, frozenset(self.numbers)))

    @cached_property
    def _exact(self) -> frozenset[Number]:
        return frozenset(_numbers(query for _, query in self.queries if any(is_exactly(m) for m in query.measures)))

    @cached_property
    def sharing(self) -> tuple[SharedStates, ...]:
        """Those that count ways from the same state of the same query are kept once."""
        found = defaultdict[tuple[int, int], list[Member]](list)
        for one in self.counting:
            found[one.source].append(Member(one.query.name, tuple(range(one.query.automaton.states))))
        return tuple(SharedStates(tuple(members), equal=True) for members in found.values() if len(members) > 1)


@dataclass(frozen=True, slots=True)
class PaneGroup:
    """The names of queries that are a family, or are left of one, and its times."""

    times: TimeParts
    queries: tuple[str, ...]


def families_of(queries: Iterable[tuple[int, PhysicalQuery]], groups: Sequence[PaneGroup] = ()) -> tuple[Family, ...]:
    """The families of those queries whose events can be folded. Queries with other windows are one family where that is
    fewer numbers for each tick than two. Those of some `groups` are as they were.
    """
    found: list[_Growing] = []
    places = {name: place for place, group in enumerate(groups) for name in group.queries}
    fixed: dict[int, _Growing] = {}
    for number, query in sorted(queries, key=lambda own: own[1].name):  # in whatever order a program has them
        if not (isinstance(query.window, Sliding) and can_be_cut(query)):
            continue
        if count_of_ways(query.automaton) > MOST:
            continue
        own, partition = set(_numbers([query])), tuple(sorted(query.partition))
        if not own:
            continue
        times = query.window.panes
        if (place := places.get(query.name)) is not None:
            group = fixed.setdefault(place, _Growing(partition, groups[place].times, set(), []))
            group.queries.append((number, query))
            continue
        joined = next((one for one in found if one.partition == partition and one.pays(times, own)), None)
        if joined is None:
            found.append(_Growing(partition, times, own, [(number, query)]))
        else:
            joined.times = joined.times.common(times)
            joined.numbers |= own
            joined.queries.append((number, query))
    return tuple(Family(one.partition, one.times, tuple(one.queries)) for one in (*fixed.values(), *found))


@dataclass(slots=True)
class _Growing:
    """A family to which queries are added."""

    partition: tuple[str, ...]
    times: TimeParts
    numbers: set[Number]
    queries: list[tuple[int, CountedQuery]]

    def pays(self, times: TimeParts, numbers: set[Number]) -> bool:
        """Whether a query with such panes and numbers costs no more in the family than by itself."""
        length, own = self.times.length, times.length
        apart = _weight(len(self.numbers)) * own + _weight(len(numbers)) * length
        together = _weight(len(self.numbers) + len(numbers - self.numbers))
        return together * length * own <= apart * self.times.common(times).length


def _weight(numbers: int) -> int:
    return OWN + numbers


# ---- numbers ---------------------------------------------------------------------------------------------------------


def _numbers(queries: Iterable[CountedQuery]) -> tuple[Number, ...]:
    found: dict[Number, None] = {}
    for query in queries:
        layout = planes_of_parts(query)
        for way in ways_of(query.automaton).values():
            found |= dict.fromkeys(number for number in _of_entry(way, layout) if number is not None)
    return tuple(found)


def _of_entry(way: Way, layout: QueryPlanes) -> tuple[Number | None, ...]:
    """By plane of the query. Magnitudes serve exactness where events are counted; a pane has none."""
    return (Number(way.shape), *(_of_plane(way, plane) for plane in layout.planes))


def _of_plane(way: Way, plane: Plane) -> Number | None:
    if plane.value.role == "magnitude" or plane.variable not in way.variables:
        return None
    argument = plane.value.argument
    return Number(way.shape, plane.value.role, way.variables[plane.variable], argument and of_no_variable(argument))


# ---- how they are counted --------------------------------------------------------------------------------------------


def is_exactly(measure: Measure) -> bool:
    """Whether it is computed from integers and no DOUBLE."""
    return measure.exact and measure.is_whole


def _counting(family: Family, exact: frozenset[Number]) -> Iterable[Counting]:
    of_shape: dict[Shape, list[int]] = {}
    for place, number in enumerate(family.numbers):
        of_shape.setdefault(number.shape, []).append(place)
    done: set[Shape] = set()
    keys = (*family.partition, PANE)
    for of, query in family.queries:
        automaton = query.automaton
        for (i, j), way in ways_of(automaton).items():
            if way.shape in done:
                continue
            done.add(way.shape)
            names = {number: automaton.variables[v] for v, number in way.variables.items()}
            numbers = [family.numbers[place] for place in of_shape[way.shape]]
            one = replace(
                query, name=f"{query.name} {i} {j}", partition=keys, group_by=keys, window=Unbounded(), outputs=(),
                strategy=Count(from_to(automaton, i, j)), measures=_measures(numbers, names, exact), having=None,
            )  # fmt: skip
            yield Counting(one, (of, i), _planes(one, numbers, names, of_shape[way.shape]))


def _measures(numbers: Sequence[Number], names: dict[int, str], exact: frozenset[Number]) -> tuple[Measure, ...]:
    found: dict[Measure, None] = {}
    for number in numbers:
        exactly = number.whole and number in exact
        if number.role is None:
            found[Measure(COUNT, None, None, exactly)] = None
        else:
            found[Measure(ALONE[number.role], names[number.variable], number.argument, exactly)] = None
    return tuple(found)


def _planes(
    one: CountedQuery, numbers: Sequence[Number], names: dict[int, str], places: Sequence[int]
) -> tuple[tuple[int, int], ...]:
    variables, found = one.automaton.variables, []
    known = {
        (plane.value.role, plane.variable, plane.value.argument): p
        for p, plane in enumerate(planes_of(one.automaton, one.measures).planes, start=1)
    }
    for number, place in zip(numbers, places, strict=True):
        if number.role is None:
            found.append((0, place))
        else:
            found.append((known[number.role, variables.index(names[number.variable]), number.argument], place))
    return tuple(found)
