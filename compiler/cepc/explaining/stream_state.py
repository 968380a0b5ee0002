"""What a query keeps as a stream, told before it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_runtime.plan.windows import Unbounded

from .describe import duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cepc_runtime.plan.query import QueryPlan
    from cepc_runtime.streaming.size import QuerySize

    from .. import model


def stream_state(
    size: QuerySize | None, query: QueryPlan, stream: model.Stream, rows: Sequence[tuple[str, str]] = ()
) -> Iterator[str]:
    """In words; None is of a query that cannot be a stream, as one over streams of `rows`."""
    if rows:
        name, made = rows[0]
        yield f"cannot be one, for the events of {name} are the rows of {made}: a second program reads these"
        return
    if size is None:
        because = "its window has no end" if isinstance(query.window, Unbounded) else "it has LEAD"
        yield f"cannot be one, for {because}"
        return
    held = min(duration(size.held, stream), f"less than {duration(size.held + 1, stream)}", key=len)
    if size.session:
        over = f"kept until its session is over, {held} after the last one of it"
        yield f"an event takes {size.event} bytes at most, and is {over}"
    else:
        yield f"an event takes {size.event} bytes at most, and is kept {held}"
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
