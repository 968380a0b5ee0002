"""Flink's side, in an environment that has `apache-flink` and not cepc. Reads from standard input what to do, as JSON,
and prints what it took, as JSON: for each round the seconds on the clock and of processors.

    {"mode": "batch", "table": "at BIGINT, …", "where": "", "queries": [{"name", "columns", "flink"}, …],
     "small": "folder", "events": "folder", "output": "folder", "rounds": 1}
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from functools import partial
from typing import Any

from bench.processors import timed
from pyflink.common import Configuration  # type: ignore[import-not-found]
from pyflink.table import EnvironmentSettings, TableEnvironment  # type: ignore[import-not-found]

CSV = "'connector'='filesystem', 'format'='csv', 'csv.null-literal'='', 'path'="


def environment(mode: str) -> Any:
    """Both processors, and memory enough for a hundred operators at once."""
    configuration = Configuration()
    for name, value in {
        "parallelism.default": "2",
        "taskmanager.numberOfTaskSlots": "2",
        "taskmanager.memory.network.min": "512mb",
        "taskmanager.memory.network.max": "512mb",
        "taskmanager.memory.managed.size": "1536mb",
        "table.exec.resource.default-parallelism": "2",
    }.items():
        configuration.set_string(name, value)
    settings = EnvironmentSettings.new_instance()
    settings = settings.in_batch_mode() if mode == "batch" else settings.in_streaming_mode()
    return TableEnvironment.create(settings.with_configuration(configuration).build())


def run(asked: dict[str, Any], events: str, output: str) -> None:
    """All queries as one job, each with a sink of its own."""
    flink = environment(asked["mode"])
    flink.execute_sql(f"CREATE TABLE given ({asked['table']}) WITH ({CSV}'{events}')")
    flink.execute_sql(f"CREATE VIEW events AS SELECT * FROM given {asked['where']}")
    job = flink.create_statement_set()
    for query in asked["queries"]:
        columns = query["columns"]
        declared = ", ".join(f"{column} BIGINT" for column in columns)
        flink.execute_sql(f"CREATE TABLE found_{query['name']} ({declared}) WITH ({CSV}'{output}/{query['name']}')")
        job.add_insert_sql(
            f"INSERT INTO found_{query['name']} SELECT {', '.join(columns)} FROM events MATCH_RECOGNIZE ({query['flink']})"
        )
    job.execute().wait()


def floor(asked: dict[str, Any], events: str) -> None:
    """The events read, and nothing made of them."""
    flink = environment(asked["mode"])
    flink.execute_sql(f"CREATE TABLE given ({asked['table']}) WITH ({CSV}'{events}')")
    flink.execute_sql("CREATE TABLE nowhere (a BIGINT, b BIGINT) WITH ('connector'='blackhole')")
    flink.execute_sql("INSERT INTO nowhere SELECT `at`, price FROM given").wait()


def main() -> int:
    asked = json.load(sys.stdin)
    run({**asked, "queries": asked["queries"][:3]}, asked["small"], f"{asked['output']}/small")
    floor(asked, asked["small"])
    events, output, rounds = asked["events"], asked["output"], range(asked["rounds"])
    jobs = [timed(partial(run, asked, events, f"{output}/{number}")) for number in rounds]
    floors = [timed(partial(floor, asked, events)) for _ in rounds]
    print(json.dumps({"job": [asdict(one) for one in jobs], "floor": [asdict(one) for one in floors]}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
