"""`cepc functions`: what may be called in an expression."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cepc_runtime.sql.aggregate_functions import AGGREGATES

from . import completers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc_runtime.sql.functions import Function

# What is no function of values but of the events of a match: usage and meaning.
OF_EVENTS = {
    "matches and their events": (
        ("COUNT(*)", "the number of matches; in a match query, of a match's events"),
        ("COUNT(v), COUNT(v.x)", "the number of events bound to v, with x not null"),
        ("SUM(v.x), AVG(v.x)", "over the x of the same events that are not null"),
        ("MIN(v.x), MAX(v.x)", "the least and the greatest x of events bound to v"),
        (
            "VARIANCE(v.x), VAR_POP(v.x)",
            "the variance of the same x, as of a sample and as of all there is; x is exact",
        ),
        ("STDDEV(v.x), STDDEV_POP(v.x)", "the roots of the two"),
        ("TRY_COUNT(…), TRY_SUM(…)", "the same, null where the result does not fit its type"),
        ("COUNT(DISTINCT v.x)", "in a match query: the number of different x; DISTINCT stands in SUM and others, too"),
        (
            "MIN_BY(v.x, v.y), MAX_BY(v.x, v.y)",
            "in a match query: the x of the first event bound to v that has the least, or the greatest y",
        ),
        ("COLLECT(v.x)", "in a match query: the x of the events bound to v, an array in their order"),
        ("FIRST(v).x, LAST(v).x", "the x of the first and of the last event bound to v"),
        ("FIRST(v, n).x, LAST(v, n).x", "that of the n-th event after the first, before the last; null without one"),
        ("MATCH_NUMBER()", "in a match query with AFTER MATCH: 1, 2, … in the order of the partition's matches"),
        ("VARIABLE()", "in RETURN EACH: the name of the variable to which the row's event is bound"),
        ("LABEL(name)", "in RETURN and HAVING: what a label of the query says, `QUERY q WITH (name = 'text')`"),
        ("PREV(v).x, PREV(v, n).x", "in a condition on v: the x of the event bound to v before this one, or the n-th"),
        (
            "LAG(v.x), LAG(v.x, n)",
            "in WHERE: the x of the event one place, or n, before that of v, among all events of its partition",
        ),
        ("LEAD(v.x), LEAD(v.x, n)", "the same of the event behind it"),
        (
            "RUNNING COUNT(v), RUNNING SUM(v.x)",
            "in conditions on v and in RETURN EACH: of v's events up to this one, without RUNNING of all; MIN … too",
        ),
    )
}


@click.command(short_help="List the functions of expressions.")
@click.argument("name", required=False, shell_complete=completers.functions)
@click.pass_context
def functions(ctx: click.Context, name: str | None) -> None:
    """List the functions that mean the same in every engine, or describe one."""
    from cepc_runtime.sql.functions import GROUPS

    if name is not None:
        ctx.exit(_describe(name))
    for group, rows in OF_EVENTS.items():
        _table(group, rows)
    for group, members in GROUPS.items():
        _table(group, ((function.usage, _summary(function)) for function in members))
    click.echo("Any other deterministic scalar function of Spark's makes a query run on Spark alone.")


def described(name: str) -> tuple[tuple[str, str], ...]:
    """Usage and meaning of what has the name; nothing of a function that not every engine has."""
    from cepc_runtime.sql.functions import find

    of_events = [(usage, text) for rows in OF_EVENTS.values() for usage, text in rows if f"{name.upper()}(" in usage]
    function = find(name)
    if of_events or function is None:
        return tuple(of_events)
    also = "" if function.usage.startswith(f"{name.lower()}(") else f" (also written {name.lower()})"
    return ((function.usage, f"{_summary(function)}{also}"),)


def _describe(name: str) -> int:
    from cepc_runtime.sql.functions import names
    from cepc_runtime.sql.functions.spark import find_spark

    from ..diagnostics.near import did_you_mean

    if found := described(name):
        click.echo("\n".join(f"{usage}: {text}" for usage, text in found))
    elif (other := find_spark(name, 1)) is not None and other.kind == "scalar":
        click.echo(f"{other.name}: a function of Spark's; a query that calls it runs on Spark alone")
    elif other is not None:
        raise click.UsageError(f"the function `{other.name}` is not allowed: {_REASONS[other.kind]}")
    else:
        near = did_you_mean(name, names())
        raise click.UsageError(f"there is no function `{name}`" + (f"; {near}" if near else ""))
    return 0


_COUNTED = [function.written for function in AGGREGATES if function.countable]
_REASONS = {
    "aggregate": f"a query aggregates the events of its matches by {', '.join(_COUNTED[:-1])} and {_COUNTED[-1]} alone",
    "window": "a query's windows are given by WITHIN, SLIDE and OFFSET",
    "generator": "an expression has one value",
    "higher-order": "it takes a function, `x -> …`, which an expression cannot hold",
    "nondeterministic": "an expression must have the same value each time",
}


def _summary(function: Function) -> str:
    return function.summary if function.exact else f"{function.summary} (the last digit may differ between engines)"


def _table(group: str, rows: Iterator[tuple[str, str]] | tuple[tuple[str, str], ...]) -> None:
    lines = list(rows)
    width = max(len(usage) for usage, _ in lines)
    click.echo(f"{group}:")
    for usage, text in lines:
        click.echo(f"  {usage:{width}}  {text}")
    click.echo()
