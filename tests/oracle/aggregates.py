"""Aggregate functions over the events of matches, exactly, and the types of their results (docs/language.md,
"Results").
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from typing import cast as cast_to

from cepc_grammar import ast

from .casts import EXACT, cast, in_range, to_decimal, to_float
from .conditions import Bindings, places, variable_in
from .errors import EvaluationError, Unsupported
from .expressions import compiled
from .typed import Env, Typed, constant, converted, order_key
from .types import BIGINT, DOUBLE, INT, STRING, Type, array, decimal, is_decimal, is_fractional, is_integral

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .stream import Event, Events

ENDS = ("FIRST", "LAST")
MATCH_ONLY = (*ENDS, "COLLECT", "MIN_BY", "MAX_BY")


class DoesNotFit(Exception):  # noqa: N818
    """An aggregate's value does not fit its type; whoever knows query, group and window says so."""


@dataclass(frozen=True)
class Aggregate:
    """An aggregate call, ready to be computed over some matches."""

    function: str
    variable: str | None  # None: all events of a match; of an aggregate query COUNT(*)
    argument: Typed
    of_matches: bool
    distinct: bool = False
    by: Typed | None = None
    far: int = 0  # FIRST, LAST: so many events after the first, before the last

    @property
    def type(self) -> Type:
        kind = self.argument.type
        match self.function:
            case "COUNT" | "TRY_COUNT":
                return BIGINT
            case "SUM" | "TRY_SUM":
                if is_integral(kind):
                    return BIGINT
                return (
                    decimal(min(kind.numbers[0] + 10, 38), kind.numbers[1]) if is_decimal(kind) else _double_for(kind)
                )
            case "AVG":
                return (
                    decimal(min(kind.numbers[0] + 4, 38), min(kind.numbers[1] + 4, 38)) if is_decimal(kind) else DOUBLE
                )
            case "COLLECT":
                return array(kind)
            case "VARIANCE" | "VAR_POP" | "STDDEV" | "STDDEV_POP":
                return DOUBLE
        return kind

    def exact(self, matches: Sequence[Bindings], events: Events) -> Any:
        """The value over the matches, of any size."""
        if self.variable is None and not self.of_matches:
            return len(matches)
        bound = [pair for bindings in matches for pair in self._bound(bindings)]
        environments: list[Env] = [{v: events.rows[e], None: events.rows[e], "at": (e, v)} for e, v in bound]
        every = [self.argument.run(env) for env in environments]
        if self.by is not None:
            keys = [self.by.run(env) for env in environments]
            return _at_best(every, keys, greatest=self.function == "MAX_BY")
        if self.distinct:
            every = _different(every)
        values = [value for value in every if value is not None]
        match self.function:
            case "COUNT" | "TRY_COUNT":
                return len(values)
            case "COLLECT":
                return every
            case "FIRST" | "LAST":
                return every[self.far if self.function == "FIRST" else -1 - self.far] if self.far < len(every) else None
            case _ if not values:
                return None
            case "MIN" | "MAX":
                return (min if self.function == "MIN" else max)(values, key=order_key)
            case "AVG":
                return _average(values, self.type)
            case "VARIANCE" | "STDDEV" if len(values) == 1:
                return None
            case "VARIANCE" | "VAR_POP" | "STDDEV" | "STDDEV_POP" as name:
                return _spread(values, sample="POP" not in name, root="STDDEV" in name)
        return _sum(values)

    def _bound(self, bindings: Bindings) -> list[tuple[Event, str]]:
        """Its events of a match with their variables, in canonical order."""
        return sorted(
            (event, variable)
            for variable, bound in bindings.items()
            for event in bound
            if self.variable in (None, variable)
        )

    def fitted(self, value: Any) -> Any:
        """The exact value in the result type. TRY_ functions are null where it does not fit."""
        try:
            return _fitted(value, self.type)
        except DoesNotFit:
            if self.function.startswith("TRY_"):
                return None
            raise

    def cast(self, value: Any, target: Type, safe: bool) -> Any:
        """The exact value as a type written directly around the aggregate: "the cure"."""
        if self.function not in ("COUNT", "SUM") or target == self.type:
            value = self.fitted(value)
        try:
            return cast(value, self.type, target)
        except EvaluationError as error:
            if safe:
                return None
            raise DoesNotFit from error


