"""Windows in ticks: WITHIN, WINDOW, SLIDE and OFFSET."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_grammar.diagnostic import Diagnostic
from cepc_runtime.plan.windows import MatchBound, Sessions, Sliding, Unbounded

from .durations import Tick, offset_ticks, ticks
from .messages import clauses as say

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Literal as OneOf

    from cepc_grammar.pattern import Not
    from cepc_runtime.plan.windows import Window

    from .written import Written

MOST_OVERLAPPING = 100_000
"""Windows that may hold one event: the kernel keeps numbers for each, and each is a row of the result."""

_PARTS = (4, 2, 3, 5, 7)
"""Of a WITHIN, the most usual first."""


def window(
    query: ast.Query, kind: OneOf["aggregate", "match"], unit: Tick | None, *, several_events: bool
) -> tuple[Window | None, list[Diagnostic]]:
    """The window of a query, and what is wrong with it. A match of one event crosses no edge."""
    within, slide, offset = query.within if query.window is None else query.window, query.slide, query.offset
    problems: list[Diagnostic] = []
    given = within.gap if isinstance(within, ast.Session) else within
    bound = ticks(query.within, unit) if query.window is not None and isinstance(query.within, ast.Duration) else None
    length = None if isinstance(given, ast.Unbounded) else ticks(given, unit)
    step = None if slide is None else ticks(slide, unit)
    begin = 0 if offset is None else offset_ticks(offset, unit)
    problems += [found for found in (bound, length, step, begin) if isinstance(found, Diagnostic)]
    if isinstance(within, ast.Session):
        problems += [say.session_in_match_query(within)] if kind == "match" else []
        problems += [say.session_with(word, duration) for word, duration in query.after_within]
    elif kind == "match":
        why = (
            f"RETURN {'EACH' if query.returns.each else 'MATCH'} makes it a match query"
            if query.returns.match or query.returns.each
            else "a RETURN without aggregates makes it a match query"
        )
        if query.window is not None:
            problems.append(say.no_windows("WINDOW", query.window, "each match is returned once", why))
        problems += [] if slide is None else [say.slide_in_match_query(slide, why)]
        if offset is not None:
            problems.append(say.no_windows("OFFSET", offset, "there are no windows to begin then", why))
    elif isinstance(within, ast.Unbounded):
        problems += [] if slide is None else [say.unbounded_slide(slide)]
        problems += [] if offset is None else [say.unbounded_offset(offset)]
    elif not problems:
        if query.window is not None and isinstance(bound, int) and isinstance(length, int) and bound >= length:
            problems.append(say.no_bound(query.within.span, query.window, is_longer=bound > length))
        else:
            problems += _warnings(query, within, unit, several_events)
    if any(d.severity == "error" for d in problems):
        return None, problems
    assert not isinstance(bound, Diagnostic)
    assert not isinstance(length, Diagnostic)
    assert not isinstance(step, Diagnostic)
    assert not isinstance(begin, Diagnostic)
    if isinstance(within, ast.Unbounded):
        return Unbounded(), problems
    if length is None or begin is None:
        return None, problems
    if isinstance(within, ast.Session):
        return Sessions(length), problems
    if kind == "match":
        return MatchBound(length), problems
    of_matches = bound if several_events else None  # an event takes no time
    found = Sliding(length, step or length, begin % (step or length), of_matches)  # windows begin then as well
    if slide is not None and found.open_at_once > MOST_OVERLAPPING:
        return None, [
            *problems,
            say.too_many_windows(slide, _word(query), within, found.open_at_once, MOST_OVERLAPPING),
        ]
    return found, problems


def long_gaps(query: ast.Query, negations: Iterable[Not[Written, ast.Duration]]) -> Iterator[Diagnostic]:
    """NOT … WITHIN that looks beyond the end of a session, where the next one may have begun."""
    gap = query.within.gap.microseconds if isinstance(query.within, ast.Session) else None
    if isinstance(query.within, ast.Session) and gap is not None:
        for negation in negations:
            if negation.within is not None and (negation.within.microseconds or 0) > gap:
                yield say.not_beyond_session(negation.within, query.within)


def _word(query: ast.Query) -> str:
    """What the length of the windows stands behind."""
    return "WITHIN" if query.window is None else "WINDOW"


def _warnings(query: ast.Query, length: ast.Duration, unit: Tick | None, several_events: bool) -> list[Diagnostic]:
    """Of windows of a length."""
    word, slide = _word(query), query.slide
    if slide is None:
        return [say.no_slide(word, length, _part_of(length, unit), query.offset)] if several_events else []
    span, step = length.microseconds, slide.microseconds
    return [say.slide_longer(slide, word, length)] if span is not None and step is not None and step > span else []


def _part_of(within: ast.Duration, unit: Tick | None) -> ast.Duration | None:
    """A fraction of WITHIN that is a whole number of its unit, or else of a shorter one, and of ticks.

    >>> _part_of(ast.Duration("10", "SECOND"), None), _part_of(ast.Duration("1", "HOUR"), None)
    (Duration(amount='5', unit='SECOND'), Duration(amount='15', unit='MINUTE'))
    """
    length, tick = within.microseconds, 1 if unit is None else unit.microseconds
    if length is None or length.denominator != 1:
        return None
    for name, size in reversed(ast.MICROSECONDS.items()):
        for parts in _PARTS if size <= ast.MICROSECONDS[within.unit] else ():
            part, rest = divmod(length.numerator, parts)
            if rest == 0 and part % size == 0 and part % tick == 0:
                return ast.Duration(str(part // size), name)
    return None
