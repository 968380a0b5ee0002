"""Functions that give null where others fail: `try_add`, `try_divide` and their like."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from .arithmetic import arithmetic
from .arrays import Value, arrow_type, as_array
from .errors import EvaluationError

if TYPE_CHECKING:
    from ..expression import Call

_OPERATORS: Final = {"try_add": "+", "try_subtract": "-", "try_multiply": "*", "try_divide": "/", "try_mod": "%"}


def attempt(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    """The operator's result, null for the rows that fail."""
    plain = replace(call, function=_OPERATORS[call.function])
    columns = [as_array(a, length) for a in arguments]
    return pa.concat_arrays(_pieces(plain, columns, 0, length))


def _pieces(call: Call, columns: list[pa.Array], start: int, stop: int) -> list[pa.Array]:
    """The rows from start to stop; where one fails, it is looked for by halves."""
    size = stop - start
    try:
        return [as_array(arithmetic(call, tuple(c.slice(start, size) for c in columns), size), size)]
    except EvaluationError:
        if size == 1:
            return [pa.nulls(1, arrow_type(call.type))]
        middle = start + size // 2
        return _pieces(call, columns, start, middle) + _pieces(call, columns, middle, stop)