def aggregate(
    call: ast.Call, variables: frozenset[str], events: Events, of_matches: bool, prefix: str = ""
) -> Aggregate:
    """The call made ready. Its argument is about the events of one variable, or in a match about all of its events."""
    function = call.function.text.upper()
    by_another = function in ("MIN_BY", "MAX_BY")
    argument, *more = call.arguments
    wanted = 1 if by_another else len(more) if function in ENDS else 0
    if len(more) != wanted or ((function in MATCH_ONLY or call.distinct) and not of_matches):
        raise Unsupported(f"{function} in this place")
    if isinstance(argument, ast.Star):
        return Aggregate(function, None, constant(INT, 1), of_matches)
    mentioned: set[str] = set()

    def leaf(node: ast.Expression) -> Typed | None:
        if isinstance(node, ast.Call) and node.function.text.upper() == "VARIABLE":
            return Typed(STRING, lambda env: at(env)[1])
        if not isinstance(node, ast.Reference):
            return None
        variable, rest = variable_in(node.parts, variables, prefix)
        if variable is None:
            return events.column(node.parts, None)
        mentioned.add(variable)
        return events.column(rest, variable) if rest else constant(INT, 1)  # COUNT(E): every event counts

    typed = compiled(argument, leaf)
    by = compiled(call.arguments[1], leaf) if by_another else None
    if len(mentioned) > 1 or (not mentioned and (not of_matches or function in ENDS)):
        raise Unsupported("an aggregate's argument mentions one variable")
    if typed.type == STRING and function in ("SUM", "TRY_SUM", "AVG"):
        typed = converted(typed, DOUBLE)
    return Aggregate(
        function,
        next(iter(mentioned), None),
        typed,
        of_matches,
        call.distinct,
        by,
        0 if by_another else places(more, 0),
    )


def at(env: Env) -> tuple[Event, str]:
    """The event at hand, and the variable to which it is bound."""
    event, variable = cast_to("tuple[Event, str]", env["at"])
    return event, variable


def _different(values: list[Any]) -> list[Any]:
    """Each value once, where it is first."""
    found: list[Any] = []
    for value in values:
        if all(not _equal(value, other) for other in found):
            found.append(value)
    return found


def _equal(one: Any, other: Any) -> bool:
    return one is other if one is None or other is None else bool(order_key(one) == order_key(other))


def _at_best(values: list[Any], keys: list[Any], *, greatest: bool) -> Any:
    """The value of the first of those with the best key."""
    known = [key for key in keys if key is not None]
    if not known:
        return None
    best = (max if greatest else min)(known, key=order_key)
    return next(value for value, key in zip(values, keys, strict=True) if _equal(key, best))


def _double_for(kind: Type) -> Type:
    return DOUBLE if is_fractional(kind) else kind


def _sum(values: list[Any]) -> Any:
    """Exact for integers and decimals; for doubles the exact sum rounded once."""
    if isinstance(values[0], Decimal):
        total = Decimal(0)
        for value in values:
            total = EXACT.add(total, value)
        return total
    if isinstance(values[0], timedelta):
        return sum(values, timedelta())
    if isinstance(values[0], float):
        return _special(values) if not all(map(math.isfinite, values)) else to_float(sum(map(Fraction, values)))
    return sum(values)


def _average(values: list[Any], kind: Type) -> Any:
    """The exact quotient, rounded once."""
    if isinstance(values[0], timedelta):
        raise Unsupported("AVG of intervals")
    if isinstance(values[0], float) and not all(map(math.isfinite, values)):
        return _special(values)
    quotient = sum(map(Fraction, values), Fraction(0)) / len(values)
    return to_decimal(quotient, kind) if is_decimal(kind) else float(quotient)


def _spread(values: list[Any], *, sample: bool, root: bool) -> float:
    """By the definition, from the mean, exactly; rounded once."""
    numbers = [Fraction(value) for value in values]
    mean = sum(numbers, Fraction(0)) / len(numbers)
    variance = sum(((n - mean) ** 2 for n in numbers), Fraction(0)) / (len(numbers) - sample)
    if not root:
        return float(variance)
    with localcontext(prec=200):
        return float((Decimal(variance.numerator) / variance.denominator).sqrt())


def _special(values: list[float]) -> float:
    """The sum of doubles of which some are NaN or infinite."""
    infinite = {value for value in values if math.isinf(value)}
    return math.nan if any(map(math.isnan, values)) or len(infinite) > 1 else infinite.pop()


def _fitted(value: Any, kind: Type) -> Any:
    if value is None or not (is_integral(kind) or is_decimal(kind)):
        return value
    if is_integral(kind):
        if not in_range(value, kind):
            raise DoesNotFit
        return value
    try:
        return to_decimal(Fraction(value), kind)
    except EvaluationError as error:
        raise DoesNotFit from error
