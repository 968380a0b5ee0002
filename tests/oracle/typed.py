"""An expression made ready: its static type, and a function from a row environment to its value. A null is None."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from .casts import cast
from .types import Type, common_of

Env = Mapping[object, object]


@dataclass(frozen=True, slots=True)
class Typed:
    type: Type
    run: Callable[[Env], Any]


def constant(kind: Type, value: object) -> Typed:
    return Typed(kind, lambda _: value)


def strict(kind: Type, function: Callable[..., Any], *arguments: Typed) -> Typed:
    """A function that is null when an argument is null."""

    def run(env: Env) -> object:
        values = []
        for argument in arguments:
            value = argument.run(env)
            if value is None:
                return None
            values.append(value)
        return function(*values)

    return Typed(kind, run)


def converted(typed: Typed, kind: Type) -> Typed:
    """The same expression, cast to a type."""
    return typed if typed.type == kind else strict(kind, lambda value: cast(value, typed.type, kind), typed)


def together(*operands: Typed) -> tuple[Typed, ...]:
    """The operands cast to the type they have in common."""
    kind = common_of(operand.type for operand in operands)
    return tuple(converted(operand, kind) for operand in operands)


def order_key(value: object) -> Any:
    """A hashable key that sorts and groups values of one type as Spark does.

    Nulls come first and equal one another, NaN equals NaN and is greater than any number, -0.0 is 0.0.
    """
    match value:
        case None:
            return (0,)
        case bool() | int() | Decimal() | str() | bytes() | date() | timedelta():
            return (1, value)
        case float():
            return (1, 1, 0.0) if math.isnan(value) else (1, 0, value)
        case list() | tuple():
            return (1, tuple(order_key(v) for v in value))
        case dict():
            return (1, tuple(order_key(v) for v in value.values()))
    raise TypeError(f"no order among {type(value).__name__}")
