"""Counts of pairs in SQL. With `each` a statement for each: As up to each B, which stands before the As of its time.
With `together` one for all: a row for each instant, so that running sums are of what is before it.

    python by_duckdb.py each|together EVENTS OUTPUT PAIR…
"""

from __future__ import annotations

import sys

import duckdb

EACH = """COPY (
    SELECT account, start, sum(before)::BIGINT AS n
    FROM (
        SELECT account, time_bucket(INTERVAL 1 HOUR, "at") AS start, kind, count(*) FILTER (kind = '{first}') OVER (
            PARTITION BY account, time_bucket(INTERVAL 1 HOUR, "at") ORDER BY "at", kind = '{first}' ROWS UNBOUNDED PRECEDING
        ) AS before
        FROM '{events}' WHERE kind IN ('{first}', '{then}')
    )
    WHERE kind = '{then}' AND before > 0 GROUP BY ALL
) TO '{output}'"""
TOGETHER = """CREATE TEMP TABLE counted AS
SELECT account, start, {sums}
FROM (
    SELECT *, {running}
    FROM (
        SELECT account, time_bucket(INTERVAL 1 HOUR, "at") AS start, "at", {counts}
        FROM '{events}' WHERE kind IN ({types}) GROUP BY ALL
    )
    WINDOW earlier AS (PARTITION BY account, start ORDER BY "at" ROWS UNBOUNDED PRECEDING)
)
GROUP BY ALL"""


def each(events: str, output: str, pairs: list[str]) -> None:
    for number, pair in enumerate(pairs):
        file = f"{output}/q{number}.parquet"
        duckdb.execute(EACH.format(first=pair[0], then=pair[1], events=events, output=file))


def together(events: str, output: str, pairs: list[str]) -> None:
    types = sorted(set("".join(pairs)))
    statement = TOGETHER.format(
        events=events,
        types=", ".join(f"'{one}'" for one in types),
        counts=", ".join(f"count(*) FILTER (kind = '{one}') AS {one}" for one in types),
        running=", ".join(f"sum({one}) OVER earlier - {one} AS before_{one}" for one in types),
        sums=", ".join(f"sum(before_{pair[0]} * {pair[1]})::BIGINT AS n{i}" for i, pair in enumerate(pairs)),
    )
    duckdb.execute(statement)
    for i in range(len(pairs)):
        duckdb.execute(
            f"COPY (SELECT account, start, n{i} AS n FROM counted WHERE n{i} > 0) TO '{output}/q{i}.parquet'"
        )


if __name__ == "__main__":
    way, given, output, *asked = sys.argv[1:]
    duckdb.execute("SET TimeZone = 'UTC'")
    {"each": each, "together": together}[way](given, output, asked)
