"""Tests in the language: what passes, what fails and how it is shown."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import cepc
from cepc.cli import cepc as command
from cepc_grammar.formatter import format_source
from cepc_grammar.source import Source
from tests.resolving import checked

PROGRAM = """\
STREAM rides (at TIMESTAMP, kind STRING, driver BIGINT, district STRING, minutes DOUBLE, price DECIMAL(9, 2), day DATE)
EVENT TIME at
EVENT TYPE kind IN ('P', 'T', 'D');

QUERY minutes
  RETURN   district, COUNT(*) AS trips, SUM(T.minutes) AS minutes, MAX(T.price) AS price
  PATTERN  SEQ(P, T+, D)
  WHERE    [driver]
  GROUP BY district
  WITHIN   1 HOUR SLIDE 1 HOUR;

QUERY first
  RETURN   MATCH driver, P.day AS day
  PATTERN  SEQ(P, T)
  WHERE    [driver]
  WITHIN   1 HOUR;

QUERY all
  RETURN   MATCH *
  PATTERN  P
  WITHIN   1 HOUR;

QUERY total
  RETURN   COUNT(*) AS ways
  PATTERN  T+
  WITHIN   UNBOUNDED;
"""
GIVEN = """\
  GIVEN  (at, kind, driver, district, minutes, price) VALUES
    ('2026-01-31 10:01:00', 'P', 7, 'north', NULL, NULL),
    ('2026-01-31 10:02:00', 'T', 7, 'north', 0.1, 5),
    ('2026-01-31 10:03:00', 'T', 7, 'north', 0.2, 7.5),
    ('2026-01-31 10:04:00', 'D', 7, 'north', NULL, NULL)
"""


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(tests: str, *arguments: str) -> Result:
    Path("rides.cep").write_text(PROGRAM + tests)
    return CliRunner().invoke(command, ["test", "rides.cep", *arguments])


def test_rows_are_compared_in_any_order_by_the_columns_named() -> None:
    result = run(
        f"TEST a FOR minutes\n{GIVEN}  EXPECT (trips, district) VALUES (3, 'north');\n"
        f"TEST b FOR minutes\n{GIVEN}  EXPECT (window_start, price) VALUES (TIMESTAMP '2026-01-31 10:00:00Z', 7.50);\n"
        f"TEST c FOR minutes\n{GIVEN}  EXPECT VALUES ('north', 3, 0.6, 7.5);\n"  # a sum of doubles, 0.6000000000000001
        "TEST d FOR first GIVEN (at, kind, driver, day) VALUES (TIMESTAMP '2026-01-31', 'P', 1, '2026-01-30'),\n"
        "  ('2026-01-31 00:00:01', 'T', 1, NULL), ('2026-01-31 00:00:02', 'T', 1, NULL), ('2026-01-31 00:00:02', 'P', 2, NULL)\n"
        "  EXPECT (match_end, driver, day) VALUES ('2026-01-31 00:00:02', 0 + 1, DATE '2026-01-30'),\n"
        "  ('2026-01-31 00:00:01', 1, '2026-01-30');\n"
        "TEST e FOR minutes GIVEN (at, kind) VALUES (NULL, 'P') EXPECT NO ROWS;\n"
        "TEST f FOR all GIVEN (at, kind) VALUES ('2026-01-31', 'P') EXPECT (match_start) VALUES ('2026-01-31');\n"
    )
    assert result.stdout == "ok    a\nok    b\nok    c\nok    d\nok    e\nok    f\n6 tests passed\n"
    assert result.exit_code == 0


def test_a_test_that_fails_shows_the_rows_that_differ() -> None:
    result = run(
        "TEST wrong FOR first\n"
        "  GIVEN (at, kind, driver) VALUES ('2026-01-31 10:00:00', 'P', 1), ('2026-01-31 10:00:01', 'T', 1),\n"
        "    ('2026-01-31 10:00:02', 'P', 22), ('2026-01-31 10:00:03', 'T', 22)\n"
        "  EXPECT (driver, day) VALUES (1, NULL), (3, '2026-01-30');\n"
        "TEST right FOR first GIVEN (at, kind) VALUES ('2026-01-31', 'P') EXPECT NO ROWS;\n"
    )
    assert result.exit_code == 1
    assert (
        result.stdout
        == """\
