"""Text to tokens: words, quoted names, numbers, strings, operators; comments aside. Never fails: what is no token
becomes UNKNOWN.

Whether a word is a keyword is not decided here but in `keywords.py`, where the parser's state is known.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

from .diagnostic import Diagnostic
from .raw_tokens import Comments, RawToken
from .source import Source, Span
from .statements import split_statements

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Tokens:
    """Of a statement that is too long only the first tokens; `too_long` has where each such one begins."""

    tokens: tuple[RawToken, ...]
    comments: Comments
    diagnostics: tuple[Diagnostic, ...]
    too_long: tuple[int, ...] = ()


MAX_TOKENS = 250_000  # of a statement: to parse so many takes seconds and some hundred MB
_KEPT = 4  # tokens of a statement that is too long, for what it declares
_HALVES = 10_000  # mistakes about half characters that are kept: nobody reads more

_SQL_STRING = r"""'(?:[^'\\]|\\.|'')*+'|"(?:[^"\\]|\\.|"")*+"|`(?:[^`\n]|``)++`"""
# Not repeated possessively as a whole: before 3.11.5 Python then keeps what an alternative has looked at in vain.
_BEFORE_SEMICOLON = re.compile(rf"[^;'\"`/\\-]++|\\.|{_SQL_STRING}|--[^\n]*+|[-\\]|/(?!\*)", re.DOTALL)

_TOKEN_TEXT = r"""
    \s*+
    (?:
      (?P<LINE_COMMENT>--[^\n]*)
    | (?P<BLOCK_COMMENT>/\*)
    | (?P<BINARY>[xX]'[^'\n]*')
    | (?P<STRING>[rR]'[^'\n]*'|[rR]"[^"\n]*"|'(?:[^'\\]|\\.|'')*+'|"(?:[^"\\]|\\.|"")*+")
    | (?P<QUOTED>`(?:[^`\n]|``)++`)
    | (?P<WORD>[^\W\d]\w*)
    | (?P<NUMBER>(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?[A-Za-z_]*)
    | (?P<OPERATOR>>>>|<=>|>>|<<|<=|>=|<>|!=|==|\|\||::|->|=>|[-+*/%=<>&|^~!(),;.\[\]{}?:])
    | (?P<UNKNOWN>.)
    | (?P<END>\Z)
    )
    """


@cache
def _token(without_end: frozenset[str] = frozenset()) -> re.Pattern[str]:
    """Behind a quote that nothing closes, a quote of its kind is closed by those beside it or by none: what follows is
    not read once more for each of them.
    """
    text = _TOKEN_TEXT
    for quote in without_end:
        text = text.replace(rf"(?:[^{quote}\\]|\\.|{quote}{quote})*+", f"(?:{quote}{quote})*+")
    return re.compile(text, re.VERBOSE | re.DOTALL)


# What is read from left to right as in a string: two halves that belong together, a half, or another escape.
_HIGH, _LOW = r"\\[uU](?:0000)?[dD][89abAB][0-9a-fA-F]{2}", r"\\[uU](?:0000)?[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPED_HALF = re.compile(rf"{_HIGH}{_LOW}|(?P<half>{_HIGH}|{_LOW}|[\ud800-\udfff])|\\[^\ud800-\udfff]")

_OPEN_ENDED = {"'": "string", '"': "string", "`": "quoted name"}
_OVER_LINES = frozenset("'\"")


