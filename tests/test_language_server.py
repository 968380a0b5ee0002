"""What an editor asks of a program that is being written: `|` in a text is the cursor."""

from __future__ import annotations

import ast as python
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepc.api import check_text
from cepc.explaining.describe import queries
from cepc.explaining.in_words import in_words
from cepc.language_server.completion import completion
from cepc.language_server.cures import changed, cures
from cepc.language_server.editor import Editor
from cepc.language_server.hover import hover
from cepc.language_server.outline import outline
from cepc.language_server.positions import ClientPositions
from cepc.language_server.program import OpenTexts, edited
from cepc.language_server.program_tests import named_tests, run_tests
from cepc.language_server.rename import rename, renameable
from cepc.standard_library import standard_modules
from cepc_grammar import ast
from cepc_grammar.parser import parse
from cepc_grammar.source import Source

from .editor_questions import ask_everything
from .pages import ROOT

if TYPE_CHECKING:
    from cepc.language_server.program import EditedProgram

HEAD = """\
-- Orders and what becomes of them.
STREAM orders (
  at TIMESTAMP,
  kind STRING,
  id BIGINT,
  amount DOUBLE  -- in euros
)
EVENT TIME at WATERMARK 30 SECONDS EVENT TYPE kind IN ('Order', 'Payment', 'Cancel');
EVENT Large AS Order WHERE amount > 100;
-- Paid in parts.
PATTERN paid(P) AS SEQ(Order o, P+ p) WHERE p.amount < o.amount;
FUNCTION cents(x) AS x * 100;
"""
QUERY = """\
-- Who does not pay?
QUERY unpaid
  RETURN MATCH id, l.at AS since, cents(l.amount) AS owed
  PATTERN SEQ(Large l, NOT Payment WITHIN 1 HOUR)
  WHERE [id]
  WITHIN 1 DAY;
QUERY parts
  RETURN COUNT(*) AS n, SUM(w.p.amount) AS total
  PATTERN SEQ(paid(Payment) w, NOT Cancel)
  WHERE [id] AND w.o.amount > 3
  GROUP BY id
  WITHIN 1 DAY SLIDE 1 HOUR;
TEST nobody_paid FOR unpaid
  GIVEN (at, kind, id, amount) VALUES ('2026-01-01 00:00:00', 'Order', 1, 200.0)
  EXPECT (id, owed) VALUES (1, 20000.0);
"""


EVERYTHING = HEAD + QUERY


def marked(text: str) -> tuple[str, int]:
    """The text without its cursor, and where that was."""
    return text.replace("|", "", 1), text.index("|")


def program(text: str, name: str = "q.cep", texts: dict[str, str] | None = None) -> EditedProgram:
    return edited(Source(name, text), OpenTexts(texts or {}))


def at(text: str, place: str) -> int:
    """The offset of the cursor in a part of the text that has no other like it but for the cursor."""
    part, inside = marked(place)
    assert text.count(part) == 1, (text.count(part), part)
    return text.index(part) + inside


# ---- what may be written