FAIL  wrong  (rides.cep:27:1)
    driver  day
    1       NULL
  + 22      NULL        found, and not expected
  - 3       2026-01-30  expected, and not found

ok    right
2 tests, 1 failed
"""
    )


def test_a_test_that_fails_says_which_types_are_none_of_the_stream() -> None:
    given = "GIVEN (at, kind, driver) VALUES ('2026-01-31', 'P', 1), ('2026-01-31 00:00:01', 'TT', 1)"
    result = run(f"TEST typo FOR first {given} EXPECT (driver) VALUES (1);")
    assert "\n  GIVEN has the type TT, which `rides` does not list; there are P, T, D\n" in result.stdout
    assert run(f"TEST typo FOR first {given} EXPECT NO ROWS;").stdout == "ok    typo\n1 test passed\n"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("'2026-01-31', 'TT'", "does not list the type TT"),
        ("'2026-01-31', NULL", "has no type"),
        ("NULL, 'P'", "has no time"),
    ],
)
def test_a_test_that_passes_is_told_rows_that_are_no_event(row: str, said: str) -> None:
    program = f"TEST typo FOR first GIVEN (at, kind) VALUES ({row}) EXPECT NO ROWS;"
    result = run(program)
    assert (result.exit_code, result.stdout) == (0, "ok    typo\n1 test passed\n")
    assert "warning[W0901]" in result.stderr
    assert said in result.stderr
    checked = CliRunner().invoke(command, ["check", "rides.cep"])
    assert (checked.exit_code, said in checked.stdout) == (0, True)


def test_check_tells_constants_without_a_value_and_a_run_does_not_look_at_them() -> None:
    assert (
        run("TEST bad FOR first GIVEN (at, kind) VALUES ('soon', 'P') EXPECT (driver) VALUES ('one');").exit_code == 1
    )
    checked = CliRunner().invoke(command, ["check", "rides.cep"])
    assert (checked.exit_code, checked.stdout.count("error[E0905]: the value has no meaning")) == (1, 2)
    assert cepc.compile("rides.cep").program.tests


def test_rows_count_as_often_as_they_come() -> None:
    events = "(at, kind, driver) VALUES ('2026-01-31', 'P', 1), ('2026-01-31 00:00:01', 'T', 1), ('2026-01-31 00:00:02', 'T', 1)"
    assert run(f"TEST twice FOR first GIVEN {events} EXPECT (driver) VALUES (1), (1);").exit_code == 0
    result = run(f"TEST twice FOR first GIVEN {events} EXPECT (driver) VALUES (1);")
    assert "    1\n  + 1       found, and not expected\n" in result.stdout
    result = run(f"TEST none FOR first GIVEN {events} EXPECT NO ROWS;")
    assert result.stdout.count("found, and not expected") == 2


def test_a_run_that_ends_in_an_error_fails_the_test_with_the_error() -> None:
    many = ", ".join(f"('2026-01-31 00:{i // 60:02}:{i % 60:02}', 'T')" for i in range(70))
    result = run(f"TEST large FOR total GIVEN (at, kind) VALUES {many} EXPECT NO ROWS;")
    assert result.exit_code == 1
    assert "FAIL  large  (rides.cep:27:1)\n  error[E0802]: COUNT(*) of `total` does not fit BIGINT\n" in result.stdout


def test_a_constant_without_a_value_is_an_error_at_its_place() -> None:
    result = run("TEST bad FOR first GIVEN (at, kind, driver) VALUES ('soon', 'P', 1 / 0) EXPECT NO ROWS;")
    assert result.exit_code == 1
    assert (
        "FAIL  bad  (rides.cep:27:1)\n"
        "  error[E0905]: the value has no meaning: 'soon' cannot be read as TIMESTAMP\n    --> rides.cep:27:53"
        in result.stdout
    )
    assert result.stdout.count("error[E0905]") == 2


def test_after_a_constant_without_a_value_the_other_tests_run() -> None:
    result = run(
        "TEST given FOR first GIVEN (at, kind, driver) VALUES ('soon', 'P', 1) EXPECT NO ROWS;\n"
        "TEST both FOR first GIVEN (at, kind) VALUES ('soon', 'P') EXPECT (driver) VALUES (1 / 0);\n"
        "TEST fails FOR first GIVEN (at, kind) VALUES ('2026-01-31', 'P') EXPECT (driver) VALUES (2);\n"
        "TEST right FOR first GIVEN (at, kind) VALUES ('2026-01-31', 'P') EXPECT NO ROWS;\n"
    )
    lines = result.stdout.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("FAIL")] == ["given", "both", "fails"]
    assert lines[-2:] == ["ok    right", "4 tests, 3 failed"]
    assert result.stdout.count("error[E0905]") == 3, "two of one test"
    assert (result.exit_code, result.stderr) == (1, "")


def test_some_of_the_tests_can_be_chosen() -> None:
    tests = "".join(f"TEST {n} FOR first GIVEN (at, kind) VALUES ('2026-01-31', 'P') EXPECT NO ROWS;\n" for n in "abc")
    assert run(tests, "--test", "b", "--test", "c").stdout == "ok    b\nok    c\n2 tests passed\n"
    result = run(tests, "--test", "d")
    assert result.exit_code == 2
    assert "there is no test `d`; there are `a`, `b`, `c`" in result.stderr


@pytest.mark.parametrize("arguments", [[], ["--test", "nope"]])
def test_a_program_without_tests_has_nothing_to_run(arguments: list[str]) -> None:
    result = run("", *arguments)
    assert result.exit_code == 1
    assert "error[E0805]: there is nothing to run: the program has no TEST" in result.stderr


def test_tests_of_an_imported_file_are_left_to_that_file() -> None:
    Path("base.cep").write_text(
        PROGRAM + "TEST base FOR first GIVEN (at, kind) VALUES ('2026-01-31', 'P') EXPECT NO ROWS;"
    )
    Path("more.cep").write_text(
        "IMPORT './base.cep';\nTEST more FOR first GIVEN (at, kind) VALUES ('2026-01-31', 'P') EXPECT NO ROWS;"
    )
    result = CliRunner().invoke(command, ["test", "more.cep"])
    assert result.stdout == "ok    more\n1 test passed\n"
    assert cepc.compile("more.cep").queries == ("minutes", "first", "all", "total")


def test_test_words_are_names_elsewhere() -> None:
    text = "STREAM s (test INT, given STRING, `values` INT, expect INT, `for` INT, rows INT) EVENT TIME test EVENT TYPE given;\n"
    query = "QUERY no RETURN SUM(A.expect + A.rows) AS expect PATTERN A WHERE A.for > 0 WITHIN 1 h SLIDE 1 h;\n"
    test = "TEST test FOR no GIVEN (test, given, values, expect, for, rows) VALUES (1, 'A', 2, 3, 4, 5) EXPECT (expect) VALUES (8);"
    assert checked(text + query + test).diagnostics == ()


def test_values_stand_in_columns() -> None:
    text = """\
