"""Resolution: from syntax to a checked program, every name resolved and every rule of the language held, or all the
reasons why not.

check(program, loader, lost) -> Resolved(program, diagnostics, sources)

imports      the statements of all files
functions    calls of the program's own functions, written out
names        what they declare
streams, events, patterns
             each declaration by itself
query        each query: inline → variables, negation → partition → conditions → results, windows, selection → build
from_query   streams of the rows of queries, each when its query is right
tests        what each test gives to a query and expects of it
warnings     what is right and may still surprise
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_grammar.lost import NOTHING_LOST, Lost
from cepc_runtime.cheap_dataclass import dataclass

from .. import model
from .events import EventTypes, check_events
from .from_query import of_its_rows, turns
from .functions import written_out
from .imports import Loader, resolve_imports
from .merging import merged, time_problems
from .messages import streams as say_stream
from .names import clashes, declarations
from .of_query import named_twice, streams_of
from .patterns import check_patterns
from .query import resolve_query
from .streams import outline, resolve_stream, time_columns
from .struct_parts import over_columns
from .tests import check_tests

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.source import Source
    from cepc_runtime.plan.stream import Beside
    from cepc_runtime.sql.computed import Computed

    from ..automaton.positions import Built
    from .names import Declarations
    from .streams import KnownStream

__all__ = ["Loader", "Resolved", "check"]


@dataclass(frozen=True, slots=True)
class Resolved:
    """`program` is None where there is an error, and without a STREAM. `sources` are the texts that imports brought
    in; `built` the positions of queries for which a warning needed them, by name.
    """

    program: model.CheckedProgram | None
    diagnostics: tuple[Diagnostic, ...]
    sources: tuple[Source, ...]
    built: Mapping[str, Built] = field(default_factory=dict)


def check(program: ast.Program, loader: Loader, lost: Lost = NOTHING_LOST) -> Resolved:
    """Check the statements of all files given as one program. `loader` reads the files that they import.

    `lost` is what those files declare in statements with syntax errors, as the parser tells of each.
    """
    imported = resolve_imports(program, loader)
    written = written_out(imported.statements)
    declared, problems = declarations(written.statements, lost | imported.lost)
    streams: dict[str, KnownStream] = {}
    types: dict[str, EventTypes] = {}
    for name, statement in declared.streams.items():
        if statement.query is None:
            streams[name], found = resolve_stream(statement)
            types[name] = EventTypes(streams[name], declared, streams)
            problems += found
        else:
            streams[name] = outline(statement)
            types[name] = EventTypes(None, declared, streams)
    checked = _queries(declared, streams, types)
    problems += check_events(declared, types)
    problems += check_patterns(declared, types)
    problems += checked.problems
    own = {statement.span.source for statement in program.statements}
    written_here = [t for t in declared.tests if t.span.source in own]
    tests, found = check_tests(written_here, declared, {**streams, **checked.merged}, checked.queries)
    problems += found
    problems = [d for d in problems if d.span not in written.given_up]
    if any(d.code in _NOTHING_IMPORTED for d in imported.diagnostics):
        problems = [d for d in problems if d.code not in _OF_UNKNOWN_NAMES]
    diagnostics = _once((*imported.diagnostics, *written.diagnostics, *problems))
    if any(d.severity == "error" for d in diagnostics) or not streams:
        return Resolved(None, diagnostics, imported.sources)
    models, several = (
        tuple(
            replace(
                s.checked.with_fields(checked.fields.get(name, {}).values()),
                beside=tuple(checked.beside.get(name, {}).values()),
            )
            for name, s in known.items()
            if s.checked is not None
        )
        for known in (streams, checked.merged)
    )
    resolved = model.CheckedProgram(models, tuple(checked.queries), tuple(tests), several)
    return Resolved(resolved, diagnostics, imported.sources, checked.built)


_NOTHING_IMPORTED = frozenset({"E0209"})
_OF_UNKNOWN_NAMES = frozenset({"E0201", "E0202", "E0207", "E0235", "E0301", "W0601"})
"""What is unknown may be declared in what could not be imported."""


@dataclass(frozen=True, slots=True)
class CheckedQueries:
    """The queries that are right, positions of theirs, as columns of each stream the fields that they group by and what
    they ask of events beside one, and what is wrong with the other queries. `merged` are the streams of queries over
    several.
    """

    queries: list[model.Query]
    built: Mapping[str, Built]
    fields: Mapping[str, Mapping[str, Computed]]
    beside: Mapping[str, Mapping[str, Beside]]
    problems: list[Diagnostic]
    merged: Mapping[str, KnownStream]


@dataclass(frozen=True, slots=True)
class _Streams:
    """What queries look at: streams as they are declared, and several as one, each with its event types. `nothing` are
    those where no stream is known.
    """

    declared: Declarations
    streams: dict[str, KnownStream]
    types: dict[str, EventTypes]
    nothing: EventTypes
    merged: dict[str, KnownStream] = field(default_factory=dict)
    of_merged: dict[str, EventTypes] = field(default_factory=dict)

    def over(self, names: tuple[str, ...]) -> tuple[str, list[Diagnostic]]:
        """What these streams are called as one, and what is wrong with their times where they become one here."""
        name = _name_of(names, self.streams)
        if len(names) == 1 or name in self.merged:
            return name, []
        members = [self.streams[one] for one in names]
        self.merged[name] = merged(members, name)
        self.of_merged[name] = EventTypes(self.merged[name], self.declared, self.streams)
        return name, time_problems(members, self.merged[name])

    def of(self, name: str) -> KnownStream:
        return self.streams.get(name) or self.merged[name]

    def types_of(self, name: str | None, stream: KnownStream | None) -> EventTypes:
        """The event types of what has this name, which is `stream` to a query; None: nothing is known."""
        known = self.nothing if name is None else self.types.get(name) or self.of_merged[name]
        return known if known.stream is stream else EventTypes(stream, self.declared, self.streams)

    def owner(self, name: str | None, type_: str) -> str | None:
        """The declared stream whose type it is, in what has this name."""
        return name if name not in self.merged else self.of_merged[name].owner(type_)

    def rows_are_events(self, of: ast.Query, query: model.Query) -> tuple[list[str], list[Diagnostic]]:
        """Put the streams of the query's rows where their outlines are: which they are, and what is wrong with them."""
        looked_at = self.of(query.stream)
        if of.name is not self.declared.query_names[of.name.text] or looked_at.checked is None:
            return [], []  # what is wrong with it has been said
        made = [name for name, statement in self.declared.streams.items() if statement.query == of.name]
        problems: list[Diagnostic] = []
        for name in made:
            self.streams[name], wrong = of_its_rows(self.declared.streams[name], query, looked_at)
            self.types[name] = EventTypes(self.streams[name], self.declared, self.streams)
            problems += wrong
        return made, problems


