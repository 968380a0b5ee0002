"""The variables of a pattern: names, types, whether a match can bind them to more than one event, which are negated."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_grammar.pattern import Not, Or, Repeat, children, fold
from cepc_runtime.cheap_dataclass import dataclass

from . import written
from .messages import names as say
from .messages import patterns as say_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.source import Span

    from .events import EventTypes
    from .inline import Inlined
    from .written import Written


@dataclass(frozen=True, slots=True)
class Variable:
    """`type` is None for ANY; `negation` is the NOT that it belongs to; `stream` is that of its events, where there are
    several.
    """

    name: str
    type: ast.Name | None
    is_list: bool
    negation: written.Negation | None
    span: Span
    stream: str | None = None

    @property
    def is_called_by_type(self) -> bool:
        return self.type is not None and self.name == self.type.text

    @property
    def type_name(self) -> str:
        return "ANY" if self.type is None else self.type.text


def variables(pattern: Written) -> dict[str, Variable]:
    """The variables in the order of first occurrence."""
    most = occurrences(pattern)
    found: dict[str, Variable] = {}
    for event, negation in _events(pattern, None):
        if event.variable not in found:
            listed = most[event.variable] > 1
            found[event.variable] = Variable(event.variable, event.type, listed, negation, event.span, event.stream)
    return found


def occurrences(pattern: Written) -> Counter[str]:
    """To how many events a match can bind each variable, 2 standing for more; a match of its NOT for a negated one."""

    def bound(node: Written, parts: tuple[Counter[str], ...]) -> Counter[str]:
        total: Counter[str] = Counter()
        match node:
            case written.Event(variable):
                total[variable] = 1
            case Or():
                for one in parts:
                    total |= one
            case Repeat(body, _, most) if most != 1:
                negated = {e.variable for n in written.negations(body) for e in written.events(n)}
                total.update({v: n if v in negated else 2 for v, n in parts[0].items()})
            case _:
                for one in parts:
                    total.update(one)
        return total

    return fold(pattern, bound)


def check_variables(
    inlined: Inlined, types: EventTypes, patterns: Mapping[str, ast.NamedPattern]
) -> Iterator[Diagnostic]:
    """One type for each variable, a name of its own for each negated one, and no alias that means something else.
    `patterns` are the declared ones.
    """
    if inlined.pattern is None:
        return
    first: dict[str, tuple[written.Event, written.Negation | None]] = {}
    reported: set[str] = set()
    for event, negation in _events(inlined.pattern, None):
        earlier, its_negation = first.setdefault(event.variable, (event, negation))
        if event.variable in reported or earlier is event:
            continue
        if negation is not its_negation:
            reported.add(event.variable)
            here, there = (event, earlier) if negation is not None else (earlier, event)
            yield say_pattern.negated_name(event.variable, here.span, there.span, here.type_name)
        elif event.type_name != earlier.type_name:
            reported.add(event.variable)
            yield say_pattern.two_types(event.variable, event.span, event.type_name, earlier.span, earlier.type_name)
    yield from _taken_names(inlined, types, patterns, {name: event for name, (event, _) in first.items()})
    yield from _twins({name: event.span for name, (event, _) in first.items()})


def _events(
    node: Written, negation: written.Negation | None
) -> Iterator[tuple[written.Event, written.Negation | None]]:
    if isinstance(node, written.Event):
        yield node, negation
    if negation is None and isinstance(node, Not):
        negation = node
    for part in children(node):
        yield from _events(part, negation)


def _taken_names(
    inlined: Inlined,
    types: EventTypes,
    patterns: Mapping[str, ast.NamedPattern],
    variables: Mapping[str, written.Event],
) -> Iterator[Diagnostic]:
    def pattern_called(alias: ast.Name) -> Span | None:
        """One in use, or one declared in the text that has the alias: a module knows nothing of what others declare."""
        declared = patterns.get(alias.text)
        if alias.text in inlined.patterns or declared is None or declared.span.source != alias.span.source:
            return inlined.patterns.get(alias.text)
        return declared.name.span

    for name, event in variables.items():
        if not event.aliased or name == event.type_name:
            continue
        alias = ast.Name(name, event.span)
        if (listed := inlined.types.get(name) or types.place(name)) is not None:
            yield say.alias_taken(alias, "event type", listed)
        elif (other := pattern_called(alias)) is not None:
            yield say.alias_taken(alias, "pattern", other)
    for name, (alias, pattern) in inlined.aliases.items():
        if (listed := inlined.types.get(name) or types.place(name)) is not None:
            yield say.alias_taken(alias, "event type", listed)
        elif name != pattern and (other := pattern_called(ast.Name(name, alias.span))) is not None:
            yield say.alias_taken(alias, "pattern", other)
        elif name in variables:
            yield say.alias_taken(alias, "variable", variables[name].span)


def _twins(names: Mapping[str, Span]) -> Iterator[Diagnostic]:
    folded: dict[str, str] = {}
    for name, span in names.items():
        twin = folded.setdefault(name.casefold(), name)
        if twin != name:
            yield say.case_twins("variable", name, span, twin, names[twin])
