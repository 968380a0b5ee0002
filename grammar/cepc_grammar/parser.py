"""Text to abstract syntax. Never raises for any text: what is wrong is in `Parsed.diagnostics`."""

from __future__ import annotations

from bisect import bisect_left
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from lark import UnexpectedToken
from lark.lexer import PatternStr

from cepc_runtime.cheap_dataclass import dataclass

from . import ast
from .builder import Builder
from .keywords import KeywordLexer
from .lost import NOTHING_LOST, Lost, lost_in
from .nesting import too_deep
from .raw_tokens import Comments, RawToken, stopped_at
from .shapes import Shapes
from .source import Source, Span
from .statements import NEW_STATEMENT_WORDS, STATEMENT_WORDS, StatementTokens, split_statements
from .tables import parser
from .tokens import tokenize
from .wellformed import misplaced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lark import Lark

    from .diagnostic import Diagnostic


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a source says, and what is wrong with it.

    `extents` has, for each statement of the program, the span of its text with its `;`; `bare` the queries in bare
    form. `lost` is what the statements left out would have declared.
    """

    program: ast.Program
    diagnostics: tuple[Diagnostic, ...]
    comments: Comments
    extents: tuple[Span, ...]
    bare: frozenset[Span]
    lost: Lost


@cache
def _lark() -> Lark:
    return parser(KeywordLexer)


@cache
def _shapes() -> Shapes:
    return Shapes(_lark())


def parse(source: Source) -> Parsed:
    """Parse a source statement by statement; a statement with a mistake is left out of the program."""
    lexed = tokenize(source)
    diagnostics = list(lexed.diagnostics)
    statements: list[ast.Statement] = []
    extents: list[Span] = []
    bare: set[Span] = set()
    lost = NOTHING_LOST
    unclosed = sorted(d.span.start for d in lexed.diagnostics if d.code == "E0102")
    comments, too_long = lexed.comments, lexed.too_long
    pending = list(reversed(split_statements(source, lexed.tokens)))
    del lexed  # tokens of statements that are parsed are not kept: they take more than the program does
    while pending:
        piece = pending.pop()
        begin = piece.tokens[0].start
        if _any_within(too_long, begin, piece.tokens[-1].end):
            lost |= lost_in(piece.tokens)
            continue
        statement, found, rest = _parse_statement(source, piece)
        # What stops the parser behind a quote without an end would not be there if the quote had one.
        swallowed = statement is None or rest is not None
        diagnostics += (d for d in found if not (swallowed and _any_within(unclosed, begin, d.span.start + 1)))
        if rest is not None:
            pending.append(rest)
        if statement is not None:
            statements.append(statement)
            extents.append(Span(piece.tokens[0].start, piece.end, source.name))
            if piece.bare:
                bare.add(statement.span)
        else:
            lost |= lost_in(piece.tokens[: len(piece.tokens) - (0 if rest is None else len(rest.tokens))])
    kept = [d for d in diagnostics if d.code == "E0102" or not _any_within(unclosed, d.span.start, d.span.end)]
    program = ast.Program(tuple(statements), Span(0, len(source.text), source.name))
    return Parsed(program, tuple(kept), comments, tuple(extents), frozenset(bare), lost)


def _any_within(places: Sequence[int], start: int, end: int) -> bool:
    """Whether one of the places, which are in order, is in the span, which has its first character at least."""
    at = bisect_left(places, start)
    return at < len(places) and places[at] < max(end, start + 1)


def accepted_after(tokens: tuple[RawToken, ...], *, bare: bool = False) -> frozenset[str] | None:
    """The terminals that can follow the tokens of a statement; None where the tokens themselves cannot stand so."""
    stopped: Any = _lark().parse_interactive(tokens, start="bare_query" if bare else "statement")
    try:
        stopped.exhaust_lexer()
    except UnexpectedToken:
        return None
    return frozenset(stopped.accepts())


def keywords_among(terminals: frozenset[str]) -> tuple[str, ...]:
    """The words among the terminals, as they are written."""
    texts = ((t.name, t.pattern.value) for t in _lark().terminals if isinstance(t.pattern, PatternStr))
    return tuple(sorted(text for name, text in texts if name in terminals and text[0].isalpha()))


def pattern_of(source: Source, tokens: tuple[RawToken, ...]) -> ast.Pattern | None:
    """The pattern that the tokens spell, whose end may not be written yet."""
    begin = tokens[0].start - 3 if tokens else 0
    head = tuple(
        RawToken("WORD", word, begin + i, begin + i + 1, False) for i, word in enumerate(("PATTERN", "p", "AS"))
    )
    for end in range(len(tokens), max(len(tokens) - _UNFINISHED, 0), -1):
        opened = sum({"(": 1, ")": -1}.get(token.text, 0) for token in tokens[:end])
        last = tokens[end - 1].end
        closing = tuple(RawToken("OPERATOR", ")", last + i, last + i + 1, False) for i in range(opened))
        whole = (*head, *tokens[:end], *closing)
        shape = _shapes().find(whole, "statement")
        if shape is None or shape.too_deep is not None:
            continue
        statement = shape.built(whole, Builder(source.name))
        if isinstance(statement, ast.NamedPattern):
            return statement.pattern
    return None


_UNFINISHED = 6  # tokens at the end that may belong to something half-written


def _parse_statement(
    source: Source, piece: StatementTokens
) -> tuple[ast.Statement | None, list[Diagnostic], StatementTokens | None]:
    """The statement, what is wrong, and what is left when the `;` before another statement was forgotten."""
    start = "bare_query" if piece.bare else "statement"
    shape = _shapes().find(piece.tokens, start)
    if shape is None:
        try:
            _lark().parse(piece.tokens, start=start)
        except UnexpectedToken as error:
            return _recover(source, piece, error)
    assert shape is not None  # Lark accepts no more
    if shape.too_deep is not None:
        return None, [too_deep(shape.too_deep.span(piece.tokens, source.name))], None
    builder = Builder(source.name)
    statement: Any = shape.built(piece.tokens, builder)
    found = builder.diagnostics
    # Most statements have no bracket, and looking for a misplaced one is a walk over the whole tree.
    if statement is not None and any(token.text == "[" for token in piece.tokens):
        found = [*found, *misplaced(statement)]
    return statement, found, None


def _recover(
    source: Source, piece: StatementTokens, error: UnexpectedToken
) -> tuple[ast.Statement | None, list[Diagnostic], StatementTokens | None]:
    """Say what is wrong, and go on with the next statement of the piece, if another begins before its `;`."""
    from .syntax_errors import missing_semicolon, unexpected  # not needed by a right program, and start-up counts

    tokens, at = piece.tokens, stopped_at(piece.tokens, error.token)
    stopped: Any = error.interactive_parser  # LALR lookahead is merged between states; `accepts` tries each token out
    accepted = frozenset[str](stopped.accepts())
    forgotten = 0 < at < len(tokens) and "$END" in accepted and _starts_statement(tokens[at], STATEMENT_WORDS)
    if not forgotten and _read_as_name(piece, at - 1):
        forgotten, at = True, at - 1
    cut = at if forgotten else next(
        (i for i in range(at + 1, len(tokens)) if _starts_statement(tokens[i], NEW_STATEMENT_WORDS)), len(tokens)
    )  # fmt: skip
    rest = StatementTokens(tokens[cut:], False, piece.end) if cut < len(tokens) else None
    if not forgotten:
        return None, [unexpected(source, piece, at, accepted, partial(_reach, bare=piece.bare))], rest
    statement, found, _ = _parse_statement(source, StatementTokens(tokens[:at], piece.bare, tokens[at - 1].end))
    return statement, [*found, missing_semicolon(source, tokens[at - 1], tokens[at])], rest


def _read_as_name(piece: StatementTokens, at: int) -> bool:
    """Whether another statement begins there, whose first word was read as a unit or an alias: `10min` before QUERY.
    EVENT and PATTERN may begin a clause instead.
    """
    if not 0 < at < len(piece.tokens) or not _starts_statement(piece.tokens[at], STATEMENT_WORDS):
        return False
    accepted = accepted_after(piece.tokens[:at], bare=piece.bare)
    return accepted is not None and "$END" in accepted and piece.tokens[at].upper not in accepted


def _reach(tokens: tuple[RawToken, ...], *, bare: bool) -> int:
    """How many of the tokens the parser gets through; one more than there are where it accepts them all."""
    try:
        _lark().parse(tokens, start="bare_query" if bare else "statement")
    except UnexpectedToken as error:
        return stopped_at(tokens, error.token)
    return len(tokens) + 1


def _starts_statement(token: RawToken, words: frozenset[str]) -> bool:
    return token.first_on_line and token.upper in words
