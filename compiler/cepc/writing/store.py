"""Results as files, one for each query: all of them or, where something goes wrong, none."""

from __future__ import annotations

import errno
import os
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.parts.at_once import tried

from .writers import by_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import BinaryIO


def store(tables: Mapping[str, Any], folder: str, form: str, limit: int | None = None, threads: int = 1) -> list[Path]:
    """Write `folder/QUERY.FORM` for each query, replacing what is there; several at once on as many threads.

    A file has its name only when it and all the others are complete: what a reader sees is never half of a result.
    Raises OSError, and ValueError for a form that is not for files.
    """
    save = by_name(form).save
    if save is None:
        raise ValueError(f"{form} is not for files")
    Path(folder).mkdir(parents=True, exist_ok=True)
    finished = files_of(tables, folder, form)
    if (taken := next((path for path in finished if path.is_dir()), None)) is not None:  # before any has its name
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(taken))
    begun = [path.with_name(f".{path.name}.{os.getpid()}.tmp") for path in finished]
    try:
        rows = [table if limit is None else table.slice(0, limit) for table in tables.values()]
        over = Event()
        writes = [partial(_write, table, path, save, over) for path, table in zip(begun, rows, strict=True)]
        for outcome in tried(writes, min(threads, len(writes)), over):
            if not outcome.cancelled() and not isinstance(error := outcome.exception(), CancelledError | None):
                raise error
        for path, name in zip(begun, finished, strict=True):
            path.replace(name)
    except BaseException:
        for path in begun:
            with suppress(OSError):
                path.unlink()
        raise
    return finished


def files_of(queries: Iterable[str], folder: str, form: str) -> list[Path]:
    """Where `store` writes."""
    return [Path(folder) / f"{file_name(query)}.{form}" for query in queries]


def file_name(query: str) -> str:
    """The query's name, its punctuation written as in a URL."""
    name = "".join(c if ord(c) > 127 else quote(c, safe=" ()+,-_@!=") for c in query)
    return name.replace(".", "%2E", 1) if name.startswith(".") else name


def _write(table: Any, path: Path, save: Callable[[Any, Any], None], over: Event) -> None:
    with path.open("wb") as file:
        save(table, _Watched(file, over))
        file.flush()
        os.fsync(file.fileno())


@dataclass(frozen=True)
class _Watched:
    """A file into which nothing more is written when all is `over`: the other files would be finished first."""

    file: BinaryIO
    over: Event

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def write(self, data: bytes) -> int:
        self._look()
        return self.file.write(data)

    def writelines(self, lines: Iterable[bytes]) -> None:
        self.file.writelines(self._watched(lines))

    def _watched(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        for line in lines:
            self._look()
            yield line

    def _look(self) -> None:
        if self.over.is_set():
            raise CancelledError
