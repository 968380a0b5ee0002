"""A program of what was guessed, with the reasons in comments."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath
from textwrap import wrap
from typing import TYPE_CHECKING

from cepc_grammar.formatter import format_source
from cepc_grammar.source import Source
from cepc_grammar.spelling import ALIAS, EVENT_TYPE, OPERAND, string_text
from cepc_runtime.types import STRING

from ..diagnostics.listed import listed
from ..visible import visible
from .groups import FEW_TYPES
from .guess import Guess, guess
from .leaves import Leaf, new_name, quoted
from .lengths import in_words, length_above
from .words import OWN, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .groups import TypeColumn
    from .pairs import Pair
    from .sample import Sample

WIDTH = 116
NO_QUERY = "There is no query yet, for no record has a time and a type."
SHOWN = 10  # types, columns in a comment
MOST_MATCHES = 5  # for a record, where the query lists them


@dataclass(frozen=True, slots=True)
class NamesInStream:
    """What things are called in a stream: a leaf by the column that has its values, computed ones with expressions."""

    stream: str
    time: str
    kind: str
    keys: tuple[str, ...]
    computed: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Beginning:
    """The `text` of a program, and whether there is a query in it."""

    text: str
    asks: bool


def program(samples: Sequence[tuple[Sample, str]]) -> Beginning:
    """A program with a stream and a query for each sample, which is to be called so."""
    taken: set[str] = set()
    texts: list[str] = []
    asks = False
    for sample, called in samples:
        stream = new_name(_free(sample, called), taken)
        taken.add(stream)
        guessed = guess(sample, stream)
        names = _names(guessed, stream)
        texts.append(_stream(guessed, names))
        query = _query(guessed, names, taken, several=len(samples) > 1)
        asks |= bool(query)
        texts.append(query or _comments([NO_QUERY]))
    text = format_source(Source("<init>", "\n\n".join(texts) + "\n"))
    assert isinstance(text, str), text
    return Beginning(text, asks)


def stream_name(path: str) -> str:
    """A name for the events at a path.

    >>> stream_name("data/2026 rides.csv.gz"), stream_name("-"), stream_name("db.clicks/")
    ('_2026_rides', 'events', 'db')
    """
    stem = PurePath(path).name.split(".")[0] if path != "-" else "events"
    name = "_".join(re.findall(r"[A-Za-z0-9]+", stem)) or "events"
    return f"_{name}" if name[0].isdigit() else name


def _free(sample: Sample, called: str) -> str:
    """A name that no column has."""
    columns = {name for name, _ in sample.columns}
    return new_name(called if called.casefold() not in {c.casefold() for c in columns} else f"{called}_events", columns)


def _names(guessed: Guess, stream: str) -> NamesInStream:
    """Each computed column has a name that no other has; one for a type may differ from its column's in case alone."""
    taken = {name for name, _ in guessed.sample.columns} | {stream}
    computed: list[tuple[str, str]] = []

    def column(leaf: Leaf, expression: str | None, wanted: str) -> str:
        if expression is None:
            return leaf.path[0]
        name = new_name(wanted, taken)
        taken.add(name)
        computed.append((name, expression))
        return name

    free = "event_time" if any(name.casefold() == "at" for name in taken) else "at"
    time = column(guessed.time.leaf, guessed.time.expression, free) if guessed.time is not None else ""
    kind = ""
    if guessed.kind is not None:
        leaf = guessed.kind.leaf
        wanted = "event_type" if leaf.is_column else leaf.path[-1]
        kind = column(leaf, guessed.kind.expression, wanted)
    of = tuple(
        column(key.leaf, None if key.leaf.is_column else key.leaf.text, "_".join(key.leaf.path[-2:]))
        for key in guessed.keys[:SHOWN]
    )
    return NamesInStream(stream, time, kind, of, tuple(computed))


# ---- the stream ------------------------------------------------------------------------------------------------------


