"""Files that commands write: whole, or as they were before."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import RunError
from .messages import not_replaced, unwritable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cepc_grammar.diagnostic import Diagnostic


def other_contents(name: str, beginning: str, what: str) -> Diagnostic | None:
    """What is said where there is a file of this name that does not begin as every `what` does: somebody needs it."""
    try:
        path = Path(name)
        if not path.is_file():
            return None
        with path.open("rb") as file:
            found = file.read(len(beginning.encode()))
    except (OSError, ValueError):
        return None  # whoever writes it says why that cannot be done
    return not_replaced(name, what) if found not in (b"", beginning.encode()) else None


def write_text(name: str, text: str, programs: Iterable[str] = (), events: Iterable[str] = ()) -> None:
    """Write UTF-8 text, in the place of what is there, unless that is one of the programs it is made of, or has events
    of theirs. Raises RunError, and the file is then the one it was.
    """
    for what, files in (("the program", programs), ("a file of events", events)):
        if any(_is_same(name, file) for file in files):
            raise RunError([not_replaced(name, f"result, but {what}")])
    write_bytes(name, text.encode())


def _is_same(name: str, other: str) -> bool:
    try:
        return Path(name).samefile(other)
    except (OSError, ValueError):
        return False


def is_in(file: str, path: str) -> bool:
    """Whether a file is at a path, or would be in a directory of it."""
    try:
        own, place = Path(file).resolve(), Path(path).resolve()
        return own == place or (place.is_dir() and place in own.parents)
    except (OSError, ValueError):
        return False


def write_bytes(name: str, data: bytes) -> None:
    """As `write_text`."""
    try:
        path = Path(name).resolve()  # a link stays one
        if path.exists() and not path.is_file():  # a device or a pipe
            path.write_bytes(data)
            return
        begun = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            begun.write_bytes(data)
            if path.exists():
                shutil.copymode(path, begun)
            begun.replace(path)
        except BaseException:
            with suppress(OSError):
                begun.unlink()
            raise
    except (OSError, ValueError) as error:
        raise RunError([unwritable(name, error)]) from None
