"""Event types: those of a stream, and those derived from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.expression import Expression, Field

from .. import model
from ..expressions import ExpressionContext, VariableInfo, nested_field, type_condition
from .merging import renamed
from .messages import names as say
from .walk import conjuncts, references

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from cepc_grammar import ast
    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.source import Span

    from .names import Declarations
    from .streams import KnownStream

ANY = "ANY"


@dataclass(frozen=True, slots=True)
class EventScope:
    """The names in the condition of a derived event: the columns of the event at hand.

    Its own name or its base's, which are `own`, may stand before them.
    """

    stream: KnownStream
    own: tuple[str, ...]

    def reference(self, reference: ast.Reference) -> Expression | Diagnostic:
        parts = reference.parts
        if len(parts) > 1 and parts[0].text in self.own and parts[0].text not in self.stream.columns:
            parts = parts[1:]
        first, *rest = parts
        type_ = self.stream.columns.get(first.text)
        if type_ is None:
            return self._unknown(first, rest)
        return nested_field(Field(None, first.text, "each", type_), rest)

    def variable(self, reference: ast.Reference) -> VariableInfo | Diagnostic:
        name = ".".join(p.text for p in reference.parts)
        return say.variable_in_event(name, reference.span, next(iter(self.stream.columns), "column"))

    def info(self, name: str) -> VariableInfo:
        raise KeyError(name)

    def of_all_events(self, arguments: Sequence[ast.Expression]) -> None:
        """There are no matches."""

    def beside(self, column: Field, places: int) -> Field:
        raise NotImplementedError

    def _unknown(self, first: ast.Name, rest: list[ast.Name]) -> Diagnostic:
        if rest and rest[0].text in self.stream.columns:
            return say.variable_in_event(first.text, first.span, rest[0].text)
        return self.stream.unknown_value(first, cure="derive the type from one of a stream")


class EventTypes:
    """The event types of one stream; without a stream every name is one. Conditions are typed when first needed."""

    def __init__(self, stream: KnownStream | None, declared: Declarations, streams: Mapping[str, KnownStream]) -> None:
        self.stream = stream
        self._declared = declared
        self._streams = streams
        members = () if stream is None else stream.members
        self._members = {m.stream.name: EventTypes(m.stream, declared, streams) for m in members}
        self._tests: dict[str, model.EventTest | None] = {}
        self._conditions: dict[str, tuple[Expression, ...] | None] = {}
        self.problems: dict[str, list[Diagnostic]] = {}

    def unknown(self, name: ast.Name) -> Diagnostic | None:
        """What to say of a name that is no event type of the stream."""
        named = typed(name.text, self._declared)
        said, root, stream = named.said, named.root, self.stream
        if stream is None or root in self._declared.events:
            return None
        streams = [stream] if not stream.members else [member.stream for member in stream.members]
        fitting = owners(said, root, streams)
        if len(fitting) == 1 or root == ANY:
            return None
        if fitting:
            return say.type_of_several_streams(name, fitting)
        if name.text in self._declared.events and len(self._streams) < 2:
            return None  # its declaration has the error
        others = owners(said, root, [s for s in self._streams.values() if s.types is not None])
        names = [one.name for one in streams]
        if others:
            return say.type_of_other_stream(name, names, others)
        if name.text in self._streams and name.text not in self._declared.events:
            types = self._streams[name.text].types
            if types:
                return say.stream_for_type(name, list(types))
        if said is not None and name.text not in self._declared.events:
            one = self._streams[said]
            return say.unknown_type_of_stream(name, root, said, None if one.has_one_type else list(one.types or ()))
        known = [*(t for one in streams for t in one.types or ()), *self._declared.events]
        untyped = stream.name if stream.has_one_type else None
        return say.unknown_type(name, known, self._declared.patterns, say.streams_searched(names), untyped)

    def owner(self, name: str) -> str | None:
        """Of several streams the one whose events are of the type; None for ANY, and where there is one stream."""
        if self.stream is None or not self.stream.members:
            return None
        named = typed(name, self._declared)
        found = owners(named.said, named.root, [member.stream for member in self.stream.members])
        return found[0] if len(found) == 1 and named.root != ANY else None

    def lists(self, name: str) -> bool:
        """Whether it is listed, or derived."""
        if self._members:
            return any(member.lists(name) for member in self._members.values())
        named, stream = typed(name, self._declared), self.stream
        if named.chain[0] in self._declared.events:
            return True
        if stream is None:
            return any(one.types is not None and named.root in one.types for one in self._streams.values())
        ours = stream is not None and named.said in (None, stream.name)
        return ours and stream.types is not None and named.root in stream.types

    def place(self, name: str) -> Span | None:
        """Where the name is declared or listed as an event type: of its streams, or else of another one."""
        own = [] if self.stream is None else [self.stream, *(member.stream for member in self.stream.members)]
        for stream in (*own, *self._streams.values()):
            if stream.types is not None and name in stream.types:
                return stream.types[name].span
        event = self._declared.events.get(name)
        return None if event is None else event.name.span

    def test(self, name: str | None) -> model.EventTest | None:
        """Which events are of the type (None: ANY); None where a condition has errors, or there is no stream."""
        if name is None:
            return model.EventTest(None)
        if name not in self._tests:
            self._tests[name] = self._test(name)
        return self._tests[name]

    def conditions(self, event: ast.DerivedEvent) -> tuple[Expression, ...] | None:
        """The conditions of a derived event itself, typed."""
        name = event.name.text
        if name not in self._conditions and self.stream is not None:
            typed: list[Expression | None] = []
            self.problems[name] = []
            for conjunct in conjuncts(event.where):
                if mentions(conjunct, self.stream.broken):
                    typed.append(None)
                    continue
                expression, found = type_condition(
                    conjunct, EventScope(self.stream, (name, event.base.text)), ExpressionContext.EVENT
                )
                typed.append(expression)
                self.problems[name] += found
            good = [t for t in typed if t is not None]
            self._conditions[name] = tuple(good) if len(good) == len(typed) else None
        return self._conditions.get(name)

    def errors(self, name: str) -> list[Diagnostic]:
        """What is wrong, over this stream, with the conditions of a type and of those that it is derived from."""
        if (member := self._members.get(self.owner(name) or "")) is not None:
            return member.errors(name)
        named = typed(name, self._declared)
        if named.said is not None and self.stream is not None and named.said != self.stream.name:
            return []
        *derived, raw = named.chain
        if self.stream is None or raw in self._declared.events or not has_type(self.stream, raw):
            return []  # the name itself is wrong
        for one in derived:
            self.conditions(self._declared.events[one])
        return [d for one in reversed(derived) for d in self.problems[one] if d.severity == "error"]

    def _test(self, name: str) -> model.EventTest | None:
        if self.stream is not None and (member := self.stream.member(self.owner(name))) is not None:
            own = self._members[member.stream.name].test(name)
            if own is None:
                return None
            one = member.stream.name
            type_ = one if member.stream.has_one_type else model.type_of(one, own.raw_type or "")
            return model.EventTest(type_, tuple(renamed(c, member) for c in own.conditions))
        chain = typed(name, self._declared).chain
        raw = chain[-1]
        if self.stream is None or raw in self._declared.events:
            return None
        found = [self.conditions(self._declared.events[n]) for n in reversed(chain[:-1])]
        conditions = [c for one in found if one is not None for c in one]
        any_type = raw == ANY or self.stream.has_one_type
        return None if None in found else model.EventTest(None if any_type else raw, tuple(conditions))


def check_events(declared: Declarations, types: Mapping[str, EventTypes]) -> Iterator[Diagnostic]:
    """What is wrong with the derived events, used or not; `types` by stream."""
    in_cycle: set[str] = set()
    for event in declared.events.values():
        name = event.name.text
        chain = derivation(name, declared)
        if chain[-1] in declared.events:
            if chain[-1] == name and name not in in_cycle:
                in_cycle |= set(chain)
                yield say.event_cycle(event.base.span, chain)
            continue
        if not types or chain[-1] in declared.lost.operands:
            continue
        if event.stream is not None and event.stream.text not in types:
            if event.stream.text not in declared.lost.streams:
                yield say.unknown_stream(event.stream, list(types))
            continue
        said = typed(name, declared).said
        fitting = [
            t
            for t in types.values()
            if t.stream is not None and has_type(t.stream, chain[-1]) and said in (None, t.stream.name)
        ]
        if not fitting:
            if len(chain) == 2 and all(t.stream is not None for t in types.values()):
                yield _unknown_base(event, declared, types)
            continue
        problems = []
        for one in fitting:
            one.conditions(event)
            problems.append(one.problems[name])
        if all(any(d.severity == "error" for d in found) for found in problems):
            yield from problems[0]
        else:
            yield from (d for found in problems for d in found if d.severity != "error")


def derivation(name: str, declared: Declarations) -> list[str]:
    """The name, its base, the base's base …, down to a type that is not derived, or to the first name that comes
    again.
    """
    chain = {name: None}  # a dict, in which a name is found at once however long it is
    while (event := declared.events.get(name)) is not None:
        name = event.base.text
        if name in chain:
            return [*chain, name]
        chain[name] = None
    return list(chain)


@dataclass(frozen=True, slots=True)
class TypeName:
    """The name of an event type: `said` is the stream that is written before it, or before one that it is derived from,
    `chain` its derivation.
    """

    said: str | None
    chain: tuple[str, ...]

    @property
    def root(self) -> str:
        return self.chain[-1]


def typed(name: str, declared: Declarations) -> TypeName:
    said, plain = None, name
    if name not in declared.events and "." in name:
        streams = [stream for stream in declared.streams if name.startswith(f"{stream}.")]
        if streams:
            said = max(streams, key=len)
            plain = name.removeprefix(f"{said}.")
    chain = derivation(plain, declared)
    for one in chain:
        event = declared.events.get(one)
        if said is None and event is not None and event.stream is not None:
            said = event.stream.text
    return TypeName(said, tuple(chain))


def owners(said: str | None, root: str, streams: Iterable[KnownStream]) -> list[str]:
    """The streams of which events of the type are: the one that is said, those that list it, or else those that list
    none.
    """
    fitting = [s for s in streams if said in (None, s.name) and has_type(s, root)]
    listing = [s for s in fitting if s.types is not None and root in s.types]
    return [s.name for s in listing or fitting]


def has_type(stream: KnownStream, name: str) -> bool:
    return stream.types is None or name in stream.types or name == ANY


def mentions(expression: ast.Expression, names: frozenset[str] | set[str]) -> bool:
    """Whether one of the names stands anywhere in it."""
    return bool(names) and any(part.text in names for reference in references(expression) for part in reference.parts)


def _unknown_base(event: ast.DerivedEvent, declared: Declarations, types: Mapping[str, EventTypes]) -> Diagnostic:
    said = [] if event.stream is None else [event.stream.text]
    among = [stream for t in types.values() if (stream := t.stream) is not None and stream.name in (said or types)]
    known = [*(n for stream in among for n in stream.types or ())]
    if not said:
        known += [n for n in declared.events if n != event.name.text]
    where = f"the stream `{among[0].name}`" if len(among) == 1 else "any stream"
    return say.unknown_type(event.base, known, (), where)
