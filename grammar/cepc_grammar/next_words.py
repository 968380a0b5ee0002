"""What can stand at a place of a half-written text: which keywords, and whether a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

from .parser import accepted_after, keywords_among
from .source import Source
from .statements import STATEMENT_WORDS, StatementTokens, split_statements
from .tokens import tokenize

if TYPE_CHECKING:
    from .raw_tokens import RawToken


@dataclass(frozen=True, slots=True)
class NextWords:
    """`begun` is the word at whose end the place is, "" without one. `before` are the tokens of the statement before
    that word. `keywords` can stand there, and with `name` a name can; nothing is known of a statement with a mistake
    (`known`).
    """

    begun: str
    before: tuple[RawToken, ...]
    keywords: tuple[str, ...]
    name: bool
    known: bool


def next_words(source: Source, offset: int) -> NextWords | None:
    """What can stand at the offset; None within a comment or a string.

    >>> next_words(Source("q.cep", "QUERY q FROM s SELECT n"), 23)
    ... # doctest: +ELLIPSIS
    NextWords(begun='n', before=(...), keywords=('ANY', 'CONTIGUOUS', 'NEXT'), name=False, known=True)
    """
    lexed = tokenize(Source(source.name, source.text[:offset]))
    tokens, begun = lexed.tokens, ""
    if any(c.span.end == offset and _is_open(c.text) for c in lexed.comments):
        return None
    if tokens and tokens[-1].end == offset:
        last = tokens[-1]
        if last.kind in ("STRING", "BINARY") or any(d.span.start == last.start for d in lexed.diagnostics):
            return None
        if last.kind == "NUMBER":
            return NextWords(last.text, (), (), False, True)
        if last.kind == "WORD":
            tokens, begun = tokens[:-1], last.text
    piece = _open_statement(source, tokens)
    for start in [i for i, token in enumerate(piece.tokens) if i == 0 or _may_begin(token)] or [0]:
        accepted = accepted_after(piece.tokens[start:], bare=piece.bare and start == 0)
        if accepted is not None:
            return NextWords(begun, piece.tokens[start:], keywords_among(accepted), "NAME" in accepted, True)
    return NextWords(begun, piece.tokens, (), True, False)


def _is_open(comment: str) -> bool:
    return comment.startswith("--") or not comment.endswith("*/") or len(comment) < 4


def _open_statement(source: Source, tokens: tuple[RawToken, ...]) -> StatementTokens:
    if not tokens or tokens[-1].text == ";":
        return StatementTokens((), False, 0)
    return split_statements(source, tokens)[-1]


def _may_begin(token: RawToken) -> bool:
    """Where the `;` before a statement may be missing."""
    return token.first_on_line and token.upper in STATEMENT_WORDS
