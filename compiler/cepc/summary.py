"""A compiled program as what a prompt and a notebook show of it: its queries, and what they share."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Final

from .explaining.as_svg import to_svg
from .explaining.as_text import parts_shared
from .explaining.describe import pattern, windows_of
from .explaining.escaping import escaped
from .explaining.explanation import explain
from .shared_plans import plan_shared
from .visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .explaining.explanation import Explanation
    from .model import CheckedProgram

MOST: Final = 20
"""So many queries are shown; what more than that share is not planned for a prompt."""


def as_text(program: CheckedProgram) -> str:
    """
    >>> from cepc.api import compile_program
    >>> stream = "STREAM s (at BIGINT, kind STRING) EVENT TIME at UNIT s EVENT TYPE kind IN ('A', 'B');"
    >>> query = "QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A, B) WITHIN 9 s;"
    >>> print(as_text(compile_program(stream + query).program))
    1 query
      q  SEQ(A, B)  9 seconds long, a new one every 9 seconds
    """
    rows = list(_rows(program))
    widths = [max(len(row[column]) for row in rows) if rows else 0 for column in (0, 1)]
    lines = [f"  {name:{widths[0]}}  {pattern_:{widths[1]}}  {window_}" for name, pattern_, window_ in rows]
    return "\n".join(map(visible, [_title(program), *lines, *_shared(_explanations(program))]))


def as_html(program: CheckedProgram) -> str:
    """A table of the queries, and below it the picture of what they share."""
    head = "".join(f"<th style='text-align: left'>{title}</th>" for title in ("query", "pattern", "windows"))
    rows = "".join(
        f"<tr>{''.join(f'<td style=text-align:left>{escaped(cell)}</td>' for cell in row)}</tr>"
        for row in _rows(program)
    )
    parts = [f"<p>{_title(program)}</p><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"]
    if explanations := _explanations(program):
        parts += [f"<pre>{escaped(line.strip())}</pre>" for line in _shared(explanations)]
        parts.append(f"<details><summary>The automata</summary>{image(to_svg(explanations))}</details>")
    return "\n".join(parts)


def image(picture: str) -> str:
    """An SVG as an image, which keeps its style to itself, and the notebook's away."""
    data = b64encode(picture.encode()).decode()
    return f"<img alt='the automata of the queries' src='data:image/svg+xml;base64,{data}'>"


def _title(program: CheckedProgram) -> str:
    count = len(program.queries)
    more = f", the first {MOST}" if count > MOST else ""
    return f"{'1 query' if count == 1 else f'{count:,} queries'}{more}"


def _rows(program: CheckedProgram) -> Iterator[tuple[str, str, str]]:
    for query in program.queries[:MOST]:
        stream = program.stream(query.stream)
        yield query.name, pattern(query.pattern, stream), windows_of(query, stream)


def _explanations(program: CheckedProgram) -> tuple[Explanation, ...]:
    return explain(program, plan_shared(program)) if 1 < len(program.queries) <= MOST else ()


def _shared(explanations: tuple[Explanation, ...]) -> Iterator[str]:
    """A line for each part that is shared."""
    how = ""
    for label, text in (fact for one in explanations for fact in parts_shared(one)):
        how = label or how
        yield f"  {how}: {text}"
