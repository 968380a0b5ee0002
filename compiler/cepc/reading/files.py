"""Which files a path of events means, and in which format each of them is.

A directory means every file in it and below, as Spark reads it: names that begin with `_` or `.` are left out, and
`date=2026-01-31` folders are columns of what is in them.
"""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from typing import Literal as OneOf
from urllib.parse import unquote

from ..diagnostics.near import nearest
from ..errors import DataError
from ..files.read import STDIN
from . import messages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Format = OneOf["parquet", "csv", "json"]
FORMATS: tuple[Format, ...] = ("parquet", "csv", "json")

SUFFIXES: dict[str, Format] = {
    ".parquet": "parquet", ".parq": "parquet", ".pq": "parquet", ".csv": "csv",
    ".json": "json", ".jsonl": "json", ".ndjson": "json",
}  # fmt: skip
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".lz4": "lz4", ".br": "brotli"}
MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2", b"\x04\x22\x4d\x18": "lz4"}

NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"  # how Spark writes a null in the name of a folder


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of events. `data` is its content where it is not on a disk (standard input), `size` is in bytes.

    `partitions` are the columns that the folders around it name; None stands for null.
    """

    name: str
    format: Format
    compression: str | None
    size: int
    partitions: tuple[tuple[str, str | None], ...] = ()
    data: bytes | None = None

    def open_raw(self) -> Any:
        """A pyarrow file of the bytes as they are. Raises DataError."""
        import pyarrow as pa

        try:
            return pa.BufferReader(self.data) if self.data is not None else pa.OSFile(self.name, "rb")
        except OSError as error:
            raise DataError([messages.unreadable(self.name, reason(error))]) from None

    def starts_with(self, first: bytes) -> bool:
        with self.open_raw() as raw:
            return bytes(raw.read(len(first))) == first

    def ends_with(self, last: bytes) -> bool:
        with self.open_raw() as raw:
            raw.seek(max(raw.size() - len(last), 0))
            return bytes(raw.read(len(last))) == last


def find_files(path: str, form: Format | None = None) -> tuple[DataFile, ...]:
    """The files of a path, in the order of their names. Raises DataError."""
    if path == "-":
        return (_standard_input(form),)
    if not path or "\0" in path:
        raise DataError([messages.missing(path.replace("\0", "␀"), None, None)])
    place = Path(path)
    try:
        if place.is_dir():
            return _in_directory(path, form)
        return (_file(path, place, form),)
    except FileNotFoundError:
        raise DataError([_missing(path, place)]) from None
    except OSError as error:
        raise DataError([messages.unreadable(path, reason(error))]) from None


def reason(error: OSError) -> str:
    """What went wrong, without the number and the name that Python and pyarrow put around it."""
    text = error.strerror or str(error)
    for said in ("Permission denied", "Is a directory", "No such file or directory", "Input/output error"):
        if said in text:
            return said
    return text.splitlines()[0] if text else type(error).__name__


def _file(path: str, place: Path, form: Format | None) -> DataFile:
    size = place.stat().st_size
    named, compression = _by_name(place.name)
    known = form or named
    if known is None:
        with place.open("rb") as file:
            raise DataError([messages.unknown_format(path, _by_content(file.read(64)))])
    return DataFile(path, known, None if known == "parquet" else compression, size)


def _in_directory(path: str, form: Format | None) -> tuple[DataFile, ...]:
    """With a format, files of unknown names count as well: Spark's own need not have a suffix."""
    root = Path(path)
    there = list(_below(root))
    named = [(place, *_by_name(place.name)) for place in there]
    if form is None:
        kinds = tuple(f for f in FORMATS if any(known == f for _, known, _ in named))
        if len(kinds) > 1:
            raise DataError([messages.several_formats(path, kinds)])
        chosen = [(place, known, packed) for place, known, packed in named if known is not None]
    else:
        chosen = [(place, form, packed) for place, known, packed in named if known in (form, None)]
    if not chosen:
        raise DataError([messages.no_files(path, [str(place.relative_to(root)) for place in there], form)])
    return tuple(
        DataFile(
            str(place), known, None if known == "parquet" else packed, place.stat().st_size,
            _partitions(place.relative_to(root).parts[:-1]),
        )
        for place, known, packed in chosen
    )  # fmt: skip


def _below(folder: Path) -> Iterator[Path]:
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith((".", "_")) and "=" not in entry.name:
            continue
        if entry.is_dir():
            yield from _below(entry)
        elif entry.is_file():
            yield entry


def _partitions(folders: Iterable[str]) -> tuple[tuple[str, str | None], ...]:
    pairs = (folder.partition("=") for folder in folders if "=" in folder)
    return tuple((unquote(name), None if value == NULL_PARTITION else unquote(value)) for name, _, value in pairs)


def _by_name(name: str) -> tuple[Format | None, str | None]:
    """The format and the compression that a file's name says."""
    suffixes = [suffix.lower() for suffix in Path(name).suffixes]
    compression = COMPRESSIONS.get(suffixes[-1]) if suffixes else None
    if compression is not None:
        suffixes = suffixes[:-1]
    return (SUFFIXES.get(suffixes[-1]) if suffixes else None), compression


def _by_content(first: bytes) -> Format | None:
    """The format that the first bytes of a file look like."""
    if first.startswith(b"PAR1"):
        return "parquet"
    text = first.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{"):
        return "json"
    return "csv" if text and text.isascii() and b"," in text.splitlines()[0] else None


def _standard_input(form: Format | None) -> DataFile:
    """All of it at once: what is wrong in it can then be shown, and Parquet is read from its end."""
    import pyarrow as pa

    if sys.stdin is None:
        raise DataError([messages.unreadable(STDIN, "standard input is closed")])
    try:
        data = sys.stdin.buffer.read()
    except OSError as error:
        raise DataError([messages.unreadable(STDIN, reason(error))]) from None
    compression = next((name for magic, name in MAGIC.items() if data.startswith(magic)), None)
    first = data[:64]
    if compression is not None and form is None:
        with pa.CompressedInputStream(pa.BufferReader(data), compression) as stream:
            first = stream.read(64)
    return DataFile(STDIN, form or _by_content(first) or "csv", compression, len(data), (), data)


def _missing(path: str, place: Path) -> Any:
    folder = place.parent
    if not folder.is_dir():
        return messages.missing(path, None, str(folder))
    near = nearest(place.name, [entry.name for entry in folder.iterdir() if entry.is_dir() or _by_name(entry.name)[0]])
    return messages.missing(path, str(folder / near) if near else None, None)


def open_text(file: DataFile) -> tuple[Any, Any]:
    """The raw pyarrow file, whose position says how far reading is, and the stream of the text in it."""
    import pyarrow as pa

    raw = file.open_raw()
    if file.compression == "gzip":
        return raw, _Gunzip(raw)
    return raw, pa.CompressedInputStream(raw, file.compression) if file.compression else raw


class _Gunzip(io.RawIOBase):
    """The text of a gzip file. Where one is damaged, pyarrow asks for ever more memory."""

    def __init__(self, raw: Any) -> None:
        self._text = gzip.GzipFile(fileobj=raw)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        try:
            return self._text.read(size)
        except EOFError:
            raise OSError(messages.TRUNCATED) from None
        except zlib.error as error:
            raise OSError(f"it is damaged ({error})") from None


def read_head(file: DataFile, size: int = 1 << 20) -> bytes:
    """The first bytes of the text in a file."""
    raw, stream = open_text(file)
    with raw:
        try:
            return bytes(stream.read(size))
        except OSError as error:
            raise DataError([messages.unreadable(file.name, reason(error))]) from None
