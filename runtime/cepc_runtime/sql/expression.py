"""Typed expressions: what the compiler produces and the runtime evaluates.

Every node has a `type`. Operators, CASE, CAST, AND, OR and NOT are calls, and every coercion is an explicit cast, so
that whoever evaluates an expression knows no coercion rule. Function names are the catalogue's (`functions/`): lower
case, one name for all spellings of a function, operators by their sign.

Values of literals are Spark's internal ones: DATE in days and TIMESTAMP, TIMESTAMP_NTZ and INTERVAL in microseconds, as
integers; DECIMAL as `decimal.Decimal`; NULL as None.
"""

from __future__ import annotations

import decimal
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from typing import Literal as OneOf

from ..cheap_dataclass import dataclass
from .aggregate_functions import SUM, VARIABLE, AggregateFunction, aggregate_named
from .types import BIGINT, STRING, DataType, Decimal, from_text, is_float

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator

ConstantValue = None | bool | int | float | str | bytes | decimal.Decimal

At = OneOf["each", "first", "last", "prev"]


class FieldKey(NamedTuple):
    """Which value a Field stands for: the key under which an evaluator is given its column."""

    variable: str | None
    column: str
    at: At = "each"
    places: int = 0


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant; of `LABEL(name)` with the name. What a query's label says may change while its stream goes on."""

    value: ConstantValue
    type: DataType
    label: str | None = None

    def __eq__(self, other: object) -> bool:
        """As constants are written: 0.0 and -0.0 are two."""
        if other.__class__ is not Literal:
            return NotImplemented
        if (self.type, self.label) != (other.type, other.label):
            return False
        return repr(self.value) == repr(other.value) if isinstance(self.value, float) else self.value == other.value


@dataclass(frozen=True, slots=True)
class Field:
    """A column of an event bound to `variable`; without a variable, of the event at hand or shared by all events.

    `at` says which event: `each` in turn (the only one of a single variable), the `first`, the `last`, the `prev`ious;
    `places` how many of the variable's further: after the first, before the last, before the previous.
    """

    variable: str | None
    column: str
    at: At
    type: DataType
    places: int = 0

    def __post_init__(self) -> None:
        if self.variable is None and self.at != "each":
            raise ValueError(f"{self.at} of no variable")
        if self.places and self.at == "each":
            raise ValueError("the event at hand is no places away")

    @property
    def key(self) -> FieldKey:
        return FieldKey(self.variable, self.column, self.at, self.places)

    @property
    def event(self) -> str:
        """The event of a variable, as it is written: `v`, `FIRST(v)`, `PREV(v, 2)`."""
        if self.at == "each":
            return f"{self.variable}"
        places = f", {self.places + (self.at == 'prev')}" if self.places else ""
        return f"{self.at.upper()}({self.variable}{places})"


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the catalogue, or a Spark-only one. `cast` and `try_cast` cast to `type`.

    `case` has conditions and results in turn, and at the end the ELSE, always; `and` and `or` two operands or more.
    """

    function: str
    arguments: tuple[Expression, ...]
    type: DataType


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate over the events bound to `variable`. Without one it is over all events of a match, or those that are
    bound to one of `among`, and its argument is of the event at hand, whose VARIABLE() may stand in it. Of an aggregate
    query COUNT(*) alone is of no variable, and counts matches; MATCH_NUMBER() and VARIABLE() always are of none.

    `argument` is None when events themselves are counted, COUNT(*), COUNT(E), and for the other two. `safe` is
    TRY_COUNT, TRY_SUM, or a TRY_CAST around: null when the value does not fit. `target` is the type of a cast directly
    around a COUNT or an exact SUM, in which the runtime computes (docs/language.md, "Results"); `type` is then the
    same. `running`: of the events up to the one at hand, in a condition or RETURN EACH; without, of all in the match.
    `distinct`: of equal values the first alone. `by` is the second argument of MIN_BY and MAX_BY.
    """

    function: AggregateFunction
    variable: str | None
    argument: Expression | None
    safe: bool
    target: DataType | None
    type: DataType
    running: bool = False
    distinct: bool = False
    by: Expression | None = None
    among: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        alone = self.function.counts or self.function.alone
        if self.variable is not None and self.among:
            raise ValueError(f"{self.function} of {self.variable}, so of no others: {self.among}")
        if self.argument is None and (not alone or self.distinct):
            raise ValueError(f"{self.function} of no argument")
        if (self.by is None) != (not self.function.by):
            raise ValueError(f"{self.function} by {self.by}")
        if self.target is not None and self.target != self.type:
            raise ValueError(f"the type {self.type.sql} differs from the target {self.target.sql}")

    @property
    def scale(self) -> int:
        """That of its argument: numbers are kept times 10**scale."""
        return self.argument.type.scale if self.argument and isinstance(self.argument.type, Decimal) else 0


