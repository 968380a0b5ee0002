"""The bytes of a bucket's state, read without the program that wrote them (docs/state-format.md):

python -m cepc_runtime.streaming.state_bytes FILE…   # what it is of, then each table

cepc | version | length, description: JSON, compressed | length, header: JSON | tables of Arrow, one after the other
"""

from __future__ import annotations

import io
import json
import struct
import sys
import zlib
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from ..cheap_dataclass import dataclass
from ..events.letter_words import BITS
from ..numbers.columns import flat
from ..numbers.number_columns import from_arrow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

VERSION: Final = 5
READ: Final = (4, VERSION)
"""A checkpoint of another version is refused, never misread. In version 4 all queries see all events."""

_MAGIC: Final = b"cepc"
_START: Final = struct.Struct(">4sII")
_LENGTH: Final = struct.Struct(">I")
# A bucket's few buffers are done before the threads of a pool have begun; on a busy machine one waits long for these.
_WRITE: Final = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
_READ: Final = pa.ipc.IpcReadOptions(use_threads=False)


class StateError(ValueError):
    """The bytes are not the state of this program, or of none."""


@dataclass(frozen=True)
class PaneBytes:
    """Folded panes of a family: which they are, and their numbers. All their events before `until` are in them."""

    until: int
    index: bytes
    numbers: bytes


@dataclass(frozen=True)
class ClassBytes:
    """The events of a class as a table, with a column at the end for each of the class's marks; its families' panes;
    the silences of its queries with AFTER MATCH SKIP FOR; how many matches the partitions of those with
    MATCH_NUMBER() have had; and the last events of each partition, for those with LAG.
    """

    events: bytes
    panes: tuple[PaneBytes | None, ...]
    quiet: tuple[bytes, ...]
    numbered: tuple[bytes, ...]
    lags: tuple[bytes, ...]


@dataclass(frozen=True)
class StateBytes:
    """The state in its pieces. A new bucket has no classes yet."""

    packed: bytes
    watermark: int
    waiting: int
    classes: tuple[ClassBytes, ...]

    @property
    def description(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(zlib.decompress(self.packed))
        return found


def joined(state: StateBytes) -> bytes:
    header: dict[str, Any] = {"watermark": state.watermark, "waiting": state.waiting, "classes": []}
    tables: list[bytes] = []
    for one in state.classes:
        families = [p and {"until": p.until, "index": len(p.index), "numbers": len(p.numbers)} for p in one.panes]
        quiet = {"quiet": [len(table) for table in one.quiet]} if one.quiet else {}
        numbered = {"numbered": [len(table) for table in one.numbered]} if one.numbered else {}
        lags = {"lags": [len(table) for table in one.lags]} if one.lags else {}
        header["classes"].append({"events": len(one.events), "families": families, **quiet, **numbered, **lags})
        tables += [one.events, *(table for p in one.panes if p is not None for table in (p.index, p.numbers))]
        tables += (*one.quiet, *one.numbered, *one.lags)
    text = json.dumps(header, separators=(",", ":")).encode()
    start = _START.pack(_MAGIC, VERSION, len(state.packed))
    return b"".join((start, state.packed, _LENGTH.pack(len(text)), text, *tables))


def taken_apart(data: bytes) -> StateBytes:
    """What `joined` made. Raises StateError."""
    if len(data) < _START.size or not data.startswith(_MAGIC):
        raise StateError("the checkpoint holds no state of cepc's")
    _, version, length = _START.unpack_from(data)
    if version not in READ:
        raise StateError(f"the checkpoint's state is of version {version}, this runtime's is {VERSION}")
    reader = io.BytesIO(data)
    reader.seek(_START.size)
    packed = reader.read(length)
    header = json.loads(reader.read(_LENGTH.unpack(reader.read(_LENGTH.size))[0]))
    classes = []
    for one in header["classes"]:
        events = reader.read(one["events"])
        panes = [
            p and PaneBytes(p["until"], reader.read(p["index"]), reader.read(p["numbers"])) for p in one["families"]
        ]
        quiet = tuple(reader.read(length) for length in one.get("quiet", ()))
        numbered = tuple(reader.read(length) for length in one.get("numbered", ()))
        lags = tuple(reader.read(length) for length in one.get("lags", ()))
        classes.append(ClassBytes(events, tuple(panes), quiet, numbered, lags))
    return StateBytes(packed, header["watermark"], header["waiting"], tuple(classes))


def to_ipc(table: Any) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema, options=_WRITE) as writer:
        writer.write_table(table.combine_chunks())
    return sink.getvalue()


