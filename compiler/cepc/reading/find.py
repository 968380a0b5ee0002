"""Which files a path of events means, and in which format they are.

A directory means every file in it and below, as Spark reads it: names that begin with `_` or `.` are left out, and
`date=2026-01-31` folders are columns of what is in them.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote

from .. import run_settings as settings
from ..diagnostics.near import nearest
from ..errors import DataError
from ..files.read import STDIN
from . import csv_files, delta_tables, messages, readers
from .files import MAGIC, DataFile, OptionError, reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cepc_grammar.diagnostic import Diagnostic

    from .files import EventSource
    from .reader import Reader

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".lz4": "lz4", ".br": "brotli"}
CHECKSUMS = (".crc", ".md5", ".sha1", ".sha256")  # which lie beside the files that they are of
FIRST = 64  # bytes that a format is guessed from
CONTROL = 9  # no text has a lesser byte

NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"  # how Spark writes a null in the name of a folder


class FoundFiles(NamedTuple):
    """The files of a path, in the order of their names, and what reads them; a warning of those that are left out."""

    reader: Reader
    files: tuple[DataFile, ...]
    warnings: tuple[Diagnostic, ...] = ()


def find_files(source: EventSource) -> FoundFiles:
    """What a path means. Raises DataError."""
    reader, files, warnings = _found(source.path, source.format)
    try:
        reader.check_options(source.options)
    except OptionError as error:
        raise DataError([messages.wrong_option(source.path, reader.title, str(error), error.hint)]) from None
    return FoundFiles(reader, tuple(replace(file, options=source.options) for file in files), warnings)


def check_content(reader: Reader, file: DataFile) -> None:
    """Raises DataError where a file of text begins as one of another format does, or as a compressed one."""
    if not reader.is_text or file.compression is not None:
        return
    with file.open_raw() as raw:
        first = bytes(raw.read(FIRST))
    packed = next((name for magic, name in MAGIC.items() if first.startswith(magic)), None)
    if packed is not None and not first.isascii():  # or it would be text all the same
        suffix = next(suffix for suffix, name in COMPRESSIONS.items() if name == packed)
        raise DataError([messages.compressed(file.name, packed, suffix)])
    looks = next((other for other in readers.READERS if not other.is_text and other.looks_like(first)), None)
    if looks is not None and any(byte < CONTROL for byte in first):
        named = file.data is None and _by_name(file.name)[0] is reader
        renamed = str(Path(file.name).with_suffix(looks.suffixes[0])) if named else None
        raise DataError([messages.binary_format(file.name, looks.title, looks.name, renamed)])


def _found(path: str, form: str | None) -> FoundFiles:
    given = readers.by_name(form) if form is not None else None
    if path == "-":
        return _standard_input(given)
    if not path or "\0" in path:
        raise DataError([messages.missing(path.replace("\0", "␀"), None, None)])
    place = Path(path)
    try:
        if place.is_dir():
            return _in_directory(path, given)
        return _file(path, place, given)
    except FileNotFoundError:
        raise DataError([_missing(path, place)]) from None
    except OSError as error:
        raise DataError([messages.unreadable(path, reason(error))]) from None


def _file(path: str, place: Path, given: Reader | None) -> FoundFiles:
    named, compression = _by_name(place.name)
    reader = given or named
    if place.is_fifo():
        return _at_once(path, place.read_bytes(), reader)
    if not place.is_file() and not place.samefile(os.devnull):
        raise DataError([messages.no_regular_file(path)])
    if reader is None:
        raise DataError([_unknown(path, place)])
    return FoundFiles(reader, (DataFile(path, compression if reader.is_text else None, place.stat().st_size),))


def _in_directory(path: str, given: Reader | None) -> FoundFiles:
    """With a format, files of unknown names count as well: Spark's own need not have a suffix."""
    root = Path(path)
    if given in (None, delta_tables.READER) and delta_tables.is_table(root):
        files = delta_tables.files_of(root)
        return FoundFiles(
            delta_tables.READER, tuple(_data_file(root.resolve(), place.resolve(), None) for place in files)
        )
    there = list(_below(root, (root.resolve(),)))
    named = [(place, *_by_name(place.name)) for place in there]
    kinds = [reader for reader in readers.READERS if any(known is reader for _, known, _ in named)]
    if given is None and len(kinds) > 1:
        raise DataError([messages.several_formats(path, [reader.title for reader in kinds], kinds[0].name)])
    reader = given or next(iter(kinds), None)
    chosen = [(place, packed) for place, known, packed in named if known is reader or (given and known is None)]
    if reader is None or not chosen:
        others = [str(place.relative_to(root)) for place in there]
        raise DataError([messages.no_files(path, others, given.title if given else None)])
    unknown = [str(place) for place, known, _ in named if known is None and place.suffix not in CHECKSUMS]
    return FoundFiles(
        reader,
        tuple(_data_file(root, place, packed if reader.is_text else None) for place, packed in chosen),
        (messages.left_out(path, unknown, reader.name),) if unknown and given is None else (),
    )


