"""Random programs on Spark against the oracle: by hand in any number, `python -m tests.spark_programs --programs 300`.

One session runs them all. The events of each come in several files, in no order, so that every group is in more than
one of them; programs are compiled at every level and with every optimiser forced, in turn. A failure is printed as a
case for REGRESSIONS in test_spark_batch.py; the run goes on. Exits with 1 if anything failed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import traceback
from functools import partial
from pathlib import Path
from pprint import pformat
from random import Random
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from cepc.api import check_text
from cepc.codegen.compiling import job_of, load
from cepc.passes import OPTIMISERS
from cepc.shared_plans import Options
from cepc_runtime.spark.errors import SPARK_ERRORS
from cepc_runtime.spark.source import read
from tests import written_events
from tests.equivalence import ABOUT, Refused, answered, by_engine, compile_text, input_of, same
from tests.programs import between_neighbours, cases, overlapping
from tests.properties import NOTHING, Seen, Tally, table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from cepc.codegen.compiling import LoadedJob
    from cepc_runtime.spark.schema import Stream
    from tests.equivalence import Compiled, Rows
    from tests.programs import Case, Make

FILES: Final = 3

LEVELS: Final[dict[str, Options]] = {
    "-O0": Options(level=0),
    "-O1": Options(level=1),
    "-O2": Options(seconds=None),
    **{f"forced {name}": Options(optimiser=name, seconds=None) for name in OPTIMISERS},
}
KINDS: Final[dict[str, Make]] = {
    "any": cases(size=4),
    "queries with much in common": overlapping(most=6),
    "aggregates counted": cases(size=4, match=False, select="ANY", pairs=False),
    "matches": cases(size=4, match=True),
    "conditions over several variables": cases(size=3, match=False, pairs=True),
    "conditions between neighbours": between_neighbours,
    "SELECT NEXT": cases(size=4, select="NEXT"),
    "SELECT CONTIGUOUS": cases(size=4, select="CONTIGUOUS"),
    "AFTER MATCH": cases(size=4, match=True, select="NEXT", after=True),
}


def loaded(text: str, options: Options | None = None) -> LoadedJob:
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


def scattered(spark: SparkSession, case: Case, compiled: Compiled, stream: Stream, folder: Path) -> DataFrame:
    """The events of a case in some files of a format, in no order."""
    events, chance = input_of(case, compiled), Random(case.text)
    places = list(range(events.num_rows))
    chance.shuffle(places)
    form = chance.choice(written_events.formats_of(events.schema))
    folder.mkdir()
    for number in range(FILES):
        part = events.take(pa.array(places[number::FILES], pa.int64()))
        written_events.write(part, form, folder / f"{number}.{form}")
    return read(spark, stream, form, str(folder))


def agree(spark: SparkSession, case: Case, folder: Path, options: Options | None = None) -> Seen:
    """Fails where Spark's rows are not the oracle's, or the run does not fail where the local engine's does."""
    compiled = compile_text(case.text)
    answers = answered(case, compiled)
    found = by_engine(case, compiled, interpreted=True)
    if found is not None and answers is None:
        return NOTHING  # a run that must fail may fail at another event, or not reach it
    compare(spark, case, folder, None if found is None else {n: a.rows for n, a in (answers or {}).items()}, options)
    return NOTHING if found is None or answers is None else Seen.of(case, answers)


def compare(
    spark: SparkSession, case: Case, folder: Path, expected: dict[str, Rows] | None, options: Options | None = None
) -> None:
    """Fails where the rows of the case's job are others, query by query or all brought together; None: the run has to
    fail.
    """
    compiled = compile_text(case.text)
    job = loaded(case.text, options)
    (stream,) = job.streams.values()
    events = scattered(spark, case, compiled, stream, folder)
    results = job.build(spark, events)
    try:
        assert list(results) == [q.name for q in compiled.plan.queries]
        if expected is None:
            _failing([*(frame.collect for frame in results.values()), partial(job.tables, spark, events)])
            return
        for name, frame in results.items():
            found = rows_of(frame)
            assert same(found, expected[name], ABOUT), (name, found, expected[name])
        spark.catalog.clearCache()
        tables = job.tables(spark, events)
        assert list(tables) == list(results)
        for name, brought in tables.items():
            assert same(rows_in(brought), expected[name], ABOUT), (name, brought, expected[name])
    finally:
        spark.catalog.clearCache()


def _failing(asked: Sequence[Callable[[], object]]) -> None:
    """Some query's rows fail, and so do all brought together."""
    *frames, tables = asked
    assert any(_fails(ask) for ask in frames), "the local engine fails where Spark has rows"
    assert _fails(tables), "the local engine fails where Spark has rows"


def _fails(ask: Callable[[], object]) -> bool:
    try:
        ask()
    except SPARK_ERRORS:
        return True
    return False


# ---- by hand ---------------------------------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(description="Random programs, Spark against the oracle.")
    parser.add_argument("--programs", type=int, default=300, help="stop after about so many (default 300)")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so many minutes")
    parser.add_argument("--first", type=int, default=1000, help="the number of the first case of each kind")
    parser.add_argument("--kind", choices=list(KINDS), action="append", help="only this one (repeatable)")
    given_options = parser.parse_args()
    from cepc.running.session import quiet_session

    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", "--driver-memory 1g pyspark-shell")
    spark = quiet_session()
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    kinds, levels, begun, wrong = given_options.kind or list(KINDS), list(LEVELS), time.monotonic(), 0
    tallies = {kind: Tally() for kind in kinds}
    for number in range(given_options.programs):
        kind, level = kinds[number % len(kinds)], levels[number % len(levels)]
        case = KINDS[kind](Random(f"{kind} {given_options.first + number // len(kinds)}"))
        with tempfile.TemporaryDirectory() as folder:
            try:
                tallies[kind].add(agree(spark, case, Path(folder, "events"), LEVELS[level]))
            except Refused:
                tallies[kind].refused += 1
            except Exception as error:
                wrong += 1
                print(f"FAILED: {kind}, number {number}, {level}\n{case.text}\n{pformat(case.rows, width=160)}")
                print("".join(traceback.format_exception(error))[-4000:], flush=True)
        if time.monotonic() - begun > given_options.minutes * 60:
            break
    spark.stop()
    print(table(tallies), f"\n{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