def _stream(guessed: Guess, names: NamesInStream) -> str:
    sample = guessed.sample
    columns = [f"{quoted(name)} {type_.sql}" for name, type_ in sample.columns]
    columns += [f"{quoted(name)} AS {expression}" for name, expression in names.computed]
    lines = [_comments(_remarks(guessed, names)), f"STREAM {quoted(names.stream)} (", ",\n".join(columns), ")"]
    if guessed.time is not None:
        late = guessed.disorder.late
        lines.append(f"EVENT TIME {quoted(names.time)}" + (f" WATERMARK {length_above(late)}" if late else ""))
        if guessed.kind is not None:
            types = ", ".join(map(string_text, guessed.kind.types))
            in_ = f" IN ({types})" if len(guessed.kind.types) <= FEW_TYPES else ""
            lines.append(f"EVENT TYPE {quoted(names.kind)}{in_}")
    origin = sample.origin
    if origin.path is not None:
        options = ", ".join(f"{quoted(name)} = {string_text(value)}" for name, value in origin.options)
        lines.append(f"FROM {origin.format.upper()} {string_text(origin.path)}")
        lines += [f"OPTIONS ({options})"] if options else []
    return "\n".join(lines) + ";"


def _remarks(guessed: Guess, names: NamesInStream) -> Iterable[str]:
    sample = guessed.sample
    looked = _many(sample.records, "record")
    if sample.whole:
        looked = f"{'all' if sample.records > 1 else 'the'} {looked}"
    yield f"Guessed by `cepc init` from {looked} of {visible(sample.origin.title)}. Change what is wrong."
    if sample.bad:
        yield f"{_many(sample.bad, 'record')} could not be read: `cepc run --skip-bad` passes over such ones."
    yield from _of_time(guessed)
    if guessed.time is not None:
        yield from _of_types(guessed, names)
        yield from _of_keys(guessed)
    for name, why in sample.left_out[:SHOWN]:
        yield f"Left out: the column {visible(name) or 'without a name'}, which {why}."
    odd = [name for name, type_ in sample.columns if type_ == STRING and _is_number_but_for_some(sample, name)]
    if odd:
        column = quoted(odd[0], OPERAND)
        yield f"Numbers but for some values: {_some(odd)}. `TRY_CAST({column} AS DOUBLE)` is null for these."


def _of_time(guessed: Guess) -> Iterable[str]:
    time = guessed.time
    if time is None:
        yield (
            "No column says when an event happened, so there is no EVENT TIME: declare one, for queries ask what comes "
            "after what."
        )
        return
    because = f" ({', '.join(time.reasons)})" if time.reasons else ""
    written = f", {visible(time.note)}" if time.note else ""
    yield f"Event time: {_path(time.leaf)}{written}{because}."
    if time.note and "fits as well" in time.note:
        yield "Whether the day or the month comes first cannot be seen from these values."
    nulls = time.values.count(None)
    if nulls:
        yield f"{_path(time.leaf)} is null in {_many(nulls, 'record')}: no events."
    if guessed.other_times:
        yield f"Could be the event time as well: {_some(_path(t.leaf) for t in guessed.other_times)}."
    late = guessed.disorder.late
    if late is None:
        yield "The records are in no order of time, so no WATERMARK is guessed; a stream that is run for ever has one."
    elif late:
        yield f"WATERMARK: events came up to {in_words(late)} late."


def _of_types(guessed: Guess, names: NamesInStream) -> Iterable[str]:
    kind = guessed.kind
    others = [other for other in guessed.other_kinds if other.expression is None or not other.leaf.is_column]
    if kind is not None:
        few = len(kind.types) <= FEW_TYPES
        rest = "Events of other types are passed over." if few else "They are too many to be listed by IN."
        yield f"Event type: {_path(kind.leaf)}{_spelled(kind)}: {_counts(kind)}. {rest}"
        nulls = kind.values.count(None)
        if nulls:
            yield f"{_path(kind.leaf)} is null in {_many(nulls, 'record')}: no events."
        if others:
            yield f"Could be the event type as well: {_some(_path(other.leaf) for other in others)}."
        return
    yield f"Event type: no column has the name of one, so all events are of one type, `{names.stream}`."
    hint = _derived(guessed, names, others)
    if others:
        yield f"Few values, which may be types, have {_some(_path(other.leaf) for other in others)}."
    yield f"A condition makes a type of its own: `{hint}`"


