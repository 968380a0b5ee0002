"""SQL text to what cepc reads of it. Never raises for any text: what is wrong is in `ParsedSql.diagnostics`.

The text around MATCH_RECOGNIZE is not parsed but where it has to be understood here: a CREATE TABLE says what a table
is, and a SELECT that is plain can be answered without Spark. Nothing is said of what is neither.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from lark import UnexpectedToken

from cepc_runtime.cheap_dataclass import dataclass

from .. import ast
from ..diagnostic import Diagnostic
from ..expected import in_words
from ..near import nearest
from ..nesting import too_deep
from ..raw_tokens import RawToken, stopped_at
from ..shapes import Shapes
from ..source import Source, Span
from ..spot import Spot
from ..tables import sql_parser
from ..tokens import quoted_name, tokenize
from .builder import SqlBuilder
from .cures import CLAUSES, cure, habit, misspelt
from .lexer import SqlLexer, in_sql, intervals_joined
from .mistakes import COMMA_BEFORE_FROM, PARAMETER
from .syntax import FoundClause, PlainSelect, SqlStatement

if TYPE_CHECKING:
    from lark import Lark


CLAUSE: Final = "MATCH_RECOGNIZE"
_DEEPER: Final = {"(": 1, ")": -1}
_NAMES: Final = ("WORD", "QUOTED")
_FLATTER: Final = "use IN (…) for a long list of values; a view can give a part of an expression a name"
_BEFORE_TABLE: Final = frozenset({"FROM", "JOIN", ",", "("})
_JOINED: Final = ("LATERAL", "ON", "USING")


@dataclass(frozen=True, slots=True)
class ParsedSql:
    statements: tuple[SqlStatement, ...]
    diagnostics: tuple[Diagnostic, ...]


@cache
def _lark() -> Lark:
    return sql_parser(SqlLexer)


@cache
def _shapes() -> Shapes:
    return Shapes(_lark())


def parse_sql(source: Source) -> ParsedSql:
    """The statements of a text, in which a mistake leaves the other clauses and statements alone."""
    lexed = tokenize(source)
    work = _Reading(source, list(lexed.diagnostics))
    statements = tuple(work.statement(tokens, end) for tokens, end in _split(in_sql(lexed.tokens)))
    return ParsedSql(statements, tuple(work.diagnostics))


def _split(tokens: tuple[RawToken, ...]) -> list[tuple[tuple[RawToken, ...], RawToken | None]]:
    """The tokens of each statement, and the `;` behind it."""
    found: list[tuple[tuple[RawToken, ...], RawToken | None]] = []
    begin = 0
    for place, token in enumerate(tokens):
        if token.text == ";" and token.kind == "OPERATOR":
            found.append((tokens[begin:place], token))
            begin = place + 1
    return [(statement, end) for statement, end in (*found, (tokens[begin:], None)) if statement]


@dataclass(frozen=True, slots=True)
class _ClausePlace:
    """Of a clause among tokens: where the name of its table begins, its own word stands, and what is behind it."""

    table: int
    word: int
    end: int


class _Reading:
    def __init__(self, source: Source, diagnostics: list[Diagnostic]) -> None:
        self.diagnostics = diagnostics
        self._source = source

    def statement(self, tokens: tuple[RawToken, ...], end: RawToken | None) -> SqlStatement:
        span = self._span(tokens)
        words = [token.upper for token in tokens[:5]]
        if words[:1] == ["CREATE"] and "TABLE" in words and not _clause_words(tokens):
            created, unread = self._parsed(intervals_joined(tokens), "create_table")
            return SqlStatement((), span, created=created, unread=unread)
        words_of_clauses = _clause_words(tokens)
        if not words_of_clauses:
            self._misspelt(tokens)
        places = self._apart(tokens, [self._place(tokens, at, end) for at in words_of_clauses])
        clauses = [found for place in places if (found := self._clause(tokens, place)) is not None]
        select, other = None, None
        if len(places) == 1 and len(clauses) == 1:
            select, other = self._select(tokens, places[0])
        elif clauses or not words_of_clauses:
            other = span
        return SqlStatement(tuple(clauses), span, select=select, other=other)

    def _span(self, tokens: tuple[RawToken, ...]) -> Span:
        return Span(tokens[0].start, tokens[-1].end, self._source.name)

    # ---- clauses -----------------------------------------------------------------------------------------------------

    def _apart(self, tokens: tuple[RawToken, ...], places: list[_ClausePlace | None]) -> list[_ClausePlace]:
        """Those that were found, without what others are over."""
        found = [place for place in places if place is not None]
        inner = [one for one in found if any(other.table < one.word < other.word for other in found)]
        for place in inner:
            self._say(
                "E0952", "MATCH_RECOGNIZE over MATCH_RECOGNIZE", tokens[place.word], "this one is to be answered first",
                "make a view of the query with it: `CREATE TEMPORARY VIEW name AS …`",
            )  # fmt: skip
        return [place for place in found if place not in inner]

    def _misspelt(self, tokens: tuple[RawToken, ...]) -> None:
        """The word of a clause, which is one where a clause of it follows: another may be a function of Spark's."""
        for place, token in enumerate(tokens[:-2]):
            is_followed = tokens[place + 1].text == "(" and tokens[place + 2].upper in CLAUSES
            if is_followed and nearest(token.upper, (CLAUSE,)) is not None:
                self._say(
                    "E0951", f"`{token.text}` cannot stand here", token, "MATCH_RECOGNIZE is expected",
                    f"did you mean {CLAUSE}?", replacement=CLAUSE,
                )  # fmt: skip
            elif is_followed and token.upper == "RECOGNIZE" and place > 0 and tokens[place - 1].upper == "MATCH":
                self._say("E0951", "MATCH and RECOGNIZE apart", token, "MATCH_RECOGNIZE is one word", f"write {CLAUSE}")

    def _place(self, tokens: tuple[RawToken, ...], word: int, semicolon: RawToken | None) -> _ClausePlace | None:
        """Where the clause stands that begins with this word; None where that has been said to be wrong."""
        end = _closing(tokens, word + 1)
        if end is None and semicolon is not None:
            self._say(
                "E0951", "`;` inside MATCH_RECOGNIZE", semicolon, "it ends the statement, and a `(` is open",
                "leave it out, or write the missing `)` before it",
            )  # fmt: skip
            return None
        if end is None:
            cure = "write a `)` behind it"
            self._say("E0951", "MATCH_RECOGNIZE is not closed", tokens[word], "its `(` has no `)`", cure)
            return None
        table = _opening(tokens, word) if word > 0 and tokens[word - 1].text == ")" else _name(tokens, word)
        before = tokens[table - 1] if table > 0 else None
        if table == word:
            self._say(
                "E0951", "MATCH_RECOGNIZE over nothing", tokens[word], "no table stands before this",
                "write the name of a table before it, or a query in parentheses",
            )  # fmt: skip
            return None
        if before is not None and (joined := _joined(tokens, table)):
            self._say(
                "E0952", f"MATCH_RECOGNIZE behind {joined}", tokens[word], "what it is over is one table, or one query",
                "write it behind the name of one table, or over all of it as a query: `(SELECT * FROM …)`",
            )  # fmt: skip
            return None
        if before is not None and tokens[table].text == "(" and before.kind in _NAMES:
            function = _name(tokens, table)
            if function > 0 and (tokens[function - 1].upper or tokens[function - 1].text) in _BEFORE_TABLE:
                of = f"{tokens[table - 1].text}(…)"
                self._say(
                    "E0952", f"MATCH_RECOGNIZE over `{of}`", tokens[table - 1],
                    "the name of a table or a query in parentheses is expected here",
                    f"write `(SELECT * FROM {of})` in its place",
                )  # fmt: skip
                return None
        if before is not None and tokens[table].text == "(" and before.upper == "TABLESAMPLE":
            self._say(
                "E0952", "TABLESAMPLE before MATCH_RECOGNIZE", before,
                "the name of a table or a query in parentheses is expected here",
                "write `(SELECT * FROM table TABLESAMPLE (…))` in the place of both",
            )  # fmt: skip
            return None
        if before is None or (before.upper or before.text) not in _BEFORE_TABLE:
            self._say(
                "E0952", "an alias before MATCH_RECOGNIZE", tokens[table], "the name of the table is expected here",
                "write the alias behind the `)` of MATCH_RECOGNIZE",
            )  # fmt: skip
            return None
        return _ClausePlace(table, word, end)

    def _clause(self, tokens: tuple[RawToken, ...], place: _ClausePlace) -> FoundClause | None:
        clause, wrong = self._parsed(tokens[place.word : place.end], "match_recognize")
        if wrong is not None:
            self.diagnostics.append(wrong)
            return None
        over = tokens[place.table : place.word]
        table = self._span(over) if over[0].text == "(" else self._table(over)
        return FoundClause(table, clause, self._span(tokens[place.table : place.end]))

    def _table(self, tokens: tuple[RawToken, ...]) -> ast.Reference:
        names = tuple(
            ast.Name(
                quoted_name(token.text) if token.kind == "QUOTED" else token.text,
                Span(token.start, token.end, self._source.name),
            )
            for token in tokens
            if token.text != "."
        )
        return ast.Reference(names, self._span(tokens))

    # ---- what stands around ------------------------------------------------------------------------------------------

    def _select(self, tokens: tuple[RawToken, ...], place: _ClausePlace) -> tuple[PlainSelect | None, Span | None]:
        """The SELECT around a clause, if it is a plain one, else where it is not."""
        if _is_of_all(tokens):
            return None, self._span(tokens[1:2])
        first, last = tokens[place.table], tokens[place.end - 1]
        stand_in = RawToken("QUOTED", "`table`", first.start, last.end, False)
        around = (*tokens[: place.table], stand_in, *tokens[place.end :])
        select, wrong = self._parsed(around, "plain_select")
        if wrong is not None and wrong.title in (PARAMETER, COMMA_BEFORE_FROM):  # mistakes in Spark, too
            self.diagnostics.append(wrong)
        return select, None if wrong is None else wrong.span

    # ---- parsing -----------------------------------------------------------------------------------------------------

    def _parsed(self, tokens: tuple[RawToken, ...], start: str) -> tuple[Any, Diagnostic | None]:
        """What the tokens say, or what is wrong with them."""
        shape = _shapes().find(tokens, start)
        if shape is None:
            return None, self._unexpected(tokens, start)
        if (deep := shape.too_deep) is not None:
            return None, too_deep(deep.span(tokens, self._source.name), _FLATTER)
        builder = SqlBuilder(self._source.name)
        built = shape.built(tokens, builder)
        return (None, builder.diagnostics[0]) if builder.diagnostics else (built, None)

    def _unexpected(self, tokens: tuple[RawToken, ...], start: str) -> Diagnostic:
        try:
            _lark().parse(tokens, start=start)
        except UnexpectedToken as error:
            stopped: Any = error.interactive_parser
            at = stopped_at(tokens, error.token)
            token = tokens[min(at, len(tokens) - 1)]
            expected = frozenset(stopped.accepts())
            spot = Spot(self._source, tokens, at, expected)
            if (meant := habit(spot)) is not None:
                return meant
            hint, near = cure(spot), misspelt(spot)
            return Diagnostic(
                "E0951", f"`{token.text}` cannot stand here", Span(token.start, token.end, self._source.name),
                f"{in_words(expected)} is expected", hint=hint or (f"did you mean {near}?" if near else ""),
                replacement=None if hint else near,
            )  # fmt: skip
        raise AssertionError("the two parsers are of one grammar")

    def _say(
        self, code: str, title: str, token: RawToken, label: str, hint: str, replacement: str | None = None
    ) -> None:
        span = Span(token.start, token.end, self._source.name)
        self.diagnostics.append(Diagnostic(code, title, span, label, hint=hint, replacement=replacement))


