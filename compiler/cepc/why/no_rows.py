"""What a run says of its queries without rows."""

from __future__ import annotations

import os
import traceback
from itertools import groupby, islice
from typing import TYPE_CHECKING, Final

from ..bug import a_bug
from ..diagnostics.listed import listed
from ..version import version

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cepc_grammar.source import Source

    from .. import model
    from ..reading.read import Read
    from ..running.local import Report

QUERIES: Final = 10
CAUSES: Final = 3  # of a query


def no_rows(report: Report, sources: Mapping[str, Source]) -> list[str]:
    """Lines that say why queries have no rows, of no more than ten; queries of the same causes are named together."""
    program = report.program
    empty = [q for q in program.queries if q.stream in report.reads and not report.tables[q.name].num_rows]
    if not empty:
        return []
    found = [
        (query.name, tuple(islice(_causes(program, query, report.reads[query.stream], sources), CAUSES)))
        for query in empty[:QUERIES]
    ]
    lines = []
    for causes, same in groupby(found, key=lambda one: one[1]):
        names = [f"`{name}`" for name, _ in same]
        have = f"{listed(names, 'and')} {'has' if len(names) == 1 else 'have'} no rows"
        lines += [f"{have}: {causes[0]}" if causes else have, *(f"  and {cause}" for cause in causes[1:])]
    if len(empty) > QUERIES:
        more = len(empty) - QUERIES
        lines.append(f"{more:,} more {'query has' if more == 1 else 'queries have'} no rows; `cepc why` says why")
    return lines


def _causes(
    program: model.CheckedProgram, query: model.Query, given: Read, sources: Mapping[str, Source]
) -> Iterator[str]:
    """The causes; a bug in finding them is one, as the run is good without them."""
    from .empty import why_empty  # a tenth of a short run, for what most runs have no use for

    try:
        yield from why_empty(program, query, given, sources)
    except Exception as error:
        if os.environ.get("CEPC_DEBUG") == "1":
            traceback.print_exception(error)
        yield f"why, cepc {version()} cannot say: it has {a_bug(error)}"