TEST a FOR q
  GIVEN  (at, kind) VALUES
    ('2026-01-31 10:00:00', 'P'),  -- asks
    ('2026-01-31',          'Travel')
  -- and then
  EXPECT NO ROWS;

TEST b FOR q
  GIVEN  VALUES
    (1)
  EXPECT (n) VALUES
    (1),
    (22);
"""
    messy = (
        "test a for q given (at,kind) values ('2026-01-31 10:00:00', 'P'), -- asks\n('2026-01-31', 'Travel')\n-- and then\n"
        "expect no rows;\nTEST b FOR q GIVEN VALUES (1) EXPECT (n) VALUES (1), (22);"
    )
    assert format_source(Source("a.cep", messy)) == text
    assert format_source(Source("a.cep", text)) == text


def test_a_row_that_is_too_long_goes_on_below() -> None:
    text = """\
TEST a FOR q
  GIVEN  (at, xs) VALUES
    (1,  ARRAY(1, 2)),
    (22, NULL)
  EXPECT (n, events) VALUES
    (1,
     ARRAY(
       NAMED_STRUCT(
         'variable', 'Open',
         'at', '2026-03-02 10:00:00',
         'room', STRUCT(2, 'a room with a long name'),  -- which?
         'm', MAP(1, 2)
       ),
       STRUCT(1)
     ));
