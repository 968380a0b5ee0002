"""Is a checkpoint whole? Asked before Spark reads it: its own errors name no file, and of some that are missing it says
nothing and reads events again.
"""

from __future__ import annotations

import json
import re
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from ...parts.at_once import at_once
from ..errors import out_of_space
from ..schema import JobError
from .store import StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .store import Store

PROGRAM: Final = "cepc/program.json"
"""What a checkpoint says of whose it is."""
READS: Final = "reads"
"""In it, of each source that Spark meets in the plan of a chain, which one it is: one that two links read is met twice,
and has its offset twice.
"""
LOGS: Final = ("offsets", "commits")
AT_ONCE: Final = 16
"""Files that are looked for: a store that is far away mostly lets one wait."""
COMPACTED: Final = 10
"""Every tenth entry of a log of files has all those before it, and another name, unless Spark is told otherwise."""
_STATE: Final = re.compile(r"\S*/state/\d+/\S*[\w)]")
_PLANNED: Final = ("_metadata", "_stateSchema")
"""What Spark reads of the state when it plans a micro-batch, and then speaks of no state if it cannot."""
_SUMS: Final = re.compile(r"\.(metadata|\d+(?:\.compact)?)\.crc")
CURE: Final = (
    "put it back from a copy of the whole checkpoint, or name a new directory as --checkpoint and --output and"
    " begin again, with the events of the longest WITHIN before its last rows"
)
"""Of a file of a checkpoint that is lost, whichever it is."""


def check_intact(store: Store, folder: str) -> None:
    """Raises JobError, which names the file that is missing or damaged."""
    numbers = {log: numbers_of(store, folder, log) for log in LOGS}
    if not any(numbers.values()):
        return
    metadata = _text(store, f"{folder}/metadata")
    if not isinstance(_json(metadata), dict):
        raise _damaged(f"{folder}/metadata")
    begun, done = (numbers[log] for log in LOGS)
    for log in LOGS:
        _unbroken(f"{folder}/{log}", numbers[log])
    newest, last = max(begun, default=-1), max(done, default=-1)
    if newest not in (last, last + 1):
        raise _missing(f"{folder}/offsets/{last}" if newest < last else f"{folder}/commits/{last + 1}")
    if done and done[0] > begun[0]:  # Spark forgets offsets first: a commit has changed its number, or one is lost
        raise _missing(f"{folder}/commits/{begun[0]}")
    offsets, reads = list[str](), reads_of(store, folder)
    for number in begun[-2:]:
        offsets = _offsets(store, folder, number, reads)
    for number in done[-1:]:
        _lines(store, f"{folder}/commits/{number}", "delete it: its micro-batch is done again, and doubles nothing")
    for place, offset in enumerate(offsets):
        if (entry := _of_files(offset)) is not None:
            _check_source(store, f"{folder}/sources/{place}", entry)
    for place in numbers_of(store, folder, "sources"):
        _check_files(store, folder, place, _files_done(store, folder, done, place, reads), reads)


def remove_lost_sums(store: Store, folder: str) -> None:
    """The check sums that a local disk has of files that are gone: beside one Spark cannot write the file again, and
    takes it for another query's. Of the state it writes its files over others.
    """
    sources = [f"{folder}/sources/{place}" for place in numbers_of(store, folder, "sources")]
    for log in (folder, *(f"{folder}/{name}" for name in LOGS), *sources):
        names = set(store.names(log))
        for sums in sorted(names):
            if (found := _SUMS.fullmatch(sums)) and found[1] not in names:
                store.delete(f"{log}/{sums}")


def watermark_done(store: Store, folder: str) -> int | None:
    """Spark's, after the last micro-batch that is done; None where none is. Raises JobError."""
    done = numbers_of(store, folder, "commits")
    if not done:
        return None
    path = f"{folder}/commits/{done[-1]}"
    found = _json(_lines(store, path)[0])
    if not isinstance(found, dict) or type(found.get("nextBatchWatermarkMs")) is not int:
        raise _damaged(path)
    return int(found["nextBatchWatermarkMs"])


