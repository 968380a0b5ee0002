"""Which name of a text means what: every place of a name, with what it stands for, as far as that is known.

The rules are those of resolution, but nothing here has to be right: a name that means nothing has no place.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Final
from typing import Literal as OneOf

from cepc_grammar import ast
from cepc_grammar.pattern import walk as subpatterns
from cepc_grammar.source import NOWHERE, Span
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.aggregate_functions import spellings

from ..expressions.functions import LABEL, NAVIGATION, label_named
from ..resolve.functions import key
from ..resolve.imports import imported_path
from ..resolve.substitute import in_expression, in_name
from ..resolve.walk import atoms, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SymbolKind = OneOf[
    "stream", "event type", "listed type", "pattern", "function", "built-in function", "query", "test", "variable",
    "parameter", "column", "result", "module", "label",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Symbol:
    """What a name stands for. `span` is where it is declared, NOWHERE for what the language itself has."""

    kind: SymbolKind
    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class NameUse:
    """A name in the text, with the statement that it stands in."""

    span: Span
    symbol: Symbol
    statement: ast.Statement

    @property
    def declares(self) -> bool:
        return self.span == self.symbol.span


@dataclass(frozen=True, slots=True)
class References:
    """All names of a program, in the order of the text of each file."""

    uses: tuple[NameUse, ...]

    def at(self, source: str, offset: int) -> NameUse | None:
        """The name that a cursor is in or beside; of two that touch, the one behind it."""
        touching = [o for o in self.uses if o.span.source == source and o.span.start <= offset <= o.span.end]
        return max(touching, key=lambda o: o.span.start, default=None)

    def of(self, symbol: Symbol) -> tuple[NameUse, ...]:
        return tuple(o for o in self.uses if o.symbol == symbol)


@dataclass(frozen=True, slots=True)
class VariableScope:
    """The pattern whose variables a condition can name; `arguments` are what its parameters stand for."""

    pattern: ast.Pattern
    arguments: Mapping[str, ast.Expression] = field(default_factory=dict)
    within: frozenset[str] = frozenset()


_OF_VARIABLES: Final = frozenset({*spellings(), *NAVIGATION})
"""Functions whose argument may be a variable by itself."""


def references(statements: Iterable[ast.Statement]) -> References:
    """The names in these statements."""
    statements = tuple(statements)
    names = DeclaredNames(statements)
    found = (
        NameUse(span, symbol, statement) for statement in statements for span, symbol in names.in_statement(statement)
    )
    unique = {(o.span, o.symbol): o for o in found if o.span != NOWHERE}
    return References(tuple(sorted(unique.values(), key=lambda o: (o.span.source, o.span.start))))


SymbolUse = tuple[Span, Symbol]


class DeclaredNames:
    """What the statements of a program declare, by name; the first of a name counts."""

    def __init__(self, statements: tuple[ast.Statement, ...]) -> None:
        def of(kind: type) -> Iterator[ast.Statement]:
            return (s for s in reversed(statements) if isinstance(s, kind))

        self.streams = {s.name.text: s for s in of(ast.Stream) if isinstance(s, ast.Stream)}
        self.events = {s.name.text: s for s in of(ast.DerivedEvent) if isinstance(s, ast.DerivedEvent)}
        self.patterns = {s.name.text: s for s in of(ast.NamedPattern) if isinstance(s, ast.NamedPattern)}
        self.functions = {key(s.name): s for s in of(ast.Function) if isinstance(s, ast.Function)}
        self.queries = {s.name.text: s for s in of(ast.Query) if isinstance(s, ast.Query)}
        self.columns = {
            name: {c.name.text: Symbol("column", c.name.text, c.name.span) for c in reversed(stream.columns)}
            for name, stream in self.streams.items()
        }
        for name in self.streams:
            self.columns[name] = self._of_rows(name, frozenset()) | self.columns[name]

    def _of_rows(self, name: str, within: frozenset[str]) -> dict[str, Symbol]:
        """The columns that a stream has of the rows of its query: results, or columns that these are called like."""
        query = self.query_of(self.streams[name])
        if query is None or name in within:
            return {}
        streams = self.streams_of(query)
        known = {one: self._of_rows(one, within | {name}) | self.columns[one] for one in streams if one in self.columns}
        found = dict(_results(query))
        for item in query.returns.items:
            if item.alias is None and isinstance(item.expression, ast.Reference):
                last = item.expression.parts[-1].text
                symbol = next((columns[last] for columns in known.values() if last in columns), None)
                if symbol is not None:
                    found.setdefault(last, symbol)
        return found

    def query_of(self, stream: ast.Stream) -> ast.Query | None:
        """The query whose rows are the stream's events."""
        return None if stream.query is None else self.queries.get(stream.query.text)

    # ---- what a name means

    def event_type(self, name: str) -> Symbol | None:
        if name in self.events:
            return Symbol("event type", name, self.events[name].name.span)
        for stream in reversed(self.streams.values()):
            if stream.event_type is None:
                if stream.name.text == name:
                    return Symbol("stream", name, stream.name.span)
            elif listed := next((t for t in stream.event_type.types or () if t.text == name), None):
                return Symbol("listed type", name, listed.span)
        unlisted = (s.event_type for s in reversed(self.streams.values()) if s.event_type is not None)
        return next((Symbol("listed type", name, e.column.span) for e in unlisted if e.types is None), None)

    def operand(self, name: str) -> Symbol | None:
        """In a pattern: a named pattern or an event type."""
        if name in self.patterns:
            return Symbol("pattern", name, self.patterns[name].name.span)
        return self.event_type(name)

    def stream(self, name: str) -> Symbol | None:
        return Symbol("stream", name, self.streams[name].name.span) if name in self.streams else None

    def column(self, name: str, streams: Iterable[str]) -> Symbol | None:
        return next((self.columns[s][name] for s in streams if name in self.columns.get(s, ())), None)

    def streams_of(self, query: ast.Query) -> tuple[str, ...]:
        """Those that the query may be about: those that it names, else those whose types its pattern names, or all."""
        if query.streams:
            return tuple(name.text for name in query.streams)
        return self.streams_in(query.pattern)

    def streams_in(self, pattern: ast.Pattern) -> tuple[str, ...]:
        """Those whose types a pattern names, or all."""
        found = set(self._owners(pattern, frozenset()))
        return tuple(name for name in self.streams if name in found) or tuple(self.streams)

    def _owners(self, pattern: ast.Pattern, within: frozenset[str]) -> Iterator[str]:
        """The streams of the types in a pattern, those of named patterns too."""
        for atom in atoms(pattern):
            name = atom.name.text
            if atom.stream is None and name in self.patterns and name not in within:
                yield from self._owners(self.patterns[name].pattern, within | {name})
            else:
                yield from self.owners(atom)

    def owners(self, atom: ast.Atom) -> tuple[str, ...]:
        """The streams of which the events of a type may be."""
        stream, name, seen = atom.stream, atom.name.text, set[str]()
        while stream is None and name in self.events and name not in seen:
            seen.add(name)
            stream, name = self.events[name].stream, self.events[name].base.text
        if stream is not None:
            return (stream.text,)
        listing = (s.name.text for s in self.streams.values() if _lists(s, name))
        return tuple(listing)

    def of_variable(self, name: str, scope: VariableScope, otherwise: tuple[str, ...]) -> tuple[str, ...]:
        """The streams of which the events of a variable may be."""
        for atom in atoms(scope.pattern):
            called = atom.alias or atom.name
            if called.text == name and (found := self.owners(atom)):
                return tuple(stream for stream in found if stream in otherwise) or otherwise
        return otherwise

    def variable(self, name: str, scope: VariableScope) -> tuple[Symbol, VariableScope | None] | None:
        """The variable of this name in a pattern; for an alias of a named pattern also the scope behind its dot."""
        for node in subpatterns(scope.pattern):
            if isinstance(node, ast.Atom | ast.AnyEvent) and node.alias is not None and node.alias.text == name:
                inside = self.inside(node, scope) if isinstance(node, ast.Atom) else None
                return Symbol("variable", name, node.alias.span), inside
        for atom in atoms(scope.pattern):
            if atom.alias is not None:
                continue
            inside = self.inside(atom, scope)
            if inside is not None:
                if (found := self.variable(name, inside)) is not None:
                    return found
            elif (real := in_name(atom.name, scope.arguments)) is not None and real.text == name:
                symbol = self.event_type(name)
                return None if symbol is None else (symbol, None)
        return None

    def inside(self, atom: ast.Atom, scope: VariableScope) -> VariableScope | None:
        """The scope of a named pattern in its place; None for an event type."""
        name = in_name(atom.name, scope.arguments)
        if name is None or name.text in scope.within or (declared := self.patterns.get(name.text)) is None:
            return None
        given = zip(declared.parameters or (), atom.arguments or (), strict=False)
        arguments = {parameter.text: in_expression(a, scope.arguments) for parameter, a in given}
        return VariableScope(declared.pattern, arguments, scope.within | {name.text})

    # ---- the names in a statement

    def in_statement(self, statement: ast.Statement) -> Iterator[SymbolUse]:
        match statement:
            case ast.Import():
                yield _import(statement)
            case ast.Stream():
                yield from self._stream(statement)
            case ast.DerivedEvent(name, base, where):
                yield name.span, Symbol("event type", name.text, name.span)
                if statement.stream is not None:
                    yield from _maybe(statement.stream.span, self.stream(statement.stream.text))
                yield from _maybe(base.span, self.event_type(base.text))
                scope = VariableScope(ast.Atom(base, alias=None))
                yield from self._expression(where, _Place(scope, tuple(self.streams), own=name))
            case ast.NamedPattern():
                yield from self._named_pattern(statement)
            case ast.Function(name, parameters, body):
                yield name.span, Symbol("function", name.text, name.span)
                place = _Place(None, tuple(self.streams), _parameters(parameters))
                yield from place.declared()
                yield from self._expression(body, place)
            case ast.Query():
                yield from self._query(statement)
            case ast.Test():
                yield from self._test(statement)

    def _stream(self, stream: ast.Stream) -> Iterator[SymbolUse]:
        yield stream.name.span, Symbol("stream", stream.name.text, stream.name.span)
        if stream.query is not None and (query := self.query_of(stream)) is not None:
            yield stream.query.span, Symbol("query", query.name.text, query.name.span)
        own = (stream.name.text,) if self.streams.get(stream.name.text) is stream else ()
        named = [column.name for column in stream.columns]
        if stream.event_time is not None:
            named += [stream.event_time.column, *stream.event_time.order_by]
        if stream.event_type is not None:
            named.append(stream.event_type.column)
            for listed in stream.event_type.types or ():
                yield from _maybe(listed.span, self.event_type(listed.text))
        for name in named:
            yield from _maybe(name.span, self.column(name.text, own))
        for column in stream.columns:
            yield from self._expression(column.expression, _Place(None, own))

    def _named_pattern(self, node: ast.NamedPattern) -> Iterator[SymbolUse]:
        yield node.name.span, Symbol("pattern", node.name.text, node.name.span)
        scope = VariableScope(node.pattern)
        place = _Place(scope, tuple(self.streams), _parameters(node.parameters or ()))
        yield from place.declared()
        yield from self._pattern(node.pattern, scope, place)
        yield from self._expression(node.where, place)

    def _query(self, query: ast.Query) -> Iterator[SymbolUse]:
        yield query.name.span, Symbol("query", query.name.text, query.name.span)
        for stream in query.streams:
            yield from _maybe(stream.span, self.stream(stream.text))
        scope = VariableScope(query.pattern)
        place = _Place(scope, self.streams_of(query))
        yield from self._pattern(query.pattern, scope, place)
        results = dict(_results(query))
        labels = {name.text: Symbol("label", name.text, name.span) for name, _ in reversed(query.labels)}
        yield from ((name.span, labels[name.text]) for name, _ in query.labels)
        place = replace(place, labels=labels)
        for item in query.returns.items:
            yield from self._expression(item.expression, place)
            if item.alias is not None:
                yield item.alias.span, results[item.alias.text]
        yield from self._expression(query.where, place)
        for group in query.group_by:
            yield from self._dotted(group.parts, place)
        yield from self._expression(query.having, replace(place, results=results))
        if query.after_match is not None:
            for variable in query.after_match.variables:
                yield from self._expression(variable, place)

    def _test(self, test: ast.Test) -> Iterator[SymbolUse]:
        yield test.name.span, Symbol("test", test.name.text, test.name.span)
        query = self.queries.get(test.query.text)
        if query is None:
            return
        yield test.query.span, Symbol("query", query.name.text, query.name.span)
        streams, results = self.streams_of(query), dict(_results(query))
        for given in test.given:
            own = streams if given.stream is None else (given.stream.text,)
            if given.stream is not None:
                yield from _maybe(given.stream.span, self.stream(given.stream.text))
            for name in given.values.columns or ():
                yield from _maybe(name.span, self.column(name.text, own))
        for name in (test.expected.columns if test.expected is not None else None) or ():
            yield from _maybe(name.span, results.get(name.text) or self.column(name.text, streams))

    def _pattern(self, pattern: ast.Pattern, scope: VariableScope, place: _Place) -> Iterator[SymbolUse]:
        for node in subpatterns(pattern):
            if not isinstance(node, ast.Atom | ast.AnyEvent):
                continue
            if node.alias is not None and (found := self.variable(node.alias.text, scope)) is not None:
                yield node.alias.span, found[0]
            if isinstance(node, ast.Atom):
                if node.stream is not None:
                    yield from _maybe(node.stream.span, self.stream(node.stream.text))
                names = [a.parts[0] for a in node.arguments or () if isinstance(a, ast.Reference)]
                for name in (node.name, *names):
                    meant = place.parameters.get(name.text) or self.operand(name.text)
                    yield from _maybe(name.span, meant or self.column(name.text, place.streams))

    def _expression(self, expression: ast.Expression | None, place: _Place) -> Iterator[SymbolUse]:
        if expression is None:
            return
        alone: set[int] = set()  # names that are the whole argument of a function of variables
        labels: set[int] = set()  # what LABEL names
        for node in walk(expression):
            match node:
                case ast.Call(function, arguments):
                    yield from self._function(function)
                    if function.text.upper() == LABEL and (label := label_named(node)) is not None:
                        labels |= {id(arguments[0])}
                        yield from _maybe(label.span, place.labels.get(label.text))
                    if function.text.upper() in _OF_VARIABLES:
                        alone |= {id(a) for a in arguments if isinstance(a, ast.Reference)}
                case ast.Reference(parts) if id(node) not in labels:
                    yield from self._dotted(parts, place, variable=id(node) in alone)
                case ast.Member(ast.Call(), name):
                    meant = place.parameters.get(name.text)
                    yield from _maybe(name.span, meant or self.column(name.text, place.streams))
                case ast.Equivalence(attributes):
                    for attribute in attributes:
                        column = attribute if isinstance(attribute, ast.Name) else attribute.parts[0]
                        yield from _maybe(column.span, self.column(column.text, place.streams))

    def _function(self, name: ast.Name) -> Iterator[SymbolUse]:
        own = self.functions.get(key(name))
        if own is not None:
            yield name.span, Symbol("function", own.name.text, own.name.span)
        else:
            yield name.span, Symbol("built-in function", name.text.upper(), NOWHERE)

    def _dotted(self, parts: tuple[ast.Name, ...], place: _Place, *, variable: bool = False) -> Iterator[SymbolUse]:
        """`x`, `v.x`, `w.p.x`: variables as far as there are, then a column; fields of it have no place."""
        first, *rest = parts
        column = self.column(first.text, place.streams)
        scope, found = place.scope, None
        if scope is not None and (rest or variable or column is None):
            found = self.variable(first.text, scope)
        if first.text in place.results and not rest:
            yield first.span, place.results[first.text]
        elif first.text in place.parameters:
            yield first.span, place.parameters[first.text]
            if rest:
                yield from _maybe(rest[0].span, self._behind_dot(rest[0], place))
        elif place.own is not None and first.text == place.own.text and rest:
            yield first.span, Symbol("event type", first.text, place.own.span)
            yield from _maybe(rest[0].span, self.column(rest[0].text, place.streams))
        elif found is not None:
            assert scope is not None
            streams = self.of_variable(first.text, scope, place.streams)
            symbol, scope = found
            yield first.span, symbol
            while rest and scope is not None and (found := self.variable(rest[0].text, scope)) is not None:
                streams = self.of_variable(rest[0].text, scope, place.streams)
                symbol, scope = found
                yield rest.pop(0).span, symbol
            if rest:
                yield from _maybe(rest[0].span, self._behind_dot(rest[0], replace(place, streams=streams)))
        elif column is None and len(rest) > 1 and first.text in self.streams:  # orders.Paid.amount
            yield from _maybe(first.span, self.stream(first.text))
            yield from _maybe(rest[0].span, self.event_type(rest[0].text))
            yield from _maybe(rest[1].span, self.column(rest[1].text, (first.text,)))
        elif column is not None:
            yield first.span, column

    def _behind_dot(self, name: ast.Name, place: _Place) -> Symbol | None:
        return place.parameters.get(name.text) or self.column(name.text, place.streams)


