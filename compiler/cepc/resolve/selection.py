"""SELECT and AFTER MATCH, and what in a pattern belongs to them alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar.diagnostic import Diagnostic
from cepc_grammar.pattern import Repeat, Selected, Some, outside_not, walk
from cepc_runtime.plan.after import SkipFor, SkipPastLast, SkipTo, SkipToNext

from .. import model
from .durations import Tick, ticks
from .messages import clauses as say
from .messages import durations as say_duration
from .messages import patterns as say_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal as OneOf

    from cepc_grammar import ast
    from cepc_runtime.plan.after import AfterMatchSkip

    from .scopes import Names
    from .written import Written


def next_parts(query: model.Query) -> Iterator[Diagnostic]:
    """What is wrong with NEXT around a part of the pattern: whether an event could come next must be known from it
    alone.
    """
    scoped = (c for scope in model.scopes(query.pattern) for c in scope.conditions)
    conditions = [c for c in (*query.conditions, *scoped) if not any(query.variable(v).negated for v in c.variables)]
    for part in walk(query.pattern):
        if not isinstance(part, Selected) or part.select != "NEXT":
            continue
        events = [node for node in outside_not(part.body) if isinstance(node, model.Event)]
        of = {event.variable for event in events}
        for condition in conditions:
            if of.issuperset(condition.variables):
                yield say_pattern.next_of_conditions(part.span, condition.span, "conditions between its events")
        if len({(event.variable, event.conditions) for event in events}) > len(of):
            yield say_pattern.next_of_conditions(part.span, None, "several conditions on one variable")


def selection(
    query: ast.Query, kind: OneOf["aggregate", "match"], pattern: Written, names: Names, unit: Tick | None
) -> tuple[AfterMatchSkip | None, list[Diagnostic]]:
    """Where to go on after a match, if that is said, and what is wrong with AFTER MATCH."""
    clause = query.after_match
    if clause is None:
        marks = [n.span for n in walk(pattern) if isinstance(n, Repeat) and n.reluctant]
        return None, [say_pattern.reluctant(span) for span in marks]
    problems = [say_pattern.some_with_after_match(n.span, clause.span) for n in walk(pattern) if isinstance(n, Some)]
    if kind == "aggregate":
        problems.append(
            say.after_match_here(
                clause.span, "an aggregate query counts every match", "leave AFTER MATCH out, or `RETURN MATCH …`"
            )
        )
    elif query.select == "ANY":
        problems.append(
            say.after_match_here(
                clause.span, "without SELECT every match is returned", "add `SELECT NEXT` or `SELECT CONTIGUOUS`"
            )
        )
    if clause.duration is not None:
        length = ticks(clause.duration, unit)
        if isinstance(length, Diagnostic):
            return None, [*problems, say_duration.skipped(length)]
        return None if length is None else SkipFor(length), problems
    match clause.skip:
        case "TO NEXT EVENT":
            return SkipToNext(), problems
        case "PAST LAST EVENT":
            return SkipPastLast(), problems
    variables: list[str] = []
    for written in clause.variables:
        found = names.split(written)
        if found is None or found[1]:
            problems += [names.unknown(written)] if names.complete else []
            continue
        variable, _ = found
        if variable.negation is not None:
            problems.append(say_pattern.negated_returned(variable.name, written.span, variable.negation.span))
        variables.append(variable.name)
    return SkipTo("FIRST" if clause.skip == "TO FIRST" else "LAST", tuple(variables)), problems
