"""What generated jobs import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyarrow import Table

from ..events.segments import Segments
from ..parts.classes import Class, chosen
from ..plan.packed import unpacked
from ..plan.windows import TimeParts
from .computed import computable, with_beside, with_computed
from .encoding import encoded
from .events import CLASS, absent, copies, cut, has_letter, in_able_groups, keys, letters
from .forms import Form
from .kernel import kernel
from .panes import fitting, windows
from .query_results import Answers, Rows
from .rows import no_error
from .rows import row_schema as _row_schema
from .schema import ComputedColumn, JobError, JobMember, OtherColumn, Stream
from .settings import SETTINGS
from .stream_part import StreamPart
from .streaming.query import LagLetters, Streamed
from .streaming.running import Running
from .streaming.sinks import Memory, Sink
from .streaming.source import read_stream
from .whole_job import Job
from .worker import prepared

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

__all__ = [
    "CLASS",
    "SETTINGS",
    "Answers",
    "Class",
    "ComputedColumn",
    "Form",
    "Job",
    "JobError",
    "JobMember",
    "LagLetters",
    "Memory",
    "OtherColumn",
    "Rows",
    "Running",
    "Segments",
    "Sink",
    "Stream",
    "StreamPart",
    "Streamed",
    "Table",
    "TimeParts",
    "absent",
    "computable",
    "copies",
    "cut",
    "encoded",
    "fitting",
    "has_letter",
    "in_able_groups",
    "kernel",
    "keys",
    "letters",
    "no_error",
    "read_stream",
    "row_schema",
    "shares",
    "unpacked",
    "windows",
    "with_beside",
    "with_computed",
]


def row_schema(plan: str, form: Form) -> str:
    """The schema of the kernel's rows: which query, an error if there is one, and values in slots by type or files."""
    return _row_schema(prepared(plan)[1].layout, form)


def shares(classes: Sequence[Class], plan: str, queries: Collection[str]) -> tuple[Class, ...]:
    """The classes with the queries of these names alone."""
    names = [query.name for query in prepared(plan)[0].queries]
    return chosen(classes, {number for number, name in enumerate(names) if name in queries})
