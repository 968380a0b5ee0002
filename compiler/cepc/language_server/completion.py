"""What may be written at a place: keywords, and the names that make sense there."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Final
from typing import Literal as OneOf

from cepc_grammar import ast
from cepc_grammar.next_words import next_words
from cepc_grammar.parser import pattern_of
from cepc_grammar.pattern import SELECTION_WORDS
from cepc_grammar.pattern import walk as subpatterns
from cepc_grammar.printer import to_text
from cepc_grammar.spelling import name_text
from cepc_grammar.statements import STATEMENT_WORDS, split_statements
from cepc_grammar.tokens import quoted_name, tokenize
from cepc_grammar.units import UNITS
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.functions import find, names

from ..commands.functions import described
from ..documenting import document
from ..editing.words import AGGREGATES, TYPES
from ..expressions.functions import BESIDE, LABEL, NAVIGATION
from ..resolve.streams import FORMATS
from ..standard_library import standard_module, standard_modules
from .columns import declared_as
from .references import VariableScope

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cepc_grammar.next_words import NextWords
    from cepc_grammar.raw_tokens import RawToken
    from cepc_grammar.source import Source

    from .program import EditedProgram
    from .references import DeclaredNames

SuggestionKind = OneOf[
    "keyword", "stream", "event type", "pattern", "function", "query", "variable", "column", "module", "type", "unit",
    "label",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Suggestion:
    """`text` is what is written; `detail` stands beside it, `help` is shown of the one that is chosen."""

    text: str
    kind: SuggestionKind
    detail: str = ""
    help: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """The suggestions replace the text from `start` to the cursor."""

    start: int
    suggestions: tuple[Suggestion, ...]


CLAUSES: Final = frozenset(
    {"RETURN", "PATTERN", "WHERE", "GROUP", "GROUPBY", "GROUP_BY", "HAVING", "WITHIN", "WINDOW", "FROM", "SELECT",
     "AFTER", "SLIDE", "OFFSET", "GIVEN", "EXPECT", "VALUES", "FOR", "WITH"}
)  # fmt: skip
_OTHER_SPELLINGS: Final = frozenset({"GROUPBY", "GROUP_BY", "REGEXP"})  # of what is suggested anyway
_OPERATORS: Final = SELECTION_WORDS | {"SEQ", "AND", "OR", "SOME", "NOT", "PATTERN", "AS"}


def completion(source: Source, offset: int, program: EditedProgram) -> Completion:
    """What may be written at the offset of a text. `program` may be of a text before the last changes: of it only what
    other statements declare is asked.
    """
    following = next_words(source, offset)
    if following is None:
        return Completion(offset, ())
    found = [Suggestion(word, "keyword") for word in following.keywords if word not in _OTHER_SPELLINGS]
    if following.name:
        found = [*_names(source, offset, following, program), *found]
    unique = {(s.text, s.kind): s for s in reversed(found)}
    return Completion(offset - len(following.begun), tuple(reversed(unique.values())))


def _names(source: Source, offset: int, following: NextWords, program: EditedProgram) -> Iterator[Suggestion]:
    before = following.before
    first, last = before[0].upper if before else "", before[-1] if before else None
    declared = program.names
    if last is None:
        return
    if last.text == "." and first == "IMPORT":
        path = "".join(token.text for token in before[1:])
        yield from (_module(m, m.removeprefix(path)) for m in standard_modules() if m.startswith(path))
    elif last.text == ".":
        yield from _behind_dot(source, offset, before, program)
    elif first == "IMPORT":
        yield from (_module(name, name) for name in standard_modules())
    elif first == "STREAM":
        yield from _in_stream(before, declared)
    elif first == "TEST":
        yield from _in_test(before, declared)
    elif first == "EVENT" and "WHERE" not in [token.upper for token in before]:
        yield from _event_types(declared) if last.upper == "AS" else ()
    elif last.kind in ("NUMBER", "STRING"):
        yield from (Suggestion(unit.upper(), "unit") for unit in sorted(UNITS) if unit.endswith("s") and len(unit) > 3)
    else:
        yield from _in_clause(source, offset, before, program)


def _in_clause(
    source: Source, offset: int, before: tuple[RawToken, ...], program: EditedProgram
) -> Iterator[Suggestion]:
    """In a query, a named pattern, a function or a derived event."""
    declared, first, last = program.names, before[0].upper, before[-1]
    clause = _clause(before)
    parameters = _parameters(before) if first in ("PATTERN", "FUNCTION") else ()
    if last.upper in ("QUERY", "PATTERN", "FUNCTION") and len(before) == 1:
        return  # a new name
    if last.text == "(" and [token.upper for token in before[-2:-1]] == [LABEL]:
        yield from _labels(source, offset)
        return
    if _in_cast(before):
        yield from (Suggestion(name, "type") for name in TYPES)
    elif clause == "PATTERN":
        if last.text in ("(", ",") or last.upper in _OPERATORS:
            yield from parameters
            yield from _operands(declared)
            if _in_arguments(before):
                yield from _columns(declared, tuple(declared.streams))
    elif last.upper == "AS" and first == "QUERY":
        return  # an alias
    elif clause == "FROM":
        yield from (_stream(s) for s in declared.streams.values())
    elif clause in ("GROUP", "GROUPBY", "GROUP_BY") or _in_brackets(before):
        yield from _columns(declared, _streams_of(before, source, offset, declared))
    elif clause in ("SLIDE", "OFFSET", "WITHIN", "WINDOW", "SELECT", "WITH"):
        return
    else:
        yield from parameters
        yield from _variables(source, offset, program, "")
        if first != "FUNCTION":
            yield from _columns(declared, _streams_of(before, source, offset, declared))
        yield from _functions(declared)


def _clause(before: tuple[RawToken, ...]) -> str:
    """The clause that the end of the tokens is in: the last word that begins one, outside parentheses."""
    depth = 0
    for i in range(len(before) - 1, 0, -1):
        token = before[i]
        depth += {")": 1, "(": -1}.get(token.text, 0)
        if token.upper == "AS" and before[0].upper in ("PATTERN", "FUNCTION", "EVENT") and depth <= 0:
            return "PATTERN" if before[0].upper == "PATTERN" else "WHERE"
        if token.upper in CLAUSES and depth <= 0 and not _is_gap(before, i):
            return token.upper
    return ""


def _is_gap(before: tuple[RawToken, ...], i: int) -> bool:
    """Whether a WITHIN is that of a NOT: it stands in parentheses."""
    depth = sum({"(": 1, ")": -1}.get(token.text, 0) for token in before[:i])
    return before[i].upper == "WITHIN" and depth > 0


def _in_brackets(before: tuple[RawToken, ...]) -> bool:
    """Within `[ ]`, which is no index: nothing that could have one stands before it."""
    opened = [i for i, token in enumerate(before) if token.text == "["]
    closed = sum(token.text == "]" for token in before)
    return len(opened) > closed and (before[opened[-1] - 1].upper in ("WHERE", "AND") or before[-1].text == ",")


def _in_cast(before: tuple[RawToken, ...]) -> bool:
    depth = 0
    for i in range(len(before) - 1, 0, -1):
        depth += {")": 1, "(": -1}.get(before[i].text, 0)
        if depth < 0:
            return before[i - 1].upper in ("CAST", "TRY_CAST") and before[-1].upper == "AS"
    return before[-1].text == "::"


def _in_arguments(before: tuple[RawToken, ...]) -> bool:
    """Within the arguments of a named pattern."""
    depth = 0
    for i in range(len(before) - 1, 0, -1):
        depth += {")": 1, "(": -1}.get(before[i].text, 0)
        if depth < 0:
            return before[i - 1].kind == "WORD" and before[i - 1].upper not in _OPERATORS
    return False


# ---- in the statements


def _in_stream(before: tuple[RawToken, ...], declared: DeclaredNames) -> Iterator[Suggestion]:
    last = before[-1]
    depth = sum({"(": 1, ")": -1}.get(token.text, 0) for token in before)
    words = [token.upper for token in before]
    if depth > 0 and "TYPE" not in words and "TIME" not in words:
        if last.kind in ("WORD", "QUOTED") and before[-2].text in ("(", ","):
            yield from (Suggestion(name, "type") for name in TYPES)
    elif last.upper in ("TIME", "TYPE", "BY") or (last.text == "," and "BY" in words):
        for name, type_ in _written_columns(before):
            yield Suggestion(name, "column", type_)
        if "QUERY" in words and (query := declared.queries.get(_behind(before, "QUERY"))) is not None:
            yield from _of_rows(query)
    elif last.upper == "UNIT":
        yield from (Suggestion(unit, "unit") for unit in ("s", "ms", "us"))
    elif last.upper == "FROM":
        yield from (Suggestion(name.upper(), "keyword") for name in FORMATS)
    elif words[-2:] == ["FROM", "QUERY"]:
        yield from (Suggestion(name_text(q.name), "query") for q in declared.queries.values())
    elif last.kind in ("NUMBER", "STRING"):
        yield from (Suggestion(unit.upper(), "unit") for unit in ("seconds", "minutes", "hours", "days"))


def _behind(before: tuple[RawToken, ...], word: str) -> str:
    """The name after a word, if there is one."""
    place = [token.upper for token in before].index(word) + 1
    return quoted_name(before[place].text) if place < len(before) else ""


def _written_columns(before: tuple[RawToken, ...]) -> Iterator[tuple[str, str]]:
    """The columns of a stream that is being written: a name after `(` or `,`, and its type."""
    depth = 0
    for i, token in enumerate(before[:-2]):
        depth += {"(": 1, ")": -1, "<": 1, ">": -1}.get(token.text, 0)
        if depth == 1 and token.text in ("(", ",") and before[i + 1].kind in ("WORD", "QUOTED"):
            yield before[i + 1].text, before[i + 2].text
        if depth == 0 and token.text == ")":
            return


def _in_test(before: tuple[RawToken, ...], declared: DeclaredNames) -> Iterator[Suggestion]:
    if before[-1].upper == "FOR":
        yield from (Suggestion(name_text(q.name), "query") for q in declared.queries.values())
        return
    query = declared.queries.get(quoted_name(before[3].text)) if len(before) > 3 else None
    words = [token.upper for token in before]
    clause = next((word for word in reversed(words) if word in ("GIVEN", "EXPECT", "VALUES")), "")
    if query is None or clause not in ("GIVEN", "EXPECT"):
        return  # a new name, or constants
    if clause == "EXPECT":
        yield from _of_rows(query)
    else:
        streams = declared.streams_of(query)
        begun = len(words) - 1 - words[::-1].index("GIVEN")
        if begun == len(before) - 1:
            yield from (_stream(declared.streams[name]) for name in streams if len(streams) > 1)
            return
        said = quoted_name(before[begun + 1].text)
        yield from _columns(declared, (said,) if said in declared.streams else streams)


def _of_rows(query: ast.Query) -> Iterator[Suggestion]:
    """The columns of a query's rows, as far as they have names."""
    from ..resolve.scopes import result_columns

    for item in query.returns.items:
        if item.alias is not None:
            yield Suggestion(name_text(item.alias), "column", to_text(item.expression))
        elif isinstance(item.expression, ast.Reference):
            yield Suggestion(name_text(item.expression.parts[-1]), "column")
    kind = "match" if query.returns.match else "aggregate"
    yield from (Suggestion(name, "column") for name in result_columns(kind))


