"""Names in patterns: which are event types and which are named patterns; these are replaced by what they stand for.

`SEQ(trip w, Cancel)` with `PATTERN trip AS SEQ(Pickup p, Travel t)` is SEQ(SEQ(Pickup bound to `w.p`, Travel bound to
`w.t`), Cancel).
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_grammar.foreign_names import PATTERNS
from cepc_grammar.pattern import And, Named, Not, Or, Some, children, over
from cepc_runtime.cheap_dataclass import dataclass

from ..standard_library import module_of_pattern
from . import written
from .messages import names as say
from .messages import patterns as say_pattern
from .substitute import in_expression, in_name
from .walk import atoms, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.source import Span

    from .events import EventTypes
    from .names import Declarations
    from .written import Written

MOST_EVENTS = 10_000
MOST_LEVELS = 150  # so that later stages may recurse over it


@dataclass(frozen=True, slots=True)
class Inlined:
    """`pattern` is what could be resolved of it, `complete` whether that is all.

    `types` and `patterns` are the names in use, with a place of each; `aliases` those of named patterns,
    with the name of the pattern.
    """

    pattern: Written | None
    complete: bool
    diagnostics: tuple[Diagnostic, ...]
    types: Mapping[str, Span]
    patterns: Mapping[str, Span]
    aliases: Mapping[str, tuple[ast.Name, str]]


def inline(pattern: ast.Pattern, declared: Declarations, types: EventTypes) -> Inlined:
    """The pattern with names resolved."""
    work = _Inlining(declared, types)
    work.too_large = _least_events(pattern, frozenset(), declared.patterns, {}) > MOST_EVENTS
    result = work.pattern(pattern, _Place())
    if work.too_large:
        work.problems = [say_pattern.too_large(pattern.span, MOST_EVENTS, MOST_LEVELS)]
    return Inlined(result, work.complete, tuple(work.problems), work.types_used, work.patterns_used, work.aliases)


def _least_events(
    pattern: ast.Pattern,
    parameters: frozenset[str],
    patterns: Mapping[str, ast.NamedPattern],
    known: dict[str, int],
    depth: int = 0,
) -> int:
    """How many events there are at least when named patterns are written out, without writing them: to find in ten
    thousand steps that they are too many, for each of twenty patterns that double each other, takes a second.
    """
    events = 0
    for atom in atoms(pattern):
        name = atom.name.text
        named = None if name in parameters or depth == MOST_LEVELS else patterns.get(name)
        if named is not None and name not in known:
            known[name] = 1  # while it is counted, for one that contains itself
            own = frozenset(parameter.text for parameter in named.parameters or ())
            known[name] = _least_events(named.pattern, own, patterns, known, depth + 1)
        events += 1 if named is None else known[name]
    return events


@dataclass(frozen=True, slots=True)
class _Place:
    """Inside which named patterns: the prefix of variables, what parameters stand for, the names from the outside in.

    `depth` counts the levels of all of them.
    """

    prefix: str = ""
    arguments: Mapping[str, ast.Expression] = field(default_factory=dict)
    within: tuple[str, ...] = ()
    depth: int = 0

    def deeper(self) -> _Place:
        return _Place(self.prefix, self.arguments, self.within, self.depth + 1)


@dataclass
class _Inlining:
    declared: Declarations
    types: EventTypes
    problems: list[Diagnostic] = field(default_factory=list)
    types_used: dict[str, Span] = field(default_factory=dict)
    patterns_used: dict[str, Span] = field(default_factory=dict)
    aliases: dict[str, tuple[ast.Name, str]] = field(default_factory=dict)
    complete: bool = True
    too_large: bool = False
    events: int = 0

    def pattern(self, node: ast.Pattern, place: _Place) -> Written | None:
        if place.depth > MOST_LEVELS or self.too_large:
            return self._stop()
        place = place.deeper()
        match node:
            case ast.Atom():
                return self._atom(node, place)
            case ast.AnyEvent(alias, span):
                return self._event(None, alias, span, place)
            case Not(body, within, span):
                inner = self.pattern(body, place)
                return None if inner is None else Not(inner, within, span)
        resolved = tuple(p for part in children(node) if (p := self.pattern(part, place)) is not None)
        if len(resolved) == 1 and isinstance(node, And | Or | Some):
            return resolved[0]
        return over(node, resolved) if resolved else None

    def _atom(self, atom: ast.Atom, place: _Place) -> Written | None:
        parameter = atom.name
        name = in_name(parameter, place.arguments)
        if name is None:
            argument = place.arguments[parameter.text]
            return self._give_up(say.argument_kind(argument.span, parameter, parameter.span, "an event type"))
        if atom.stream is not None:
            return self._of_stream(atom, atom.stream, name, place)
        declaration = self.declared.patterns.get(name.text)
        if declaration is not None:
            return self._named(replace(atom, name=name), declaration, place)
        if name.text in self.declared.lost.operands:
            return self._give_up()
        if name.text in self.declared.query_names and not self._is_type(name):
            return self._give_up(say.query_as_operand(name, self.declared.query_names[name.text].span))
        unknown = self.types.unknown(name)
        if atom.arguments is not None:
            is_type = unknown is None and self._is_type(name)
            module = None if is_type else module_of_pattern(name.text)
            if module is not None:
                return self._give_up(say.not_imported_pattern(name, module))
            return self._give_up(say.unknown_pattern(name, self.declared.patterns, is_type))
        if unknown is not None and atom.alias is not None and self._are_swapped(name, atom.alias):
            self.problems.append(say.alias_before_type(name, atom.alias))
            return self._event(atom.alias, name, atom.span, place)  # as it is meant: what mentions it is right
        if unknown is not None:
            self.problems.append(unknown)
        self.types_used.setdefault(name.text, name.span)
        return self._event(name, atom.alias, atom.span, place)

    def _of_stream(self, atom: ast.Atom, stream: ast.Name, name: ast.Name, place: _Place) -> Written | None:
        """An event type with its stream before it."""
        if stream.text not in self.declared.streams:
            if stream.text in self.declared.lost.streams:
                return self._give_up()
            return self._give_up(say.unknown_stream(stream, list(self.declared.streams)))
        whole = ast.Name(f"{stream.text}.{name.text}", stream.span.to(name.span))
        if atom.arguments is not None:
            return self._give_up(say.unknown_pattern(whole, self.declared.patterns, is_type=True))
        unknown = self.types.unknown(whole)
        if unknown is not None:
            self.problems.append(unknown)
        self.types_used.setdefault(whole.text, whole.span)
        return self._event(whole, atom.alias, atom.span, place)

    def _is_type(self, name: ast.Name) -> bool:
        return self.types.lists(name.text)

    def _are_swapped(self, name: ast.Name, alias: ast.Name) -> bool:
        """Whether the alias is meant as the type; EVERY and the like have a cure of their own."""
        return self._is_type(alias) and name.text.upper() not in PATTERNS

    def _event(self, type_: ast.Name | None, alias: ast.Name | None, span: Span, place: _Place) -> Written | None:
        self.events += 1
        if self.events > MOST_EVENTS:
            return self._stop()
        if alias is not None and alias.text in place.arguments:
            self.complete = False  # check_patterns reports it
        name = alias.text if alias is not None else "ANY" if type_ is None else type_.text
        at = alias.span if alias is not None else span
        owner = None if type_ is None else self.types.owner(type_.text)
        return written.Event(place.prefix + name, type_, alias is not None, at, owner)

    def _named(self, atom: ast.Atom, declaration: ast.NamedPattern, place: _Place) -> Written | None:
        name = declaration.name.text
        self.patterns_used.setdefault(name, atom.name.span)
        if name in place.within:
            # A circle of declarations is reported there; this one is closed by an argument.
            way = [*place.within[place.within.index(name) :], name]
            return self._give_up(None if name in self.declared.circles else say.pattern_cycle(atom.name.span, way))
        parameters = declaration.parameters or ()
        given = tuple(in_expression(a, place.arguments) for a in atom.arguments or ())
        if len(given) != len(parameters) or (atom.arguments is not None and declaration.parameters is None):
            return self._give_up(say.arity(atom, declaration))
        misused = list(_not_names(declaration, dict(zip(parameters, given, strict=True))))
        self.problems += misused
        prefix = place.prefix
        if atom.alias is not None:
            prefix = f"{place.prefix}{atom.alias.text}."
            self.aliases.setdefault(place.prefix + atom.alias.text, (atom.alias, name))
        arguments = {p.text: a for p, a in zip(parameters, given, strict=True)}
        inside = _Place(prefix, arguments, (*place.within, name), place.depth)
        body = self.pattern(declaration.pattern, inside)
        if body is None:
            return None
        where = None if declaration.where is None or misused else in_expression(declaration.where, arguments)
        return Named(body, written.Use(name, where, prefix), atom.name.span)

    def _give_up(self, problem: Diagnostic | None = None) -> Written | None:
        """Leave a part out. It counts as an event, so that patterns of wrong parts end as well."""
        self.complete = False
        self.events += 1
        self.too_large = self.too_large or self.events > MOST_EVENTS
        self.problems += [] if problem is None else [problem]
        return None

    def _stop(self) -> Written | None:
        self.too_large = True
        return self._give_up()


def _not_names(declaration: ast.NamedPattern, arguments: Mapping[ast.Name, ast.Expression]) -> Iterator[Diagnostic]:
    """Arguments that are values where the parameter stands for a column."""
    values = {p.text: (p, a) for p, a in arguments.items() if not isinstance(a, ast.Reference)}
    if not values or declaration.where is None:
        return
    for node in walk(declaration.where):
        match node:
            case ast.Reference((_, *parts)) if parts:
                used = parts
            case ast.Member(_, name):
                used = [name]
            case _:
                continue
        for name in used:
            if name.text in values:
                parameter, argument = values.pop(name.text)
                yield say.argument_kind(argument.span, parameter, name.span, "a column")