def _is_of_all(tokens: tuple[RawToken, ...]) -> bool:
    """Whether it is `SELECT DISTINCT …` or `SELECT ALL …`, and the word is no column."""
    if len(tokens) < 3 or tokens[1].upper not in ("ALL", "DISTINCT") or tokens[2].upper in ("AS", "FROM"):
        return False
    return tokens[2].kind in _NAMES or tokens[2].text == "*"


def _name(tokens: tuple[RawToken, ...], end: int) -> int:
    """Where the name begins that ends before a place; the place itself where none does."""
    begin = end
    while begin > 0 and tokens[begin - 1].kind in _NAMES and (begin == end or tokens[begin].text == "."):
        begin -= 1
        if begin > 0 and tokens[begin - 1].text == ".":
            begin -= 1
    return begin


def _joined(tokens: tuple[RawToken, ...], table: int) -> str:
    """LATERAL, or the ON or USING of a JOIN, if what stands before a place belongs to one; else ""."""
    depth = 0
    for token in reversed(tokens[:table]):
        depth -= _DEEPER.get(token.text, 0)
        if depth < 0 or (depth == 0 and token.text != "(" and (token.upper or token.text) in _BEFORE_TABLE):
            return ""
        if depth == 0 and token.upper in _JOINED:
            return token.upper if token.upper == "LATERAL" else f"the {token.upper} of a JOIN"
    return ""


def _opening(tokens: tuple[RawToken, ...], end: int) -> int:
    """Where the parenthesis is opened that closes before a place; the place itself where it is not."""
    depth = 0
    for place in range(end - 1, -1, -1):
        if tokens[place].kind == "OPERATOR":
            depth -= _DEEPER.get(tokens[place].text, 0)
        if depth == 0:
            return place
    return end


def _clause_words(tokens: tuple[RawToken, ...]) -> list[int]:
    """Where clauses begin, one inside another left out."""
    found: list[int] = []
    after = 0
    for at, token in enumerate(tokens):
        if at >= after and token.upper == CLAUSE and at + 1 < len(tokens) and tokens[at + 1].text == "(":
            found.append(at)
            after = _closing(tokens, at + 1) or len(tokens)
    return found


def _closing(tokens: tuple[RawToken, ...], at: int) -> int | None:
    """The place behind what closes the parenthesis at a place."""
    depth = 0
    for place in range(at, len(tokens)):
        if tokens[place].kind == "OPERATOR":
            depth += _DEEPER.get(tokens[place].text, 0)
        if depth == 0:
            return place + 1
    return None
