"""Trees to text and back."""

from __future__ import annotations

import pytest
from hypothesis import given

from cepc_grammar import ast
from cepc_grammar.parser import parse
from cepc_grammar.pattern import And, Not, Repeat, Seq
from cepc_grammar.printer import to_text
from cepc_grammar.source import Source
from tests.generators import KEYWORDS, expressions, patterns, programs, statements, types


def read(text: str) -> ast.Program:
    parsed = parse(Source("test.cep", text))
    assert not parsed.diagnostics, [(d.label, text[d.span.start - 60 : d.span.end + 30]) for d in parsed.diagnostics]
    return parsed.program


def read_expression(text: str) -> ast.Expression:
    (statement,) = read(f"EVENT a AS b WHERE {text};").statements
    assert isinstance(statement, ast.DerivedEvent)
    return statement.where


def read_pattern(text: str) -> ast.Pattern:
    (statement,) = read(f"PATTERN a AS {text};").statements
    assert isinstance(statement, ast.NamedPattern)
    return statement.pattern


@given(programs)
def test_a_printed_program_reads_back_as_the_same_tree(program: ast.Program) -> None:
    assert read(to_text(program)) == program


@given(statements)
def test_a_printed_statement_reads_back(statement: ast.Statement) -> None:
    assert read(to_text(statement)).statements == (statement,)


@given(expressions)
def test_a_printed_expression_reads_back(expression: ast.Expression) -> None:
    assert read_expression(to_text(expression)) == expression


@given(patterns)
def test_a_printed_pattern_reads_back(pattern: ast.Pattern) -> None:
    assert read_pattern(to_text(pattern)) == pattern


@given(types)
def test_a_printed_type_reads_back(type_: ast.TypeExpr) -> None:
    (statement,) = read(f"STREAM s (c {to_text(type_)});").statements
    assert isinstance(statement, ast.Stream)
    assert statement.columns[0].type == type_


@pytest.mark.parametrize("word", KEYWORDS)
def test_every_keyword_can_be_a_name_in_every_place(word: str) -> None:
    """Quoted by the printer where it must be."""
    for spelled in (word, word.lower()):
        name = ast.Name(spelled)
        one = ast.Reference((name,))
        many = (
            one,
            ast.Reference((name, name)),
            ast.Call(name, (one, one)),
            ast.Call(name, ()),
            ast.Call(name, (one,), True),
        )
        expression: ast.Expression = one
        for node in many:
            expression = ast.Binary("AND", expression, ast.Case(node, (ast.Branch(node, node),), node))
            expression = ast.Binary("OR", ast.Between(node, node, node), ast.Unary("NOT", expression))
        atom = ast.Atom(name, (one, one), name)
        event: ast.Pattern = Seq(
            (ast.Atom(name), Repeat(ast.Atom(name, None, name), 1, None), atom, ast.AnyEvent(name))
        )
        program = ast.Program((
            ast.Import((name, name), None),
            ast.Stream(
                name,
                (ast.Column(name, ast.TypeExpr("STRUCT", (), (), (ast.TypeField(name, ast.TypeExpr("INT")),))),),
                ast.EventTime(name, None, (name, name)),
                ast.EventType(name),
            ),
            ast.DerivedEvent(name, name, expression),
            ast.DerivedEvent(name, name, expression, stream=name),
            ast.NamedPattern(name, (name, name), atom, expression),
            ast.NamedPattern(name, None, ast.Atom(name, None, name)),
            ast.Query(
                name,
                ast.Return((ast.Item(one, name), ast.Item(one), ast.Item(expression))),
                And((event, Not(ast.Atom(name, None, name)), Not(atom, ast.Duration("1", "DAY")))),
                ast.Unbounded(),
                ast.Binary("AND", ast.Equivalence((name, name)), one),
                (ast.GroupItem((name, name)), ast.GroupItem((name,))),
                one,
                streams=(name, name),
                after_match=ast.AfterMatch("TO LAST", (ast.Reference((name,)),)),
            ),
            ast.Query(name, ast.Return((ast.Item(one),), True), ast.Atom(name, None, name), ast.Unbounded()),
            ast.Query(name, ast.Return((ast.Item(one),)), ast.AnyEvent(name), ast.Unbounded(), one),
            ast.Test(name, name, (ast.Given(None, ast.Values((name, name), (ast.Row((one, expression)),))),), None),
            ast.Test(
                name,
                name,
                (ast.Given(name, ast.Values(None, (ast.Row((one,)),))), ast.Given(name, ast.Values((name,), (ast.Row((one,)),)))),
                ast.Values((name,), (ast.Row((one, one)),)),
            ),
        ))  # fmt: skip
        assert read(to_text(program)) == program