TWO = """STREAM a (at DATE, kind STRING, x INT) EVENT TIME at EVENT TYPE kind IN ('A', 'C');
STREAM b (at DATE, y INT) EVENT TIME at;
EVENT Few AS A WHERE x < 3;
"""
COMPLETED = [
    ("", "|", {"QUERY", "STREAM", "IMPORT"}, {"WHERE", "orders"}),
    ("", "QU|", {"QUERY"}, set()),
    ("", "IMPORT |", {"std.shapes", "std.time"}, set()),
    ("", "IMPORT std.|", {"shapes", "time"}, {"std.shapes"}),
    ("", "STREAM s (x |", {"BIGINT", "STRING", "TIMESTAMP"}, {"x"}),
    ("", "STREAM s (x INT, t DATE) EVENT TIME |", {"x", "t"}, set()),
    ("", "STREAM s (x INT, t DATE) |", {"EVENT", "FROM"}, {"x"}),
    ("", "STREAM s (x INT) FROM |", {"PARQUET", "CSV"}, set()),
    ("", "STREAM s |", {"EVENT", "FROM"}, set()),
    (HEAD + QUERY, "STREAM s FROM QUERY |", {"unpaid", "parts"}, {"orders", "PARQUET"}),
    (HEAD + QUERY, "STREAM s FROM QUERY unpaid EVENT TIME |", {"owed", "since", "match_start"}, {"amount"}),
    (HEAD + QUERY + "STREAM s (more AS owed + 1) FROM QUERY unpaid;\n", "QUERY q PATTERN s v WHERE v.|",
     {"owed", "id", "more", "match_end"}, {"amount"}),
    (HEAD, "QUERY q |", {"RETURN", "PATTERN", "FROM"}, {"SLIDE", "Order"}),
    (HEAD, "QUERY q PATTERN SEQ(|", {"Order", "Large", "paid", "NOT", "ANY"}, {"amount", "WHERE"}),
    (HEAD, "QUERY q PATTERN SEQ(Order o, |", {"Payment", "paid", "NOT"}, {"amount"}),
    (HEAD, "QUERY q PATTERN SEQ(Order |", set(), {"Payment", "amount", "AND"}),
    (HEAD, "QUERY q PATTERN SEQ(Order, NOT Payment WITHIN 1 |", {"HOURS"}, {"Payment", "amount"}),
    (HEAD, "QUERY q PATTERN SEQ(paid(|", {"Payment"}, set()),
    (HEAD, "QUERY q RETURN COUNT(*) PATTERN Order |", {"WHERE", "WITHIN"}, {"Order"}),
    (HEAD, "QUERY q PATTERN SEQ(Order o, Payment) WHERE |", {"o", "Payment", "amount", "cents", "abs", "CASE"}, {"Large"}),
    (HEAD, "QUERY q PATTERN SEQ(Order o, Payment) WHERE o.|", {"at", "id", "amount"}, {"o", "abs"}),
    (HEAD, "QUERY q PATTERN SEQ(Order o, Payment) WHERE o.am|", {"amount"}, {"o"}),
    (HEAD, "QUERY q PATTERN SEQ(paid(Payment) w) WHERE w.|", {"o", "p"}, {"amount"}),
    (HEAD, "QUERY q PATTERN SEQ(paid(Payment) w) WHERE w.p.|", {"amount"}, {"p"}),
    (HEAD, "QUERY q PATTERN paid(Payment) WHERE |", {"o", "p"}, {"w"}),
    (HEAD, "QUERY q RETURN MATCH o.| PATTERN SEQ(Order o, Payment) WITHIN 1 HOUR;", {"amount"}, {"o"}),
    (HEAD, "QUERY q RETURN | PATTERN SEQ(Order o, Payment) WITHIN 1 HOUR;", {"o", "COUNT", "SUM", "FIRST"}, {"Order"}),
    (HEAD, "QUERY q RETURN |", {"MATCH", "EACH"}, {"Order"}),
    (HEAD, "QUERY q RETURN EACH | PATTERN SEQ(Order o, Payment) WITHIN 1 HOUR;", {"o", "amount", "VARIABLE", "RUNNING"}, {"MATCH"}),
    (HEAD, "QUERY q WHERE [|", {"id", "amount"}, {"abs"}),
    (HEAD, "QUERY q RETURN COUNT(*) GROUP BY |", {"id"}, {"abs"}),
    (HEAD, "QUERY q RETURN COUNT(*) GROUP |", {"BY"}, {"id"}),
    (HEAD, "QUERY q FROM |", {"orders"}, {"Order"}),
    (HEAD, "QUERY q SELECT |", {"ANY", "NEXT", "CONTIGUOUS"}, {"orders"}),
    (HEAD, "QUERY q SELECT NEXT AFTER MATCH SKIP |", {"FOR", "PAST", "TO"}, {"amount"}),
    (HEAD, "QUERY q SELECT NEXT AFTER MATCH SKIP FOR |", set(), {"amount", "abs"}),
    (HEAD, "QUERY q SELECT NEXT AFTER MATCH SKIP FOR 1 |", {"HOURS"}, {"amount"}),
    (HEAD, "QUERY q SELECT NEXT AFTER MATCH SKIP FOR 1 HOUR |", {"WITHIN", "WHERE"}, {"amount", "HOURS"}),
    (HEAD, "QUERY q RETURN CAST(x AS |", {"BIGINT", "STRING"}, {"amount"}),
    (HEAD, "QUERY q RETURN x AS |", set(), {"amount", "abs"}),
    (HEAD, "QUERY |", set(), {"orders", "Order"}),
    (HEAD, "QUERY q PATTERN Order WITHIN |", {"SESSION", "UNBOUNDED"}, {"amount"}),
    (HEAD, "QUERY q PATTERN Order WITHIN SESSION 5 |", {"MINUTES"}, {"amount"}),
    (HEAD, "QUERY q WITH (|", set(), {"orders", "amount"}),
    (HEAD, "(|", set(), {"severity"}),
    (HEAD, "QUERY q WITH (a = 'b') |", {"RETURN"}, {"amount"}),
    (HEAD, "QUERY q WITH (severity = 'high', owner = 'us') RETURN LABEL(|) PATTERN Order WITHIN 1 HOUR;",
     {"severity", "owner"}, {"amount", "PATTERN"}),
    (HEAD, "EVENT Small AS |", {"Order", "Payment", "Large"}, {"amount"}),
    (HEAD, "EVENT Small AS Order WHERE |", {"amount", "abs"}, {"Order"}),
    (HEAD, "FUNCTION half(y) AS |", {"y", "cents", "abs"}, {"amount"}),
    (HEAD, "PATTERN some(T, c) AS |", {"T", "Order", "SEQ"}, {"orders"}),
    (HEAD, "PATTERN some(T, c) AS T+ t WHERE t.|", {"c", "amount"}, {"abs"}),
    (HEAD + QUERY, "TEST t FOR |", {"unpaid", "parts"}, {"orders"}),
    (HEAD + QUERY, "TEST t FOR unpaid GIVEN (|", {"at", "kind", "amount"}, {"owed"}),
    (HEAD + QUERY, "TEST t FOR unpaid GIVEN (at) VALUES (1) EXPECT (|", {"id", "since", "owed", "match_start"}, {"kind"}),
    (HEAD, "QUERY q WHERE x = 'it| ", set(), {"amount", "WHERE"}),
    (HEAD, "-- a comm|", set(), {"QUERY"}),
    (HEAD, "QUERY q RETURN 5|", set(), {"amount", "AND"}),
    ("STREAM a (at DATE, x INT) EVENT TIME at; STREAM b (at DATE, y INT) EVENT TIME at;\n", "QUERY q FROM b PATTERN b WHERE |",
     {"y"}, {"x"}),
    (TWO, "QUERY q PATTERN SEQ(a.|", {"A", "C", "Few"}, {"b", "x", "a"}),
    (TWO, "QUERY q PATTERN SEQ(A v, b) WHERE v.|", {"x"}, {"y"}),
    (TWO, "QUERY q PATTERN SEQ(A, b v) WHERE v.|", {"y"}, {"x"}),
    (TWO, "QUERY q RETURN v.| PATTERN SEQ(A, b v) FROM a, b WITHIN 1 HOUR;", {"y"}, {"x"}),
    (TWO, "QUERY q RETURN COUNT(*) FROM a, b GROUP BY |", {"x", "y"}, set()),
    (TWO, "QUERY q RETURN COUNT(*) PATTERN Few GROUP BY |", {"x"}, {"y"}),
    (TWO, "EVENT Other AS a.|", {"A", "C"}, {"b", "x"}),
    (TWO + "QUERY q RETURN MATCH * PATTERN SEQ(A, b) WITHIN 1 HOUR;\n", "TEST t FOR q GIVEN |", {"a", "b"}, {"x"}),
    (TWO + "QUERY q RETURN MATCH * PATTERN SEQ(A, b) WITHIN 1 HOUR;\n", "TEST t FOR q GIVEN b (|", {"y"}, {"x"}),
    ("QUERY broken RETURN RETURN;\n", HEAD + "QUERY q PATTERN SEQ(|", {"Order"}, set()),
    (HEAD, "QUERY q RETURN COUNT(*)\nQUERY r SEL|", {"SELECT"}, set()),
]  # fmt: skip


