"""The windows of queries that share states, and the panes into which their edges cut the time.

What a query's windows hold in common is kept from one pane to the next: numbers are changed for each open window, and a
run of events on basis columns ends where a window opens or closes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.windows import Sliding

from .colours import colours
from .escaping import escaped
from .routes import number as _n

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .explanation import Explanation

MOST: Final = 48
"""So many panes are told apart; of more, the first are drawn."""
FOLLOWING: Final = 3  # windows that are drawn beside the first of a row
LEFT: Final = 24
WIDTH: Final = 460
ROW: Final = 52
TEXT: Final = 18  # of a row, above its windows
HEAD: Final = 34


@dataclass(frozen=True, slots=True)
class DrawnWindows:
    """Windows of one kind, and the queries (indices into the explanation's executions) that have them."""

    window: Sliding
    text: str
    queries: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DrawnPanes:
    """`edges` ascend from 0 to the end of what is drawn; 0 is the tick `begin`, where a window opens, one of every kind
    if none has an offset. `whole`: of the longest window.
    """

    rows: tuple[DrawnWindows, ...]
    begin: int
    edges: tuple[int, ...]
    whole: bool
    part: int  # one of the parts that the queries share: it has their colour


def panes(one: Explanation) -> tuple[DrawnPanes, ...]:
    """Of each set of queries with windows that are connected by what they share."""
    place = {execution.query: number for number, execution in enumerate(one.executions)}
    found: dict[frozenset[int], int] = {}
    for number, part in enumerate(one.parts):
        if part.how == "found once":
            continue
        group = frozenset(place[query] for query in part.queries)
        met = [other for other in found if other & group]
        found = {other: of for other, of in found.items() if other not in met} | {
            group.union(*met): min([number, *(found[other] for other in met)])
        }
    return tuple(
        _panes(one, sorted(group), part) for group, part in found.items() if len(group) > 1 and _windowed(one, group)
    )


def _windowed(one: Explanation, group: frozenset[int]) -> bool:
    return all(isinstance(one.executions[q].window, Sliding) for q in group)


def _panes(one: Explanation, group: Sequence[int], part: int) -> DrawnPanes:
    kinds: dict[Sliding, list[int]] = {}
    for q in group:
        window = one.executions[q].window
        if isinstance(window, Sliding):
            kinds.setdefault(window, []).append(q)
    ordered = sorted(kinds.items(), key=lambda kind: (kind[0].span, kind[0].slide, kind[0].offset))
    rows = tuple(
        DrawnWindows(window, one.executions[queries[0]].window_text, tuple(queries)) for window, queries in ordered
    )
    longest = max(row.window.span for row in rows)
    end = min(longest, min(row.window.slide for row in rows) * (MOST + 1))  # up to there are panes enough
    begin = min(row.window.offset for row in rows)
    found = [edges(begin, begin + end) for row in rows for edges in (row.window.beginnings, row.window.endings)]
    edges = sorted({0, end, *(edge - begin for of_row in found for edge in of_row)})
    return DrawnPanes(rows, begin, tuple(edges[: MOST + 1]), end == longest and len(edges) <= MOST + 1, part)


# ---- drawn -----------------------------------------------------------------------------------------------------------


def height(found: Sequence[DrawnPanes]) -> float:
    return sum(HEAD + ROW * len(one.rows) + 16 for one in found)


def width(one: Explanation, found: Sequence[DrawnPanes]) -> float:
    return max((LEFT + max(WIDTH, 6.3 * len(_named(one, row))) + LEFT for p in found for row in p.rows), default=0.0)


def strips(one: Explanation, number: int) -> str:
    """As a picture for a page; each row says in `data-queries` (`STREAM-QUERY`) whose it is. Empty where there are
    none.
    """
    found = panes(one)
    if not found:
        return ""
    wide, high = _n(width(one, found)), _n(height(found))
    rows = "\n".join(drawn(one, found, 0, f"{number}-"))
    size = f'width="{wide}" height="{high}" viewBox="0 0 {wide} {high}"'
    return f'<svg class="panes" {size} role="img" aria-label="Windows and panes">{rows}</svg>'


def drawn(one: Explanation, found: Sequence[DrawnPanes], top: float, prefix: str = "") -> Iterator[str]:
    """From `top` on; with a prefix each row says in `data-queries` whose it is, for a page."""
    palette = colours(one.parts)
    for each in found:
        colour = palette[each.part]
        scale = WIDTH / each.edges[-1]
        bottom = top + HEAD + ROW * len(each.rows)
        yield f'<text class="legend" x="{LEFT}" y="{_n(top + 14)}">{escaped(_heading(each))}</text>'
        for number, edge in enumerate(each.edges):
            if number % 2 == 0 and number + 1 < len(each.edges):
                wide = (each.edges[number + 1] - edge) * scale
                yield (
                    f'<rect class="pane" x="{_n(LEFT + edge * scale)}" y="{_n(top + 24)}" width="{_n(wide)}"'
                    f' height="{_n(bottom - top - 24)}"/>'
                )
        for number, row in enumerate(each.rows):
            data = f' data-queries="{" ".join(f"{prefix}{q}" for q in row.queries)}"' if prefix else ""
            y = top + HEAD + ROW * number
            bars = "".join(
                f'<rect x="{_n(LEFT + begin * scale)}" y="{_n(y + TEXT + 7 * level)}"'
                f' width="{_n((end - begin) * scale)}" height="5" rx="2" fill="{colour.fill}" stroke="{colour.line}"/>'
                for level, (begin, end) in enumerate(_first(row, each))
            )
            text = f'<text class="legend" x="{LEFT}" y="{_n(y + 11)}">{escaped(_named(one, row))}</text>'
            yield f'<g class="windows"{data}><title>{escaped(_named(one, row))}</title>{bars}{text}</g>'
        top = bottom + 16


def _heading(each: DrawnPanes) -> str:
    number = f"{len(each.edges) - 1} panes" if len(each.edges) > 2 else "one pane"
    return f"windows, and {number} in the longest" if each.whole else f"windows, and their first {number}"


def _named(one: Explanation, row: DrawnWindows) -> str:
    names = [one.executions[q].query for q in row.queries]
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return f"{row.text}: {', '.join(names[:4])}{more}"


def _first(row: DrawnWindows, each: DrawnPanes) -> list[tuple[int, int]]:
    """The first windows that open in what is drawn, cut to it."""
    end = each.edges[-1]
    begins = row.window.beginnings(each.begin, each.begin + end)[: FOLLOWING + 1]
    return [(begin - each.begin, min(begin - each.begin + row.window.span, end)) for begin in begins]
