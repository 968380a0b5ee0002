"""What all sharing passes have in common: the pattern they see."""

from __future__ import annotations

import pytest

from cepc.api import check_text
from cepc.passes.pattern import And, Event, Not, Or, Pattern, Repeat, Seq, Some, events, pattern_of
from cepc.planning import plan_program

STREAM = "STREAM s (kind STRING, ts TIMESTAMP, x INT) EVENT TIME ts EVENT TYPE kind;"

TREES = [
    ("SEQ(A, B+)", Seq((Event(0, "A"), Repeat(Event(1, "B"), 1, None)))),
    ("SEQ(A a, A b)", Seq((Event(0, "a"), Event(0, "b")))),
    ("AND(A, SEQ(B, NOT C, D))", And((Event(0, "A"), Seq((Event(1, "B"), Not(Event(2, "C")), Event(3, "D")))))),
    ("OR(A, SOME(B, C))", Or((Event(0, "A"), Some((Event(1, "B"), Event(2, "C")))))),
    ("SEQ(A, B{2,3})", Seq((Event(0, "A"), Repeat(Event(1, "B"), 2, 3)))),
]

TYPES = {
    "SEQ(A, B+)": ["A", "B"],
    "SEQ(A a, A b)": ["A", "A"],
    "AND(A, SEQ(B, NOT C, D))": ["A", "B", "C", "D"],
    "OR(A, SOME(B, C))": ["A", "B", "C"],
    "SEQ(A, B{2,3})": ["A", "B"],
}


@pytest.mark.parametrize(("text", "tree"), TREES, ids=[text for text, _ in TREES])
def test_a_pattern_is_a_tree_over_letters(text: str, tree: Pattern) -> None:
    program = check_text(f"{STREAM} QUERY q RETURN COUNT(*) PATTERN {text} WITHIN 1 min;", "t.cep").program
    assert program is not None
    (plan,) = plan_program(program).plans
    found = pattern_of(program.queries[0], {letter: i for i, letter in enumerate(plan.letters)})
    assert found == tree
    assert [plan.letters[e.letter].raw_type for e in events(found)] == TYPES[text]
