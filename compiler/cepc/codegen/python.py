"""Python text, laid out as ruff formats it: a call on one line where it fits, else one argument a line."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

WIDTH: Final = 120


@dataclass(frozen=True, slots=True)
class Code:
    """Python text as it stands: names, numbers, operators; made by the code generator, never by a user."""

    text: str


@dataclass(frozen=True, slots=True)
class Brackets:
    """`opening`, items parted by commas, `closing`: a call, a list, a tuple, a dictionary."""

    opening: str
    items: tuple[PythonText, ...]
    closing: str
    lone_comma: bool = False  # a tuple of one


@dataclass(frozen=True, slots=True)
class Labelled:
    """`name=value` or `key: value`."""

    label: str
    value: PythonText


PythonText = Code | Brackets | Labelled


def call(function: str, *arguments: PythonText, **named: PythonText) -> Brackets:
    return Brackets(f"{function}(", (*arguments, *(Labelled(f"{k}=", v) for k, v in named.items())), ")")


def listed(items: Iterable[PythonText]) -> Brackets:
    return Brackets("[", tuple(items), "]")


def tupled(items: Iterable[PythonText]) -> Brackets:
    found = tuple(items)
    return Brackets("(", found, ")", lone_comma=len(found) == 1)


def mapped(items: Iterable[tuple[str, PythonText]]) -> Brackets:
    return Brackets("{", tuple(Labelled(f"{string(k).text}: ", v) for k, v in items), "}")


def string(text: str) -> Code:
    """A string literal of one line: whatever the text holds, it stays inside.

    >>> print(string('it\\'s so').text, string('it\\'s "so"').text)
    "it's so" 'it\\'s "so"'
    """
    quote = "'" if text.count('"') > text.count("'") else '"'
    return Code(quote + "".join(_escaped(c, quote) for c in text) + quote)


_ESCAPES: Final = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _escaped(character: str, quote: str = "") -> str:
    if character == quote:
        return "\\" + character
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def comment(text: str) -> str:
    """A line of comment: what could end the line, or be shown as other than it is, is escaped."""
    return f"# {''.join(c if c.isprintable() or c == ' ' else _escaped(c) for c in text)}".rstrip()


def long_string(name: str, text: str, cuts: Iterable[int] = ()) -> str:
    """`NAME = (…)` with the text in pieces that fit a line; new lines begin at `cuts` too."""
    bounds = sorted({0, *cuts, len(text)})
    pieces = []
    for start, end in pairwise(bounds):
        pieces += [text[i : min(i + 100, end)] for i in range(start, end, 100)]
    if len(pieces) <= 1:
        return f"{name} = {string(text).text}"
    return "\n".join([f"{name} = (", *(f"    {string(piece).text}" for piece in pieces), ")"])


def identifier(text: str) -> str:
    """ASCII, lower case: for a part of a name."""
    word = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    return word if word and not word[0].isdigit() else f"s_{word}".rstrip("_")


# ---- layout ----------------------------------------------------------------------------------------------------------


def lay_out(node: PythonText, indent: int = 0, before: str = "", after: str = "") -> str:
    """The node as text, after `before` on its first line and before `after` on its last; both are part of the width."""
    flat = f"{before}{one_line(node)}{after}"
    if indent + len(flat) <= WIDTH or isinstance(node, Code):
        return flat
    if isinstance(node, Labelled):
        return lay_out(node.value, indent, before + node.label, after)
    if not node.items:
        return flat
    pad = " " * (indent + 4)
    lines = [f"{before}{node.opening}", *(f"{pad}{lay_out(item, indent + 4, after=',')}" for item in node.items)]
    return "\n".join([*lines, f"{' ' * indent}{node.closing}{after}"])


def one_line(node: PythonText) -> str:
    match node:
        case Code(text):
            return text
        case Labelled(label, value):
            return label + one_line(value)
        case Brackets(opening, items, closing, lone_comma):
            return f"{opening}{', '.join(map(one_line, items))}{',' if lone_comma else ''}{closing}"
