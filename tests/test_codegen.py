"""Generated jobs as texts: what they look like, that equal programs give equal bytes, and that no program can write
code.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from pyspark.sql.types import StructType

from cepc.api import check_text
from cepc.cli import cepc
from cepc.codegen.bundle import runtime_archive, write_bundle
from cepc.codegen.compiling import job_of
from cepc.codegen.python import comment, identifier, string
from cepc.codegen.stream_job import stream_job
from cepc.errors import ProgramError
from cepc.passes.strategy import strategy
from cepc.planning import plan_program
from cepc.shared_plans import Options, plan_shared
from cepc.statistics import Statistics
from cepc.statistics.statistics import Grouping
from cepc_runtime.plan import as_json as plan_data
from cepc_runtime.spark.encoding import needs_encoding
from cepc_runtime.spark.inputs import inputs_of
from cepc_runtime.spark.schema import Stream
from cepc_runtime.sql.types import quote_name
from tests.equivalence import Refused, compile_text
from tests.programs import Case, cases, drawn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cepc import model
    from cepc.codegen import GeneratedJob
    from cepc_runtime.parts.classes import Class

GOLDEN = Path(__file__).parent / "golden_jobs"
EXAMPLES = Path(__file__).parent.parent / "examples"
PROGRAMS = sorted(GOLDEN.glob("*.cep"))
EXAMPLE_PROGRAMS = sorted(EXAMPLES.glob("*/queries.cep"))


def job(text: str, name: str = "program.cep") -> GeneratedJob:
    checked = check_text(text, name)
    assert checked.program is not None, checked.text()
    return job_of(checked.program, checked.sources)


def golden(path: Path) -> str:
    """The job without the version, which changes with every release."""
    return job(path.read_text(encoding="utf-8"), path.name).text.replace(_version_line(path), "# Made by cepc.", 1)


def _version_line(path: Path) -> str:
    text = job(path.read_text(encoding="utf-8"), path.name).text
    return next(line for line in text.splitlines() if line.startswith("# Made by cepc"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_a_job_is_as_reviewed(path: Path) -> None:
    recorded = path.with_suffix(".py.txt")
    if os.environ.get("UPDATE_GOLDEN") == "1":
        recorded.write_text(golden(path), encoding="utf-8")
    assert golden(path) == recorded.read_text(encoding="utf-8"), "UPDATE_GOLDEN=1 records the new jobs"


def test_a_job_has_the_same_bytes_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = "IMPORT 'lib/legs.cep';\nQUERY q RETURN MATCH * PATTERN leg WITHIN 9 s;\n"
    stream = "STREAM s (at BIGINT, kind STRING) EVENT TIME at UNIT s EVENT TYPE kind;\n"
    jobs = []
    for folder, here, name in (("one", "one", "p.cep"), ("two/three", ".", "two/three/p.cep"), ("four", ".", None)):
        own = tmp_path / folder
        (own / "lib").mkdir(parents=True)
        (own / "p.cep").write_text(stream + program)
        (own / "lib" / "legs.cep").write_text("PATTERN leg AS SEQ(A a, B b);\n")
        monkeypatch.chdir(tmp_path / here)
        done = CliRunner().invoke(cepc, ["compile", name or str(own / "p.cep"), "-o", str(tmp_path / "job.py")])
        assert done.exit_code == 0, done.output
        jobs.append((tmp_path / "job.py").read_bytes())
    assert jobs[0] == jobs[1] == jobs[2]
    assert b"program  p.cep" in jobs[0]
    assert b"program  lib/legs.cep" in jobs[0]
    assert str(tmp_path).encode() not in jobs[0]


def test_groups_are_cut_in_time_where_statistics_say_that_one_is_large() -> None:
    text = """STREAM s (at TIMESTAMP, kind STRING, g STRING, x INT) EVENT TIME at EVENT TYPE kind;
