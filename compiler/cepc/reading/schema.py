"""Events with an Arrow schema, from files or from a caller: it is checked, and columns become what is declared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cepc_runtime.types import TIMESTAMP, from_arrow

from ..errors import DataError
from . import messages
from .conform import conform
from .widening import widens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_runtime.types import DataType

    from .wanted import Wanted


def check_schema(name: str, schema: Any, wanted: Wanted, instants: Sequence[str] = ()) -> list[Diagnostic]:
    """What is wrong with the columns of a schema; `instants` are times that are a TIMESTAMP whatever Arrow says."""
    found: list[Diagnostic] = []
    for column, type_ in wanted.declared:
        count = schema.names.count(column)
        if count == 0:
            found.append(messages.missing_column(name, column, type_, wanted.stream, schema.names))
        elif count > 1:
            found.append(messages.twice(name, column))
        else:
            found += _check(name, column, type_, schema.field(column).type, wanted.stream, column in instants)
    return found


def _check(name: str, column: str, type_: DataType, arrow: Any, stream: str, instant: bool) -> list[Diagnostic]:
    found = TIMESTAMP if instant else from_arrow(arrow)
    if found is not None and widens(found, type_):
        return []
    return [messages.other_type(name, column, type_, found.sql if found else str(arrow), stream)]


def conformed(name: str, column: Any, label: str, type_: DataType, stream: str) -> Any:
    """A column whose type is right in the Arrow type of the declared one. Raises DataError."""
    import pyarrow as pa

    try:
        return conform(column, type_)
    except pa.ArrowInvalid as error:
        raise DataError([_not_conforming(name, label, type_, column.type, stream, error)]) from None


def _not_conforming(name: str, column: str, type_: DataType, arrow: Any, stream: str, error: Exception) -> Diagnostic:
    """Of a column whose type is right, but not all its values: times in nanoseconds, binary that is no text."""
    import pyarrow as pa

    hint = ""
    if pa.types.is_timestamp(arrow):
        hint = "Spark has microseconds: write the times with `coerce_timestamps='us'`, or round them"
    return messages.other_type(name, column, type_, f"{arrow} with values that are none ({error})", stream, hint)
