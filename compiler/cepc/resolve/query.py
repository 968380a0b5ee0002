"""One query: from its syntax to the checked query, rule by rule, all errors of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar.diagnostic import Diagnostic
from cepc_grammar.pattern import Named, Repeat, walk
from cepc_runtime.cheap_dataclass import dataclass

from .. import model
from . import warnings, written
from .build import build
from .conditions import Sorted, sort_conditions, two_negations
from .inline import inline
from .messages import names as say
from .names import clashes
from .negation import check_pattern
from .partition import Partition, partition
from .results import Surroundings, kind_of, results
from .scopes import Names, Others, PatternScope, names
from .selection import next_parts, selection
from .structure import check_structure
from .variables import Variable, check_variables, variables
from .walk import conjuncts
from .windows import long_gaps, window

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cepc_grammar import ast
    from cepc_grammar.source import Span
    from cepc_runtime.plan.stream import Beside

    from ..automaton.positions import Built
    from .durations import Tick
    from .events import EventTypes
    from .names import Declarations
    from .streams import KnownStream
    from .written import Written


MOST_TRACED = 100
"""Places in other files of which it is said where the query uses them: each is a walk through the pattern."""


@dataclass(frozen=True, slots=True)
class ResolvedQuery:
    """`query` is None where something is wrong, and without a stream. `types` are the event types in use, with a place
    of each.

    `overflow` is the warning that its counts can pass BIGINT, which is given once a file. `built` are its positions,
    where a warning needed them. `beside` are columns of its conditions that are of other events.
    """

    query: model.Query | None
    diagnostics: tuple[Diagnostic, ...]
    types: Mapping[str, Span]
    overflow: Diagnostic | None = None
    built: Built | None = None
    beside: tuple[Beside, ...] = ()


def resolve_query(query: ast.Query, declared: Declarations, types: EventTypes) -> ResolvedQuery:
    """The query over the stream of these event types."""
    problems: list[Diagnostic] = []
    inlined = inline(query.pattern, declared, types)

    def refused(*more: Diagnostic) -> ResolvedQuery:
        return ResolvedQuery(None, (*problems, *more), inlined.types)

    problems += inlined.diagnostics
    pattern = inlined.pattern
    if pattern is None:
        return refused()
    problems += check_variables(inlined, types, declared.patterns)
    if inlined.complete:
        problems += check_pattern(pattern)
    found_variables = variables(pattern)
    known = names(found_variables, complete=inlined.complete)
    problems += _derived(query, inlined.types, types)
    shared, found = partition(query, types.stream, known)
    problems += found
    others = Others(shared.agree)
    conditions, found = _conditions(query, pattern, known, shared, types.stream, others)
    problems += found
    kind = kind_of(query)
    problems += clashes("label", [name for name, _ in query.labels])
    labels = {name.text: value for name, value in query.labels}
    returned, found = results(query, Surroundings(kind, known, shared, types.stream, labels, query.returns.each))
    problems += found
    unit = None if types.stream is None else types.stream.tick
    problems += _gaps(pattern, unit)
    cut, found = window(
        query, kind, unit, several_events=sum(1 for _ in written.positive(pattern)) > 1 or _repeats(pattern)
    )
    problems += found
    problems += long_gaps(query, written.negations(pattern))
    after, found = selection(query, kind, pattern, known, unit)
    problems += found
    problems = _with_uses(problems, pattern, query.span.source)
    if any(d.severity == "error" for d in problems) or types.stream is None or unit is None:
        return refused()
    if conditions is None or returned is None or cut is None:
        return refused()
    made = _variables(found_variables, types, conditions[0])
    if made is None:
        return refused()
    checked = model.Query(
        name=query.name.text,
        stream=types.stream.name,
        kind=kind,
        pattern=build(pattern, conditions[1], unit),
        variables=made,
        partition=shared.agree,
        group_by=shared.group_by,
        conditions=conditions[0].conditions,
        window=cut,
        outputs=returned.outputs,
        having=returned.having,
        returns_events=returned.returns_events,
        select=query.select,
        after=after,
        labels=tuple(labels.items()),
        mentioned=_mentioned(found_variables, types),
        each=query.returns.each,
        span=query.span,
    )
    if wrong := list(next_parts(checked)):
        return refused(*_with_uses(wrong, pattern, query.span.source))
    built = warnings.positions_to_warn(checked)
    problems += () if built is None else warnings.enumeration(checked, built)
    problems += warnings.before_the_last(checked)
    overflow = warnings.overflow(query, checked, pattern)
    beside = tuple(others.columns.values())
    return ResolvedQuery(checked, tuple(problems), inlined.types, overflow, built, beside)


def _with_uses(problems: list[Diagnostic], pattern: Written, source: str) -> list[Diagnostic]:
    """What is wrong in patterns of other files with the places that use them in the query's own file."""
    known: dict[Span, list[Span]] = {}
    found = []
    for problem in problems:
        span = problem.span
        if span.source != source and all(label.span.source != source for label in problem.others):
            if span not in known and len(known) < MOST_TRACED:
                known[span] = _uses(pattern, source, span)
            problem = say.used_at(problem, known.get(span, ()))
        found.append(problem)
    return found