# ---- names


def _stream(stream: ast.Stream) -> Suggestion:
    rows = f"the rows of {stream.query.text}" if stream.query is not None else f"{len(stream.columns)} columns"
    return Suggestion(name_text(stream.name), "stream", rows)


def _module(name: str, text: str) -> Suggestion:
    found = standard_module(name)
    return Suggestion(text, "module", name, document(*found).summary if found is not None else "")


def _event_types(declared: DeclaredNames, of: str | None = None) -> Iterator[Suggestion]:
    """Of all streams or of one."""
    for event in declared.events.values():
        if of is None or of in declared.owners(ast.Atom(event.name)):
            yield Suggestion(name_text(event.name), "event type", f"AS {event.base.text}", to_text(event))
    for stream in declared.streams.values():
        if of not in (None, stream.name.text):
            continue
        if stream.event_type is None:
            yield Suggestion(name_text(stream.name), "event type", "all events of the stream")
        for listed in (stream.event_type.types if stream.event_type is not None else None) or ():
            yield Suggestion(name_text(ast.Name(listed.text)), "event type", stream.name.text)


def _operands(declared: DeclaredNames) -> Iterator[Suggestion]:
    yield from _event_types(declared)
    for pattern in declared.patterns.values():
        given = "" if pattern.parameters is None else f"({', '.join(p.text for p in pattern.parameters)})"
        yield Suggestion(name_text(pattern.name), "pattern", f"{pattern.name.text}{given}", to_text(pattern))


