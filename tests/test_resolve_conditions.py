"""Conditions by kind, and the attributes on which events agree."""

import pytest

from tests.resolving import codes, query_text, resolved, show, show_pattern, show_variables

LEG = "PATTERN leg AS SEQ(A a, B b) WHERE a.x < b.x AND a.y > 1 AND k = 7;"

KINDS = [
    ("over one event: a test", "SEQ(A a, B)", "a.x > 3", "a:A[(x > 3)] B:B", []),
    ("over each event of a list: a test", "SEQ(A+ a, B)", "a.x > a.y", "a*:A[(x > y)] B:B", []),
    ("two tests of one variable", "SEQ(A a, B)", "a.x > 3 AND (a.y < 2 AND B.x = 1)", "a:A[(x > 3) (y < 2)] B:B[(x = 1)]", []),
    ("with a shared attribute: still a test", "SEQ(A a, B)", "[k] AND a.x > k", "a:A[(x > k)] B:B", []),
    ("over shared attributes alone: of every event", "SEQ(A a, NOT C, B)", "[k] AND k > 3", "a:A[(k > 3)] !C:C B:B[(k > 3)]", []),
    ("constant: of every event", "SEQ(A, B)", "1 = 2", "A:A[(1 = 2)] B:B[(1 = 2)]", []),
    ("over two variables: a condition", "SEQ(A a, B b)", "b.x > a.x", "a:A b:B", ["b,a: (b.x > a.x)"]),
    ("an OR is one conjunct", "SEQ(A a, B b)", "a.x > 1 OR b.x > 1", "a:A b:B", ["a,b: ((a.x > 1) or (b.x > 1))"]),
    ("PREV: a condition", "SEQ(A+ a, B)", "a.x > PREV(a).x", "a*:A B:B", ["a: (a.x > PREV(a).x)"]),
    ("FIRST of a list alone: a condition", "SEQ(A+ a, B)", "FIRST(a).x > 1", "a*:A B:B", ["a: (FIRST(a).x > 1)"]),
    ("FIRST and LAST of a single variable are the event", "SEQ(A a, B b)", "FIRST(a).x > 1 AND LAST(a).x < b.x",
     "a:A[(x > 1)] b:B", ["a,b: (a.x < b.x)"]),
    ("LAST of a list beside another", "SEQ(A+ a, B b)", "b.x > LAST(a).x", "a*:A b:B", ["b,a: (b.x > LAST(a).x)"]),
    ("over a negated event alone: a test", "SEQ(A, NOT C c, B)", "c.x > 1", "A:A !c:C[(x > 1)] B:B", []),
    ("over a negated event and others", "SEQ(A a, NOT C c, B)", "c.x > a.x", "a:A !c:C B:B", ["c,a: (c.x > a.x)"]),
    ("NOT before a conjunct is no conjunction", "SEQ(A a, B b)", "NOT (a.x > 1 AND b.x > 1)",
     "a:A b:B", ["a,b: not(((a.x > 1) and (b.x > 1)))"]),
    ("a variable with an alias of a pattern", "SEQ(leg w, C)", "w.a.x > C.x", "w.a:A w.b:B C:C", ["w.a,C: (w.a.x > C.x)"]),
    ("a field of a struct", "SEQ(A a, B b)", "a.p.a > 1 AND [p] AND p.a < 5",
     "a:A[(field(p, a) > 1) (field(p, a) < 5)] b:B[(field(p, a) < 5)]", []),
]  # fmt: skip


@pytest.mark.parametrize(("title", "pattern", "where", "variables", "conditions"), KINDS, ids=[t for t, *_ in KINDS])
def test_a_conjunct_goes_where_it_is_tested(
    title: str, pattern: str, where: str, variables: str, conditions: list[str]
) -> None:
    before = "PATTERN leg AS SEQ(A a, B b);"
    query = resolved(pattern, clauses=f"WHERE {where}", before=before)
    assert show_variables(query) == variables, title
    assert [f"{','.join(c.variables)}: {show(c.expression)}" for c in query.conditions] == conditions


def test_conditions_of_a_named_pattern_hold_in_its_matches_alone() -> None:
    query = resolved("SEQ(leg+, A a2)", clauses="WHERE [k]", before=LEG)
    assert show_pattern(query.pattern) == "SEQ(leg:SEQ(a[(y > 1) (k = 7)], b[(k = 7)])[(a.x < b.x)]{1,}, a2)"
    assert show_variables(query) == "a*:A b*:B a2:A"
    assert query.conditions == ()


def test_two_uses_of_a_named_pattern_test_their_own_events() -> None:
    before = "PATTERN high(c) AS A a WHERE a.c > 1; PATTERN two AS SEQ(high(x), high(y)) WHERE LAST(a).k > 5;"
    query = resolved("SEQ(two, B)", before=before)
    assert show_pattern(query.pattern) == "SEQ(two:SEQ(a[(x > 1)], a[(y > 1)])[(LAST(a).k > 5)], B)"