def _of_files(offset: str) -> int | None:
    """Where the log of files stands, in the offset of a source that has one."""
    found = _json(offset)
    return int(found["logOffset"]) if isinstance(found, dict) and set(found) == {"logOffset"} else None


def _check_source(store: Store, folder: str, newest: int) -> None:
    """The log of files that were read: without one of its own Spark takes what is in it for new."""
    names = store.names(folder)
    compact = [int(name.removesuffix(".compact")) for name in names if re.fullmatch(r"\d+\.compact", name)]
    first = max((number for number in compact if number <= newest), default=-1)
    if first >= 0:
        _lines(store, f"{folder}/{first}.compact")
    needed = range(first + 1, newest + 1)
    if gone := [number for number in needed if str(number) not in names]:
        compacted = [f"{number}.compact" for number in gone if (number + 1) % COMPACTED == 0]
        raise _missing(f"{folder}/{compacted[-1] if compacted else gone[0]}")
    for number in needed:
        _lines(store, f"{folder}/{number}")


def files_read(
    store: Store, checkpoint: str, place: int, after: int = -1, reads: Sequence[int] | None = None
) -> list[str]:
    """Those in the log of a source's files, after so many of its entries; none of another source, which keeps there
    what it likes. Of a chain there are `reads`. Raises JobError.
    """
    folder, said = f"{checkpoint}/sources/{place}", _offset(store, checkpoint, place, reads)
    if said is not None and _of_files(said) is None:
        return []
    numbered = entries_of(store, folder)
    first = max((number for number, name in numbered.items() if name.endswith(".compact")), default=0)
    needed = [name for number, name in sorted(numbered.items()) if number >= max(first, after + 1)]
    lines = _lines if said is not None else _lines_if_any  # before the first offsets, Kafka may have its own there
    entries = [_json(line) for name in needed for line in lines(store, f"{folder}/{name}")]
    found = [entry for entry in entries if isinstance(entry, dict) and entry.keys() >= {"path", "batchId"}]
    return [unquote(entry["path"]) for entry in found if entry["batchId"] > after]


def entries_of(store: Store, log: str) -> dict[int, str]:
    """The names of the files of a log of files, by their numbers: of compact ones, too."""
    names = (name for name in store.names(log) if re.fullmatch(r"\d+(\.compact)?", name))
    return {int(name.removesuffix(".compact")): name for name in names}


def reads_of(store: Store, checkpoint: str) -> Sequence[int] | None:
    """What a checkpoint says of the sources that are met, as READS says."""
    said = _json(store.read(f"{checkpoint}/{PROGRAM}") or "")
    reads = said.get(READS) if isinstance(said, dict) else None
    return reads if isinstance(reads, list) else None


def each_once(offsets: Sequence[str], reads: Sequence[int] | None) -> list[str]:
    """Of the offsets of all sources that are met that of each source."""
    if reads is None or len(reads) != len(offsets):
        return [*offsets]
    return [offset for place, offset in enumerate(offsets) if reads.index(reads[place]) == place]


def _offsets(store: Store, checkpoint: str, batch: int, reads: Sequence[int] | None) -> list[str]:
    """How far each source is read in a micro-batch, in its own words. Raises JobError."""
    return each_once(
        _lines(store, f"{checkpoint}/offsets/{batch}")[1:], reads
    )  # the first is of the micro-batch itself


def _offset(store: Store, checkpoint: str, place: int, reads: Sequence[int] | None) -> str | None:
    """How far a source has been read in the newest micro-batch, in its own words."""
    begun = numbers_of(store, checkpoint, "offsets")
    offsets = _offsets(store, checkpoint, begun[-1], reads) if begun else []
    return offsets[place] if place < len(offsets) and offsets[place] != "-" else None


