"""What a bucket keeps between two watermarks, and the bytes it is kept as."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..cheap_dataclass import dataclass
from ..panes.folded import Kept
from ..panes.tables import index_table, numbers_table
from .state_bytes import ClassBytes, PaneBytes, StateBytes, joined, taken_apart, to_ipc
from .ticks import BEGIN
from .translation import translation

if TYPE_CHECKING:
    from .held import Held, Panes
    from .program import Program


@dataclass(frozen=True)
class State:
    """`watermark`: all events before it are known, and rows that they decide have been given. `held` has an entry for
    each class, `folded` one for each family of each class, `quiet` for each class the silences of its queries that have
    any (`quiet.py`), `numbered` how many matches their partitions have had (`numbered.py`), and `lags`, in the order
    of the program's, the last events of partitions (`lags.py`). Of the events held, `waiting` are to be folded when
    there are more of them.
    """

    watermark: int = BEGIN
    held: tuple[Held | None, ...] = ()
    folded: tuple[tuple[Panes | None, ...], ...] = ()
    waiting: int = 0
    quiet: tuple[dict[int, Any], ...] = ()
    numbered: tuple[dict[int, Any], ...] = ()
    lags: tuple[tuple[Any, ...], ...] = ()

    @property
    def events(self) -> int:
        """How many events are held; one counts for each class that looks at it."""
        return sum(held.events.num_rows for held in self.held if held is not None)

    @property
    def panes(self) -> int:
        """How many panes are folded."""
        return sum(len(panes.folded) for families in self.folded for panes in families if panes is not None)


def to_bytes(state: State, program: Program) -> bytes:
    """The state of this program."""
    about = program.description
    own = zip(about.silencing, about.numbering, strict=True) if state.held else ()  # a new bucket has no classes yet
    classes = [
        ClassBytes(
            b"" if held is None else _events(held),
            tuple(None if own is None else _panes(own) for own in families),
            tuple(to_ipc(quiet[q]) if q in quiet else b"" for q in silencing),
            tuple(to_ipc(numbered[q]) if q in numbered else b"" for q in numbering),
            tuple(b"" if last is None else to_ipc(last) for last in lags),
        )
        for held, families, quiet, numbered, lags, (silencing, numbering) in zip(
            state.held, state.folded, state.quiet, state.numbered, state.lags, own, strict=True
        )
    ]
    return joined(StateBytes(program.description.packed, state.watermark, state.waiting, tuple(classes)))


def _events(held: Held) -> bytes:
    """The events, then for each mark whether they have it."""
    columns, names = list(held.events.columns), list(held.events.column_names)
    columns += [pa.array(passed) for _, passed in sorted(held.passed.items())]
    return to_ipc(pa.table(columns, [*names, *(f"mark {i}" for i in range(len(held.passed)))]))


def _panes(panes: Panes) -> PaneBytes:
    """Numbers that have not changed are not written again."""
    folded = panes.folded
    numbers = folded.source.data if isinstance(folded.source, Kept) else to_ipc(numbers_table(folded))
    return PaneBytes(panes.until, to_ipc(index_table(folded)), numbers)


def from_bytes(data: bytes, program: Program) -> State:
    """The state that `to_bytes` wrote, for this program or one whose queries that see all events it had: what was of
    queries that this one does not have is gone. Raises StateError.
    """
    found = taken_apart(data)
    classes = program.translations.get(found.packed)
    if classes is None:
        classes = program.translations[found.packed] = translation(found.description, program.description)
    if not found.classes:
        return State(found.watermark)
    held = tuple(one.held(found) for one in classes)
    folded = tuple(one.folded(found) for one in classes)
    quiet = tuple(one.silences(found) for one in classes)
    numbered = tuple(one.matches_had(found) for one in classes)
    lags = tuple(one.last_events(found) for one in classes)
    return State(found.watermark, held, folded, found.waiting, quiet, numbered, lags)
