"""What is said about streams and event time: the E06 family."""

from __future__ import annotations

from itertools import chain, count
from typing import TYPE_CHECKING

from cepc_grammar.diagnostic import Diagnostic, Label
from cepc_grammar.spelling import name_text
from cepc_runtime.plan.stream import MICROSECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cepc_grammar import ast
    from cepc_grammar.source import Span
    from cepc_runtime.sql.types import DataType

    from ... import model


def event_time_type(column: ast.Name, type_: DataType, declared: Span, taken: Iterable[str]) -> Diagnostic:
    """`taken` are the names of the stream's columns."""
    hint = ""
    if type_.sql == "STRING":
        name = _name_of_a_time(taken)
        computed = f"{name} AS CAST({name_text(column)} AS TIMESTAMP)"
        hint = (
            f"declare it as TIMESTAMP, if that is what the data has; of text write `{computed}` after it, and"
            f" `EVENT TIME {name}`"
        )
    return Diagnostic(
        "E0601",
        f"the event time `{column.text}` is {type_.sql}",
        column.span,
        "no type of a time",
        notes=("an event time is a TIMESTAMP, TIMESTAMP_NTZ or DATE, or an integer with a unit",),
        others=(Label(declared, "declared here"),),
        hint=hint,
    )


def unit_of_time(column: ast.Name, type_: DataType, unit: str) -> Diagnostic:
    return Diagnostic(
        "E0602",
        f"UNIT requires an integer event time; `{column.text}` is {type_.sql}",
        column.span,
        f"the unit `{unit}` says nothing here",
        notes=(f"a {type_.sql} has a unit of its own",),
        hint=f"leave `UNIT {unit}` out",
    )


def times_differ(stream: ast.Stream, time: model.TimeColumn, other: ast.Stream, first: model.TimeColumn) -> Diagnostic:
    """Of two streams whose events one query sees. The cure loses nothing of a time."""
    assert stream.event_time is not None
    assert other.event_time is not None
    changed, was, wanted = (stream, time, first) if _fineness(first) >= _fineness(time) else (other, first, time)
    unit = "" if wanted.unit is None else f" UNIT {wanted.unit}"
    name = _name_of_a_time(column.name.text for column in changed.columns)
    computed = f"{name} AS {_as_time(_named(was.column), was, wanted)}"
    return Diagnostic(
        "E0228",
        f"the event times of `{other.name.text}` and `{stream.name.text}` are not of one type",
        stream.event_time.column.span,
        f"this is {_time_text(time)}",
        notes=("a query over several streams brings their events into one order of time",),
        others=(Label(other.event_time.column.span, f"this is {_time_text(first)}"),),
        hint=f"compute one: in `{changed.name.text}` write `{computed}`, and `EVENT TIME {name}{unit}`",
    )


def _name_of_a_time(taken: Iterable[str]) -> str:
    """For a column that is computed, where others have these names."""
    others = {name.casefold() for name in taken}
    names = chain(("time", "event_time", "instant"), (f"time{number}" for number in count(2)))
    return next(name for name in names if name not in others)


_OF_SECONDS = {"s": "SECONDS", "ms": "MILLIS", "us": "MICROS"}
_SIZES = ("TINYINT", "SMALLINT", "INT", "BIGINT")


def _fineness(time: model.TimeColumn) -> tuple[int, int, int]:
    if time.unit is None:
        return (0 if time.type.sql == "DATE" else 2), 0, 0
    return 1, -MICROSECONDS[time.unit], _SIZES.index(time.type.sql)


def _time_text(time: model.TimeColumn) -> str:
    return time.type.sql if time.unit is None else f"{time.type.sql} with UNIT {time.unit}"


def _as_time(column: str, time: model.TimeColumn, wanted: model.TimeColumn) -> str:
    """How a column of one type of time is made of one that is coarser."""
    if time.unit is None and wanted.unit is None:
        return f"CAST({column} AS {wanted.type.sql})"
    if time.unit is None:
        assert wanted.unit is not None
        number = f"UNIX_{_OF_SECONDS[wanted.unit]}(CAST({column} AS TIMESTAMP))"
    elif wanted.unit is None:
        instant = f"TIMESTAMP_{_OF_SECONDS[time.unit]}({column})"
        return instant if wanted.type.sql == "TIMESTAMP" else f"CAST({instant} AS {wanted.type.sql})"
    else:
        factor = MICROSECONDS[time.unit] // MICROSECONDS[wanted.unit]
        if factor == 1:
            return f"CAST({column} AS {wanted.type.sql})"
        number = f"{column if time.type.sql == 'BIGINT' else f'CAST({column} AS BIGINT)'} * {factor}"
    return number if wanted.type.sql == "BIGINT" else f"CAST({number} AS {wanted.type.sql})"


