"""Statistics as tables for people."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .statistics import Statistics

ShownRow = tuple[str, ...]


def show(streams: Mapping[str, Statistics]) -> str:
    """For each stream: its types, the conditions on their events, and the groups that queries make."""
    return "\n".join("".join(f"{line}\n" for line in _stream(name, one)) for name, one in streams.items())


def _stream(name: str, one: Statistics) -> Iterator[str]:
    yield f"stream {name}: {one.events:,} events in {_seconds(one.seconds)}"
    if not one.events:
        return
    yield ""
    yield from _table(("type", "a second"), [(t, _number(s.rate)) for t, s in one.types.items()])
    named = {**one.types, "ANY": one.anything}
    conditions = [(t, text, _percent(share)) for t, s in named.items() for text, share in s.true_for.items()]
    if conditions:
        yield ""
        yield from _table(("type", "condition", "true for"), conditions)
    groups = [(_by(by), _number(g.groups), _percent(g.largest or 0)) for by, g in one.groupings.items()]
    yield ""
    yield from _table(("groups by", "groups", "largest"), groups)
    within = [
        (_by(by), type_, text, _percent(share))
        for by, g in one.groupings.items()
        for type_, shares in g.in_groups_with.items()
        for text, share in shares.items()
        if share < 1
    ]
    if within:
        yield ""
        yield from _table(("groups by", "type", "condition", "events in groups with it"), within)


def _by(columns: Sequence[str]) -> str:
    return ", ".join(columns) or "(all together)"


def _table(header: ShownRow, rows: Sequence[ShownRow]) -> Iterator[str]:
    """Columns as wide as what is in them; what begins with a digit stands to the right."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    right = [bool(rows) and all(row[i][:1].isdigit() for row in rows) for i in range(len(header))]
    for row in (header, *rows):
        cells = (cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(row, widths, right, strict=True))
        yield f"  {'  '.join(cells)}".rstrip()


def _number(value: float | None) -> str:
    """Three digits that count, and no exponent.

    >>> _number(1234.5), _number(89.8), _number(2.34567), _number(0.00012345), _number(0)
    ('1,234', '89.8', '2.35', '0.000123', '0')
    """
    if value is None:
        return "?"
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{Decimal(f'{value:.3g}'):f}"


def _percent(share: float) -> str:
    return f"{share:.1%}" if 0 < share < 1 else f"{share:.0%}"


def _seconds(seconds: float) -> str:
    """
    >>> _seconds(90), _seconds(7200), _seconds(0.25)
    ('1.5 minutes', '2 hours', '0.25 seconds')
    """
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= length:
            return f"{_number(seconds / length)} {unit}"
    return f"{_number(seconds)} seconds"
