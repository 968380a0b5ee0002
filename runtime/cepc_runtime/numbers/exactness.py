"""Which of the kernel's numbers are exact, and what stands for those that are not.

Below 2**53 a float64 that is a sum of non-negative integers is exact, and so was every number that went into it. A
signed sum is exact if the same sum of magnitudes is that small. Rows past that bound are counted again in integers,
unless all that asks for them is a BIGINT into which they certainly do not fit. Sums of DOUBLE are counted again where
they might be rounded wrongly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..kernel.modulo import FITS
from ..kernel.planes import CountPlane, IntegerSumPlanes, SumPlanes
from ..sql.expression import aggregates, counted
from ..sql.types import is_integer
from .counted_again import counted_again
from .double_sums import double_sums

if TYPE_CHECKING:
    from ..kernel.by_query import Emissions
    from ..kernel.exact import ExactNumber, Recount
    from ..kernel.planes import QueryPlanes
    from ..plan.query import Measure, QueryPlan
    from .columns import Bools, ExactColumn, Floats, Ints

EXACT: Final = 2.0**53

HOPELESS: Final = 1.01 * 2.0**63
"""No BIGINT, however inexact."""


def exact_planes(recount: Recount, emissions: Emissions, targets: Ints | None) -> tuple[ExactColumn, ...]:
    """The planes' columns: integers where a measure has to be exact. Rows with equal `targets` will be one row of
    results (without, each is one by itself): a sum of DOUBLE is in the first of them, 0 in the others.
    """
    query, layout, planes = recount.query, recount.planes, emissions.planes
    integers = _exactly(query, layout)
    again = np.zeros(len(planes), dtype=np.bool_)
    if not all(_all_exact(planes[:, place]) for place in integers | _finite(layout)):
        for measure, found in zip(query.measures, layout.measures, strict=True):
            match found:
                case CountPlane() | IntegerSumPlanes():
                    if measure.exact:
                        inexact = ~np.all(np.abs(planes[:, found.integers]) < EXACT, axis=1)
                        again |= inexact & ~_hopeless(query, measure, found, planes)
                case SumPlanes():
                    again |= _overflown(recount, found, emissions)
    sums = double_sums(recount, emissions, targets)
    unsure = np.logical_or.reduce([own.unsure for own in sums]) if sums else np.zeros_like(again)
    exact = counted_again(recount, emissions, again, unsure) if (again | unsure).any() else {}
    columns: dict[int, ExactColumn] = {}
    for own in sums:
        total, rest, last = own.places
        columns[total], columns[rest] = own.columns(exact)
        columns[last] = np.zeros(len(planes))
    for p in range(layout.count):
        if p not in columns:
            columns[p] = _column(planes[:, p], p, exact if p < layout.additive else {}, p in integers)
    return tuple(columns[p] for p in range(layout.count))


def _exactly(query: QueryPlan, layout: QueryPlanes) -> set[int]:
    """The planes whose numbers are integers and have to be exact."""
    found: set[int] = set()
    for measure, places in zip(query.measures, layout.measures, strict=True):
        if measure.exact and isinstance(places, CountPlane | IntegerSumPlanes):
            found.update(places.integers)
    return found


def _finite(layout: QueryPlanes) -> set[int]:
    """The planes whose numbers are floats, and have to be finite."""
    sums = [places for places in layout.measures if isinstance(places, SumPlanes)]
    return {place for own in sums if not isinstance(own, IntegerSumPlanes) for place in (own.total, own.count)}


def _hopeless(query: QueryPlan, measure: Measure, found: CountPlane | IntegerSumPlanes, planes: Floats) -> Bools:
    """Rows in which the measure is needed as a BIGINT only, and does not fit."""
    wanted = measure.function, measure.variable, measure.argument
    uses = [
        a
        for o in query.outputs
        for shown in aggregates(o.expression)
        for a in counted(shown)
        if (a.function, a.variable, a.argument) == wanted
    ]
    compared = query.having is not None and any(
        (a.function, a.variable, a.argument) == wanted for shown in aggregates(query.having) for a in counted(shown)
    )
    if compared or not uses or not all(is_integer(a.type) for a in uses):
        return np.zeros(len(planes), dtype=np.bool_)
    if isinstance(found, CountPlane):
        return planes[:, found.count] > HOPELESS
    if not (measure.argument and is_integer(measure.argument.type)) or set(query.partition) != set(query.group_by):
        return np.zeros(len(planes), dtype=np.bool_)  # other partitions may bring the sum back
    with np.errstate(invalid="ignore"):  # of numbers without end
        return np.asarray(np.abs(planes[:, found.total]) - 1e-3 * planes[:, found.magnitude] > HOPELESS)


def _overflown(recount: Recount, found: SumPlanes, emissions: Emissions) -> Bools:
    """Where a sum of floats may be infinite or NaN though no value in it is."""
    planes = emissions.planes
    lost = ~np.isfinite(planes[:, found.total]) | ~np.isfinite(planes[:, found.count])
    if not lost.any():
        return np.asarray(lost)
    numbers = recount.values.matrix[recount.values.index[recount.planes.planes[found.total - 1].value]]
    largest = float(np.max(np.abs(numbers), where=np.isfinite(numbers), initial=0.0))
    length = np.diff(recount.events.group_starts)[emissions.groups].astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(lost & ~(planes[:, 0] * length * max(largest, 1.0) < 1e300))


def _column(numbers: Floats, plane: int, exact: dict[int, list[ExactNumber]], integers: bool) -> ExactColumn:
    if not exact:
        return _integers(numbers) if integers else numbers
    rows = np.array(list(exact), dtype=np.int64)
    known = numbers.copy()
    known[rows] = 0
    column = (_integers(known) if integers else known).astype(object)
    for row, found in exact.items():
        column[row] = found[plane]
    if integers and all(isinstance(n, int) and abs(n) < FITS for n in column):
        return column.astype(np.int64)
    return column


def _all_exact(numbers: Floats) -> bool:
    """Whether all are smaller in magnitude than `EXACT`; NaN is not."""
    return not numbers.size or bool(numbers.max() < EXACT and numbers.min() > -EXACT)


def _integers(numbers: Floats) -> ExactColumn:
    if _all_exact(numbers):
        return numbers.astype(np.int64)
    # what does not fit stays as large as it is
    return np.array([int(n) for n in np.nan_to_num(numbers, nan=0.0).tolist()] + [None], dtype=object)[:-1]
