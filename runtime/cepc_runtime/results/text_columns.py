"""The texts of `as_text.py` as columns of Arrow. Where Arrow writes what is written there, no value becomes a Python
object, which is what takes the time of writing many rows; the others are written there.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ..numbers.columns import flat
from ..sql.calendar import MICROS_PER_DAY
from .as_text import as_json, as_text, object_parts

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT: Final = pa.large_string()

_SCALE: Final = 6
"""From the next on Arrow writes small decimals as 1E-7."""

_DAYS: Final = (-719_162, 2_932_896)
"""From the year 1 to the year 9999, which have four digits."""

_PLAIN_TEXT: Final = (1e-3, 1e7)
_PLAIN_JSON: Final = (1e-3, 1e10)
"""Between which a number has no exponent, in Arrow's texts and in ours."""


def json_column(column: Any) -> Any:
    """Each value as JSON."""
    column = flat(column)
    type_ = column.type
    if pa.types.is_struct(type_):
        return _null_as_it_is(column, _structs(column))
    if pa.types.is_list(type_) or pa.types.is_large_list(type_) or pa.types.is_fixed_size_list(type_):
        return _null_as_it_is(column, _lists(column))
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        return _null_as_it_is(column, _quoted(column.cast(TEXT)))
    if pa.types.is_float64(type_):
        return _null_as_it_is(column, _numbers(column, _PLAIN_JSON, as_json))
    if pa.types.is_boolean(type_) or pa.types.is_integer(type_) or pa.types.is_decimal(type_):
        return _null_as_it_is(column, text_column(column))
    if pa.types.is_timestamp(type_) or pa.types.is_date(type_):
        return _null_as_it_is(column, joined('"', text_column(column), '"'))
    return pa.array(as_json(column), TEXT)


def text_column(column: Any) -> Any:
    """Each value as `as_text` writes it, null where it is null."""
    column = flat(column)
    type_ = column.type
    if pa.types.is_nested(type_):
        return pc.if_else(column.is_valid(), json_column(column), pa.scalar(None, TEXT))
    if pa.types.is_float64(type_):
        return _numbers(column, _PLAIN_TEXT, as_text)
    if pa.types.is_timestamp(type_):
        return _instants(column)
    is_date = pa.types.is_date32(type_)
    is_text = pa.types.is_string(type_) or pa.types.is_large_string(type_)
    is_number = pa.types.is_boolean(type_) or pa.types.is_integer(type_)
    is_short = pa.types.is_decimal(type_) and 0 <= type_.scale <= _SCALE
    if is_text or is_number or is_short or (is_date and _are_within(column.cast(pa.int32()), *_DAYS)):
        return column.cast(TEXT)
    return pa.array(as_text(column), TEXT)


def joined(*parts: Any, null: str | None = None) -> Any:
    """One text after the other, of columns and of what is the same in each row; null where one is, unless it has a text
    of its own.
    """
    texts = [pa.scalar(part, TEXT) if isinstance(part, str) else part for part in parts]
    handling = (
        {"null_handling": "emit_null"} if null is None else {"null_handling": "replace", "null_replacement": null}
    )
    return pc.binary_join_element_wise(*texts, pa.scalar("", TEXT), **handling)


def _null_as_it_is(column: Any, texts: Any) -> Any:
    return pc.if_else(column.is_valid(), texts, pa.scalar("null", TEXT)) if column.null_count else texts


def _replaced(texts: Any, where: Any, others: list[Any]) -> Any:
    return pc.replace_with_mask(texts, where, pa.array(others, TEXT)) if others else texts


def _numbers(column: Any, plain: tuple[float, float], write: Callable[[Any], list[Any]]) -> Any:
    """Both write the fewest digits that read back as the same, but Arrow leaves out a fraction of 0."""
    digits, size = column.cast(TEXT), pc.abs(column)
    alike = pc.or_(pc.and_(pc.greater_equal(size, plain[0]), pc.less(size, plain[1])), pc.equal(size, 0.0))
    other = pc.fill_null(pc.invert(alike), False)
    texts = pc.if_else(pc.equal(pc.trunc(column), column), joined(digits, ".0"), digits)
    return _replaced(texts, other, write(column.filter(other)))


def _instants(column: Any) -> Any:
    micros = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
    first, last = _DAYS
    if not _are_within(micros, first * MICROS_PER_DAY, (last + 1) * MICROS_PER_DAY - 1):
        return pa.array(as_text(column), TEXT)
    texts = micros.cast(pa.timestamp("us")).cast(TEXT)  # with all six digits of a fraction
    texts = pc.ascii_rtrim(pc.ascii_rtrim(texts, characters="0"), characters=".")
    texts = pc.binary_replace_slice(texts, start=10, stop=11, replacement="T")
    return texts if column.type.tz is None else joined(texts, "Z")


def _are_within(column: Any, least: int, greatest: int) -> bool:
    first, last = pc.min_max(column).as_py().values()
    return first is None or (least <= first and last <= greatest)


def _quoted(texts: Any) -> Any:
    escaped = pc.fill_null(pc.match_substring_regex(texts, r'["\\\x00-\x1f]'), False)
    quote = json.encoder.encode_basestring
    return _replaced(joined('"', texts, '"'), escaped, [quote(text) for text in texts.filter(escaped).to_pylist()])


# ---- nested ----------------------------------------------------------------------------------------------------------


def _structs(column: Any) -> Any:
    if not column.type.num_fields:
        return pa.array(as_json(column), TEXT)
    names = [json.encoder.encode_basestring(field.name) for field in column.type]
    return joined(*object_parts(names, [json_column(pc.struct_field(column, [i])) for i in range(len(names))]))


def _lists(column: Any) -> Any:
    lengths = pc.fill_null(pc.list_value_length(column), 0).cast(pa.int64())
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), pc.cumulative_sum(lengths)])
    lists = pa.LargeListArray.from_arrays(offsets, json_column(column.flatten()))
    return joined("[", pc.binary_join(lists, pa.scalar(",", TEXT)), "]")
