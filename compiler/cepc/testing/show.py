"""Outcomes of tests as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..diagnostics.locate import locate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cepc_grammar.source import Source

    from .compare import Difference, RowTexts
    from .run import Outcome


def show(outcome: Outcome, sources: Mapping[str, Source]) -> str:
    """A line, and for a test that failed the rows that differ among those that do not.

    A row that is expected and was not found has a minus before it, one that was found and not expected a plus.
    """
    name = outcome.test.name
    if outcome.passed:
        return f"ok    {name}\n"
    place = _place(outcome, sources)
    lines = list(_lines(outcome))
    return "\n".join([f"FAIL  {name}  ({place})", *lines, ""]) + "\n"


def _lines(outcome: Outcome) -> Iterator[str]:
    if outcome.error is not None:
        yield from (f"  {line}".rstrip() for line in str(outcome.error).splitlines())
    elif outcome.difference is not None:
        yield from _difference(outcome.difference)
    yield from (f"  {sentence}" for sentence in outcome.strange)


def _difference(difference: Difference) -> Iterator[str]:
    marked = sorted(
        [
            *((row, " ", "") for row in difference.both),
            *((row, "-", "expected, and not found") for row in difference.missing),
            *((row, "+", "found, and not expected") for row in difference.unexpected),
        ]
    )
    rows = [row for row, _, _ in marked]
    widths = [max(len(row[i]) for row in (difference.columns, *rows)) for i in range(len(difference.columns))]
    yield f"    {_aligned(difference.columns, widths)}".rstrip()
    for row, mark, why in marked:
        yield f"  {mark} {_aligned(row, widths)}  {why}".rstrip()


def _aligned(row: RowTexts, widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))


def _place(outcome: Outcome, sources: Mapping[str, Source]) -> str:
    span = outcome.test.span
    region = locate(sources[span.source], span)
    return f"{span.source}:{region.line}:{region.column}"


def summary(outcomes: Sequence[Outcome]) -> str:
    """`3 tests, 1 failed`."""
    failed = sum(not outcome.passed for outcome in outcomes)
    tests = "1 test" if len(outcomes) == 1 else f"{len(outcomes)} tests"
    return f"{tests}, {failed} failed" if failed else f"{tests} passed"
