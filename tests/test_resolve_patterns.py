"""Patterns: variables, what may be absent, and where NOT may stand."""

import pytest

from tests.resolving import codes, query_text, resolved, show_pattern, show_variables

VARIABLES = [
    ("one occurrence is single", "SEQ(A a, B)", "a:A B:B"),
    ("an optional one is single", "SEQ(A? a, B)", "a:A B:B"),
    ("once is single", "SEQ(A{1} a, B)", "a:A B:B"),
    ("a repeated one is a list", "SEQ(A+ a, B*)", "a*:A B*:B"),
    ("a repetition around makes a list", "SEQ(A, B)+", "A*:A B*:B"),
    ("an optional group does not", "SEQ(SEQ(A, B)?, C)", "A:A B:B C:C"),
    ("two in a SEQ are a list", "SEQ(A, B, A)", "A*:A B:B"),
    ("one in each branch of an OR is single", "OR(SEQ(A, B), SEQ(B, A))", "A:A B:B"),
    ("two in an AND are a list", "AND(A, A)", "A*:A"),
    ("one in each operand of a SOME is a list", "SOME(A, SEQ(A, B))", "A*:A B:B"),
    ("ANY has a name of its own", "SEQ(ANY, ANY e)", "ANY:ANY e:ANY"),
    ("a negated one counts within its NOT", "SEQ(A, NOT B, C)+", "A*:A !B:B C*:C"),
    ("a list within its NOT", "SEQ(A, NOT SEQ(B+ b, C c), D)", "A:A !b*:B !c:C D:D"),
]  # fmt: skip


@pytest.mark.parametrize(("title", "pattern", "expected"), VARIABLES, ids=[t for t, *_ in VARIABLES])
def test_variables_are_single_lists_or_negated(title: str, pattern: str, expected: str) -> None:
    assert show_variables(resolved(pattern)) == expected, title


SHAPES = [
    ("groups dissolve, structure stays", "((A), SEQ(B, (C, D)))", "SEQ(A, SEQ(B, SEQ(C, D)))"),
    ("one operand alone", "SEQ(AND(A), OR(B))", "SEQ(A, B)"),
    ("quantifiers", "SEQ(A+, B*, C?, D{2}, A{1,2}, B{3,})", "SEQ(A{1,}, B{0,}, C{0,1}, D{2,2}, A{1,2}, B{3,})"),
    ("a gap in ticks", "SEQ(A, NOT B WITHIN 2 s)", "SEQ(A, NOT B WITHIN 2000000)"),
    ("some and or", "SOME(A, OR(B, C))", "SOME(A, OR(B, C))"),
]  # fmt: skip


@pytest.mark.parametrize(("title", "pattern", "expected"), SHAPES, ids=[t for t, *_ in SHAPES])
def test_patterns_keep_their_shape(title: str, pattern: str, expected: str) -> None:
    assert show_pattern(resolved(pattern).pattern) == expected, title


RIGHT = [
    ("NOT between events", "SEQ(A, NOT B, C)"),
    ("NOT at the beginning and the end of the whole", "SEQ(NOT A, B, NOT C)"),
    ("NOTs side by side", "SEQ(A, NOT B, NOT C, D)"),
    ("NOT in the outermost AND", "AND(A, B, NOT C)"),
    ("in each outermost AND of an OR", "OR(AND(A, NOT B), AND(C, NOT D))"),
    ("an outermost AND in a named pattern", "all_of"),
    ("NOT at the edge of an operand of the outermost AND", "AND(SEQ(NOT A, B), SEQ(C, NOT D))"),
    ("NOT inside an operand of an inner AND", "SEQ(AND(SEQ(A, NOT B, C), D), B z)"),
    ("NOT as one alternative in a SEQ: written out it is in a gap", "SEQ(A, OR(NOT B, C), D)"),
    ("NOT at the edge of a repeated SEQ", "SEQ(A, NOT B)+"),
    ("NOT in an outermost SOME's operands", "SOME(A, SEQ(B, NOT C))"),
    ("NOT of an OR", "SEQ(A, NOT OR(B, SEQ(C, D)), A z)"),
    ("NOT of a SEQ with a repetition", "SEQ(A, NOT SEQ(B, C+), D)"),
    ("NOT of a SEQ of one repetition", "SEQ(A, NOT SEQ(B{3}), D)"),
    ("NOT of a named SEQ", "SEQ(A, NOT bc n, D)"),
    ("NOT WITHIN in the middle", "SEQ(A, NOT B WITHIN 1 s, C)"),
    ("an optional event before an unlimited NOT", "SEQ(A?, NOT B, C)"),
    ("a NOT of two events of one name", "SEQ(A, NOT OR(SEQ(B, C), SEQ(C, B)), D)"),
    ("a part with a selection of its own", "SEQ(NEXT(CONTIGUOUS(A, B), C+), D)"),
    ("event types that are called like one", "SEQ(CONTIGUOUS(A next, B), NEXT(C contiguous))"),
    ("optional in optional, with something behind", "SEQ((A*)+, (B?)*, C)"),
]  # fmt: skip

