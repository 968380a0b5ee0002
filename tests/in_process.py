"""Programs of several streams, or over rows of queries, as this process runs them, compared with the oracle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cepc.errors import RunError
from cepc.running.given import read_given
from cepc.running.local import run
from cepc_runtime.parts.resources import Resources
from tests.equivalence import ABOUT, same

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pyarrow as pa

    from tests import oracle
    from tests.several_streams import Compiled

    Rows = list[dict[str, Any]]

PARTS = (Resources(threads=3, few=1), Resources(memory=1, least=2_000))
"""On several threads, or in so little memory that events go to disk."""


def rows_of(
    compiled: Compiled,
    given: Mapping[str, pa.Table],
    resources: Resources,
    failures: tuple[type[Exception], ...] = (RunError,),
) -> dict[str, Rows] | None:
    """`given` has what each stream reads. None where the run fails with one of the `failures`."""
    try:
        report = run(
            compiled.program,
            lambda stream, plan: read_given(given[stream.name], plan, stream.input),
            {},
            resources=resources,
        )
    except failures:
        return None
    return {name: table.to_pylist() for name, table in report.tables.items()}


def hold_to(
    expected: Mapping[str, oracle.Answer],
    found: Mapping[str, Rows] | None,
    compiled: Compiled,
    compared: Callable[[str, int], object],
) -> None:
    """Each query has the oracle's rows; `compared` is told of how many."""
    assert found is not None, "the engine fails where the language page has rows"
    for query in compiled.program.queries:
        rows = expected[query.name].rows
        assert same(found[query.name], rows, ABOUT), (query.name, found[query.name], rows)
        compared(query.name, len(rows))
