"""What a query keeps as a stream, told before it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_runtime.plan.windows import Unbounded
from cepc_runtime.streaming.decision import rows_behind

from .describe import duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cepc_runtime.plan.query import QueryPlan
    from cepc_runtime.streaming.size import QuerySize

    from .. import model
    from ..planning.logical import LogicalPlan


def behind(program: model.CheckedProgram, plans: Iterable[LogicalPlan]) -> Mapping[str, int | None]:
    """By stream how far it is behind the watermark, for its events are rows; None where nothing says how far."""
    found: dict[str, int | None] = {}
    queries: dict[str, QueryPlan] = {}
    for plan in plans:
        name, own = plan.stream.name, list[int | None]()
        for member in program.members(name):
            if member.query is not None:
                made = queries.get(member.query.name)
                by = None if made is None else rows_behind(made, member.time.column)
                before = found.get(member.query.stream)
                own.append(None if by is None or before is None else by + before)
        found[name] = None if None in own else max((one for one in own if one is not None), default=0)
        queries |= {query.name: query for query in plan.queries if not isinstance(query.window, Unbounded)}
    return found


def stream_state(size: QuerySize | None, query: QueryPlan, stream: model.Stream, by: int | None) -> Iterator[str]:
    """In words; None is of a query that cannot be a stream. Its stream is `by` so many ticks behind the watermark."""
    if by is None:
        yield "cannot be one, for nothing says how early a row may be that is among its events"
        return
    if size is None:
        because = "its window has no end" if isinstance(query.window, Unbounded) else "it has LEAD"
        yield f"cannot be one, for {because}"
        return
    if by > 0:
        yield f"its events are rows, and its watermark is {_length(by, stream)} behind, as far as these may be"
    held = _length(size.held, stream)
    if size.session:
        over = f"kept until its session is over, {held} after the last one of it"
        yield f"an event takes {size.event} bytes at most, and is {over}"
    else:
        sooner = ", or until it is known that no match has it" if size.foreseen else ""
        yield f"an event takes {size.event} bytes at most, and is kept {held}{sooner}"
    if size.silence is not None:
        yield (
            f"after a match its partition is remembered for {duration(size.silence.length, stream)},"
            f" in {size.silence.size} bytes at most"
        )
    if size.numbered is not None:
        yield f"each partition that had a match is remembered for good, in {size.numbered} bytes at most"
    if size.lags is not None:
        yield f"what each partition had last is remembered for good, in {size.lags} bytes at most"
    if size.pane is not None:
        pane = size.pane
        others = f", together with those of {', '.join(pane.others)}" if pane.others else ""
        yield (
            f"{pane.least} or more of them in one pane of {duration(pane.length, stream)}"
            f" become {pane.size} bytes{others}, kept {held}"
        )


def _length(ticks: int, stream: model.Stream) -> str:
    return min(duration(ticks, stream), f"less than {duration(ticks + 1, stream)}", key=len)