"""
    flat = " ".join(line.strip() for line in text.replace("  -- which?", "").splitlines())
    assert format_source(Source("a.cep", text)) == text
    assert format_source(Source("a.cep", flat)) == text.replace("  -- which?", "")


NESTED = """\
STREAM s (at BIGINT, kind STRING, xs ARRAY<INT>, m MAP<STRING, DOUBLE>, p STRUCT<x: INT, y: ARRAY<TIMESTAMP>>, x DOUBLE)
EVENT TIME at
EVENT TYPE kind IN ('A', 'B');
QUERY parts RETURN MATCH A.xs AS xs, A.p AS p, A.m AS m, COLLECT(B.x) AS every PATTERN SEQ(A, B+) WITHIN 1 MINUTE;
QUERY events RETURN MATCH * PATTERN SEQ(A, B) WITHIN 1 MINUTE;
"""
PARTS = {
    "an array": ("xs", "ARRAY(1, 1 + 1, NULL)", "array(1, '2', NULL)"),
    "an empty array": ("xs", "ARRAY()", "ARRAY()"),
    "no array": ("xs", "NULL", "NULL"),
    "a map in another order": ("m", "MAP('a', 0.1 + 0.2, 'b', NULL)", "MAP('b', NULL, 'a', 0.3)"),
    "an empty map": ("m", "MAP()", "MAP()"),
    "a struct, cast": ("p", "STRUCT('7', ARRAY('2026-01-31'))", "STRUCT(7, ARRAY(TIMESTAMP '2026-01-31'))"),
    "a struct by names": ("p", "NAMED_STRUCT('y', ARRAY(), 'x', 7)", "STRUCT(7, ARRAY())"),
    "fields that are not named": ("p", "NAMED_STRUCT('x', 7)", "STRUCT(7, NULL)"),
}
OTHER_PARTS = {
    "another array": ("xs", "ARRAY(1, 2)", "ARRAY(2, 1)", "[2,1]"),
    "a longer array": ("xs", "ARRAY(1, 2)", "ARRAY(1)", "[1]"),
    "another value in a map": ("m", "MAP('a', 1)", "MAP('a', 2)", '{"a":2.0}'),
    "another key in a map": ("m", "MAP('a', 1)", "MAP('b', 1)", '{"b":1.0}'),
    "no struct": ("p", "STRUCT(NULL, NULL)", "NULL", "NULL"),
    "another struct": ("p", "STRUCT(7, ARRAY())", "STRUCT(7, NULL)", '{"x":7,"y":null}'),
}


def nested(column: str, given: str, expected: str) -> Result:
    Path("s.cep").write_text(
        f"{NESTED}TEST t FOR parts GIVEN (at, kind, {column}) VALUES (1, 'A', {given}), (2, 'B', NULL)\n"
        f"EXPECT ({column}) VALUES ({expected});"
    )
    return CliRunner().invoke(command, ["test", "s.cep"])


@pytest.mark.parametrize(("column", "given", "expected"), PARTS.values(), ids=PARTS)
def test_arrays_maps_and_structs_are_constants(column: str, given: str, expected: str) -> None:
    assert nested(column, given, expected).stdout == "ok    t\n1 test passed\n"


@pytest.mark.parametrize(("column", "given", "expected", "shown"), OTHER_PARTS.values(), ids=OTHER_PARTS)
def test_arrays_maps_and_structs_that_differ_are_shown(column: str, given: str, expected: str, shown: str) -> None:
    result = nested(column, given, expected)
    assert result.exit_code == 1
    assert re.search(rf"^  - {re.escape(shown)} +expected, and not found$", result.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("MAP('a', 1, 'a', 2)", "the MAP has two values for the key a"),
        ("MAP(NULL, 1)", "a key of a MAP is NULL"),
        ("MAP('a', 'much')", "'much' cannot be read as DOUBLE"),
    ],
)
def test_a_map_without_a_value_is_an_error_at_its_place(value: str, reason: str) -> None:
    result = nested("m", value, "NULL")
    assert f"error[E0905]: the value has no meaning: {reason}\n" in result.stdout
    assert "`m` is MAP<STRING, DOUBLE>" in result.stdout


def test_the_events_of_a_match_can_be_expected() -> None:
    Path("s.cep").write_text(
        f"{NESTED}TEST t FOR events GIVEN (at, kind, xs) VALUES (1, 'A', ARRAY(1)), (2, 'B', NULL)\n"
        "EXPECT VALUES (ARRAY(NAMED_STRUCT('variable', 'A', 'at', 1, 'kind', 'A', 'xs', ARRAY(1)),\n"
        "                     STRUCT('B', 2, 'B', NULL, NULL, NULL, NULL)));"
    )
    assert CliRunner().invoke(command, ["test", "s.cep"]).stdout == "ok    t\n1 test passed\n"
