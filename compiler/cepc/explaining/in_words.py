"""What a pattern matches, in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_grammar.pattern import And, Not, Or, Repeat, Selected, Seq, Some
from cepc_grammar.printer import to_text
from cepc_grammar.spelling import duration_text

from ..resolve.walk import conjuncts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def _attribute(name: ast.Name | ast.Reference) -> str:
    return name.text if isinstance(name, ast.Name) else ".".join(part.text for part in name.parts)


def query_in_words(query: ast.Query) -> str:
    """What a match of the query is: its pattern, on what its events agree, its conditions, how far it reaches.

    >>> from cepc_grammar.parser import parse
    >>> from cepc_grammar.source import Source
    >>> text = "QUERY q RETURN MATCH id PATTERN SEQ(Order, NOT Payment WITHIN 1 HOUR) WHERE [id] WITHIN 1 DAY;"
    >>> query_in_words(parse(Source("", text)).program.statements[0])
    'an Order, and no Payment within 1 hour after it; all with the same id; within 1 day'
    """
    parts = [in_words(query.pattern)]
    conditions = list(conjuncts(query.where))
    same = [_attribute(a) for c in conditions if isinstance(c, ast.Equivalence) for a in c.attributes]
    same += [item.parts[0].text for item in query.group_by if len(item.parts) == 1]
    if same:
        parts.append(f"all with the same {_listed(list(dict.fromkeys(same)), 'and')}")
    others = [to_text(c) for c in conditions if not isinstance(c, ast.Equivalence)]
    if others:
        parts.append(f"where {' and '.join(' '.join(text.split()) for text in others)}")
    if isinstance(query.within, ast.Duration):
        parts.append(f"within {duration_text(query.within).lower()}")
    elif isinstance(query.within, ast.Session):
        parts.append(f"within a session, which ends when no event comes for {duration_text(query.within.gap).lower()}")
    if query.select == "CONTIGUOUS":
        parts.append("with no other event of the partition in between")
    elif query.select == "NEXT":
        parts.append("skipping no event with which it could have gone on")
    return "; ".join(parts)


def in_words(pattern: ast.Pattern, *, part: bool = False) -> str:
    """What a match of the pattern is; of a `part` of a pattern a NOT at an edge ends where the rest begins, and not
    with the window.

    >>> from cepc_grammar.ast import Atom, Name
    >>> a, b, c = (Atom(Name(name)) for name in ("A", "B", "C"))
    >>> in_words(Seq((a, Not(c), Repeat(b, 1, None))))
    'an A, then one or more B, with no C in between'
    >>> in_words(And((a, b, Not(c))))
    'an A and a B in any order, with no C in the window'
    """
    match pattern:
        case Not(_, within):
            around = "here" if part else "in the window"
            return f"{_nothing(pattern)} {around if within is None else f'within {duration_text(within).lower()}'}"
        case Seq():
            return _sequence(list(_flat(pattern)), part)
        case And(parts):
            wanted = [p for p in parts if not isinstance(p, Not)]
            none = [f"{_nothing(p)} in the window" for p in parts if isinstance(p, Not)]
            found = f"{_listed([_part(p) for p in wanted], 'and')} in any order" if wanted else ""
            return ", with ".join([*filter(None, [found]), *none])
        case Or(parts):
            return _listed([_part(p, part) for p in parts], "or")
        case Some((one, other)):
            return f"{_part(one)}, {_part(other)}, or both"
        case Some(parts):
            return f"one or more of {_listed([_part(p) for p in parts], 'and')}"
        case Selected(body, select):
            said = "nothing in between" if select == "CONTIGUOUS" else "none in between with which it could go on"
            return f"({in_words(body, part=True)}, with {said})"
        case Repeat(body, least, most):
            return _repeated(body, least, most)
        case ast.AnyEvent():
            return "an event of any type"
        case ast.Atom():
            return _one(_name(pattern))


def _flat(pattern: ast.Pattern) -> Iterator[ast.Pattern]:
    """The parts of a sequence, those of sequences directly in it too: the gaps are the same."""
    if isinstance(pattern, Seq):
        for part in pattern.parts:
            yield from _flat(part)
    else:
        yield pattern


def _sequence(parts: Sequence[ast.Pattern], inner: bool) -> str:
    """What comes after what, each NOT behind what its gap is beside."""
    before_it, after_it = (" since what comes before", " before what follows") if inner else _AT_EDGES
    wanted = [i for i, part in enumerate(parts) if not isinstance(part, Not)]
    said = ""
    for number, at in enumerate(wanted):
        part = parts[at]
        said += f", then {_part(part)}" if number else _part(part)
        before = parts[(wanted[number - 1] + 1 if number else 0) : at]
        for forbidden in before:
            if not isinstance(forbidden, Not):
                continue
            if not number:
                said += f", with {_nothing(forbidden)}{before_it}"
            elif forbidden.within is None:
                said += f", with {_nothing(forbidden)} in between"
            else:
                said += f", with {_nothing(forbidden)} in between for {duration_text(forbidden.within).lower()}"
    for forbidden in parts[wanted[-1] + 1 :] if wanted else parts:
        if isinstance(forbidden, Not):
            gap = "" if forbidden.within is None else f" within {duration_text(forbidden.within).lower()}"
            until = f"{gap}{' after it' if wanted else ''}" if gap else after_it if wanted else " in the window"
            said += f"{', and ' if said else ''}{_nothing(forbidden)}{until}"
    return said


_AT_EDGES = (" before it in the window", " in the window after it")


def _part(pattern: ast.Pattern, part: bool = True) -> str:
    """As a part of something longer: in parentheses where its end would not be seen."""
    text = in_words(pattern, part=part)
    return f"({text})" if isinstance(pattern, Seq | And | Or | Some) and len(pattern.parts) > 1 else text


def _repeated(body: ast.Pattern, least: int, most: int | None) -> str:
    simple = isinstance(body, ast.Atom | ast.AnyEvent)
    what = ("events" if isinstance(body, ast.AnyEvent) else _name(body)) if simple else _part(body)
    match least, most:
        case 0, 1:
            return f"perhaps {_part(body)}"
        case 0, None:
            number = "any number of" if simple else "any number of times"
        case 1, None:
            number = "one or more" if simple else "one or more times"
        case least, None:
            number = f"{least} or more" if simple else f"{least} or more times"
        case least, most if least == most:
            number = f"{least}" if simple else f"{least} times"
        case _:
            number = f"{least} to {most}" if simple else f"{least} to {most} times"
    return f"{number} {what}"


def _nothing(negation: Not[ast.Pattern, ast.Duration]) -> str:
    """`no Payment or Cancel`."""
    match negation.body:
        case Or(parts):
            return f"no {_listed([_bare(part) for part in parts], 'or')}"
        case body:
            return f"no {_bare(body)}"


def _bare(pattern: ast.Pattern) -> str:
    match pattern:
        case ast.AnyEvent():
            return "event"
        case ast.Atom():
            return _name(pattern)
        case Seq(parts):
            return " followed by ".join(_bare(part) for part in parts)
    return f"({in_words(pattern, part=True)})"


def _name(pattern: ast.Pattern) -> str:
    assert isinstance(pattern, ast.Atom)
    alone = ast.Atom(pattern.name, pattern.arguments)
    return to_text(alone)


def _one(name: str) -> str:
    return f"an {name}" if name[:1].upper() in ("A", "E", "I", "O", "U") else f"a {name}"


def _listed(parts: Sequence[str], word: str) -> str:
    return parts[0] if len(parts) < 2 else f"{', '.join(parts[:-1])} {word} {parts[-1]}"