BEFORE = "PATTERN all_of AS AND(A, NOT B); PATTERN bc AS SEQ(B, C); PATTERN opt AS SEQ(A?, B*);"


@pytest.mark.parametrize(("title", "pattern"), RIGHT, ids=[t for t, *_ in RIGHT])
def test_right_patterns(title: str, pattern: str) -> None:
    assert codes(query_text(pattern, before=BEFORE)) == [], title


WRONG = [
    ("nothing at all", "A*", ["E0401"]),
    ("all parts optional", "SEQ(A?, OR(B, C*))", ["E0401"]),
    ("an AND of optional operands", "AND(A?, B?)", ["E0401"]),
    ("a SOME with one optional operand", "SOME(A, B?)", ["E0401"]),
    ("a repetition of what can be nothing", "(A?){3}", ["E0401"]),
    ("a named pattern that can be nothing", "opt", ["E0401"]),
    ("an optional event and a NOT", "SEQ(A?, NOT B)", ["E0401"]),
    ("more at least than at most", "A{3,1}", ["E0402"]),
    ("no times", "SEQ(A, B{0})", ["E0402"]),
    ("at most no times", "SEQ(A, B{0,0})", ["E0402"]),
    ("a variable of two types", "SEQ(A v, B v)", ["E0403"]),
    ("a variable of a type and of any", "SEQ(A v, ANY v)", ["E0403"]),
    ("variables that differ only in case", "SEQ(A v, B V)", ["E0206"]),
    ("NOT as an operand of an inner AND", "SEQ(A, AND(B, NOT C), D)", ["E0404"]),
    ("NOT at the end of one", "SEQ(A, AND(B, SEQ(C, NOT D)))", ["E0404"]),
    ("NOT at the beginning, once an optional event is left out", "SEQ(A, AND(B, SEQ(C?, NOT D d, A z)))", ["E0404"]),
    ("NOT in an AND that is repeated", "AND(A, NOT B)+", ["E0404"]),
    ("NOT in an inner SOME", "SEQ(A, SOME(B, SEQ(NOT C, D)))", ["E0404"]),
    ("NOT in an AND in an AND", "AND(A, AND(B, NOT C))", ["E0404"]),
    ("an AND with NOT beside an optional event", "SEQ(A?, AND(B, NOT C))", ["E0404"]),
    ("NOT of a repetition", "SEQ(A, NOT B+, C)", ["E0405"]),
    ("NOT of an AND", "SEQ(A, NOT AND(B, C), D)", ["E0405"]),
    ("NOT of a part with a selection", "SEQ(A, NOT SEQ(B, NEXT(C, C w)), D)", ["E0405"]),
    ("NOT of a SOME", "SEQ(A, NOT SOME(B, C), D)", ["E0405"]),
    ("NOT of what can be nothing", "SEQ(A, NOT SEQ(B?), C)", ["E0406"]),
    ("NOT of an OR that can be nothing", "SEQ(A, NOT OR(B, C*), D)", ["E0406"]),
    ("only NOTs", "SEQ(NOT A, NOT B)", ["E0407"]),
    ("NOT alone, in an outermost AND", "AND(NOT A)", ["E0407"]),
    ("NOT as an alternative of the whole", "OR(A, NOT B)", ["E0401"]),
    ("NOT in NOT", "SEQ(A, NOT SEQ(B, NOT C, D), A z)", ["E0408"]),
    ("NOT of a named pattern with NOT", "SEQ(C, NOT all_of n, D)", ["E0408"]),
    ("NOT WITHIN first", "SEQ(NOT A WITHIN 1 s, B)", ["E0409"]),
    ("NOT WITHIN behind an optional event", "SEQ(A?, NOT B WITHIN 1 s, C)", ["E0409"]),
    ("NOT WITHIN in an outermost AND", "AND(A, NOT B WITHIN 1 s)", ["E0409"]),
    ("a negated type that stands elsewhere", "SEQ(A, NOT A, B)", ["E0410"]),
    ("one name in two NOTs", "SEQ(A, NOT B, C, NOT B, D)", ["E0410"]),
    ("NOT WITHIN no time", "SEQ(A, NOT B WITHIN 0 s)", ["E0507"]),
    ("NOT WITHIN less than a tick", "SEQ(A, NOT B WITHIN 0.1 us)", ["E0509"]),
    ("NOT WITHIN months", "SEQ(A, NOT B WITHIN 1 MONTH)", ["E0508"]),
    ("a reluctant mark", "SEQ(A+?, B)", ["E0415"]),
    ("several at once", "SEQ(E, A{2,1}, AND(B, NOT C), NOT D+)", ["E0201", "E0402", "E0404", "E0405"]),
]  # fmt: skip


@pytest.mark.parametrize(("title", "pattern", "expected"), WRONG, ids=[t for t, *_ in WRONG])
def test_wrong_patterns(title: str, pattern: str, expected: list[str]) -> None:
    assert codes(query_text(pattern, before=BEFORE)) == expected, title