def tokenize(source: Source) -> Tokens:
    """All tokens of a source, its comments, and a diagnostic for each thing that was opened and never closed."""
    text = source.text
    tokens: list[RawToken] = []
    comments = Comments(source)
    diagnostics: list[Diagnostic] = []
    too_long: list[int] = []
    position, line_begins = 0, True
    texts: dict[str, str] = {}  # a word that stands in many places is kept once
    has_halves = _SURROGATE.search(text) is not None
    match, without_end, first = _token().match, frozenset[str](), 0  # the first token of the statement
    unclosed = -1  # where the last thing without an end began: a statement that has one is long because of it
    while True:
        found = match(text, position)
        assert found is not None
        kind = found.lastgroup
        assert kind is not None  # UNKNOWN is any character
        if kind == "END":
            break
        start, end = found.span(kind)
        line_begins = line_begins or (start > position and "\n" in text[position:start])
        word = text[start:end]
        if kind == "LINE_COMMENT":
            comments.add(start, end)
        elif kind == "BLOCK_COMMENT":
            end, closed = _block_comment_end(text, start)
            comments.add(start, end)
            if not closed:
                unclosed = start
                diagnostics.append(_never_closed("comment", Span(start, start + 2, source.name), "*/"))
        elif kind == "UNKNOWN" and word in _OPEN_ENDED:
            quote, unclosed = word, start
            diagnostics.append(_never_closed(_OPEN_ENDED[quote], Span(start, start + 1, source.name), quote))
            end = line_end(text, start)  # go on with the next line, so that later mistakes are found too
            tokens.append(RawToken("STRING" if quote != "`" else "QUOTED", text[start:end], start, end, line_begins))
            line_begins = False
            without_end |= {quote} & _OVER_LINES
            match = _token(without_end).match
        else:
            tokens.append(RawToken(kind, texts.setdefault(word, word), start, end, line_begins))  # type: ignore[arg-type]
            line_begins = False
            if word == ";":
                first = len(tokens)
        if has_halves and kind != "UNKNOWN" and _SURROGATE.search(text, start, end) is not None:
            diagnostics += islice(_halves(text, start, end, source.name), _HALVES)
        if len(tokens) - first > MAX_TOKENS:
            first = len(tokens) - len(split_statements(source, tuple(tokens[first:]))[-1].tokens)  # bare queries
            if len(tokens) - first > MAX_TOKENS:
                begin = tokens[first].start
                too_long.append(begin)
                if unclosed < begin:
                    diagnostics.append(_too_long(Span(begin, tokens[first + 1].end, source.name)))
                del tokens[first + _KEPT :]
                end = _semicolon(text, end)
        position = end
    return Tokens(tuple(tokens), comments, tuple(diagnostics), tuple(too_long))


def _semicolon(text: str, start: int) -> int:
    """Where the statement ends, or the text does: what is between is not kept, nor looked at more than it must."""
    while True:
        while found := _BEFORE_SEMICOLON.match(text, start):
            start = found.end()
        if text.startswith("/*", start):
            start, _ = _block_comment_end(text, start)
        elif text[start : start + 1] in _OPEN_ENDED:
            start = line_end(text, start)
        else:
            break
    return start


_SURROGATE = re.compile(r"[\ud800-\udfff]|\\[uU](?:0000)?[dD][89a-fA-F]")


def _halves(text: str, start: int, end: int, name: str) -> Iterator[Diagnostic]:
    """What stands for half a character: by itself no text may have it, whatever holds the program or is given its
    value.
    """
    for found in _ESCAPED_HALF.finditer(text, start, end):
        half = found["half"]
        if half is not None and (len(half) == 1 or text[start] in "\"'"):
            at = Span(*found.span("half"), name)
            shown = half if half.isprintable() else half.encode("unicode_escape").decode()
            yield Diagnostic(
                "E0103", f"`{shown}` is half a character", at, "no text has this by itself",
                hint="write the whole character, or its number: `\\U0001F600`",
            )  # fmt: skip


def line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _block_comment_end(text: str, start: int) -> tuple[int, bool]:
    """Where a block comment ends (they nest, as in Spark SQL), and whether it does."""
    depth, position = 0, start
    mark = re.compile(r"/\*|\*/")
    while found := mark.search(text, position):
        depth += 1 if found.group() == "/*" else -1
        position = found.end()
        if depth == 0:
            return position, True
    return len(text), False


def _never_closed(what: str, span: Span, closing: str) -> Diagnostic:
    return Diagnostic(
        "E0102", f"a {what} is not closed", span, f"this {what} has no end", hint=f"close it with {closing}"
    )


def _too_long(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0109", f"a statement of more than {MAX_TOKENS:,} words and marks", span, "this one is not read",
        hint="end it with `;` where it should end, or make several of it",
    )  # fmt: skip


_ESCAPES = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))", re.DOTALL)


def string_value(text: str) -> str:
    """The value of a string token, by Spark SQL's escapes. An unclosed string yields what stands there."""
    if text[0] in "rR":
        return text[2:-1]
    quote = text[0]
    body = text[1:-1] if len(text) > 1 and text.endswith(quote) else text[1:]

    def unescape(found: re.Match[str]) -> str:
        short, long, octal, single = found.groups()
        if short or long:
            code = int(short or long, 16)
            return chr(code) if code <= 0x10FFFF else "\ufffd"
        return chr(int(octal, 8)) if octal else _ESCAPES.get(single, single)

    value = _ESCAPE.sub(unescape, body.replace(quote * 2, "\\" + quote) if quote * 2 in body else body)
    if _SURROGATE.search(value) is None:
        return value
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")  # two halves are a character


def quoted_name(text: str) -> str:
    """The name inside backquotes, in which a doubled backquote stands for one."""
    return text.removeprefix("`").removesuffix("`").replace("``", "`")
