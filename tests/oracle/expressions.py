"""Expressions of the language over one environment: SQL as Spark evaluates it in ANSI mode (docs/language.md,
"Conditions").

What a name means differs between a condition, an aggregate and a result column; so `compiled` asks `leaf` about every
node first.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from cepc_grammar import ast

from . import comparison, functions
from .arithmetic import DAYS, MONTHS, arithmetic, literal_as_decimal, negative
from .casts import cast, in_range, to_float
from .errors import EvaluationError, Unsupported
from .typed import Env, Typed, constant, converted, strict, together
from .types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    INTERVAL,
    NULL,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    common_of,
    decimal,
    is_decimal,
    is_integral,
    normal,
)

Leaf = Callable[[ast.Expression], Typed | None]

_SUFFIXED = {"tinyint": TINYINT, "smallint": SMALLINT, "bigint": BIGINT}
_FROM_TEXT = {"date": DATE, "timestamp": TIMESTAMP, "timestamp_ntz": TIMESTAMP_NTZ, "boolean": BOOLEAN}


def compiled(expression: ast.Expression, leaf: Leaf) -> Typed:
    """The expression made ready to run, where `leaf` gives the meaning of names and of whatever else is special in this
    place.
    """
    known = leaf(expression)
    if known is not None:
        return known

    def of(part: ast.Expression) -> Typed:
        return compiled(part, leaf)

    match expression:
        case ast.Literal():
            return _literal(expression)
        case ast.Interval(parts):
            return _interval(parts)
        case ast.Unary("-", ast.Literal(kind, text)) if kind not in ("string", "null", "boolean"):
            return _literal(ast.Literal(kind, "-" + text))
        case ast.Unary(operator, operand):
            return _unary(operator, of(operand))
        case ast.Binary(operator, left, right):
            return _binary(operator, *_beside_decimal(left, of(left), right, of(right)))
        case ast.Between(operand, low, high, negated):
            value = of(operand)
            within = comparison.conjunction(
                comparison.compared(">=", value, of(low)), comparison.compared("<=", value, of(high))
            )
            return _negated_if(negated, within)
        case ast.In(operand, options, negated):
            return _negated_if(negated, comparison.one_of(of(operand), tuple(of(option) for option in options)))
        case ast.Like(operand, pattern, kind, escape, negated):
            return _negated_if(negated, comparison.like(of(operand), of(pattern), kind, escape))
        case ast.Is(operand, what, negated):
            return _negated_if(negated, comparison.is_what(of(operand), what))
        case ast.IsDistinct(left, right, negated):
            return _negated_if(not negated, comparison.same(of(left), of(right)))
        case ast.Case(subject, branches, otherwise):
            pairs = [(of(branch.condition), of(branch.result)) for branch in branches]
            return _case(of(subject) if subject else None, pairs, of(otherwise) if otherwise else None)
        case ast.Cast(operand, written, safe):
            result = converted(of(operand), normal(written))
            return functions.tried(result) if safe else result
        case ast.Extract(field, operand):
            return functions.extract(field, of(operand))
        case ast.Call(function, arguments, False):
            return functions.call(function.text, [of(argument) for argument in arguments])
        case ast.Member(operand, name):
            return field_of(of(operand), name.text)
        case ast.Index(operand, index):
            return _element(of(operand), of(index))
    raise Unsupported(f"{type(expression).__name__} in this place")


def field_of(struct: Typed, name: str) -> Typed:
    """A field of a struct."""
    for field in struct.type.fields:
        if field.name.text == name:
            return strict(field.type, lambda value: value[name], struct)
    raise Unsupported(f"no field {name} in {struct.type.name}")


def conjuncts(condition: ast.Expression | None) -> tuple[ast.Expression, ...]:
    """The parts of a condition that AND joins at its top."""
    match condition:
        case None:
            return ()
        case ast.Binary("AND", left, right):
            return conjuncts(left) + conjuncts(right)
    return (condition,)


def _literal(literal: ast.Literal) -> Typed:
    kind, text = literal.kind, literal.text
    match kind:
        case "null":
            return constant(NULL, None)
        case "string":
            return constant(STRING, text)
        case "integer":
            number = int(text)
            for integral in (INT, BIGINT):
                if in_range(number, integral):
                    return constant(integral, number)
            return constant(literal_as_decimal(number), Decimal(number))
        case "decimal":
            value = Decimal(text)
            _, digits, exponent = value.as_tuple()
            scale = max(-int(exponent), 0)
            return constant(decimal(max(len(digits) + max(int(exponent), 0), scale), scale), value)
        case "double":
            return constant(DOUBLE, float(text))
        case "float":
            return constant(FLOAT, to_float(float(text), FLOAT))
        case "binary":
            return constant(BINARY, bytes.fromhex(text))
    if kind in _SUFFIXED:
        return constant(_SUFFIXED[kind], int(text))
    return constant(_FROM_TEXT[kind], cast(text, STRING, _FROM_TEXT[kind]))


def _interval(parts: tuple[ast.Duration, ...]) -> Typed:
    months = [part for part in parts if part.unit in ("MONTH", "YEAR")]
    if months:
        if len(months) < len(parts):
            raise Unsupported("an interval of months and days")
        return constant(MONTHS, sum(int(part.amount) * (12 if part.unit == "YEAR" else 1) for part in parts))
    length = sum((part.microseconds or Fraction(0) for part in parts), Fraction(0))
    return constant(
        DAYS if all(part.unit in ("DAY", "WEEK") for part in parts) else INTERVAL, timedelta(microseconds=int(length))
    )


def _beside_decimal(
    left_node: ast.Expression, left: Typed, right_node: ast.Expression, right: Typed
) -> tuple[Typed, Typed]:
    """An integer literal beside a decimal has just the digits it needs, not those of its type."""

    def literal(node: ast.Expression, typed: Typed, other: Typed) -> Typed:
        is_literal = isinstance(node, ast.Literal) or (
            isinstance(node, ast.Unary) and isinstance(node.operand, ast.Literal)
        )
        if is_literal and is_integral(typed.type) and is_decimal(other.type):
            return converted(typed, literal_as_decimal(typed.run({})))
        return typed

    return literal(left_node, left, right), literal(right_node, right, left)


def _negated_if(negated: bool, condition: Typed) -> Typed:
    return comparison.negation(condition) if negated else condition


def _unary(operator: str, operand: Typed) -> Typed:
    match operator:
        case "-":
            return negative(operand)
        case "+":
            return operand
        case "NOT":
            return comparison.negation(converted(operand, BOOLEAN))
        case "~":
            return strict(operand.type, lambda value: ~value, operand)
    raise Unsupported(operator)


def _binary(operator: str, left: Typed, right: Typed) -> Typed:
    match operator:
        case "AND":
            return comparison.conjunction(left, right)
        case "OR":
            return comparison.disjunction(left, right)
        case "<=>":
            return comparison.same(left, right)
        case "=" | "<>" | "<" | "<=" | ">" | ">=":
            return comparison.compared(operator, left, right)
        case "||":
            return functions.concat(left, right)
        case "&" | "|" | "^":
            a, b = together(left, right)
            apply = {"&": int.__and__, "|": int.__or__, "^": int.__xor__}[operator]
            return strict(a.type, apply, a, b)
        case "<<" | ">>" | ">>>":
            number = left if left.type == BIGINT else converted(left, INT)
            bits = 64 if left.type == BIGINT else 32
            return strict(number.type, lambda value, by: _shifted(operator, value, by, bits), number, right)
    return arithmetic(operator, left, right)


def _shifted(operator: str, value: int, by: int, bits: int) -> int:
    """A shift on the JVM: the distance modulo the width, the result wrapped."""
    distance = by % bits
    match operator:
        case "<<":
            result = value << distance
        case ">>":
            result = value >> distance
        case _:
            result = (value % (1 << bits)) >> distance
    return (result + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


def _case(subject: Typed | None, branches: list[tuple[Typed, Typed]], otherwise: Typed | None) -> Typed:
    results = [result for _, result in branches] + [otherwise or constant(NULL, None)]
    kind = common_of(result.type for result in results)
    tests = [comparison.compared("=", subject, when) if subject else when for when, _ in branches]

    def run(env: Env) -> Any:
        chosen = next(
            (result for test, result in zip(tests, results, strict=False) if test.run(env) is True), results[-1]
        )
        return converted(chosen, kind).run(env)

    return Typed(kind, run)


def _element(container: Typed, index: Typed) -> Typed:
    if container.type.name == "MAP":
        return strict(container.type.parameters[1], lambda values, key: values.get(key), container, index)

    def element(values: list[object], position: int) -> object:
        if not 0 <= position < len(values):
            raise EvaluationError(f"no element {position} in an array of {len(values)}")
        return values[position]

    return strict(container.type.parameters[0], element, container, index)
