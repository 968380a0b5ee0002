"""A column of a pandas frame in Arrow's words: numbers become the declared ones, wherever all of them fit."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal as PythonDecimal
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from cepc_grammar.source import NOWHERE
from cepc_runtime.sql.types import (
    BIGINT,
    FLOATS,
    MAX_PRECISION,
    STRING,
    TIMES,
    Array,
    Decimal,
    Map,
    Struct,
    from_arrow,
    is_integer,
    is_numeric,
    is_orderable,
    to_arrow,
)

from ..errors import DataError
from ..reading.json_values import absent
from ..reading.messages import bad_value, no_text, other_values, several_kinds
from ..reading.text_values import BadValueError, failing, from_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cepc_runtime.sql.types import DataType


def from_series(series: Any, name: str, type_: DataType, stream: str) -> Any:
    """As pandas has one kind of integers and of floats, floats where integers are missing, and knows neither decimals
    nor, in what it reads from CSV, times: a number that fits does, and a text that is a time.
    """
    import pyarrow as pa

    column = _as_arrow(series, name, type_, stream)
    if pa.types.is_floating(column.type) and column.null_count == len(column):  # pandas's type of what has no values
        return pa.chunked_array([pa.nulls(len(column), to_arrow(type_))])
    found = from_arrow(column.type)
    if pa.types.is_uint64(column.type) and (is_integer(type_) or type_ in FLOATS):  # which is DECIMAL(20, 0) to Spark
        with suppress(pa.ArrowInvalid):
            return _as_number(column, BIGINT, type_)
    try:
        if found == STRING and type_ in TIMES:
            return from_text(column.cast(pa.string()).combine_chunks(), type_)
        return _with_numbers_inside(column, type_) if pa.types.is_nested(column.type) else _number(column, type_)
    except BadValueError as bad:
        raise DataError([bad_value(NOWHERE, name, type_, f"`{bad.found}`", bad.why)]) from None
    except pa.ArrowInvalid:
        assert found is not None
        values = f"values such as `{_unfit(column, found, type_)}`"
        raise DataError([other_values("", name, type_, found, values, stream)]) from None


def _as_arrow(series: Any, name: str, type_: DataType, stream: str) -> Any:
    """Its values in the Arrow type that they have in common. Raises DataError."""
    import pandas as pd
    import pyarrow as pa

    if isinstance(series.dtype, pd.SparseDtype):
        series = series.sparse.to_dense()
    try:
        try:
            column = _values([*series], type_) if _has_maps(series, type_) else pa.array(series, from_pandas=True)
        except OverflowError:  # integers past 64 bits, which a DECIMAL may have
            column = pa.array(series, pa.decimal128(MAX_PRECISION, 0), from_pandas=True)
        except TypeError:  # of pyarrow, where a Decimal of Python's is infinite
            raise _infinite(series, name, type_, stream) from None
    except UnicodeEncodeError:
        raise DataError([no_text(name, type_, stream)]) from None
    except pa.ArrowException:
        kinds = dict.fromkeys(type(value).__name__ for value in series.dropna())
        raise DataError([several_kinds(name, type_, [*kinds], stream)]) from None
    chunks = [column] if isinstance(column, pa.Array) else column.chunks
    return pa.chunked_array([_plain(chunk) for chunk in chunks], _plain(pa.array([], column.type)).type)


def _infinite(series: Any, name: str, type_: DataType, stream: str) -> DataError:
    """Of a column with Decimals of Python's that are infinite, which no DECIMAL is."""
    bad = next((one for one in series if isinstance(one, PythonDecimal) and one.is_infinite()), None)
    if bad is None or not isinstance(type_, Decimal):
        kinds = dict.fromkeys(type(value).__name__ for value in series.dropna())
        return DataError([several_kinds(name, type_, [*kinds], stream)])
    return DataError([bad_value(NOWHERE, name, type_, f"`{bad}`", "no DECIMAL is infinite")])


def _plain(column: Any) -> Any:
    """The values of a categorical as they are, and floats of 16 bits, which Spark does not have, as those of 32."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        from cepc_runtime.numbers.columns import decoded

        return _plain(decoded(column))
    return column.cast(pa.float32()) if pa.types.is_float16(column.type) else column


def _has_maps(series: Any, type_: DataType) -> bool:
    """Whether maps are declared, at any depth, and the values are objects of Python's: only maps have no order."""
    return not is_orderable(type_) and series.dtype == object


def _is_map(value: Any) -> bool:
    pairs = isinstance(value, list) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in value)
    return pairs or isinstance(value, dict)


