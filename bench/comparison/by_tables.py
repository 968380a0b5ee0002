"""The sides that are written by hand over tables, in SQL for DuckDB and in expressions for polars, in a Python that has
these. Reads from standard input what to do, as JSON, and prints what it took, as JSON.

    python -m bench.comparison.by_tables duckdb|polars
    {"queries": [{"name", "shape", "numbers"}, …], "small": "folder", "events": "folder", "output": "folder", "rounds": 1}

Two shapes can be said: an event and the next of another kind, and what ends a run of one kind, for of six rows before
it each is known. Falling prices cannot, short of a recursive query: a match ends with the event that begins the next
run, which so is skipped, and that one's match depends on it.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from bench.processors import timed

LONGEST = 6

# ---- DuckDB ------------------------------------------------------------------------------------------------------------

NUMBERED = """CREATE OR REPLACE TABLE numbered AS
SELECT *, row_number() OVER (PARTITION BY account ORDER BY "at") AS row FROM '{events}/*.csv'"""
FOLLOWED = """SELECT account, "at" AS first_at, then_at AS last_at, then_row - row - 1 AS n
FROM (
    SELECT *, min("at") FILTER (kind = 'T{1}') OVER later AS then_at, min(row) FILTER (kind = 'T{1}') OVER later AS then_row
    FROM numbered WINDOW later AS (PARTITION BY account ORDER BY "at" DESC ROWS UNBOUNDED PRECEDING)
)
WHERE kind = 'T{0}' AND then_at - "at" < {2}"""
BURST = """SELECT account, CASE {begun} END AS first_at, "at" AS last_at, CASE {count} END AS n
FROM (
    SELECT *, {lags}, row - 1 - coalesce(max(row) FILTER (NOT coalesce(kind = 'T{0}' AND price > {3}, false)) OVER earlier, 0) AS run
    FROM numbered
    WINDOW own AS (PARTITION BY account ORDER BY "at"),
        earlier AS (PARTITION BY account ORDER BY "at" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
)
WHERE kind = 'T{1}' AND n IS NOT NULL"""


def by_duckdb(queries: list[dict[str, Any]], events: str, output: str) -> None:
    import duckdb

    duckdb.execute(NUMBERED.format(events=events))
    for query in queries:
        Path(output, query["name"]).mkdir(parents=True)
        duckdb.execute(f"COPY ({_sql(query['shape'], query['numbers'])}) TO '{output}/{query['name']}/rows.csv'")


def _sql(shape: str, numbers: list[int]) -> str:
    if shape == "followed":
        return FOLLOWED.format(*numbers)
    _, _, least, _, within = numbers
    lengths = range(LONGEST, least - 1, -1)
    holds = {n: f'WHEN run >= {n} AND "at" - at_{n} < {within} THEN' for n in lengths}
    return BURST.format(
        *numbers,
        begun=" ".join(f"{holds[n]} at_{n}" for n in lengths),
        count=" ".join(f"{holds[n]} {n}" for n in lengths),
        lags=", ".join(f'lag("at", {n}) OVER own AS at_{n}' for n in lengths),
    )


# ---- polars ------------------------------------------------------------------------------------------------------------


def by_polars(queries: list[dict[str, Any]], events: str, output: str) -> None:
    import polars as pl

    numbered = pl.scan_csv(f"{events}/*.csv").sort("account", "at")
    numbered = numbered.with_columns(row=pl.int_range(pl.len()).over("account"))
    frames = [_frame(pl, numbered, query["shape"], query["numbers"]) for query in queries]
    for query, rows in zip(queries, pl.collect_all(frames), strict=True):
        Path(output, query["name"]).mkdir(parents=True)
        rows.write_csv(f"{output}/{query['name']}/rows.csv")


def _frame(pl: Any, numbered: Any, shape: str, numbers: list[int]) -> Any:
    at, kind, row = pl.col("at"), pl.col("kind"), pl.col("row")
    if shape == "followed":
        first, then, within = numbers
        later = {
            name: pl.when(kind == f"T{then}").then(column).backward_fill().over("account")
            for name, column in (("last_at", at), ("then_row", row))
        }
        found = numbered.with_columns(**later).filter(kind == f"T{first}", pl.col("last_at") - at < within)
        return found.select("account", at.alias("first_at"), "last_at", (pl.col("then_row") - row - 1).alias("n"))
    of, end, least, above, within = numbers
    others = pl.when((kind != f"T{of}") | (pl.col("price") <= above)).then(row)
    run = row - 1 - others.forward_fill().shift(1).over("account").fill_null(-1)
    lags = [at.shift(n).over("account").alias(f"at {n}") for n in range(least, LONGEST + 1)]
    found = numbered.with_columns(*lags, run=run).filter(kind == f"T{end}")
    first_at = n_of = pl.lit(None)
    for n in range(least, LONGEST + 1):
        holds = (pl.col("run") >= n) & (at - pl.col(f"at {n}") < within)
        first_at, n_of = (
            pl.when(holds).then(pl.col(f"at {n}")).otherwise(first_at),
            pl.when(holds).then(n).otherwise(n_of),
        )
    return found.select("account", first_at=first_at, last_at=at, n=n_of).drop_nulls("n")


def main() -> int:
    asked = json.load(sys.stdin)
    side = {"duckdb": by_duckdb, "polars": by_polars}[sys.argv[1]]
    side(asked["queries"][:3], asked["small"], f"{asked['output']}/small")
    took = [
        timed(partial(side, asked["queries"], asked["events"], f"{asked['output']}/{i}"))
        for i in range(asked["rounds"])
    ]
    print(json.dumps([asdict(one) for one in took]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
