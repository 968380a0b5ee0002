"""A piece of source text with spans underlined, as lines of styled fragments.

Places of one source that fit on single lines share one snippet, with two underlines on a line where need be; a span
over several lines, and one that cropping a very long line would hide, get a snippet of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cepc_runtime.cheap_dataclass import dataclass

from .cells import clean, show, width
from .locate import Region, locate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.source import Source

TextRole = Literal["error", "warning", "title", "frame", "text", "primary", "secondary", "note", "help"]
StyledText = tuple[str, TextRole]
StyledLine = tuple[StyledText, ...]

AT_MOST = 6  # lines of a long span that are printed


@dataclass(frozen=True, slots=True)
class Mark:
    """A place to underline, in its source."""

    source: Source
    region: Region
    label: str
    role: Literal["primary", "secondary"]

    @property
    def one_line(self) -> bool:
        return self.region.line == self.region.end_line

    @property
    def line(self) -> str:
        return self.source.line(self.region.line)


def marks(diagnostic: Diagnostic, sources: Mapping[str, Source]) -> list[Mark]:
    """The place of a diagnostic and its further places, as far as their sources have text to show."""
    places = [
        (diagnostic.span, diagnostic.label, "primary"),
        *((p.span, p.label, "secondary") for p in diagnostic.others),
    ]
    return [
        Mark(
            sources[span.source],
            locate(sources[span.source], span),
            clean(label),
            "primary" if role == "primary" else "secondary",
        )
        for span, label, role in places
        if span.source in sources
    ]


def blocks(marks: Iterable[Mark]) -> list[list[Mark]]:
    """The marks grouped into snippets, the one with the diagnostic's own place first."""
    found: list[list[Mark]] = []
    for mark in marks:
        home = next((block for block in found if _fits(mark, block)), None)
        if home is None:
            found.append([mark])
        else:
            home.append(mark)
    return found


def _fits(mark: Mark, block: list[Mark]) -> bool:
    first = block[0]
    if mark.source is not first.source or not mark.one_line or not first.one_line:
        return False
    same_line = next((m for m in block if m.region.line == mark.region.line), None)
    if same_line is None:
        return True
    shown = show(mark.line, same_line.region.column - 1)
    return shown.first < mark.region.column and mark.region.end_column - 1 <= shown.last


def draw(block: list[Mark], gutter: int) -> list[StyledLine]:
    """The snippet's lines. `gutter` is the width of the widest line number."""
    if not block[0].one_line:
        return _draw_long(block[0], gutter)
    drawn: list[StyledLine] = []
    before = None
    for number in sorted({mark.region.line for mark in block}):
        if before is not None and number == before + 2:
            drawn.append(_source_line(gutter, number - 1, show(block[0].source.line(number - 1)).text))
        elif before is not None and number > before + 2:
            drawn.append((("...", "frame"),))
        here = [mark for mark in block if mark.region.line == number]
        shown = show(here[0].line, here[0].region.column - 1)
        drawn.append(_source_line(gutter, number, shown.text))
        drawn += [_beside(gutter, *row) for row in _underlines(here, shown.cells)]
        before = number
    return drawn


def _underlines(marks: list[Mark], cells: Sequence[int]) -> list[list[StyledText]]:
    """Rows under a source line. Marks that overlap get rows of their own, the first mark's nearest to the text."""
    levels: list[list[tuple[int, int, Mark]]] = []
    for mark in marks:
        start = cells[mark.region.column - 1]
        end = max(start + 1, cells[mark.region.end_column - 1])
        level = next((x for x in levels if all(end < other or start > stop for other, stop, _ in x)), None)
        if level is None:
            levels.append([(start, end, mark)])
        else:
            level.append((start, end, mark))
    return [row for level in levels for row in _level(sorted(level, key=lambda item: item[0]))]


def _level(items: list[tuple[int, int, Mark]]) -> list[list[StyledText]]:
    """One row of underlines, the last one's label beside it, the others' below, each hanging from its underline."""
    row: list[StyledText] = []
    at = 0
    for start, end, mark in items:
        row.append((" " * (start - at) + ("^" if mark.role == "primary" else "-") * (end - start), mark.role))
        at = end
    *hanging, (_, _, last) = items
    if last.label:
        row.append((" " + last.label, last.role))
    rows = [row]
    hanging = [item for item in hanging if item[2].label]
    if hanging:
        rows.append(_stems(hanging))
    while hanging:
        start, _, mark = hanging.pop()
        stems = _stems(hanging)
        rows.append([*stems, (" " * (start - _length(stems)) + mark.label, mark.role)])
    return rows


def _stems(items: list[tuple[int, int, Mark]]) -> list[StyledText]:
    row: list[StyledText] = []
    at = 0
    for start, _, mark in items:
        row.append((" " * (start - at) + "|", mark.role))
        at = start + 1
    return row


def _draw_long(mark: Mark, gutter: int) -> list[StyledLine]:
    """A span over several lines: a bar along its left, its label under the last line."""
    region, role = mark.region, mark.role
    numbers = list(range(region.line, region.end_line + 1))
    if len(numbers) > AT_MOST:
        numbers = [*numbers[: AT_MOST - 2], 0, *numbers[-1:]]
    sign = "^" if role == "primary" else "-"
    first = show(mark.source.line(region.line), region.column - 1)
    start = first.cells[region.column - 1]
    drawn = [
        _source_line(gutter, region.line, "  " + first.text),
        _beside(gutter, (" " + "_" * (start + 1) + sign, role)),
    ]
    for number in numbers[1:-1]:
        if number:
            drawn.append(_source_line(gutter, number, show(mark.source.line(number)).text, ("| ", role)))
        else:
            drawn.append((("...".ljust(gutter + 3), "frame"), ("|", role)))
    last = show(mark.source.line(region.end_line), region.end_column - 1)
    end = last.cells[region.end_column - 1]
    drawn.append(_source_line(gutter, region.end_line, last.text, ("| ", role)))
    label = f" {mark.label}" if mark.label else ""
    drawn.append(_beside(gutter, ("|" + "_" * max(end, 1) + sign + label, role)))
    return drawn


def _source_line(gutter: int, number: int, text: str, bar: StyledText | None = None) -> StyledLine:
    frame: StyledText = (f"{number:>{gutter}} | ", "frame")
    line: StyledLine = (frame, bar, (text, "text")) if bar else (frame, (text, "text"))
    # Blanks at the end of a source line would be noise in a terminal and in a recorded output.
    return strip_end(line)


def _beside(gutter: int, *fragments: StyledText) -> StyledLine:
    return ((" " * gutter + " | ", "frame"), *fragments)


def _length(fragments: Iterable[StyledText]) -> int:
    return sum(width(text) for text, _ in fragments)


def strip_end(line: StyledLine) -> StyledLine:
    """The line without blanks at its end."""
    while line:
        text, role = line[-1]
        if stripped := text.rstrip():
            return (*line[:-1], (stripped, role))
        line = line[:-1]
    return line
