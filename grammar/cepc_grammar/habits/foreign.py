"""Words of other event languages, each with what is written for it here: MATCH_RECOGNIZE of SQL (Flink, Trino, Oracle,
Snowflake), Flink's CEP library, Esper's EPL, Siddhi.

These are words at which the grammar stops. Names that stand where a name can stand are found later, where the compiler
does not know them (`foreign_names.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from cepc_runtime.cheap_dataclass import dataclass

from .. import ast
from ..foreign_names import EVERY
from ..spelling import duration_text
from ..units import UNITS
from .common import CLAUSE_STARTS, closed_by, shown_text, wrong

if TYPE_CHECKING:
    from ..diagnostic import Diagnostic
    from ..raw_tokens import RawToken
    from ..spot import Spot


@dataclass(frozen=True, slots=True)
class Foreign:
    """`words` as tokens in upper case, where `_` is any name, and the cure. In it `{names}` are the names that follow,
    parted by commas, `{before}` is the name before, `{duration}` the number and the unit that follow,
    `{inside}` what stands up to the bracket that closes the one at the end of the words.

    `instead` is what can be written in place of the words, where that is all there is to do.

    `clauses` are those in which it is meant, any if none are named. `anywhere` says that what the grammar stops at may
    stand further on in the clause, because the words can be taken for names.
    """

    words: str
    cure: str
    clauses: tuple[str, ...] = ()
    anywhere: bool = False
    instead: str | None = None


_PATTERN = ("PATTERN",)
_WINDOWS = "windows are a clause: `WITHIN {duration}`, or `WITHIN {duration} SLIDE 1 MINUTE`, say"
_NOT_LISTED = "remove it: rows are given when their window or match is decided, and go where the command says"

FOREIGN: Final = (
    # ---- MATCH_RECOGNIZE
    Foreign(
        "MATCH_RECOGNIZE",
        "RETURN, PATTERN, WHERE, SELECT and AFTER MATCH are clauses of the query itself; SQL stands in a file `….sql`",
    ),
    Foreign(
        "PARTITION BY", "events that belong together agree on what stands in `[ ]` in WHERE: `WHERE [{names}]`"
    ),
    Foreign("ORDER BY", "remove it: events are in the order of the STREAM's EVENT TIME, and result rows have no order"),
    Foreign("MEASURES", "what a row shows stands in RETURN: `RETURN MATCH v.x AS name`"),
    Foreign("ONE ROW PER MATCH", "remove it: `RETURN MATCH` gives a row for each match"),
    Foreign(
        "ALL ROWS PER MATCH",
        "write `RETURN EACH …`: a row for each event of each match, with VARIABLE() and RUNNING SUM(v.x); "
        "`RETURN EACH *` has all columns",
    ),
    Foreign("DEFINE STREAM", "a stream is declared by `STREAM name (column TYPE, …) EVENT TIME column`"),
    Foreign("DEFINE", "conditions stand in WHERE, joined by AND: `WHERE v.x > 3`", (
        "RETURN", "PATTERN", "WHERE", "GROUP", "HAVING", "WITHIN", "SELECT", "AFTER"
    )),
    Foreign("PAST LAST ROW", "write `AFTER MATCH SKIP PAST LAST EVENT`; it requires SELECT NEXT or CONTIGUOUS"),
    Foreign("TO NEXT ROW", "write `AFTER MATCH SKIP TO NEXT EVENT`; it requires SELECT NEXT or CONTIGUOUS"),
    Foreign("SKIP PAST LAST", "write `AFTER MATCH SKIP PAST LAST EVENT`; it requires SELECT NEXT or CONTIGUOUS", (
        "RETURN", "PATTERN", "WHERE", "GROUP", "HAVING", "WITHIN", "SELECT"
    )),
    Foreign("SKIP TO NEXT", "write `AFTER MATCH SKIP TO NEXT EVENT`; it requires SELECT NEXT or CONTIGUOUS", (
        "RETURN", "PATTERN", "WHERE", "GROUP", "HAVING", "WITHIN", "SELECT"
    )),
    Foreign("SUBSET", "a name for several variables is not there: write `COUNT(a) + COUNT(b)`, `SUM(a.x) + SUM(b.x)`"),
    Foreign("FINAL _ (", "leave FINAL out: RETURN is over the whole match", ("RETURN",), anywhere=True),
    Foreign("PERMUTE (", "write `AND(…)`: a match of each, in any order", _PATTERN, anywhere=True),
    Foreign("ANY (", "one of several is `OR({inside})`; ANY alone is an event of any type", _PATTERN, instead="OR("),
    Foreign("SEQUENCE (", "events in order are written `SEQ({inside})`", _PATTERN, anywhere=True, instead="SEQ("),
    Foreign("^", "leave it out: a match may begin with any event", _PATTERN),
    Foreign("{ -", "leave `{{-` and `-}}` out: RETURN says what a row shows", _PATTERN),
    Foreign(
        "FILTER (", "the condition stands in the aggregate: `COUNT(CASE WHEN v.x > 3 THEN 1 END)`, "
        "`SUM(CASE WHEN v.x > 3 THEN v.x END)`", ("RETURN", "HAVING"),
    ),
    Foreign(
        "SIMILAR TO", "write `RLIKE 'a.*'`, with a regular expression, or `LIKE 'a%'`", ("RETURN", "WHERE", "HAVING")
    ),
    Foreign("WITHIN INTERVAL", "write `WITHIN {duration}`"),
    Foreign("SKIP FOR INTERVAL", "write `AFTER MATCH SKIP FOR {duration}`"),
    # ---- Flink's library
    Foreign(". NEXT (", "write `CONTIGUOUS(A, B)` for this step alone, or `SEQ(A, B)` with `SELECT CONTIGUOUS`"),
    Foreign(". FOLLOWEDBY (", "write `NEXT(A, B)` for this step alone, or `SEQ(A, B)` with `SELECT NEXT`"),
    Foreign(". FOLLOWEDBYANY (", "write `SEQ(A, B)`: `SELECT ANY` is the default"),
    Foreign(". NOTFOLLOWEDBY (", "write `SEQ(A, NOT B, C)`"),
    Foreign(". NOTNEXT (", "`SEQ(A, NOT B, C)` comes near: no B anywhere between the two"),
    Foreign(". ONEORMORE (", "write `{before}+`", _PATTERN),
    Foreign(". TIMESORMORE (", "write `{before}{{3,}}`, say", _PATTERN),
    Foreign(". TIMES (", "write `{before}{{3}}`, or `{before}{{2,4}}`, say", _PATTERN),
    Foreign(". OPTIONAL (", "write `{before}?`", _PATTERN),
    Foreign(". GREEDY (", "write `SELECT NEXT`: what a repetition could take is not skipped", _PATTERN),
    Foreign(". CONSECUTIVE (", "write `CONTIGUOUS(A+)`", _PATTERN),
    Foreign(". ALLOWCOMBINATIONS (", "leave it out: `SELECT ANY` is the default", _PATTERN),
    Foreign(". UNTIL (", "write `SEQ(A, SEQ(NOT Stop, B)+)`", _PATTERN),
    Foreign(". WHERE (", "conditions stand in WHERE: `WHERE v.x > 3`", _PATTERN),
    Foreign(". SUBTYPE (", "declare the type: `EVENT Large AS {before} WHERE …`", _PATTERN),
    Foreign(". WITHIN (", "WITHIN is a clause: `WITHIN 5 MINUTES`", _PATTERN),
    Foreign("BEGIN (", "a pattern begins with its first element: `PATTERN SEQ(A, B)`", _PATTERN, anywhere=True),
    # ---- EPL and Siddhi
    Foreign("EVERY _", EVERY, _PATTERN, anywhere=True),
    Foreign("EVERY (", EVERY, _PATTERN, anywhere=True),
    Foreign("FOLLOWED BY", "events in order are written `SEQ(A, B)`", _PATTERN),
    Foreign("FOLLOWEDBY", "write `SEQ(A, B)` with `SELECT NEXT`", _PATTERN),
    Foreign("NEXT", "write `CONTIGUOUS(A, B)`, or `NEXT(A, B)` where others may lie between", _PATTERN),
    Foreign(
        "UNTIL _",
        "write `SEQ(A+, B)`; that a repetition ends at a Stop is written `SEQ(A, SEQ(NOT Stop, B)+)`",
        _PATTERN, anywhere=True,
    ),
    Foreign("TIMER : WITHIN", "write `WITHIN {duration}`"),
    Foreign("TIMER : INTERVAL", "that nothing came for so long is written `SEQ(A, NOT B WITHIN {duration})`"),
    Foreign("TIMER : AT", "time is the events' own: days that begin at 8:00 UTC are `WITHIN 1 DAY OFFSET 8 HOURS`"),
    Foreign("# WINDOW . SESSION", "windows are a clause: `WITHIN SESSION {duration}`"),
    Foreign("# WINDOW", _WINDOWS),
    Foreign("# LENGTH", "windows are of time: `WITHIN 5 MINUTES`; there are none of a number of events"),
    Foreign("# TIME", _WINDOWS),
    Foreign(". WIN :", _WINDOWS),
    Foreign("INSERT INTO", "remove it: where rows go is said on the command line, `cepc run --output DIR`"),
    Foreign("PARTITION WITH", "events that belong together agree on what stands in `[ ]` in WHERE: `WHERE [user]`"),
    Foreign("CREATE SCHEMA", "a stream is declared by `STREAM name (column TYPE, …) EVENT TIME column`"),
    Foreign("OUTPUT FIRST EVERY", "write `AFTER MATCH SKIP FOR {duration}`; it requires SELECT NEXT or CONTIGUOUS", (
        "RETURN", "PATTERN", "WHERE", "GROUP", "HAVING", "WITHIN", "SELECT"
    )),
    Foreign("SLIDING", "write `SLIDE {duration}`", ("WITHIN", "WINDOW"), instead="SLIDE"),
    Foreign("EVERY", "write `SLIDE {duration}`", ("WITHIN", "WINDOW"), instead="SLIDE"),
    Foreign("OUTPUT", _NOT_LISTED, ("WITHIN",)),
    Foreign("EMIT", _NOT_LISTED, ("WITHIN",)),
    Foreign("TUMBLE", "write `WITHIN {duration}`"),
    Foreign("TUMBLING", "write `WITHIN {duration}`"),
    Foreign("HOP", "write `WITHIN {duration} SLIDE 1 MINUTE`, say"),
    Foreign("HOPPING", "write `WITHIN {duration} SLIDE 1 MINUTE`, say"),
)  # fmt: skip

MOST_WORDS: Final = max(len(word.words.split()) for word in FOREIGN)


def foreign(spot: Spot) -> Diagnostic | None:
    """The first of the words that stand where the grammar stops, or just before."""
    clause = spot.clause
    begins = _clause_begins(spot, clause)
    near = spot.tokens[max(min(begins - 1, spot.at - MOST_WORDS), 0) : spot.at + MOST_WORDS]
    there = {token.upper or token.text for token in near}
    for word in FOREIGN:
        if not there.issuperset(part for part in word.words.split() if part != "_"):
            continue
        start = _start(spot, word, clause, begins)
        if start is not None:
            last = start + len(word.words.partition(" _")[0].split()) - 1
            span = spot.span(start - spot.at, last - spot.at)
            shown = shown_text(spot.written(span))
            return wrong(
                span, f"`{shown}` cannot stand here", "said in another way here", _cure(spot, word, last), word.instead
            )
    return None


def duration_in_expression(spot: Spot) -> Diagnostic | None:
    """`b.at - a.at <= 5 SECONDS`, `INTERVAL -5 SECONDS`."""
    if spot.clause not in ("WHERE", "HAVING", "RETURN") or spot.text().lower() not in UNITS:
        return None
    before = spot.tokens[spot.at - 1]
    if before.kind != "NUMBER":
        return None
    duration = f"{before.text} {spot.text()}"
    unit = UNITS[spot.text().lower()]
    fraction = unit != "SECOND" and re.fullmatch(r"\d*\.\d*", before.text)
    whole = ast.Duration(before.text, unit).whole if fraction else None
    interval = f"INTERVAL {duration if whole is None else duration_text(whole)}"
    if (spot.word(-3), spot.text(-2)) == ("INTERVAL", "-"):
        title, cure = f"`INTERVAL -{duration}` is no value", f"-{interval}"
        return wrong(spot.span(-3, 0), title, "a sign stands before the interval", f"write `{cure}`", cure)
    return wrong(spot.span(-1, 0), f"`{duration}` is no value", "a duration is an interval here", f"write `{interval}`")


def skip_to(spot: Spot) -> Diagnostic | None:
    """`SKIP TO b`, which is the last b in SQL; `SKIP 1 HOUR`."""
    if spot.word(-1) == "SKIP" and spot.token is not None and spot.token.kind == "NUMBER":
        return wrong(spot.span(), "FOR is missing", "a number of what?", f"write `SKIP FOR {_duration(spot, spot.at)}`")
    if (spot.word(-2), spot.word(-1)) != ("SKIP", "TO") or not spot.is_name(0) or spot.word() in ("NEXT", "FIRST"):
        return None
    hint = f"write `SKIP TO LAST {spot.text()}`, or `SKIP TO FIRST {spot.text()}`"
    return wrong(spot.span(), "FIRST or LAST is missing", "of which event of the variable?", hint)


def absence_for(spot: Spot) -> Diagnostic | None:
    """`NOT B FOR 5 MINUTES`, where FOR was taken for an alias."""
    if spot.clause != "PATTERN" or spot.word(-1) != "FOR" or spot.token is None or spot.token.kind != "NUMBER":
        return None
    hint = f"write `WITHIN {_duration(spot, spot.at)}`"
    return wrong(spot.span(-1), f"`{spot.text(-1)}` cannot stand here", "how long none comes is said by WITHIN", hint)


def repetition(spot: Spot) -> Diagnostic | None:
    """`A<3:5>` of Siddhi, `[3] A` of EPL."""
    if spot.clause != "PATTERN":
        return None
    inside = [spot.text(i) for i in range(1, 6)]
    if spot.text() == "<" and spot.is_name(-1) and ">" in inside:
        low, colon, high = "".join(inside[: inside.index(">")]).partition(":")
        bounds = f"{low or '0'},{high}" if colon else low
        hint = f"write `{spot.text(-1)}{{{bounds}}}`"
        return wrong(spot.span(), "`<` cannot stand here", "a number of events stands in `{ }`", hint)
    if spot.text() == "[" and spot.word(-1) not in _BEFORE_A_NUMBER and (found := _bounds(spot)) is not None:
        return found
    if spot.text() == "[" and inside[0].isdigit() and inside[1] == "]":
        hint = f"write `{inside[2] or 'A'}{{{inside[0]}}}`"
        return wrong(spot.span(0, 2), "a number before its event", "a number of events stands behind it", hint)
    return None


_BEFORE_A_NUMBER: Final = ("PATTERN", "EVERY", "NOT")


def _bounds(spot: Spot) -> Diagnostic | None:
    """`A[2] a`, `A[2,3]`, `A a[2]`, `SEQ(A, B)[2]`: a number of events in other brackets."""
    end = closed_by(spot.tokens, spot.at)
    if end is None or not (spot.is_name(-1) or spot.text(-1) == ")"):
        return None
    bounds = "".join(token.text for token in spot.tokens[spot.at + 1 : end])
    if re.fullmatch(r"\d+(,\d*)?", bounds) is None:
        return None
    last = end - spot.at
    has_alias = spot.is_name(last + 1) and spot.word(last + 1) not in CLAUSE_STARTS
    two = spot.is_name(-1) and spot.is_name(-2) and spot.word(-2) not in _BEFORE_A_NUMBER
    element = spot.text(-2 if two else -1) if spot.is_name(-1) else "(…)"
    alias = spot.text(-1) if two else spot.text(last + 1) if has_alias else ""
    hint = f"write `{f'{element}{{{bounds}}} {alias}'.rstrip()}`"
    title, label = "a number of events in `[ ]`", "a number of events stands in `{ }`"
    return wrong(spot.span(0, last), title, label, hint, None if two else f"{{{bounds}}}")


def filter_in_pattern(spot: Spot) -> Diagnostic | None:
    """`B(price > 3)` of EPL, `B b (price > 3)`."""
    if spot.clause != "PATTERN" or not (spot.text() in _COMPARISONS or _is_filter(spot)):
        return None
    hint = "write it in WHERE, which may mention every event of the pattern by its alias or type"
    return wrong(spot.span(), "a condition inside the pattern", "conditions stand in WHERE", hint)


_COMPARISONS: Final = ("<", ">", "<=", ">=", "==", "!=", "<>")


def _is_filter(spot: Spot) -> bool:
    """Whether brackets with a comparison begin here, behind an event."""
    end = closed_by(spot.tokens, spot.at) if spot.text() == "(" and spot.is_name(-1) else None
    return end is not None and any(token.text in (*_COMPARISONS, "=") for token in spot.tokens[spot.at : end])


# ---- finding the words -----------------------------------------------------------------------------------------------


def _start(spot: Spot, word: Foreign, clause: str, begins: int) -> int | None:
    """The token at which the words stand, in a clause that begins there."""
    words = word.words.split()
    if word.clauses and clause not in word.clauses:
        return None
    first = begins if word.anywhere else spot.at - len(words)
    for start in range(spot.at, max(first, 0) - 1, -1):
        tokens = spot.tokens[start : start + len(words)]
        if len(tokens) == len(words) and all(map(_is, tokens, words)):
            return start
    return None


def _is(token: RawToken, word: str) -> bool:
    return token.kind in ("WORD", "QUOTED") if word == "_" else (token.upper or token.text) == word


def _clause_begins(spot: Spot, clause: str) -> int:
    """The token behind the clause's word; 0 before the first clause."""
    return max((i for i, token in enumerate(spot.tokens[: spot.at]) if token.upper == clause), default=-1) + 1


