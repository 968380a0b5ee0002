"""Columns of a job that would be long to write out: letters as words of bits, copies of events for classes, parts of
time.
"""

from __future__ import annotations

from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812

from ..events.letter_words import BITS, words_needed
from ..events.segments import SEGMENT
from ..sql.literal import string_literal
from ..sql.types import quote_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import Column, DataFrame

    from ..events.segments import Segments
    from ..parts.classes import Class

CLASS: Final = "_class"
PANE: Final = "_pane"
_ABLE: Final = "_able_"


def word_names(letters: int) -> list[str]:
    """The columns that hold so many letters."""
    return [f"_letters_{i}" for i in range(words_needed(letters))]


def letters(type_: str | None, wanted: Sequence[tuple[str | None, str]]) -> list[Column]:
    """Bit i of the words says whether an event has letter i: its type (None: any) and an SQL condition that is true of
    it.

    `type_` is the event's type as SQL. An event is compared with each type once, and conditions are evaluated on events
    of their type alone.
    """
    names = word_names(len(wanted))
    words = [wanted[i * BITS : (i + 1) * BITS] for i in range(len(names))]
    return [F.expr(word_sql(type_, word)).alias(name) for name, word in zip(names, words, strict=True)]


def word_sql(type_: str | None, wanted: Sequence[tuple[str | None, str]]) -> str:
    """The bits of one word."""
    by_type: dict[str | None, list[str]] = {}
    for i, (of, condition) in enumerate(wanted):
        bit = f"{1 << i}L" if condition == "TRUE" else f"IF({condition}, {1 << i}L, 0L)"
        by_type.setdefault(of, []).append(bit)
    parts = by_type.pop(None, [])
    if by_type:
        cases = (f"WHEN {string_literal(of)} THEN {' | '.join(bits)}" for of, bits in by_type.items() if of is not None)
        parts.append(f"CASE {type_} {' '.join(cases)} ELSE 0L END")
    return " | ".join(parts) or "0L"