def _data_file(root: Path, place: Path, packed: str | None) -> DataFile:
    """With the columns that the folders name."""
    return DataFile(str(place), packed, place.stat().st_size, _partitions(place.relative_to(root).parts[:-1]))


def _below(folder: Path, above: tuple[Path, ...]) -> Iterator[Path]:
    """The files in a folder and below. A link back to one of the folders `above`, or further up, is not followed: it
    would never end.
    """
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith((".", "_")) and "=" not in entry.name:
            continue
        if entry.is_dir():
            inside = entry.resolve()
            if not any(inside == one or inside in one.parents for one in above):
                yield from _below(entry, (*above, inside))
        elif entry.is_file():
            yield entry


def _partitions(folders: Iterable[str]) -> tuple[tuple[str, str | None], ...]:
    pairs = (folder.partition("=") for folder in folders if "=" in folder)
    return tuple((unquote(name), None if value == NULL_PARTITION else unquote(value)) for name, _, value in pairs)


def _by_name(name: str) -> tuple[Reader | None, str | None]:
    """The format and the compression that a file's name says."""
    suffixes = [suffix.lower() for suffix in Path(name).suffixes]
    compression = COMPRESSIONS.get(suffixes[-1]) if suffixes else None
    if compression is not None:
        suffixes = suffixes[:-1]
    return (readers.by_suffix(suffixes[-1]) if suffixes else None), compression


def _unknown(path: str, place: Path) -> Diagnostic:
    with place.open("rb") as file:
        looks = readers.by_content(file.read(FIRST))
    shown = [suffix for reader in readers.READERS for suffix in (*reader.suffixes, *reader.aliases)]
    return messages.unknown_format(path, (looks.title, looks.name) if looks else None, shown, list(COMPRESSIONS))


def _standard_input(given: Reader | None) -> FoundFiles:
    if sys.stdin is None:
        raise DataError([messages.unreadable(STDIN, "standard input is closed")])
    try:
        data = sys.stdin.buffer.read()
    except OSError as error:
        raise DataError([messages.unreadable(STDIN, reason(error))]) from None
    return _at_once(STDIN, data, given)


def _at_once(name: str, data: bytes, given: Reader | None) -> FoundFiles:
    """All that a pipe has: what is wrong in it can then be shown, and Parquet is read from its end."""
    import pyarrow as pa

    compression = next((name for magic, name in MAGIC.items() if data.startswith(magic)), None)
    first = data[:FIRST]
    if compression is not None and given is None:
        with pa.CompressedInputStream(pa.BufferReader(data), compression) as stream:
            first = stream.read(FIRST)
    reader = given or readers.by_content(first) or csv_files.READER
    return FoundFiles(reader, (DataFile(name, compression, len(data), (), data),))


def _missing(path: str, place: Path) -> Diagnostic:
    if cure := _other_place(path):
        return messages.missing(path, None, None, cure)
    folder = place.parent
    if not folder.is_dir():
        return messages.missing(path, None, str(folder))
    near = nearest(place.name, [entry.name for entry in folder.iterdir() if entry.is_dir() or _by_name(entry.name)[0]])
    return messages.missing(path, str(folder / near) if near else None, None)


_WILDCARDS: Final = frozenset("*?[")


def _other_place(path: str) -> str:
    """What to write for a path that only a shell or Spark understands; "" for others."""
    scheme, is_url, rest = path.partition("://")
    if scheme == "file" and is_url:
        return f"write `{rest}`"
    if is_url:
        return f"copy them to this machine; {settings.ON_SPARK.of()} reads them there"
    if path.startswith("~"):
        at_home = Path.home() / path.removeprefix("~/")
        return f"write `{at_home}`: `~` is of the shell, which leaves it where it is quoted"
    parts = Path(path).parts
    first = next((number for number, part in enumerate(parts) if not _WILDCARDS.isdisjoint(part)), None)
    return "" if first is None else f"a path has no wildcards: `{Path(*parts[:first])}` is all files in it and below"
