"""Every example: its program is clean and laid out, its generator is seeded and tells the truth, and it runs."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import cepc
from cepc.cli import cepc as command
from cepc.planning import plan_program
from cepc_grammar.formatter import format_source
from cepc_grammar.parser import parse
from cepc_grammar.source import Source
from cepc_runtime.sql.types import to_arrow
from tests import oracle
from tests.equivalence import same

EXAMPLES = Path(__file__).parent.parent / "examples"
NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/queries.cep"))
EVENTS = 6_000

# The queries that find something in a small sample, of each example all.
QUERIES = {
    "data_centre_alerts": ["unacknowledged", "round_trips", "probing", "neglected"],
    "e_commerce": ["q8", "q9", "q10", "q11"],
    "food_delivery": ["requested", "ordered", "cancelled", "rounds"],
    "ride_hailing": ["q1", "q2", "q3", "q4", "q5", "q6", "q7"],
    "stock_monitoring": ["rotation", "accumulation", "momentum", "insight", "climb"],
}


def program(name: str) -> Path:
    return EXAMPLES / name / "queries.cep"


def generate(name: str, events: int, seed: int = 1) -> pa.Table:
    spec = importlib.util.spec_from_file_location(f"generate_{name}", EXAMPLES / name / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    table: pa.Table = module.generate(events, seed)
    return table


def test_all_examples_are_here() -> None:
    assert list(QUERIES) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_program_is_clean(name: str) -> None:
    checked = cepc.compile(program(name))
    assert checked.warnings == (), str(checked)
    assert list(checked.queries) == QUERIES[name]
    assert len(plan_program(checked.program).plans) == 1


@pytest.mark.parametrize("name", NAMES)
def test_a_program_is_laid_out(name: str) -> None:
    text = program(name).read_text(encoding="utf-8")
    assert format_source(Source("queries.cep", text)) == text


@pytest.mark.parametrize("name", NAMES)
def test_a_program_says_what_it_is_about(name: str) -> None:
    assert program(name).read_text(encoding="utf-8").startswith("-- ")


@pytest.mark.parametrize("name", NAMES)
def test_a_program_passes_its_own_tests(name: str) -> None:
    result = CliRunner().invoke(command, ["test", str(program(name))])
    assert result.exit_code == 0, result.output
    assert result.stdout.count("ok    ") >= 2


@pytest.mark.parametrize("name", NAMES)
def test_events_are_what_the_stream_declares_in_any_number_and_the_same_for_a_seed(name: str) -> None:
    (stream,) = cepc.compile(program(name)).program.streams
    for events in (0, 1, 7, 1000):
        table = generate(name, events)
        assert table.num_rows == events
        assert table.column_names == [column for column, _ in stream.columns]
        times = table.column(stream.time.column)
        assert times.to_pylist() == sorted(times.to_pylist())
    for column, type_ in stream.columns:
        found, declared = table.schema.field(column).type, to_arrow(type_)
        assert found == declared or (pa.types.is_timestamp(found) and found.tz == "UTC"), column
    assert generate(name, 1000).equals(table)
    assert not generate(name, 1000, 2).equals(table)
    if stream.types is not None:
        assert set(table.column(stream.type_column).to_pylist()) - {None} <= set(stream.types)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_runs_and_every_query_finds_something(name: str, tmp_path: Path) -> None:
    path = tmp_path / "out" / "events.parquet"  # in a folder that is not there yet
    command_line = [
        sys.executable,
        str(EXAMPLES / name / "generate.py"),
        str(path),
        "--events",
        str(EVENTS),
        "--seed",
        "3",
    ]
    subprocess.run(command_line, check=True, timeout=120)
    assert pq.read_table(path).equals(generate(name, EVENTS, 3))
    result = CliRunner().invoke(command, ["run", str(program(name)), "--events", str(path)])
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    found: dict[str, Any] = {query: [row for row in rows if row["query"] == query] for query in QUERIES[name]}
    assert {query: len(rows) > 0 for query, rows in found.items()} == dict.fromkeys(QUERIES[name], True)
    assert result.stderr.startswith(f"{EVENTS:,} events read from 1 file")


# Few events in few groups: the oracle enumerates all that could be a match.
SMALL = {
    "data_centre_alerts": 3000,
    "e_commerce": 200,
    "food_delivery": 200,
    "ride_hailing": 150,
    "stock_monitoring": 1500,
}


@pytest.mark.parametrize("name", NAMES)
def test_the_rows_are_those_of_the_oracle(name: str) -> None:
    text = program(name).read_text(encoding="utf-8")
    table = generate(name, SMALL[name])
    expected = oracle.evaluate(parse(Source("queries.cep", text)).program, table.to_pylist())
    found = cepc.compile(text).run(table)
    assert sum(map(len, expected.values())) > 0
    for query, rows in expected.items():
        assert same(found[query].to_pylist(), rows), query


def test_the_readme_shows_what_make_demo_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where this fails and the rows are right, run `make demo` and put what it prints into the README."""
    readme = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    lines = readme.split("```console\n")[1].split("\n```")[0].splitlines()
    commands = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    recipe = (EXAMPLES.parent / "Makefile").read_text(encoding="utf-8").replace("$(EXAMPLE)", "examples/food_delivery")
    assert all(f"\t$(RUN) {line}\n" in recipe for line in commands)
    monkeypatch.chdir(tmp_path)
    Path("out").mkdir()
    Path("examples").symlink_to(EXAMPLES)
    generating, running = (line.split() for line in commands)
    subprocess.run([sys.executable, *generating[1:]], check=True, timeout=120)
    result = CliRunner().invoke(command, running[1:])
    assert [*result.stdout.splitlines(), *result.stderr.splitlines()] == lines[2:]
    assert len(lines) <= 30
