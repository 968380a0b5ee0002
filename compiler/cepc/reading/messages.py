"""What is said about events: the E07 family. Each function makes one diagnostic."""

from __future__ import annotations

import re
from shlex import quote
from typing import TYPE_CHECKING, Final

from cepc_grammar import ast
from cepc_grammar.diagnostic import Diagnostic
from cepc_grammar.source import NOWHERE, Span
from cepc_grammar.spelling import name_text
from cepc_runtime.sql.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    INTERVAL,
    MAX_PRECISION,
    STRING,
    TIMES,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Decimal,
    Map,
    integer_range,
    is_integer,
    is_numeric,
)

from .. import run_settings as settings
from .. import stream_words as streams
from ..diagnostics.cells import clean
from ..diagnostics.listed import listed
from ..diagnostics.near import nearest
from ..wording import first_of
from .uses import NONE_KNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cepc_runtime.sql.evaluate.errors import EvaluationError
    from cepc_runtime.sql.types import DataType

    from .uses import Uses

UNUSABLE = ("E0701", "E0702", "E0703", "E0704", "E0705", "E0718")
"""Codes that say that the command names no events that can be read; the others say that the events are wrong."""


def _about(code: str, title: str, name: str, *notes: str, hint: str = "") -> Diagnostic:
    return Diagnostic(code, title, Span(0, 0, name) if name else NOWHERE, notes=notes, hint=hint)


COLUMNS: Final = 3
"""As many are shown."""


# ---- files -----------------------------------------------------------------------------------------------------------


def missing(name: str, near: str | None, directory: str | None, cure: str = "") -> Diagnostic:
    """`near` is a path that may be meant; `directory` is missing as well; `cure` is of a path of another kind."""
    notes = (f"the directory `{directory}` does not exist either",) if directory else ()
    hint = f"did you mean `{near}`?" if near else "name a file or a directory of events, or `-` for standard input"
    hint = cure or hint
    return _about("E0701", f"there are no events at `{name}`: no such file or directory", name, *notes, hint=hint)


def no_files(name: str, others: Sequence[str], form: str | None) -> Diagnostic:
    """`others` are files that are there and not read; `form` is the title of the format that was asked for."""
    what = f"no {form} files" if form else "no files of events"
    notes = (f"it holds {first_of(others)}",) if others else ("it is empty",)
    hint = f"{settings.FORMAT_OF_OTHERS.of()} says what files with other names are" if others and not form else ""
    return _about("E0702", f"the directory `{name}` has {what}", name, *notes, hint=hint)


def nothing_to_look_at(name: str) -> Diagnostic:
    return _about(
        "E0719", f"there are no events in {name}", name,
        "what the columns are and which events there are is seen from the events",
        hint="give some events that are already there; a hundred will do",
    )  # fmt: skip


def no_columns(name: str, left_out: Mapping[str, str]) -> Diagnostic:
    """`left_out` says of each column why it is none of a STREAM."""
    notes = [f"the column {column or 'without a name'} {why}" for column, why in left_out.items()]
    return _about(
        "E0719", f"there are no columns for a STREAM in {name}", name, *(notes[:COLUMNS] or ["its records are empty"]),
        hint="give events with a column that says when they happened, and one that says of which type they are",
    )  # fmt: skip


def several_formats(name: str, titles: Sequence[str], first: str) -> Diagnostic:
    """`first` is the name of one of them."""
    return _about(
        "E0703", f"the directory `{name}` has files of several formats", name,
        f"there are {' and '.join(titles)} files", hint=f"choose one: {settings.FORMAT.of(form=first)}",
    )  # fmt: skip


def unknown_format(
    name: str, looks: tuple[str, str] | None, suffixes: Sequence[str], compressed: Sequence[str]
) -> Diagnostic:
    """`looks` are title and name of the format that it may have, `suffixes` those of all formats, `compressed` what
    may stand behind those of text.
    """
    what, form = (f"it looks like {looks[0]}: ", looks[1]) if looks else ("", "FORMAT")
    cure = settings.TABS.of() if ".tsv" in name.lower() else settings.ADDED_FORMAT.of(form=form)
    return _about(
        "E0703", f"the name of `{name}` does not say in which format it is", name,
        f"known are {listed(suffixes, 'and')}, the text formats also with {listed(compressed, 'or')}",
        hint=f"{what}{cure}",
    )  # fmt: skip