def _named(column: str) -> str:
    from cepc_grammar import ast

    return name_text(ast.Name(column))


def no_event_time(stream: ast.Stream, candidates: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        "E0603",
        f"the stream `{stream.name.text}` has no EVENT TIME",
        stream.name.span,
        "nothing says in which order its events happened",
        notes=("a pattern is about the order of events",),
        hint=f"add `EVENT TIME {candidates[0] if candidates else 'column'}`",
    )


def not_orderable(column: ast.Name, type_: DataType) -> Diagnostic:
    return Diagnostic(
        "E0604",
        f"`{column.text}` has no order",
        column.span,
        f"{type_.sql} values cannot be sorted",
        hint="leave it out of ORDER BY",
    )


def type_column(column: ast.Name, type_: DataType) -> Diagnostic:
    return Diagnostic(
        "E0605",
        f"the event type `{column.text}` is {type_.sql}",
        column.span,
        "no type of a name",
        notes=("the column that tells the types of events apart is compared as a string",),
        hint="name a column with a single value",
    )


def source_format(source: ast.From, near: str) -> Diagnostic:
    return Diagnostic(
        "E0606",
        f"unknown source format `{source.format.upper()}`",
        source.span,
        "no format that Spark reads",
        hint=f"did you mean `FROM {near.upper()}`?",
    )


def no_stream(query: ast.Name) -> Diagnostic:
    return Diagnostic(
        "W0601",
        "no STREAM is declared, so columns and types of events are not checked",
        query.span,
        "this query can be checked only in part",
        notes=("running a query requires a STREAM",),
        hint="give a file with the `STREAM` as well: `cepc check stream.cep …`",
    )


# ---- computed columns ------------------------------------------------------------------------------------------------


def computed_from_itself(column: ast.Column, name: ast.Name) -> Diagnostic:
    return Diagnostic(
        "E0607",
        f"the column `{column.name.text}` is computed from itself",
        name.span,
        "this is the column that is computed here",
        notes=("a column is computed from columns that are declared before it",),
        hint=f"call the column of the input something else than `{name.text}`, or the computed one",
    )


def computed_from_later(column: ast.Column, name: ast.Name, other: ast.Column, *, circle: bool) -> Diagnostic:
    what = f"`{column.name.text}` and `{name.text}` are computed from each other"
    return Diagnostic(
        "E0607",
        what if circle else f"the column `{name.text}` is declared after it is used",
        name.span,
        f"`{column.name.text}` is computed before `{name.text}` is known",
        notes=("a column is computed from columns that are declared before it",),
        others=(Label(other.name.span, "declared here"),),
        hint="compute one of the two without the other" if circle else f"declare `{name.text}` first",
    )


def computed_type(column: ast.Column, written: ast.Expression, found: DataType, type_: DataType) -> Diagnostic:
    return Diagnostic(
        "E0608",
        f"the column `{column.name.text}` is declared as {type_.sql}, and computed as {found.sql}",
        written.span,
        f"this is {found.sql}",
        notes=("a value becomes one of the declared type where Spark SQL would store it in such a column",),
        hint=f"write `CAST(… AS {type_.sql})`, or leave the type out",
    )


def no_event_in_column(name: ast.Name) -> Diagnostic:
    return Diagnostic(
        "E0609",
        "FIRST, LAST and PREV in a computed column",
        name.span,
        f"`{name.text}` is a column of one record",
        notes=("a column is computed of one record, before any query looks at it",),
        hint="WHERE and RETURN of a query relate events to one another",
    )


def event_in_column(name: ast.Name, column: str) -> Diagnostic:
    return Diagnostic(
        "E0609",
        f"`{name.text}` is no column",
        name.span,
        "a computed column sees the other columns of its record",
        notes=("variables and event types are of queries; a record has no name",),
        hint=f"write `{column}`",
    )
