"""The constants of a test as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cepc_grammar.diagnostic import Diagnostic
from cepc_runtime.evaluate import EvaluationError, evaluate
from cepc_runtime.types import to_arrow

from ..errors import ProgramError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cepc_grammar.source import Source
    from cepc_runtime.types import DataType

    from .. import model


def table_of(values: model.Values, columns: Sequence[tuple[str, DataType]], sources: Mapping[str, Source]) -> Any:
    """The rows with all of `columns`, null where they are not named. Raises ProgramError where a constant has no value."""
    problems: list[Diagnostic] = []
    arrays: dict[str, Any] = {}
    for i, (name, type_) in enumerate(values.columns):
        cells = [_cell(row[i], name, type_, problems) for row in values.rows]
        arrays[name] = pa.concat_arrays(cells) if not problems else None
    if problems:
        raise ProgramError(problems, sources)
    nothing = len(values.rows)
    return pa.table({n: arrays[n] if n in arrays else pa.nulls(nothing, to_arrow(type_)) for n, type_ in columns})


def _cell(value: model.Value, name: str, type_: DataType, problems: list[Diagnostic]) -> Any:
    try:
        return evaluate(value.expression, {}, 1)
    except EvaluationError as error:
        problems.append(
            Diagnostic(
                "E0905",
                f"the value has no meaning: {error.reason}",
                value.span,
                f"`{name}` is {type_.sql}",
            )
        )
        return pa.nulls(1, to_arrow(type_))
