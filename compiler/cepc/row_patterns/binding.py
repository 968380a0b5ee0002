"""A pattern with variables of ours: places of a SQL variable in whose condition the same rows are meant are one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cepc_runtime.cheap_dataclass import dataclass

from . import messages as say
from .define import (
    MOST_WRITTEN_OUT,
    BoundVariable,
    Mentioned,
    Unsure,
    WhichRow,
    counts_all,
    farthest,
    is_aggregated,
    rows_at,
)
from .navigation import RefusedError
from .numbered import counted
from .paths import paths_of
from .shape import places_of
from .spread import spread

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cepc_grammar.source import Span

    from .naming import ClauseNames
    from .navigation import ClauseScope
    from .paths import RowPaths
    from .shape import PlacePattern, VariablePlace

ROUNDS: Final = 3
"""So often alternatives are written out for conditions, and once more for each row further back."""


@dataclass(frozen=True, slots=True)
class BoundPattern:
    pattern: PlacePattern
    paths: RowPaths
    mentioned: Mentioned
    variables: tuple[BoundVariable, ...]

    def of(self, place: VariablePlace) -> BoundVariable:
        return next(one for one in self.variables if place.number in one.places)

    def repeats(self, variable: BoundVariable) -> bool:
        """Whether a match may have several rows of it."""
        return any(self.paths.can_follow(place, variable.places) for place in variable.places)

    def place_of(self, variable: BoundVariable) -> VariablePlace:
        """One of the variable's places."""
        return next(place for place in places_of(self.pattern) if place.number in variable.places)


def bound(
    pattern: PlacePattern, names: ClauseNames, scope: ClauseScope, span: Span, *, rows_shown: bool
) -> BoundPattern:
    """The pattern, with alternatives written out where a condition depends on them; as it is where that would not help,
    but rows so far would. Raises RefusedError and PatternTooLarge. Where rows are shown, those that are excluded are of
    variables of their own.
    """
    try:
        return _bound(pattern, names, scope, span, rows_shown=rows_shown, so_far=False)
    except RefusedError as refused:
        try:
            return _bound(pattern, names, scope, span, rows_shown=rows_shown, so_far=True)
        except RefusedError:
            raise refused from None


def _bound(
    pattern: PlacePattern, names: ClauseNames, scope: ClauseScope, span: Span, *, rows_shown: bool, so_far: bool
) -> BoundPattern:
    left = ROUNDS + min(farthest(names.conditions.values()), MOST_WRITTEN_OUT)
    while True:
        paths, places = paths_of(pattern), places_of(pattern)
        mentioned = Mentioned(
            names.members,
            {k: frozenset(p.number for p in places if p.variable in own) for k, own in names.members.items()},
            frozenset(
                variable
                for variable, condition in names.conditions.items()
                if is_aggregated(condition, variable, names)
            ),
            left > 0,
            so_far,
        )
        rows: dict[int, tuple[WhichRow | Unsure, ...]] = {}
        refused: list[RefusedError] = []
        for place in places:
            try:
                rows[place.number] = rows_at(place, names.conditions.get(place.variable), scope, mentioned, paths)
            except RefusedError as error:
                refused.append(error)
        unsure = [row for found in rows.values() for row in found if isinstance(row, Unsure)]
        begun = _begun(places, names, paths)
        several = {name for found in begun.values() if len(found) > 1 for name in found} if left > 0 else set[str]()
        if not unsure and not several:
            if refused:
                raise refused[0]
            return BoundPattern(pattern, paths, mentioned, _divided(places, rows, begun, apart=rows_shown))
        if left == 0:
            raise RefusedError(unsure[0].refused)
        wider = spread(pattern, frozenset(several).union(*(row.variables for row in unsure)))
        if wider is None and unsure and not any(row.may_be_back for row in unsure):
            raise RefusedError(say.too_long(span))
        left = 0 if wider is None else left - 1
        pattern = pattern if wider is None else wider


def _begun(places: list[VariablePlace], names: ClauseNames, paths: RowPaths) -> dict[int, frozenset[str]]:
    """Of which variables the first row of a match may be, at each place whose condition counts the rows since then."""
    variables = {place.number: place.variable for place in places}
    found: dict[int, frozenset[str]] = {}
    for place in places:
        condition = names.conditions.get(place.variable)
        others = [other.number for other in places if other.variable == place.variable]
        if condition is not None and counts_all(condition) and any(paths.can_follow(one, variables) for one in others):
            first = paths.may_precede(place.number, paths.begins) | (paths.begins & {place.number})
            found[place.number] = frozenset(variables[number] for number in first)
    return found


def _divided(
    places: list[VariablePlace],
    rows: Mapping[int, tuple[WhichRow | Unsure, ...]],
    begun: Mapping[int, frozenset[str]],
    *,
    apart: bool,
) -> tuple[BoundVariable, ...]:
    """The first places of a variable keep its name, others become `A 2`, `A 3`. Those that are excluded may stand
    `apart`, and so do those at which a match has `begun` with another variable.
    """
    groups: dict[tuple[str, tuple[WhichRow, ...], bool, frozenset[str]], set[int]] = {}
    for place in places:
        known = tuple(row for row in rows[place.number] if not isinstance(row, Unsure))
        kind = (place.variable, known, apart and place.excluded, begun.get(place.number, frozenset()))
        groups.setdefault(kind, set()).add(place.number)
    written = {place.variable for place in places}
    taken: set[str] = set()
    found: list[BoundVariable] = []
    for (variable, known, excluded, _), numbers in groups.items():
        name = counted(variable, " ", taken | (written - {variable}))
        taken.add(name)
        found.append(BoundVariable(name, variable, frozenset(numbers), known, excluded))
    return tuple(found)