def wrong_option(name: str, title: str, why: str, hint: str) -> Diagnostic:
    return _about("E0718", f"{title} files cannot be read so: {why}", name, hint=hint)


def another_format(name: str, title: str, others: Sequence[str]) -> Diagnostic:
    """Of a file whose content is not of the format `title`."""
    names = listed((f"`{other}`" for other in others), "or")
    return unreadable(name, f"it is no {title} file", settings.ANOTHER_FORMAT.of(form=names[1:-1]))


TRUNCATED = "Truncated compressed stream"  # as pyarrow says it


def unreadable(name: str, reason: str, hint: str = "") -> Diagnostic:
    if reason == "Permission denied" and not hint:
        hint = f"its owner can allow it: `chmod a+r {quote(name)}`"
    if reason == TRUNCATED:
        return cut(name, "its compressed text has no end")
    return _about("E0704", f"`{name}` cannot be read: {reason}", name, hint=hint)


def unsayable(name: str) -> Diagnostic:
    """Of a name that is no text, which no FROM can have."""
    return unreadable(name, "its name is no text in UTF-8", "give it another name, which a program can say")


def no_regular_file(name: str) -> Diagnostic:
    """Of a device or a socket."""
    return unreadable(name, "it is no regular file", "`… | cepc run … --events -` reads what a command writes")


def not_compressed(name: str, compression: str) -> Diagnostic:
    """Of a file whose name says that its text is."""
    whole, dot, suffix = name.rpartition(".")
    hint = f"if its text is not compressed, take `{dot}{suffix}` off its name: `mv {quote(name)} {quote(whole)}`"
    return unreadable(name, f"its name ends in `{dot}{suffix}`, and it is no {compression} file", hint)


def compressed(name: str, compression: str, suffix: str) -> Diagnostic:
    """Of a file whose name should end in `suffix`."""
    return unreadable(
        name, f"it is a {compression} file", f"add `{suffix}` to its name: `mv {quote(name)} {quote(name + suffix)}`"
    )


def binary_format(name: str, title: str, form: str, renamed: str | None) -> Diagnostic:
    """Of a file of that format that was taken for text, because of its name if it is to be `renamed`."""
    rename = f", or rename it: `mv {quote(name)} {quote(renamed)}`" if renamed else ""
    return unreadable(
        name, f"it is {'an' if title[0] in 'AO' else 'a'} {title} file",
        f"{settings.ADDED_FORMAT.of(form=form)}{rename}",
    )  # fmt: skip


def utf16(name: str) -> Diagnostic:
    hint = f"add {settings.OPTION_OR_CLAUSE.of(key='encoding', value='UTF-16')}"
    return unreadable(name, "it is UTF-16, and UTF-8 is expected", hint)


def not_utf8(name: str) -> Diagnostic:
    latin = settings.OPTION.of(key="encoding", value="latin-1")
    hint = f"if it is Latin-1, add {latin}; cp1252 and others are written in the same way"
    return unreadable(name, "it is no UTF-8 text", hint)


def far_times(name: str) -> Diagnostic:
    hint = "write the events as Parquet, whose times may be of any year"
    return unreadable(name, "it has times before 1678 or after 2261, which are not read of ORC", hint)


CUT = "write or copy it once more, and read it when that is done"


def cut(name: str, reason: str) -> Diagnostic:
    """Of a file that somebody still writes, or whose writing or copying was broken off."""
    return unreadable(name, f"{reason}, as if it were cut off", CUT)


def no_source(stream: str, form: str | None, titles: Sequence[str], cure: str) -> Diagnostic:
    """`form` is what FROM says, None where the stream has no FROM; `titles` are those of the formats. `cure` begins to
    say how a file is named.
    """
    title = streams.SPARK_ALONE.of(form=form.upper()) if form else streams.NO_EVENTS.of(name=stream)
    return _about("E0705", title, "", hint=f"{cure} a {listed(titles, 'or')} file")


# ---- columns ---------------------------------------------------------------------------------------------------------


