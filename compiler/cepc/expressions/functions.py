"""Calls of functions: portable ones by the catalogue, Spark's others by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cepc_grammar import ast
from cepc_runtime.sql.aggregate_functions import AGGREGATES, spellings
from cepc_runtime.sql.expression import Call, Expression
from cepc_runtime.sql.functions import Function, Mismatch, find, names
from cepc_runtime.sql.functions.spark import SparkFunction, find_spark, spark_functions
from cepc_runtime.sql.types import NULL, STRING, Array, DataType, Interval, Map

from ..diagnostics.near import nearest
from . import messages as say
from .conversions import hint_for
from .written_types import SIMPLE

if TYPE_CHECKING:
    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.source import Span

NAVIGATION: Final = ("FIRST", "LAST", "PREV")
LABEL: Final = "LABEL"
BESIDE: Final = ("LAG", "LEAD")

_NEAR_AGGREGATES: Final = {
    **{other: function.written for function in AGGREGATES for other in function.also},
    "FIRST_VALUE": "FIRST", "LAST_VALUE": "LAST", "ANY_VALUE": "FIRST",
}  # fmt: skip

_OTHER_NAMES: Final = {
    "isnullorempty": "length", "now": "at", "strlen": "length", "substringof": "contains", "datepart": "date_part",
    "trunc": "date_trunc", "indexof": "instr", "charindex": "locate", "prior": "prev", "previous": "prev",
    **{other.lower(): function.name for function in AGGREGATES for other in function.also},
    "iif": "if", "isnull_": "coalesce", "tolower": "lower",
    "toupper": "upper", "len_": "length", "power_": "pow", "string_length": "length",
}  # fmt: skip
"""Names that people bring from elsewhere."""


def call(
    written: ast.Call, arguments: tuple[Expression, ...], target: DataType | None, *, spark: bool
) -> Expression | Diagnostic:
    """A call of a known function with typed arguments; `target` is the type of a cast around it. Where Spark computes
    nothing, a type that it alone knows need not be told: the call has an error there anyway (resolve/spark_alone.py).
    """
    name, span = written.function.text, written.function.span
    function = find(name)
    if function is not None and function.least <= len(arguments) <= (function.most or len(arguments)):
        return _portable(function, written, arguments)
    of_spark = find_spark(name, len(arguments))
    if of_spark is not None and of_spark.kind != "scalar":
        return refusal(span, name, of_spark)
    if function is not None and of_spark is None:
        return say.argument_count(written.span, function.usage, function.least, function.most, len(arguments))
    if is_type(name):
        return say.argument_count(written.span, f"{name.lower()}(x)", 1, 1, len(arguments))
    if of_spark is not None:
        known = target if spark else target or _likely(of_spark.name, arguments)
        return _spark_only(of_spark, written, arguments, known)
    raise KeyError(name)


def label_named(call: ast.Call) -> ast.Name | None:
    """The name in `LABEL(severity)`; None where something else stands there."""
    match call.arguments:
        case (ast.Reference((name,)),) if not call.distinct:
            return name
    return None


def is_unknown(written: ast.Call) -> bool:
    """Whether neither the catalogue nor Spark has a function of that name."""
    name = written.function.text
    return find(name) is None and find_spark(name, len(written.arguments)) is None and not is_type(name)


def as_cast(written: ast.Call) -> ast.Cast | None:
    """`double(x)`: a type as a function is a cast; None for another call, and without its one argument."""
    name = written.function.text
    if len(written.arguments) != 1 or find(name) is not None or not is_type(name):
        return None
    return ast.Cast(written.arguments[0], ast.TypeExpr(name.upper(), span=written.function.span), False, written.span)


def is_type(name: str) -> bool:
    """Of a type that can be written as a function."""
    return name.upper() in SIMPLE or name.upper() == "DECIMAL"


def cannot_be_called(written: ast.Call) -> bool:
    """Whether the name alone is an error: there is no such function, or it is one of Spark's that is not scalar."""
    spark = find_spark(written.function.text, len(written.arguments))
    return is_unknown(written) or (find(written.function.text) is None and spark is not None and spark.kind != "scalar")


def is_refused_aggregate(written: ast.Call) -> bool:
    """Whether it is an aggregate of Spark's that queries cannot compute."""
    spark = find_spark(written.function.text, len(written.arguments))
    return find(written.function.text) is None and spark is not None and spark.kind == "aggregate"


def refusal(span: Span, name: str, spark: SparkFunction) -> Diagnostic:
    """Why a function of Spark's that is not scalar cannot be called."""
    if spark.kind == "nondeterministic":
        return say.nondeterministic(span, name)
    if spark.kind == "aggregate":
        return say.unknown_aggregate(span, name, _NEAR_AGGREGATES.get(name.upper()))
    return say.not_scalar(span, name, spark.kind)


def near_function(name: str) -> str | None:
    """The function that was most likely meant."""
    lower = name.lower()
    if lower in _OTHER_NAMES:
        return _OTHER_NAMES[lower]
    known = (*names(), *(n.lower() for n in (*spellings(), *NAVIGATION, *BESIDE)))
    return nearest(lower, known) or nearest(lower, [f.name for f in spark_functions().values() if f.kind == "scalar"])


def _portable(function: Function, written: ast.Call, arguments: tuple[Expression, ...]) -> Expression | Diagnostic:
    built = function.build(arguments)
    if not isinstance(built, Mismatch):
        return built
    what = f"`{function.usage}`"
    if built.argument is None:
        types = [a.type for a in arguments]
        return say.wrong_operands(written.span, what, built.expected, types, hint_for(arguments, function.build))
    place = written.arguments[built.argument]
    if built.value:
        return say.wrong_value(place.span, what, built.expected)
    return say.wrong_argument(place.span, what, built.expected, arguments[built.argument].type)


def _spark_only(
    spark: SparkFunction, written: ast.Call, arguments: tuple[Expression, ...], target: DataType | None
) -> Expression | Diagnostic:
    """Spark checks the arguments when it reads the job; the type of the result has to be known here."""
    type_ = spark.type or target
    if type_ is None:
        return say.unknown_result_type(written.span, spark.name, _likely(spark.name, arguments))
    return Call(spark.name, arguments, type_)


def _likely(name: str, arguments: tuple[Expression, ...]) -> DataType:
    """A type that the function of Spark's may return of these."""
    first = arguments[0].type if arguments else NULL
    if name == "array":
        return Array(STRING if first == NULL or isinstance(first, Interval) else first)
    if name in _ARRAYS:
        return first if isinstance(first, Array) else Array(STRING)
    if name in _MAPS:
        return first if isinstance(first, Map) else Map(STRING, STRING)
    return STRING


_ARRAYS: Final = frozenset(
    (
        "array_append", "array_compact", "array_distinct", "array_except", "array_insert", "array_intersect",
        "array_prepend", "array_remove", "array_repeat", "array_sort", "array_union", "filter", "flatten", "map_keys",
        "map_values", "sequence", "slice", "sort_array", "transform", "zip_with",
    )
)  # fmt: skip
_MAPS: Final = frozenset(
    (
        "map", "map_concat", "map_filter", "map_from_arrays", "map_from_entries", "map_zip_with", "transform_keys",
        "transform_values",
    )
)  # fmt: skip
