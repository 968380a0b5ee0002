"""Where a program meets Spark from Python: whose session, whose workers, what may be given as events, and no Spark."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import cepc
from cepc.cli import cepc as command
from cepc.java import spark_environment
from cepc.running.session import with_runtime
from tests.equivalence import ABOUT, same
from tests.spark_programs import rows_of
from tests.test_spark_job import EVENTS, PROGRAM, write_parquet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# ---- a machine without Spark -----------------------------------------------------------------------------------------


@pytest.fixture
def without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pyspark", "pandas", "google.protobuf"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.usefixtures("without_spark")
def test_what_needs_spark_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "p.cep").write_text(PROGRAM)
    events = write_parquet(tmp_path / "e.parquet", EVENTS)
    done = CliRunner().invoke(command, ["run", str(tmp_path / "p.cep"), "--events", str(events), "--engine", "spark"])
    assert done.exit_code == 1
    assert "Spark is not installed here: `pip install 'cepc[spark]'` brings pyspark" in done.stderr
    for wanting in (cepc.spark_session, lambda: cepc.compile(PROGRAM).spark("orders")):
        with pytest.raises(cepc.RunError, match=r"pip install 'cepc\[spark\]'"):
            wanting()


BLOCKED = """import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pyspark", "py4j", "pandas", "google"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
from cepc.cli import main
main()
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "p.cep", "--events", "e.parquet"],
        ["run", "p.cep", "--events", "e.parquet", "--report", "run.html"],
        ["why", "p.cep", "--query", "rises", "--events", "e.parquet"],
        ["compile", "p.cep", "--bundle", "job"],
        ["explain", "p.cep", "-o", "page.html"],
        ["analyze", "p.cep", "--events", "e.parquet", "-o", "statistics.json"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_all_else_runs_without_spark_and_pandas(arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "p.cep").write_text(PROGRAM)
    write_parquet(tmp_path / "e.parquet", EVENTS)
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


# ---- whose workers ---------------------------------------------------------------------------------------------------


@dataclass
class Context:
    """What is asked of Spark's own context."""

    pythonExec: str  # noqa: N815 - its name there
    master: str = "local[2]"
    settings: dict[str, str] = field(default_factory=dict)
    sent: list[str] = field(default_factory=list)

    def getConf(self) -> dict[str, str]:  # noqa: N802
        return self.settings

    def addPyFile(self, path: str) -> None:  # noqa: N802
        self.sent.append(Path(path).name)


@dataclass
class Session:
    sparkContext: Context  # noqa: N815


@pytest.mark.parametrize(
    ("context", "chosen", "meanwhile", "sent"),
    [
        (Context("python3"), {}, sys.executable, []),
        (Context(sys.executable), {}, sys.executable, []),
        (Context("other"), {"PYSPARK_PYTHON": "other"}, "other", ["cepc_runtime.zip"]),
        (Context("other", settings={"spark.pyspark.python": "other"}), {}, "other", ["cepc_runtime.zip"]),
        (Context("python3", master="spark://there:7077"), {}, "python3", ["cepc_runtime.zip"]),
        (Context(sys.executable, master="yarn"), {}, sys.executable, ["cepc_runtime.zip"]),
    ],
    ids=["nobody chose", "this one", "the user chose", "the session says", "a cluster", "a cluster, the same path"],
)
def test_workers_run_this_python_or_get_the_runtime(
    context: Context, chosen: dict[str, str], meanwhile: str, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    for name, value in chosen.items():
        monkeypatch.setenv(name, value)
    before = context.pythonExec
    with with_runtime(Session(context)):
        assert context.pythonExec == meanwhile
    assert context.pythonExec == before
    assert context.sent == sent


SCRIPT = """import json, sys
import cepc
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
program, events = sys.argv[1:]
found = cepc.compile(program).spark(spark.read.parquet(events))
print(json.dumps({query: [row.asDict() for row in rows.collect()] for query, rows in found.items()}))
"""


@pytest.mark.long
@pytest.mark.parametrize("python", ["not chosen", "without cepc"])
def test_a_script_with_a_session_of_its_own_gets_rows(python: str, tmp_path: Path) -> None:
    """Nothing is activated, and `python3` of the PATH has none of our packages; or the workers' Python has all but
    cepc.
    """
    (tmp_path / "p.cep").write_text(PROGRAM)
    events = write_parquet(tmp_path / "e.parquet", EVENTS)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYSPARK", "SPARK"))}
    env |= {"JAVA_HOME": spark_environment()["JAVA_HOME"], "SPARK_LOCAL_IP": "127.0.0.1", "TZ": "America/New_York"}
    env["SPARK_SUBMIT_OPTS"] = os.environ["SPARK_SUBMIT_OPTS"]
    env["PATH"] = os.pathsep.join(p for p in env["PATH"].split(os.pathsep) if not p.startswith(sys.prefix))
    if python == "without cepc":
        other = tmp_path / "python"
        other.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -S {tmp_path}/only.py "$@"\n')
        (tmp_path / "only.py").write_text(
            ONLY.format(packages=next(p for p in sys.path if p.endswith("site-packages")))
        )
        other.chmod(0o755)
        env["PYSPARK_PYTHON"] = str(other)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "p.cep"), str(events)],
        env=env, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    for query, rows in cepc.compile(PROGRAM).run(events).items():
        assert same(json.loads(done.stdout)[query], rows.to_pylist(), ABOUT), query