def missing_column(
    name: str,
    column: str,
    type_: DataType,
    stream: str,
    have: Sequence[str],
    uses: Uses = NONE_KNOWN,
    hint: str = "",
) -> Diagnostic:
    """`hint` is what helps, if more is known than these names."""
    hint = hint or _for_missing(column, have, uses)
    found = f"found are {first_of(have)}" if have else "there are no columns at all"
    return _about(
        "E0706", f"the events have no column `{column}`", name, _declares(stream, column, type_), found, hint=hint
    )


def _for_missing(column: str, have: Sequence[str], uses: Uses) -> str:
    if other_case := next((one for one in have if one.lower() == column.lower()), None):
        return f"names are case-sensitive: write `{other_case}` {streams.IN_THE_STREAM.of()}"
    if blank := next((one for one in have if one.strip() == column), None):
        return f"there are blanks around its name: take them out, or write `{blank}`, in backquotes, for `{column}`"
    if near := nearest(column, have):
        return f"did you mean `{near}`?"
    if column == uses.time:
        return "name the column that says when an event happened, here and in EVENT TIME, or compute it"
    if column == uses.type:
        return "name the column that says of which type an event is, here and in EVENT TYPE, or compute it"
    out = f"take `{column}` {streams.OUT_OF_THE_STREAM.of()}"
    if column not in uses.names:
        return f"if the events have none, {out}"
    return (
        f"if the events have it by another name, write that wherever it is used; if they have none, {out}, and out of "
        "all that uses it"
    )


def other_type(name: str, column: str, type_: DataType, found: DataType, stream: str, hint: str = "") -> Diagnostic:
    return another_type(
        name, column, type_, found.sql, stream, hint or _of_text(column, type_, found) or declared_as(found)
    )


def no_type(name: str, column: str, type_: DataType, found: str, stream: str) -> Diagnostic:
    """Of a column of Arrow's type `found`, which no type of a STREAM is like."""
    cast = f"write it as {type_.sql} where the events are made"
    leave = f"take `{column}` {streams.OUT_OF_THE_STREAM.of()}"
    hint = f"{streams.NO_STREAM_CAN.of()} declare that type: {cast}, or {leave}"
    return another_type(name, column, type_, found, stream, hint)


def other_values(name: str, column: str, type_: DataType, found: DataType, values: str, stream: str) -> Diagnostic:
    """Of a column whose type would do, if it had not such `values`."""
    return another_type(name, column, type_, f"{found.sql} with {values}", stream, declared_as(found))


def several_kinds(column: str, type_: DataType, kinds: Sequence[str], stream: str) -> Diagnostic:
    """Of a column of a frame that has objects of these classes of Python, which are no one type."""
    found = f"of Python's {listed((f'`{kind}`' for kind in kinds), 'and')}"
    shown = clean(repr(column))
    cure = f": `frame[{shown}] = frame[{shown}].astype('string')`" if type_ == STRING else " in the frame"
    values = f"dicts from {type_.key.sql} to {type_.value.sql}" if isinstance(type_, Map) else type_.sql
    return another_type("", column, type_, found, stream, f"make all of its values {values}{cure}")


def no_text(column: str, type_: DataType, stream: str) -> Diagnostic:
    """Of a column of a frame with a half of a pair of UTF-16, which Python's texts may hold."""
    shown = clean(repr(column))
    cure = f": `frame[{shown}] = frame[{shown}].str.encode('utf-8', 'replace').str.decode('utf-8')`"
    hint = f"replace what is no character{cure if type_ == STRING else ' in the frame'}"
    return another_type("", column, type_, "STRING with values that are no UTF-8 text", stream, hint)


def other_folder(name: str, column: str, type_: DataType, value: str | None, stream: str) -> Diagnostic:
    """Of a column whose value is in the name of a folder."""
    hint = "declare it as STRING, if that is what is meant, or rename the folder"
    return another_type(name, column, type_, f"`{value}` in the name of a folder", stream, hint)


def another_type(name: str, column: str, type_: DataType, found: str, stream: str, hint: str) -> Diagnostic:
    """`found` is what it is instead, in words."""
    title = f"the column `{column}` is {found}, and {type_.sql} is expected"
    return _about("E0707", title, name, _declares(stream, column, type_), hint=hint)