def _values(values: Sequence[Any], type_: DataType | None) -> Any:
    """Values in the type that they have in common, with maps where maps are declared: dicts, which Arrow takes for
    structs, and lists of pairs. What has not the declared form is left to Arrow.
    """
    import pyarrow as pa

    if type_ is None or is_orderable(type_):  # no maps
        return pa.array(values, from_pandas=True)
    there = [one for one in values if not _is_null(one)]
    if all((isinstance(one, dict) or _is_list(one)) and len(one) == 0 for one in there):
        return pa.array([None if _is_null(one) else one for one in values], to_arrow(type_))
    match type_:
        case Map(key, value) if all(map(_is_map, there)):
            pairs = [None if _is_null(one) else [*(one.items() if isinstance(one, dict) else one)] for one in values]
            keys = _values([key for one in pairs for key, _ in one or ()], key)
            items = _values([item for one in pairs for _, item in one or ()], value)
            return pa.MapArray.from_arrays(_offsets(pairs), keys, items, mask=absent(pairs))
        case Array(element) if all(map(_is_list, there)):
            lists = [None if _is_null(one) else [*one] for one in values]
            inner = _values([value for one in lists for value in one or ()], element)
            return pa.ListArray.from_arrays(_offsets(lists), inner, mask=absent(lists))
        case Struct() if all(isinstance(one, dict) for one in there):
            dicts = [None if _is_null(one) else one for one in values]
            names = dict.fromkeys(name for one in dicts for name in one or ())
            fields = [_values([(one or {}).get(name) for one in dicts], type_.field(name)) for name in names]
            return pa.StructArray.from_arrays(fields, [*names], mask=absent(dicts))
    return pa.array(values, from_pandas=True)


def _is_null(value: Any) -> bool:
    import pandas as pd

    return value is None or (pd.api.types.is_scalar(value) and pd.isna(value))


def _is_list(value: Any) -> bool:
    import numpy as np

    return isinstance(value, (list, tuple, np.ndarray))


def _offsets(values: list[Any]) -> Any:
    """Where the parts of each value begin, and the last ones end."""
    import pyarrow as pa

    return pa.array([0, *accumulate(len(one or ()) for one in values)], pa.int32())


def _with_numbers_inside(column: Any, type_: DataType) -> Any:
    """The column with the declared numbers in its arrays, structs and maps, or as it is if not all of them fit."""
    import pyarrow as pa

    try:
        chunks = [_inside(pa.concat_arrays([chunk]), type_) for chunk in column.chunks]  # offsets begin at 0
    except (pa.ArrowInvalid, BadValueError):
        return column
    return pa.chunked_array(chunks) if chunks else column


def _inside(column: Any, type_: DataType | None) -> Any:
    """The array with the declared numbers. Raises ArrowInvalid and BadValueError where one does not fit."""
    import pyarrow as pa

    is_ = pa.types
    match type_:
        case Array(element) if is_.is_list(column.type):
            values = _inside(column.values, element)
            return pa.ListArray.from_arrays(column.offsets, values, mask=column.is_null())
        case Map(key, value) if is_.is_map(column.type):
            keys, items = _inside(column.keys, key), _inside(column.items, value)
            return pa.MapArray.from_arrays(column.offsets, keys, items, mask=column.is_null())
        case Struct() if is_.is_struct(column.type):
            names = [field.name for field in column.type]
            fields = [_inside(column.field(i), type_.field(name)) for i, name in enumerate(names)]
            return pa.StructArray.from_arrays(fields, names, mask=column.is_null())
        case None:
            return column
    return _number(column, type_)


def _number(column: Any, type_: DataType) -> Any:
    """A column of numbers as one of the declared numbers; any other as it is. Raises ArrowInvalid and BadValueError
    where one does not fit.
    """
    import pyarrow as pa

    column = _plain(column)
    found = from_arrow(column.type)
    if found is None or not is_numeric(found):
        return column
    if isinstance(type_, Decimal):
        text = column.cast(pa.string())
        return from_text(text.combine_chunks() if isinstance(text, pa.ChunkedArray) else text, type_)
    are_simple = all(is_integer(one) or one in FLOATS for one in (found, type_))
    return _as_number(column, found, type_) if are_simple else column


def _as_number(column: Any, found: DataType, type_: DataType) -> Any:
    """Digits may be lost where floats become FLOAT, as they are in any FLOAT, and nothing else. Raises ArrowInvalid."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cast = column.cast(to_arrow(type_), safe=is_integer(type_) or is_integer(found))
    if pc.any(pc.and_(pc.is_inf(cast), pc.is_finite(column))).as_py():
        raise pa.ArrowInvalid("too large")
    return cast


def _unfit(column: Any, found: DataType, type_: DataType) -> Any:
    """The first number that the type does not have; there is one."""
    import pyarrow as pa

    def attempt(start: int, stop: int) -> None:
        _as_number(column.slice(start, stop - start), found, type_)

    place, _ = next(failing(len(column), attempt, pa.ArrowInvalid))
    return column[place].as_py()
