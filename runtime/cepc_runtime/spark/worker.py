"""What a worker makes of a plan's text, which errors it hands on as rows, and what it leaves to the next task."""

from __future__ import annotations

import gc
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from ..enumerate.budget import TooManyPartialMatchesError
from ..evaluate.errors import EvaluationError
from ..events import InputError
from ..plan_data import from_text_of_plan
from ..results import ResultOverflowError, WindowEdgeError
from .rows import Packing, layout_of

if TYPE_CHECKING:
    from ..plan import PhysicalPlan

USER_ERRORS = (ResultOverflowError, WindowEdgeError, TooManyPartialMatchesError, EvaluationError, InputError)
"""What is wrong with the events or the queries; anything else is a bug and keeps its trace."""


@lru_cache(maxsize=8)
def prepared(plan_text: str) -> tuple[PhysicalPlan, Packing]:
    """Once for each worker process, which runs many tasks."""
    plan = from_text_of_plan(plan_text)
    return plan, Packing.of(layout_of(plan))


@cache
def settled() -> None:
    """To be called when a task is done; does something after the first of a worker process.

    Spark collects garbage after each task of a worker that it keeps, and to look through all that numba, pyarrow and
    pandas have loaded takes a tenth of a second, also after a task without events. What is there by now is not looked
    at again.
    """
    gc.collect()
    gc.freeze()
