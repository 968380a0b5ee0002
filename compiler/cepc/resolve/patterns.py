"""Named patterns where they are declared: what is wrong with them whether a query uses them or not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cepc_grammar import ast

from . import written
from .conditions import equivalences
from .events import EventTypes
from .inline import inline
from .messages import names as say
from .messages import patterns as say_pattern
from .negation import check_parts
from .query import named_conditions
from .struct_parts import text_of
from .walk import atoms, references, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cepc_grammar.diagnostic import Diagnostic

    from .names import Declarations


def check_patterns(declared: Declarations, types: Mapping[str, EventTypes]) -> Iterator[Diagnostic]:
    """Circles, parameters, and for a pattern that no query uses what its uses would tell."""
    reported: set[str] = set()
    for name, pattern in declared.patterns.items():
        yield from _parameters(pattern)
        for equivalence in equivalences(pattern.where):
            attributes = ", ".join(
                a.text if isinstance(a, ast.Name) else text_of(a.parts) for a in equivalence.attributes
            )
            yield say_pattern.equivalence_in_pattern(equivalence.span, attributes)
        if (way := declared.circles.get(name)) is not None and reported.isdisjoint(way):
            reported |= set(way)
            place = next(a.name.span for a in atoms(pattern.pattern) if a.name.text == way[1])
            yield say.pattern_cycle(place, way)
    yield from _unused(declared, types)


def _parameters(pattern: ast.NamedPattern) -> Iterator[Diagnostic]:
    parameters = {p.text: p for p in pattern.parameters or ()}
    if not parameters:
        return
    used = {a.name.text for a in atoms(pattern.pattern)}
    for atom in atoms(pattern.pattern):
        used |= {p.text for a in atom.arguments or () if isinstance(a, ast.Reference) for p in a.parts}
        if atom.alias is not None and atom.alias.text in parameters:
            yield say.alias_like_parameter(atom.alias, parameters[atom.alias.text].span)
    if pattern.where is not None:
        used |= {p.text for r in references(pattern.where) for p in r.parts}
        used |= {node.name.text for node in walk(pattern.where) if isinstance(node, ast.Member)}
    for parameter in pattern.parameters or ():
        if parameter.text not in used:
            yield say.unused_parameter(parameter, pattern.name.text)


def _unused(declared: Declarations, types: Mapping[str, EventTypes]) -> Iterator[Diagnostic]:
    """Patterns that stand in no query, as if one stood there alone; with one stream, where columns are known."""
    stack = [a.name.text for q in declared.queries for a in atoms(q.pattern)]
    used: set[str] = set()
    while stack:
        name = stack.pop()
        if name not in used:
            used.add(name)
            stack += [a.name.text for a in atoms(declared.patterns[name].pattern)] if name in declared.patterns else []
    only = next(iter(types.values())) if len(types) == 1 else EventTypes(None, declared, {})
    for name, pattern in declared.patterns.items():
        if name not in used:
            yield from _alone(pattern, declared, only)


def _alone(pattern: ast.NamedPattern, declared: Declarations, types: EventTypes) -> Iterator[Diagnostic]:
    """What is wrong with a pattern that stands alone. Parameters stand for themselves, and then no types are known."""
    parameters = pattern.parameters
    arguments = None if parameters is None else tuple(ast.Reference((p,), p.span) for p in parameters)
    mean_themselves = {p.text for p in parameters or ()} - {pattern.name.text}
    if hidden := mean_themselves & declared.patterns.keys():  # seldom: a copy for each of many patterns takes long
        others = {name: p for name, p in declared.patterns.items() if name not in hidden}
        declared = replace(declared, patterns=others)
    declared = replace(declared, query_names={})
    stream = None if parameters else types.stream
    columns = (
        None if types.stream is None else frozenset((*types.stream.columns, *types.stream.broken, *mean_themselves))
    )
    inlined = inline(
        ast.Atom(pattern.name, arguments, span=pattern.name.span),
        declared,
        EventTypes(None, declared, {}) if parameters else types,
    )
    yield from inlined.diagnostics
    if inlined.pattern is None or not inlined.complete:
        return
    yield from check_parts(inlined.pattern)
    for node in written.conditional(inlined.pattern):
        yield from named_conditions(node, stream, columns, complete=True)[1]