def in_stream(type_: DataType) -> str:
    """How a STREAM has the type."""
    return type_.sql.replace(INTERVAL.sql, "INTERVAL")


def declared_as(found: DataType) -> str:
    return f"declare it as {in_stream(found)}, if that is what is meant, or change the data"


def _of_text(column: str, type_: DataType, found: DataType) -> str:
    """What is written as text is read as text, and computed from it."""
    if found != STRING:
        return ""
    computed = f"{column}_{type_.sql.partition('(')[0].lower()}"
    name, other = (name_text(ast.Name(one)) for one in (column, computed))
    return f"declare `{name} STRING`" + streams.COMPUTED.of(name=other) + f"CAST({name} AS {type_.sql})`"


def no_header(name: str, first: str, expected: Sequence[str], delimiter: str) -> Diagnostic:
    separator = next((s for s in (";", "\t", "|", ",") if s in first and delimiter not in first), None)
    if separator is None:
        return _no_header(name, first, f"begin the file with `{clean(delimiter.join(expected))}`")
    if separator == ",":
        return _no_header(name, first, "the columns seem to be separated by commas: leave the option `delimiter` out")
    by = "tabs" if separator == "\t" else f"`{separator}`"
    return _no_header(name, first, f"the columns seem to be separated by {by}: {_delimited(separator)}")


def other_case(name: str, first: str, columns: Sequence[str], delimiter: str) -> Diagnostic:
    """`columns` are those of the first line as the stream spells them."""
    line = clean(delimiter.join(columns))
    hint = f"names are case-sensitive: declare them as they are there, or replace that line by `{line}`"
    return _no_header(name, first, hint)


def for_excel(name: str, first: str, delimiter: str) -> Diagnostic:
    """Of a first line `sep=;`."""
    then = f", and then {_delimited(first[-1])}" if first[-1] != delimiter else ""
    return _no_header(name, first, f"take that line out, which is for spreadsheets alone{then}")


def _delimited(separator: str) -> str:
    shown = r"\t" if separator == "\t" else separator
    return settings.DELIMITER.of(value=shown)


def _no_header(name: str, first: str, hint: str) -> Diagnostic:
    shown = clean(first if len(first) <= 80 else first[:77] + "…")
    return _about(
        "E0708", f"`{name}` does not begin with the names of its columns", name,
        "the first line of a CSV file is its header", f"the first line is `{shown}`", hint=hint,
    )  # fmt: skip


def twice(name: str, column: str) -> Diagnostic:
    return _about("E0709", f"the column `{column}` occurs twice", name, hint="rename one of the two in the data")


def not_in_csv(name: str, column: str, type_: DataType) -> Diagnostic:
    return _about(
        "E0712", f"the column `{column}` is {type_.sql}, which CSV cannot hold", name,
        hint="keep such events as JSON lines or Parquet",
    )  # fmt: skip


# ---- lines and values ------------------------------------------------------------------------------------------------


def malformed(place: Span, what: str, reason: str, hint: str = "") -> Diagnostic:
    return Diagnostic("E0710", f"a line is no {what}", place, reason, hint=hint)


def bad_value(
    place: Span, column: str, type_: DataType, found: str, reason: str, pattern: str | None = None
) -> Diagnostic:
    """`pattern` is the one that options say for the type."""
    if pattern is not None:
        return Diagnostic(
            "E0711", f"{found} is no {type_.sql} for `{column}`", place, reason or f"it is not of the form `{pattern}`",
            hint=f"that form is in the options; a column of another is declared STRING, and `{type_.sql}` computed "
            "from it",
        )  # fmt: skip
    return Diagnostic(
        "E0711", f"{found} is no {type_.sql} for `{column}`", place, reason or "this value",
        hint=_of_numbers(column, type_, found.strip('`"'))
        or _of_another_type(column, type_, found.strip("`"))
        or _of_other_form(type_, in_file=place != NOWHERE),
    )  # fmt: skip


