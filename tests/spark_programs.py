"""Random programs on Spark against the local engine: by hand in any number, `python -m tests.spark_programs --programs 300`.

One session runs them all. The events of each come in several files, in no order, so that every group is in more than one of
them; programs are compiled at every level and with every optimiser forced, in turn. A failure is printed as a case for
REGRESSIONS in test_spark_batch.py; the run goes on. Exits with 1 if anything failed.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from functools import partial
from pathlib import Path
from pprint import pformat
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import HealthCheck, Phase, given, seed, settings

from cepc.api import check_text
from cepc.codegen.compiling import job_of, load
from cepc.passes import OPTIMISERS
from cepc.sharing import Options
from cepc_runtime.spark.errors import SPARK_ERRORS
from cepc_runtime.types import to_arrow
from tests.equivalence import ABOUT, Refused, by_engine, compile_text, same, table_of
from tests.programs import cases, cases_between_neighbours, overlapping

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hypothesis.strategies import SearchStrategy
    from pyspark.sql import DataFrame, SparkSession

    from cepc.codegen.compiling import Loaded
    from tests.equivalence import Compiled, Rows
    from tests.programs import Case

FILES: Final = 3
BATCH: Final = 10

LEVELS: Final[dict[str, Options]] = {
    "-O0": Options(level=0),
    "-O1": Options(level=1),
    "-O2": Options(seconds=None),
    **{f"forced {name}": Options(optimiser=name, seconds=None) for name in OPTIMISERS},
}
KINDS: Final[dict[str, SearchStrategy[Case]]] = {
    "any": cases(size=4),
    "queries with much in common": overlapping(most=6),
    "aggregates counted": cases(size=4, match=False, select="ANY", pairs=False),
    "matches": cases(size=4, match=True),
    "conditions over several variables": cases(size=3, match=False, pairs=True),
    "conditions between neighbours": cases_between_neighbours(),
    "SELECT NEXT": cases(size=4, select="NEXT"),
    "SELECT CONTIGUOUS": cases(size=4, select="CONTIGUOUS"),
}


def loaded(text: str, options: Options | None = None) -> Loaded:
    """The job of a program."""
    checked = check_text(text, "case.cep")
    assert checked.program is not None, checked.text()
    return load(job_of(checked.program, checked.sources, options))


def build(spark: SparkSession, text: str, events: DataFrame | None = None, **more: Any) -> dict[str, DataFrame]:
    """What the job of a program builds; `options` are the compiler's."""
    return loaded(text, more.pop("options", None)).build(spark, events, **more)


def rows_of(frame: DataFrame) -> Rows:
    """As the local engine has them."""
    return rows_in(frame.toArrow())


def rows_in(table: pa.Table) -> Rows:
    """As the local engine has them: Spark calls every TIMESTAMP's zone by the session's."""
    fields = [
        pa.field(f.name, pa.timestamp("us", "UTC") if pa.types.is_timestamp(f.type) and f.type.tz else f.type)
        for f in table.schema
    ]
    rows: Rows = table.cast(pa.schema(fields)).to_pylist()
    return rows


def scattered(spark: SparkSession, case: Case, compiled: Compiled, folder: Path) -> DataFrame:
    """The events of a case in some files, in no order."""
    (stream,) = compiled.program.streams
    table = table_of(case, compiled).cast(pa.schema([(name, to_arrow(type_)) for name, type_ in stream.columns]))
    places = list(range(table.num_rows))
    random.Random(len(case.text)).shuffle(places)
    folder.mkdir()
    for number in range(FILES):
        pq.write_table(table.take(pa.array(places[number::FILES], pa.int64())), folder / f"{number}.parquet")
    return spark.read.parquet(str(folder))


