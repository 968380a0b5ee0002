"""What of a letter a stream knows of an event as it comes, and what only when the events before it are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cepc_runtime.plan.stream import Letter
from cepc_runtime.sql.expression import fields
from cepc_runtime.sql.functions.portable import spark_only

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from cepc_runtime.plan.stream import Beside
    from cepc_runtime.sql.expression import Expression

    _Conjunction = tuple[Expression, ...]

_NOTHING: Final = Letter(None)


def parted(letters: Iterable[Letter], beside: Iterable[Beside]) -> tuple[tuple[Letter, Letter], ...]:
    """Of each letter what Spark asks of an event, and what is asked of one of which that is true, behind it.

    A condition may fail where one before it is false, so those behind the first with LAG wait for it, but for those
    that Spark alone computes.
    """
    names = {column.name for column in beside}
    return tuple(_parted(letter, names) for letter in letters)


def _parted(letter: Letter, names: Collection[str]) -> tuple[Letter, Letter]:
    first = next((i for i, condition in enumerate(letter.conditions) if _waits([condition], names)), None)
    if first is None:
        later = tuple(some for some in letter.excluded if _waits(some, names))
        asked = Letter(None, (), later) if later else _NOTHING
        return Letter(letter.raw_type, letter.conditions, _without(letter.excluded, later)), asked
    behind = tuple(c for c in letter.conditions[first:] if _waits([c], names) or not spark_only(c))
    later = tuple(some for some in letter.excluded if _waits(some, names) or not any(map(spark_only, some)))
    before = (*letter.conditions[:first], *(c for c in letter.conditions[first:] if c not in behind))
    return Letter(letter.raw_type, before, _without(letter.excluded, later)), Letter(None, behind, later)


def _without(excluded: tuple[_Conjunction, ...], later: Collection[_Conjunction]) -> tuple[_Conjunction, ...]:
    return tuple(some for some in excluded if some not in later)


def _waits(conditions: Iterable[Expression], names: Collection[str]) -> bool:
    return any(field.column in names for condition in conditions for field in fields(condition))