QUERY counted RETURN g, COUNT(*) AS n PATTERN SEQ(A, B) GROUP BY g WITHIN 10 MINUTES SLIDE 5 MINUTES;
QUERY whole RETURN g, COUNT(*) AS n PATTERN SEQ(A, B) GROUP BY g WITHIN UNBOUNDED;
QUERY other RETURN x, COUNT(*) AS n PATTERN SEQ(A, B) GROUP BY x WITHIN 10 MINUTES SLIDE 5 MINUTES;
QUERY listed RETURN a.at AS since PATTERN SEQ(A a, B) WHERE [g] WITHIN 10 MINUTES;"""
    program, plan = compile_text(text).program, compile_text(text).logical

    def cut(largest: float | None) -> list[Class]:
        known = Statistics(groupings={("g",): Grouping(largest=largest)})
        classes = stream_job(program.stream("s"), plan, known).classes
        return [one for one in classes if one.segments]

    assert cut(None) == cut(1 / 20) == []
    assert [(one.keys, one.queries) for one in cut(1 / 16)] == [(("g",), (0,))]
    options = Options(statistics={"s": Statistics(groupings={("g",): Grouping(largest=0.5)})})
    assert "Some groups have so many events" in job_of(program, {}, options).text


def test_groups_that_can_match_are_found_first_where_statistics_say_that_they_are_few() -> None:
    text = """STREAM s (at TIMESTAMP, kind STRING, g STRING, h STRING, x INT) EVENT TIME at EVENT TYPE kind;
QUERY counted RETURN g, COUNT(*) AS n PATTERN SEQ(A, B) GROUP BY g WITHIN 10 MINUTES SLIDE 5 MINUTES;
QUERY listed RETURN MATCH g PATTERN SEQ(A, C c) WHERE [g] AND c.x > 3 WITHIN 10 MINUTES;
QUERY apart RETURN MATCH h PATTERN SEQ(A, B) WHERE [h] WITHIN 10 MINUTES;
QUERY whole RETURN COUNT(*) AS n PATTERN SEQ(A, B) WITHIN 10 MINUTES;"""
    program = compile_text(text).program

    def able(groups: float | None, **within: Mapping[str, float]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
        known = Statistics(groupings={("g",): Grouping(groups=groups, in_groups_with=within)})
        (plan,) = plan_shared(program, Options(1, statistics={"s": known})).plans
        classes = stream_job(program.stream("s"), plan, known).classes
        return [(one.keys, tuple(plan.letters[i].raw_type or "" for i in one.able)) for one in classes if one.able]

    assert able(None) == []
    assert able(None, B={"": 0.1}) == []  # which of the groups the other query needs is not known
    assert able(None, B={"": 0.1}, C={"": 0.9, "x > 3": 0.05}) == [(("g",), ("B", "C"))]
    assert able(None, A={"": 0.02}, B={"": 0.1}, C={"": 0.1}) == [(("g",), ("A",))]
    assert able(None, B={"": 0.15}, C={"": 0.15}) == []
    assert able(1e9, B={"": 0.1}, C={"": 0.05}) == []
    known = Statistics(groupings={("g",): Grouping(in_groups_with={"A": {"": 0.1}})})
    assert "they are found first" in job_of(program, {}, Options(statistics={"s": known})).text


@pytest.mark.parametrize("path", EXAMPLE_PROGRAMS, ids=lambda p: p.parent.name)
def test_the_job_beside_an_example_is_what_the_compiler_makes_of_it(path: Path) -> None:
    recorded, made = path.with_name("job.py"), job(path.read_text(encoding="utf-8"), path.name).text
    if os.environ.get("UPDATE_GOLDEN") == "1":
        recorded.write_text(made, encoding="utf-8")
    assert recorded.read_text(encoding="utf-8") == made, "UPDATE_GOLDEN=1 records the new jobs"


@pytest.mark.parametrize("path", [*PROGRAMS, *EXAMPLE_PROGRAMS], ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_a_job_is_formatted(path: Path) -> None:
    formatted = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", "120", "-"],
        input=golden(path), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert formatted.stdout == golden(path)


@pytest.mark.long
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_equal_programs_give_equal_bytes_whatever_the_hash_seed(path: Path) -> None:
    made = {
        subprocess.run(
            [sys.executable, "-m", "cepc", "compile", path.name],
            cwd=GOLDEN, capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert made == {job(path.read_text(encoding="utf-8"), path.name).text.encode()}


@given(drawn(cases(size=2)))
def test_every_job_is_python_and_carries_its_plan(case: Case) -> None:
    try:
        plan = compile_text(case.text).plan
    except Refused:
        return
    assert plan_data.from_text_of_plan(plan_data.to_text(plan)) == plan
    compile(job(case.text).text, "job", "exec")


def test_a_plan_of_another_format_is_refused() -> None:
    (plan,) = plan_program(_checked(PROGRAMS[0].read_text(encoding="utf-8"))).plans
    data = json.loads(plan_data.to_text(strategy(plan, "batch"))) | {"version": 0}
    with pytest.raises(plan_data.PlanVersionError, match="compile the job again"):
        plan_data.from_data(data)


def _checked(text: str) -> model.CheckedProgram:
    program = check_text(text).program
    assert program is not None
    return program


# ---- what a program's text can do ------------------------------------------------------------------------------------

HOSTILE = (
    '"""\nimport os; os.abort()\n"""',
    "x'); import os; os.abort(); ('",
    'x"); import os; os.abort(); ("',
    "\\",
    "a\rimport os",
    "a\u2028b\x0c\x85c",
    "#{0}%s{__import__('os')}",
    "\u202eevil\u202c",
    "'''",
    "*/ -- ${x}",
    "x`; DROP TABLE t; --",
)


def escaped(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


@pytest.mark.parametrize("evil", HOSTILE)
def test_names_strings_and_comments_never_become_code(evil: str) -> None:
    flat = evil.replace("\n", " ").replace("\r", " ")
    text = f"""/* {evil.replace("*/", "")} */