# What a person would write, and nothing more: no parentheses, quotes or suffixes that are not needed.
EXPRESSIONS = [
    "a + b * c",
    "(a + b) * c",
    "a - (b - c)",
    "a - b - c",
    "a OR b AND NOT c = d",
    "(a OR b) AND NOT (c AND d)",
    "NOT (a OR b)",
    "- -x",
    "-(a + b)",
    "-x[1]",
    "~a & b | c ^ d",
    "a << 2 + b",
    "a || 'x' = 'yx'",
    "a BETWEEN 1 AND 2 + b AND c",
    "a NOT BETWEEN (b = c) AND d",
    "(a = b) IS NOT NULL",
    "a IS NOT DISTINCT FROM b",
    "a NOT IN (1, 2, 3)",
    "a NOT LIKE 'x!_%' ESCAPE '!'",
    "a RLIKE '\\\\d+'",
    "CASE WHEN a THEN b ELSE c END = d",
    "CASE a WHEN 1 THEN 'x' END",
    "CAST(a + b AS DECIMAL(10, 2))",
    "TRY_CAST(a AS ARRAY<STRUCT<x: INT, y: STRING>>)",
    "EXTRACT(YEAR FROM at)",
    "LAST(d).price < FIRST(d).price * 2",
    "f(x)[0].y",
    "(CASE WHEN a THEN b END).x",
    "INTERVAL 1 HOUR 30 MINUTES",
    "-INTERVAL 1 DAY",
    "DATE '2024-01-01' < timestamp",
    "X'1F'",
    "1L + 2S + 3Y + 1.5 + 1.5D + 1.5F + 2BD + 1e3",
    "COUNT(DISTINCT x)",
    "COUNT(*) > 1",
    "`NOT` OR `größe` OR date OR a.NOT OR `case`",
    "'it\\'s a \\\\ and a \\n'",
]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_an_expression_in_canonical_form_stays_as_it_is(text: str) -> None:
    assert to_text(read_expression(text)) == text


# What Spark has another spelling for.
SPELLINGS = {
    "!a AND b": "NOT a AND b",
    "! a = b": "NOT a = b",
    "!(a OR b)": "NOT (a OR b)",
    "!!a": "NOT NOT a",
    "a != b": "a <> b",
    "substring(a FROM 2 FOR b + 1)": "substring(a, 2, b + 1)",
    "SUBSTR(a || b FROM 2)": "SUBSTR(a || b, 2)",
    "trim('x' FROM a)": "trim('x', a)",
    "trim(both FROM a)": "trim(a)",
    "trim(LEADING FROM a)": "ltrim(a)",
    "trim(TRAILING FROM a)": "rtrim(a)",
    "trim(`both` FROM a)": "trim(both, a)",
    "INTERVAL '1 02:03:04.50' DAY TO SECOND": "INTERVAL 1 DAY 2 HOURS 3 MINUTES 4.50 SECONDS",
    "INTERVAL '100 00' day to hour": "INTERVAL 100 DAYS 0 HOURS",
    "INTERVAL '-00:59' HOUR TO MINUTE": "-INTERVAL 0 HOURS 59 MINUTES",
    "a - INTERVAL '+90:00.5' MINUTE TO SECOND": "a - INTERVAL 90 MINUTES 0.5 SECONDS",
}


@pytest.mark.parametrize("text", SPELLINGS)
def test_a_spelling_of_spark_s_prints_in_one_form(text: str) -> None:
    assert to_text(read_expression(text)) == SPELLINGS[text]
    assert to_text(read_expression(SPELLINGS[text])) == SPELLINGS[text]


PATTERNS = {
    "a": "a",
    "A+ a": "A+ a",
    "(A a)+": "A+ a",
    "((A))": "A",
    "(A, B b)": "SEQ(A, B b)",
    "seq(A)": "SEQ(A)",
    "A{1,}": "A+",
    "A{0,}": "A*",
    "A{0,1}": "A?",
    "A{3,3}": "A{3}",
    "A{2,3}? a": "A{2,3}? a",
    "(A+)+": "(A+)+",
    "A?? a": "A?? a",
    "(A?)?": "(A?)?",
    "any+ e": "ANY+ e",
    "not A a within 5 min": "NOT A a WITHIN 5 MINUTES",
    "(not A)": "NOT A",
    "(not A)+": "(NOT A)+",
    "not (not A within 1 h)": "NOT (NOT A WITHIN 1 HOUR)",
    "not seq(A, B)": "NOT SEQ(A, B)",
    "next((contiguous(seq(A, B)), C+))": "NEXT(CONTIGUOUS(A, B), C+)",
    "SEQ(Next, `next`(A) contiguous)": "SEQ(Next, `next`(A) contiguous)",
    "some(A, or(B, and(C, D)))*": "SOME(A, OR(B, AND(C, D)))*",
    "rise(T, price, -1, 'x', true, null)+ r": "rise(T, price, -1, 'x', TRUE, NULL)+ r",
    "f()": "f()",
    "A `where`": "A `where`",
    "`any`": "`any`",
    "within": "within",
}


@pytest.mark.parametrize("text", PATTERNS)
def test_a_pattern_prints_in_one_form(text: str) -> None:
    assert to_text(read_pattern(text)) == PATTERNS[text]


def test_parts_print_by_themselves() -> None:
    assert to_text(ast.Duration("20", "MINUTE")) == "20 MINUTES"
    assert to_text(ast.Unbounded()) == "UNBOUNDED"
    assert to_text(ast.Session(ast.Duration("10", "MINUTE"))) == "SESSION 10 MINUTES"
    assert to_text(ast.Item(ast.Reference((ast.Name("a"),)), ast.Name("b c"))) == "a AS `b c`"
    assert to_text(ast.Program(())) == ""


def test_nesting_to_the_limit_prints_within_the_limit_on_recursion() -> None:
    for text in ("f(" * 140 + "x" + ")" * 140, "2 * (1 + " * 45 + "x" + ")" * 45, "NOT " * 140 + "x"):
        expression = read_expression(text)
        assert read_expression(to_text(expression)) == expression
    nested = "SEQ(" * 70 + "A" + ")+" * 70
    assert read_pattern(to_text(read_pattern(nested))) == read_pattern(nested)
