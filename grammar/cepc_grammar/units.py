"""Units of time, by each way to write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import ast

_SPELLINGS: dict[ast.Unit, str] = {
    "MICROSECOND": "us microsecond microseconds",
    "MILLISECOND": "ms millisecond milliseconds",
    "SECOND": "s sec secs second seconds",
    "MINUTE": "m min mins minute minutes",
    "HOUR": "h hr hrs hour hours",
    "DAY": "d day days",
    "WEEK": "w week weeks",
    "MONTH": "month months",
    "YEAR": "y year years",
}
UNITS: dict[str, ast.Unit] = {word: unit for unit, words in _SPELLINGS.items() for word in words.split()}
