"""What `--output-format` names in a stream. To add one, write what opens it and list it in SINKS."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from ..rows import result_columns
from ..schema import JobError
from ..sinks import path_of
from .kafka import SERVERS, check_connector, check_servers, kafka
from .sinks import BATCH, check_delta, delta, files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql import SparkSession

    from .query import Streamed
    from .sinks import Sink


@dataclass(frozen=True, slots=True)
class Target:
    """Where the rows of the queries `names` shall go: `--output`, `--output-option` and `--checkpoint`."""

    spark: SparkSession
    streams: Sequence[Streamed]
    names: Sequence[str]
    to: str
    options: Mapping[str, str]
    checkpoint: str


def check_columns(streams: Sequence[Streamed], names: Sequence[str], folder: str) -> None:
    """Whether the directories of micro-batches, read as one table, have all columns. Raises JobError."""
    for plan in (one.plan(names) for one in streams):
        for query in plan.queries:
            for column, _ in result_columns(query, plan.stream):
                if column.casefold() == BATCH:
                    raise JobError(
                        f"query {query.name} has a column {column}, which who reads {path_of(folder, query.name)} as a "
                        f"table would lose to the number of the micro-batch, in {BATCH}=…: "
                        "give it another name with AS"
                    )


def _files(form: str, target: Target) -> Sink:
    check_columns(target.streams, target.names, target.to)
    return files(target.to, form, target.options)


def _delta(target: Target) -> Sink:
    check_delta(target.spark)
    found = {q: path_of(target.checkpoint, s.stream.name) for s in target.streams for q in s.stream.queries}
    return delta(target.to, found, target.options)


def _kafka(target: Target) -> Sink:
    check_servers(target.options.get(SERVERS), "--output-option")
    check_connector(target.spark)
    return kafka(target.options, target.to)


SINKS: Final[dict[str, Callable[[Target], Sink]]] = {
    **{form: partial(_files, form) for form in ("parquet", "orc", "json", "csv")},
    "delta": _delta,
    "kafka": _kafka,
}
"""What opens a sink, and raises JobError where it cannot be written to."""