def _columns(declared: DeclaredNames, streams: Iterable[str]) -> Iterator[Suggestion]:
    for name in streams:
        if name in declared.streams:
            if (query := declared.query_of(declared.streams[name])) is not None:
                yield from _of_rows(query)
            for column in declared.streams[name].columns:
                yield Suggestion(name_text(column.name), "column", f"{declared_as(column)}, of {name}")


def _functions(declared: DeclaredNames) -> Iterator[Suggestion]:
    for function in declared.functions.values():
        usage = f"{function.name.text}({', '.join(p.text for p in function.parameters)})"
        yield Suggestion(name_text(function.name), "function", usage, to_text(function))
    for name in sorted({*AGGREGATES, *NAVIGATION, *BESIDE, LABEL}):
        lines = described(name)
        yield Suggestion(name, "function", lines[0][0] if lines else name, lines[0][1] if lines else "")
    for name in names():
        known = find(name)
        if known is not None:
            yield Suggestion(name, "function", known.usage, known.summary)


def _parameters(before: tuple[RawToken, ...]) -> tuple[Suggestion, ...]:
    """Those of the statement that is being written."""
    if len(before) < 3 or before[2].text != "(":
        return ()
    end = next((i for i, token in enumerate(before) if token.text == ")"), len(before))
    given = (token for token in before[3:end] if token.kind in ("WORD", "QUOTED"))
    return tuple(Suggestion(token.text, "variable", "a parameter") for token in given)