@dataclass(frozen=True, slots=True)
class _Place:
    """What names can mean in an expression; `own` is the name of the event type that is being derived."""

    scope: VariableScope | None
    streams: tuple[str, ...]
    parameters: Mapping[str, Symbol] = field(default_factory=dict)
    results: Mapping[str, Symbol] = field(default_factory=dict)
    own: ast.Name | None = None
    labels: Mapping[str, Symbol] = field(default_factory=dict)

    def declared(self) -> Iterator[SymbolUse]:
        return ((symbol.span, symbol) for symbol in self.parameters.values())


def _lists(stream: ast.Stream, type_: str) -> bool:
    if stream.event_type is None:
        return stream.name.text == type_
    return any(literal.text == type_ for literal in stream.event_type.types or ())


def _parameters(names: tuple[ast.Name, ...]) -> dict[str, Symbol]:
    return {name.text: Symbol("parameter", name.text, name.span) for name in names}


def _results(query: ast.Query) -> Iterator[tuple[str, Symbol]]:
    aliases = (item.alias for item in query.returns.items)
    return ((a.text, Symbol("result", a.text, a.span)) for a in aliases if a is not None)


def _import(node: ast.Import) -> SymbolUse:
    if node.module is not None:
        name = ".".join(part.text for part in node.module)
        return node.module[0].span.to(node.module[-1].span), Symbol("module", name, Span(0, 0, f"<{name}>"))
    path = imported_path(node.file or "", node.span.source)
    return node.span, Symbol("module", path, Span(0, 0, path))


def _maybe(span: Span, symbol: Symbol | None) -> Iterator[SymbolUse]:
    if symbol is not None:
        yield span, symbol