def _files_done(store: Store, folder: str, done: Sequence[int], place: int, reads: Sequence[int] | None) -> int:
    """Up to where the log of a source's files is of micro-batches that are done."""
    offsets = _offsets(store, folder, done[-1], reads) if done else []
    found = _of_files(offsets[place]) if place < len(offsets) else None
    return -1 if found is None else found


def _check_files(store: Store, checkpoint: str, place: int, done: int, reads: Sequence[int] | None) -> None:
    """Those of a micro-batch that is not done: Spark reads what is left of them, and never the others."""
    files = sorted(set(files_read(store, checkpoint, place, done, reads)))
    there = at_once([partial(store.exists, file) for file in files], AT_ONCE)
    if gone := [file for file, is_there in zip(files, there, strict=True) if not is_there]:
        whom = f"and {len(gone) - 1} more, and they belong" if len(gone) > 1 else "and it belongs"
        raise JobError(
            f"{gone[0]} is gone, {whom} to a micro-batch that is not done: put it back under this name, if need be with"
            " its records mended, or an empty file of this name if its events are to be left out"
        )


def state_problem(store: Store, folder: str, error: Exception) -> JobError | None:
    """What to say of an error of Spark's, if it is that the state cannot be read."""
    text = str(error)
    if isinstance(error, JobError) or out_of_space(text):
        return None
    is_gone = "MISSING_STATE_DIRECTORY" in text
    is_said = is_gone or "STATE_STORE" in text or f"{folder}/state/" in text
    file = _STATE.search(text) if is_said else None
    if file and folder.rpartition("/")[2] in file[0]:
        name: str | None = file[0]
    elif is_gone:
        name = f"{folder}/state"
    else:
        name = _empty_state(store, folder, () if is_said else _PLANNED)
    if name is None and not is_said:
        return None
    name = name or f"one of the files of {folder}/state"
    return JobError(f"{name} is missing or damaged, so the state of the open windows cannot be read: {CURE}")


def _empty_state(store: Store, folder: str, within: Sequence[str]) -> str | None:
    """A file of the state without a byte, of which Spark says nothing but that it ended; a table of RocksDB's only if
    there is no other, for a kill may leave one that nobody needs.
    """
    try:
        operators = [f"{folder}/state/{operator}" for operator in store.names(f"{folder}/state")]
        folders = [f"{operator}/{name}" for operator in operators for name in within] if within else operators
        found = [f"{place}/{name}" for place in folders for name in store.empty_files(place)]
    except StoreError:
        return None
    return min(found, key=lambda path: (path.endswith(".sst"), path), default=None)


def numbers_of(store: Store, folder: str, log: str) -> list[int]:
    """Of the files of a log, in their order; halves of files have none."""
    return sorted(int(name) for name in store.names(f"{folder}/{log}") if name.isdecimal())


def _unbroken(log: str, numbers: Sequence[int]) -> None:
    for before, after in pairwise(numbers):
        if after != before + 1:
            raise _missing(f"{log}/{before + 1}")


def _text(store: Store, path: str) -> str:
    text = store.read(path)
    if text is None:
        raise _missing(path)
    return text


def _lines(store: Store, path: str, cure: str = CURE) -> list[str]:
    """Of a log's file: a version, and lines of JSON, or `-` where there is nothing to say."""
    version, *lines = _text(store, path).splitlines() or [""]
    if not re.fullmatch(r"v\d+", version) or not lines or any(_json(line) is None for line in lines if line != "-"):
        raise _damaged(path, cure)
    return lines


def _lines_if_any(store: Store, path: str) -> list[str]:
    """None where it is no log's file."""
    try:
        return _lines(store, path)
    except JobError:
        return []


def _json(text: str) -> Any:
    """None where it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def _missing(path: str) -> JobError:
    return JobError(f"{path} is missing, and the job cannot go on without it: {CURE}")


def _damaged(path: str, cure: str = CURE) -> JobError:
    return JobError(f"{path} is damaged, and the job cannot go on without it: {cure}")
