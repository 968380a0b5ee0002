"""LIKE and regular expressions: Spark's, which are Java's, as Python's."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final


class PatternError(ValueError):
    """A pattern that is malformed, or that only Java can read."""


class SparkPatternError(PatternError):
    """A pattern that only Java can read."""


@lru_cache(maxsize=1024)
def like(pattern: str, escape: str, *, ignore_case: bool) -> re.Pattern[str]:
    """`%` is any text and `_` any character; the escape makes the next one of these, or itself, plain."""
    parts: list[str] = []
    characters = iter(pattern)
    for c in characters:
        if c == escape:
            following = next(characters, None)
            if following not in ("%", "_", escape):
                raise PatternError(
                    f"the escape character {escape} stands before %, _ or itself in a LIKE pattern: '{pattern}'"
                )
            parts.append(re.escape(following))
        else:
            parts.append(".*" if c == "%" else "." if c == "_" else re.escape(c))
    return re.compile("".join(parts), re.DOTALL | (re.IGNORECASE if ignore_case else 0))


# ---- regular expressions ---------------------------------------------------------------------------------------------

_LINE_ENDS: Final = "\n\r\u0085\u2028\u2029"

_ESCAPES: Final = {
    "h": r"[ \t\u00a0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000]",
    "H": r"[^ \t\u00a0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000]",
    "v": r"[\n\x0b\f\r\x85\u2028\u2029]",
    "V": r"[^\n\x0b\f\r\x85\u2028\u2029]",
    "R": r"(?:\r\n|[\n\x0b\f\r\x85\u2028\u2029])",
    "e": r"\x1b",
    "z": r"\Z",
    "Z": rf"(?=(?:\r\n|[{_LINE_ENDS}])?\Z)",
}
_INSIDE: Final = {
    "h": r" \t\u00a0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000",
    "v": r"\n\x0b\f\r\x85\u2028\u2029",
    "e": r"\x1b",
}
_POSIX: Final = {
    "Lower": "a-z", "Upper": "A-Z", "ASCII": r"\x00-\x7f", "Alpha": "a-zA-Z", "Digit": "0-9", "Alnum": "a-zA-Z0-9",
    "Punct": r"!-/:-@\[-`{-~", "Graph": "!-~", "Print": " -~", "Blank": r" \t", "Cntrl": r"\x00-\x1f\x7f",
    "XDigit": "0-9a-fA-F", "Space": r" \t\n\x0b\f\r",
}  # fmt: skip
_SAME: Final = frozenset("dDwWsSbBAtnrfax0123456789uU")
"""Letters and digits that mean the same after a backslash in both languages (under re.ASCII)."""


@lru_cache(maxsize=1024)
def regex(pattern: str) -> re.Pattern[str]:
    """The pattern as `java.util.regex` reads it; PatternError where Python has no equivalent."""
    translation = _Translation(pattern)
    translated = translation.translate()
    try:
        return re.compile(translated, re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        if "look-behind" in str(error):
            raise translation.refuse() from None
        raise PatternError(f"this is no regular expression: '{pattern}' ({error})") from None


class _Translation:
    """Reads a Java pattern from left to right and writes Python's."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
        self.ignoring = [0]
        """For each group that is open, and for the whole, how often `(?i)` stood in it."""

    def translate(self) -> str:
        parts: list[str] = []
        while self.position < len(self.pattern):
            parts.append(self._one(self.pattern[self.position]))
        return "".join(parts) + ")" * self.ignoring[0]

    def _one(self, c: str) -> str:
        match c:
            case "\\":
                return self._escape()
            case "[":
                return self._set()
            case "(":
                return self._group()
            case ")" if len(self.ignoring) > 1:
                self.position += 1
                return ")" * (self.ignoring.pop() + 1)
            case "|":
                self.position += 1
                return ")" * self.ignoring[-1] + "|" + "(?i:" * self.ignoring[-1]
            case ".":
                self.position += 1
                return f"[^{_LINE_ENDS}]"
            case "$":
                self.position += 1
                return _ESCAPES["Z"]
        self.position += 1
        return c

    def refuse(self) -> PatternError:
        return SparkPatternError(f"only Spark reads the regular expression '{self.pattern}'")

    def _escape(self, *, inside: bool = False) -> str:
        letter = self.pattern[self.position + 1 : self.position + 2]
        if letter == "Q":
            return self._quoted()
        if letter == "p" or letter == "P":
            return self._property(inside=inside)
        self.position += 2
        table = _INSIDE if inside else _ESCAPES
        if letter in table:
            return table[letter]
        if letter in _SAME or not (letter.isalnum() and letter.isascii()):
            if letter == "":
                raise PatternError(f"this is no regular expression: '{self.pattern}' ends with a backslash")
            return "\\" + letter
        raise self.refuse()

    def _quoted(self) -> str:
        end = self.pattern.find(r"\E", self.position)
        stop = len(self.pattern) if end < 0 else end
        text = self.pattern[self.position + 2 : stop]
        self.position = stop + 2
        return re.escape(text)

    def _property(self, *, inside: bool) -> str:
        found = re.compile(r"\\[pP]\{(\w+)\}").match(self.pattern, self.position)
        if found is None or found[1] not in _POSIX:
            raise self.refuse()
        self.position = found.end()
        negated = found[0][1] == "P"
        if inside and negated:
            raise self.refuse()
        return _POSIX[found[1]] if inside else f"[{'^' if negated else ''}{_POSIX[found[1]]}]"

    def _set(self) -> str:
        """A character class; unions and intersections of classes are Java's alone."""
        self.position += 1
        parts = ["["]
        if self.pattern.startswith("^", self.position):
            parts.append("^")
            self.position += 1
        first = True
        while self.position < len(self.pattern):
            c = self.pattern[self.position]
            if c == "]" and not first:
                self.position += 1
                return "".join(parts) + "]"
            if c == "[" or self.pattern.startswith("&&", self.position):
                raise self.refuse()
            if c == "]":
                raise self.refuse()  # Java takes it as the end of an empty class
            if c == "\\":
                parts.append(self._escape(inside=True))
            else:
                parts.append("\\" + c if c in "&~|" else c)
                self.position += 1
            first = False
        raise PatternError(f"this is no regular expression: '{self.pattern}' has a [ without ]")

    def _group(self) -> str:
        named = re.compile(r"\(\?<([a-zA-Z][a-zA-Z0-9]*)>").match(self.pattern, self.position)
        flags = re.compile(r"\(\?([a-zA-Z-]+)([:)])").match(self.pattern, self.position)
        if flags is not None:
            return self._flags(flags)
        self.ignoring.append(0)
        self.position += 1 if named is None else len(named[0])
        return "(" if named is None else f"(?P<{named[1]}>"

    def _flags(self, flags: re.Match[str]) -> str:
        """`(?i:…)`, and `(?i)`, which holds up to the end of its group: in Python's words it is a group in each of the
        alternatives to come.
        """
        if set(flags[1]) - {"i"}:
            raise self.refuse()
        self.position = flags.end()
        if flags[2] == ":":
            self.ignoring.append(0)
        else:
            self.ignoring[-1] += 1
        return "(?i:"


def is_portable(pattern: str) -> bool:
    """Whether a regular expression means the same in every engine."""
    try:
        regex(pattern)
    except PatternError:
        return False
    return True


def malformed(pattern: str) -> str | None:
    """What is wrong with a regular expression that no engine reads."""
    try:
        regex(pattern)
    except SparkPatternError:
        return None
    except PatternError as error:
        return str(error)
    return None
