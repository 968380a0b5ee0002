"""Texts that nobody would write: bytes, soups of tokens, valid programs that were broken, and nesting without end.

`python -m tests.fuzz programs --minutes 60 --seed 7` goes on for an hour; so do names, events and checkpoints.
Drawn from `random.Random`, which is much faster than Hypothesis; a failure is made small by `smallest`.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from cepc_grammar.source import Source
from cepc_grammar.tokens import tokenize
from tests.generators import KEYWORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

HERE = Path(__file__).parent

_WORDS = """
a b x e T T1 kind at driver_id price COUNT SUM AVG FIRST LAST PREV COLLECT std time trip rides Travel Pickup
INT BIGINT STRING TIMESTAMP DOUBLE DECIMAL ARRAY MAP STRUCT PARQUET MINUTES SECONDS DAY ms h month
( ) [ ] { } < > , . ; : :: + - * / % & | ^ ~ = == <> != <=> <= >= << >> >>> || ? ( ) ( ) , , ; ; -> => \\ @ # $ !
0 1 5 20 1.5 .5 5. 1e3 1e999 1L 2BD 1x 99999999999999999999 007
"""
_VOCABULARY = (
    *KEYWORDS, *(word.lower() for word in KEYWORDS), *_WORDS.split(),
    "'a'", "'it''s'", "'\\''", "''", '"b"', "'", '"', "`", "`q`", "`a``b`", "X'1F'", "x'zz'", "r'\\d'", "'./mine.cep'",
    "-- c\n", "--", "/* c */", "/*", "*/", "\n", "\n\n", "\r\n", "\t", "\0", "\ufeff", "é", "名", "\U0001f600", "\u202e", "\ud800",
)  # fmt: skip


@cache
def valid() -> tuple[str, ...]:
    """Whole programs to break: examples, the standard library, the programs of the golden tests, right and wrong."""
    root = HERE.parent
    files = sorted(
        file
        for folder in (HERE / "golden_diagnostics", root / "examples", root / "stdlib" / "cepc_stdlib")
        for file in folder.glob("**/*.cep")
    )
    texts = [
        case for file in sorted((HERE / "formatting").glob("*.txt")) for case in file.read_text("utf-8").split("==== ")
    ]
    return (*(file.read_text("utf-8", errors="replace") for file in files), *(t.partition("\n")[2] for t in texts))


@cache
def _tokens(text: str) -> tuple[str, ...]:
    """A text as tokens and the spaces and comments between them, so that joined they are the text again."""
    found = tokenize(Source("", text)).tokens
    ends = [0, *(t.end for t in found)]
    parts = [p for t, end in zip(found, ends, strict=False) for p in (text[end : t.start], t.text)]
    return tuple(p for p in (*parts, text[ends[-1] :]) if p)


def bytes_at_random(random: Random) -> bytes:
    size = random.choice((0, 1, 3, 20, 200))
    match random.randrange(4):
        case 0:
            return random.randbytes(size)
        case 1:  # ASCII, mostly
            return bytes(random.choices(range(1, 128), k=size))
        case 2:  # text in another encoding
            return random.choice(valid()).encode(
                random.choice(("utf-16", "utf-16-le", "latin-1", "utf-8-sig")), "replace"
            )
        case _:  # a program with wrong bytes in it
            data = bytearray(random.choice(valid()).encode())
            for _ in range(random.randrange(1, 4)):
                data[random.randrange(len(data) + 1) :][:0] = random.randbytes(1)
                if data:
                    data[random.randrange(len(data))] = random.randrange(256)
            return bytes(data)


def soup(random: Random) -> str:
    between = random.choice(("", " ", " ", " "))
    return between.join(random.choices(_VOCABULARY, k=random.choice((1, 3, 10, 30, 100))))


def broken(random: Random) -> str:
    """A valid program with a few tokens deleted, doubled, swapped, replaced, inserted or cut off, or with some of
    another.
    """
    parts = list(_tokens(random.choice(valid())))
    for _ in range(random.choice((1, 1, 2, 3, 8))):
        _break(parts, random)
    return "".join(parts)


def _break(parts: list[str], random: Random) -> None:
    if not parts:
        return
    i, j = random.randrange(len(parts)), random.randrange(len(parts))
    match random.randrange(8):
        case 0:
            del parts[i]
        case 1:
            parts.insert(i, parts[i])
        case 2:
            parts[i], parts[j] = parts[j], parts[i]
        case 3:
            parts[i] = random.choice(_VOCABULARY)
        case 4:
            parts.insert(i, random.choice(_VOCABULARY))
        case 5:
            del parts[i:]
        case 6:
            other = _tokens(random.choice(valid()))
            at = random.randrange(len(other) + 1)
            parts[i:j] = other[at : at + random.randrange(30)]
        case _:
            character = random.randrange(len(parts[i]) + 1)
            parts[i] = (
                parts[i][:character] + random.choice(_VOCABULARY)[:1] + parts[i][character + random.randrange(2) :]
            )


_NESTS = (
    ("QUERY q RETURN {} PATTERN A WITHIN 1 DAY;", "(", "x", ")"),
    ("QUERY q RETURN COUNT(*) PATTERN A WHERE {} WITHIN 1 DAY;", "NOT ", "x", ""),
    ("QUERY q RETURN COUNT(*) PATTERN A WHERE {} WITHIN 1 DAY;", "- ", "x", ""),
    ("QUERY q RETURN COUNT(*) PATTERN A WHERE {} WITHIN 1 DAY;", "", "x", " AND x"),
    ("QUERY q RETURN COUNT(*) PATTERN A WHERE {} WITHIN 1 DAY;", "", "x", " + 1"),
    ("QUERY q RETURN COUNT(*) PATTERN A WHERE {} WITHIN 1 DAY;", "f(", "x", ")"),
    ("QUERY q RETURN COUNT(*) PATTERN A WHERE {} WITHIN 1 DAY;", "CASE WHEN ", "x", " THEN 1 END"),
    ("QUERY q RETURN COUNT(*) PATTERN A WHERE {} WITHIN 1 DAY;", "x IN (", "x", ")"),
    ("QUERY q RETURN COUNT(*) PATTERN A WHERE {} WITHIN 1 DAY;", "a[", "x", "]"),
    ("QUERY q RETURN COUNT(*) PATTERN A WHERE {} WITHIN 1 DAY;", "CAST(", "x", " AS INT)"),
    ("QUERY q RETURN COUNT(*) PATTERN A WHERE {} WITHIN 1 DAY;", "", "x", ".x"),
    ("QUERY q RETURN COUNT(*) PATTERN A WHERE {} WITHIN 1 DAY;", "", "x", "[1]"),
    ("QUERY q RETURN COUNT(*) PATTERN A WHERE {} WITHIN 1 DAY;", "", "x", "::INT"),
    ("QUERY q RETURN COUNT(*) PATTERN A WHERE {} WITHIN 1 DAY;", "[", "x", "]"),
    ("QUERY q RETURN COUNT(*) PATTERN {} WITHIN 1 DAY;", "(", "A", ")"),
    ("QUERY q RETURN COUNT(*) PATTERN {} WITHIN 1 DAY;", "SEQ(", "A", ")+"),
    ("QUERY q RETURN COUNT(*) PATTERN {} WITHIN 1 DAY;", "AND(A, OR(", "A", ", B))"),
    ("QUERY q RETURN COUNT(*) PATTERN {} WITHIN 1 DAY;", "NOT ", "A", ""),
    ("QUERY q RETURN COUNT(*) PATTERN {} WITHIN 1 DAY;", "", "A", "+"),
    ("QUERY q RETURN COUNT(*) PATTERN SEQ({}) WITHIN 1 DAY;", "", "A", ", A"),
    ("STREAM s (a {});", "ARRAY<", "INT", ">"),
    ("STREAM s (a {});", "STRUCT<a: ", "INT", ">"),
    ("STREAM s ({});", "", "a INT", ", a INT"),
    ("EVENT a AS b WHERE x; {}", "EVENT a AS ", "b", ";"),
    ("{}", "/* ", "x", " */"),
    ("{}", "(", "", ""),
    ("{}", "SEQ(", "", ""),
    ("{}", "'", "", ""),
    ("{}", ";", "", ";"),
    ("{}", "IMPORT a;", "", ""),
    ("{}", "q\nRETURN x\n", "", "\n\n"),
)  # fmt: skip


def deep(random: Random) -> str:
    """Something nested many times in itself, closed again more or less often."""
    frame, left, core, right = random.choice(_NESTS)
    times = random.choice((10, 100, 149, 151, 151, 1000, 1000, 4000))
    closed = random.choice((times, times, times, times - 1, times + 1, 0))
    return frame.format(left * times + core + right * closed)


MAKERS: dict[str, Callable[[Random], str | bytes]] = {
    "bytes": bytes_at_random, "soup": soup, "broken": broken, "deep": deep
}  # fmt: skip


def smallest(text: str, fails: Callable[[str], bool], rounds: int = 400) -> str:
    """A shorter text that still fails: ever smaller runs of tokens are left out."""
    parts: Sequence[str] = re.findall(r"\w+|\s+|.", text, re.DOTALL)
    size = len(parts) // 2
    while size and rounds:
        at = 0
        while at < len(parts) and rounds:
            shorter = [*parts[:at], *parts[at + size :]]
            rounds -= 1
            if fails("".join(shorter)):
                parts = shorter
            else:
                at += size
        size //= 2
    return "".join(parts)


if __name__ == "__main__":
    import sys

    from tests.fuzzing import main

    sys.exit(main())
