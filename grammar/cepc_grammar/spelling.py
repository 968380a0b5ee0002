"""Names, constants, durations and types as text: the parts of a program that no line break divides."""

from __future__ import annotations

import re
from typing import Any

from . import ast
from .pattern import PATTERN_WORDS, Repeat

_CLAUSE_WORDS = frozenset(
    {"RETURN", "PATTERN", "FROM", "WHERE", "GROUP", "GROUPBY", "GROUP_BY", "HAVING", "SELECT", "AFTER", "WITHIN"}
)

# What would be read as a keyword at the place of …
OPERAND = frozenset(
    {"NOT", "CASE", "WHEN", "CAST", "TRY_CAST", "EXTRACT", "INTERVAL", "TRUE", "FALSE", "NULL", "DISTINCT", "MATCH"}
    | {"EACH", "AS", "IS", "IN", "BETWEEN", "LIKE"}  # all but the first: behind CASE, say, they make it a name
)  # … an operand of an expression
EVENT_TYPE = PATTERN_WORDS  # … a type or named pattern within a pattern
ALIAS = PATTERN_WORDS | _CLAUSE_WORDS | {"WINDOW", "AS"}  # … an alias within a pattern, where a clause may follow
ARGUMENT = PATTERN_WORDS | {"TRUE", "FALSE", "NULL"}  # … an argument of a named pattern
STATEMENT = frozenset(
    {"IMPORT", "STREAM", "EVENT", "PATTERN", "FUNCTION", "QUERY", "TEST"}
)  # … the name of a bare query

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def name_text(name: ast.Name, reserved: frozenset[str] = frozenset()) -> str:
    """The name, in backquotes where it is no plain identifier or its place reserves it.

    >>> name_text(ast.Name("driver_id")), name_text(ast.Name("Not"), OPERAND), name_text(ast.Name("a`b"))
    ('driver_id', '`Not`', '`a``b`')
    """
    plain = _PLAIN.fullmatch(name.text) and name.text.upper() not in reserved
    return name.text if plain else "`" + name.text.replace("`", "``") + "`"


def dotted_text(parts: tuple[ast.Name, ...], reserved: frozenset[str] = frozenset()) -> str:
    """The parts joined by dots. Behind a dot nothing is reserved."""
    first, *others = parts
    return ".".join((name_text(first, reserved), *map(name_text, others)))


# ---- constants -------------------------------------------------------------------------------------------------------

_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b"}
_TO_ESCAPE = re.compile(
    "[\\\\'\x00-\x1f\x7f-\x9f"  # what delimits, and control characters
    "\u2028-\u202e\u2066-\u2069\ufeff"  # line separators and what turns the direction of text: not visible as written
    "\ud800-\udfff]"  # surrogates: no text file can hold them
)


def string_text(value: str) -> str:
    r"""A string literal that reads back as the value.

    >>> print(string_text("it's\n50 \\%"))
    'it\'s\n50 \\%'
    """
    return "'" + _TO_ESCAPE.sub(lambda found: _escaped(found.group()), value) + "'"


def _escaped(character: str) -> str:
    return _ESCAPES.get(character) or f"\\u{ord(character):04X}"


_SUFFIXES = {"bigint": "L", "smallint": "S", "tinyint": "Y", "float": "F"}


def literal_text(literal: ast.Literal) -> str:
    """A constant; a number gets a suffix where its digits alone would be read as another type.

    >>> [literal_text(ast.Literal("decimal", digits)) for digits in ("1.5", "2", "1e3")]
    ['1.5', '2BD', '1e3BD']
    >>> literal_text(ast.Literal("bigint", "7")), literal_text(ast.Literal("double", "1.5"))
    ('7L', '1.5D')
    """
    text = literal.text
    match literal.kind:
        case "null" | "boolean" | "integer":
            return text
        case "string":
            return string_text(text)
        case "binary":
            return f"X'{text}'"
        case "date" | "timestamp" | "timestamp_ntz":
            return f"{literal.kind.upper()} {string_text(text)}"
        case "decimal":
            return text if _reads_as(text) == "decimal" else text + "BD"
        case "double":
            return text if _reads_as(text) == "double" else text + "D"
        case kind:
            return text + _SUFFIXES[kind]


def _reads_as(digits: str) -> str:
    return "double" if "e" in digits.lower() else "decimal" if "." in digits else "integer"


# ---- durations and types ---------------------------------------------------------------------------------------------


def duration_text(duration: ast.Duration) -> str:
    """
    >>> duration_text(ast.Duration("1", "DAY")), duration_text(ast.Duration("0.5", "HOUR"))
    ('1 DAY', '0.5 HOURS')
    """
    return f"{duration.amount} {duration.unit}{'' if duration.amount in ('1', '-1') else 'S'}"


def type_text(type_: ast.TypeExpr) -> str:
    """
    >>> type_text(ast.TypeExpr("MAP", (), (ast.TypeExpr("STRING"), ast.TypeExpr("DECIMAL", (10, 2)))))
    'MAP<STRING, DECIMAL(10, 2)>'
    """
    text = name_text(ast.Name(type_.name))
    if type_.numbers:
        text += f"({', '.join(map(str, type_.numbers))})"
    inside = [type_text(p) for p in type_.parameters]
    inside += [f"{name_text(f.name)}: {type_text(f.type)}" for f in type_.fields]
    return f"{text}<{', '.join(inside)}>" if inside else text


def quantifier_text(repeat: Repeat[Any]) -> str:
    """How often, and whether rather seldom.

    >>> quantifier_text(Repeat("E", 1, None)), quantifier_text(Repeat("E", 2, 3, reluctant=True))
    ('+', '{2,3}?')
    """
    reluctant = "?" if repeat.reluctant else ""
    match repeat.least, repeat.most:
        case 1, None:
            return "+" + reluctant
        case 0, None:
            return "*" + reluctant
        case 0, 1:
            return "?" + reluctant
        case least, None:
            return f"{{{least},}}{reluctant}"
        case least, most if least == most:
            return f"{{{least}}}{reluctant}"
        case least, most:
            return f"{{{least},{most}}}{reluctant}"