@pytest.mark.parametrize(("before", "text", "there", "missing"), COMPLETED, ids=[text for _, text, *_ in COMPLETED])
def test_what_may_be_written(before: str, text: str, there: set[str], missing: set[str]) -> None:
    text, offset = marked(before + text)
    found = completion(Source("q.cep", text), offset, program(text))
    texts = {s.text for s in found.suggestions}
    assert there <= texts
    assert not missing & texts
    assert all(
        s.text.upper().startswith(text[found.start : offset].upper()) for s in found.suggestions if s.text in there
    )


def test_completion_needs_only_what_other_statements_declare() -> None:
    """Of a large text the last program is asked while the next is being made."""
    text, offset = marked(HEAD + "QUERY q PATTERN SEQ(Order o, Payment) WHERE o.|")
    found = completion(Source("q.cep", text), offset, program(HEAD))
    assert [s.text for s in found.suggestions] == ["at", "kind", "id", "amount"]


def test_each_suggestion_of_a_function_has_its_usage_and_help() -> None:
    text, offset = marked(HEAD + "QUERY q RETURN |")
    found = {s.text: s for s in completion(Source("q.cep", text), offset, program(text)).suggestions}
    assert (found["abs"].detail, found["abs"].help) == ("abs(x)", "the absolute value")
    assert found["cents"].help == "FUNCTION cents(x) AS x * 100;"
    assert found["COUNT"].help
    assert all(s.detail and s.help for s in found.values() if s.kind == "function")


# ---- what is shown of a name


SHOWN = [
    ("STREAM or|ders (", ["Event types, by `kind`: `Order`, `Payment`, `Cancel`", "up to 30 seconds late", "amount DOUBLE",
                         "Orders and what becomes of them."]),
    ("amou|nt DOUBLE", ["amount DOUBLE", "of the stream `orders`", ": in euros"]),
    ("TIME a|t", ["the event time"]),
    ("'Pay|ment'", ["`Payment`: an event type of the stream `orders`"]),
    ("EVENT La|rge", ["EVENT Large AS Order WHERE amount > 100;"]),
    ("PATTERN pa|id", ["A match is an Order, then one or more P.", "Paid in parts."]),
    ("SEQ(Order |o,", ["`o`: one event of type `Order`"]),
    ("P+ |p)", ["`p`: one or more events of type `P`"]),
    ("AS SEQ(Order o, |P+", ["a parameter of `paid`"]),
    ("cen|ts(l", ["FUNCTION cents(x) AS x * 100;"]),
    ("SU|M(w", ["SUM(v.x)"]),
    ("QUERY un|paid", ["A match is a Large, and no Payment within 1 hour after it; all with the same id; within 1 day.",
                       "Who does not pay?", "a row for each match", "its matches are listed one by one"]),
    ("QUERY par|ts", ["a row for each group and window, every 1 hour", "How: "]),
    ("SUM(w|.p", ["a match of the pattern `paid`"]),
    ("SUM(w.|p", ["`w.p`: one or more events of type `Payment`", "amount DOUBLE"]),
    ("SEQ(Large |l", ["`l`: one event of type `Large`"]),
    ("AS ow|ed", ["`owed DOUBLE`: a column of what `unpaid` returns"]),
    ("PATTERN S|EQ(Large", ["A match is a Large, and no Payment within 1 hour after it."]),
    ("N|OT Payment", ["no Payment within 1 hour."]),
    ("P|+ p)", ["a parameter of `paid`"]),
    ("P+| p)", ["A match is one or more P."]),
    ("nobody_|paid", ["a test of the query `unpaid`"]),
]  # fmt: skip


@pytest.mark.parametrize(("place", "parts"), SHOWN, ids=[place for place, _ in SHOWN])
def test_what_is_shown_of_a_name(place: str, parts: list[str]) -> None:
    found = hover(program(EVERYTHING), at(HEAD + QUERY, place))
    assert found is not None
    assert [part for part in parts if part not in found.markdown] == []


