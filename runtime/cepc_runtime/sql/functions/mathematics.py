"""Functions of numbers."""

from __future__ import annotations

from typing import Final

from ..expression import Call, Expression, Literal
from ..types import BIGINT, BOOLEAN, DOUBLE, FLOAT, INT, INTEGERS, MAX_PRECISION, NULL, STRING, DataType, Decimal
from .coercion import NUMERIC, Kind, as_decimal, cast_to, implicit_type
from .operators import arithmetic, extreme, integral_division, positive, shift, sign
from .signature import Build, Function, Mismatch, coerce, fixed, literal_int

_AS_DECIMAL: Final[dict[DataType, Decimal]] = {FLOAT: Decimal(14, 7), DOUBLE: Decimal(30, 15), STRING: Decimal(38, 18)}
"""The DECIMALs in which CEIL and FLOOR compute when they are given a number of digits."""


def _rounded_type(type_: Decimal, digits: int) -> Decimal:
    """The type of a DECIMAL that is rounded to so many digits after the point; before it, when negative."""
    whole = type_.precision - type_.scale + 1
    if digits < 0:
        return Decimal(min(max(whole, 1 - digits), MAX_PRECISION), 0)
    scale = min(type_.scale, digits)
    return Decimal(min(whole + scale, MAX_PRECISION), scale)


def _digits(arguments: tuple[Expression, ...]) -> int | None:
    return literal_int(arguments[1]) if len(arguments) == 2 else 0