STREAM {quote_name(flat)} (at TIMESTAMP, {quote_name("c" + flat)} STRING, {quote_name("k" + flat)} STRING)
EVENT TIME at EVENT TYPE {quote_name("k" + flat)} IN ({escaped(evil)}, 'B') FROM PARQUET {escaped(evil)};
QUERY {quote_name("q" + flat)} WITH (whose = {escaped(evil)}) RETURN COUNT(*) AS {quote_name("n" + flat)} PATTERN SEQ({quote_name(evil)} a, B b)
WHERE a.{quote_name("c" + flat)} = {escaped(evil)} GROUP BY {quote_name("c" + flat)} WITHIN 5 s;
"""
    checked = check_text(text, f"{evil}.cep")
    if checked.program is None:  # a name that the language itself refuses
        pytest.skip(checked.errors[0].title)
    c = "`c.`" if needs_encoding([flat]) else "c"
    tame = job(
        f"STREAM s (at TIMESTAMP, {c} STRING, k STRING) EVENT TIME at EVENT TYPE k IN ('A', 'B') FROM PARQUET 'p';"
        f"QUERY q WITH (whose = 'p') RETURN COUNT(*) AS n PATTERN SEQ(A a, B b) WHERE a.{c} = 'A' GROUP BY {c} WITHIN 5 s;"
    )
    made = job_of(checked.program, checked.sources)
    assert shape(made.text) == shape(tame.text)
    assert "\u202e" not in made.text


def shape(text: str) -> list[str]:
    """Which kinds of syntax nodes the module has, in order: the same whatever the names and strings."""
    return [type(node).__name__ for node in ast.walk(ast.parse(text))]


@pytest.mark.parametrize("evil", HOSTILE)
def test_a_string_stays_a_string_and_a_comment_a_comment(evil: str) -> None:
    literal = string(evil).text
    assert ast.literal_eval(literal) == evil
    assert len(literal.splitlines()) == 1
    assert ast.parse(comment(evil)).body == []
    assert f"{identifier(evil)}_x".isidentifier()


def test_the_head_of_a_job_has_the_labels_of_a_query() -> None:
    text = job(
        "STREAM s (at TIMESTAMP, k STRING) EVENT TIME at EVENT TYPE k IN ('A', 'B');"
        "QUERY q WITH (severity = 'high', owner = 'it''s us') RETURN COUNT(*) AS n PATTERN SEQ(A, B) WITHIN 5 s;"
    ).text
    assert "#     labels   severity = 'high', owner = 'it\\'s us'\n" in text


def test_names_that_make_the_same_identifier_stay_apart() -> None:
    streams = "".join(
        f"STREAM `{name}` (at TIMESTAMP, k STRING) EVENT TIME at EVENT TYPE k;"
        f"QUERY `q{i}` RETURN COUNT(*) AS n PATTERN SEQ(A, B) FROM `{name}` WITHIN 5 s;"
        for i, name in enumerate(("a b", "a-b", "f", "é"))
    )
    text = job(streams).text
    for name in ("def a_b_rows", "def a_b_2_rows", "def f_2_rows"):
        assert text.count(name) == 1
    compile(text, "job", "exec")


@pytest.mark.parametrize("column", ["_class", "_bucket", "_Letters_0", "_cepc_time"])
def test_a_column_that_the_job_needs_for_itself_is_refused(column: str) -> None:
    with pytest.raises(ProgramError, match="E0806"):
        job(
            f"STREAM s (at TIMESTAMP, {column} INT) EVENT TIME at;"
            "QUERY q RETURN COUNT(*) AS n PATTERN SEQ(s a, s b) WITHIN 5 s;"
        )


# ---- the command line of a job: what is said before Spark starts -----------------------------------------------------


def run_job(name: str, *arguments: str) -> int:
    namespace: dict[str, Any] = {"__name__": "job"}
    exec(compile(job((GOLDEN / f"{name}.cep").read_text(encoding="utf-8")).text, "job", "exec"), namespace)
    with pytest.raises(SystemExit) as ended:
        namespace["main"](list(arguments))
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_help_names_the_queries_and_the_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_job("rides", "--help") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Queries: delivered, slow_legs. Events: rides: parquet data/rides." in said
    for option in ("--input", "--format", "--option", "--output", "--output-format", "--mode", "--queries"):
        assert option in said


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("alerts", [], "--input is missing: stream readings is not declared with FROM"),
        ("rides", ["--queries", "delivered,slow"], "there is no query slow; there are delivered, slow_legs"),
        (
            "rides",
            ["--queries", "delivered,"],
            "--queries has a comma that no name follows; there are delivered, slow_legs",
        ),
        ("rides", ["--queries", ""], "--queries names no query; there are delivered, slow_legs"),
        ("trades", ["--input", "data"], "the queries read several streams: write --input trades=data"),
        ("rides", ["--input", "a", "--input", "b"], "--input names the events of rides twice"),
        (
            "trades",
            ["--input", "trades=a", "--input", "new=in1/news"],
            "--input new=in1/news: there is no stream new; the streams are trades and news",
        ),
        (
            "rides",
            ["--input", "rides=a", "--input", "trips=in1/trips"],
            "--input trips=in1/trips: there is no stream trips; the only one is rides, which has one --input",
        ),
        (
            "trades",
            ["--queries", "any_two", "--input", "trades=a", "--input", "news=in1/news"],
            "--input news=in1/news: the queries of this run read no events of stream news; leave it out",
        ),
        (
            "trades",
            ["--queries", "any_two", "--input", "news=in1/news"],
            "--input news=in1/news: the queries of this run read no events of stream news; leave it out",
        ),
        (
            "trades",
            ["--queries", "any_two", "--input", "trades=a", "--input", "new=b"],
            "--input new=b: there is no stream new; the only one of this run is trades, which has one --input",
        ),
        (
            "trades",
            ["--input", "trades=a", "--input", "b/day=1"],
            "the queries read several streams: write --input trades=b/day=1",
        ),
        ("trades", ["--input", "day=1"], "the queries read several streams: write --input trades=day=1"),
        ("rides", ["--input", "a/day=1", "--input", "a/day=2"], "--input names the events of rides twice"),
        ("rides", ["--option", "header"], "write KEY=VALUE instead of header"),
    ],
)
def test_a_wrong_command_ends_with_2(
    name: str, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_job(name, *arguments) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "wanted", "found"),
    [
        (["day=1"], "one", {"one": "day=1"}),
        (["a/day=1"], "one", {"one": "a/day=1"}),
        (["one=day=1"], "one", {"one": "day=1"}),
        (["one=a", "two=day=1"], "one two", {"one": "a", "two": "day=1"}),
    ],
)
def test_a_path_may_have_an_equals_sign_in_it(given: list[str], wanted: str, found: dict[str, str]) -> None:
    streams = [Stream(name, StructType(), (), None, (f"of_{name}",)) for name in ("one", "two")]
    run = [f"of_{name}" for name in wanted.split()]
    assert inputs_of(given, streams, run, without=False) == found


# ---- bundles ---------------------------------------------------------------------------------------------------------


def test_the_archive_holds_the_runtime_and_equal_runtimes_make_equal_bytes() -> None:
    archive = runtime_archive()
    assert archive == runtime_archive()
    names = zipfile.ZipFile(BytesIO(archive)).namelist()
    assert "cepc_runtime/spark/job.py" in names
    assert not [n for n in names if not n.startswith("cepc_runtime/") or "__pycache__" in n]


def test_a_bundle_has_the_plan_of_each_stream_to_be_read(tmp_path: Path) -> None:
    made = job((GOLDEN / "plain.cep").read_text())
    write_bundle(made, str(tmp_path))
    text = (tmp_path / "plan.json").read_text()
    plans = {name: plan_data.from_data(data) for name, data in json.loads(text).items()}
    assert tuple(plans.values()) == made.plans
    assert [query.name for plan in plans.values() for query in plan.queries] == list(made.queries)
    assert "plan.json" in (tmp_path / "README.md").read_text()


IN_ARCHIVE = """
import logging, sys
logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
import numpy as np
from cepc_runtime.kernel import scatter
from cepc_runtime.kernel.machine_code import machine_code
rows, places, planes = np.array([[0, 7, 9]]), np.zeros((7, 1), dtype=np.int64), np.zeros(1)
found = scatter.Scattered(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), planes)
machine_code(scatter)(rows, np.array([3.0]), scatter.ByQuery(*(places + [[1], [0], [0], [1], [1], [0], [0]])), found)
print([column.tolist() for column in found], "numba" in sys.modules)
"""


def _in_archive(folder: Path, kept: Path) -> str:
    """What a program says that uses machine code of an archive."""
    folder.mkdir()
    archive = folder / "cepc_runtime.zip"
    archive.write_bytes(runtime_archive())
    environment = {**os.environ, "PYTHONPATH": str(archive), "XDG_CACHE_HOME": str(kept)}
    environment.pop("CEPC_INTERPRETED", None)
    command = [sys.executable, "-c", IN_ARCHIVE]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120).stdout


def test_machine_code_of_an_archive_is_made_once(tmp_path: Path) -> None:
    """Spark gives the archive another place in every application."""
    first, second = (_in_archive(tmp_path / application, tmp_path / "kept") for application in ("app-1", "app-2"))
    assert first == f"translating cepc_runtime.kernel.scatter to machine code, once for this installation\n{ROW} True\n"
    assert second == f"{ROW} False\n"
    assert len(list((tmp_path / "kept").glob("cepc/kernel/cepc_runtime.kernel.scatter-*.o"))) == 1


def test_machine_code_is_not_kept_where_others_can_write(tmp_path: Path) -> None:
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    assert _in_archive(tmp_path / "app", open_to_all).endswith(f"{ROW} True\n")
    assert list(open_to_all.iterdir()) == []


ROW = "[[7], [9], [3.0]]"
