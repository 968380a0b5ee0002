"""A first query, which has rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cepc_grammar.spelling import ALIAS, EVENT_TYPE, OPERAND

from ..visible import visible
from ..wording import many
from .leaves import new_name, quoted
from .lengths import in_words, length_above
from .remarks import comments
from .words import OWN, words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .guess import Guess
    from .naming import NamesInStream
    from .pairs import Pair

MOST_MATCHES = 5  # for a record, where the query lists them


def query_text(guessed: Guess, names: NamesInStream, taken: set[str], *, several: bool) -> str:
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
    often = f"{many(pair.often, 'time')} in these records{rank}"
    remark = f"{most}{of}: {often}; in half of the cases within {in_words(pair.half)}."
    name = _query_name(f"next_{names.stream}" if one else f"{pair.first}_then_{pair.then}", taken)
    return _laid_out(name, clauses, remark, names, several=several)


def _laid_out(name: str, clauses: list[str], remark: str, names: NamesInStream, *, several: bool) -> str:
    clauses = [*clauses, f"FROM {quoted(names.stream)}"] if several else clauses
    return "\n".join([comments([remark]), f"QUERY {name}", *clauses]) + ";"


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
