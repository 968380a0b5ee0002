"""Where rows go, micro-batch by micro-batch: a batch that is run again writes what it wrote before, in the same place."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions as F  # noqa: N812

from ..rows import ERROR, QUERY
from ..sinks import path_of, show
from .blobs import LATE, METRICS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from .query import Continuous

Sink = Callable[[str, "DataFrame", int], None]
"""`(query, rows, batch)`. It may be called again for the same batch, with the same rows, and must then change nothing."""

FLUSHED: Final = -1
"""The number of the batch that a flush writes."""


def place(batch: int) -> str:
    """The directory of a micro-batch."""
    return f"batch={batch:09d}" if batch != FLUSHED else f"batch={batch}"


def files(folder: str, form: str) -> Sink:
    """A directory for each query, in it one for each micro-batch with rows: `QUERY/batch=000000012`."""

    def write(query: str, rows: DataFrame, batch: int) -> None:
        options = {"header": "true"} if form == "csv" else {}
        path = f"{path_of(folder, query)}/{place(batch)}"
        rows.write.format(form).options(**options).mode("overwrite").save(path)

    return write


def console(query: str, rows: DataFrame, batch: int) -> None:
    show(f"{query}, batch {batch}" if batch != FLUSHED else f"{query}, at the end", rows)


@dataclass
class Writing:
    """Writes the micro-batches of one stream; what each did is in `done`, by its number."""

    what: Continuous
    sink: Sink
    late: str | None
    done: dict[int, dict[str, Any]] = field(default_factory=dict)
    _buckets: dict[int, tuple[int, int, int]] = field(default_factory=dict)

    def __call__(self, rows: DataFrame, batch: int) -> None:
        kept = rows.persist()  # computed once, whatever many queries are written; an error comes before anything is
        try:
            counts = {int(r[QUERY]): int(r["count"]) for r in kept.groupBy(QUERY).count().collect()}
            for number, name in enumerate(self.what.queries):
                if counts.get(number):
                    self.sink(name, self.what.of_query(kept, name), batch)
            if self.late is not None and counts.get(LATE):
                lost = kept.where(F.col(QUERY) == LATE).select(F.col(ERROR).alias("value"))
                lost.write.mode("overwrite").text(f"{self.late.rstrip('/')}/{place(batch)}")
            self.done[batch] = self._summary(counts, kept)
        finally:
            kept.unpersist()

    def _summary(self, counts: dict[int, int], rows: DataFrame) -> dict[str, Any]:
        texts = rows.where(F.col(QUERY) == METRICS).select(ERROR).collect()
        metrics = [json.loads(row[ERROR]) for row in texts]
        self._buckets |= {m["bucket"]: (m["events"], m["panes"], m["bytes"]) for m in metrics}
        return {
            "late": sum(m["late"] for m in metrics),
            "ahead": sum(m["ahead"] for m in metrics),
            "out": {name: counts.get(number, 0) for number, name in enumerate(self.what.queries)},
            "state_rows": sum(events for events, _, _ in self._buckets.values()),
            "state_panes": sum(panes for _, panes, _ in self._buckets.values()),
            "state_bytes": sum(size for _, _, size in self._buckets.values()),
            "buckets": len(metrics),
        }