def _round(name: str) -> Build:
    def build(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
        digits = _digits(arguments)
        if digits is None:
            return Mismatch(1, "an integer literal", value=True)
        coerced = coerce(arguments[:1], (NUMERIC,))
        if isinstance(coerced, Mismatch):
            return coerced
        type_ = coerced[0].type
        result = _rounded_type(type_, digits) if isinstance(type_, Decimal) else type_
        return Call(name, (coerced[0], Literal(digits, INT)), result)

    return build


def _ceil(name: str) -> Build:
    """CEIL and FLOOR: to BIGINT, or to a DECIMAL for one; with a number of digits always to a DECIMAL."""

    def build(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
        digits = _digits(arguments)
        if digits is None:
            return Mismatch(1, "an integer literal", value=True)
        x = arguments[0]
        type_ = implicit_type(x.type, NUMERIC)
        if type_ is None:
            return Mismatch(0, NUMERIC.name)
        if len(arguments) == 2:
            decimal = _AS_DECIMAL.get(x.type) or (as_decimal(type_) if type_ != DOUBLE else Decimal(38, 18))
            return Call(name, (cast_to(x, decimal), Literal(digits, INT)), _rounded_type(decimal, digits))
        if isinstance(type_, Decimal):
            return Call(name, (x,), type_ if type_.scale == 0 else _rounded_type(type_, 0))
        return Call(name, (x if x.type == BIGINT else cast_to(x, DOUBLE),), BIGINT)

    return build


def _log(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
    """LOG(x) is LN(x); LOG(base, x)."""
    return fixed("ln" if len(arguments) == 1 else "log", DOUBLE, to=DOUBLE)(arguments)


def _nanvl(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
    """In FLOAT where there is nothing else, in DOUBLE otherwise."""
    types = {a.type for a in arguments}
    type_ = FLOAT if FLOAT in types and types <= {FLOAT, NULL} else DOUBLE
    return fixed("nanvl", type_, to=type_)(arguments)


_BITS: Final = Kind("an integer", lambda t: t in (*INTEGERS, BOOLEAN), INT, strings=False)


def _double(name: str, usage: str, summary: str, *, exact: bool = False) -> Function:
    count = usage.count(",") + 1 if "()" not in usage else 0
    return Function(name, usage, summary, count, count, fixed(name, DOUBLE, to=DOUBLE), exact)


def _binary(name: str, operator: str, usage: str, summary: str) -> Function:
    return Function(name, usage, summary, 2, 2, arithmetic(name, operator))


MATHEMATICS: Final = (
    Function("abs", "abs(x)", "the absolute value", 1, 1, sign("abs")),
    Function("ceil", "ceil(x[, digits])", "the least integer that is not less", 1, 2, _ceil("ceil")),
    Function("floor", "floor(x[, digits])", "the greatest integer that is not greater", 1, 2, _ceil("floor")),
    Function("round", "round(x[, digits])", "rounded, halves away from zero", 1, 2, _round("round")),
    Function("bround", "bround(x[, digits])", "rounded, halves to the even neighbour", 1, 2, _round("bround")),
    _double("rint", "rint(x)", "the nearest integer as a DOUBLE, halves to the even one", exact=True),
    _double("sqrt", "sqrt(x)", "the square root", exact=True),
    _double("cbrt", "cbrt(x)", "the cube root"),
    _double("exp", "exp(x)", "e to the power x"),
    _double("expm1", "expm1(x)", "exp(x) - 1, precise near 0"),
    _double("ln", "ln(x)", "the natural logarithm; null unless x > 0"),
    Function("log", "log([base, ]x)", "the logarithm to a base, e by default", 1, 2, _log, exact=False),
    _double("log2", "log2(x)", "the logarithm to base 2; null unless x > 0"),
    _double("log10", "log10(x)", "the logarithm to base 10; null unless x > 0"),
    _double("log1p", "log1p(x)", "ln(1 + x), precise near 0; null unless x > -1"),
    _double("pow", "pow(x, y)", "x to the power y"),
    _double("sin", "sin(x)", "the sine"),
    _double("cos", "cos(x)", "the cosine"),
    _double("tan", "tan(x)", "the tangent"),
    _double("asin", "asin(x)", "the arc sine"),
    _double("acos", "acos(x)", "the arc cosine"),
    _double("atan", "atan(x)", "the arc tangent"),
    _double("atan2", "atan2(y, x)", "the angle of the point (x, y)"),
    _double("sinh", "sinh(x)", "the hyperbolic sine"),
    _double("cosh", "cosh(x)", "the hyperbolic cosine"),
    _double("tanh", "tanh(x)", "the hyperbolic tangent"),
    _double("degrees", "degrees(x)", "radians as degrees", exact=True),
    _double("radians", "radians(x)", "degrees as radians", exact=True),
    _double("hypot", "hypot(x, y)", "the square root of x² + y²"),
    _double("pi", "pi()", "π", exact=True),
    _double("e", "e()", "the base of the natural logarithm", exact=True),
    _double("sign", "sign(x)", "-1.0, 0.0 or 1.0", exact=True),
    Function(
        "isnan", "isnan(x)", "whether it is NaN; false for null", 1, 1, fixed("isnan", (DOUBLE, FLOAT), to=BOOLEAN)
    ),
    Function("nanvl", "nanvl(x, y)", "x, or y where x is NaN", 2, 2, _nanvl),
    Function("negative", "negative(x)", "-x", 1, 1, sign("negative")),
    Function("positive", "positive(x)", "x", 1, 1, positive),
    _binary("%", "%", "mod(x, y)", "the remainder, with the sign of x"),
    _binary("pmod", "pmod", "pmod(x, y)", "the remainder, not negative for positive y"),
    Function("div", "div(x, y)", "the whole part of x / y", 2, 2, integral_division),
    _binary("try_add", "+", "try_add(x, y)", "x + y, null where that overflows"),
    _binary("try_subtract", "-", "try_subtract(x, y)", "x - y, null where that overflows"),
    _binary("try_multiply", "*", "try_multiply(x, y)", "x * y, null where that overflows"),
    _binary("try_divide", "/", "try_divide(x, y)", "x / y, null where y is 0"),
    _binary("try_mod", "%", "try_mod(x, y)", "the remainder, null where y is 0"),
    Function("greatest", "greatest(x, y, …)", "the greatest value that is not null", 2, None, extreme("greatest")),
    Function("least", "least(x, y, …)", "the least value that is not null", 2, None, extreme("least")),
    Function("bit_count", "bit_count(x)", "the number of bits that are set", 1, 1, fixed("bit_count", _BITS, to=INT)),
    Function("<<", "shiftleft(x, bits)", "x << bits", 2, 2, shift("<<")),
    Function(">>", "shiftright(x, bits)", "x >> bits, the sign kept", 2, 2, shift(">>")),
    Function(">>>", "shiftrightunsigned(x, bits)", "x >>> bits, zeros moved in", 2, 2, shift(">>>")),
)

MATHEMATICS_ALIASES: Final = {
    "ceiling": "ceil", "power": "pow", "signum": "sign", "mod": "%", "shiftleft": "<<", "shiftright": ">>",
    "shiftrightunsigned": ">>>",
}  # fmt: skip