def test_what_a_negated_named_pattern_says_of_shared_attributes_is_asked_of_its_events() -> None:
    query = resolved("SEQ(C, NOT leg n, D)", clauses="WHERE [k]", before=LEG)
    assert show_pattern(query.pattern) == "SEQ(C, NOT leg:SEQ(n.a[(y > 1) (k = 7)], n.b[(k = 7)])[(n.a.x < n.b.x)], D)"


def test_a_variable_can_be_single_in_a_named_pattern_and_a_list_in_the_query() -> None:
    before = "PATTERN leg AS SEQ(A a, B b) WHERE LAST(a).x < b.x;"
    query = resolved("leg+", before=before)
    assert show_pattern(query.pattern) == "leg:SEQ(a, b)[(a.x < b.x)]{1,}"
    assert codes(query_text("leg+", before="PATTERN leg AS SEQ(A a, B) WHERE PREV(a).x > 1;")) == ["E0318"]


def test_the_text_of_a_condition_is_what_the_user_wrote() -> None:
    (condition,) = resolved("SEQ(A a, B b)", clauses="WHERE b.x>a.x+1").conditions
    assert condition.text == "b.x > a.x + 1"


PARTITIONS = [
    ("[ ]", "WHERE [k, g]", ("k", "g"), ()),
    ("GROUP BY", "GROUP BY g", ("g",), ("g",)),
    ("both, each attribute once", "WHERE [k, g] GROUP BY g, x", ("k", "g", "x"), ("g", "x")),
    ("GROUP BY of a variable", "GROUP BY a.g", ("g",), ("g",)),
    ("GROUP BY of a type that has an alias", "GROUP BY A.g", ("g",), ("g",)),
    ("neither", "", (), ()),
]  # fmt: skip


@pytest.mark.parametrize(("title", "clauses", "partition", "groups"), PARTITIONS, ids=[t for t, *_ in PARTITIONS])
def test_partition(title: str, clauses: str, partition: tuple[str, ...], groups: tuple[str, ...]) -> None:
    query = resolved("SEQ(A a, B)", clauses=clauses)
    assert (query.partition, query.group_by) == (partition, groups), title


WRONG = [
    ("an unknown variable", "WHERE z.x > 1", ["E0203"]),
    ("a type that has an alias", "WHERE A.x > 1", ["E0203"]),
    ("an unknown column", "WHERE a.z > 1", ["E0204"]),
    ("an unknown bare column", "WHERE z > 1", ["E0204"]),
    ("a column without a variable", "WHERE x > 1", ["E0220"]),
    ("a struct's field without a variable", "WHERE p.a > 1", ["E0220"]),
    ("a variable alone", "WHERE a = 1", ["E0221"]),
    ("an unknown field", "WHERE a.p.z > 1", ["E0322"]),
    ("an unknown variable in FIRST", "WHERE FIRST(z).x > 1", ["E0203"]),
    ("PREV of a single variable", "WHERE a.x > PREV(a).x", ["E0318"]),
    ("an aggregate", "WHERE COUNT(*) > 1", ["E0315"]),
    ("a number for a condition", "WHERE a.x", ["E0304"]),
    ("every wrong conjunct", "WHERE a.z > 1 AND b.x > 1 AND (x = 1 AND a.x)", ["E0203", "E0204", "E0220", "E0304"]),
    ("[ ] twice", "WHERE [k] AND [g]", ["E0414"]),
    ("[ ] of an unknown column", "WHERE [z] AND z > 1", ["E0204"]),
    ("[ ] of a map", "WHERE [m]", ["E0513"]),
    ("GROUP BY an unknown column", "GROUP BY z", ["E0204"]),
    ("GROUP BY an unknown variable's column", "GROUP BY z.k", ["E0203"]),
    ("GROUP BY an unknown field", "GROUP BY p.unknown", ["E0322"]),
    ("GROUP BY a field of a variable's column", "GROUP BY a.p.a", ["E0512"]),
    ("GROUP BY a map", "GROUP BY m", ["E0513"]),
    ("a condition over two NOTs", "WHERE c.x > d.x", ["E0411"]),
]  # fmt: skip


@pytest.mark.parametrize(("title", "clauses", "expected"), WRONG, ids=[t for t, *_ in WRONG])
def test_wrong_conditions(title: str, clauses: str, expected: list[str]) -> None:
    assert codes(query_text("SEQ(A a, NOT C c, B B, NOT D d)", clauses=clauses)) == expected, title


def test_a_variable_is_named_from_within_its_pattern_alone() -> None:
    before = "PATTERN leg AS SEQ(A a, B b) WHERE c.x > 1;"
    assert codes(query_text("SEQ(leg, C c)", before=before)) == ["E0203"]
    assert codes(query_text("SEQ(leg w, C c)", clauses="WHERE a.x > 1", before=before.replace("c.x", "a.x"))) == [
        "E0203"
    ]