def _queries(declared: Declarations, streams: dict[str, KnownStream], types: dict[str, EventTypes]) -> CheckedQueries:
    """Resolve the queries in the order in which they need each other's rows; a stream of rows replaces its outline as
    soon as its query is right.
    """
    problems: list[Diagnostic] = []
    built: dict[str, Built] = {}
    used: dict[str | None, dict[str, ast.Name]] = {}
    overflowing: set[str] = set()
    fields: dict[str, dict[str, Computed]] = {}
    beside: dict[str, dict[str, Beside]] = {}
    known = _Streams(declared, streams, types, EventTypes(None, declared, streams))
    if not streams and declared.queries and not declared.lost.streams:
        problems.append(say_stream.no_stream(declared.queries[0].name))
    about = [streams_of(query, declared, streams) for query in declared.queries]
    turn = turns(declared, [names if isinstance(names, tuple) else None for names in about])
    problems += turn.problems
    unknown = {name for name, statement in declared.streams.items() if statement.query is not None}
    found_queries: dict[int, model.Query] = {}
    for number in turn.order:
        query, names = declared.queries[number], about[number]
        problems += named_twice(query)
        if not isinstance(names, tuple | None):
            problems.append(names)
            continue
        if names is not None and not unknown.isdisjoint(names):
            names = None
        name, wrong = (None, []) if names is None else known.over(names)
        problems += wrong
        over = over_columns(query, None if name is None else known.of(name))
        problems += over.problems
        checked = resolve_query(over.query, declared, known.types_of(name, over.stream))
        problems += checked.diagnostics
        if name is not None:
            fields.setdefault(name, {}).update((column.name, column) for column in over.computed)
            beside.setdefault(name, {}).update((column.name, column) for column in checked.beside)
        if checked.query is not None:
            found_queries[number] = checked.query
            made, wrong = known.rows_are_events(query, checked.query)
            problems += wrong
            unknown.difference_update(made)
            if checked.built is not None:
                built[checked.query.name] = checked.built
        for type_, span in checked.types.items():
            used.setdefault(known.owner(name, type_), {}).setdefault(type_, ast.Name(type_, span))
        for one in names or ():
            used.setdefault(one, {})
        if checked.overflow is not None and query.span.source not in overflowing:
            overflowing.add(query.span.source)
            problems.append(checked.overflow)
    problems += _of_streams(used, declared, streams)
    queries = [found_queries[number] for number in sorted(found_queries)]
    return CheckedQueries(queries, built, fields, beside, problems, known.merged)


def _of_streams(
    used: Mapping[str | None, Mapping[str, ast.Name]], declared: Declarations, streams: Mapping[str, KnownStream]
) -> Iterator[Diagnostic]:
    """What is wrong with streams in the light of the event types that queries use of them."""
    for name, found in used.items():
        if name is None or streams[name].types is None:
            yield from clashes(
                "event type", (*(e.name for e in declared.events.values()), *_underived(found, declared))
            )
        if name is not None and streams[name].declaration.event_time is None:
            yield say_stream.no_event_time(streams[name].declaration, time_columns(streams[name]))


def _name_of(names: tuple[str, ...], streams: Mapping[str, KnownStream]) -> str:
    """What several streams are called as one."""
    name = "+".join(names)
    while len(names) > 1 and name in streams:
        name += "+"
    return name


def _underived(used: Mapping[str, ast.Name], declared: Declarations) -> list[ast.Name]:
    return [name for text, name in used.items() if text not in declared.events]


def _once(problems: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Each diagnostic once: what is wrong in a named pattern is found again in each of its uses."""
    return tuple({(d.code, d.span, d.title): d for d in reversed(list(problems))}.values())[::-1]
