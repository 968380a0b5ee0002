"""Program files as sources. Whatever is wrong with a file is a diagnostic; nothing is raised."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from cepc_grammar.source import Source
from cepc_runtime.cheap_dataclass import dataclass

from ..diagnostics.near import nearest
from . import messages

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cepc_grammar.diagnostic import Diagnostic

STDIN = "<stdin>"
FIRST = 65536  # bytes looked at before the rest is read, so that a device or a large data file is refused at once
HINTED = 100  # missing imports for which their folders are looked through: more mistakes are not shown at once
KINDS = {
    b"PAR1": "a Parquet file",
    b"\x1f\x8b": "a gzip file",
    b"PK\x03\x04": "a zip file",
    b"Obj\x01": "an Avro file",
    b"ORC": "an ORC file",
}
TEXTS = {".csv": "a CSV file", ".tsv": "a CSV file"} | dict.fromkeys((".json", ".jsonl", ".ndjson"), "a JSON file")
"""Files of events, by how their names end."""


@dataclass(frozen=True, slots=True)
class LoadedFiles:
    """`programs` can be parsed, in order; `sources` has these and every other text that a diagnostic points into."""

    programs: tuple[Source, ...]
    diagnostics: tuple[Diagnostic, ...]
    sources: dict[str, Source]


def load(names: Iterable[str]) -> LoadedFiles:
    """The files of these names, `-` being standard input; a file named twice is read once."""
    programs: list[Source] = []
    diagnostics: list[Diagnostic] = []
    sources: dict[str, Source] = {}
    seen: dict[str, str] = {}
    for name in names:
        same = _identity(name)
        if same in seen:
            diagnostics.append(messages.twice(name, seen[same]))
            continue
        seen[same] = name
        source, problem = read(name)
        if source is not None:
            sources[source.name] = source
        if problem is not None:
            diagnostics.append(problem)
        elif source is not None:
            programs.append(source)
    return LoadedFiles(tuple(programs), tuple(diagnostics), sources)


def read(name: str) -> tuple[Source | None, Diagnostic | None]:
    """The text of a file, or what is wrong with it, or both where the text helps to show what is wrong.

    Line ends stay as they are; a byte-order mark is dropped.
    """
    return _read_stdin() if name == "-" else _read_file(name)


@dataclass(slots=True)
class ImportReader:
    """Reads the files that one program imports. What lies around a missing one is looked at for the first HINTED of
    them.
    """

    missing: int = 0

    def __call__(self, path: str, /) -> Source | Diagnostic:
        """The text of a file, or what is wrong with it.

        A program may come from somebody else: of a file that is no program nothing is shown, and what never ends is not
        read.
        """
        if not path.endswith(".cep") or not _identity(path).endswith(
            ".cep"
        ):  # nor does a link make a program of a file
            return messages.no_program(path)
        file = Path(path)
        if not file.exists():
            self.missing += 1
        elif not file.is_file() and not file.is_dir():
            return messages.unreadable(path, "it is no regular file")
        source, problem = _read_file(path, hinted=self.missing <= HINTED)
        if problem is not None:
            return problem
        assert source is not None
        return source


def _read_file(name: str, *, hinted: bool = True) -> tuple[Source | None, Diagnostic | None]:
    if not name or "\0" in name:
        return None, messages.missing(name.replace("\0", "␀"))
    path = Path(name)
    try:
        with path.open("rb") as file:
            data = _bytes(file)
    except (FileNotFoundError, NotADirectoryError):
        return None, messages.missing(name, *(_around(path) if hinted else ()))
    except IsADirectoryError:
        return None, messages.directory(name, any(entry.suffix == ".cep" for entry in _entries(path)))
    except OSError as error:
        return None, messages.unreadable(name, error.strerror or str(error))
    if path.suffix.lower() in TEXTS:
        return None, messages.text_of_events(name, TEXTS[path.suffix.lower()])
    return decode(name, data)


def decode(name: str, data: bytes) -> tuple[Source | None, Diagnostic | None]:
    """As `read`, of bytes."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None, messages.utf16(name)
    if b"\0" in data:
        return None, messages.binary(
            name, next((kind for magic, kind in KINDS.items() if data.startswith(magic)), None)
        )
    body = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return Source(name, body.decode()), None
    except UnicodeDecodeError as error:
        at = len(body[: error.start].decode())
        offset = error.start + len(data) - len(body)
        shown = Source(name, body.decode(errors="replace"))
        return shown, messages.not_utf8(name, body[error.start], offset, (at, at + 1))


def _read_stdin() -> tuple[Source | None, Diagnostic | None]:
    if sys.stdin is None:
        return None, messages.unreadable(STDIN, "standard input is closed")
    try:
        data = _bytes(sys.stdin.buffer)
    except OSError as error:
        return None, messages.unreadable(STDIN, error.strerror or str(error))
    return decode(STDIN, data)


def _bytes(file: BinaryIO) -> bytes:
    first = file.read(FIRST)
    return first if b"\0" in first else first + file.read()


def _identity(name: str) -> str:
    """The same for two names of one file."""
    try:
        return name if name in ("-", "") else str(Path(name).resolve())
    except (OSError, RuntimeError, ValueError):  # a link to itself, a name that no file can have
        return name


def _around(path: Path) -> tuple[str | None, str | None, tuple[str, ...]]:
    """A file near the missing one, the directory that is missing as well, and the programs where it should be."""
    folder = path.parent
    if not folder.is_dir():
        return None, str(folder), ()
    files = {entry.name: str(entry) for entry in _entries(folder) if entry.is_file()}
    added = path.name + ".cep"
    near = added if added in files else nearest(path.name, files)
    return files.get(near or ""), None, tuple(file for name, file in files.items() if name.endswith(".cep"))


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
