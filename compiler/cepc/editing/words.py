"""The words of the language, by what they are shown as."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Final

from cepc_grammar.pattern import PATTERN_WORDS
from cepc_grammar.units import UNITS
from cepc_runtime.sql.aggregate_functions import spellings

CONSTANTS: Final = ("FALSE", "NULL", "TRUE")
AGGREGATES: Final = tuple(sorted((*spellings(), "LAG", "LEAD", "PREV")))
TYPES: Final = (
    "ARRAY", "BIGINT", "BINARY", "BOOLEAN", "BYTE", "DATE", "DEC", "DECIMAL", "DOUBLE", "FLOAT", "INT", "INTEGER",
    "LONG", "MAP",
    "NUMERIC", "REAL", "SHORT", "SMALLINT", "STRING", "STRUCT", "TIMESTAMP", "TIMESTAMP_NTZ", "TINYINT",
)  # fmt: skip
DECLARES: Final = ("EVENT", "FUNCTION", "PATTERN", "QUERY", "STREAM", "TEST")
"""What a name follows that the statement declares."""


def keywords() -> tuple[str, ...]:
    """The words that the grammar knows, without those that have a kind of their own."""
    text = files("cepc_grammar").joinpath("cep.lark").read_text("utf-8")
    found = set(re.findall(r'"([A-Z][A-Z_]+)"', text))
    return tuple(sorted(found - PATTERN_WORDS - set(CONSTANTS) - set(TYPES)))


def operators() -> tuple[str, ...]:
    return tuple(sorted(PATTERN_WORDS))


def units() -> tuple[str, ...]:
    """What may stand after the number of a duration."""
    return tuple(sorted(UNITS))
