"""What a worker makes of a plan's text, which errors it hands on as rows, and what it leaves to the next task."""

from __future__ import annotations

import ctypes
import gc
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from ..enumerate.budget import TooManyPartialMatchesError
from ..events.grouped import InputError
from ..plan.as_json import from_text_of_plan
from ..results.as_columns import ResultOverflowError, WindowEdgeError
from ..sql.evaluate.errors import EvaluationError
from .forms import InFiles, InRows
from .rows import Packing, layout_of

if TYPE_CHECKING:
    from ..plan.physical import PhysicalPlan
    from .forms import Form
    from .parquet_packing import ParquetPacking

USER_ERRORS = (ResultOverflowError, WindowEdgeError, TooManyPartialMatchesError, EvaluationError, InputError)
"""What is wrong with the events or the queries; anything else is a bug and keeps its trace."""


KEPT: Final = 1 << 27
"""Bytes that a worker has freed and may keep: about what one table of groups takes with its rows."""

_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3
_LARGEST: Final = 1 << 25


@cache
def keep_what_is_freed() -> None:
    """To be called before a worker's first task. glibc otherwise gives memory back to the system after each table and
    has it again, filled with zeros, for the next. So does an allocator of Arrow's own.
    """
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library
        return
    mallopt(_TRIM_THRESHOLD, KEPT)
    mallopt(_MMAP_THRESHOLD, _LARGEST)


@lru_cache(maxsize=8)
def prepared(plan_text: str) -> tuple[PhysicalPlan, Packing]:
    """Once for each worker process, which runs many tasks."""
    plan = from_text_of_plan(plan_text)
    return plan, Packing.of(layout_of(plan))


def packing_of(plan_text: str, form: Form) -> Packing | ParquetPacking:
    """What packs the rows of one task."""
    plan, packing = prepared(plan_text)
    match form:
        case InRows():
            return packing
        case InFiles():
            from .parquet_packing import ParquetPacking  # which other tasks do not need

            return ParquetPacking(plan, packing.layout, form)


@cache
def settled() -> None:
    """To be called when a task is done; does something after the first of a worker process.

    Spark collects garbage after each task of a worker that it keeps, and to look through all that numba, pyarrow and
    pandas have loaded takes a tenth of a second, also after a task without events. What is there by now is not looked
    at again.
    """
    gc.collect()
    gc.freeze()
