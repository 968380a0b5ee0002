"""What is compared: each side gets the folder of the events and one for its rows, and leaves a folder of CSV files for
each query.

A first run, of few queries on few events, starts processes and warms them; it does not count.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import venv
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench.comparison.by_hand import SHAPES
from bench.processors import Took

import cepc
from cepc.codegen.compiling import job_of
from cepc.writing.store import store
from cepc_runtime.spark.files import Files

if TYPE_CHECKING:
    from bench.comparison.queries import Query, Shape, Workload

Side = Callable[[Path, Path], None]
FLINK = "apache-flink==2.3.*"
ROOT = Path(__file__).parents[2]


# ---- cepc --------------------------------------------------------------------------------------------------------------


def local(workload: Workload) -> Side:
    """In this process, without Spark: reading, planning, matching, writing."""
    compiled = cepc.compile(workload.program())

    def run(events: Path, output: Path) -> None:
        tables = compiled.run(str(events / "with_header"))
        for query in workload.queries:
            store({query.name: tables[query.name].select(query.columns)}, str(output / query.name), "csv")

    return run


def job(spark: Any, workload: Workload, *, kernel: bool = True) -> Side:
    """The PySpark job that `cepc compile` writes; without the kernel its floor: scan, filter, shuffle, sort, Arrow, and
    sinks.
    """
    compiled = cepc.compile(workload.program())
    text = job_of(compiled.program, compiled.checked.sources).text
    namespace: dict[str, Any] = {"__name__": "job"}
    exec(compile(text if kernel else text.replace("job.kernel(", "empty("), "job", "exec"), namespace)
    namespace["empty"] = _empty

    def run(events: Path, output: Path) -> None:
        spark.catalog.clearCache()
        namespace["JOB"].write(spark, _read(spark, workload, events), None, None, Files(str(output), "csv"))

    return run


def _empty(_plan: Any, _classes: Any, _class_column: Any, _form: Any) -> Callable[[Any], Any]:
    """A kernel that reads its input and gives nothing."""

    def run(batches: Any) -> Any:
        for _ in batches:
            pass
        return iter(())

    return run


def _read(spark: Any, workload: Workload, events: Path) -> Any:
    schema = workload.stream[workload.stream.index("(") + 1 : workload.stream.index(")")]
    return spark.read.schema(schema).csv(str(events / "with_header"), header=True)


def _write(frame: Any, path: Path, by: tuple[str, ...] = ()) -> None:
    frame.write.partitionBy(*by).csv(str(path))


# ---- PySpark by hand -----------------------------------------------------------------------------------------------------

ROWS = "account BIGINT, first_at BIGINT, last_at BIGINT, n BIGINT"


def by_pandas(spark: Any, workload: Workload) -> Side:
    """applyInPandas for each account; one function finds the matches of all queries."""
    queries = [(q.name, SHAPES[q.shape or ""], q.numbers) for q in workload.queries]

    def group(frame: Any) -> Any:
        import pandas as pd

        frame = frame.sort_values("at")
        events = frame["at"].tolist(), frame["kind"].tolist(), frame["price"].tolist()
        account = frame["account"].iloc[0]
        rows = [(name, account, *found) for name, find, numbers in queries for found in find(events, *numbers)]
        return pd.DataFrame(rows, columns=["query", "account", "first_at", "last_at", "n"])

    def run(events: Path, output: Path) -> None:
        found = _read(spark, workload, events).groupBy("account").applyInPandas(group, f"query STRING, {ROWS}")
        _write(found, output, ("query",))

    return run


def by_lists(spark: Any, workload: Workload) -> Side:
    """groupBy and collect_list, then a Python UDF that finds the matches of all queries."""
    from pyspark.sql import functions as F  # noqa: N812

    queries = [(q.name, SHAPES[q.shape or ""], q.numbers) for q in workload.queries]

    @F.udf("array<struct<query: STRING, first_at: BIGINT, last_at: BIGINT, n: BIGINT>>")
    def matches(rows: Any) -> Any:
        events = tuple(zip(*sorted(rows), strict=True))
        return [(name, *found) for name, find, numbers in queries for found in find(events, *numbers)]

    def run(events: Path, output: Path) -> None:
        grouped = _read(spark, workload, events).groupBy("account")
        listed = grouped.agg(F.collect_list(F.struct("at", "kind", "price")).alias("events"))
        found = listed.select("account", F.explode(matches("events")).alias("found"))
        _write(found.select("found.query", "account", "found.first_at", "found.last_at", "found.n"), output, ("query",))

    return run


# ---- tables by hand ------------------------------------------------------------------------------------------------------

OVER_TABLES: Final[tuple[Shape, ...]] = ("followed", "burst")
"""The shapes that can be said over tables."""


def over_tables(
    python: str, module: str, workload: Workload, where: dict[str, Path], output: Path, rounds: int
) -> list[Took]:
    """What DuckDB or polars took in a process of its own after a first run on few events; the rows are in `output/0`."""
    asked = {
        "queries": [{"name": q.name, "shape": q.shape, "numbers": q.numbers} for q in workload.queries],
        "small": str(where["small"] / "with_header"),
        "events": str(where["events"] / "with_header"),
        "output": str(output),
        "rounds": rounds,
    }
    return [Took(**one) for one in _elsewhere(python, ["bench.comparison.by_tables", module], asked)]


# ---- Flink ---------------------------------------------------------------------------------------------------------------


def flink(folder: Path, workload: Workload, mode: str, where: dict[str, Path], rounds: int) -> dict[str, list[Took]]:
    """What its job and its floor took, in a process of its own after a first run on few events; the rows are in
    `output/0`.
    """
    asked = {
        "mode": mode,
        "table": workload.table,
        "where": workload.where,
        "queries": [{"name": q.name, "columns": q.columns, "flink": q.flink} for q in workload.queries],
        "small": str(where["small"] / mode),
        "events": str(where["events"] / mode),
        "output": str(where["output"]),
        "rounds": rounds,
    }
    answer = _elsewhere(str(installed(folder)), ["bench.comparison.flink"], asked)
    return {name: [Took(**one) for one in took] for name, took in answer.items()}


def _elsewhere(python: str, module: Sequence[str], asked: dict[str, Any]) -> Any:
    """What a module answers that another Python runs."""
    command, environment = [python, "-m", *module], {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, input=json.dumps(asked), text=True, stdout=subprocess.PIPE, env=environment, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def installed(folder: Path) -> Path:
    """The Python of Flink's environment, made on first use: some hundred megabytes are fetched."""
    python = folder / "bin" / "python"
    if not (folder / ".ready").exists():
        print(f"installing {FLINK} into {folder}", file=sys.stderr, flush=True)
        venv.create(folder, with_pip=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", FLINK], check=True)
        (folder / ".ready").touch()
    return python


# ---- the same matches ------------------------------------------------------------------------------------------------------


def rows(query: Query, output: Path) -> Counter[tuple[int, ...]]:
    """What a side found for a query, however it lays its files out."""
    found: Counter[tuple[int, ...]] = Counter()
    folders = [output / query.name, output / f"query={query.name}"]
    for path in (path for folder in folders for path in folder.rglob("*")):
        if path.is_file() and not path.name.startswith((".", "_")) and path.suffix != ".crc":
            with path.open(encoding="utf-8") as lines:
                found.update(_values(query, [line for line in csv.reader(lines) if line]))
    return found


def _values(query: Query, lines: Sequence[Sequence[str]]) -> Iterator[tuple[int, ...]]:
    """The query's columns in the lines of a file, which may have others if it names them in its first."""
    named = bool(lines) and lines[0][0].isalpha()
    places = [lines[0].index(column) if named else i for i, column in enumerate(query.columns)]
    return (tuple(int(line[place]) for place in places) for line in lines[named:])
