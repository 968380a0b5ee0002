"""What `--output-format` names in a stream. To add one, write what opens it and list it here."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from ..rows import result_columns
from ..schema import JobError
from ..sinks import path_of
from .kafka import kafka
from .ownership import BATCH
from .sinks import Directories, delta

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .query import Streamed
    from .sinks import Sink, Target


def check_columns(streams: Sequence[Streamed], names: Sequence[str], folder: str) -> None:
    """Whether the directories of micro-batches, read as one table, have all columns. Raises JobError."""
    for plan in (one.plan(names) for one in streams):
        for query in plan.queries:
            for column, _ in result_columns(query, plan.stream):
                if column.casefold() == BATCH:
                    raise JobError(
                        f"query {query.name} has a column `{column}`: anyone who reads "
                        f"{path_of(folder, query.name)} as a table gets the number of the micro-batch (the folders "
                        f"{BATCH}=…) instead; rename it with AS"
                    )


def _files(form: str, target: Target) -> Sink:
    check_columns(target.streams, target.names, target.to)
    return Directories(target.to, form, target.options)


SINKS: Final[dict[str, Callable[[Target], Sink]]] = {
    **{form: partial(_files, form) for form in ("parquet", "orc", "json", "csv")}, "delta": delta, "kafka": kafka,
}  # fmt: skip
"""What opens a sink; it raises JobError where that cannot be written to."""
