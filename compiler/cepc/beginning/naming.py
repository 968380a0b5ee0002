"""What things are called in a program that is begun."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

from .leaves import new_name
from .words import words

if TYPE_CHECKING:
    from .guess import Guess
    from .leaves import Leaf
    from .sample import Sample

MOST_KEYS = 10  # that get a column of their own


@dataclass(frozen=True, slots=True)
class NamesInStream:
    """What things are called in a stream: a leaf by the column that has its values, computed ones with expressions."""

    stream: str
    time: str
    kind: str
    keys: tuple[str, ...]
    computed: tuple[tuple[str, str], ...]


def stream_name(path: str) -> str:
    """A name for the events at a path.

    >>> stream_name("data/2026 rides.csv.gz"), stream_name("-"), stream_name("db.clicks/")
    ('_2026_rides', 'events', 'db')
    """
    stem = PurePath(path).name.split(".")[0] if path != "-" else "events"
    name = "_".join(re.findall(r"[A-Za-z0-9]+", stem)) or "events"
    return f"_{name}" if name[0].isdigit() else name


def free_name(sample: Sample, called: str) -> str:
    """A name that no column has."""
    columns = {name for name, _ in sample.columns}
    return new_name(called if called.casefold() not in {c.casefold() for c in columns} else f"{called}_events", columns)


def names_in(guessed: Guess, stream: str) -> NamesInStream:
    """Each computed column has a name that no other has; one for a type may differ from its column's only in case."""
    taken = {name for name, _ in guessed.sample.columns} | {stream}
    computed: list[tuple[str, str]] = []

    def column(leaf: Leaf, expression: str | None, wanted: str) -> str:
        if expression is None:
            return leaf.path[0]
        name = new_name(wanted, taken)
        taken.add(name)
        computed.append((name, expression))
        return name

    free = "event_time" if any(name.casefold() == "at" for name in taken) else "at"
    time = column(guessed.time.leaf, guessed.time.expression, free) if guessed.time is not None else ""
    kind = ""
    if guessed.kind is not None:
        leaf = guessed.kind.leaf
        wanted = "event_type" if leaf.is_column else leaf.path[-1]
        kind = column(leaf, guessed.kind.expression, wanted)
    of = tuple(
        column(key.leaf, None if key.leaf.is_column else key.leaf.text, _key_name(key.leaf.path))
        for key in guessed.keys[:MOST_KEYS]
    )
    return NamesInStream(stream, time, kind, of, tuple(computed))


def _key_name(path: tuple[str, ...]) -> str:
    """`orderId` says enough, `id` does not.

    >>> _key_name(("order", "orderId")), _key_name(("user", "id"))
    ('orderId', 'user_id')
    """
    return path[-1] if len(words(path[-1])) > 1 else "_".join(path[-2:])
