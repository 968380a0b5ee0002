"""What is said about files: the E00 family. Each function makes one diagnostic."""

from __future__ import annotations

import errno
import os
from shlex import quote

from cepc_grammar.diagnostic import Diagnostic
from cepc_grammar.source import Span

from .. import run_settings as settings


def _about(code: str, title: str, name: str, *notes: str, hint: str = "", at: tuple[int, int] = (0, 0)) -> Diagnostic:
    return Diagnostic(code, title, Span(*at, name), notes=notes, hint=hint)


def missing(
    name: str, near: str | None = None, directory: str | None = None, programs: tuple[str, ...] = ()
) -> Diagnostic:
    """`near` is a file that may be meant, `directory` is missing as well, `programs` lie where the file does not."""
    notes = (f"the directory `{directory}` does not exist either",) if directory else ()
    hint = "name the file that holds the program, or `-` for standard input"
    if near:
        hint = f"did you mean `{near}`?"
    elif programs:
        more = f" and {len(programs) - 5} more" if len(programs) > 5 else ""
        hint = f"the programs there are {', '.join(f'`{program}`' for program in programs[:5])}{more}"
    return _about("E0001", f"there is no file `{name}`", name, *notes, hint=hint)


_EVENTS = "events are named by `--events {}`, or by FROM in the STREAM"


def directory(name: str, has_programs: bool) -> Diagnostic:
    inside = name.rstrip("/") + "/*.cep"
    hint = f"name the files in it: `{inside}`" if has_programs else "name a file that holds a program"
    hint += "" if has_programs else f"; {_EVENTS.format(quote(name))}"
    return _about("E0002", f"`{name}` is a directory, not a program", name, hint=hint)


def unreadable(name: str, reason: str, hint: str = "") -> Diagnostic:
    if reason == "Permission denied":
        hint = f"its owner can allow it: `chmod a+r {name}`"
    return _about("E0003", f"`{name}` cannot be read: {reason}", name, hint=hint)


def no_program(name: str) -> Diagnostic:
    return _about(
        "E0003", f"`{name}` does not have the name of a program", name, hint="import a file whose name ends with `.cep`"
    )


def binary(name: str, kind: str | None) -> Diagnostic:
    """`kind` says what the file is, where its first bytes tell."""
    what = kind or "a binary file"
    return _about(
        "E0004",
        f"`{name}` is {what}, not program text",
        name,
        "a program is UTF-8 text; this file has NUL bytes, which no text has",
        hint=f"name the file that holds the queries; {_EVENTS.format(quote(name))}",
    )


def text_of_events(name: str, kind: str) -> Diagnostic:
    """Of a file whose name says what it is."""
    title, hint = f"`{name}` is {kind}, not program text", "name the file that holds the queries"
    return _about("E0004", title, name, hint=f"{hint}; {_EVENTS.format(quote(name))}")


def utf16(name: str) -> Diagnostic:
    return _about(
        "E0005",
        f"`{name}` is UTF-16 text; a program requires UTF-8",
        name,
        hint=f"save it as UTF-8 in the editor, or convert it: `iconv -f UTF-16 -t UTF-8 {name}`",
    )


def not_utf8(name: str, byte: int, offset: int, at: tuple[int, int]) -> Diagnostic:
    """`at` is the place in the text as it reads with a mark in place of each wrong byte."""
    return Diagnostic(
        "E0005",
        f"`{name}` is not UTF-8 text",
        Span(*at, name),
        label=f"byte 0x{byte:02X} at offset {offset} begins no UTF-8 character",
        hint=f"save it as UTF-8 in the editor, or convert it: `iconv -f LATIN1 -t UTF-8 {name}`",
    )


def twice(name: str, first: str) -> Diagnostic:
    same = "" if name == first else f", it is the same file as `{first}`"
    return _about("W0006", f"`{name}` is given twice{same}", name, hint="leave one of the two out")


def empty(name: str, blank: bool) -> Diagnostic:
    """A file without a statement; `blank` where it does not even have comments."""
    what = "is empty" if blank else "holds only comments"
    return _about(
        "W0007",
        f"`{name}` {what}: there is nothing to do",
        name,
        hint="write a STREAM and a QUERY; `cepc explain W0007` shows a small program",
    )


def unwritable(name: str, error: OSError | ValueError) -> Diagnostic:
    number = getattr(error, "errno", None)
    reason = os.strerror(number) if number else str(error)
    full = number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    hint = "free some space, or name another place" if full else "name another directory, or allow writing to this one"
    if number == errno.EISDIR:
        hint = "that is a directory, and a file is to be written: give the name of a file, or another place"
    elif number == errno.ENOENT:
        hint = f"make its directory first: `mkdir -p {quote(os.path.dirname(name) or '.')}`"  # noqa: PTH120
    if name == "<stdout>":
        hint = "free some space where it is written to" if full else ""
    return _about("E0008", f"the results cannot be written to `{name}`: {reason}", name, hint=hint)


def not_replaced(name: str, what: str) -> Diagnostic:
    title = f"`{name}` is not written over: it is no {what}"
    return _about("E0008", title, name, hint="name another file; what is in this one would be lost")


def among_events(name: str, what: str, other: str) -> Diagnostic:
    """`other` is what is to be named instead."""
    title = f"{what} cannot be written to `{name}`, which is among the events"
    return _about("E0008", title, name, hint=f"name a {other} outside of {settings.NAMED_EVENTS.of()}")


def sql_text(name: str) -> Diagnostic:
    return Diagnostic(
        "E0956", f"`{name}` is a SQL text", Span(0, 0, name), notes=("MATCH_RECOGNIZE in SQL is no program of cepc's",),
        hint="`cepc check`, `cepc explain` and `cepc run` take SQL texts, and `cepc.sql(spark, text)` of Python does",
    )  # fmt: skip
