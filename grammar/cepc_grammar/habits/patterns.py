"""Habits that show inside a pattern."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..diagnostic import Diagnostic
from ..near import nearest
from ..source import Span
from .brackets import not_closed
from .common import closed_by, shown_text, wrong

if TYPE_CHECKING:
    from ..spot import Spot

_ARROWS = frozenset({"->", "=>", ">>"})
_QUANTIFIER_MARKS = frozenset("+*?{")


def lone_negation(spot: Spot) -> Diagnostic | None:
    """`PATTERN NOT A WITHIN … SLIDE`: the WITHIN went to the NOT."""
    at = next((i for i, token in enumerate(spot.tokens[: spot.at]) if token.upper == "PATTERN"), None)
    if at is None or at + 1 >= spot.at or spot.tokens[at + 1].upper != "NOT" or spot.word() != "SLIDE":
        return None
    span = Span(spot.tokens[at + 1].start, spot.tokens[at + 2].end, spot.source.name)
    hint = "say what happens instead: `SEQ(A, NOT B, C)`, or `SEQ(A, NOT B WITHIN 30 MINUTES)`"
    return Diagnostic("E0407", "a pattern of NOT alone", span, "no event is left to make a match of", hint=hint)


def sequence(spot: Spot) -> Diagnostic | None:
    """Order written as an arrow, THEN, or commas alone."""
    if spot.clause != "PATTERN":
        return None
    hint = "events in order are written `SEQ(A, B)`"
    if spot.text() in _ARROWS or spot.word() in ("THEN", "BEFORE"):
        return wrong(spot.span(), f"`{spot.text()}` cannot stand here", "a pattern has no such operator", hint)
    if spot.text() == "-" and spot.text(1) == ">":
        return wrong(spot.span(0, 1), "`->` cannot stand here", "a pattern has no such operator", hint)
    if spot.text() == "," and spot.open_bracket is None:
        return wrong(spot.span(), "`,` cannot stand here", "a pattern is one element", hint)
    return None


def negative_number(spot: Spot) -> Diagnostic | None:
    """`B{-1,2}`."""
    if spot.clause != "PATTERN" or (spot.text(-1), spot.text()) != ("{", "-") or not spot.text(1).isdecimal():
        return None
    title, label = "a number of events below 0", "a pattern has at least 0 of them"
    return wrong(spot.span(0, 1), title, label, "write `0`, or the least number of events that there must be", None)


def from_to(spot: Spot) -> Diagnostic | None:
    """`B{2..3}`, `B{2-3}`, `B{2:3}`."""
    opened = spot.open_bracket
    if spot.clause != "PATTERN" or opened is None or spot.tokens[opened].text != "{":
        return None
    end = closed_by(spot.tokens, opened)
    if end is None:
        return None
    span = Span(spot.tokens[opened].start, spot.tokens[end].end, spot.source.name)
    bounds = _FROM_TO.fullmatch(spot.source.text[span.start : span.end])
    if bounds is None:
        return None
    cure = f"{{{bounds[1]},{bounds[2]}}}"
    return wrong(
        span, "no numbers of events", "the least and the most are separated by a comma", f"write `{cure}`", cure
    )


_FROM_TO = re.compile(r"\{\s*(\d+)\s*(?:\.\.+|-|:|TO)\s*(\d+)\s*\}", re.IGNORECASE)


def other_brackets(spot: Spot) -> Diagnostic | None:
    """`SEQ{A, B}`, `SEQ[A, B]`."""
    word = spot.word(-1)
    if spot.clause != "PATTERN" or spot.text() not in ("{", "[") or word not in ("SEQ", "AND", "OR", "SOME"):
        return None
    end = closed_by(spot.tokens, spot.at)
    inside = "A, B" if end is None else spot.source.text[spot.span().end : spot.tokens[end].start]
    span, cure = (spot.span(), None) if end is None else (spot.span(0, end - spot.at), f"({inside})")
    hint = f"write `{shown_text(f'{word}({inside})')}`"
    return wrong(span, f"`{spot.text()}` behind {word}", "its parts stand in `( )`", hint, cure)


def where_inside(spot: Spot) -> Diagnostic | None:
    """`SEQ(A WHERE x > 3, B)`, where WHERE was taken for an alias."""
    offset = next((o for o in (0, -1) if spot.word(o) == "WHERE"), None)
    if offset is None or spot.open_bracket is None:
        return None
    words = [t.upper for t in spot.tokens[: spot.at + offset]]
    if "PATTERN" not in words or not set(words).isdisjoint({"WHERE", "HAVING", "WITHIN"}):
        return None
    if closed_by(spot.tokens, spot.open_bracket) is None:
        return not_closed(spot, spot.open_bracket, spot.at + offset, "before WHERE")
    hint = "write it behind the pattern: `WHERE A.x > 3`, which may mention every event by its alias or type"
    return wrong(spot.span(offset), "a condition inside the pattern", "conditions stand in WHERE", hint)


def within_inside(spot: Spot) -> Diagnostic | None:
    """`SEQ(A a, B b WITHIN 5 s)`."""
    if spot.word() != "WITHIN" or spot.open_bracket is None or spot.clause != "PATTERN":
        return None
    if closed_by(spot.tokens, spot.open_bracket) is None:
        return None
    hint = "how far two events are apart is a condition: `WHERE b.at < a.at + INTERVAL 5 SECONDS`"
    return wrong(spot.span(), "WITHIN inside the pattern", "it is of a whole match, or of a NOT", hint)


def where_mistyped(spot: Spot) -> Diagnostic | None:
    """`PATTERN SEQ(A, B) WEHRE [id]`, where the word was taken for an alias."""
    if spot.clause != "PATTERN" or spot.text() != "[" or spot.open_bracket is not None:
        return None
    if not spot.word(-1) or nearest(spot.word(-1), ["WHERE"]) is None:
        return None
    hint = "did you mean `WHERE`?"
    return wrong(spot.span(-1), f"`{spot.text(-1)}` is no keyword", "a keyword is expected", hint, "WHERE")


def up_to(spot: Spot) -> Diagnostic | None:
    """`B{,3}` of regular expressions and MATCH_RECOGNIZE."""
    if spot.clause != "PATTERN" or (spot.text(-1), spot.text(), spot.text(2)) != ("{", ",", "}"):
        return None
    most, element = spot.text(1), spot.text(-2) if spot.is_name(-2) else "(…)"
    hint = f"write `{element}{{1,{most}}}`, or `{element}{{0,{most}}}` if there may be none"
    return wrong(spot.span(), "the least number is missing", "a number is expected before it", hint)


def pattern_operators(spot: Spot) -> Diagnostic | None:
    """`A | B`, `A & B`, `p: A`, `p = A`, `A[x > 3]`, `A t+`, `SEQ(A) NOT B`, `A AS a`, "A" in a pattern."""
    token = spot.token
    if token is None or spot.clause != "PATTERN":
        return None
    text = token.text
    if text == "~":
        return wrong(spot.span(), "`~` cannot stand here", "said in another way here", "write NOT")
    if text + spot.text(1) in (".*", ".+") or (text == "*" and spot.text(-1) in (",", "(")):
        hint = "leave it out: between two events any others may come; an event of any type is `ANY`"
        return wrong(spot.span(0, int(text == ".")), "what may come between", "no event is named here", hint)
    if text in ("|", "||", "&", "&&"):
        word = "OR" if "|" in text else "AND"
        return wrong(
            spot.span(), f"`{text}` cannot stand here", "a pattern has no such operator", f"write `{word}(A, B)`"
        )
    if text in (":", "=") and spot.is_name(-1) and spot.is_name(1):
        hint = f"an alias follows its event: `{spot.text(1)} {spot.text(-1)}`"
        return wrong(spot.span(-1, 0), "an alias before its event", "cannot stand here", hint)
    if text == "[":
        hint = "write it in WHERE, which may mention every event of the pattern by its alias or type"
        return wrong(spot.span(), "a condition inside the pattern", "conditions stand in WHERE", hint)
    if text in _QUANTIFIER_MARKS and spot.is_name(-1) and (spot.is_name(-2) or spot.text(-2) == ")"):
        hint = _alias_or_element(spot, spot.text(-2) if spot.is_name(-2) else "(…)", spot.text(-1))
        return wrong(spot.span(), f"`{text}` behind an alias", "a quantifier stands before the alias", hint)
    if spot.word(-1) == "NOT" and spot.text(-2) == ")" and spot.is_name(0):
        hint = f"it stands in a sequence, at the end as well: `SEQ(A, NOT {text})`"
        return wrong(spot.span(-1, 0), "NOT behind a pattern", "what may not come is a part of the pattern", hint)
    if spot.word(-1) == "AS" and spot.is_name(0):
        hint = f"write `{spot.text(-2)} {text}`" if spot.is_name(-2) else "leave AS out"
        return wrong(spot.span(-1), "AS in a pattern", "an alias follows its event without AS", hint)
    if token.kind == "STRING" and "NAME" in spot.expected:
        name = text[1:-1]
        hint = (
            f"write `{name}`" if name.isidentifier() else f"a name with other characters stands in backquotes: `{name}`"
        )
        return wrong(spot.span(), "a string in a pattern", "an event type is a name, not a string", hint)
    return None


def _alias_or_element(spot: Spot, element: str, second: str) -> str:
    """What to write where a quantifier follows two names, of which the second may be meant as an event type."""
    mark = _quantifier(spot)
    two = f"{element}, {second}{mark}"
    if spot.open_bracket is None:
        two = f"SEQ({two})"
    if second[:1].isupper():
        return f"write `{two}`; an alias would stand behind the quantifier: `{element}{mark} {second.lower()}`"
    return f"write `{element}{mark} {second}`, or `{two}` for two elements"


def _quantifier(spot: Spot) -> str:
    """The mark that stands here, with all that is in its braces; without a least number that is 1."""
    inside = [spot.text(i) for i in range(1, 5)]
    if spot.text() != "{" or "}" not in inside:
        return spot.text()
    bounds = "".join(inside[: inside.index("}")])
    return f"{{1{bounds}}}" if bounds.startswith(",") else f"{{{bounds}}}"
