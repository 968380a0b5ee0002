"""Functions that choose among values, test for null, or look into arrays."""

from __future__ import annotations

from typing import Final

from ..expression import Call, Expression, Literal
from ..types import BOOLEAN, INT, NULL, Array, Map, is_integer
from .coercion import ANY, ARRAYS, MAPS, cast_to, common_type, implicit_type
from .operators import between, comparison
from .signature import Function, Mismatch, fixed, to_common


def coalesce(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
    common = to_common(arguments)
    return common if isinstance(common, Mismatch) else Call("coalesce", *common)


def choose(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
    """CASE: conditions and results in turn, then the ELSE. One branch is what IF is."""
    conditions, results = arguments[0:-1:2], (*arguments[1:-1:2], arguments[-1])
    for i, condition in enumerate(conditions):
        if condition.type not in (BOOLEAN, NULL):
            return Mismatch(2 * i, BOOLEAN.sql)
    common = to_common(results)
    if isinstance(common, Mismatch):
        return common
    *branches, otherwise = common[0]
    pairs = [x for c, r in zip(conditions, branches, strict=True) for x in (cast_to(c, BOOLEAN), r)]
    return Call("case", (*pairs, otherwise), common[1])


def _if(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
    condition = arguments[0]
    if implicit_type(condition.type, BOOLEAN) is None:
        return Mismatch(0, BOOLEAN.sql)
    return choose((cast_to(condition, BOOLEAN), *arguments[1:]))


def _nvl2(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
    x, then, otherwise = arguments
    return choose((Call("isnotnull", (x,), BOOLEAN), then, otherwise))


def _nullif(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
    equal = comparison("=")(arguments)
    if isinstance(equal, Mismatch):
        return equal
    return choose((equal, Literal(None, NULL), arguments[0]))


def _nullifzero(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
    return _nullif((arguments[0], Literal(0, INT)))


def _zeroifnull(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
    return coalesce((arguments[0], Literal(0, INT)))


# ---- arrays and maps -------------------------------------------------------------------------------------------------


def item(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
    """`a[i]`: an element by its index from 0, or the value of a key."""
    collection, index = arguments
    match collection.type:
        case Array(element):
            if not is_integer(index.type) and index.type != NULL:
                return Mismatch(1, "an integer")
            return Call("item", (collection, cast_to(index, INT) if index.type == NULL else index), element)
        case Map(key, value):
            type_ = implicit_type(index.type, key)
            return Mismatch(1, key.sql) if type_ is None else Call("item", (collection, cast_to(index, type_)), value)
    return Mismatch(0, "an array or a map")


def _element_at(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
    found = item(arguments)
    if not isinstance(found, Call):
        return found
    collection, index = found.arguments
    return Call("element_at", (collection, cast_to(index, INT) if is_integer(index.type) else index), found.type)


def _array_contains(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
    array, value = arguments
    if not isinstance(array.type, Array):
        return Mismatch(0, ARRAYS.name)
    type_ = common_type(array.type.element, value.type)
    if type_ is None or value.type == NULL:
        return Mismatch(1, array.type.element.sql)
    return Call("array_contains", (cast_to(array, Array(type_)), cast_to(value, type_)), BOOLEAN)


CONDITIONS: Final = (
    Function("if", "if(condition, x, y)", "x where the condition is true, else y", 3, 3, _if),
    Function("coalesce", "coalesce(x, …)", "the first value that is not null", 1, None, coalesce),
    Function("nullif", "nullif(x, y)", "x, or null where it equals y", 2, 2, _nullif),
    Function("nvl", "nvl(x, y)", "x, or y where x is null", 2, 2, coalesce),
    Function("nvl2", "nvl2(x, y, z)", "y where x is not null, else z", 3, 3, _nvl2),
    Function("nullifzero", "nullifzero(x)", "x, or null where it is 0", 1, 1, _nullifzero),
    Function("zeroifnull", "zeroifnull(x)", "x, or 0 where it is null", 1, 1, _zeroifnull),
    Function("isnull", "isnull(x)", "whether it is null", 1, 1, fixed("isnull", ANY, to=BOOLEAN)),
    Function("isnotnull", "isnotnull(x)", "whether it is not null", 1, 1, fixed("isnotnull", ANY, to=BOOLEAN)),
    Function("<=>", "equal_null(x, y)", "whether they are equal or both null", 2, 2, comparison("<=>")),
    Function("between", "between(x, low, high)", "low <= x AND x <= high", 3, 3, between),
    Function(
        "size", "size(a)", "the number of elements of an array or a map", 1, 1, fixed("size", (ARRAYS, MAPS), to=INT)
    ),
    Function("array_contains", "array_contains(a, x)", "whether x is an element", 2, 2, _array_contains),
    Function("element_at", "element_at(a, i)", "an element by its index from 1, or by key", 2, 2, _element_at),
)

CONDITIONS_ALIASES: Final = {"ifnull": "nvl", "equal_null": "<=>", "cardinality": "size"}
