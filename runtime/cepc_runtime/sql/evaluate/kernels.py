"""Which kernel computes which function of the catalogue.

A kernel gets the call, its arguments as columns or constants (at least one column), and the number of rows. What
decides which rows are computed at all (AND, OR, CASE, COALESCE) is not a kernel: the evaluator does that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from . import arithmetic, attempts, casts, choices, mathematics, moments, texts
from .arrays import Value

if TYPE_CHECKING:
    from ..expression import Call

Kernel = Callable[["Call", tuple[Value, ...], int], Value]


def _all(kernel: Kernel, *functions: str) -> dict[str, Kernel]:
    return dict.fromkeys(functions, kernel)


KERNELS: Final[dict[str, Kernel]] = {
    **_all(arithmetic.arithmetic, "+", "-", "*", "/", "%", "div", "pmod"),
    **_all(attempts.attempt, "try_add", "try_subtract", "try_multiply", "try_divide", "try_mod"),
    "negative": arithmetic.negative,
    "abs": arithmetic.absolute,
    **_all(arithmetic.bits, "&", "|", "^"),
    "~": arithmetic.bit_not,
    **_all(arithmetic.shift, "<<", ">>", ">>>"),
    "bit_count": arithmetic.bit_count,
    **_all(choices.comparison, "=", "<=>", "<", "<=", ">", ">="),
    "in": choices.membership,
    "not": choices.logical_not,
    "isnull": choices.is_null,
    "isnotnull": choices.is_not_null,
    "isnan": choices.is_nan,
    "nanvl": choices.nanvl,
    **_all(choices.extreme, "greatest", "least"),
    "field": choices.field,
    "item": choices.item,
    "element_at": choices.element_at,
    "size": choices.size,
    "array_contains": choices.array_contains,
    **_all(casts.cast, "cast", "try_cast"),
    **_all(
        mathematics.one, "sqrt", "cbrt", "exp", "expm1", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
        "tanh", "rint", "sign", "degrees", "radians",
    ),
    **_all(mathematics.logarithm, "ln", "log10", "log2", "log1p"),
    "log": mathematics.logarithm_to_base,
    **_all(mathematics.two, "atan2", "hypot"),
    "pow": mathematics.power,
    **_all(mathematics.constant, "pi", "e"),
    **_all(mathematics.ceil, "ceil", "floor"),
    **_all(mathematics.round_, "round", "bround"),
    **_all(texts.case, "upper", "lower"),
    **_all(texts.size, "length", "octet_length", "bit_length"),
    **_all(texts.trim, "trim", "ltrim", "rtrim"),
    "substring": texts.substring,
    "left": texts.left,
    "right": texts.right,
    "concat": texts.concat,
    "concat_ws": texts.concat_ws,
    **_all(texts.search, "contains", "startswith", "endswith"),
    **_all(texts.match_like, "like", "ilike"),
    "rlike": texts.match_regex,
    "replace": texts.replace,
    "instr": texts.instr,
    "locate": texts.locate,
    **_all(texts.pad, "lpad", "rpad"),
    "repeat": texts.repeat,
    "space": texts.space,
    "reverse": texts.reverse,
    "split_part": texts.split_part,
    "translate": texts.translate,
    "ascii": texts.ascii_code,
    "chr": texts.character,
    **_all(
        moments.date_part, "year", "quarter", "month", "day", "dayofyear", "weekday", "dayofweek", "weekofyear",
        "yearofweek",
    ),
    **_all(moments.day_name, "dayname", "monthname"),
    "last_day": moments.last_day,
    **_all(moments.move_date, "date_add", "date_sub"),
    "datediff": moments.date_difference,
    "add_months": moments.add_months,
    "make_date": moments.make_date,
    **_all(moments.as_date, "unix_date", "date_from_unix_date"),
    **_all(moments.time_part, "hour", "minute", "second"),
    "seconds_with_fraction": moments.seconds_with_fraction,
    **_all(moments.interval_part, "interval_days", "interval_hours", "interval_minutes", "interval_seconds"),
    **_all(moments.since_epoch, "unix_seconds", "unix_millis", "unix_micros"),
    "unix_timestamp": moments.unix_timestamp,
    **_all(moments.from_epoch, "timestamp_seconds", "timestamp_millis", "timestamp_micros"),
    **_all(moments.by_pattern, "to_timestamp", "try_to_timestamp"),
    "date_trunc": moments.date_trunc,
}  # fmt: skip

NEVER_FAIL: Final = frozenset(
    [
        "=", "<=>", "<", "<=", ">", ">=", "in", "not", "and", "or", "case", "coalesce", "isnull", "isnotnull", "isnan",
        "nanvl", "greatest", "least", "field", "size", "array_contains", "&", "|", "^", "~", "<<", ">>", ">>>", "upper",
        "lower", "length", "octet_length", "bit_length", "trim", "ltrim", "rtrim", "substring", "left", "right",
        "concat",
        "concat_ws", "contains", "startswith", "endswith", "replace", "instr", "locate", "reverse", "year", "quarter",
        "month", "day", "dayofyear", "weekday", "dayofweek", "weekofyear", "hour", "minute", "second", "date_trunc",
        "datediff", "unix_seconds", "unix_millis", "unix_micros", "unix_timestamp", "try_cast", "try_to_timestamp",
        "try_add",
        "try_subtract",
        "try_multiply", "try_divide", "sqrt", "exp", "ln", "log", "log10", "log2", "pow", "sign",
    ]
)  # fmt: skip
"""Functions that have a value for every row, so that it does not matter for which rows they are computed."""
