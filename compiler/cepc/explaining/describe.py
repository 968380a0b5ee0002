"""A checked program in words and lists, for `cepc explain FILE`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeGuard

from cepc_grammar.pattern import Named, Not, Repeat, Selected, Seq, fold, word
from cepc_grammar.spelling import quantifier_text, string_text
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.after import SkipFor, SkipPastLast, SkipTo, SkipToNext
from cepc_runtime.plan.stream import MICROSECONDS, PLACE
from cepc_runtime.sql.expression import Aggregate, Field, Literal, as_written, in_parentheses, of_variable, rewrite
from cepc_runtime.sql.spark_sql import to_sql

from .. import model
from .numbers import number_words, numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cepc_runtime.plan.after import AfterMatchSkip
    from cepc_runtime.plan.query import QueryPlan
    from cepc_runtime.sql.expression import Expression

    from ..model import CheckedProgram
    from .numbers import HowMany

UNITS = (
    ("day", 86_400_000_000),
    ("hour", 3_600_000_000),
    ("minute", 60_000_000),
    ("second", 1_000_000),
    ("ms", 1_000),
    ("microsecond", 1),
)
_READABLE = 1_001


Fact = tuple[str, str]
"""A label, empty where the fact goes on the list above it, and what is said."""


@dataclass(frozen=True, slots=True)
class Description:
    """The facts about a stream or a query."""

    name: str
    facts: tuple[Fact, ...]


def streams(program: CheckedProgram) -> tuple[Description, ...]:
    """Those declared, and those that queries see together."""
    declared = tuple(Description(stream.name, tuple(_stream(stream))) for stream in program.streams)
    return declared + tuple(Description(stream.name, tuple(_several(stream))) for stream in program.merged)


def queries(program: CheckedProgram) -> tuple[Description, ...]:
    """What each query looks for: its pattern, variables, conditions by kind, and windows."""
    return tuple(
        Description(query.name, tuple(_query(query, program.stream(query.stream)))) for query in program.queries
    )


def _stream(stream: model.Stream) -> Iterator[Fact]:
    if stream.type_column is None:
        yield "events", f"all of one type, {stream.name}"
    else:
        yield "events", f"{', '.join(stream.types) if stream.types else 'of any type'}, by {stream.type_column}"
    time = stream.time
    late = f", up to {duration(time.watermark, stream)} late" if time.watermark else ""
    unit = f" in {time.unit}" if time.unit else ""
    ties = f", then by {', '.join(time.order_by)}" if time.order_by else ""
    yield "time", f"{time.column} {time.type}{unit}{ties}{late}"
    yield from listed("columns", (f"{name} {type_}" for name, type_ in stream.input.columns))
    computed = [column for column in stream.input.computed if column.name not in dict(stream.fields)]
    yield from listed("computed", (f"{c.name} {c.expression.type}: {expression(c.expression)}" for c in computed))
    if stream.source is not None:
        yield "source", f"{stream.source[0]} {stream.source[1]}"
    if stream.query is not None:
        yield "source", f"the rows of the query {stream.query.name}"


def _several(stream: model.Stream) -> Iterator[Fact]:
    yield "events", f"those of {', '.join(member.stream for member in stream.members)}"
    ties = f", then by {', '.join(stream.time.order_by)}" if stream.time.order_by else ""
    yield "time", f"{stream.time.type}{f' in {stream.time.unit}' if stream.time.unit else ''}{ties}"
    yield from listed("columns", (f"{name} {type_}" for name, type_ in stream.columns if name != PLACE))


def _query(query: model.Query, stream: model.Stream) -> Iterator[Fact]:
    each = "a row for each event of each match" if query.each else "a row for each match"
    yield "answers", each if query.kind == "match" else "a row for each group and window"
    yield from listed("labels", (f"{name} = {string_text(value)}" for name, value in query.labels))
    if stream.members:
        yield "streams", ", ".join(member.stream for member in stream.members)
    else:
        yield "stream", query.stream
    yield "pattern", pattern(query.pattern, stream)
    bound = numbers(query.pattern)
    yield from listed("variables", (_variable(variable, bound[variable.name]) for variable in query.variables))
    if query.partition:
        yield "agreeing", f"all events of a match agree on {', '.join(query.partition)}"
    if query.group_by:
        yield "groups", ", ".join(query.group_by)
    conditions = [*query.conditions, *(c for scope in model.scopes(query.pattern) for c in scope.conditions)]
    yield from listed("conditions", (f"{c.text}  (over {' and '.join(c.variables)})" for c in conditions))
    yield "window", windows_of(query, stream)
    if query.select != "ANY":
        yield "selection", query.select
    if query.after is not None:
        yield "then", f"skip {skipped(query.after, stream)}"
    if query.returns_events:
        yield "returns", "events, an array of all events of the match"
    yield from listed("returns", (f"{o.name} {o.expression.type}: {expression(o.expression)}" for o in query.outputs))
    if query.having is not None:
        yield "having", expression(query.having)


def _variable(variable: model.Variable, bound: HowMany) -> str:
    number = "no " if variable.negated else f"{number_words(bound)} "
    tests = " and ".join(expression(condition) for condition in variable.test.conditions)
    named = "" if variable.name == variable.type else f"{variable.name}: "
    return f"{named}{number}{variable.type}{' where ' + tests if tests else ''}"


def skipped(after: AfterMatchSkip, stream: model.Stream) -> str:
    """What AFTER MATCH SKIP says."""
    match after:
        case SkipToNext():
            return "TO NEXT EVENT"
        case SkipPastLast():
            return "PAST LAST EVENT"
        case SkipTo(end, variables):
            return f"TO {end} {' or '.join(variables)}"
        case SkipFor(length):
            return f"FOR {duration(length, stream)}"


def windows_of(query: model.Query, stream: model.Stream) -> str:
    """In which windows matches are counted, or how far one may reach."""
    return query.window.in_full(partial(duration, stream=stream))


# ---- parts of the language as text -----------------------------------------------------------------------------------


def pattern(node: model.Pattern, stream: model.Stream, event: Callable[[str], str] = lambda variable: variable) -> str:
    """A pattern over variables, each as `event` writes it, named patterns written out."""

    def text(node: model.Pattern, parts: tuple[str, ...]) -> str:
        match node:
            case model.Event(variable):
                return event(variable)
            case Repeat():
                return parts[0] + quantifier_text(node)
            case Not(_, within):
                return f"NOT {parts[0]}" + (f" WITHIN {duration(within, stream)}" if within else "")
            case Named():
                return parts[0]
            case Selected(Seq()):
                return word(node) + parts[0].removeprefix("SEQ")
        return f"{word(node)}({', '.join(parts)})"

    return fold(node, text)


def duration(ticks: int, stream: model.Stream) -> str:
    """A number of ticks of the stream in words: 1200000000 of a TIMESTAMP are `20 minutes`."""
    return in_words(ticks * MICROSECONDS[stream.time.tick])


def in_words(microseconds: int) -> str:
    """In the largest unit that divides it, or where that would be a number that nobody reads, in several.

    >>> in_words(5_400_000_000), in_words(5_423_000_000)
    ('90 minutes', '1 hour 30 minutes 23 seconds')
    """
    for unit, length in UNITS:
        amount, rest = divmod(microseconds, length)
        if rest == 0 and amount < _READABLE:
            return _amount(amount, unit)
    parts, left = [], microseconds
    for unit, length in UNITS:
        amount, left = divmod(left, length)
        parts += [_amount(amount, unit)] if amount else []
    return " ".join(parts)


def _amount(amount: int, unit: str) -> str:
    return f"{amount} {unit}{'' if amount == 1 or unit == 'ms' else 's'}"


def window(query: QueryPlan, stream: model.Stream) -> str:
    """How far a match may reach, or the windows that it is counted in."""
    return query.window.in_short(partial(duration, stream=stream))


def expression(node: Expression) -> str:
    """A typed expression as Spark SQL, its variables by name, and its numbers as people write them."""
    names: list[str] = []

    def placeholder(leaf: Field | Aggregate) -> str:
        names.append(_leaf(leaf))
        return f"\0{len(names) - 1}\0"

    text = to_sql(rewrite(node, _as_written), placeholder)
    for i, name in enumerate(names):
        text = text.replace(f"`\0{i}\0`", name)
    return text[1:-1] if _is_enclosed(text) else text


def _as_written(node: Expression) -> Expression:
    """`3` for `3.0D` and `3L`: of which type a number is, its neighbours say. A leaf without a variable is its name."""
    if isinstance(node, Literal) and _is_number(node.value) and 0 <= node.value < _PLAIN:
        return Field(None, repr(node.value).removesuffix(".0"), "each", node.type)
    return node


_PLAIN = 1e15


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _leaf(leaf: Field | Aggregate) -> str:
    if isinstance(leaf, Field):
        return of_variable(leaf.event, leaf.column) if leaf.variable else as_written(leaf.column)
    name = "RUNNING " * leaf.running + "TRY_" * leaf.safe + leaf.function.written
    return f"{name}({in_parentheses(leaf, expression)})"


def _is_enclosed(text: str) -> bool:
    """Does the first parenthesis close at the very end?"""
    depth = 0
    for i, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return i > 0 and i == len(text) - 1
    return False


def listed(label: str, texts: Iterable[str]) -> Iterator[Fact]:
    """A list of facts under one label."""
    for i, text in enumerate(texts):
        yield "" if i else label, text