ONLY = """# A Python with the packages of this one, but for cepc's, which is found by a .pth file that -S leaves out.
import runpy, sys
sys.path.append({packages!r})
assert sys.argv[1] == "-m", sys.argv
sys.argv = sys.argv[2:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


# ---- what may be given -----------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_table_a_path_and_the_session_itself_do_what_they_say(spark: SparkSession, tmp_path: Path) -> None:
    events = write_parquet(tmp_path / "e.parquet", EVENTS)
    expected = cepc.compile(PROGRAM).run(events)["pairs"].to_pylist()
    assert expected
    spark.read.parquet(str(events)).createOrReplaceTempView("cepc_pairs")
    declared = PROGRAM.replace("EVENT TYPE kind;", f"EVENT TYPE kind FROM PARQUET '{events}';")
    compiled = cepc.compile(PROGRAM)
    for found in (
        compiled.spark("cepc_pairs", session=spark),
        compiled.spark({"s": events}, session=spark),
        cepc.compile(declared).spark(spark),
    ):
        assert same(rows_of(found["pairs"]), expected)


class LazyFrame:
    """As polars has it, without Arrow's interface."""


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda c, frame: c.run(frame), TypeError, r"`compiled\.spark\(events\)` .* `compiled\.run\(events\.toArrow\(\)\)`"),
        (lambda c, _: c.run(LazyFrame()), TypeError, r"not LazyFrame: `compiled\.run\(events\.collect\(\)\)` has polars"),
        (lambda c, _: c.spark([1, 2]), TypeError, r"not list: .* `spark\.createDataFrame\(events\)` makes one"),
        (lambda c, _: c.spark("no_such_table"), cepc.RunError, "no_such_table"),
        (lambda c, frame: c.spark({"t": frame}), ValueError, "no query reads a stream `t`; there are s"),
        (lambda c, frame: c.spark(frame.sparkSession), cepc.RunError, "it is not declared with FROM"),
    ],
    ids=["run a DataFrame", "what polars has not computed", "a list", "no table", "no stream", "a session without FROM"],
)  # fmt: skip
def test_what_cannot_be_events_is_said(spark: SparkSession, call: Any, error: type[Exception], said: str) -> None:
    frame = spark.sql("SELECT 1L AS at, 'A' AS kind, 'x' AS k, 1 AS x")
    with pytest.raises(error, match=said):
        call(cepc.compile(PROGRAM), frame)


# ---- what a prompt and a notebook show -------------------------------------------------------------------------------


def test_a_compiled_program_shows_its_queries_and_what_they_share() -> None:
    compiled = cepc.compile(Path("examples/food_delivery/queries.cep"))
    lines = repr(compiled).splitlines()
    assert lines[0] == "4 queries"
    assert lines[1] == (
        "  requested  SEQ(Request, SEQ(Pickup, Travel)+, Delivery)            20 minutes long, a new one every 5 minutes"
    )
    assert lines[5:7] == [
        "  kept once: ordered, cancelled: AppOrder, Request, Pickup, Travel",
        "  side by side: requested, ordered, cancelled, rounds: start",
    ]
    page = compiled._repr_html_()
    assert page.count("<tr>") == 5
    assert "data:image/svg+xml;base64," in page


def test_many_queries_are_not_planned_for_a_prompt() -> None:
    stream = "STREAM s (at BIGINT, kind STRING) EVENT TIME at UNIT s EVENT TYPE kind IN ('A', 'B');\n"
    query = "QUERY q{} RETURN COUNT(*) AS n PATTERN SEQ(A, B) WITHIN {} s;\n"
    compiled = cepc.compile(stream + "".join(query.format(i, i + 1) for i in range(21)))
    assert repr(compiled).splitlines()[0] == "21 queries, the first 20"
    assert len(repr(compiled).splitlines()) == 21
    assert "<img" not in compiled._repr_html_()


def test_the_version_and_the_types_are_exported() -> None:
    assert cepc.__version__ == "0.1.0"
    assert isinstance(cepc.compile(PROGRAM), cepc.Compiled)
    assert isinstance(cepc.check(PROGRAM), cepc.Checked)
    with pytest.raises(AttributeError, match="`cepc` has no attribute `nothing`"):
        cepc.nothing  # noqa: B018
