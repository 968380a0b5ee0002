"""Events with an Arrow schema, from files or from a caller: it is checked, and columns become what is declared, without
a change of any value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cepc_runtime.sql.types import TIMESTAMP, Array, Map, Struct, from_arrow, to_arrow
from cepc_runtime.sql.widening import widens

from ..errors import DataError
from . import messages
from .reader import Batch, Wanted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_runtime.sql.types import DataType

    from .files import DataFile


def check_schema(name: str, schema: Any, wanted: Wanted, instants: Sequence[str] = ()) -> list[Diagnostic]:
    """What is wrong with the columns of a schema; `instants` are times that are a TIMESTAMP whatever Arrow says."""
    found: list[Diagnostic] = []
    for column, type_ in wanted.declared:
        count = schema.names.count(column)
        if count == 0:
            found.append(messages.missing_column(name, column, type_, wanted.stream, schema.names, wanted.uses))
        elif count > 1:
            found.append(messages.twice(name, column))
        else:
            found += _check(name, column, type_, schema.field(column).type, wanted.stream, column in instants)
    return found


def _check(name: str, column: str, type_: DataType, arrow: Any, stream: str, instant: bool) -> list[Diagnostic]:
    found = TIMESTAMP if instant else from_arrow(arrow)
    if found is not None and widens(found, type_):
        return []
    if found is None:
        return [messages.no_type(name, column, type_, str(arrow), stream)]
    return [messages.other_type(name, column, type_, found, stream, messages.numbers_as_times(column, type_, found))]


def conformed(name: str, column: Any, label: str, type_: DataType, stream: str) -> Any:
    """A column whose type is right in the Arrow type of the declared one. Raises DataError."""
    import pyarrow as pa

    try:
        return conform(column, type_)
    except pa.ArrowInvalid as error:
        raise DataError([_not_conforming(name, label, type_, column.type, stream, error)]) from None


def conformed_batch(file: DataFile, columns: Any, wanted: Wanted, done: int) -> Batch:
    """The wanted columns of an Arrow batch or table, whose types are right, where so much of the file is read. Raises
    DataError.
    """
    import pyarrow as pa

    names = [name for name, _ in wanted.columns]
    if not names:
        return Batch(pa.Table.from_batches([columns]).select([]), done)
    found = [_wanted(file, columns.column(name), name, type_, wanted) for name, type_ in wanted.columns]
    return Batch(pa.table(found, names), done, cut=frozenset(n for n in names if has_nanoseconds(columns.column(n))))


def _wanted(file: DataFile, column: Any, name: str, type_: DataType, wanted: Wanted) -> Any:
    import pyarrow as pa

    if name == wanted.encoded and pa.types.is_dictionary(column.type) and column.type.value_type == to_arrow(type_):
        return column
    return conformed(file.name, column, name, type_, wanted.stream)


def _not_conforming(name: str, column: str, type_: DataType, arrow: Any, stream: str, error: Exception) -> Diagnostic:
    """Of a column whose type is right, but not all its values: bytes that are no text, times that are too far away."""
    found = from_arrow(arrow)
    assert found is not None  # it widens
    values = "values that are no UTF-8 text" if "UTF8" in str(error) else f"values that are no {type_.sql}"
    return messages.other_values(name, column, type_, found, values, stream)


def conform(column: Any, type_: DataType) -> Any:
    """The column in the Arrow type of `type_`, to which its own type widens.

    A time without a zone is UTC where one with a zone is declared, and nanoseconds are cut off. Raises pyarrow's
    ArrowInvalid where a value is no UTF-8 text.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from cepc_runtime.numbers.columns import decoded

    wanted = to_arrow(type_)
    if column.type == wanted:
        return column
    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        column = pc.floor_temporal(column, unit="microsecond")
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([conform(chunk, type_) for chunk in column.chunks], wanted)
    if pa.types.is_dictionary(column.type):
        return conform(decoded(column), type_)
    match type_:
        case _ if pa.types.is_null(column.type):
            return pa.nulls(len(column), wanted)
        case Array(element):
            return _list(column, element)
        case Map(key, value):
            return _map(column, key, value)
        case Struct():
            return _struct(column, type_)
    if type_ == TIMESTAMP and pa.types.is_timestamp(column.type) and column.type.tz is None:
        return column.cast(pa.timestamp("us")).view(wanted)
    return column.cast(wanted)


def has_nanoseconds(column: Any) -> bool:
    """Whether it has times that are finer than a microsecond."""
    import pyarrow as pa

    if not pa.types.is_timestamp(column.type) or column.type.unit != "ns":
        return False
    try:
        column.cast(pa.timestamp("us", column.type.tz))
    except pa.ArrowInvalid:
        return True
    return False


def _list(column: Any, element: DataType) -> Any:
    """Of any kind of list; a slice is copied, so that offsets begin at 0."""
    import pyarrow as pa

    lists = pa.concat_arrays([column.cast(pa.list_(column.type.value_type))])
    values = conform(lists.values, element)
    return pa.ListArray.from_arrays(lists.offsets, values, pa.list_(to_arrow(element)), mask=lists.is_null())


def _map(column: Any, key: DataType, value: DataType) -> Any:
    import pyarrow as pa

    maps = pa.concat_arrays([column])
    keys, items = conform(maps.keys, key), conform(maps.items, value)
    return pa.MapArray.from_arrays(
        maps.offsets, keys, items, pa.map_(to_arrow(key), to_arrow(value)), mask=maps.is_null()
    )


def _struct(column: Any, type_: Struct) -> Any:
    """The declared fields by their names, whatever others there are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    fields = [conform(pc.struct_field(column, [field.name]), field.type) for field in type_.fields]
    return pa.StructArray.from_arrays(fields, fields=list(to_arrow(type_)), mask=column.is_null())
