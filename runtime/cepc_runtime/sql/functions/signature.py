"""What the catalogue says about a function, and the usual ways to type a call of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...cheap_dataclass import dataclass
from ..expression import Call, Expression, Literal
from .coercion import ANY, Expected, cast_to, common_type_of_all, describe, implicit_type

if TYPE_CHECKING:
    from ..types import DataType


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why a call has no type. `argument` is the one to blame, counted from 0; None blames them together.

    With `value` not the type of the argument is wrong, but what it is.
    """

    argument: int | None
    expected: str
    value: bool = False


Build = Callable[[tuple[Expression, ...]], "Expression | Mismatch"]
"""From typed arguments to the typed call, coercions as casts. The number of arguments has been checked."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function that means the same in every engine.

    `usage` is what people read; `least` and `most` count its arguments (`most` is None without an end). `exact` is
    False where the last digit of a DOUBLE may differ between engines.
    """

    name: str
    usage: str
    summary: str
    least: int
    most: int | None
    build: Build
    exact: bool = True


def coerce(arguments: tuple[Expression, ...], expected: tuple[Expected, ...]) -> tuple[Expression, ...] | Mismatch:
    """Each argument as what is expected in its place; the last expectation holds for all further arguments."""
    coerced: list[Expression] = []
    for i, argument in enumerate(arguments):
        wanted = expected[min(i, len(expected) - 1)]
        type_ = implicit_type(argument.type, wanted)
        if type_ is None:
            return Mismatch(i, describe(wanted))
        coerced.append(cast_to(argument, type_) if wanted is not ANY else argument)
    return tuple(coerced)


def fixed(name: str, *expected: Expected, to: DataType) -> Build:
    """Arguments as expected, and always the same type of result."""

    def build(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
        coerced = coerce(arguments, expected)
        return coerced if isinstance(coerced, Mismatch) else Call(name, coerced, to)

    return build


def with_third(build: Build, default: Literal) -> Build:
    """The build for three arguments, the last of which may be left out."""

    def complete(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
        return build((*arguments, default) if len(arguments) == 2 else arguments)

    return complete


def of_argument(name: str, *expected: Expected) -> Build:
    """Arguments as expected, and the type of the first as the result's."""

    def build(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
        coerced = coerce(arguments, expected)
        return coerced if isinstance(coerced, Mismatch) else Call(name, coerced, coerced[0].type)

    return build


def to_common(
    arguments: tuple[Expression, ...], *, strings: bool = True
) -> tuple[tuple[Expression, ...], DataType] | Mismatch:
    """The arguments as values of one type, and that type."""
    type_ = common_type_of_all((a.type for a in arguments), strings=strings)
    if type_ is None:
        return Mismatch(None, "values of one type")
    return tuple(cast_to(a, type_) for a in arguments), type_


def literal_int(expression: Expression) -> int | None:
    """The value of an integer literal."""
    if isinstance(expression, Literal) and isinstance(expression.value, int) and not isinstance(expression.value, bool):
        return expression.value
    return None
