"""What a bucket tells, and what it puts aside as rows, in Python's values."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cepc_runtime.spark.rows import Packing, layout_of, result_columns
from cepc_runtime.spark.streaming.blobs import contents, kept_of
from cepc_runtime.spark.streaming.tells import MORE
from cepc_runtime.spark.streaming.told import Told, told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cepc_runtime.plan.physical import PhysicalPlan


def told_of(blobs: Sequence[bytes]) -> Told:
    return told(contents(0, map(pa.scalar, blobs)))


def rows_told(
    plan: PhysicalPlan, blobs: Sequence[bytes]
) -> tuple[dict[int, list[dict[str, Any]]], dict[str, list[str]]]:
    """The rows by the number of their query, and texts by what they are."""
    rows, texts = defaultdict[int, list[dict[str, Any]]](list), defaultdict[str, list[str]](list)
    found, layout = told_of(blobs), layout_of(plan)
    for what, tables in found.tables.items():
        if what.isdigit():
            rows[int(what)] += [row for table in tables for row in table.to_pylist()]
        elif what != MORE:
            texts[what] += found.lines(what)
    for batch in kept_of(0, map(pa.scalar, blobs)):
        for row in pa.ipc.read_record_batch(batch, Packing.of(layout).schema).to_pylist():
            what, values = row["query"], [*row.values()][2:]
            assert what in found.kept
            if what.isdigit():
                names = [name for name, _ in result_columns(plan.queries[int(what)], plan.stream)]
                places = layout.places[int(what)]
                rows[int(what)].append({name: values[p] for name, p in zip(names, places, strict=True)})
            else:
                texts[what].append(row["error"])
    return rows, texts
