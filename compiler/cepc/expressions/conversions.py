"""How operands of different types can stand beside each other."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_runtime.sql.expression import Call
from cepc_runtime.sql.functions import Mismatch
from cepc_runtime.sql.functions.coercion import can_cast
from cepc_runtime.sql.types import DATE, NULL, STRING, TIMES, Array, Interval, Map, Struct, is_numeric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cepc_runtime.sql.expression import Expression
    from cepc_runtime.sql.functions.signature import Build
    from cepc_runtime.sql.types import DataType


def hint_for(arguments: tuple[Expression, ...], build: Build) -> str:
    """How to have types that `build` takes; it does not take these. Empty where there is nothing to tell."""
    types = [*dict.fromkeys(a.type for a in arguments)]
    if STRING in types and any(isinstance(t, Interval) for t in types):
        return "a duration is an interval: `INTERVAL 5 MINUTES`"
    if any(is_numeric(t) for t in types):
        if any(isinstance(t, Interval) for t in types):
            return "a duration is an interval: `INTERVAL 30 SECONDS`; `unix_seconds(x)` makes a number of a timestamp"
        if any(t in TIMES[1:] for t in types):
            return (
                "a duration is an interval: `x + INTERVAL 30 SECONDS`; `unix_seconds(x)` makes a number of a timestamp"
            )
        if DATE in types:
            return "`unix_date(x)` makes a number of a date, `date_from_unix_date(n)` a date of a number"
    if any(_takes_cast(arguments, build, type_, target) for type_, target in permutations(types, 2)):
        return "a CAST says how to convert one into the other: `CAST(x AS …)`"
    if all(isinstance(t, Map) for t in types):
        return "maps are not compared: compare what they have under a key, `m[key]`"
    parts = [part for part in map(_part, types) if part] if len(types) > 1 else []
    return f"take {' or '.join(parts)}" if parts else ""


def unquoted_date(operands: Sequence[ast.Expression], types: Sequence[DataType]) -> str:
    """The same where a date beside a time is written without quotes, `a.at > 2026-03-02`, so that it is a number."""
    time = next((t for t in types if t in TIMES), None)
    if time is None:
        return ""
    for operand in operands:
        match operand:
            case ast.Binary("-", ast.Binary("-", ast.Literal("integer", year), ast.Literal("integer", month)), day):
                if isinstance(day, ast.Literal) and day.kind == "integer" and len(year) == 4:
                    return f"a time is in quotes: write `{time.sql} '{year}-{month:0>2}-{day.text:0>2}'`"
    return ""


def _takes_cast(arguments: tuple[Expression, ...], build: Build, type_: DataType, target: DataType) -> bool:
    """Whether it takes the arguments where a CAST makes those of one type values of another; one of NULL says nothing,
    and intervals have no name in a CAST.
    """
    if NULL in (type_, target) or isinstance(target, Interval) or not can_cast(type_, target):
        return False
    converted = tuple(Call("cast", (a,), target) if a.type == type_ else a for a in arguments)
    return not isinstance(build(converted), Mismatch)


def _part(type_: DataType) -> str:
    match type_:
        case Array():
            return "an element of the array: `a[0]`"
        case Map():
            return "a value of the map: `m[key]`"
        case Struct() if type_.fields:
            return f"a field of the struct: `s.{type_.fields[0].name}`"
    return ""