def test_a_query_says_of_what_its_rows_are() -> None:
    text = HEAD + "QUERY steps RETURN EACH amount PATTERN SEQ(Order, Payment) WITHIN 1 HOUR;"
    found = hover(program(text), at(text, "QUERY st|eps"))
    assert found is not None
    assert "It gives a row for each event of each match, with `match_start` and `match_end`" in found.markdown


NUMBERS = [
    ("SEQ(Order a, Payment |b)", "one event"),
    ("SEQ(Order a, Payment{2,} |b)", "2 or more events"),
    ("SEQ(Order a, Payment+ |b)", "one or more events"),
    ("SEQ(Order a, Payment* |b)", "any number of events"),
    ("SEQ(Order a, Payment? |b)", "at most one event"),
    ("SEQ(Order a, Payment{2,3} |b)", "2 to 3 events"),
    ("SEQ(Order a, Payment{0,3} |b)", "at most 3 events"),
    ("SEQ(Order a, SEQ(Payment{2} |b, Cancel)+)", "2 or more events"),
    ("SEQ(Order a, Payment |b, Payment b)", "2 events"),
    ("SEQ(Order a, OR(Payment |b, Cancel c))", "at most one event"),
    ("SEQ(Order a, SOME(Payment |b, Payment b))", "1 to 2 events"),
    ("SEQ(Order a, NOT Payment |b)", "no event"),
]


@pytest.mark.parametrize(("pattern", "number"), NUMBERS)
def test_a_variable_says_to_how_many_events_a_match_binds_it(pattern: str, number: str) -> None:
    text, cursor = marked(f"{HEAD}QUERY q RETURN MATCH a.id PATTERN {pattern} WITHIN 1 h;")
    found = hover(program(text), cursor)
    assert found is not None
    assert f"`b`: {number} of type `Payment`" in found.markdown
    checked = check_text(text, "q.cep").program
    assert checked is not None
    facts = [said for _, said in queries(checked)[0].facts]
    assert f"b: {number.removesuffix('s').removesuffix(' event')} Payment" in facts


SENTENCES = [
    ("A", "an A"),
    ("ANY+", "one or more events"),
    ("SEQ(A, (B, C))", "an A, then a B, then a C"),
    ("SEQ(A, ANY x, B{3} y)", "an A, then an event of any type, then 3 B"),
    ("SEQ(A{2,5}, trip w, rise(T, x)*)", "2 to 5 A, then a trip, then any number of rise(T, x)"),
    ("SEQ(A, SEQ(B, C)+)", "an A, then one or more times (a B, then a C)"),
    ("SEQ(OR(A, B)+, C?)", "one or more times (an A or a B), then perhaps a C"),
    ("SEQ(AND(A, B), C)", "(an A and a B in any order), then a C"),
    ("CONTIGUOUS(A, B+)", "(an A, then one or more B, with nothing in between)"),
    ("SEQ(NEXT(A, B), C)", "(an A, then a B, with none in between with which it could go on), then a C"),
    ("SOME(A, B)", "an A, a B, or both"),
    ("SOME(A, B, C)", "one or more of an A, a B and a C"),
    ("AND(A, B, NOT C)", "an A and a B in any order, with no C in the window"),
    ("SEQ(A, NOT C, B)", "an A, then a B, with no C in between"),
    ("SEQ(A, NOT C WITHIN 1 SECOND, B)", "an A, then a B, with no C in between for 1 second"),
    ("SEQ(NOT C, A)", "an A, with no C before it in the window"),
    ("SEQ(A, NOT C)", "an A, and no C in the window after it"),
    ("SEQ(A, NOT OR(B, C) WITHIN 2 SECONDS)", "an A, and no B or C within 2 seconds after it"),
    ("SEQ(A, NOT SEQ(B, C), D)", "an A, then a D, with no B followed by C in between"),
    ("SEQ(SEQ(A, NOT C), B)", "an A, then a B, with no C in between"),
    ("SEQ(OR(SEQ(A, NOT C), B), D)", "((an A, and no C before what follows) or a B), then a D"),
    ("OR(A, SEQ(B, NOT C))", "an A or (a B, and no C in the window after it)"),
]


@pytest.mark.parametrize(("pattern", "sentence"), SENTENCES, ids=[pattern for pattern, _ in SENTENCES])
def test_what_a_pattern_matches_in_a_sentence(pattern: str, sentence: str) -> None:
    text = f"QUERY q RETURN COUNT(*) PATTERN {pattern} WITHIN 1 DAY SLIDE 1 DAY;"
    (query,) = parse(Source("q.cep", text)).program.statements
    assert isinstance(query, ast.Query)
    assert in_words(query.pattern) == sentence


def test_windows_of_a_query_are_shown_as_they_are_written() -> None:
    text = HEAD + "QUERY q RETURN COUNT(*) AS n PATTERN SEQ(Order, Payment) WITHIN 1 DAY SLIDE 6 HOURS OFFSET -2 HOURS;"
    found = hover(program(text), at(text, "QUERY |q"))
    assert found is not None
    assert "a row for each group and window, every 6 hours, offset by -2 hours" in found.markdown


def test_a_query_over_sessions_says_so() -> None:
    text = HEAD + "QUERY q RETURN COUNT(*) AS n PATTERN SEQ(Order, Payment) GROUP BY id WITHIN SESSION 1 HOUR;"
    found = hover(program(text), at(text, "QUERY |q"))
    assert found is not None
    assert "within a session, which ends when no event comes for 1 hour" in found.markdown


