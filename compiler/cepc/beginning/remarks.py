"""What is said in comments: what was guessed, why, and what else could be meant."""

from __future__ import annotations

import re
from math import isfinite
from textwrap import wrap
from typing import TYPE_CHECKING

from cepc_grammar.spelling import OPERAND, string_text
from cepc_runtime.sql.types import STRING

from ..diagnostics.listed import listed
from ..visible import visible
from ..wording import many
from .groups import FEW_TYPES
from .leaves import leaves, new_name, quoted
from .lengths import in_words
from .times import left_out_clock

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .groups import TypeColumn
    from .guess import Guess
    from .leaves import Leaf
    from .naming import NamesInStream
    from .sample import Sample

WIDTH = 116
SHOWN = 10  # types, columns in a comment


def remarks(guessed: Guess, names: NamesInStream) -> Iterable[str]:
    sample = guessed.sample
    looked = many(sample.records, "record")
    if sample.whole:
        looked = f"{'all' if sample.records > 1 else 'the'} {looked}"
    yield f"Guessed by `cepc init` from {looked} of {visible(sample.origin.title)}. Change what is wrong."
    if sample.bad:
        yield f"{many(sample.bad, 'record')} could not be read: `cepc run --skip-bad` passes over such ones."
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
    if (clock := left_out_clock(time, leaves(guessed.sample))) is not None:
        yield (
            f"Each event is at the begin of its day. Is its time of the day in {_path(clock)}? That is not in one form "
            f"that is known ({visible(str(clock.there[0]))}): declare it as STRING, and compute `at` from both columns."
        )
    nulls = time.values.count(None)
    if nulls:
        made_of = " or ".join(_path(leaf) for leaf in time.leaves)
        yield f"{made_of} is null in {many(nulls, 'record')}: no events."
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
        rest = (
            "Events of other types are passed over, but for CONTIGUOUS and ANY."
            if few
            else "They are too many to be listed by IN."
        )
        yield f"Event type: {_path(kind.leaf)}{_spelled(kind)}: {_counts(kind)}. {rest}"
        nulls = kind.values.count(None)
        if nulls:
            yield f"{_path(kind.leaf)} is null in {many(nulls, 'record')}: no events."
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
        return f"EVENT {_type_name(value, names)} AS {stream} WHERE {leaf.text} = {visible(string_text(value))};"
    if guessed.numbers:
        leaf = guessed.numbers[0]
        values = [value for value in leaf.there if isfinite(value)] or [0]
        highest = max(values)
        below = sorted(value for value in values if value < highest) or values
        high = below[len(below) * 9 // 10]
        return f"EVENT {_type_name('high ' + leaf.path[-1], names)} AS {stream} WHERE {leaf.text} > {high};"
    time = quoted(names.time, OPERAND)
    late = f"HOUR({time}) >= 22" if guessed.time is None or guessed.time.instants else f"{time} > 100"
    return f"EVENT Late AS {stream} WHERE {late};"


def _type_name(text: str, names: NamesInStream) -> str:
    parts = re.findall(r"[A-Za-z0-9]+", text)
    name = "".join(part if part.isupper() else part.capitalize() for part in parts)
    return new_name(name if name and not name[0].isdigit() else f"Is{name}", {names.stream})


def _of_keys(guessed: Guess) -> Iterable[str]:
    if not guessed.keys:
        yield "Whose it is, no column says: none has the name of a key and values that come again."
        return
    shown = [f"{_path(key.leaf)}, {many(key.distinct, 'value')}" for key in guessed.keys[:SHOWN]]
    yield f"Whose it is: {'; '.join(shown)} (the name of a key, values that come again)."


def _is_number_but_for_some(sample: Sample, name: str) -> bool:
    values = {value for value in sample.table.column(name).to_pylist() if value is not None}
    odd = values & {"NA", "N/A", "n/a", "NULL", "null", "None", "-", "?", "\\N", "NaN", "nan", ""}
    number = re.compile(r"[-+]?\d+(\.\d+)?([eE][-+]?\d+)?")
    return bool(odd) and len(values) > len(odd) and all(number.fullmatch(value) for value in values - odd)


# ---- words -----------------------------------------------------------------------------------------------------------


def comments(remarks: Iterable[str]) -> str:
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