def _uses(pattern: Written, source: str, span: Span) -> list[Span]:
    """Where the query's own file uses the patterns that have the span, not the patterns around these."""
    uses = {id(n): n for n in walk(pattern) if isinstance(n, Named) and n.span.source == source and _holds(n, span)}
    inmost = (n for n in uses.values() if not any(id(part) in uses for part in walk(n.body)))
    return list(dict.fromkeys(n.span for n in inmost))


def _holds(use: Named[Written, written.Use], span: Span) -> bool:
    """Whether it is in a part of the named pattern or in its conditions."""
    spans = [part.span for part in walk(use.body)]
    spans += [n.scope.where.span for n in walk(use) if isinstance(n, Named) and n.scope.where is not None]
    return any(s.source == span.source and s.start <= span.start and span.end <= s.end for s in spans)


def _derived(query: ast.Query, used: Iterable[str], types: EventTypes) -> list[Diagnostic]:
    """What is wrong with the derived events of the query over its stream; over another one they may be right."""
    if types.stream is None:
        return []
    wrong = [error for name in used for error in types.errors(name)]
    return [say.over_streams(error, query.name.span, types.stream.names) for error in wrong]


def _variables(
    found: Mapping[str, Variable], types: EventTypes, conditions: Sorted
) -> tuple[model.Variable, ...] | None:
    made = []
    for variable in found.values():
        test = types.test(None if variable.type is None else variable.type.text)
        if test is None:
            return None  # a derived event is wrong, and has its error
        test = model.EventTest(test.raw_type, (*test.conditions, *conditions.tests_of(variable)))
        negated = variable.negation is not None
        made.append(model.Variable(variable.name, variable.type_name, test, variable.is_list, negated, variable.span))
    return tuple(made)


def _mentioned(found: Mapping[str, Variable], types: EventTypes) -> tuple[model.EventTest, ...]:
    names = dict.fromkeys(None if variable.type is None else variable.type.text for variable in found.values())
    return tuple(test for name in names if (test := types.test(name)) is not None)


def _conditions(
    query: ast.Query,
    pattern: Written,
    known: Names,
    shared: Partition,
    stream: KnownStream | None,
    others: Others,
) -> tuple[tuple[Sorted, dict[int, Sorted]] | None, list[Diagnostic]]:
    """The conditions of the query, and those of its named patterns by the identity of their nodes."""
    problems: list[Diagnostic] = []
    agree = frozenset(shared.agree)
    whole, inner = None, {}
    if stream is None:
        problems += structure_problems(query.where, known, agree)
    else:
        returned = frozenset(item.alias.text for item in query.returns.items if item.alias and not query.returns.each)
        scope = PatternScope(known, stream, agree, reported=shared.wrong, others=others, returned=returned)
        whole, wrong = sort_conditions(query.where, scope)
        problems += wrong
    failed = False
    for node in written.conditional(pattern):
        conditions, wrong = named_conditions(node, stream, agree, known.complete, shared.wrong, others)
        problems += wrong
        failed = failed or conditions is None
        if conditions is not None:
            inner[id(node)] = conditions
    return (None if whole is None or failed else (whole, inner)), problems


def named_conditions(
    node: Named[Written, written.Use],
    stream: KnownStream | None,
    agree: frozenset[str] | None,
    complete: bool,
    reported: frozenset[str] = frozenset(),
    others: Others | None = None,
) -> tuple[Sorted | None, list[Diagnostic]]:
    """The conditions of a named pattern in its place, over its own variables."""
    use = node.scope
    known = names(variables(node.body), use.prefix, f"the pattern `{use.name}`", complete=complete)
    if stream is None:
        return None, structure_problems(use.where, known, agree)
    others = others or Others(())
    return sort_conditions(use.where, PatternScope(known, stream, agree, reported=reported, others=others))


def structure_problems(where: ast.Expression | None, known: Names, agree: frozenset[str] | None) -> list[Diagnostic]:
    """What can be said of conditions when columns are not known."""
    found: list[Diagnostic] = []
    for conjunct in conjuncts(where):
        found += check_structure(conjunct, known, agree, None)
        found += two_negations(conjunct, known)
    return found


def _gaps(pattern: Written, unit: Tick | None) -> list[Diagnostic]:
    from .durations import ticks

    lengths = [ticks(n.within, unit) for n in written.negations(pattern) if n.within is not None]
    return [d for d in lengths if isinstance(d, Diagnostic)]


def _repeats(pattern: Written) -> bool:
    return any(isinstance(n, Repeat) and n.most != 1 for n in walk(pattern))
