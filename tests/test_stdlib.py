"""The standard library: every pattern is documented, used by a program of `tests/stdlib` and tested there in the
language, and the oracle agrees.
"""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

import cepc
from cepc.cli import cepc as command
from cepc.documenting import document
from cepc.files.read import ImportReader
from cepc.resolve.imports import resolve_imports
from cepc.standard_library import standard_module, standard_modules
from cepc.testing.run import run_test
from cepc.testing.values import tables_of
from cepc_grammar import ast
from cepc_grammar.formatter import format_source
from cepc_grammar.parser import Parsed, parse
from cepc_grammar.printer import to_text
from cepc_grammar.source import Source
from tests import oracle
from tests.equivalence import same

PROGRAMS = Path(__file__).parent / "stdlib"
MODULES = standard_modules()


def module(name: str) -> tuple[Source, Parsed]:
    found = standard_module(name)
    assert found is not None
    return found


def path(name: str) -> Path:
    return PROGRAMS / f"{name.removeprefix('std.')}.cep"


def functions(name: str) -> list[str]:
    return [s.name.text for s in module(name)[1].program.statements if isinstance(s, ast.Function)]


def patterns(name: str) -> list[str]:
    return [s.name.text for s in module(name)[1].program.statements if isinstance(s, ast.NamedPattern)]


def statements(name: str) -> tuple[ast.Statement, ...]:
    """Those of the test program, with what it imports."""
    parsed = parse(Source(str(path(name)), path(name).read_text(encoding="utf-8")))
    return resolve_imports(parsed.program, ImportReader()).statements


def test_every_module_has_a_program() -> None:
    assert len(MODULES) >= 8
    assert sorted(p.stem for p in PROGRAMS.glob("*.cep")) == [name.removeprefix("std.") for name in MODULES]


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_laid_out_and_documented(name: str) -> None:
    source, parsed = module(name)
    assert format_source(source) == source.text
    assert format_source(Source("", path(name).read_text(encoding="utf-8"))) == path(name).read_text(encoding="utf-8")
    page = document(source, parsed)
    assert page.comment.startswith(f"{name}: ")
    assert [entry.usage for entry in page.entries if not entry.comment] == []


@pytest.mark.parametrize("name", MODULES)
def test_every_pattern_and_function_is_used_by_a_query_that_is_tested_for_and_against(name: str) -> None:
    checked = cepc.compile(path(name))
    assert checked.warnings == (), str(checked)
    parsed = parse(Source("", path(name).read_text(encoding="utf-8")))
    queries = [s for s in parsed.program.statements if isinstance(s, ast.Query)]
    if patterns(name):
        used = [q.pattern.name.text for q in queries if isinstance(q.pattern, ast.Atom)]
        assert sorted(used) == sorted(patterns(name))
    called = "\n".join(to_text(q) for q in queries)
    assert [function for function in functions(name) if f"{function}(" not in called] == []
    for query in queries:
        tests = [t for t in checked.program.tests if t.query == query.name.text]
        assert len(tests) >= 2, query.name.text
        assert any(t.expected is not None for t in tests), query.name.text


@pytest.mark.parametrize("name", MODULES)
def test_a_module_passes_its_tests(name: str) -> None:
    checked = cepc.compile(path(name))
    outcomes = [run_test(checked.program, t, checked.checked.sources) for t in checked.program.tests]
    assert [outcome for outcome in outcomes if not outcome.passed] == []


@pytest.mark.parametrize("name", MODULES)
def test_the_oracle_agrees(name: str) -> None:
    checked = cepc.compile(path(name))
    every = statements(name)
    (stream,) = checked.program.streams
    for one in checked.program.tests:
        chosen = [s for s in every if not isinstance(s, ast.Query | ast.Test) or s.name.text == one.query]
        events = tables_of(one, checked.program, {})[0][stream.name]
        expected = oracle.evaluate(ast.Program(tuple(chosen)), events.to_pylist())
        found = checked.run(events, one.query)
        assert same(found[one.query].to_pylist(), expected[one.query]), one.name


TYPICAL = {
    "seconds_between": ("TIMESTAMP'2026-03-02 10:00:00'", "TIMESTAMP'2026-03-02 11:30:00'"),
    "minutes_between": ("TIMESTAMP'2026-03-02 10:00:00'", "TIMESTAMP'2026-03-02 11:30:00'"),
    "hours_between": ("TIMESTAMP'2026-03-02 10:00:00'", "TIMESTAMP'2026-03-02 11:30:00'"),
    "is_business_time": ("TIMESTAMP'2026-03-02 10:00:00'",),
    "part_of_day": ("TIMESTAMP'2026-03-02 10:00:00'",),
    "percent_change": ("1", "2"),
    "percent_apart": ("1", "2"),
    "clamped": ("5", "0", "10"),
    "great_circle_km": ("52.5", "13.4", "48.9", "2.4"),
    "same_text": ("'a'", "'A'"),
    "domain_of": ("'ann@example.org'",),
}
"""Arguments for each function of values, with which it has a value."""