def passed_over(stream: str, count: int, where: str, first: Sequence[str]) -> Diagnostic:
    """Of a stream; `where` they are, if they were set apart; the `first` few, if not."""
    what = f"1 record of `{stream}` is no event" if count == 1 else f"{count:,} records of `{stream}` are no events"
    notes = (f"the first: {first[0]}", *first[1:]) if first else ()
    were = "was" if count == 1 else "were"
    return _about("W0717", f"{what}, and {were} passed over", "", *notes, *([where] if where else []))


def no_value(
    stream: str, column: str, name: str, record: int, values: Mapping[str, str], error: EvaluationError
) -> Diagnostic:
    """Of a record of the file `name`, or of a table without a name; `values` are those that the column is computed
    from.
    """
    held = ", ".join(f"`{of}` is {_shortened(value)}" for of, value in values.items())
    return _about(
        "E0715", f"the column `{column}` of `{stream}` cannot be computed of record {record}", name,
        why_no_value(error), *([f"in this record {held}"] if held else []),
        "as in Spark's ANSI mode, what has no value is an error and not null",
        hint=error.hint or "CASE WHEN … THEN … END computes it where it has a value, and is null elsewhere",
    )  # fmt: skip


def why_no_value(error: EvaluationError) -> str:
    return f"{error.reason} in `{error.expression}`" if error.expression else error.reason


def _shortened(value: str) -> str:
    return value if len(value) <= 80 else f"{value[:77]}…"


def spark_only(column: str, stream: str, function: str) -> Diagnostic:
    return _about(
        "E0716", f"the column `{column}` of `{stream}` is computed by Spark alone", "",
        f"`{function}` is a function of Spark's that this engine does not have",
        hint=f"run it with {settings.ON_SPARK.of()}; `cepc functions` lists the functions that every engine has",
    )  # fmt: skip


def not_known_here(column: str, stream: str, function: str) -> Diagnostic:
    """Of what Spark computes while bad records are passed over, which is done before Spark has them."""
    return _about(
        "E0716", f"the column `{column}` of `{stream}` is computed by Spark alone", "",
        f"`{function}` is a function of Spark's, which `--skip-bad` and `--dead` do not have: they cannot tell which "
        "records have no value",
        hint="leave the option out: a `TRY_` function, or CASE WHEN … THEN … END, is null where there is no value",
    )  # fmt: skip


def not_a_file_here(path: str) -> Diagnostic:
    return _about(
        "E0705", f"the events at `{path}` are read by Spark alone", "",
        "Spark does not say which records are bad, so `--skip-bad` and `--dead` are for files on this machine",
        hint="copy them here; or compile the program with `--mode stream`, for a job that has `--dead` itself",
    )  # fmt: skip


def a_pipe(path: str) -> Diagnostic:
    title = f"the events at `{path}` are a pipe, which Spark does not read"
    return _about("E0705", title, "", hint="leave `--engine spark` out, or write them to a file first")


def _of_numbers(column: str, type_: DataType, found: str) -> str:
    """Numbers can be the event time, but say no unit; how many digits they have mostly does."""
    if type_ not in (TIMESTAMP, TIMESTAMP_NTZ) or not found.isdecimal():
        return ""
    unit = "s" if len(found) < 12 else "ms" if len(found) < 15 else "us"
    return f"declare `{column} BIGINT`, and `EVENT TIME {column} UNIT {unit}` if it is the event time"


def numbers_as_times(column: str, type_: DataType, found: DataType | None) -> str:
    """The same of a column whose numbers are not looked at."""
    if type_ not in (TIMESTAMP, TIMESTAMP_NTZ) or found is None or not is_integer(found):
        return ""
    return f"declare `{column} {found.sql}`, and `EVENT TIME {column} UNIT ms` (or s, us) if it is the event time"


def _of_another_type(column: str, type_: DataType, found: str) -> str:
    """A value that looks like one of another type, which the column may be meant to have."""
    if type_ != BOOLEAN and not is_numeric(type_):
        return ""
    looks = _looks_like(found)
    if looks is None or looks == type_ or (is_numeric(looks) and not is_integer(type_) and type_ != BOOLEAN):
        return ""
    without_unit = ", without a UNIT if it is the event time" if looks in TIMES else ""
    return f"if that is what is meant, declare `{name_text(ast.Name(column))} {looks.sql}`{without_unit}"