def from_ipc(data: bytes) -> Any:
    return pa.ipc.open_stream(pa.BufferReader(data), options=_READ).read_all()


# ---- for people ------------------------------------------------------------------------------------------------------


def tables(state: StateBytes) -> Iterator[tuple[str, Any]]:
    """Each table with what it is; its columns are named by what they are, and integers of any size are text."""
    about = state.description
    for one, found in zip(about["classes"], state.classes, strict=False):  # a new state has none
        keys = ", ".join(one["keys"]) or "nothing"
        keys += f" from {one['since']}" if "since" in one else ""
        if found.events:
            events = _with_marks(from_ipc(found.events), one["marks"])
            yield f"events of {', '.join(one['queries'])}, by {keys}", _with_letters(events, about)
        for family, panes in zip(one["families"], found.panes, strict=True):
            if panes is not None:
                index, numbers = from_ipc(panes.index), from_ipc(panes.numbers)
                names = [*family["partition"], _pane_label(family)]
                names += [_label(number, family, about["letters"]) for number in family["numbers"]]
                columns = [*index.columns, *(map(_shown, numbers.columns))]
                yield f"panes of {', '.join(family['queries'])}, by {keys}", pa.table(columns, names)
        for query, quiet in zip(one.get("quiet", ()), found.quiet, strict=True):
            if quiet:
                yield f"silences of {query}: the last tick with which no match begins", from_ipc(quiet)
        for query, numbered in zip(one.get("numbered", ()), found.numbered, strict=True):
            if numbered:
                yield f"how many matches of {query} partitions have had", from_ipc(numbered)
        for lag, last in zip(one.get("lags", ()), found.lags, strict=True):
            if last:
                by = ", ".join(lag["partition"]) or "nothing"
                yield f"the last {lag['places']} events by {by}", from_ipc(last)


def _pane_label(family: Mapping[str, Any]) -> str:
    begin = f" from {family['begin']}" if "begin" in family else ""
    return f"pane of {family['length']} ticks{begin}"


def _with_marks(events: Any, queries: Sequence[str]) -> Any:
    names = events.column_names[: events.num_columns - len(queries)]
    return events.rename_columns([*names, *(f"no match of {query} begins here" for query in queries)])


def _with_letters(events: Any, about: dict[str, Any]) -> Any:
    """The letters by their names, in place of the words that have their bits."""
    names = [_letter(letter) for letter in about["letters"]]
    columns = {name: events.column(name) for name in events.column_names if name not in about["words"]}
    for place, column in enumerate(about["words"]):
        values = events.column(column).to_numpy()
        for bit, name in enumerate(names[place * BITS : (place + 1) * BITS]):
            columns[f"is {name}"] = pa.array((values >> bit) & 1 == 1)
    return pa.table(columns)


def _letter(letter: Sequence[str | None]) -> str:
    raw_type, condition = letter
    return f"{raw_type or 'any'}" + ("" if condition == "TRUE" else f" with {condition}")


def _label(number: Sequence[Any], family: dict[str, Any], letters: Sequence[Sequence[str | None]]) -> str:
    shape, role, variable, argument, _ = number
    steps, end = family["shapes"][shape]
    what = role if variable < 0 else f"{role} of v{variable}" + (f": {argument}" if argument else "")
    ways = ", ".join(f"{s} {'=' if tie else '-'} {_letter(letters[of])} v{v} > {t}" for s, t, of, v, tie in steps)
    return f"{what} ({ways}; to {end})"


def _shown(column: Any) -> Any:
    found = flat(column)
    if not pa.types.is_fixed_size_binary(found.type):
        return found
    return pa.array(
        [str(Decimal(number)) for number in from_arrow(found).tolist()]
    )  # which may have any number of digits


def main(files: Sequence[str]) -> None:
    for file in files:
        state = taken_apart(Path(file).read_bytes())
        print(
            json.dumps(
                {"description": state.description, "watermark": state.watermark, "waiting": state.waiting}, indent=1
            )
        )
        for what, table in tables(state):
            print(f"\n{what}")
            for row in table.to_pylist():
                print(json.dumps(row, default=str))


if __name__ == "__main__":
    main(sys.argv[1:])
