"""The whole comparison by one command, or a part of it; each part is a process of its own, and its figures go into a
file, from which the table and the plots are made.

    python -m bench.comparison --flink FOLDER            # everything, half an hour; FOLDER is made for Flink's environment
    python -m bench.comparison --flink FOLDER --only ticks --queries 1 --modes batch streaming
    python -m bench.comparison --only tables --sides duckdb polars --python PATH  # of an environment with these
    python -m bench.comparison --show                    # the table and docs/pictures/comparison.svg, of what was measured
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from dataclasses import asdict
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from bench.comparison import events, queries, sides
from bench.comparison.show import show
from bench.processors import Took, timed

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator, Sequence

    from bench.comparison.queries import Query, Workload
    from bench.comparison.sides import Side


ON_SPARK: Final[dict[str, tuple[str, Callable[..., Side], bool]]] = {
    "job": ("cepc, Spark", sides.job, False),
    "pandas": ("applyInPandas", sides.by_pandas, True),
    "lists": ("collect_list and UDF", sides.by_lists, True),
    "floor": ("Spark's floor", partial(sides.job, kernel=False), False),
}
"""By their names on the command line: how they are called, and whether they are written by hand."""
OVER_TABLES: Final = {"duckdb": "DuckDB", "polars": "polars"}
SIDES: Final = (*ON_SPARK, *OVER_TABLES, "flink")


def _ticks(numbers: Sequence[int]) -> Iterator[tuple[str, Workload, int]]:
    """The names of columns, what is asked, and of how many events."""
    for number in numbers:
        yield f"ticks {number}", queries.ticks(number), 400_000 if number <= 10 else 500_000 // number


def _tables(numbers: Sequence[int]) -> Iterator[tuple[str, Workload, int]]:
    for number, (_, _, size) in zip(numbers, _ticks(numbers), strict=True):
        yield f"tables {number}", queries.ticks(number, sides.OVER_TABLES), size


def _nexmark(_numbers: Sequence[int]) -> Iterator[tuple[str, Workload, int]]:
    yield "nexmark 2", queries.nexmark(), 20_000


PARTS: Final = {"ticks": _ticks, "tables": _tables, "nexmark": _nexmark}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flink", type=Path, help="the folder of Flink's environment")
    parser.add_argument("--only", choices=[*PARTS], help="ticks; of them what DuckDB and polars can say; NEXMark")
    parser.add_argument("--sides", choices=SIDES, nargs="+", default=[*SIDES], help="against cepc in process")
    parser.add_argument("--python", default=sys.executable, help="one that has duckdb and polars")
    parser.add_argument("--queries", type=int, nargs="+", default=[1, 10, 50, 100], help="on ticks")
    parser.add_argument("--modes", choices=["batch", "streaming"], nargs="+", default=["batch"], help="of Flink")
    parser.add_argument("--events", type=int, help="fewer where there are many queries, unless said")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--figures", type=Path, default=Path("out/comparison.json"), help="of this and earlier runs")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    if not given.show:
        if given.flink is None and "flink" in given.sides:
            parser.error("--flink FOLDER says where Flink's environment is, or is to be")
        for part in [given.only] if given.only else PARTS:
            for name, workload, size in PARTS[part](given.queries):
                compared(name, workload, given, given.events or size)
    show(json.loads(given.figures.read_text(encoding="utf-8")))
    return 0


def compared(name: str, workload: Workload, given: argparse.Namespace, size: int) -> None:
    """Every side on the same events. Ends the program where one finds other matches."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        where = {part: folder / part for part in ("events", "small", "output")}
        for part, number in (("events", size), ("small", max(size // 25, 1))):
            table = (
                events.nexmark(number) if name.startswith("nexmark") else events.ticks(number, max(number // 500, 1))
            )
            events.write(table, where[part])
        took, expected = ours(workload, where, given.rounds, given.sides)
        for module, side in OVER_TABLES.items():
            if module in given.sides and all(query.shape in sides.OVER_TABLES for query in workload.queries):
                output = folder / module
                took[side] = sides.over_tables(given.python, module, workload, where, output, given.rounds)
                for query in workload.queries:
                    same(side, query, sides.rows(query, output / "0"), expected[query.name])
        for mode in given.modes if "flink" in given.sides else ():
            found = sides.flink(given.flink, workload, mode, {**where, "output": folder / mode}, given.rounds)
            took |= {f"Flink, {mode}": found["job"], f"Flink's floor, {mode}": found["floor"]}
            for query in workload.queries:
                same(f"Flink, {mode}", query, sides.rows(query, folder / mode / "0"), expected[query.name])
    figures = json.loads(given.figures.read_text(encoding="utf-8")) if given.figures.exists() else {}
    figures[name] = {
        "events": size,
        "matches": sum(sum(found.values()) for found in expected.values()),
        "took": {side: asdict(_middle(times)) for side, times in took.items()},
    }
    given.figures.parent.mkdir(parents=True, exist_ok=True)
    given.figures.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    print(name, json.dumps(figures[name]), flush=True)


def _middle(times: Sequence[Took]) -> Took:
    return Took(median(one.clock for one in times), median(one.processor for one in times))


def ours(
    workload: Workload, where: dict[str, Path], rounds: int, asked: Sequence[str]
) -> tuple[dict[str, list[Took]], dict[str, Counter[tuple[int, ...]]]]:
    """The sides that run here, and the rows of the first."""
    candidates: dict[str, Callable[[Workload], Side]] = {"cepc, in process": sides.local}
    spark = _spark() if any(word in asked for word in ON_SPARK) else None
    for word, (title, on_spark, by_hand) in ON_SPARK.items():
        if word in asked and (not by_hand or all(query.shape is not None for query in workload.queries)):
            candidates[title] = partial(on_spark, spark)
    took: dict[str, list[Took]] = {}
    expected: dict[str, Counter[tuple[int, ...]]] = {}
    for number, (name, make) in enumerate(candidates.items()):
        make(workload.first(3))(where["small"], where["output"] / f"{number}-small")
        side = make(workload)
        outputs = [where["output"] / f"{number}-{i}" for i in range(rounds)]
        took[name] = [timed(partial(side, where["events"], output)) for output in outputs]
        for query in workload.queries if name != "Spark's floor" else ():
            found = sides.rows(query, where["output"] / f"{number}-0")
            same(name, query, found, expected.setdefault(query.name, found))
    if spark is not None:
        spark.stop()
    return took, expected


def _spark() -> Any:
    from cepc.running.session import quiet_session

    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", "--driver-memory 4g pyspark-shell")
    spark = quiet_session()
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    return spark


def same(side: str, query: Query, found: Counter[tuple[int, ...]], expected: Counter[tuple[int, ...]]) -> None:
    if found != expected:
        more, less = sorted((found - expected).elements()), sorted((expected - found).elements())
        sys.exit(
            f"{query.name}: {side} finds {len(more):,} other rows, {more[:3]}, and lacks {len(less):,}, {less[:3]}"
        )


if __name__ == "__main__":
    sys.exit(main())