def test_the_expected_cost_of_a_query_is_shown_where_its_matches_are_counted() -> None:
    text = HEAD + "QUERY q RETURN COUNT(*) AS n PATTERN SEQ(Order, Payment) WITHIN 1 DAY SLIDE 1 HOUR;"
    found = hover(program(text), at(text, "QUERY |q"))
    assert found is not None
    assert "its matches are counted, and none is made" in found.markdown
    assert re.search(
        r"About [\d.]+ µs of work a second of events, with one event of each type a second\.", found.markdown
    )
    wrong = hover(program(text + "QUERY r RETURN x;"), at(text, "QUERY |q"))
    assert wrong is not None
    assert "µs" not in wrong.markdown  # what is wrong elsewhere may be about this query, too


def test_nothing_is_shown_of_what_is_no_name() -> None:
    assert hover(program(EVERYTHING), at(HEAD + QUERY, "WATER|MARK")) is None


def test_a_module_is_shown_with_what_it_declares() -> None:
    found = hover(program("IMPORT std.shapes;"), 9)
    assert found is not None
    assert "`v_shape(T, x)`" in found.markdown


# ---- where a name is declared, and used


# A name, and the lines on which what it means is named; the first is where it is declared.
NAMED = [
    ("STREAM or|ders (", [2]),
    ("amou|nt DOUBLE", [6, 9, 11, 11, 15, 20, 22, 26]),
    ("'Pay|ment'", [8, 16, 21]),
    ("Large |l,", [16, 15, 15]),
    ("EVENT La|rge", [9, 16]),
    ("PATTERN pa|id", [11, 21]),
    ("paid(|P)", [11, 11]),
    ("Order |o,", [11, 11, 22]),
    ("w.|p.amount", [11, 11, 20]),
    ("SUM(|w", [21, 20, 22]),
    ("cen|ts(l", [12, 15]),
    ("cents(|x)", [12, 12]),
    ("QUERY un|paid", [14, 25]),
    ("AS ow|ed", [15, 27]),
    ("AS |n,", [20]),
]


@pytest.mark.parametrize(("place", "lines"), NAMED, ids=[place for place, _ in NAMED])
def test_where_a_name_is_declared_and_used(place: str, lines: list[int]) -> None:
    text = HEAD + QUERY
    found = program(text)
    use = found.references.at("q.cep", at(text, place))
    assert use is not None
    where = [found.source.position(one.span.start)[0] for one in found.references.of(use.symbol)]
    assert sorted(where) == sorted(lines)
    assert found.source.position(use.symbol.span.start)[0] == lines[0]


def test_what_an_imported_file_declares_is_found_there_as_it_stands_in_the_editor(tmp_path: Path) -> None:
    library, main = str(tmp_path / "lib.cep"), str(tmp_path / "main.cep")
    editor = Editor()
    editor.put(main, "IMPORT './lib.cep';\n" + QUERY)
    editor.put(library, HEAD)
    found = editor.program(main)
    assert found is not None
    assert found.checked.ok
    use = found.references.at(main, at(found.source.text, "paid(|Payment) w"))
    name = found.references.at(main, at(found.source.text, "SEQ(pa|id(Payment)"))
    assert use is not None
    assert name is not None
    assert (name.symbol.kind, name.symbol.span.source) == ("pattern", library)
    editor.put(library, HEAD.replace("PATTERN paid", "PATTERN settled"))
    again = editor.program(main)
    assert again is not None
    assert [d.code for d in again.checked.errors] == ["E0202"]
    assert editor.importing(library) == (main,)
    editor.drop(library)
    last = editor.program(main)
    assert last is not None
    assert "E0209" in [d.code for d in last.checked.errors]


def test_an_open_text_that_is_no_program_is_not_imported(tmp_path: Path) -> None:
    editor = Editor()
    editor.put(str(tmp_path / "notes.txt"), HEAD)
    editor.put(str(tmp_path / "main.cep"), "IMPORT './notes.txt';")
    found = editor.program(str(tmp_path / "main.cep"))
    assert found is not None
    assert [d.code for d in found.checked.errors] == ["E0209"]


def test_a_program_is_made_again_only_where_something_of_it_changed(tmp_path: Path) -> None:
    editor = Editor()
    one, other = str(tmp_path / "one.cep"), str(tmp_path / "other.cep")
    editor.put(one, HEAD)
    first = editor.program(one)
    editor.put(other, HEAD)
    assert editor.program(one) is first
    editor.put(one, HEAD + " ")
    assert editor.program(one) is not first


# ---- renaming

RENAMED = [
    ("PATTERN pa|id", "settled", ["PATTERN settled(P)", "SEQ(settled(Payment) w"]),
    ("Large |l,", "big", ["SEQ(Large big, NOT", "big.at AS since, cents(big.amount)"]),
    ("w.|p.amount", "part", ["P+ part) WHERE part.amount < o.amount", "SUM(w.part.amount)"]),
    ("EVENT La|rge", "Huge", ["EVENT Huge AS", "SEQ(Huge l"]),
    ("cents(|x)", "euros", ["FUNCTION cents(euros) AS euros * 100"]),
    ("cen|ts(l", "pence", ["FUNCTION pence(x)", "pence(l.amount)"]),
    ("QUERY un|paid", "in debt", ["QUERY `in debt`", "FOR `in debt`"]),
    ("AS ow|ed", "debt", ["AS debt\n", "EXPECT (id, debt)"]),
    ("STREAM or|ders (", "sales", ["STREAM sales ("]),
    ("paid(|P)", "Q", ["paid(Q) AS SEQ(Order o, Q+ p)"]),
    ("PATTERN pa|id", "not", ["PATTERN `not`(P)", "SEQ(`not`(Payment) w"]),
]


