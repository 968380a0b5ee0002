"""The oracle against other definitions of a match: Python's regular expressions, and a recogniser that splits sets of
events.

A stream without ties is a word whose letters are its event types. A set of events is a match of a pattern without AND,
NOT and conditions when their letters spell a word of the pattern's regular expression; and a backtracking matcher has
MATCH_RECOGNIZE's order of preference.
"""

from __future__ import annotations

import re
from itertools import chain, combinations, product

from hypothesis import given
from hypothesis import strategies as st

from cepc_grammar import ast
from cepc_grammar.pattern import And, Or, Repeat, Seq, Some
from tests import oracle
from tests.streams import events, found, query

WORDS = st.text("abc", max_size=7)
QUANTIFIERS = st.sampled_from(["+", "*", "?", "{2}", "{1,2}", "{0,2}", "{2,}"])

Expression = tuple[str, str]
"""A pattern, and the regular expression that says the same."""


def expressions(reluctant: bool) -> st.SearchStrategy[Expression]:
    quantified = st.tuples(QUANTIFIERS, st.sampled_from(["", "?"]) if reluctant else st.just(""))

    def larger(smaller: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        several = st.lists(smaller, min_size=2, max_size=3)
        return st.one_of(
            several.map(lambda ps: (f"SEQ({', '.join(p for p, _ in ps)})", "".join(r for _, r in ps))),
            several.map(lambda ps: (f"OR({', '.join(p for p, _ in ps)})", f"(?:{'|'.join(r for _, r in ps)})")),
            st.tuples(smaller, quantified).map(
                lambda t: (f"({t[0][0]}){''.join(t[1])}", f"(?:{t[0][1]}){''.join(t[1])}")
            ),
        )

    return st.recursive(st.sampled_from([("A", "a"), ("B", "b"), ("C", "c")]), larger, max_leaves=5)


def stream(word: str) -> str:
    return " ".join(f"{letter}{i}" for i, letter in enumerate(word))


def named(word: str, places: tuple[int, ...] | range) -> str:
    return " ".join(f"{word[i]}{i}" for i in places)


@given(expressions(reluctant=False), WORDS)
def test_matches_are_the_subwords_that_the_regular_expression_accepts(expression: Expression, word: str) -> None:
    pattern, regex = expression
    subsets = [places for n in range(1, len(word) + 1) for places in combinations(range(len(word)), n)]
    accepted = [places for places in subsets if re.fullmatch(regex, "".join(word[i] for i in places))]
    assert found(pattern, stream(word)) == {named(word, places) for places in accepted}


@given(expressions(reluctant=False), WORDS)
def test_contiguous_matches_are_the_factors_that_the_regular_expression_accepts(
    expression: Expression, word: str
) -> None:
    pattern, regex = expression
    factors = [range(i, j) for i, j in combinations(range(len(word) + 1), 2) if re.fullmatch(regex, word[i:j])]
    assert found(f"{pattern} SELECT CONTIGUOUS", stream(word)) == {named(word, places) for places in factors}


@given(expressions(reluctant=False), WORDS)
def test_next_skips_no_event_with_which_the_match_could_have_gone_on(expression: Expression, word: str) -> None:
    """A prefix can go on with a letter when some further letters make a word of the whole."""
    pattern, regex = expression
    rests = ["".join(letters) for n in range(6) for letters in product("abc", repeat=n)]

    def follows(match: str) -> bool:
        places = [int(event[1:]) for event in match.split()]
        begun = ["".join(word[p] for p in places[: i + 1]) for i in range(len(places))]
        skipped = [begun[i] + word[x] for i, p in enumerate(places[:-1]) for x in range(p + 1, places[i + 1])]
        return not any(re.fullmatch(regex, prefix + rest) for prefix in set(skipped) for rest in rests)

    assert found(f"{pattern} SELECT NEXT", stream(word)) == {
        match for match in found(pattern, stream(word)) if follows(match)
    }


@given(expressions(reluctant=True), WORDS)
def test_past_last_event_finds_what_a_backtracking_matcher_finds(expression: Expression, word: str) -> None:
    """One more letter at the end: it cannot match nothing, and the match is told by its length."""
    pattern, regex = f"SEQ({expression[0]}, OR(A z, B z2))", re.compile(f"(?:{expression[1]})[ab]")
    spans, place = set(), 0
    while place < len(word):
        match = regex.match(word, place)
        if match:
            spans.add(named(word, range(place, match.end())))
        place = match.end() if match else place + 1
    result = found(f"{pattern} SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT", stream(word))
    assert {re.sub(r"z2?=", "", match) for match in result} == spans


# ---- with AND, SOME, variables and ties ------------------------------------------------------------------------------

ATOMS = st.sampled_from(["A", "B", "C", "A x", "A y", "ANY z"])


def patterns() -> st.SearchStrategy[str]:
    def larger(smaller: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        several = st.lists(smaller, min_size=2, max_size=3).map(", ".join)
        operators = st.sampled_from(["SEQ", "SEQ", "AND", "OR", "SOME"])
        return st.one_of(
            st.tuples(operators, several).map(lambda t: f"{t[0]}({t[1]})"),
            st.tuples(smaller, QUANTIFIERS).map(lambda t: f"({t[0]}){t[1]}"),
        )

    return st.recursive(ATOMS, larger, max_leaves=4)


TIED = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2)), max_size=4).map(
    lambda pairs: " ".join(f"{kind}{time}{chr(39) * i}" for i, (kind, time) in enumerate(pairs))
)

