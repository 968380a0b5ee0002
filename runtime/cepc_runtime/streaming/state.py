"""What a bucket keeps between two watermarks, and the bytes it is kept as."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from ..panes.folded import Kept
from ..panes.tables import from_index, from_numbers, index_table, numbers_table
from .ticks import BEGIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..columns import Bools
    from ..panes.folded import Folded
    from ..panes.shared_panes import Family

VERSION: Final = 3
"""Of the bytes. A checkpoint of another version is refused, never misread."""
_MAGIC: Final = b"cepc"
_PASSED: Final = "_passed_"


class StateError(ValueError):
    """The bytes are not the state of this plan."""


@dataclass(frozen=True)
class Held:
    """The events of a class of queries that later rows may need.

    `passed[q]` says, of a query q with AFTER MATCH, with which events no match may begin any more.
    """

    events: Any
    passed: dict[int, Bools]


@dataclass(frozen=True)
class Panes:
    """The folded panes of a family: all their events before `until` are in their numbers, none of the others is."""

    folded: Folded
    until: int


@dataclass(frozen=True)
class State:
    """`watermark`: all events before it are known, and rows that they decide have been given. `held` has an entry for each class,
    `folded` one for each family of each class. Of the events held, `waiting` are to be folded when there are more of them.
    """

    watermark: int = BEGIN
    held: tuple[Held | None, ...] = ()
    folded: tuple[tuple[Panes | None, ...], ...] = ()
    waiting: int = 0

    @property
    def events(self) -> int:
        """How many events are held; one counts for each class that looks at it."""
        return sum(held.events.num_rows for held in self.held if held is not None)

    @property
    def panes(self) -> int:
        """How many panes are folded."""
        return sum(len(panes.folded) for families in self.folded for panes in families if panes is not None)


def to_bytes(state: State, fingerprint: str) -> bytes:
    """The state of the plan of this fingerprint."""
    tables = [b"" if held is None else _table(held) for held in state.held]
    panes = [[(b"", b"") if own is None else _panes(own.folded) for own in families] for families in state.folded]
    header = json.dumps({
        "version": VERSION, "plan": fingerprint, "watermark": state.watermark, "tables": [len(t) for t in tables],
        "panes": [[[len(index), len(numbers)] for index, numbers in families] for families in panes],
        "until": [[own and own.until for own in families] for families in state.folded], "waiting": state.waiting,
    }).encode()  # fmt: skip
    tables += (table for families in panes for both in families for table in both)
    return b"".join((_MAGIC, len(header).to_bytes(4, "big"), header, *tables))


def from_bytes(data: bytes, fingerprint: str, families: Sequence[Sequence[Family]]) -> State:
    """The state that `to_bytes` wrote. `families` are the program's. Raises StateError."""
    if data[:4] != _MAGIC:
        raise StateError("the checkpoint holds no state of cepc's")
    start = 8 + int.from_bytes(data[4:8], "big")
    header = json.loads(data[8:start])
    if header["version"] != VERSION:
        raise StateError(f"the checkpoint's state is of version {header['version']}, this runtime's is {VERSION}")
    if header["plan"] != fingerprint:
        raise StateError("the checkpoint's state is of another program")
    held: list[Held | None] = []
    for length in header["tables"]:
        held.append(_held(data[start : start + length]) if length else None)
        start += length
    folded: list[tuple[Panes | None, ...]] = []
    for lengths, untils, of_class in zip(
        header["panes"], header["until"], families, strict=False
    ):  # a new state has none
        found: list[Panes | None] = []
        for (index, numbers), until, family in zip(lengths, untils, of_class, strict=True):
            middle, end = start + index, start + index + numbers
            kept = _kept(family, data[middle:end])
            found.append(Panes(from_index(family, _read(data[start:middle]), kept), until) if index else None)
            start = end
        folded.append(tuple(found))
    return State(header["watermark"], tuple(held), tuple(folded), header["waiting"])


def _table(held: Held) -> bytes:
    table = held.events
    for number, passed in held.passed.items():
        table = table.append_column(f"{_PASSED}{number}", pa.array(passed))
    return _bytes(table)


def _panes(folded: Folded) -> tuple[bytes, bytes]:
    """Numbers that have not changed are not written again."""
    numbers = folded.source.data if isinstance(folded.source, Kept) else _bytes(numbers_table(folded))
    return _bytes(index_table(folded)), numbers


def _kept(family: Family, data: bytes) -> Kept:
    return Kept(data, lambda: from_numbers(family, _read(data)))


def _bytes(table: Any) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(table.combine_chunks())
    return sink.getvalue()


def _read(data: bytes) -> Any:
    return pa.ipc.open_stream(pa.BufferReader(data)).read_all()


def _held(data: bytes) -> Held:
    table = _read(data)
    marks = [name for name in table.column_names if name.startswith(_PASSED)]
    passed = {int(name.removeprefix(_PASSED)): _bools(table.column(name)) for name in marks}
    return Held(table.drop_columns(marks), passed)


def _bools(column: Any) -> Bools:
    return np.array(column.to_numpy(), dtype=np.bool_)
