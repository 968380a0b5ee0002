"""Diagnostics as text and as JSON. The expected outputs are what a person sees, so each is written out."""

import json
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepc.diagnostics.as_json import as_json
from cepc.diagnostics.cells import LONGEST, show, width
from cepc.diagnostics.near import did_you_mean, distance, nearest
from cepc.diagnostics.render import as_text, render, summary
from cepc_grammar.diagnostic import Diagnostic, Label
from cepc_grammar.source import NOWHERE, Source, Span


def span(source: Source, text: str, occurrence: int = 0) -> Span:
    at = -1
    for _ in range(occurrence + 1):
        at = source.text.index(text, at + 1)
    return Span(at, at + len(text), source.name)


def drawn(source: Source, *diagnostics: Diagnostic, others: tuple[Source, ...] = ()) -> str:
    """What is printed, without the closing line."""
    text = as_text(render(diagnostics, {s.name: s for s in (source, *others)}))
    return text.rsplit("\n\n", 1)[0] + "\n"


def expected(text: str) -> str:
    return dedent(text).lstrip("\n")


def test_a_diagnostic_has_its_parts_in_a_fixed_order() -> None:
    source = Source("a.cep", "QUERY q\n  PATTERN SEQ(Request, Travle)\n")
    diagnostic = Diagnostic(
        "E0201", "unknown event type `Travle`", span(source, "Travle"), "no such type",
        notes=("the types are listed in the STREAM",), hint="did you mean `Travel`?",
    )  # fmt: skip
    assert drawn(source, diagnostic) == expected("""
        error[E0201]: unknown event type `Travle`
         --> a.cep:2:24
          |
        2 |   PATTERN SEQ(Request, Travle)
          |                        ^^^^^^ no such type
          |
          = note: the types are listed in the STREAM
          = help: did you mean `Travel`?
    """)


def test_other_places_on_the_same_line_share_it_and_their_labels_hang_below() -> None:
    source = Source("a.cep", "SEQ(A x, B x)")
    places = (Label(span(source, "x", 0), "first here"), Label(span(source, "SEQ(A x, B x)"), "in this pattern"))
    assert drawn(source, Diagnostic("E0101", "two", span(source, "x", 1), "again", others=places)) == expected("""
        error[E0101]: two
         --> a.cep:1:12
          |
        1 | SEQ(A x, B x)
          |       -    ^ again
          |       |
          |       first here
          | ------------- in this pattern
    """)


def test_other_places_on_other_lines_stand_in_the_order_of_the_text() -> None:
    source = Source("a.cep", "a\nb\nc\nd\ne\n")
    places = (Label(span(source, "a"), "one"), Label(span(source, "c"), "three"))
    assert drawn(source, Diagnostic("E0101", "t", span(source, "e"), "five", others=places)) == expected("""
        error[E0101]: t
         --> a.cep:5:1
          |
        1 | a
          | - one
        2 | b
        3 | c
          | - three
        4 | d
        5 | e
          | ^ five
    """)


def test_lines_between_places_far_apart_are_left_out() -> None:
    source = Source("a.cep", "a\n" + "b\n" * 20 + "c\n")
    diagnostic = Diagnostic("E0101", "t", span(source, "c"), others=(Label(span(source, "a")),))
    assert drawn(source, diagnostic) == expected("""
        error[E0101]: t
          --> a.cep:22:1
           |
         1 | a
           | -
        ...
        22 | c
           | ^
    """)


def test_a_place_in_another_file_has_a_snippet_of_its_own() -> None:
    source, other = Source("a.cep", "EVENT A;"), Source("b.cep", "\nEVENT  A;")
    diagnostic = Diagnostic("E0101", "twice", span(source, "A"), others=(Label(span(other, "A"), "declared here"),))
    assert drawn(source, diagnostic, others=(other,)) == expected("""
        error[E0101]: twice
         --> a.cep:1:7
          |
        1 | EVENT A;
          |       ^
         ::: b.cep:2:8
          |
        2 | EVENT  A;
          |        - declared here
    """)


def test_a_span_over_several_lines_has_a_bar_at_its_left() -> None:
    source = Source("a.cep", "QUERY q\n  PATTERN SEQ(A,\n    B)\n")
    whole = span(source, "SEQ(A,\n    B)")
    assert drawn(source, Diagnostic("E0101", "t", whole, "all of it")) == expected("""
        error[E0101]: t
         --> a.cep:2:11
          |
        2 |     PATTERN SEQ(A,
          |  ___________^
        3 | |     B)
          | |______^ all of it
    """)


