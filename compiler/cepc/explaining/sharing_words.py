"""What is said of sharing, before a run and after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .explanation import Explanation, How

HOW: Final[Mapping[How, str]] = {
    "found once": "the matches of a common part are found once, and joined with what else each query asks for",
    "kept once": "one state stands for all: they begin alike, with the same windows and groups",
    "side by side": "the same step is one operation for all, over more numbers",
    "on basis columns": "runs of events are gathered once and applied to every query's numbers",
}
NOTHING: Final = "Nothing is shared: every query is evaluated by itself."


def nothing(one: Explanation) -> str:
    """Where nothing is shared. A run knows how frequent events are, and may plan otherwise."""
    if not one.assumed or len(one.executions) < 2:
        return NOTHING
    return f"{NOTHING} That is for frequencies that were assumed; a run measures its first events, and may share more."