Expression = Literal | Field | Call | Aggregate

NAME_OF_VARIABLE: Final = Aggregate(VARIABLE, None, None, False, None, STRING)
"""VARIABLE(): what the variable is called that the event at hand is bound to."""


def of_stream(stream: str, column: str) -> str:
    """What several streams as one call a column of one of them, where it is none of the columns of all."""
    return f".{column} OF ({stream})"


def as_written(column: str) -> str:
    """A column's name in its own stream.

    >>> as_written("x"), as_written(of_stream("orders", "x"))
    ('x', 'x')
    """
    own, of, _ = column.rpartition(" OF (")
    return own[1:] if of and own.startswith(".") else column


def with_stream(column: str) -> str:
    """What RETURN MATCH * calls it, or would.

    >>> with_stream("x"), with_stream(of_stream("orders", "x"))
    ('x', 'orders.x')
    """
    own = as_written(column)
    return column if own == column else f"{column.rpartition(' OF (')[2].rpartition(')')[0]}.{own}"


def of_variable(variable: str, column: str) -> str:
    """A column of a variable as it is written. Those that are of other events have names that say of which.

    >>> of_variable("a", "x"), of_variable("a", "LAG(x, 2) OVER (k)"), of_variable("a", of_stream("orders", "x"))
    ('a.x', 'LAG(a.x, 2)', 'a.x')
    """
    function, bracket, rest = column.partition("(")
    if bracket and function in ("LAG", "LEAD") and ") OVER (" in rest:
        return f"{function}({variable}.{rest[: rest.rindex(' OVER (')]}"
    return f"{variable}.{as_written(column)}"


# ---- walks -----------------------------------------------------------------------------------------------------------


def children(expression: Expression) -> tuple[Expression, ...]:
    match expression:
        case Call(arguments=arguments):
            return arguments
        case Aggregate(argument=argument, by=by) if argument is not None:
            return (argument,) if by is None else (argument, by)
    return ()


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and all that is in it, the outer before the inner, from left to right."""
    stack = [expression]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


def fields(expression: Expression) -> tuple[Field, ...]:
    """The different fields in it, those inside aggregates too, in the order of first mention."""
    return tuple(dict.fromkeys(node for node in walk(expression) if isinstance(node, Field)))


def outside_aggregates(expression: Expression) -> Iterator[Expression]:
    """As `walk`, but for what aggregates add up."""
    stack = [expression]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, Aggregate):
            stack.extend(reversed(children(node)))


def fields_outside_aggregates(expression: Expression) -> tuple[Field, ...]:
    """The different fields in it but those that aggregates add up, in the order of first mention."""
    return tuple(dict.fromkeys(node for node in outside_aggregates(expression) if isinstance(node, Field)))


def aggregates(expression: Expression) -> tuple[Aggregate, ...]:
    """The different aggregates in it, in the order of first mention; not the VARIABLE() that one of them adds up."""
    return tuple(dict.fromkeys(node for node in outside_aggregates(expression) if isinstance(node, Aggregate)))


def variables(expression: Expression) -> tuple[str, ...]:
    """The different variables that it mentions, those of aggregates too, in the order of first mention."""
    found = dict[str, None]()
    for node in walk(expression):
        if isinstance(node, Aggregate):
            found.update(dict.fromkeys(node.among))
        if isinstance(node, Field | Aggregate) and node.variable is not None:
            found[node.variable] = None
    return tuple(found)


def is_of_event(expression: Expression, shared: Container[str]) -> bool:
    """Whether a column of RETURN EACH may differ from event to event of a match, which share some columns."""
    match expression:
        case Field(variable, column, at):
            return at == "each" and (variable is not None or column not in shared)
        case Aggregate(function, running=running):
            return running or function.names
    return any(is_of_event(part, shared) for part in children(expression))


def in_parentheses(aggregate: Aggregate, text: Callable[[Expression], str]) -> str:
    """What stands behind the name of an aggregate, given how expressions are written."""
    if aggregate.argument is None:
        shown = "" if aggregate.function.alone else aggregate.variable or "*"
    else:
        by = "" if aggregate.by is None else f", {text(aggregate.by)}"
        shown = f"{'DISTINCT ' * aggregate.distinct}{text(aggregate.argument)}{by}"
    return f"{shown} of {', '.join(aggregate.among)}" if aggregate.among else shown


def of_no_variable(expression: Expression) -> Expression:
    """The expression as one about the event at hand."""

    def anonymous(node: Expression) -> Expression:
        return replace(node, variable=None, at="each") if isinstance(node, Field) else node

    return rewrite(expression, anonymous)


def rewrite(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The expression with `change` applied to every node, the inner before the outer."""
    match expression:
        case Call(arguments=arguments):
            new = tuple(rewrite(a, change) for a in arguments)
            if any(n is not a for n, a in zip(new, arguments, strict=True)):
                expression = replace(expression, arguments=new)
        case Aggregate(argument=argument, by=by) if argument is not None:
            changed, other = rewrite(argument, change), None if by is None else rewrite(by, change)
            if changed is not argument or other is not by:
                expression = replace(expression, argument=changed, by=other)
    return change(expression)


