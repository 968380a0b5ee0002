"""For which rows a condition is true, where for some it may have no value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...numbers.columns import as_bools
from .errors import EvaluationError
from .evaluator import evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...numbers.columns import Bools
    from ..expression import Expression


def truths(
    expression: Expression, columns: Mapping[Any, Any], length: int, most: int | None = None
) -> tuple[Bools, Bools]:
    """For which rows the condition is true (not null), and for which it has no value. Raises EvaluationError where
    more than `most` have none.
    """
    true, failed = np.zeros(length, dtype=np.bool_), np.zeros(length, dtype=np.bool_)
    found = 0
    waiting = [(0, length)]
    while waiting:
        start, stop = waiting.pop()
        part = {key: column.slice(start, stop - start) for key, column in columns.items()}
        try:
            true[start:stop] = as_bools(evaluate(expression, part, stop - start))
        except EvaluationError:
            if stop - start == 1:
                failed[start] = True
                found += 1
                if most is not None and found > most:
                    raise
            else:  # by halves, down to the rows that fail
                middle = (start + stop) // 2
                waiting += [(middle, stop), (start, middle)]
    return true, failed
