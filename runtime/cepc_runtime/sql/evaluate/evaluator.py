"""Evaluation of typed expressions over columns.

An argument that can fail is computed only for the rows for which Spark would compute it: a branch of CASE for the rows
that reach it, the right side of AND where the left is not false, and so on. Those rows are cut out of the columns,
computed, and put back in their places.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..expression import Aggregate, Call, Expression, Field, FieldKey, Literal, walk
from ..functions.coercion import tightest_type
from ..types import NULL, STRING, DataType, is_float, is_numeric
from .arrays import Value, arrow_type, as_array, conform, from_values
from .comparison import compare
from .errors import unsupported
from .kernels import KERNELS, NEVER_FAIL

if TYPE_CHECKING:
    from collections.abc import Mapping


def evaluate(expression: Expression, columns: Mapping[Any, pa.Array], length: int) -> pa.Array:
    """The values of an expression for `length` rows, as an array of `to_arrow(expression.type)`.

    `columns` has a column for the key of each of the expression's fields (`Field.key`), and for each of its aggregates
    (the Aggregate itself). Raises EvaluationError where ANSI SQL has no value.
    """
    if length == 0:
        return pa.nulls(0, arrow_type(expression.type))
    return as_array(_Rows(columns, length).value(expression), length)


@lru_cache(maxsize=4096)
def can_fail(expression: Expression) -> bool:
    """Whether there may be rows for which the expression has no value."""
    return any(isinstance(node, Call) and _call_can_fail(node) for node in walk(expression))


def _call_can_fail(call: Call) -> bool:
    if call.function in ("+", "-", "*", "negative", "abs"):
        return not is_float(call.type)
    if call.function == "cast":
        return not _always_fits(call.arguments[0].type, call.type)
    return call.function not in NEVER_FAIL


def _always_fits(source: DataType, target: DataType) -> bool:
    """Whether every value of a type can be cast to another."""
    return (
        source == NULL
        or target == STRING
        or (is_float(target) and is_numeric(source))
        or tightest_type(source, target) == target
    )


class _Rows:
    """Some rows of the columns: all of them, or those of `parent` that a mask keeps."""

    def __init__(self, columns: Mapping[Any, pa.Array], length: int) -> None:
        self.length = length
        self._columns = columns
        self._kept: pa.Array | None = None
        self._cut: dict[FieldKey | Aggregate, pa.Array] = {}

    def where(self, mask: pa.Array) -> _Rows:
        """The rows for which the mask is true."""
        kept = _Rows(self._columns, pc.sum(mask).as_py() or 0)
        indices = pc.indices_nonzero(mask)
        kept._kept = indices if self._kept is None else self._kept.take(indices)
        return kept

    def column(self, leaf: Field | Aggregate) -> pa.Array:
        key = leaf.key if isinstance(leaf, Field) else leaf
        if key not in self._cut:
            try:
                whole = conform(self._columns[key], leaf.type)
            except KeyError:
                raise KeyError(f"no column for {key!r}") from None
            self._cut[key] = whole if self._kept is None else whole.take(self._kept)
        return self._cut[key]

    def value(self, expression: Expression) -> Value:
        match expression:
            case Literal():
                return constant(expression)
            case Field() | Aggregate():
                return self.column(expression)
            case Call("and" | "or"):
                return self._connective(expression)
            case Call("case"):
                return self._case(expression)
            case Call("coalesce"):
                return self._coalesce(expression)
            case Call("nanvl", (_, second)) if can_fail(second):
                return self._nanvl(expression)
            case Call("in", (_, *options)) if any(can_fail(o) for o in options):
                return self._membership(expression)
        return self._call(expression)

    # ---- calls ---------------------------------------------------------------------------------------------------

    def _call(self, call: Call) -> Value:
        kernel = KERNELS.get(call.function)
        if kernel is None:
            unsupported(call, call.function)
        arguments = self._arguments(call)
        if any(isinstance(a, pa.Array) for a in arguments) or not arguments:
            return kernel(call, arguments, self.length)
        return as_array(kernel(call, tuple(as_array(a, 1) for a in arguments), 1), 1)[0]

    def _arguments(self, call: Call) -> tuple[Value, ...]:
        """Spark computes an argument only where those before it are not null, and a dividend after its divisor."""
        arguments = call.arguments
        if len(arguments) < 2 or not any(can_fail(a) for a in arguments) or call.function in _OWN_NULLS:
            return tuple(self.value(a) for a in arguments)
        in_turn = reversed(arguments) if call.function in _DIVISOR_FIRST else iter(arguments)
        values: dict[int, Value] = {}
        given: pa.Array | None = None
        for argument in in_turn:
            value = self._guarded(argument, given)
            values[id(argument)] = value
            if call.function in _NULL_FOR_ZERO and argument is arguments[1]:
                zero = compare("=", value, _zero(argument.type), argument.type, self.length)
                value = pc.if_else(pc.fill_null(zero, False), pa.scalar(None, value.type), value)
            if isinstance(value, pa.Array) and value.null_count:
                given = value.is_valid() if given is None else pc.and_(given, value.is_valid())
            elif isinstance(value, pa.Scalar) and not value.is_valid:
                given = pa.repeat(pa.scalar(False), self.length)
        return tuple(values[id(a)] for a in arguments)

    def _guarded(self, expression: Expression, mask: pa.Array | None) -> Value:
        """The value where the mask is true, null elsewhere; whatever it is elsewhere if it cannot fail."""
        if mask is None or not can_fail(expression):
            return self.value(expression)
        return self._scattered(expression, mask)

    def _scattered(self, expression: Expression, mask: pa.Array) -> pa.Array:
        rows = self.where(mask)
        if rows.length == self.length:
            return as_array(rows.value(expression), self.length)
        kept = mask.to_numpy(zero_copy_only=False)
        positions = pa.array(np.cumsum(kept) - 1, mask=~kept)
        return evaluate_rows(rows, expression).take(positions)

    # ---- what decides which rows are computed --------------------------------------------------------------------

    def _connective(self, call: Call) -> Value:
        """AND and OR of three values, from left to right; an operand counts where none before it has decided."""
        combine, decided = (pc.and_kleene, False) if call.function == "and" else (pc.or_kleene, True)
        result = self.value(call.arguments[0])
        for operand in call.arguments[1:]:
            open_ = None
            if can_fail(operand):
                open_ = pc.fill_null(pc.not_equal(as_array(result, self.length), decided), True)
            result = combine(result, self._guarded(operand, open_))
        return result

    def _nanvl(self, call: Call) -> Value:
        """The second argument counts where the first is NaN."""
        x = as_array(self.value(call.arguments[0]), self.length)
        nan = pc.fill_null(pc.is_nan(x), False)
        return pc.if_else(nan, self._guarded(call.arguments[1], nan), x)

    def _membership(self, call: Call) -> Value:
        """`x IN (…)`: an option counts where none before it is equal."""
        x = self.value(call.arguments[0])
        open_ = as_array(pc.is_valid(x), self.length)
        result: Value = pa.scalar(False)
        for option in call.arguments[1:]:
            equal = compare("=", x, self._guarded(option, open_), option.type, self.length)
            result = pc.or_kleene(result, equal)
            open_ = pc.and_not(open_, pc.fill_null(as_array(result, self.length), False))
        return result

    def _case(self, call: Call) -> Value:
        *branches, otherwise = call.arguments
        pairs = list(zip(branches[0::2], branches[1::2], strict=True))
        open_ = pa.repeat(pa.scalar(True), self.length)
        pieces: list[tuple[pa.Array, Value]] = []
        for condition, outcome in pairs:
            holds = pc.and_(open_, pc.fill_null(as_array(self._guarded(condition, open_), self.length), False))
            pieces.append((holds, self._guarded(outcome, holds)))
            open_ = pc.and_not(open_, holds)
        result = self._guarded(otherwise, open_)
        for holds, value in reversed(pieces):
            result = pc.if_else(holds, value, result)
        return result

    def _coalesce(self, call: Call) -> Value:
        result = self.value(call.arguments[0])
        for argument in call.arguments[1:]:
            missing = pc.is_null(as_array(result, self.length))
            if not pc.any(missing).as_py():
                return result
            result = pc.if_else(missing, self._guarded(argument, missing), result)
        return result


_OWN_NULLS = frozenset(["concat", "concat_ws", "greatest", "least", "in", "<=>", "locate", "nanvl"])
"""Functions that look at all their arguments even if one is null."""

_NULL_FOR_ZERO = frozenset(["try_divide", "try_mod"])
"""Functions that do not look at the dividend where the divisor is 0."""

_DIVISOR_FIRST = frozenset(["/", "%", "div", "pmod", "try_divide", "try_mod"])


def _zero(type_: DataType) -> pa.Scalar:
    return from_values([Decimal(0) if type_.sql.startswith("DECIMAL") else 0], type_)[0]


def evaluate_rows(rows: _Rows, expression: Expression) -> pa.Array:
    """The values for some rows, of which there may be none."""
    if rows.length == 0:
        return pa.nulls(0, arrow_type(expression.type))
    return as_array(rows.value(expression), rows.length)


@lru_cache(maxsize=1024)
def constant(literal: Literal) -> pa.Scalar:
    return from_values([literal.value], literal.type)[0]
