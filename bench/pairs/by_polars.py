"""Counts of pairs by polars. One: As up to each B, which stands before the As of its time. Several: a row for each
instant, so that running sums are of what is before it.

    python by_polars.py EVENTS OUTPUT PAIR…
"""

from __future__ import annotations

import sys

import polars as pl

KEY = ["account", "start"]


def read(events: str, types: list[str]) -> pl.LazyFrame:
    some = pl.scan_parquet(events).filter(pl.col("kind").is_in(types))
    return some.select("account", "at", "kind", start=pl.col("at").dt.truncate("1h"))


def one(events: str, pair: str) -> list[pl.DataFrame]:
    is_first = pl.col("kind") == pair[0]
    running = read(events, list(pair)).sort("account", "at", is_first).with_columns(before=is_first.cum_sum().over(KEY))
    counted = running.filter(pl.col("kind") == pair[1]).group_by(KEY).agg(n=pl.col("before").sum())
    return [counted.filter(pl.col("n") > 0).collect()]


def several(events: str, pairs: list[str]) -> list[pl.DataFrame]:
    types = sorted(set("".join(pairs)))
    flags = read(events, types).sort("account", "at")
    flags = flags.with_columns((pl.col("kind") == of).cast(pl.Int64).alias(of) for of in types)
    instants = flags.group_by([*KEY, "at"], maintain_order=True).agg(pl.col(types).sum())
    running = instants.with_columns((pl.col(of).cum_sum().over(KEY) - pl.col(of)).alias(f"before {of}") for of in types)
    sums = [(pl.col(f"before {pair[0]}") * pl.col(pair[1])).sum().alias(pair) for pair in pairs]
    counted = running.group_by(KEY).agg(sums).collect()
    return [counted.select(*KEY, n=pair).filter(pl.col("n") > 0) for pair in pairs]


if __name__ == "__main__":
    given, output, *asked = sys.argv[1:]
    found = one(given, asked[0]) if len(asked) == 1 else several(given, asked)
    for number, table in enumerate(found):
        table.write_parquet(f"{output}/q{number}.parquet")
