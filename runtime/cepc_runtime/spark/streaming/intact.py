"""Is a checkpoint whole? Asked before Spark reads it: its own errors name no file, and of some that are missing it says
nothing and reads events again.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from ..errors import out_of_space
from ..schema import JobError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .store import Store

LOGS: Final = ("offsets", "commits")
_STATE: Final = re.compile(r"\S*/state/\d+/\S*[\w)]")
_CURE: Final = (
    "put it back from a copy of the whole checkpoint, or name a new directory as --checkpoint and --output and"
    " begin again, with the"
    " events of the longest WITHIN before its last rows"
)


def check_intact(store: Store, folder: str) -> None:
    """Raises JobError, which names the file that is missing or damaged."""
    numbers = {log: micro_batches(store, folder, log) for log in LOGS}
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
    offsets: list[str] = []
    for number in begun[-2:]:
        offsets = _lines(store, f"{folder}/offsets/{number}")
    for number in done[-1:]:
        _lines(store, f"{folder}/commits/{number}", "delete it: its micro-batch is done again, and doubles nothing")
    for place, offset in enumerate(offsets[1:]):  # the first is of the micro-batch itself
        found = _json(offset)
        if isinstance(found, dict) and set(found) == {"logOffset"}:
            _check_source(store, f"{folder}/sources/{place}", int(found["logOffset"]))


def _check_source(store: Store, folder: str, newest: int) -> None:
    """The log of files that were read: without one of its own Spark takes what is in it for new."""
    names = store.names(folder)
    compact = [int(name.removesuffix(".compact")) for name in names if re.fullmatch(r"\d+\.compact", name)]
    first = max((number for number in compact if number <= newest), default=-1)
    if first >= 0:
        _lines(store, f"{folder}/{first}.compact")
    elif "0" not in names and names:
        raise _missing(f"{folder}/*.compact, the newest one,")
    for number in range(first + 1, newest + 1):
        if str(number) not in names:
            raise _missing(f"{folder}/{number}")
        _lines(store, f"{folder}/{number}")


def state_problem(folder: str, error: Exception) -> JobError | None:
    """What to say of an error of Spark's, if it is that the state cannot be read."""
    text = str(error)
    if out_of_space(text) or ("STATE_STORE" not in text and f"{folder}/state/" not in text):
        return None
    file = _STATE.search(text)
    name = file[0] if file and folder.rpartition("/")[2] in file[0] else f"one of the files of {folder}/state"
    return JobError(f"{name} is missing or damaged, so the state of the open windows cannot be read: {_CURE}")


def micro_batches(store: Store, folder: str, log: str) -> list[int]:
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


def _lines(store: Store, path: str, cure: str = _CURE) -> list[str]:
    """Of a log's file: a version, and lines of JSON, or `-` where there is nothing to say."""
    version, *lines = _text(store, path).splitlines() or [""]
    if not re.fullmatch(r"v\d+", version) or not lines or any(_json(line) is None for line in lines if line != "-"):
        raise _damaged(path, cure)
    return lines


def _json(text: str) -> Any:
    """None where it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def _missing(path: str) -> JobError:
    return JobError(f"{path} is missing, and the job cannot go on without it: {_CURE}")


def _damaged(path: str, cure: str = _CURE) -> JobError:
    return JobError(f"{path} is damaged, and the job cannot go on without it: {cure}")
