"""Where events are: a path, the bytes of a file, and the text in it."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from typing import TYPE_CHECKING, Any, Final

from cepc_runtime.cheap_dataclass import dataclass

from ..diagnostics.near import nearest
from ..errors import DataError
from . import messages

if TYPE_CHECKING:
    from collections.abc import Sequence

MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2", b"\x04\x22\x4d\x18": "lz4"}
"""What compressed text begins with."""


@dataclass(frozen=True, slots=True)
class EventSource:
    """A path of events: a file, a directory, or `-` for standard input. `format` is None where the names of the files
    say it. `options` say how it is written.
    """

    path: str
    format: str | None = None
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of events. `data` is its content where it is not on a disk (a pipe), `size` is in bytes.

    `partitions` are the columns that the folders around it name; None stands for null. `options` say how its format is
    written.
    """

    name: str
    compression: str | None
    size: int
    partitions: tuple[tuple[str, str | None], ...] = ()
    data: bytes | None = None
    options: tuple[tuple[str, str], ...] = ()

    def open_raw(self) -> Any:
        """A pyarrow file of the bytes as they are. Raises DataError."""
        import pyarrow as pa

        try:
            return pa.BufferReader(self.data) if self.data is not None else pa.OSFile(os.fsencode(self.name), "rb")
        except OSError as error:
            raise DataError([messages.unreadable(self.name, reason(error))]) from None

    def starts_with(self, first: bytes) -> bool:
        with self.open_raw() as raw:
            return bytes(raw.read(len(first))) == first

    def ends_with(self, last: bytes) -> bool:
        with self.open_raw() as raw:
            raw.seek(max(raw.size() - len(last), 0))
            return bytes(raw.read(len(last))) == last


class OptionError(ValueError):
    """An option that there is not, or a value that it cannot have; the text says which, `hint` what helps."""

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.hint = hint


def no_option(name: str, names: Sequence[str]) -> OptionError:
    """Of an option `name` where there are others."""
    meant = _MEANT.get(name.lower())
    meant = meant if meant in names else nearest(name, names)
    hint = f"did you mean `{meant}`?" if meant else "leave it out"
    if name.lower() == "header" and "delimiter" in names:
        hint = "leave it out: the first line of a CSV file is its header in any case"
    return OptionError(f"there is no option `{name}`; there are {', '.join(names)}", hint)


_MEANT: Final = {
    "separator": "delimiter", "delim": "delimiter", "fieldseparator": "delimiter", "field_delimiter": "delimiter",
    "quotechar": "quote", "quote_char": "quote", "na_values": "nullValue", "null": "nullValue", "nullstr": "nullValue",
    "decimal_separator": "decimal", "decimal_point": "decimal",
}  # fmt: skip
"""What others call an option of CSV, in lower case."""


def reason(error: OSError) -> str:
    """What went wrong, without the number and the name that Python and pyarrow put around it."""
    text = error.strerror or str(error)
    for said in ("Permission denied", "Is a directory", "No such file or directory", "Input/output error"):
        if said in text:
            return said
    return text.splitlines()[0] if text else type(error).__name__


def unread(file: DataFile, error: OSError) -> DataError:
    """What is said where the text in a file cannot be read."""
    magic = next((magic for magic, name in MAGIC.items() if name == file.compression), None)
    if magic is not None and not file.starts_with(magic):
        return DataError([messages.not_compressed(file.name, MAGIC[magic])])
    return DataError([messages.unreadable(file.name, reason(error))])


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
        except (gzip.BadGzipFile, zlib.error) as error:
            raise OSError(f"it is damaged ({error})") from None


def read_head(file: DataFile, size: int = 1 << 20) -> bytes:
    """The first bytes of the text in a file."""
    raw, stream = open_text(file)
    with raw:
        try:
            return bytes(stream.read(size))
        except OSError as error:
            raise unread(file, error) from None
