"""Typing of operators: arithmetic, comparison, logic, bits."""

from __future__ import annotations

from typing import Final

from ..expression import Call, Expression, Literal
from ..types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    INTERVAL,
    MAX_PRECISION,
    NULL,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    DataType,
    Decimal,
    Interval,
    is_float,
    is_integer,
    is_numeric,
    is_orderable,
    is_time,
)  # fmt: skip
from .coercion import (
    INTEGRAL,
    INTERVALS,
    NUMERIC,
    ORDERABLE,
    as_decimal,
    cast_to,
    common_type,
    common_type_of_all,
    describe,
    implicit_type,
    tightest_type,
)  # fmt: skip
from .signature import Build, Mismatch, coerce, fixed, of_argument, to_common

_TIMESTAMPS: Final = (TIMESTAMP, TIMESTAMP_NTZ)


# ---- results of DECIMAL arithmetic -----------------------------------------------------------------------------------


def _bounded(precision: int, scale: int) -> Decimal:
    """The type nearest to DECIMAL(precision, scale) that exists: digits of the fraction go first, all but six."""
    if precision <= MAX_PRECISION:
        return Decimal(precision, scale)
    return Decimal(MAX_PRECISION, max(MAX_PRECISION - (precision - scale), min(scale, 6)))


def decimal_result(operator: str, a: Decimal, b: Decimal) -> Decimal:
    """The type of arithmetic on two DECIMALs."""
    whole_a, whole_b, scale = a.precision - a.scale, b.precision - b.scale, max(a.scale, b.scale)
    match operator:
        case "+" | "-":
            return _bounded(max(whole_a, whole_b) + scale + 1, scale)
        case "*":
            return _bounded(a.precision + b.precision + 1, a.scale + b.scale)
        case "/":
            scale = max(6, a.scale + b.precision + 1)
            return _bounded(whole_a + b.scale + scale, scale)
        case "%" | "pmod":
            return _bounded(min(whole_a, whole_b) + scale, scale)
    raise ValueError(f"no arithmetic: {operator}")


# ---- arithmetic ------------------------------------------------------------------------------------------------------