def with_one_null(arguments: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [(*arguments[:i], f"NULLIF({a}, {a})", *arguments[i + 1 :]) for i, a in enumerate(arguments)]


def test_a_function_of_values_is_null_where_an_argument_is() -> None:
    assert sorted(TYPICAL) == sorted(functions("std.scalars"))
    calls = [(name, given) for name, whole in TYPICAL.items() for given in (whole, *with_one_null(whole))]
    returned = ", ".join(f"{name}({', '.join(given)}) AS c{i}" for i, (name, given) in enumerate(calls))
    program = f"""IMPORT std.scalars; STREAM s (at BIGINT) EVENT TIME at UNIT s;
        QUERY q RETURN MATCH {returned} PATTERN s WITHIN 1 h;"""
    (row,) = cepc.compile(program).run(pa.table({"at": [0]}))["q"].to_pylist()
    values = {f"{name}({', '.join(given)})": row[f"c{i}"] for i, (name, given) in enumerate(calls)}
    assert [call for call, value in values.items() if (value is None) != ("NULLIF" in call)] == []


def test_a_function_of_a_run_is_null_where_its_column_is() -> None:
    names = functions("std.shapes")
    program = f"""IMPORT std.shapes; STREAM s (at BIGINT, x INT) EVENT TIME at UNIT s;
        QUERY q RETURN MATCH {", ".join(f"{name}(v, x) AS {name}" for name in names)}
        PATTERN s{{2}} v WITHIN 1 h;"""
    (row,) = cepc.compile(program).run(pa.table({"at": [0, 1], "x": pa.nulls(2, pa.int32())}))["q"].to_pylist()
    assert {name: row[name] for name in names} == dict.fromkeys(names)


# ---- numbers at the edge of their type

INT, BIGINT = 2**31 - 1, 2**63 - 1
EDGE = [("INT", INT), ("BIGINT", BIGINT)]


def at_the_edge(type_: str, result: str, pattern: str, xs: list[int]) -> list[dict[str, Any]]:
    program = f"""IMPORT std.finance; IMPORT std.scalars; STREAM s (at BIGINT, x {type_}) EVENT TIME at UNIT s;
        QUERY q RETURN MATCH {result} PATTERN {pattern} WITHIN 1 h;"""
    column = pa.array(xs, pa.int32() if type_ == "INT" else pa.int64())
    rows: list[dict[str, Any]] = (
        cepc.compile(program).run(pa.table({"at": range(len(xs)), "x": column}))["q"].to_pylist()
    )
    return rows


@pytest.mark.parametrize(("type_", "edge"), EDGE)
@pytest.mark.parametrize(
    ("pattern", "xs", "matches"),
    [
        ("drawdown(s, x, 10)", lambda e: [e, e * 9 // 10], True),
        ("drawdown(s, x, 10)", lambda e: [e, e * 9 // 10 + 1], False),
        ("gain(s, s, x, 10)", lambda e: [e // 11 * 10, e // 11 * 11], True),
        ("gain(s, s, x, 10)", lambda e: [e // 11 * 10, e // 11 * 11 - 1], False),
        ("double_bottom(s, x, 50)", lambda e: [e, e // 3 * 2, e, e // 3, e], True),
        ("double_bottom(s, x, 50)", lambda e: [e, e // 3 * 2, e, e // 3 - 1, e], False),
        ("double_bottom(s, x, 5)", lambda e: [0, -e, e, e - 1, e], False),
        ("double_top(s, x, 50)", lambda e: [0, e // 3 * 2, 0, e // 3, 0], True),
        ("double_top(s, x, 50)", lambda e: [0, e // 3 * 2, 0, e // 3 - 1, 0], False),
        ("double_top(s, x, 5)", lambda e: [-e - 1, e, -e - 1, -e, -e - 1], False),
        ("steady(s, x, 5)", lambda e: [-e, e], False),
        ("jump(s, x, 5)", lambda e: [-e, e], True),
        ("gain(s, s, x, 100)", lambda e: [-e, -1], False),
        ("gain(s, s, x, 100)", lambda e: [-e, 0], True),
        ("drawdown(s, x, 100)", lambda e: [-(e // 2), -(e // 2) * 2], True),
        ("drawdown(s, x, 100)", lambda e: [-(e // 2), -(e // 2) * 2 + 1], False),
        ("spike(s, x, 3)", lambda e: [e // 3, e // 3 * 3, e // 3], True),
        ("spike(s, x, 3)", lambda e: [e // 3, e // 3 * 3 - 1, e // 3], False),
    ],
)
def test_a_pattern_compares_exactly_up_to_the_edge_of_integers(
    type_: str, edge: int, pattern: str, xs: Callable[[int], list[int]], matches: bool
) -> None:
    assert bool(at_the_edge(type_, "COUNT(*) AS n", pattern, xs(edge))) == matches


@pytest.mark.parametrize(("type_", "edge"), EDGE)
@pytest.mark.parametrize(
    ("call", "xs", "value"),
    [
        ("percent_change(FIRST(v).x, LAST(v).x)", lambda e: [-e, e], 200.0),
        ("percent_change(FIRST(v).x, LAST(v).x)", lambda e: [-e - 1, 0], 100.0),
        ("percent_change(FIRST(v).x, LAST(v).x)", lambda _: [100, 107], 7.0),
        ("percent_apart(FIRST(v).x, LAST(v).x)", lambda e: [-e - 1, e], 200.0),
        ("percent_growth(v, x)", lambda e: [-e - 1, e], 200.0),
        ("percent_growth(v, x)", lambda _: [100, 107], 7.0),
    ],
)
def test_percent_of_integers_are_doubles_up_to_their_edge(
    type_: str, edge: int, call: str, xs: Callable[[int], list[int]], value: float
) -> None:
    assert [row["p"] for row in at_the_edge(type_, f"{call} AS p", "s{2} v", xs(edge))] == [pytest.approx(value)]


def test_percent_of_decimals_are_exact() -> None:
    calls = [f"percent_{of}(CAST(0.1 AS DECIMAL(9, 4)), CAST(0.105 AS DECIMAL(9, 4)))" for of in ("change", "apart")]
    (row,) = at_the_edge("INT", ", ".join(f"{c} AS c{i}" for i, c in enumerate(calls)), "s", [0])
    assert row["c0"] == Decimal(5)
    assert row["c1"].quantize(Decimal("1e-8")) == Decimal("4.76190476")


# ---- cepc doc


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, ["doc", *arguments])


def test_doc_lists_the_modules() -> None:
    result = run()
    modules, _, hint = result.stdout.rpartition("\n\n")
    assert [line.split()[0] for line in modules.splitlines()] == list(MODULES)
    assert hint == "`cepc doc std.shapes` shows one of them, `IMPORT std.shapes;` brings it into a program.\n"
    assert run("std").stdout == result.stdout
    assert "std.shapes       how a column moves over a run of events\n" in result.stdout


@pytest.mark.parametrize("name", ["std.sessions", "sessions"])
def test_doc_shows_what_a_module_declares(name: str) -> None:
    result = run(name)
    assert result.stdout.startswith("std.sessions: events that follow each other closely")
    assert (
        """
pause(T, at, seconds)
    A pause of more than `seconds`, from the event before it to the event after it.

    PATTERN pause(T, at, seconds) AS SEQ(T earlier, NOT T between, T later)
      WHERE seconds_between(earlier.at, later.at) > seconds;
"""
        in result.stdout
    )


def test_doc_says_what_comes_along() -> None:
    assert "\nBrings along std.shapes.\n" in run("std.finance").stdout


def test_doc_shows_a_file_of_one_s_own(tmp_path: Path) -> None:
    mine = tmp_path / "mine.cep"
    mine.write_text(
        "-- Ours.\n\nIMPORT std.time;\n\n/* late\n * at night */\nPATTERN late(T, at) AS at_night(T, at);\n"
        "PATTERN plain AS SEQ(A, B); -- no\n"
    )
    assert (
        run(str(mine)).stdout
        == """\
Ours.

Brings along std.time.

late(T, at)
    late
    at night

    PATTERN late(T, at) AS at_night(T, at);

plain
    PATTERN plain AS SEQ(A, B);
"""
    )
    mine.write_text("PATTERN AS A;")
    result = run(str(mine))
    assert result.exit_code == 1
    assert "error[E0" in result.stderr
    assert run(str(tmp_path / "none.cep")).exit_code == 2


@pytest.mark.parametrize("name", ["gain", "finance.gain", "std.finance.gain"])
def test_doc_shows_one_name_of_a_module(name: str) -> None:
    shown = run(name).stdout
    assert shown.startswith("gain(Buy, Sell, price, percent)\n    Bought, and sold")
    assert shown.endswith("percent;\n\nIt comes with `IMPORT std.finance;`.\n")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("std.sesions", "did you mean `std.sessions`?"),
        ("v_shap", "did you mean `v_shape`?"),
        ("std.shapes.v_shap", "did you mean `v_shape`?"),
        ("std.time.gain", "the modules are std.finance, "),
    ],
)
def test_doc_knows_near_names(name: str, near: str) -> None:
    result = run(name)
    assert result.exit_code == 2
    assert f"there is no module `{name}`, and none declares it; {near}" in result.stderr