@pytest.mark.parametrize(("place", "name", "parts"), RENAMED, ids=[f"{place} {name}" for place, name, _ in RENAMED])
def test_a_name_is_changed_wherever_it_means_the_same(place: str, name: str, parts: list[str]) -> None:
    text = HEAD + QUERY
    edits = rename(program(text), [], at(text, place), name)
    assert not isinstance(edits, str), edits
    after = changed(text, edits)
    assert [part for part in parts if part not in after] == []
    assert program(after).checked.ok


PROGRAMS = {
    "here": EVERYTHING,
    **{path.parent.name: path.read_text("utf-8") for path in sorted(ROOT.glob("examples/*/queries.cep"))},
    **{path.name: path.read_text("utf-8") for path in sorted((ROOT / "stdlib" / "cepc_stdlib").glob("*.cep"))},
}


@pytest.mark.unhurried
@pytest.mark.parametrize("name", PROGRAMS)
def test_whatever_a_program_declares_can_be_called_otherwise_and_back(name: str) -> None:
    """The program with another name for one thing has the diagnostics that it had, and the text that it had when the
    name is given back.
    """
    text = PROGRAMS[name]
    found = program(text)
    before = Counter(d.code for d in found.checked.diagnostics)
    declared = [
        use
        for use in found.references.uses
        if use.declares and use.span.source == "q.cep" and not isinstance(renameable(found, use.span.start), str)
    ]
    assert len(declared) >= 3
    for use in declared[:: len(declared) // 8 + 1]:
        edits = rename(found, [], use.span.start, "another_name")
        assert not isinstance(edits, str), (use.symbol, edits)
        after = changed(text, edits)
        other = program(after)
        assert Counter(d.code for d in other.checked.diagnostics) == before, use.symbol
        assert not any(use.symbol.name in (d.title + d.label) for d in other.checked.errors)
        start = after.index("another_name")
        back = rename(other, [], start, use.symbol.name)
        assert not isinstance(back, str), (use.symbol, back)
        assert changed(after, back) == text


REFUSED = [
    ("amou|nt DOUBLE", "x", "a column in the data"),
    ("'Pay|ment'", "x", "in the data"),
    ("SU|M(w", "x", "a function of the language"),
    ("WATER|MARK", "x", "no name here"),
    ("EVENT La|rge", "Order", "declared twice"),
    ("cen|ts(l", "abs", "there is a function `abs` already"),
    ("QUERY un|paid", "parts", "declared twice"),
    ("w.|p.amount", "o", "two event types"),
    ("QUERY un|paid", " ", "at least one character"),
]


@pytest.mark.parametrize(("place", "name", "why"), REFUSED, ids=[f"{place} {name}" for place, name, _ in REFUSED])
def test_a_name_is_not_changed_where_the_program_would_mean_something_else(place: str, name: str, why: str) -> None:
    said = rename(program(EVERYTHING), [], at(HEAD + QUERY, place), name)
    assert isinstance(said, str)
    assert why in said


def test_a_name_is_not_changed_where_a_statement_with_a_mistake_has_it_too() -> None:
    text = HEAD + QUERY + "QUERY late RETURN COUNT(*) PATTERN SEQ(paid(Payment) ;"
    said = rename(program(text), [], at(text, "PATTERN pa|id"), "settled")
    assert isinstance(said, str)
    assert "syntax error" in said


def test_what_the_standard_library_declares_keeps_its_name() -> None:
    text = "IMPORT std.shapes;\nSTREAM s (at DATE, x INT) EVENT TIME at;\n"
    text += "QUERY q RETURN COUNT(*) PATTERN rise(s, x) WITHIN 3 DAYS SLIDE 1 DAY;"
    said = renameable(program(text), at(text, "PATTERN ri|se"))
    assert isinstance(said, str)
    assert "std.shapes" in said


def test_a_name_is_changed_in_all_open_files(tmp_path: Path) -> None:
    library, main = str(tmp_path / "lib.cep"), str(tmp_path / "main.cep")
    editor = Editor()
    editor.put(library, HEAD)
    editor.put(main, "IMPORT './lib.cep';\n" + QUERY)
    found = editor.program(library)
    assert found is not None
    edits = rename(found, editor.programs(), at(HEAD, "PATTERN pa|id"), "settled")
    assert not isinstance(edits, str)
    assert {Path(edit.span.source).name for edit in edits} == {"lib.cep", "main.cep"}


# ---- cures

DIAGNOSTICS = ROOT / "tests" / "golden_diagnostics"


def wrong_programs() -> list[Path]:
    """Those of which an error is recorded."""
    answers = ((path, path.with_suffix(".txt").read_text("utf-8")) for path in sorted(DIAGNOSTICS.glob("*.cep")))
    return [path for path, answer in answers if re.search(r"^error\b", answer, re.MULTILINE)]


@pytest.mark.unhurried
def test_every_cure_that_is_offered_cures() -> None:
    """What was wrong there is not wrong there any more."""
    tried = Counter[str]()
    for path in wrong_programs():
        text = path.read_text("utf-8", "replace")
        before = check_text(text, "q.cep")
        for cure in cures(before.diagnostics, "q.cep", 0, len(text)):
            wrong = cure.diagnostic
            after = check_text(changed(text, [cure.edit]), "q.cep")
            assert [d for d in after.diagnostics if (d.title, d.span.start) == (wrong.title, wrong.span.start)] == [], (
                path
            )
            tried[wrong.code] += 1
    assert tried.total() > 45
    assert {"E0101", "E0104", "E0201", "E0203", "E0204", "E0301", "E0901"} <= tried.keys()


def test_a_cure_is_offered_where_the_mistake_is_and_nowhere_else() -> None:
    text, offset = marked(HEAD + "QUERY q RETURN COUNT(*) PATTERN SEQ(Ord|r, Payment) WITHIN 1 DAY SLIDE 1 DAY;")
    found = check_text(text, "q.cep").diagnostics
    (cure,) = cures(found, "q.cep", offset, offset)
    assert (cure.title, cure.edit.text) == ("Write `Order`", "Order")
    assert list(cures(found, "q.cep", 0, 5)) == []
    assert list(cures(found, "other.cep", offset, offset)) == []


# ---- the rest


def test_the_outline_lists_what_a_file_declares() -> None:
    found = [(one.kind, one.name, one.detail) for one in outline(program(EVERYTHING).parsed)]
    assert found == [
        ("stream", "orders", ""),
        ("event type", "Large", "AS Order"),
        ("pattern", "paid", "(P)"),
        ("function", "cents", "(x)"),
        ("query", "unpaid", ""),
        ("query", "parts", ""),
        ("test", "nobody_paid", "FOR unpaid"),
    ]
    columns = next(outline(program(HEAD).parsed)).parts
    assert [(one.name, one.detail) for one in columns][:2] == [("at", "TIMESTAMP"), ("kind", "STRING")]


def test_the_tests_of_a_text_are_run() -> None:
    passing = program(EVERYTHING)
    assert [test.name for test in named_tests(passing)] == ["nobody_paid"]
    assert run_tests(passing).passed
    failing = run_tests(program((EVERYTHING).replace("20000.0", "7.0")), "nobody_paid")
    assert (failing.passed, failing.summary) == (False, "1 test, 1 failed")
    ((test, said),) = failing.failures
    assert test.name == "nobody_paid"
    assert "7.0" in said
    assert "20000.0" in said


def test_the_tests_of_a_wrong_program_are_not_run() -> None:
    report = run_tests(program(HEAD + QUERY.replace("l.amount", "l.amont")))
    assert (report.passed, report.failures) == (False, ())
    assert "unknown column `amont`" in report.summary


# ---- places

PLACES = [
    ("abc", 2, "utf-16", (0, 2)),
    ("a\nbc", 3, "utf-16", (1, 1)),
    ("a\r\nbc", 4, "utf-16", (1, 1)),
    ("a\rbc", 3, "utf-16", (1, 1)),
    ("a\u2028bc", 3, "utf-16", (0, 3)),
    ("😀x", 1, "utf-16", (0, 2)),
    ("😀x", 1, "utf-8", (0, 4)),
    ("😀x", 1, "utf-32", (0, 1)),
    ("äx", 1, "utf-16", (0, 1)),
    ("äx", 1, "utf-8", (0, 2)),
]


@pytest.mark.parametrize(("text", "offset", "encoding", "place"), PLACES)
def test_places_are_counted_as_the_protocol_does(text: str, offset: int, encoding: str, place: tuple[int, int]) -> None:
    positions = ClientPositions(text, encoding)
    assert positions.place(offset) == place
    assert positions.offset(*place) == offset


@given(
    st.text(alphabet="a\n\r😀ä\u2028\x0b", max_size=20),
    st.integers(0, 20),
    st.sampled_from(["utf-8", "utf-16", "utf-32"]),
)
def test_a_place_leads_back_to_its_offset(text: str, offset: int, encoding: str) -> None:
    offset = min(offset, len(text))
    positions = ClientPositions(text, encoding)
    back = positions.offset(*positions.place(offset))
    assert back == offset or text[offset - 1 : offset + 1] == "\r\n"  # within a line's end there is no place


def test_a_place_behind_the_end_is_the_end() -> None:
    positions = ClientPositions("ab\ncd")
    assert (positions.offset(0, 99), positions.offset(9, 0), positions.offset(1, 99)) == (2, 5, 5)


# ---- whatever is open


@pytest.mark.unhurried
@pytest.mark.parametrize("part", range(4))
def test_nothing_is_raised_wherever_the_text_ends(part: int) -> None:
    """A program that is typed from its beginning to its end."""
    for end in range(part, len(EVERYTHING), 41):
        ask_everything(EVERYTHING[:end], end)


SLOW = ("names_pattern_grows",)
"""Each question takes as long as to write out as many patterns as there may be."""


@pytest.mark.property
@given(st.integers(0, len(EVERYTHING)), st.integers(0, 30), st.text(max_size=5), st.integers(0, len(EVERYTHING)))
def test_nothing_is_raised_for_any_change_of_a_program(start: int, size: int, text: str, offset: int) -> None:
    written = EVERYTHING[:start] + text + EVERYTHING[start + size :]
    ask_everything(written, min(offset, len(written)))


@pytest.mark.unhurried
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=pytest.mark.long if path.stem in SLOW else (), id=path.stem)
        for path in wrong_programs()
    ],
)
def test_nothing_is_raised_for_a_wrong_program(path: Path) -> None:
    text = path.read_text("utf-8", "replace")
    words = [found.start() for found in re.finditer(r"\b\w", text)] or [0]
    for offset in {words[len(words) // 2], words[-1]}:
        ask_everything(text, offset)


@pytest.mark.parametrize("module", standard_modules())
def test_every_name_of_a_module_is_shown(module: str) -> None:
    text = (ROOT / "stdlib" / "cepc_stdlib" / f"{module.removeprefix('std.')}.cep").read_text("utf-8")
    found = program(text)
    uses = [use for use in found.references.uses if use.span.source == "q.cep"]
    assert uses
    assert all(hover(found, use.span.start) is not None for use in uses if use.symbol.kind != "column")


# ---- its parts


def test_only_one_module_knows_the_protocol() -> None:
    """The features take texts and places of our own."""
    folder = ROOT / "compiler" / "cepc" / "language_server"
    knowing = [
        path.name
        for path in folder.glob("*.py")
        for node in python.walk(python.parse(path.read_text("utf-8")))
        if isinstance(node, python.ImportFrom | python.Import)
        for name in ([node.module or ""] if isinstance(node, python.ImportFrom) else [a.name for a in node.names])
        if name.partition(".")[0] in ("pygls", "lsprotocol")
    ]
    assert {*knowing} == {"server.py"}


# ---- computed columns ------------------------------------------------------------------------------------------------

COMPUTED = """STREAM s (
  payload STRUCT<user: STRUCT<id: BIGINT>>,
  ts BIGINT,
  kind STRING,
  at AS TIMESTAMP_MILLIS(ts),
  user_id BIGINT AS payload.user.id
) EVENT TIME at EVENT TYPE kind IN ('A');
QUERY q RETURN MATCH user_id PATTERN A WHERE [user_id] AND A.ts > 0 WITHIN 1 DAY;
QUERY r RETURN payload.user.id, COUNT(*) AS n PATTERN A WHERE [payload.user.id] GROUP BY payload.user.id WITHIN 1 DAY;
"""


def test_a_computed_column_is_shown_with_what_it_is_computed_from_and_found_where_it_is_used() -> None:
    found = program(COMPUTED)
    shown = hover(found, COMPUTED.index("user_id BIGINT"))
    assert shown is not None
    assert "user_id BIGINT AS payload.user.id" in shown.markdown
    (entry,) = (one for one in outline(parse(Source("q.cep", COMPUTED))) if one.kind == "stream")
    assert [part.detail for part in entry.parts][3:] == ["AS TIMESTAMP_MILLIS(ts)", "BIGINT AS payload.user.id"]
    for name in ("payload", "ts", "user_id"):
        use = found.references.at("q.cep", COMPUTED.index(f"  {name} ") + 2)
        assert use is not None
        starts = sorted(one.span.start for one in found.references.of(use.symbol))
        assert starts == [match.start() for match in re.finditer(rf"\b{name}\b", COMPUTED)]


LABELLED = (
    HEAD
    + "QUERY q WITH (severity = 'high') RETURN COUNT(*) AS n, LABEL(severity) AS s PATTERN Order WITHIN 1 DAY SLIDE 1 DAY;"
)


def test_a_label_is_shown_and_renamed_where_it_is_named() -> None:
    found = program(LABELLED)
    shown = hover(found, at(LABELLED, "LABEL(|severity"))
    assert shown is not None
    assert shown.markdown == "`severity = 'high'`: a label of the query `q`"
    of_query = hover(found, at(LABELLED, "QUERY |q"))
    assert of_query is not None
    assert "- severity: high" in of_query.markdown
    edits = rename(found, [], at(LABELLED, "(|severity ="), "level")
    assert not isinstance(edits, str)
    assert len(edits) == 2


OF_ROWS = (
    HEAD
    + """QUERY bursts RETURN MATCH id, FIRST(o).amount AS first PATTERN Order{3} o WHERE [id] WITHIN 1 HOUR;
STREAM alarms (large AS first > 100) EVENT TIME match_start FROM QUERY bursts;
QUERY several RETURN MATCH id, a.first AS began PATTERN SEQ(alarms a, alarms b) WHERE [id] AND b.large WITHIN 1 DAY;
TEST t FOR several GIVEN alarms (id, first, match_start) VALUES (1, 2, '2026-03-02 10:00:00') EXPECT NO ROWS;
"""
)


def test_a_column_of_rows_that_are_events_is_that_of_the_query_that_returns_it() -> None:
    found = program(OF_ROWS)
    assert found.checked.ok, found.checked.text()
    shown = hover(found, at(OF_ROWS, "STREAM |alarms"))
    assert shown is not None
    assert "Events: the rows of the query `bursts`" in shown.markdown
    assert "large AS first > 100" in shown.markdown
    edits = rename(found, [], at(OF_ROWS, "AS |first PATTERN"), "begin")
    assert not isinstance(edits, str), edits
    after = changed(OF_ROWS, edits)
    assert [
        after.count(part) for part in ("AS begin PATTERN", "(large AS begin", "a.begin AS began", "(id, begin,")
    ] == [1] * 4
    assert program(after).checked.ok
    edits = rename(found, [], at(OF_ROWS, "QUERY |bursts RETURN"), "triples")
    assert not isinstance(edits, str), edits
    assert "FROM QUERY triples" in changed(OF_ROWS, edits)
