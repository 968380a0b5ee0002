"""What generated jobs import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..parts.segments import Segments
from ..plan_data import from_text_of_plan
from .build import build, no_error
from .caching import kept, kept_rows
from .cut import together as _together
from .events import CLASS, absent, copies, cut, has_letter, keys, letters
from .kernel import kernel
from .main import main
from .panes import fitting, windows
from .rows import layout_of, of_query
from .rows import row_schema as _row_schema
from .schema import JobError, Stream
from .settings import SETTINGS
from .share import Class, chosen
from .streaming.query import Streamed
from .streaming.run import Running, stream
from .streaming.sinks import Memory, Sink
from .streaming.source import read_stream

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pyspark.sql import DataFrame

__all__ = [
    "CLASS",
    "SETTINGS",
    "Class",
    "JobError",
    "Memory",
    "Running",
    "Segments",
    "Sink",
    "Stream",
    "Streamed",
    "absent",
    "build",
    "copies",
    "cut",
    "fitting",
    "has_letter",
    "kept",
    "kept_rows",
    "kernel",
    "keys",
    "letters",
    "main",
    "no_error",
    "read_stream",
    "row_schema",
    "shares",
    "stream",
    "together",
    "windows",
]


def together(rows: DataFrame, plan: str, number: int) -> DataFrame:
    """The rows of query `number`, which has one group: what tasks found of its parts is put together in one."""
    found = rows.where(of_query(number)).repartition(1)
    return found.mapInArrow(_together(plan, number), row_schema(plan)).where(no_error())


def row_schema(plan: str) -> str:
    """The schema of the kernel's rows: which query, an error if there is one, and values in slots by type."""
    return _row_schema(layout_of(from_text_of_plan(plan)))


def shares(classes: Sequence[Class], plan: str, queries: Collection[str]) -> tuple[Class, ...]:
    """The classes with the queries of these names alone."""
    names = [query.name for query in from_text_of_plan(plan).queries]
    return chosen(classes, {number for number, name in enumerate(names) if name in queries})