def conjuncts(expression: Expression) -> tuple[Expression, ...]:
    """The operands of a top-level AND, however nested; the expression itself without one."""
    match expression:
        case Call("and", arguments):
            return tuple(c for a in arguments for c in conjuncts(a))
    return (expression,)


def counted(aggregate: Aggregate) -> tuple[Aggregate, ...]:
    """What is counted for an aggregate: itself, or the sums that it is made of, of its argument and of that squared."""
    x = aggregate.argument
    if x is None or not aggregate.function.squares:
        return (aggregate,)
    return tuple(Aggregate(SUM, aggregate.variable, part, False, STRING, STRING) for part in (x, _square(x)))


def _square(number: Expression) -> Call:
    """The square of a number that `has_exact_squares`, in a type that holds it."""
    if isinstance(number.type, Decimal):
        return Call("*", (number, number), Decimal(2 * number.type.precision + 1, 2 * number.type.scale))
    wide, type_ = (Decimal(20, 0), Decimal(38, 0)) if number.type == BIGINT else (BIGINT, BIGINT)
    factor = Call("cast", (number,), wide)
    return Call("*", (factor, factor), type_)


# ---- data ------------------------------------------------------------------------------------------------------------


def to_data(expression: Expression) -> dict[str, Any]:
    """The expression as JSON-able data; the inverse of `from_data`."""
    match expression:
        case Literal(value, type_, label):
            named = {} if label is None else {"label": label}
            return {"literal": _value_to_data(value), "type": type_.sql, **named}
        case Field(variable, column, at, type_, places):
            further = {"places": places} if places else {}
            return {"field": column, "of": variable, "at": at, "type": type_.sql, **further}
        case Call(function, arguments, type_):
            return {"call": function, "arguments": [to_data(a) for a in arguments], "type": type_.sql}
        case Aggregate(function, variable, argument, safe, target, type_, running, distinct, by, among):
            return {
                **({"among": list(among)} if among else {}),
                **({"running": True} if running else {}),
                **({"distinct": True} if distinct else {}),
                **({} if by is None else {"by": to_data(by)}),
                "aggregate": function.name,
                "of": variable,
                "argument": None if argument is None else to_data(argument),
                "safe": safe,
                "target": None if target is None else target.sql,
                "type": type_.sql,
            }


def from_data(data: dict[str, Any]) -> Expression:
    """The expression that `to_data` gave."""
    type_ = from_text(data["type"])
    match data:
        case {"literal": value}:
            return Literal(_value_from_data(value, type_), type_, data.get("label"))
        case {"field": column, "of": variable, "at": at}:
            return Field(variable, column, at, type_, data.get("places", 0))
        case {"call": function, "arguments": arguments}:
            return Call(function, tuple(from_data(a) for a in arguments), type_)
        case {"aggregate": function, "of": variable, "argument": argument, "safe": safe, "target": target}:
            inner = None if argument is None else from_data(argument)
            wanted = None if target is None else from_text(target)
            flags = bool(data.get("running")), bool(data.get("distinct"))
            by = from_data(data["by"]) if "by" in data else None
            among = tuple(data.get("among", ()))
            return Aggregate(aggregate_named(function), variable, inner, safe, wanted, type_, *flags, by, among)
    raise ValueError(f"not an expression: {data!r}")


def _value_to_data(value: ConstantValue) -> bool | int | float | str | None:
    match value:
        case decimal.Decimal():
            return str(value)
        case bytes():
            return value.hex()
        case float() if not math.isfinite(value):
            return str(value)  # JSON has no NaN
    return value


def _value_from_data(value: bool | int | float | str | None, type_: DataType) -> ConstantValue:
    if isinstance(value, str):
        if isinstance(type_, Decimal):
            return decimal.Decimal(value)
        if type_.sql == "BINARY":
            return bytes.fromhex(value)
        if is_float(type_):
            return float(value)
    return value
