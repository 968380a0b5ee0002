"""Automata: one path of the positions is one derivation, one accepted word of the deterministic automaton is one
match.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import get_args
from unittest.mock import patch

import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from cepc import model
from cepc.automaton.bound import MAX_STATES, surely_within
from cepc.automaton.deterministic import SelectionName, TooManyStates, deterministic
from cepc.automaton.gaps import NotCounted
from cepc.automaton.letters import Letters
from cepc.automaton.positions import Built, PatternTooLarge, positions_of
from cepc_grammar.pattern import And, Not, Or, Repeat, Seq, Some
from cepc_runtime.plan.windows import Unbounded
from tests.automaton_walks import Event, count, matches
from tests.properties import portion

A, B, C, D = (model.Event(v) for v in "ABCD")
X, Y = model.Event("x"), model.Event("y")  # two more variables of type A
TYPES = {"A": "A", "B": "B", "C": "C", "D": "D", "x": "A", "y": "A"}


def seq(*elements: model.Pattern) -> model.Pattern:
    return Seq(elements)


def plus(body: model.Pattern) -> model.Pattern:
    return Repeat(body, 1, None)


def both(*operands: model.Pattern) -> model.Pattern:
    return And(operands)


def no(body: model.Pattern) -> model.Pattern:
    return Not(body)


@dataclass(frozen=True)
class Made:
    built: Built
    letters: Letters


def make(pattern: model.Pattern) -> Made:
    names = {e.variable for e in model.events(pattern)}
    variables = tuple(model.Variable(n, TYPES[n], model.EventTest(TYPES[n]), is_list=True) for n in sorted(names))
    query = model.Query(
        "q", "s", "aggregate", pattern, variables, (), (), (), Unbounded(), (), None, False, "ANY", None
    )
    letters = Letters()
    return Made(positions_of(query, letters), letters)


def events(text: str) -> list[Event]:
    """`a b (cd)`: instants in order; events in parentheses tie."""
    found: list[Event] = []
    instant, tied = 0, False
    for sign in text.replace(" ", ""):
        if sign in "()":
            tied = sign == "("
            instant += 1
        else:
            instant += not tied
            found.append((instant, sign.upper()))
    return found


COUNTS = [
    ("a sequence counts every pair in order", seq(A, B), "aabab", 5),
    ("(A+)+ is A+", plus(plus(A)), "aaa", 7),
    ("A+ of three events", plus(A), "aaa", 7),
    ("one variable in two places is one match", seq(plus(A), plus(A)), "aaa", 4),
    ("two variables tell their events apart", seq(plus(X), plus(Y)), "aaa", 5),
    ("AND of one variable twice", both(A, A), "aa", 1),
    ("AND of two variables", both(X, Y), "aa", 2),
    ("AND takes its operands in any order", both(A, B), "ba", 1),
    ("events that tie may stand together in AND", both(A, B), "(ab)", 1),
    ("events that tie never precede one another", seq(A, B), "(ab)", 0),
    ("AND of one variable twice, tied", both(A, A), "(aaa)", 3),
    ("a SEQ in AND stays strict", both(seq(A, B), C), "(abc)", 0),
    ("a SEQ in AND ties with the other operand", both(seq(A, B), C), "(ac)b", 1),
    ("OR of the same words counts once", Or((seq(A, B), seq(A, plus(B)))), "ab", 1),
    ("SOME is one, the other, or both", Some((A, B)), "ab", 3),
    ("NOT between", seq(A, no(C), B), "acbab", 1),
    ("NOT between forbids strictly between", seq(A, no(C), B), "(ac)(cb)", 1),
    ("NOT at the start looks back to the window's start", seq(no(C), A), "aca", 1),
    ("NOT at the end looks on to the window's end", seq(A, no(C)), "aca", 1),
    ("NOT of a sequence", seq(A, no(seq(C, D)), B), "acbdb", 1),
    ("NOT of a sequence needs its events in order", seq(A, no(seq(C, D)), B), "adcb", 1),
    ("NOT in AND holds for the whole window", both(A, B, no(C)), "abc", 0),
    ("NOT in AND forbids between the operands too", both(X, Y, no(C)), "aca", 0),
    ("NOT in AND, nothing forbidden", both(A, B, no(C)), "ab", 1),
    ("NOT beside what matched nothing holds for the whole gap", seq(A, no(C), Repeat(D, 0, 1), B), "acb", 0),
    ("a match stands if one derivation does", Or((seq(A, no(C), B), seq(A, no(D), B))), "acb", 1),
    ("NOT within an operand of AND has a gap of its own", both(seq(A, no(C), B), D), "adcb", 0),
    ("the other operand's events do not end that gap", both(seq(A, no(C), B), D), "cadb", 1),
    ("nested Kleene", plus(seq(A, plus(B))), "abab", 5),
    ("bounded repetition", Repeat(A, 2, 3), "aaaa", 10),
    ("zero or more", seq(A, Repeat(B, 0, None)), "abb", 4),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "stream", "expected"), [c[1:] for c in COUNTS], ids=[c[0] for c in COUNTS])
def test_both_automata_find_the_matches(pattern: model.Pattern, stream: str, expected: int) -> None:
    made = make(pattern)
    assert len(matches(made.built.positions, made.letters.all(), events(stream))) == expected
    automaton = deterministic(made.built.positions, made.letters).automaton
    assert count(automaton, made.letters.all(), events(stream)) == expected


SELECTED: list[tuple[str, SelectionName, model.Pattern, str, int]] = [
    ("CONTIGUOUS skips nothing", "CONTIGUOUS", seq(A, B), "abcacb", 1),
    ("CONTIGUOUS counts the factors of a run", "CONTIGUOUS", plus(A), "aaa", 6),
    ("a complete match stays whatever follows", "CONTIGUOUS", seq(A, B), "abcccc", 1),
    ("CONTIGUOUS may skip an event that ties", "CONTIGUOUS", seq(A, B), "(ac)(bc)", 1),
    ("CONTIGUOUS takes any of tied events", "CONTIGUOUS", seq(A, B), "a(bb)b", 2),
    ("a trailing NOT still forbids a complete match", "CONTIGUOUS", seq(A, B, no(D)), "abcd", 0),
    ("a leading NOT is about the time before, which nothing drops", "CONTIGUOUS", seq(no(D), A, B), "cabdab", 1),
    ("NEXT skips what cannot go on", "NEXT", seq(A, B), "acb", 1),
    ("NEXT skips nothing that can go on", "NEXT", seq(A, B), "abb", 1),
    ("NEXT may start anywhere", "NEXT", seq(A, B), "aab", 2),
    ("NEXT of a run ends anywhere", "NEXT", plus(A), "aba", 3),
    ("NEXT takes the next instant that goes on, whole", "NEXT", seq(A, B), "a(bb)b", 2),
    ("NOT plays no part in what could go on", "NEXT", seq(A, no(D), B), "adbb", 0),
    ("NEXT looks at all derivations", "NEXT", Or((seq(A, B), seq(A, C, B))), "acb", 1),
]


@pytest.mark.parametrize(
    ("select", "pattern", "stream", "expected"), [c[1:] for c in SELECTED], ids=[c[0] for c in SELECTED]
)
def test_what_may_not_be_skipped_drops_what_is_counted(
    select: SelectionName, pattern: model.Pattern, stream: str, expected: int
) -> None:
    made = make(pattern)
    automaton = deterministic(made.built.positions, made.letters, select=select).automaton
    assert count(automaton, made.letters.all(), events(stream)) == expected


STATES = [
    ("a sequence", seq(A, B, C), 4),
    ("flat Kleene", plus(A), 2),
    ("nested Kleene", plus(seq(A, plus(B))), 3),
    ("equal alternatives are one", Or((seq(A, B), seq(A, B))), 3),
    ("alternatives that go on alike are merged", Or((seq(A, C), seq(B, C))), 3),
    ("a gap that only one track asks about", both(seq(A, no(C), B), D), 7),
    ("gaps one after the other", seq(A, no(B), C, no(D), X, no(C), Y), 5),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "states"), [s[1:] for s in STATES], ids=[s[0] for s in STATES])
def test_the_deterministic_automaton_is_small(pattern: model.Pattern, states: int) -> None:
    made = make(pattern)
    assert deterministic(made.built.positions, made.letters).automaton.states == states


def test_a_pattern_that_explodes_is_refused_by_operator_and_size() -> None:
    with pytest.raises(PatternTooLarge, match="AND makes an automaton of more than 4,000 states"):
        make(both(*(seq(A, B, C, D) for _ in range(8))))


def test_a_pattern_has_40_000_steps_at_most() -> None:
    optional: list[model.Pattern] = [Repeat(A, 0, 1)] * 282  # each a step from all before it: 282 * 283 / 2
    assert len(make(seq(*[B] * 97, *optional)).built.positions.edges) == 40_000
    with pytest.raises(PatternTooLarge, match="the pattern makes an automaton"):
        make(seq(*[B] * 98, *optional))


def test_a_some_that_explodes_is_refused_before_it_is_built() -> None:
    with pytest.raises(PatternTooLarge, match="SOME makes an automaton of more than 4,000 states"):
        make(Some((A,) * 30))


# ---- random patterns -------------------------------------------------------------------------------------------------

leaves = st.sampled_from([A, B, C, X, Y])


def negatable() -> st.SearchStrategy[model.Pattern]:
    return st.one_of(
        leaves, st.tuples(leaves, leaves).map(Or), st.tuples(leaves, leaves).map(Seq),
        st.tuples(leaves, leaves.map(plus), leaves).map(Seq),
    )  # fmt: skip


def composed(inner: st.SearchStrategy[model.Pattern]) -> st.SearchStrategy[model.Pattern]:
    few = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        few.map(Seq), few.map(Or), st.tuples(inner, inner).map(And), st.tuples(inner, inner).map(Some),
        st.builds(Repeat, inner, st.just(1), st.none()), st.builds(Repeat, inner, st.just(0), st.none()),
        st.builds(Repeat, inner, st.integers(1, 2), st.just(2)), st.builds(Repeat, inner, st.just(0), st.just(1)),
        st.tuples(inner, negatable().map(no), inner).map(Seq),
    )  # fmt: skip


patterns = st.recursive(leaves, composed, max_leaves=5)
outermost = st.one_of(
    patterns,
    st.tuples(negatable().map(no), patterns).map(Seq),
    st.tuples(patterns, negatable().map(no)).map(Seq),
    st.tuples(patterns, patterns, negatable().map(no)).map(And),
)
streams = st.lists(st.sampled_from(["a", "b", "c", "(ab)", "(ac)", "(aab)", "(bc)"]), max_size=6).map("".join)


@given(outermost, st.sampled_from(get_args(SelectionName)))
@settings(max_examples=portion(100))
def test_an_automaton_is_no_larger_than_its_positions_tell(pattern: model.Pattern, select: SelectionName) -> None:
    """Before states with the same future are merged."""
    try:
        made = make(pattern)
    except PatternTooLarge:
        reject()
    most = next((most for most in range(1, MAX_STATES + 1) if surely_within(made.built.positions, most)), None)
    assume(most is not None)
    with patch("cepc.automaton.deterministic.MAX_STATES", most), suppress(NotCounted):
        assert deterministic(made.built.positions, made.letters, select=select).automaton.states > 0


@given(outermost, streams)
@settings(max_examples=portion(300))
def test_one_accepted_word_is_one_match(pattern: model.Pattern, stream: str) -> None:
    try:
        made = make(pattern)
        automaton = deterministic(made.built.positions, made.letters).automaton
    except (PatternTooLarge, TooManyStates, NotCounted):
        return
    found = matches(made.built.positions, made.letters.all(), events(stream))
    assert count(automaton, made.letters.all(), events(stream)) == len(found)