Bound = tuple[int, str, str, str]
"""Time, name, type and variable of a bound event."""


@given(patterns(), TIED)
def test_matches_are_the_sets_of_bound_events_that_a_recogniser_accepts(pattern: str, text: str) -> None:
    rows = events(text)
    program = query(pattern)
    tree = next(s.pattern for s in program.statements if isinstance(s, ast.Query))
    variables = {"A": "Axyz", "B": "Bz", "C": "Cz"}
    ways = [
        [None, *((int(str(r["at"])), str(r["name"]), kind, v) for v in variables[kind])]
        for r in rows
        if (kind := str(r["kind"]))
    ]
    sets = (frozenset(b for b in choice if b is not None) for choice in product(*ways))
    accepted = {
        frozenset((name, variable) for _, name, _, variable in bound)
        for bound in sets
        if bound and accepts(tree, bound)
    }
    assert {
        frozenset((rows[e]["name"], v) for e, v in match) for match in oracle.matches(program, "q", rows)
    } == accepted


def accepts(pattern: ast.Pattern, bound: frozenset[Bound]) -> bool:
    """Whether these events, so bound, are a match: by splitting the set, not by going through the stream."""
    match pattern:
        case ast.Atom(name, _, alias):
            return len(bound) == 1 and all(kind == name.text and v == (alias or name).text for _, _, kind, v in bound)
        case ast.AnyEvent(alias):
            return len(bound) == 1 and all(alias is not None and v == alias.text for _, _, _, v in bound)
        case Seq(elements):
            return _in_order(elements, bound)
        case And(operands):
            return _in_any_order(operands, bound)
        case Or(operands):
            return any(accepts(operand, bound) for operand in operands)
        case Some(operands):
            subsets = chain.from_iterable(combinations(operands, n) for n in range(1, len(operands) + 1))
            return any(_in_any_order(subset, bound) for subset in subsets)
        case Repeat(body, least, most):
            fewest = 0 if accepts(body, frozenset()) else least
            counts = range(fewest, (len(bound) if most is None else min(most, len(bound))) + 1)
            return any(_in_order((body,) * count, bound) for count in counts)
    raise AssertionError(pattern)


def _in_order(elements: tuple[ast.Pattern, ...], bound: frozenset[Bound]) -> bool:
    """All events of an element strictly before all events of every later element: cut the times in two everywhere."""
    if not elements:
        return not bound
    cuts = {time for time, _, _, _ in bound} | {-1}
    for cut in cuts:
        head = frozenset(b for b in bound if b[0] <= cut)
        if accepts(elements[0], head) and _in_order(elements[1:], bound - head):
            return True
    return False


def _in_any_order(operands: tuple[ast.Pattern, ...], bound: frozenset[Bound]) -> bool:
    if not operands:
        return not bound
    parts = (frozenset(part) for n in range(len(bound) + 1) for part in combinations(bound, n))
    return any(accepts(operands[0], part) and _in_any_order(operands[1:], bound - part) for part in parts)