def _cure(spot: Spot, word: Foreign, last: int) -> str:
    names = _names(spot, last + 1)
    before = last - len(word.words.partition(" _")[0].split())
    return word.cure.format(
        names=", ".join(names) or "user",
        before=spot.tokens[before].text if before >= 0 and spot.tokens[before].kind == "WORD" else "A",
        duration=_duration(spot, last + 1),
        inside=_inside(spot, last),
    )


def _inside(spot: Spot, opened: int) -> str:
    end = closed_by(spot.tokens, opened) if spot.tokens[opened].text == "(" else None
    return "A, B" if end is None else spot.source.text[spot.tokens[opened].end : spot.tokens[end].start]


def _names(spot: Spot, start: int) -> list[str]:
    names = []
    for i in range(start, len(spot.tokens), 2):
        if spot.tokens[i].kind not in ("WORD", "QUOTED"):
            break
        names.append(spot.tokens[i].text)
        if i + 1 >= len(spot.tokens) or spot.tokens[i + 1].text != ",":
            break
    return names


def _duration(spot: Spot, start: int) -> str:
    """The first number and unit from there on; `'5' MINUTE` is one too."""
    for number, unit in zip(spot.tokens[start:], spot.tokens[start + 1 :], strict=False):
        if number.kind in ("NUMBER", "STRING") and unit.text.lower() in UNITS:
            return f"{number.text.strip(chr(39))} {unit.text}"
    return "5 MINUTES"
