"""What a CSV file may have other than commas, double quotes, UTF-8 and ISO 8601: options by the names of Spark's."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Any, Final

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.types import FLOATS, Decimal

from .files import OptionError, no_option
from .time_formats import ISO, TIME_OPTIONS, TimeFormats, is_time_option, time_formats

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cepc_runtime.sql.types import DataType

    from .files import DataFile

TAB: Final = r"\t"
"""How a tab is written where it cannot be seen, as for Spark."""


@dataclass(frozen=True, slots=True)
class CsvOptions:
    """`nulls` are texts that stand for null besides the empty one, `decimal` is what DOUBLE, FLOAT and DECIMAL have for
    a point.
    """

    delimiter: str = ","
    quote: str = '"'
    nulls: tuple[str, ...] = ()
    decimal: str = "."
    encoding: str = "utf8"
    times: TimeFormats = ISO

    @property
    def is_utf8(self) -> bool:
        return codecs.lookup(self.encoding).name == "utf-8"

    @property
    def python_encoding(self) -> str:
        """A mark at the beginning of UTF-8 is none of the text."""
        return "utf-8-sig" if self.is_utf8 else self.encoding

    def with_point(self, column: Any, type_: DataType) -> Any:
        """Numbers as text, with a point for what the file has."""
        import pyarrow.compute as pc

        if self.decimal == "." or not (type_ in FLOATS or isinstance(type_, Decimal)):
            return column
        # A point is no number's then: what it parts are thousands, which are not read here as they are not with commas.
        marked = pc.replace_substring(column, ".", "\N{REPLACEMENT CHARACTER}")
        return pc.replace_substring(marked, self.decimal, ".")


def options_of(file: DataFile) -> CsvOptions:
    return csv_options(file.options)


def csv_options(given: Iterable[tuple[str, str]]) -> CsvOptions:
    """Raises OptionError.

    >>> csv_options([("sep", ";"), ("nullValue", "NA")])
    CsvOptions(delimiter=';', quote='"', nulls=('NA',), decimal='.', encoding='utf8', times=TimeFormats(patterns=()))
    """
    found: dict[str, Any] = {}
    times = []
    for name, value in given:
        match name.lower():
            case "delimiter" | "sep":
                found["delimiter"] = "\t" if value == TAB else _mark(name, value)
            case "quote":
                found["quote"] = _mark(name, value)
            case "nullvalue":
                found["nulls"] = (*found.get("nulls", ()), value)
            case "decimal":
                if value not in (".", ","):
                    raise OptionError(f"decimal is `.` or `,`, not `{value}`")
                found["decimal"] = value
            case "encoding" | "charset":
                found["encoding"] = _encoding(value)
            case "multiline":
                pass  # a quoted value may have line breaks here in any case
            case _ if is_time_option(name):
                times.append((name, value))
            case _:
                raise no_option(name, NAMES)
    options = CsvOptions(**found, times=time_formats(times))
    if options.delimiter == options.quote:
        raise OptionError(f"delimiter and quote are both `{options.quote}`")
    return options


NAMES: Final = ("delimiter", "quote", "nullValue", "decimal", "encoding", "multiLine", *TIME_OPTIONS)


def _mark(name: str, value: str) -> str:
    if len(value) != 1 or not value.isascii() or value in "\r\n":
        hint = f"write one, such as `{name}=;`" if name.lower() != "quote" else "write one, such as `'`"
        raise OptionError(f"{name} is one character of ASCII, and not `{value}`", hint)
    return value


def _encoding(name: str) -> str:
    try:
        return codecs.lookup(name).name
    except LookupError:
        raise OptionError(f"there is no encoding `{name}`; utf-8, latin-1, cp1252 and utf-16 are some") from None