def has_letter(count: int, wanted: Sequence[int] | None = None) -> Column:
    """Does an event satisfy some of the letters wanted (of any, by default)?"""
    masks = [0] * words_needed(count)
    for letter in range(count) if wanted is None else wanted:
        masks[letter // BITS] |= 1 << letter % BITS
    tests = [
        F.col(name).bitwiseAND(F.lit(mask).cast("bigint")) != 0
        for name, mask in zip(word_names(count), masks, strict=True)
        if mask
    ]
    return (
        reduce(lambda left, right: left | right, tests, F.lit(False))
        if not tests
        else reduce(lambda a, b: a | b, tests)
    )


def absent(time: str, type_: str | None, among: Column | None = None) -> list[Column]:
    """How many rows (`among` some) are no events: without a time or, having one, without a type."""
    no_time = F.col(quote_name(time)).isNull()
    no_type = F.lit(False) if type_ is None else F.col(quote_name(type_)).isNull()
    if among is not None:
        no_time, no_type = among & no_time, among & no_type
    return [
        F.count(F.when(no_time, F.lit(1))).alias("null_time"),
        F.count(F.when(~no_time & no_type, F.lit(1))).alias("null_type"),
    ]


def in_able_groups(events: DataFrame, classes: Sequence[Class], letters: int) -> DataFrame:
    """The events that some class looks at, with a mark for each class with `able` letters: whether one of these occurs
    in the event's group. The groups that have one are found first and sent to every worker: they should be few.
    """
    asked = [(number, one) for number, one in enumerate(classes) if one.able is not None and one.queries]
    marked = events
    for number, one in asked:
        names = [f"{_ABLE}{number}_{i}" for i in range(len(one.keys))]
        keys = [F.col(quote_name(key)).alias(name) for key, name in zip(one.keys, names, strict=True)]
        able = events.where(has_letter(letters, one.able)).select(*keys).distinct()
        same = [F.col(quote_name(key)).eqNullSafe(F.col(name)) for key, name in zip(one.keys, names, strict=True)]
        marks = F.broadcast(able.withColumn(_able(number), F.lit(True)))
        marked = marked.join(marks, reduce(and_, same), "left").drop(*names)
    if asked and len(asked) == sum(bool(one.queries) for one in classes):
        marked = marked.where(reduce(or_, (F.col(_able(number)) for number, _ in asked)))
    return marked.drop(_able(0)) if len(classes) == 1 else marked


def _able(number: int) -> str:
    return f"{_ABLE}{number}"


def copies(events: DataFrame, classes: Sequence[Class], letters: int, apart: Column | None = None) -> DataFrame:
    """Each event once for every class that looks at it, with the number of the class. Rows that are `apart` have one
    copy, of no class's number.
    """
    wanted = [_number(number, one, letters) for number, one in enumerate(classes) if one.queries]
    numbers = F.array(*wanted, F.lit(None).cast("int"))
    if apart is not None:
        numbers = F.when(apart, F.array(F.lit(-1))).otherwise(numbers)
    copied = events.withColumn(CLASS, F.explode(numbers)).drop(*(c for c in events.columns if c.startswith(_ABLE)))
    return copied.where(F.col(CLASS).isNotNull())


def _number(number: int, one: Class, letters: int) -> Column:
    """The number of the class for events that it looks at, else null."""
    column = F.lit(number).cast("int")
    if one.letters is not None:
        column = F.when(has_letter(letters, one.letters), column)
    return column if one.able is None else F.when(F.col(_able(number)).isNotNull(), column)


def cut(events: DataFrame, classes: Sequence[Class], ticks: str) -> DataFrame:
    """The events with the number of their pane where their class has panes, and once for each segment they are in where
    it has segments. `ticks` is the event time as SQL.
    """
    numbered = list(enumerate(classes))
    panes = {number: F.expr(one.panes.number_sql(ticks)) for number, one in numbered if one.panes is not None}
    segments = {number: F.expr(_segments(ticks, one.segments)) for number, one in numbered if one.segments is not None}
    if panes:
        events = events.withColumn(PANE, _by_class(panes, classes))
    if segments:
        explode = F.explode if len(segments) == len(classes) else F.explode_outer
        events = events.withColumn(SEGMENT, explode(_by_class(segments, classes)))
    return events


def _by_class(found: Mapping[int, Column], classes: Sequence[Class]) -> Column:
    """What was found for the event's class, or null. The events of a single class do not say that they are of it."""
    if len(classes) == 1:
        return found[0]
    return F.coalesce(*(F.when(F.col(CLASS) == number, column) for number, column in found.items()))


def _segments(ticks: str, segments: Segments) -> str:
    """The numbers of all the segments that the event is in."""
    own = segments.parts.number_sql(ticks)
    if not segments.overlap:
        return f"ARRAY({own})"
    since = segments.parts.since_sql(ticks)
    return f"IF({since} < {segments.overlap}L, ARRAY({own}, {own} - 1), ARRAY({own}))"


def keys(classes: Sequence[Class]) -> list[Column]:
    """What brings together the events of a group of a class, or of a part of it: the class if there are several, then
    each key where the class has it.
    """
    names = dict.fromkeys(key for one in classes for key in one.keys)
    panes = [F.col(PANE)] if any(one.panes is not None for one in classes) else []
    segments = [F.col(SEGMENT)] if any(one.segments is not None for one in classes) else []
    several = [F.col(CLASS)] if len(classes) > 1 else []
    return [*several, *(_key(name, classes) for name in names), *panes, *segments]


def _key(name: str, classes: Sequence[Class]) -> Column:
    having = [number for number, one in enumerate(classes) if name in one.keys]
    column = F.col(quote_name(name))
    return column if len(having) == len(classes) else F.when(F.col(CLASS).isin(having), column)
