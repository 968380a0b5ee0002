"""How times are written in CSV and JSON, if not as ISO 8601: options by names, and with patterns, that Spark has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.time_patterns import is_portable, parts
from cepc_runtime.sql.types import DATE, TIMESTAMP, TIMESTAMP_NTZ

from .. import run_settings as settings
from .files import OptionError, no_option

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cepc_runtime.sql.types import DataType

TIME_OPTIONS: Final = ("timestampFormat", "timestampNTZFormat", "dateFormat")
_TYPES: Final = dict(zip(map(str.lower, TIME_OPTIONS), (TIMESTAMP, TIMESTAMP_NTZ, DATE), strict=True))

HINT: Final = (
    "patterns have yyyy, MM, M, dd, d, HH, H, mm, m, ss, s, S…, XXX, signs and 'text'; what else Spark reads, "
    f"{settings.ON_SPARK.of()} does"
)


@dataclass(frozen=True, slots=True)
class TimeFormats:
    """The patterns of types; values of the others are ISO 8601."""

    patterns: tuple[tuple[DataType, str], ...] = ()

    def of(self, type_: DataType) -> str | None:
        return next((pattern for of, pattern in self.patterns if of == type_), None)


ISO: Final = TimeFormats()


def is_time_option(name: str) -> bool:
    return name.lower() in _TYPES


def time_formats(given: Iterable[tuple[str, str]]) -> TimeFormats:
    """Of options that all are of times. Raises OptionError.

    >>> time_formats([("dateFormat", "dd.MM.yyyy")]).of(DATE)
    'dd.MM.yyyy'
    >>> time_formats([("dateFormat", "DD.MM.YYYY")])
    Traceback (most recent call last):
      ...
    cepc.reading.files.OptionError: dateFormat `DD.MM.YYYY` is no pattern that is read here
    """
    found: dict[DataType, str] = {}
    for name, pattern in given:
        if not is_time_option(name):
            raise no_option(name, TIME_OPTIONS)
        type_ = _TYPES[name.lower()]
        _check(name, pattern, type_)
        found[type_] = pattern
    return TimeFormats(tuple(found.items()))


def _check(name: str, pattern: str, type_: DataType) -> None:
    said = parts(pattern)
    meant = next((other for other in _meant(pattern) if other != pattern and is_portable(other)), None)
    hint = f"did you mean `{meant}`?" if meant else HINT
    if said is None:
        raise OptionError(f"{name} `{pattern}` is no pattern that is read here", hint)
    if "day" in said and "month" not in said:
        raise OptionError(f"{name} `{pattern}` has a day and no month", hint)
    if type_ != TIMESTAMP and "offset" in said:
        without = pattern.replace("XXX", "").rstrip()
        raise OptionError(f"{name} has no zone, and `{pattern}` has", f"declare a TIMESTAMP, or write `{without}`")
    if type_ == DATE and "year" not in said:
        raise OptionError(f"{name} has a year, and `{pattern}` has none", "declare a STRING and compute a column of it")


_OF_STRPTIME: Final = {
    "%Y": "yyyy", "%m": "MM", "%d": "dd", "%H": "HH", "%M": "mm", "%S": "ss", "%f": "SSSSSS", "%z": "XXX",
}  # fmt: skip


def _meant(pattern: str) -> Iterable[str]:
    """Of somebody who wrote letters of another case, or what Python has for them."""
    yield re.sub("%[a-zA-Z]", lambda found: _OF_STRPTIME.get(found[0], found[0]), pattern)
    cased = re.sub("Y+", "yyyy", pattern.replace("D", "d").replace("yyyy", "Y"))
    cased = re.sub(r"(?<=HH)([^A-Za-z]?)MM", r"\1mm", cased)
    cased = re.sub(r"(?<=mm)([^A-Za-z]?)SS", r"\1ss", cased)
    yield cased
    yield re.sub(r"(?<=yyyy.)mm|(?<=dd.)mm|mm(?=.?yyyy)", "MM", cased)