def test_a_span_over_many_lines_shows_its_ends() -> None:
    source = Source("a.cep", "".join(f"line {i}\n" for i in range(1, 31)))
    text = drawn(source, Diagnostic("W0101", "t", Span(0, len(source.text), "a.cep"), "long"))
    assert text == expected("""
        warning[W0101]: t
          --> a.cep:1:1
           |
         1 |   line 1
           |  _^
         2 | | line 2
         3 | | line 3
         4 | | line 4
        ...  |
        30 | | line 30
           | |_______^ long
    """)


@pytest.mark.parametrize(
    ("line", "marked", "underline"),
    [
        ("\tA\tB", "B", "         ^"),
        ("語語 < 3", "<", "     ^"),
        ("e\u0301x y", "y", "   ^"),
        ("😀 b", "b", "   ^"),
        ("a\x00\x1bb", "b", "   ^"),
        ("価格", "価格", "^^^^"),
    ],
)
def test_underlines_stand_under_what_a_terminal_shows(line: str, marked: str, underline: str) -> None:
    source = Source("a.cep", line)
    assert drawn(source, Diagnostic("E0101", "t", span(source, marked))).splitlines()[-1] == "  | " + underline


def test_what_a_terminal_would_act_on_is_not_printed() -> None:
    text = drawn(Source("a.cep", "a\x1b[2J\u202eb\r\x85c"), Diagnostic("E0101", "t", Span(0, 1, "a.cep")))
    assert not {"\x1b", "\u202e", "\r", "\x85"} & set(text)


def test_nor_is_what_a_message_quotes() -> None:
    source = Source("a\x1b.cep", "x")
    diagnostic = Diagnostic("E0101", "\x1b[2J", Span(0, 1, source.name), "\0", ("\x1bone\ntwo",), "\x07")
    text = drawn(source, diagnostic)
    assert not {"\x1b", "\0", "\x07"} & set(text)
    assert "␛[2J" in text


def test_a_very_long_line_is_cropped_around_the_span() -> None:
    source = Source("a.cep", "x" * 500 + "!" + "y" * 500)
    line, underline = drawn(source, Diagnostic("E0101", "t", span(source, "!"))).splitlines()[-2:]
    assert len(line) < LONGEST
    assert line.startswith("1 | …xxx")
    assert line.endswith("yyy…")
    assert line.index("!") == underline.index("^")


def test_a_place_that_cropping_would_hide_has_a_snippet_of_its_own() -> None:
    source = Source("a.cep", "!" + "x" * 500 + "?")
    text = drawn(source, Diagnostic("E0101", "t", span(source, "!"), "one", others=(Label(span(source, "?"), "two"),)))
    assert "1 | !xx" in text
    assert "x?\n" in text
    assert "^ one" in text
    assert "- two" in text


@pytest.mark.parametrize("ending", ["", "\n", "\r\n", "  \n\n\n"])
def test_the_end_of_a_file_is_shown_right_after_its_last_text(ending: str) -> None:
    source = Source("a.cep", "QUERY q" + ending)
    at_end = Span(len(source.text), len(source.text), "a.cep")
    assert drawn(source, Diagnostic("E0101", "t", at_end, "`;` is expected")) == expected("""
        error[E0101]: t
         --> a.cep:1:8
          |
        1 | QUERY q
          |        ^ `;` is expected
    """)


def test_an_empty_file_has_a_place() -> None:
    assert " --> a.cep:1:1\n" in drawn(Source("a.cep", ""), Diagnostic("W0007", "t", Span(0, 0, "a.cep")))


def test_crlf_does_not_move_columns() -> None:
    source = Source("a.cep", "a\r\nb c\r\n")
    assert drawn(source, Diagnostic("E0101", "t", span(source, "c"))).splitlines()[1:] == [
        " --> a.cep:2:3",
        "  |",
        "2 | b c",
        "  |   ^",
    ]


def test_a_file_without_text_is_named_without_a_line() -> None:
    missing = Diagnostic("E0001", "there is no file `b.cep`", Span(0, 0, "b.cep"), hint="look")
    assert drawn(Source("a.cep", ""), missing) == expected("""
        error[E0001]: there is no file `b.cep`
         --> b.cep
          = help: look
    """)


def test_a_diagnostic_without_any_place_is_a_line() -> None:
    assert drawn(Source("a.cep", ""), Diagnostic("E0801", "too many", NOWHERE)) == "error[E0801]: too many\n"


def test_notes_of_several_lines_are_indented() -> None:
    assert drawn(Source("a.cep", ""), Diagnostic("E0801", "t", NOWHERE, notes=("one\ntwo",))) == expected("""
        error[E0801]: t
          = note: one
                  two
    """)