def arithmetic(name: str, operator: str) -> Build:
    """The build of `+ - * / % div pmod`; `name` is what is called (`try_add`, say) by the rules of the operator."""

    def build(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
        a, b = arguments
        if operator in ("+", "-", "*", "/"):
            special = _with_times(name, operator, a, b)
            if special is not None:
                return special
        return _numeric(name, operator, a, b)

    return build


def _numeric(name: str, operator: str, a: Expression, b: Expression) -> Expression | Mismatch:
    if STRING in (a.type, b.type):
        if a.type == b.type:
            return Mismatch(None, "numbers")
        type_ = common_type(a.type, b.type)
        if type_ is None:
            return Mismatch(None, "numbers")
        a, b = cast_to(a, type_), cast_to(b, type_)
    if a.type == NULL and (b.type == NULL or (operator == "/" and isinstance(b.type, Decimal))):
        a, b = (cast_to(x, BIGINT if operator == "div" else DOUBLE) for x in (a, b))
    a, b = (cast_to(x, y.type) if x.type == NULL else x for x, y in ((a, b), (b, a)))
    for i, x in enumerate((a, b)):
        if not is_numeric(x.type):
            return Mismatch(i, "a number")
    if isinstance(a.type, Decimal) != isinstance(b.type, Decimal) and not (is_float(a.type) or is_float(b.type)):
        a, b = _literal_as_decimal(a), _literal_as_decimal(b)
    if isinstance(a.type, Decimal) and isinstance(b.type, Decimal):
        result = BIGINT if operator == "div" else decimal_result(operator, a.type, b.type)
        return Call(name, (a, b), result)
    return _plain(name, operator, a, b)


def _literal_as_decimal(x: Expression) -> Expression:
    """An integer beside a DECIMAL as a DECIMAL; a literal takes only the digits that it has, but for a TINYINT."""
    if isinstance(x, Literal) and isinstance(x.value, int) and x.type in (SMALLINT, INT, BIGINT):
        return cast_to(x, Decimal(max(1, len(str(abs(x.value)))), 0))
    return cast_to(x, as_decimal(x.type))


def _plain(name: str, operator: str, a: Expression, b: Expression) -> Expression | Mismatch:
    """Arithmetic on integers and floats."""
    if operator == "/":
        return Call(name, (cast_to(a, DOUBLE), cast_to(b, DOUBLE)), DOUBLE)
    if operator == "div":
        for i, x in enumerate((a, b)):
            if not is_integer(x.type):
                return Mismatch(i, "an integer, a DECIMAL, or an interval")
        return Call(name, (cast_to(a, BIGINT), cast_to(b, BIGINT)), BIGINT)
    type_ = tightest_type(a.type, b.type) or DOUBLE
    return Call(name, (cast_to(a, type_), cast_to(b, type_)), type_)


def _with_times(name: str, operator: str, a: Expression, b: Expression) -> Expression | Mismatch | None:
    """Arithmetic with a DATE, a TIMESTAMP or an interval in it, else None. Functions are Spark's own for these."""
    types = (a.type, b.type)
    if not any(is_time(t) or isinstance(t, Interval) for t in types):
        return None
    if operator == "+" and _is_moved_by(b.type, a.type):
        a, b = b, a
    return (
        _time_and_interval(name, operator, a, b)
        or _time_and_time(name, operator, a, b)
        or _intervals(name, operator, a, b)
        or Mismatch(None, "a timestamp and an interval, or numbers")
    )


def _is_moved_by(time: DataType, by: DataType) -> bool:
    """Whether `by` comes second in Spark's order of such an addition."""
    return (
        (isinstance(by, Interval) and (is_time(time) or time == STRING))
        or (by in (TINYINT, SMALLINT, INT) and time == DATE)
        or (by == NULL and is_time(time))
    )


def _time_and_interval(name: str, operator: str, a: Expression, b: Expression) -> Expression | None:
    if operator not in ("+", "-"):
        return None
    if a.type == DATE and b.type in (TINYINT, SMALLINT, INT):
        if name.startswith("try_"):
            return Call(name, (a, cast_to(b, INT)), DATE)
        return Call("date_add" if operator == "+" else "date_sub", (a, cast_to(b, INT)), DATE)
    if b.type == NULL and operator == "+" and is_time(a.type):
        b = cast_to(b, INTERVAL)
    if not isinstance(b.type, Interval):
        return None
    if a.type == DATE and b.type == Interval(0, 0):  # whole days keep a DATE a DATE
        return Call("date_add" if operator == "+" else "date_sub", (a, Call("interval_days", (b,), INT)), DATE)
    if a.type == DATE or a.type == STRING:
        moved = Call(name, (cast_to(a, TIMESTAMP), cast_to(b, INTERVAL)), TIMESTAMP)
        return moved if a.type == DATE else cast_to(moved, STRING)
    if a.type in _TIMESTAMPS:
        return Call(name, (a, cast_to(b, INTERVAL)), a.type)
    return None


def _time_and_time(name: str, operator: str, a: Expression, b: Expression) -> Expression | None:
    if operator != "-" or not (is_time(a.type) or is_time(b.type)):
        return None
    type_ = DATE if {a.type, b.type} <= {DATE, STRING, NULL} else _wider_timestamp(a.type, b.type)
    if type_ is None:
        return None
    return Call(name, (cast_to(a, type_), cast_to(b, type_)), Interval(0, 0) if type_ == DATE else INTERVAL)


def _wider_timestamp(a: DataType, b: DataType) -> DataType | None:
    """A difference of timestamps is taken between local ones where one of them is local."""
    if not all(is_time(t) or t in (STRING, NULL) for t in (a, b)):
        return None
    return TIMESTAMP_NTZ if TIMESTAMP_NTZ in (a, b) else TIMESTAMP


def _intervals(name: str, operator: str, a: Expression, b: Expression) -> Expression | None:
    match operator:
        case "+" | "-":
            type_ = tightest_type(a.type, b.type)
            if isinstance(type_, Interval):
                return Call(name, (cast_to(a, type_), cast_to(b, type_)), type_)
        case "*" | "/":
            if operator == "*" and isinstance(b.type, Interval):
                a, b = b, a
            factor = DOUBLE if b.type in (STRING, NULL) else b.type
            if isinstance(a.type, Interval) and is_numeric(factor):
                return Call(name, (cast_to(a, INTERVAL), cast_to(b, factor)), INTERVAL)
    return None


def integral_division(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
    """`a DIV b`, of intervals too."""
    a, b = arguments
    if isinstance(a.type, Interval) or isinstance(b.type, Interval):
        type_ = tightest_type(a.type, b.type)
        if not isinstance(type_, Interval):
            return Mismatch(None, "two intervals or two numbers")
        return Call("div", (cast_to(a, INTERVAL), cast_to(b, INTERVAL)), BIGINT)
    return _numeric("div", "div", a, b)


# ---- comparison and logic --------------------------------------------------------------------------------------------


def comparison(name: str) -> Build:
    """`= <=> < <= > >=`: both sides in their common type, which must have an order where the operator needs one."""

    def build(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
        a, b = arguments
        type_ = common_type(a.type, b.type)
        if type_ is None:
            return Mismatch(None, "values of one type")
        if not is_orderable(type_):  # Spark compares no maps, not even for equality
            return Mismatch(None, "types that can be compared")
        return Call(name, (cast_to(a, type_), cast_to(b, type_)), BOOLEAN)

    return build


def membership(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
    """`x IN (a, b, …)`."""
    type_ = common_type_of_all(a.type for a in arguments)
    if type_ is None or not is_orderable(type_):
        return Mismatch(None, "values of one type")
    return Call("in", tuple(cast_to(a, type_) for a in arguments), BOOLEAN)


def negated(build: Build) -> Build:
    def build_not(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
        positive = build(arguments)
        return positive if isinstance(positive, Mismatch) else Call("not", (positive,), BOOLEAN)

    return build_not


def between(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
    """`x BETWEEN low AND high` is `x >= low AND x <= high`."""
    x, low, high = arguments
    above, below = comparison(">=")((x, low)), comparison("<=")((x, high))
    if isinstance(above, Mismatch):
        return above
    return below if isinstance(below, Mismatch) else Call("and", (above, below), BOOLEAN)


def bits(name: str) -> Build:
    """`& | ^`: integers in the wider type of the two."""

    def build(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
        a, b = arguments
        type_ = common_type(a.type, b.type)
        if type_ == NULL:
            type_ = INT
        if type_ is None or not is_integer(type_):
            wrong = 0 if implicit_type(a.type, INTEGRAL) is None else 1
            return Mismatch(wrong, describe(INTEGRAL))
        return Call(name, (cast_to(a, type_), cast_to(b, type_)), type_)

    return build


def connective(name: str) -> Build:
    """AND and OR, a chain of which is one call. One STRING beside a BOOLEAN is read as one; two are a mistake."""

    def build(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
        if all(a.type in (STRING, NULL) for a in arguments) and any(a.type == STRING for a in arguments):
            return Mismatch(0 if arguments[0].type == STRING else 1, BOOLEAN.sql)
        coerced = coerce(arguments, (BOOLEAN,))
        if isinstance(coerced, Mismatch):
            return coerced
        operands = (o for a in coerced for o in (a.arguments if isinstance(a, Call) and a.function == name else (a,)))
        return Call(name, tuple(operands), BOOLEAN)

    return build


def shift(name: str) -> Build:
    """`<< >> >>>`: an INT or BIGINT by a number of bits."""
    return of_argument(name, (INT, BIGINT), INT)


def sign(name: str) -> Build:
    """Minus, plus and ABS: a number or an interval."""
    return of_argument(name, (NUMERIC, INTERVALS))


def positive(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
    """`+x` is x."""
    coerced = coerce(arguments, ((NUMERIC, INTERVALS),))
    return coerced if isinstance(coerced, Mismatch) else coerced[0]


def unequal(name: str) -> Build:
    return negated(comparison(name))


def extreme(name: str) -> Build:
    """GREATEST and LEAST: values of one type, which has an order."""

    def build(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
        common = to_common(arguments, strings=False)
        if isinstance(common, Mismatch):
            return common
        if not is_orderable(common[1]):
            return Mismatch(None, describe(ORDERABLE))
        return Call(name, common[0], common[1])

    return build


OPERATORS: Final[dict[str, Build]] = {
    **{operator: arithmetic(operator, operator) for operator in ("+", "-", "*", "/", "%")},
    "DIV": integral_division,
    **{operator: comparison(operator) for operator in ("=", "<=>", "<", "<=", ">", ">=")},
    "<>": unequal("="),
    "AND": connective("and"),
    "OR": connective("or"),
    **{operator: bits(operator) for operator in ("&", "|", "^")},
    **{operator: shift(operator) for operator in ("<<", ">>", ">>>")},
}
"""The binary operators of the syntax but `||`, which is the function `concat`."""

UNARY: Final[dict[str, Build]] = {
    "-": sign("negative"),
    "+": positive,
    "~": of_argument("~", INTEGRAL),
    "NOT": fixed("not", BOOLEAN, to=BOOLEAN),
}
