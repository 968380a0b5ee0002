"""What a program declares, by name; a name declared twice or in two spellings is an error, and the first one counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from cepc_grammar import ast
from cepc_grammar.lost import Lost
from cepc_grammar.pattern import SELECTION_WORDS
from cepc_runtime.cheap_dataclass import dataclass

from .messages import names as say
from .messages.functions import of_pattern_operator
from .walk import atoms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cepc_grammar.diagnostic import Diagnostic


@dataclass(frozen=True, slots=True)
class Declarations:
    """The first statement of each name; `queries` has all of them, those of a name taken too, so that each is checked.

    `lost` are names whose declarations could not be read, `circles` has for each pattern that contains itself how.
    """

    streams: Mapping[str, ast.Stream]
    events: Mapping[str, ast.DerivedEvent]
    patterns: Mapping[str, ast.NamedPattern]
    queries: tuple[ast.Query, ...]
    query_names: Mapping[str, ast.Name]
    tests: tuple[ast.Test, ...]
    lost: Lost
    circles: Mapping[str, list[str]]


def declarations(statements: Iterable[ast.Statement], lost: Lost) -> tuple[Declarations, list[Diagnostic]]:
    """What the statements declare, and which names clash."""
    statements = tuple(statements)
    streams = [s for s in statements if isinstance(s, ast.Stream)]
    events = [s for s in statements if isinstance(s, ast.DerivedEvent)]
    patterns = [s for s in statements if isinstance(s, ast.NamedPattern)]
    queries = tuple(s for s in statements if isinstance(s, ast.Query))
    tests = tuple(s for s in statements if isinstance(s, ast.Test))
    problems = [
        *clashes("stream", [s.name for s in streams]),
        *clashes("event type", [e.name for e in events]),
        *clashes("pattern", [p.name for p in patterns]),
        *clashes("query", [q.name for q in queries]),
        *clashes("test", [t.name for t in tests]),
        *(d for s in streams for d in _inside_stream(s)),
        *(d for p in patterns for d in clashes("parameter", p.parameters or ())),
        *(of_pattern_operator(p.name) for p in patterns if _is_operator(p)),
        *_types_and_patterns(streams, events, patterns),
    ]
    found = Declarations(
        _by_name(streams),
        _by_name(events),
        _by_name(patterns),
        queries,
        {name: query.name for name, query in _by_name(queries).items()},
        tests,
        _undeclared(lost, (*streams, *events, *patterns)),
        circles({name: [a.name.text for a in atoms(p.pattern)] for name, p in _by_name(patterns).items()}),
    )
    return found, problems


def _is_operator(pattern: ast.NamedPattern) -> bool:
    """Whether its use with arguments is one."""
    return pattern.parameters is not None and pattern.name.text.upper() in SELECTION_WORDS


def _undeclared(lost: Lost, statements: Iterable[ast.Stream | ast.DerivedEvent | ast.NamedPattern]) -> Lost:
    """What is lost although a name may be declared twice, the second time without a mistake."""
    declared = {statement.name.text for statement in statements}
    return Lost(lost.streams - declared, lost.operands - declared)


Named = TypeVar("Named", ast.Stream, ast.DerivedEvent, ast.NamedPattern, ast.Query)


def _by_name(statements: Iterable[Named]) -> dict[str, Named]:
    """The first statement of each name."""
    found: dict[str, Named] = {}
    for statement in statements:
        found.setdefault(statement.name.text, statement)
    return found


def clashes(what: str, names: Iterable[ast.Name]) -> Iterator[Diagnostic]:
    """A diagnostic for each name that is there already, in the same spelling or in another."""
    seen: dict[str, ast.Name] = {}
    folded: dict[str, ast.Name] = {}
    for name in names:
        first = seen.setdefault(name.text, name)
        twin = folded.setdefault(name.text.casefold(), name)
        if first is not name:
            yield say.twice(what, name, first.span)
        elif twin is not name:
            yield say.case_twins(what, name.text, name.span, twin.text, twin.span)


def _inside_stream(stream: ast.Stream) -> Iterator[Diagnostic]:
    yield from _columns(stream)
    seen: dict[str, ast.Literal] = {}
    folded: dict[str, ast.Literal] = {}
    for literal in (stream.event_type and stream.event_type.types) or ():
        first = seen.setdefault(literal.text, literal)
        twin = folded.setdefault(literal.text.casefold(), literal)
        if first is not literal:
            yield say.listed_twice("event type", literal.text, literal.span, first.span)
        elif twin is not literal:
            yield say.case_twins("event type", literal.text, literal.span, twin.text, twin.span)


def _columns(stream: ast.Stream) -> Iterator[Diagnostic]:
    """A computed column may be called like one of the input in another case, whose place it takes."""
    given = [c.name for c in stream.columns if c.expression is None]
    computed = [c.name for c in stream.columns if c.expression is not None]
    yield from clashes("column", given)
    yield from clashes("column", computed)
    spans = {name.text: name.span for name in reversed(given)}
    yield from (say.twice("column", name, spans[name.text]) for name in computed if name.text in spans)


def _types_and_patterns(
    streams: list[ast.Stream], events: list[ast.DerivedEvent], patterns: list[ast.NamedPattern]
) -> Iterator[Diagnostic]:
    """In a pattern an event type and a named pattern look alike, so they share one space of names."""
    raw: dict[str, ast.Name] = {}
    for stream in streams:
        listed = stream.event_type.types or () if stream.event_type else ()
        for name in (stream.name,) if stream.event_type is None else (ast.Name(t.text, t.span) for t in listed):
            raw.setdefault(name.text, name)
    folded = {name.text.casefold(): name for name in raw.values()}
    for event in events:
        if event.name.text in raw:
            yield say.twice("event type", event.name, raw[event.name.text].span)
        elif (twin := folded.get(event.name.text.casefold())) is not None:
            yield say.case_twins("event type", event.name.text, event.name.span, twin.text, twin.span)
    types = {**raw, **{e.name.text: e.name for e in events}}
    folded = {name.text.casefold(): name for name in types.values()}
    for pattern in patterns:
        if pattern.name.text in types:
            yield say.pattern_like_type(pattern.name, types[pattern.name.text].span)
        elif (twin := folded.get(pattern.name.text.casefold())) is not None:
            yield say.case_twins("name", pattern.name.text, pattern.name.span, twin.text, twin.span)


def free(name: str, taken: set[str]) -> str:
    """The name, or one like it, that is not `taken`, as it now is: these are in lower case.

    >>> taken = {"a.x"}
    >>> free("A.x", taken), free("a.x", taken)
    ("A.x'", "a.x''")
    """
    while name.casefold() in taken:
        name += "'"
    taken.add(name.casefold())
    return name


def circles(uses: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """For each name that leads back to itself, a shortest way, which has the name at both ends.

    >>> circles({"a": ["b", "x"], "b": ["a"], "c": ["a"]})
    {'a': ['a', 'b', 'a'], 'b': ['b', 'a', 'b']}
    """
    users: dict[str, list[str]] = {}
    open_uses: dict[str, int] = {}
    for name, used in uses.items():
        inside = {u for u in used if u in uses}
        open_uses[name] = len(inside)
        for u in inside:
            users.setdefault(u, []).append(name)
    # Names that use nothing open are in no circle, nor are those that use only such names; what is left leads into one.
    done = [name for name, count in open_uses.items() if count == 0]
    for name in done:
        for user in users.get(name, ()):
            open_uses[user] -= 1
            if open_uses[user] == 0:
                done.append(user)
    left = {name: uses[name] for name, count in open_uses.items() if count > 0}
    return {name: way for name in left if (way := _way_back(name, left)) is not None}


def _way_back(name: str, uses: Mapping[str, list[str]]) -> list[str] | None:
    before: dict[str, str] = {}
    queue = [name]
    for current in queue:
        for used in uses.get(current, ()):
            if used == name:
                way = [name]
                while current != name:
                    way.insert(0, current)
                    current = before[current]
                return [name, *way]
            if used not in before and used in uses:
                before[used] = current
                queue.append(used)
    return None