def test_diagnostics_are_sorted_by_place_and_duplicates_are_merged() -> None:
    a, b = Source("a.cep", "x y"), Source("b.cep", "z")
    found = [
        Diagnostic("E0101", "z", span(b, "z")),
        Diagnostic("W0101", "y", span(a, "y")),
        Diagnostic("E0101", "x", span(a, "x")),
    ]
    text = as_text(render([*found, found[0]], {"a.cep": a, "b.cep": b}))
    assert [line for line in text.splitlines() if "[" in line] == [
        "error[E0101]: x",
        "warning[W0101]: y",
        "error[E0101]: z",
    ]
    assert text.endswith("\n\n2 errors, 1 warning\n")


def test_the_closing_line_counts() -> None:
    error, warning = Diagnostic("E0101", "", NOWHERE), Diagnostic("W0101", "", NOWHERE)
    assert summary([]) == "no errors"
    assert summary([error]) == "1 error"
    assert summary([warning, warning]) == "no errors, 2 warnings"
    assert summary([error, warning, error]) == "2 errors, 1 warning"


def test_json_has_every_part() -> None:
    source = Source("a.cep", "EVENT Ä\n  AS 語;\n")
    diagnostic = Diagnostic(
        "E0201",
        "unknown",
        span(source, "語"),
        "no such type",
        ("why",),
        "do",
        (Label(span(source, "Ä"), "used here"),),
        "did",
    )
    assert json.loads(as_json([diagnostic], {"a.cep": source})) == {
        "code": "E0201",
        "severity": "error",
        "title": "unknown",
        "file": "a.cep",
        "start": {"line": 2, "column": 6},
        "end": {"line": 2, "column": 7},
        "label": "no such type",
        "notes": ["why"],
        "hint": "do",
        "replacement": "did",
        "others": [
            {"file": "a.cep", "start": {"line": 1, "column": 7}, "end": {"line": 1, "column": 8}, "label": "used here"}
        ],
    }


def test_json_without_text_to_point_at_has_null_places() -> None:
    found = json.loads(as_json([Diagnostic("E0001", "no file", Span(0, 0, "b.cep"))], {}))
    assert (found["file"], found["start"], found["end"]) == ("b.cep", None, None)


def test_json_is_one_line_for_each_diagnostic() -> None:
    source = Source("a.cep", "x\ny")
    found = [Diagnostic("E0101", "two\nlines", span(source, text)) for text in "xy"]
    assert [json.loads(line)["start"]["line"] for line in as_json(found, {"a.cep": source}).splitlines()] == [1, 2]


@given(st.text(max_size=300), st.lists(st.tuples(st.integers(0, 310), st.integers(0, 310)), min_size=1, max_size=5))
def test_any_span_of_any_text_can_be_drawn(text: str, spans: list[tuple[int, int]]) -> None:
    source = Source("a.cep", text)
    first, *rest = [Span(min(pair), max(pair), "a.cep") for pair in spans]
    diagnostic = Diagnostic("E0101", "t", first, "here", others=tuple(Label(place, "there") for place in rest))
    assert "here" in drawn(source, diagnostic)
    as_json([diagnostic], {"a.cep": source})


@given(st.text(max_size=400), st.integers(0, 400))
def test_a_line_is_never_shown_wider_than_promised(line: str, around: int) -> None:
    shown = show(line, around)
    assert width(shown.text) <= LONGEST + 2
    assert len(shown.cells) == len(line) + 1
    assert list(shown.cells) == sorted(shown.cells)


@pytest.mark.parametrize(
    ("name", "candidates", "near"),
    [
        ("Travle", ["Request", "Travel", "Trail"], "Travel"),
        ("TRAVEL", ["travels", "Travel"], "Travel"),
        ("driver", ["duration", "driver_id", "at"], "driver_id"),
        ("x", ["y", "z"], None),
        ("Travel", ["Travel"], None),
        ("", ["a"], None),
        ("Payment", [], None),
    ],
)
def test_the_nearest_name(name: str, candidates: list[str], near: str | None) -> None:
    assert nearest(name, candidates) == near
    assert did_you_mean(name, candidates) == (f"did you mean `{near}`?" if near else "")


NAMES = st.text("abc", max_size=9)


@given(NAMES, st.lists(NAMES, max_size=6))
def test_the_nearest_name_is_that_of_the_least_distance(name: str, candidates: list[str]) -> None:
    others = [other for other in candidates if other != name]
    near = [other for other in others if distance(name, other) <= max(len(name), len(other)) // 3]
    assert nearest(name, candidates) == min(near, key=lambda other: distance(name, other), default=None)
