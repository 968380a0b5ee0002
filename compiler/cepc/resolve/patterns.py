"""Named patterns where they are declared: what is wrong with them whether a query uses them or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar import ast

from . import written
from .conditions import equivalences
from .inline import inline
from .messages import names as say
from .messages import patterns as say_pattern
from .negation import check_parts
from .query import named_conditions
from .walk import atoms, references, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cepc_grammar.diagnostic import Diagnostic

    from .events import EventTypes
    from .names import Declarations


def check_patterns(declared: Declarations, types: Mapping[str, EventTypes]) -> Iterator[Diagnostic]:
    """Circles, parameters, and for a pattern that no query uses what its uses would tell."""
    uses = {name: [a.name.text for a in atoms(p.pattern)] for name, p in declared.patterns.items()}
    circular: set[str] = set()
    for name, pattern in declared.patterns.items():
        yield from _parameters(pattern)
        for equivalence in equivalences(pattern.where):
            attributes = ", ".join(a.text for a in equivalence.attributes)
            yield say_pattern.equivalence_in_pattern(equivalence.span, attributes)
        if name not in circular and (chain := _circle(name, uses)) is not None:
            circular |= set(chain)
            place = next(a.name.span for a in atoms(pattern.pattern) if a.name.text == chain[1])
            yield say.pattern_cycle(place, chain)
    yield from _unused(declared, types, uses)


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


def _unused(
    declared: Declarations, types: Mapping[str, EventTypes], uses: Mapping[str, list[str]]
) -> Iterator[Diagnostic]:
    """Patterns that stand in no query, as if one stood there alone; with one stream, and no parameters to give."""
    stack = [a.name.text for q in declared.queries for a in atoms(q.pattern)]
    used: set[str] = set()
    while stack:
        name = stack.pop()
        if name not in used:
            used.add(name)
            stack += uses.get(name, ())
    if len(types) != 1:
        return
    (only,) = types.values()
    for name, pattern in declared.patterns.items():
        if name in used or pattern.parameters is not None:
            continue
        inlined = inline(ast.Atom(pattern.name), declared, only)
        yield from inlined.diagnostics
        if inlined.pattern is not None and inlined.complete:
            yield from check_parts(inlined.pattern)
            for node in written.walk(inlined.pattern):
                if isinstance(node, written.Named) and node.where is not None:
                    yield from named_conditions(node, only.stream, None, complete=True)[1]


def _circle(name: str, uses: Mapping[str, list[str]]) -> list[str] | None:
    """The shortest chain from the pattern back to itself."""
    before: dict[str, str] = {}
    queue = [name]
    for current in queue:
        for used in uses.get(current, ()):
            if used == name:
                chain = [name]
                while current != name:
                    chain.insert(1, current)
                    current = before[current]
                return [*chain, name]
            if used not in before and used in uses:
                before[used] = current
                queue.append(used)
    return None