def agree(spark: SparkSession, case: Case, folder: Path, options: Options | None = None) -> str:
    """Fails where Spark's rows are not the local engine's; else whether rows were "compared", or the run is "failing" in both, or
    the program "refused".
    """
    try:
        compiled = compile_text(case.text)
    except Refused:
        return "refused"
    expected = by_engine(case, compiled, interpreted=True)
    events, job = scattered(spark, case, compiled, folder), loaded(case.text, options)
    results = job.build(spark, events)
    try:
        assert list(results) == [q.name for q in compiled.plan.queries]
        if expected is None:
            return _failing([*(frame.collect for frame in results.values()), partial(job.tables, spark, events)])
        for name, frame in results.items():
            found = rows_of(frame)
            assert same(found, expected[name], ABOUT), (name, found, expected[name])
        spark.catalog.clearCache()
        tables = job.tables(spark, events)
        assert list(tables) == list(results)
        for name, table in tables.items():
            assert same(rows_in(table), expected[name], ABOUT), (name, table, expected[name])
    finally:
        spark.catalog.clearCache()
    return "compared"


def _failing(asked: Sequence[Callable[[], object]]) -> str:
    """Some query's rows fail, and so do all brought together."""
    *frames, tables = asked
    assert any(_fails(ask) for ask in frames), "the local engine fails where Spark has rows"
    assert _fails(tables), "the local engine fails where Spark has rows"
    return "failing"


def _fails(ask: Callable[[], object]) -> bool:
    try:
        ask()
    except SPARK_ERRORS:
        return True
    return False


# ---- by hand ---------------------------------------------------------------------------------------------------------


def batch(spark: SparkSession, kind: str, number: int, say: Callable[[str], None]) -> Counter[str]:
    """Ten programs of a kind, from a seed of their own, each at the next level."""
    counts: Counter[str] = Counter()
    levels = list(LEVELS)

    @seed(number)
    @settings(
        max_examples=BATCH,
        database=None,
        deadline=None,
        phases=(Phase.generate,),  # who finds a difference shrinks it by hand
        suppress_health_check=list(HealthCheck),
    )
    @given(KINDS[kind])
    def run(case: Case) -> None:
        level = levels[(number + sum(counts.values())) % len(levels)]
        with tempfile.TemporaryDirectory() as folder:
            try:
                outcome = agree(spark, case, Path(folder, "events"), LEVELS[level])
            except Exception as error:
                outcome = "wrong"
                say(f"FAILED: {kind}, seed {number}, {level}\n{case.text}\n{pformat(case.rows, width=160)}")
                say("".join(traceback.format_exception(error))[-4000:])
        counts[outcome] += 1
        counts[f"{outcome} {level}"] += 1

    run()
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description="Random programs, Spark against the local engine.")
    parser.add_argument("--programs", type=int, default=300, help="stop after about so many (default 300)")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so many minutes")
    parser.add_argument("--seed", type=int, default=0, help="of the first batch of each kind")
    parser.add_argument("--kind", choices=list(KINDS), action="append", help="only this one (repeatable)")
    given_options = parser.parse_args()
    from cepc.running.spark import local_session

    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", "--driver-memory 1g pyspark-shell")
    spark = local_session()
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    kinds, begun = given_options.kind or list(KINDS), time.monotonic()
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
    for number in range(-(-given_options.programs // BATCH)):
        kind = kinds[number % len(kinds)]
        counts[kind] += batch(
            spark, kind, given_options.seed + number // len(kinds), lambda text: print(text, flush=True)
        )
        if time.monotonic() - begun > given_options.minutes * 60:
            break
    spark.stop()
    total = sum(counts.values(), Counter[str]())
    for name, found in (*counts.items(), *((level, _at(total, level)) for level in LEVELS), ("all", total)):
        print(f"{name:<40}" + "".join(f"{found[c]:>6} {c}" for c in ("compared", "failing", "refused", "wrong")))
    return 1 if total["wrong"] else 0


def _at(counts: Counter[str], level: str) -> Counter[str]:
    return Counter({name.removesuffix(f" {level}"): n for name, n in counts.items() if name.endswith(f" {level}")})


if __name__ == "__main__":
    sys.exit(main())
