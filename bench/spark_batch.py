"""A whole Spark job against its floor, and one query against the PySpark that a person would write for it.

The floor is the same job with a kernel that does nothing: scan, filter, letters, shuffle, sort, Arrow, and the files of
each query. There is a second pair without files: the kernel's rows as they come, thrown away by one action. Everything
runs in one session, the best of some runs after a first counts, and only ratios are worth reporting: of processor time.

    python -m bench.spark_batch
    python -m bench.spark_batch --more-than 300 --by-hand 0 --grouped 0
    python -m bench.spark_batch --events 400000 --groups 1000 --queries 20
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bench.processors import Took, timed

import cepc
from cepc.codegen.compiling import job_of
from cepc.running.session import quiet_session
from cepc_runtime.spark.files import Files
from cepc_runtime.spark.forms import IN_ROWS
from cepc_runtime.spark.settings import OF_OUTPUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame

Make = Callable[[Path], "list[DataFrame]"]
"""What is measured: DataFrames of the events at a path, which are then written to nowhere; none where the job has
written files.
"""

TYPES = [f"T{i}" for i in range(13)]
HOUR = 3_600_000_000
STREAM = f"""STREAM events (at TIMESTAMP, kind STRING, account BIGINT, amount DOUBLE, note STRING)
EVENT TIME at EVENT TYPE kind IN ({", ".join(f"'{t}'" for t in TYPES)});
"""
ONE = """QUERY one RETURN account, COUNT(*) AS n, SUM(b.amount) AS total PATTERN SEQ(T0 a, T1+ b, T2 c)
WHERE b.amount > 50 GROUP BY account WITHIN 10 MINUTES;
"""


GROUPED = """QUERY one RETURN account, COUNT(*) AS n, SUM(b.amount) AS total PATTERN SEQ(T0 a, T1 b, T2 c)
WHERE b.amount > 50 GROUP BY account WITHIN 10 MINUTES;
"""


def workload(queries: int, more_than: int | None = None, seed: int = 7) -> str:
    """Sequences and repetitions, six to one, over windows of four slides; rows only where matches are `more_than` so
    many.
    """
    having = "" if more_than is None else f" HAVING CAST(COUNT(*) AS DOUBLE) > {more_than}"
    chance = np.random.default_rng(seed)
    texts = []
    for number in range(queries):
        types = [str(t) for t in chance.choice(TYPES, size=int(chance.integers(3, 5)), replace=False)]
        elements = [f"{t} v{i}" for i, t in enumerate(types)]
        if number % 7 == 6:
            elements[1] = f"{types[1]}+ v1"
        texts.append(
            f"QUERY q{number} RETURN account, CAST(COUNT(*) AS DOUBLE) AS n, SUM(v1.amount) AS total"
            f" PATTERN SEQ({', '.join(elements)}) WHERE v0.amount > {int(chance.integers(0, 60))}"
            f" GROUP BY account{having} WITHIN 20 MINUTES SLIDE 5 MINUTES;\n"
        )
    return STREAM + "".join(texts)


def generate(path: Path, events: int, groups: int, hours: float) -> None:
    chance = np.random.default_rng(1)
    table = pa.table(
        {
            "at": pa.array(chance.integers(0, int(hours * HOUR), events), pa.timestamp("us", "UTC")),
            "kind": pa.array(TYPES).take(pa.array(chance.integers(0, len(TYPES), events))),
            "account": pa.array(chance.integers(0, groups, events)),
            "amount": pa.array(np.round(chance.uniform(0, 100, events), 2)),
            "note": pa.array(["x"] * events),
        }
    )
    path.mkdir()
    for part in range(4):
        pq.write_table(table.slice(part * events // 4, events // 4), path / f"{part}.parquet")


def took(candidates: Iterable[Make], path: Path, small: Path, rounds: int) -> list[Took]:
    """The best of some rounds of each, in turn, after a first on few events that starts workers and compiles."""
    found = [(make, once(make, small), [once(make, path)]) for make in candidates]
    for _ in range(rounds - 1):
        for make, _, times in found:
            times.append(once(make, path))
    return [min(times, key=lambda t: t.processor) for _, _, times in found]


def once(make: Make, path: Path) -> Took:
    def write() -> None:
        for frame in make(path):
            frame.write.format("noop").mode("overwrite").save()

    return timed(write)


def said(name: str, one: Took, other: Took, words: str) -> None:
    """The two compared by processor time, which other work on the machine disturbs less than the clock."""
    print(
        f"{name} {one.processor / other.processor:.2f} times {words}"
        f" ({one.processor:.0f} s and {other.processor:.0f} s of processors, {one.clock:.0f} s and {other.clock:.0f} s)",
        flush=True,
    )


# ---- the job and its floor -------------------------------------------------------------------------------------------


def empty(plan: Any, classes: Any, class_column: Any, form: Any) -> Callable[[Iterable[Any]], Iterator[Any]]:  # noqa: ARG001
    """A kernel that reads its input and gives nothing."""

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        for _ in batches:
            pass
        return iter(())

    return run


def whole_job(spark: Any, text: str, *, kernel: bool, files: Path | None = None) -> Make:
    compiled = cepc.compile(text)
    namespace: dict[str, Any] = {"__name__": "job"}
    source = job_of(compiled.program, compiled.checked.sources).text
    exec(compile(source if kernel else source.replace("job.kernel(", "empty("), "job", "exec"), namespace)
    namespace["empty"] = empty

    def run(path: Path) -> list[DataFrame]:
        spark.catalog.clearCache()
        events = spark.read.parquet(str(path))
        if files is not None:
            shutil.rmtree(files, ignore_errors=True)
            namespace["JOB"].write(spark, events, None, None, Files(str(files), "parquet"))
            return []
        return [namespace["events_rows"](namespace["events_events"](events), list(compiled.queries), IN_ROWS)]

    return run


# ---- what a person would write for ONE -------------------------------------------------------------------------------


def count(kinds: Any, amounts: Any, times: Any, order: Any) -> tuple[int, float]:
    """Matches of SEQ(T0, T1+, T2) in one window: (their number, the sum of the T1 amounts over them)."""
    first, middle, middle_sum, whole, whole_sum = 0, 0, 0.0, 0, 0.0
    pending: list[tuple[int, int, float]] = []
    before = None
    for i in order:
        if times[i] != before:
            for kind, n, s in pending:
                if kind == 0:
                    first += n
                elif kind == 1:
                    middle, middle_sum = middle + n, middle_sum + s
            pending, before = [], times[i]
        if kinds[i] == "T0":
            pending.append((0, 1, 0.0))
        elif kinds[i] == "T1" and amounts[i] > 50:
            n = first + middle
            pending.append((1, n, middle_sum + n * amounts[i]))
        elif kinds[i] == "T2":
            whole, whole_sum = whole + middle, whole_sum + middle_sum
    return whole, whole_sum


def by_lists(spark: Any) -> Make:
    """groupBy and collect_list, then a Python UDF for each group and window."""
    from pyspark.sql import functions as F  # noqa: N812

    @F.udf("n BIGINT, total DOUBLE")
    def matches(events: Any) -> tuple[int, float]:
        events = sorted(events)
        return count([e[1] for e in events], [e[2] for e in events], [e[0] for e in events], range(len(events)))

    def run(path: Path) -> list[DataFrame]:
        events = spark.read.parquet(str(path)).where(F.col("kind").isin("T0", "T1", "T2"))
        grouped = events.groupBy("account", F.window("at", "10 minutes")).agg(
            F.collect_list(F.struct("at", "kind", "amount")).alias("events")
        )
        return [grouped.withColumn("found", matches("events")).select("account", "window", "found.*").where("n > 0")]

    return run


def by_pandas(spark: Any) -> Make:
    """applyInPandas for each group, windows inside."""
    from pyspark.sql import functions as F  # noqa: N812

    def group(frame: Any) -> Any:
        import pandas as pd

        frame = frame.sort_values("at")
        rows = []
        for window, part in frame.groupby(frame["at"].astype("int64") // (600 * 10**9)):
            kinds, amounts, times = part["kind"].to_list(), part["amount"].to_list(), part["at"].to_list()
            n, total = count(kinds, amounts, times, range(len(kinds)))
            if n:
                rows.append((frame["account"].iloc[0], n, total, window))
        return pd.DataFrame(rows, columns=["account", "n", "total", "window"])

    def run(path: Path) -> list[DataFrame]:
        events = spark.read.parquet(str(path)).where(F.col("kind").isin("T0", "T1", "T2"))
        return [
            events.select("at", "kind", "account", "amount")
            .groupBy("account")
            .applyInPandas(group, "account BIGINT, n BIGINT, total DOUBLE, window BIGINT")
        ]

    return run


def compare_with_floor(spark: Any, path: Path, small: Path, text: str, rounds: int) -> None:
    for name, files in (("whole job", path.parent / "rows"), ("without files", None)):
        pair = [whole_job(spark, text, kernel=kernel, files=files) for kernel in (False, True)]
        floor, job = took(pair, path, small, rounds)
        said(f"{name}:", job, floor, "its floor")
    rows = sum(frame.count() for frame in pair[1](path))
    print(f"{rows:,} rows of results", flush=True)


def compare_with_hands(spark: Any, path: Path, small: Path, rounds: int) -> None:
    ours = whole_job(spark, STREAM + ONE, kernel=True)
    job, lists, pandas = took([ours, by_lists(spark), by_pandas(spark)], path, small, rounds)
    for name, one in (("collect_list and a UDF", lists), ("applyInPandas", pandas)):
        said(f"one query: {name} takes", one, job, "as long as the job")


def compare_groups(spark: Any, folder: Path, events: int, hours: float, rounds: int) -> None:
    """The same number of events in one group, some, and one for each event."""
    job = whole_job(spark, STREAM + GROUPED, kernel=True)
    found = {}
    for groups in (1, 1000, events):
        path = folder / f"groups_{groups}"
        generate(path, events, groups, hours)
        found[groups] = min((once(job, path) for _ in range(rounds + 1)), key=lambda t: t.processor)
    for groups in (1, events):
        said(f"{events:,} events in {groups:,} groups:", found[groups], found[1000], "those in 1,000")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=4_000_000, help="of the job against its floor")
    parser.add_argument("--groups", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--more-than", type=int, help="rows only where there are more matches")
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--by-hand", type=int, default=400_000, help="events of one query against what people write")
    parser.add_argument(
        "--grouped", type=int, default=1_000_000, help="events in one group, in 1,000, and each in its own"
    )
    parser.add_argument("--partitions", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--memory", default="4g", help="of the JVM, which keeps the rows of all queries")
    arguments = parser.parse_args()
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", f"--driver-memory {arguments.memory} pyspark-shell")
    spark = quiet_session()
    for setting, value in OF_OUTPUT.items():  # as a job does
        spark.conf.set(setting, value)
    spark.conf.set("spark.sql.shuffle.partitions", str(arguments.partitions))
    with tempfile.TemporaryDirectory() as folder:
        for name, events in (("floor", arguments.events), ("hands", arguments.by_hand)):
            if not events:
                continue
            groups = min(arguments.groups, max(events // 400, 1))
            path, small = Path(folder, name), Path(folder, f"{name}_small")
            generate(path, events, groups, arguments.hours)
            generate(small, max(events // 50, 1), max(groups // 50, 1), arguments.hours)
            print(f"{events:,} events, {groups:,} groups", flush=True)
            if name == "floor":
                compare_with_floor(
                    spark, path, small, workload(arguments.queries, arguments.more_than), arguments.rounds
                )
            else:
                compare_with_hands(spark, path, small, arguments.rounds)
        if arguments.grouped:
            compare_groups(spark, Path(folder), arguments.grouped, arguments.hours, arguments.rounds)
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