def _spelled(kind: TypeColumn) -> str:
    return ", which is written in several ways" if kind.expression and kind.leaf.is_column else ""


def _counts(kind: TypeColumn) -> str:
    shown = [f"{visible(name) or 'an empty text'} {count:,}" for name, count in kind.counts[:SHOWN]]
    more = len(kind.counts) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _derived(guessed: Guess, names: NamesInStream, others: Sequence[TypeColumn]) -> str:
    """An EVENT … WHERE on a column that is there."""
    stream = quoted(names.stream)
    if others:
        leaf, value = others[0].leaf, others[0].types[0]
        return f"EVENT {_type_name(value)} AS {stream} WHERE {leaf.text} = {visible(string_text(value))};"
    if guessed.numbers:
        leaf = guessed.numbers[0]
        highest = max(leaf.there)
        below = sorted(value for value in leaf.there if value < highest) or leaf.there
        high = below[len(below) * 9 // 10]
        return f"EVENT {_type_name('high ' + leaf.path[-1])} AS {stream} WHERE {leaf.text} > {high};"
    time = quoted(names.time, OPERAND)
    late = f"HOUR({time}) >= 22" if guessed.time is None or guessed.time.instants else f"{time} > 100"
    return f"EVENT Late AS {stream} WHERE {late};"


def _type_name(text: str) -> str:
    parts = re.findall(r"[A-Za-z0-9]+", text)
    name = "".join(part if part.isupper() else part.capitalize() for part in parts)
    return name if name and not name[0].isdigit() else f"Is{name}"


def _of_keys(guessed: Guess) -> Iterable[str]:
    if not guessed.keys:
        yield "Whose it is, no column says: none has the name of a key and values that come again."
        return
    shown = [f"{_path(key.leaf)}, {_many(key.distinct, 'value')}" for key in guessed.keys[:SHOWN]]
    yield f"Whose it is: {'; '.join(shown)} (the name of a key, values that come again)."


def _is_number_but_for_some(sample: Sample, name: str) -> bool:
    values = {value for value in sample.table.column(name).to_pylist() if value is not None}
    odd = values & {"NA", "N/A", "n/a", "NULL", "null", "None", "-", "?", "\\N", "NaN", "nan", ""}
    number = re.compile(r"[-+]?\d+(\.\d+)?([eE][-+]?\d+)?")
    return bool(odd) and len(values) > len(odd) and all(number.fullmatch(value) for value in values - odd)


# ---- the query -------------------------------------------------------------------------------------------------------


def _query(guessed: Guess, names: NamesInStream, taken: set[str], *, several: bool) -> str:
    """The text of a query that has rows, or none where there is no event."""
    if guessed.time is None:
        return ""
    if guessed.pair is not None:
        return _of_pair(guessed, guessed.pair, names, taken, several=several)
    type_ = _some_type(guessed, names)
    if type_ is None:
        return ""
    name = _query_name(f"count_{type_}", taken)
    clauses = ["RETURN COUNT(*) AS events", f"PATTERN {quoted(type_, EVENT_TYPE)}", "WITHIN 1 DAY"]
    remark = "No event comes after another here, so this counts them, by the day."
    return _laid_out(name, clauses, remark, names, several=several)


def _some_type(guessed: Guess, names: NamesInStream) -> str | None:
    """The type of an event with a time."""
    times = guessed.time.values if guessed.time is not None else ()
    types = guessed.kind.values if guessed.kind is not None else (names.stream,) * len(times)
    return next((t for at, t in zip(times, types, strict=True) if at is not None and t is not None), None)


def _of_pair(guessed: Guess, pair: Pair, names: NamesInStream, taken: set[str], *, several: bool) -> str:
    first, then = _variables(guessed, pair, names)
    key = names.keys[guessed.keys.index(pair.key)] if pair.key is not None else None
    pattern = f"SEQ({_bound(pair.first, first)}, {_bound(pair.then, then)})"
    where = [f"WHERE [{quoted(key)}]"] if key is not None else []
    length = length_above(pair.most)
    if pair.matches > MOST_MATCHES * guessed.sample.records:
        # Neighbouring windows overlap by the length, so that each pair as long as that is in one.
        twice = length_above(pair.most, 2)
        clauses = ["RETURN COUNT(*) AS pairs", f"PATTERN {pattern}", *where, f"WITHIN {twice} SLIDE {length}"]
    else:
        returned = ", ".join(_returned(guessed, names, key, first, then))
        clauses = [f"RETURN MATCH {returned}", f"PATTERN {pattern}", *where, "SELECT NEXT", f"WITHIN {length}"]
    one = guessed.kind is None
    most = "One event followed by another" if one else f"{visible(pair.first)} followed by {visible(pair.then)}"
    of = f" of the same {visible(key)}" if key is not None else ""
    rank = ", no two types more often" if pair.first != pair.then else ""
    often = f"{_many(pair.often, 'time')} in these records{rank}"
    remark = f"{most}{of}: {often}; in half of the cases within {in_words(pair.half)}."
    name = _query_name(f"next_{names.stream}" if one else f"{pair.first}_then_{pair.then}", taken)
    return _laid_out(name, clauses, remark, names, several=several)


def _laid_out(name: str, clauses: list[str], remark: str, names: NamesInStream, *, several: bool) -> str:
    clauses = [*clauses, f"FROM {quoted(names.stream)}"] if several else clauses
    return "\n".join([_comments([remark]), f"QUERY {name}", *clauses]) + ";"


def _query_name(text: str, taken: set[str]) -> str:
    name = "_".join(words_of(text)).lower() or "first"
    name = new_name(name if not name[0].isdigit() else f"q_{name}", taken)
    taken.add(name)
    return name


def words_of(text: str) -> list[str]:
    """The ASCII words of a text, with their digits.

    >>> words_of("LoginFailed_then_log out 2")
    ['Login', 'Failed', 'then', 'log', 'out', '2']
    """
    return re.findall(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[a-z0-9]*|[0-9]+[a-z0-9]*", text)


def _variables(guessed: Guess, pair: Pair, names: NamesInStream) -> tuple[str, str]:
    """The types themselves where nothing else is called so."""
    columns = {name.casefold() for name, _ in (*guessed.sample.columns, *names.computed)}
    types = {type_.casefold() for type_ in guessed.kind.types} if guessed.kind is not None else {names.stream}
    if pair.first != pair.then and not {pair.first.casefold(), pair.then.casefold()} & columns:
        return pair.first, pair.then
    used = columns | types | {names.stream}
    return new_name("earlier", used), new_name("later", used)


def _bound(type_: str, variable: str) -> str:
    named = quoted(type_, EVENT_TYPE)
    return named if type_ == variable else f"{named} {quoted(variable, ALIAS)}"


def _returned(guessed: Guess, names: NamesInStream, key: str | None, first: str, then: str) -> Iterable[str]:
    """The key and a number of the second event; the time of the first where there is neither."""
    reserved = {"match_start", "match_end"}
    if key is not None:
        whose = quoted(key, OPERAND)
        yield whose if key.casefold() not in reserved else f"{whose} AS whose"
    numbers = [leaf.path[0] for leaf in guessed.numbers if leaf.is_column and not set(words(leaf.path[0])) & OWN]
    number = next((name for name in numbers if name.casefold() not in reserved), None)
    if number is not None:
        yield f"{quoted(then, OPERAND)}.{quoted(number)}"
    elif key is None:
        yield f"{quoted(first, OPERAND)}.{quoted(names.time)} AS since"


# ---- words -----------------------------------------------------------------------------------------------------------


def _comments(remarks: Iterable[str]) -> str:
    lines = [
        f"-- {'  ' if i else ''}{line}"
        for remark in remarks
        for i, line in enumerate(wrap(remark, WIDTH, break_long_words=False, break_on_hyphens=False) or [""])
    ]
    return "\n".join(lines)


def _path(leaf: Leaf) -> str:
    return visible(".".join(leaf.path))


def _some(names: Iterable[str]) -> str:
    every = [visible(name) for name in names]
    more = [f"{len(every) - SHOWN} more"] if len(every) > SHOWN else []
    return listed([*every[:SHOWN], *more], "and")


def _many(count: int, one: str) -> str:
    return f"1 {one}" if count == 1 else f"{count:,} {one}s"