# ---- the statement around the cursor


def _statement_around(source: Source, offset: int) -> tuple[RawToken, ...]:
    """All tokens of the statement that the cursor is in, those behind it too, up to where another begins."""
    tokens = tokenize(source).tokens
    for piece in split_statements(source, tokens):
        if piece.tokens[0].start <= offset <= max(piece.end, piece.tokens[-1].end):
            starts = [
                i
                for i, token in enumerate(piece.tokens)
                if i == 0 or (token.first_on_line and token.upper in STATEMENT_WORDS - {"PATTERN", "EVENT"})
            ]
            ends = [*starts[1:], len(piece.tokens)]
            for start, end in zip(starts, ends, strict=True):
                if end == len(piece.tokens) or piece.tokens[end].start > offset:
                    return piece.tokens[start:end]
    # Behind a statement without its `;`, in the white space at the end.
    behind = [piece for piece in split_statements(source, tokens) if piece.end <= offset]
    return behind[-1].tokens if behind else ()


def _pattern_around(source: Source, offset: int) -> ast.Pattern | None:
    """The pattern of the statement that the cursor is in, however much of the statement is written."""
    tokens = _statement_around(source, offset)
    if not tokens:
        return None
    opening = "AS" if tokens[0].upper == "PATTERN" else "PATTERN"
    start = next((i + 1 for i, token in enumerate(tokens) if i and token.upper == opening), None)
    if start is None:
        return None
    depth = 0
    for end in range(start, len(tokens) + 1):
        if end == len(tokens) or (depth <= 0 and end > start and tokens[end].upper in CLAUSES):
            return pattern_of(source, tokens[start:end])
        depth += {"(": 1, ")": -1}.get(tokens[end].text, 0)
    return None