def _looks_like(found: str) -> DataType | None:
    looks: DataType | None = next((looks for form, looks in _LOOK_LIKE if form.fullmatch(found)), None)
    return _integer_with(int(found)) if looks == BIGINT else looks


def _integer_with(number: int) -> DataType:
    for type_ in (INT, BIGINT):
        low, high = integer_range(type_)
        if low <= number <= high:
            return type_
    return Decimal(MAX_PRECISION, 0)


_LOOK_LIKE: Final = (
    (re.compile("true|false"), BOOLEAN),
    (re.compile(r"[+-]?\d{1,38}", re.ASCII), BIGINT),
    (re.compile(r"[+-]?(\d+\.\d*|\.\d+|\d+(\.\d*)?[eE][+-]?\d+)", re.ASCII), DOUBLE),
    (re.compile(r'"?\d{4}-\d\d-\d\d"?', re.ASCII), DATE),
    (re.compile(r'"?\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*', re.ASCII), TIMESTAMP),
    (re.compile("-?(nan|inf|infinity)", re.IGNORECASE), DOUBLE),
    (re.compile(r'".*"|(?![\[{]).*[^\W\d_]{2}.*', re.DOTALL), STRING),
)
"""What values look like, and the type that has such: texts of JSON are in quotes, others have letters side by side."""


def _of_other_form(type_: DataType, *, in_file: bool) -> str:
    hint, option = _VALUE_HINTS.get(type_.sql, ""), _OPTIONS.get(type_.sql)
    return f"{hint}; {settings.FORM_OF_TIMES.of(key=option)}" if in_file and option else hint


_OPTIONS = {"TIMESTAMP": "timestampFormat", "TIMESTAMP_NTZ": "timestampNTZFormat", "DATE": "dateFormat"}
_VALUE_HINTS = {
    "TIMESTAMP": "times are ISO 8601, `2026-01-31T12:30:00Z`; a time without a zone is UTC",
    "TIMESTAMP_NTZ": "times are ISO 8601 without a zone, `2026-01-31T12:30:00`",
    "DATE": "dates are ISO 8601, `2026-01-31`",
    "BOOLEAN": "it is `true` or `false`",
}


# ---- warnings --------------------------------------------------------------------------------------------------------


def type_never_occurs(type_: str, place: Span, occur: Sequence[str]) -> Diagnostic:
    near = nearest(type_, occur)
    return Diagnostic(
        "W0713", f"no event has the type `{type_}`", place, "this never matches these events",
        notes=(f"the events have {first_of(sorted(occur))}",) if occur else ("there are no events with a type",),
        hint=f"did you mean `{near}`?" if near else "",
    )  # fmt: skip


def column_never_occurs(name: str, column: str, type_: DataType, stream: str, have: Sequence[str]) -> Diagnostic:
    near = next((h for h in have if h.lower() == column.lower()), None) or nearest(column, have)
    return _about(
        "W0714", f"no line has the key `{column}`: it is null everywhere", name, _declares(stream, column, type_),
        hint=f"did you mean `{near}`?" if near else "",
    )  # fmt: skip


def left_out(name: str, files: Sequence[str], form: str) -> Diagnostic:
    """Of `files` of a directory that no reader knows by their names; the others have the format called `form`."""
    what = "1 file is" if len(files) == 1 else f"{len(files):,} files are"
    first = f"it is `{files[0]}`" if len(files) == 1 else f"the first is `{files[0]}`"
    return _about(
        "W0720", f"{what} left out of the directory `{name}`: the name says no format", name, first,
        hint=f"{settings.FORMAT.of(form=form)} reads every file as that; what is no events is better kept elsewhere",
    )  # fmt: skip


def nanoseconds(name: str, column: str) -> Diagnostic:
    return _about(
        "W0718", f"times of `{column}` have nanoseconds, which are cut off", name,
        "a TIMESTAMP has microseconds, here as in Spark; events that are less than one apart tie",
    )  # fmt: skip


def _declares(stream: str, column: str, type_: DataType) -> str:
    return f"{streams.DECLARES.of(name=stream)} `{column} {type_.sql}`"
