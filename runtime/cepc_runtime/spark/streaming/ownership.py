"""Whose are the directories of micro-batches? Every checkpoint numbers its micro-batches from 0, so rows of one would
replace those of another in the same directory.

A folder of output says in `_checkpoints` which checkpoints write there, each in a file that is called by its id.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from ...cheap_dataclass import dataclass
from ..schema import JobError
from . import checkpoint

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .store import Store

BATCH: Final = "batch"
"""What a reader of a query's directories takes for a column of them."""
MARKS: Final = "_checkpoints"


@dataclass(frozen=True)
class Owner:
    """A checkpoint: its id, the whole name of its folder, and whether it has micro-batches."""

    id: str
    folder: str
    has_begun: bool


def take_places(store: Store, owner: Owner, folder: str, places: Mapping[str, str], option: str) -> bool:
    """Take places in the folder of an `option` for a checkpoint: what its micro-batches have directories in, by name.
    Whether it has micro-batches already and the folder none of them. Raises JobError where places are another's.
    """
    folder = folder.rstrip("/")
    mark = f"{folder}/{MARKS}/{owner.id}.json"
    mine = _names(_read(store, mark))
    if missing := [name for name in places if name not in mine]:
        others = [one for one in _others(store, folder, owner) if _names(one).intersection(missing)]
        for other in others:
            if _is_in_use(store, other):
                taken = places[min(_names(other).intersection(missing))]
                raise JobError(
                    f"{taken} is written by the checkpoint {other['folder']}, whose micro-batches have the same numbers"
                    f" as those of this one: name another {option}, or delete that checkpoint if it is not needed"
                )
        if others or not owner.has_begun:
            _check_empty(store, folder, [places[name] for name in missing], option)
        said = {"folder": owner.folder, "names": sorted({*mine, *places})}
        store.replace(mark, json.dumps(said, ensure_ascii=False, indent=1) + "\n")
    return owner.has_begun and not mine


def without_earlier(folder: str, owner: Owner) -> str:
    """What is said of an --output that a checkpoint with micro-batches has never written to, or that is gone since."""
    return (
        f"warning: {folder} has no rows of the micro-batches that {owner.folder} has done already, and they are not"
        " written again: if it was deleted, restore it, or begin a new --checkpoint"
    )


def _others(store: Store, folder: str, owner: Owner) -> Iterable[dict[str, Any]]:
    """What other checkpoints have said in the folder, each with its id."""
    for name in store.names(f"{folder}/{MARKS}"):
        said, id_ = _read(store, f"{folder}/{MARKS}/{name}"), name.removesuffix(".json")
        if said is not None and id_ not in (owner.id, name):
            yield {**said, "id": id_}


def _is_in_use(store: Store, other: Mapping[str, Any]) -> bool:
    """Whether a checkpoint is still there, and was not ended."""
    found = checkpoint.id_and_flush(store, other["folder"])
    return found is not None and found[0] == other["id"] and found[1] != checkpoint.DONE


def _check_empty(store: Store, folder: str, places: Iterable[str], option: str) -> None:
    names = {*store.names(folder)}
    for place in places:
        if (place == folder or place.rpartition("/")[2] in names) and any(
            name.startswith(f"{BATCH}=") for name in store.names(place)
        ):
            raise JobError(
                f"{place} has rows of another checkpoint, which this one would overwrite: name another {option}, or the"
                " --checkpoint that they are of, or delete them"
            )


def _read(store: Store, path: str) -> dict[str, Any] | None:
    """None where there is none, or half of one."""
    try:
        found = json.loads(store.read(path) or "null")
    except ValueError:
        return None
    is_mark = isinstance(found, dict) and isinstance(found.get("folder"), str) and isinstance(found.get("names"), list)
    return found if is_mark else None


def _names(said: Mapping[str, Any] | None) -> set[str]:
    return set() if said is None else {str(name) for name in said["names"]}