def _labels(source: Source, offset: int) -> Iterator[Suggestion]:
    """Those of the query that the cursor is in: `name = 'text'` behind WITH."""
    tokens = _statement_around(source, offset)
    if len(tokens) > 2 and tokens[2].upper == "WITH":
        for name, equal, value in zip(tokens[4:], tokens[5:], tokens[6:], strict=False):
            if name.text == ")":
                return
            if equal.text in ("=", "=="):
                yield Suggestion(name.text, "label", value.text)


def _streams_of(before: tuple[RawToken, ...], source: Source, offset: int, declared: DeclaredNames) -> tuple[str, ...]:
    """Those that FROM names, else those whose types the pattern names, or all."""
    tokens = _statement_around(source, offset) if before[0].upper == "QUERY" else ()
    for i, token in enumerate(tokens[:-1]):
        if token.upper == "FROM" and quoted_name(tokens[i + 1].text) in declared.streams:
            names = (quoted_name(one.text) for one in tokens[i + 1 :])
            listed = takewhile(lambda name: name == "," or name in declared.streams, names)
            return tuple(name for name in listed if name != ",")
    pattern = _pattern_around(source, offset) if tokens else None
    return tuple(declared.streams) if pattern is None else declared.streams_in(pattern)


def _variables(source: Source, offset: int, program: EditedProgram, prefix: str) -> Iterator[Suggestion]:
    """The variables that a condition can name; with a prefix `w.` those behind its dot."""
    pattern = _pattern_around(source, offset)
    scope = None if pattern is None else VariableScope(pattern)
    for part in prefix.split(".")[:-1]:
        found = None if scope is None else program.names.variable(part, scope)
        scope = None if found is None else found[1]
    if scope is not None:
        yield from _of_scope(program.names, scope)


def _of_scope(declared: DeclaredNames, scope: VariableScope) -> Iterator[Suggestion]:
    for node in subpatterns(scope.pattern):
        if isinstance(node, ast.AnyEvent):
            if node.alias is not None:
                yield Suggestion(name_text(node.alias), "variable", "an event of any type")
        elif isinstance(node, ast.Atom):
            inside = declared.inside(node, scope)
            if node.alias is not None:
                what = "a match of" if inside is not None else "of type"
                yield Suggestion(name_text(node.alias), "variable", f"{what} {node.name.text}")
            elif inside is not None:
                yield from _of_scope(declared, inside)
            else:
                argument = scope.arguments.get(node.name.text)
                name = argument.parts[0] if isinstance(argument, ast.Reference) else node.name
                yield Suggestion(name_text(name), "variable", "an event of this type")


def _behind_dot(
    source: Source, offset: int, before: tuple[RawToken, ...], program: EditedProgram
) -> Iterator[Suggestion]:
    """Behind `v.` the columns, behind `w.` of a named pattern its variables."""
    parts: list[str] = []
    i = len(before) - 1
    while i > 0 and before[i].text == "." and before[i - 1].kind in ("WORD", "QUOTED"):
        parts.insert(0, quoted_name(before[i - 1].text))
        i -= 2
    inner = list(_variables(source, offset, program, ".".join([*parts, ""]))) if parts else []
    if inner:
        yield from inner
        return
    declared = program.names
    if before[0].upper in ("PATTERN", "FUNCTION"):
        yield from _parameters(before)
    in_event = before[0].upper == "EVENT" and "WHERE" not in [token.upper for token in before]
    if len(parts) == 1 and parts[0] in declared.streams and (in_event or _clause(before) == "PATTERN"):
        yield from _event_types(declared, parts[0])
        return
    streams, pattern = _streams_of(before, source, offset, declared), _pattern_around(source, offset)
    if parts and pattern is not None:
        streams = declared.of_variable(parts[-1], VariableScope(pattern), streams)
    yield from _columns(declared, streams)
