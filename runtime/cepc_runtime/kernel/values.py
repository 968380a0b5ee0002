"""The numbers that events contribute to planes: a matrix with a row for each `ValueKey` and a column for each event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..cheap_dataclass import dataclass
from ..events.letters import evaluate_on
from ..numbers.columns import approximate, exact_integers, low_words, nulls, ranks
from ..numbers.doubles import parts
from ..sql.expression import of_no_variable
from .planes import PARTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..events.letters import Kinds
    from ..numbers.columns import Floats, Ints
    from ..numbers.doubles import Scale
    from ..sql.expression import Expression
    from .planes import Role, ValueKey


@dataclass(frozen=True)
class Argument:
    """An argument on the events that can be bound: `column[i]` is of event `rows[i]`."""

    rows: Ints
    column: Any


@dataclass(frozen=True)
class Values:
    """`matrix[index[key]]` are the numbers of a key: 0 where an event adds nothing, inf where it has no place in an
    order.

    `extremes[key]` are the values by rank. `scales[key]` is, group by group, that of a part of FLOAT or DOUBLE;
    groups begin at `groups`.
    """

    matrix: npt.NDArray[np.float64]
    index: dict[ValueKey, int]
    arguments: dict[ValueKey, Argument]
    extremes: dict[ValueKey, Any]
    scales: dict[ValueKey, Scale]
    groups: Ints

    @property
    def nulls(self) -> bool:
        """Whether an argument is null on some event that can be bound."""
        columns = {id(argument): argument.column for argument in self.arguments.values()}  # many keys have the same one
        return any(bool(nulls(column).any()) for column in columns.values())

    def exact(self, key: ValueKey, events: Ints) -> list[int | float | None]:
        """The values of a `present`, `value` or `magnitude` key at some events, as Python numbers; null for None."""
        argument = self.arguments[key]
        places = np.searchsorted(argument.rows, events)
        bound = places < len(argument.rows)
        bound[bound] = argument.rows[places[bound]] == events[bound]
        numbers = _python_numbers(argument.column.take(places[bound]), key)
        found: list[int | float | None] = [None] * len(events)
        for place, number in zip(np.flatnonzero(bound).tolist(), numbers, strict=True):
            found[place] = number
        return found

    def small(self, key: ValueKey, most: float) -> Ints | None:
        """The numbers of an additive key that are integers, all of them smaller than that; None for others."""
        if not key.is_whole or np.abs(self.matrix[self.index[key]]).max(initial=0) >= most:
            return None
        row: Ints = self.modulo([key])[0]
        return np.abs(row) if key.role == "magnitude" else row

    def doubles(self, keys: Sequence[ValueKey]) -> Floats:
        """The values of FLOAT or DOUBLE of which these are the parts (PARTS)."""
        first, rest, last = (self.matrix[self.index[key]] for key in keys)
        return np.asarray(first + (rest + last))  # exactly: one was taken off after the other

    def modulo(self, keys: Sequence[ValueKey]) -> Ints:
        """The numbers of additive keys modulo 2**64: a matrix with a row for each key. Those of a `magnitude` have
        their signs.
        """
        matrix = np.zeros((len(keys), self.matrix.shape[1]), dtype=np.int64)
        for row, key in zip(matrix, keys, strict=True):
            if key.argument is None:
                row[:] = 1
            else:
                argument = self.arguments[key]
                row[argument.rows] = ~nulls(argument.column) if key.role == "present" else low_words(argument.column)
        return matrix


def values_of(keys: Iterable[ValueKey], table: Any, kinds: Kinds, groups: Ints) -> Values:
    """The numbers of the keys for all events of a table; each argument is evaluated once, on events that can be bound.
    `groups` is where the table's groups begin, and its length.

    Queries that name or restrict their variables differently have the numbers in common.
    """
    same: dict[tuple[Role, Expression | None], list[ValueKey]] = {}
    for key in dict.fromkeys(keys):
        same.setdefault((key.role, key.argument and of_no_variable(key.argument)), []).append(key)
    letters: dict[Expression, frozenset[int]] = {}
    for (_, expression), alike in same.items():
        if expression is not None:
            letters[expression] = letters.get(expression, frozenset()).union(*(key.letters for key in alike))
    evaluated = {expression: _argument(expression, bound, table, kinds) for expression, bound in letters.items()}
    matrix = np.zeros((len(same), len(kinds.of)), dtype=np.float64)
    arguments: dict[ValueKey, Argument] = {}
    extremes: dict[ValueKey, Any] = {}
    scales: dict[ValueKey, Scale] = {}
    for row, ((role, expression), alike) in zip(matrix, same.items(), strict=True):
        if expression is None:
            row[:] = 1
            continue
        argument = evaluated[expression]
        arguments |= dict.fromkeys(alike, argument)
        if role in ("least", "greatest"):
            row[:] = np.inf
            row[argument.rows], values = _places(argument.column, role == "greatest")
            extremes |= dict.fromkeys(alike, values)
        elif role in ("rest", "last"):  # they are found with the first part
            continue
        else:
            row[argument.rows] = _numbers(argument.column, role)
    places = {own: number for number, own in enumerate(same)}
    for role, expression in same:
        if role == "value" and ("rest", expression) in places:
            found = parts(matrix[places[role, expression]], groups[:-1])
            for own, (part, scale) in zip(PARTS, found, strict=True):
                matrix[places[own, expression]] = part
                scales |= dict.fromkeys(same[own, expression], scale)
    index = {key: number for number, alike in enumerate(same.values()) for key in alike}
    return Values(matrix, index, arguments, extremes, scales, groups[:-1])


def _argument(expression: Expression, letters: frozenset[int], table: Any, kinds: Kinds) -> Argument:
    rows = np.flatnonzero(kinds.satisfying(letters))
    return Argument(rows, evaluate_on(expression, table, None if len(rows) == len(kinds.of) else rows))


def _numbers(column: Any, role: Role) -> Floats:
    match role:
        case "present":
            return (~nulls(column)).astype(np.float64)
        case "magnitude":
            return np.abs(approximate(column))
    return approximate(column)


def _places(column: Any, negated: bool) -> tuple[Floats, Any]:
    """Ranks, negated for the greatest; inf for nulls, which a minimum ignores."""
    ranked = ranks(column)
    places = ranked.numbers.astype(np.float64)
    return np.where(ranked.numbers < 0, np.inf, -places if negated else places), ranked.values


def _python_numbers(column: Any, key: ValueKey) -> list[int | float | None]:
    if key.role == "present":
        return [None if absent else 1 for absent in nulls(column).tolist()]
    numbers: list[int | float | None] = [*exact_integers(column)] if key.is_whole else column.to_pylist()
    return [None if n is None else abs(n) for n in numbers] if key.role == "magnitude" else numbers
