"""Programs of many queries: what planning costs, and what a whole run gains by it.

    python -m bench.queries run [--queries N …] [--events N]      -O0 and -O2 by turns, planning and run together
    python -m bench.queries run --listed …                        the same for queries that list their matches
    python -m bench.queries compile [--queries N …]               check, compile and explain; what is in the job
    python -m bench.queries write KIND N                          the program itself

`much`: eight heads, eight bodies and eight tails, each query one of each, so that prefixes and middles are common.
`little`: sequences of 3 to 5 of forty types, drawn at random. `nothing`: every query has types of its own.
"""

import argparse
import gc
import random
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

import numpy as np
from bench.gains.measured import COUNT, program, same_rows, stream

from cepc.api import check_text
from cepc.codegen.compiling import job_from, planned
from cepc.explaining.as_text import to_text
from cepc.explaining.explanation import explain
from cepc.running import local
from cepc.running.given import read_given
from cepc.running.local import Report
from cepc.running.stages import Stages
from cepc.shared_plans import Options

TYPES: Final = 40
PER_SECOND: Final = 10
WINDOWS: Final = ("WITHIN 5 min", "WITHIN 10 min SLIDE 5 min", "WITHIN 20 min SLIDE 5 min")


Of = Callable[[list[str], str], str]
"""A query from its types and its window."""


def much(n: int, query: Of) -> list[str]:
    chance = random.Random(1)
    parts = [[[f"{where}{i}{j}" for j in range(2)] for i in range(8)] for where in ("A", "B", "C")]

    def sequence() -> list[str]:
        return [t for of in parts for t in chance.choice(of)]

    return [query(sequence(), WINDOWS[1]) for _ in range(n)]


def little(n: int, query: Of) -> list[str]:
    chance = random.Random(2)
    return [
        query(chance.sample([f"T{t}" for t in range(TYPES)], chance.randint(3, 5)), chance.choice(WINDOWS))
        for _ in range(n)
    ]


def nothing(n: int, query: Of) -> list[str]:
    return [query([f"Q{q}T{i}" for i in range(3)], WINDOWS[q % 3]) for q in range(n)]


KINDS: Final[Mapping[str, Callable[[int, Of], list[str]]]] = {"much": much, "little": little, "nothing": nothing}


def counted(types: list[str], window: str) -> str:
    return f"RETURN g, {COUNT}, SUM(v1.x) AS s PATTERN SEQ({_sequence(types)}) GROUP BY g {window}"


def listed(types: list[str], _window: str) -> str:
    return f"RETURN MATCH v0.g AS g, v0.at AS window_start, v1.x AS x PATTERN SEQ({_sequence(types)}) WHERE [g] WITHIN 30 s"


def _sequence(types: list[str]) -> str:
    return ", ".join(f"{t} v{i}" for i, t in enumerate(types))


def run(kind: str, n: int, count: int, rounds: int, query: Of) -> str:
    """One line: -O0 and -O2 by turns, from planning to tables."""
    text = program(KINDS[kind](n, query))
    checked = check_text(text, "bench.cep").program
    assert checked is not None
    events = events_of(kind, n, count)

    def whole(level: Literal[0, 2]) -> tuple[float, float, Report]:
        gc.collect()
        stages = Stages()
        start = time.process_time()
        found = local.run(
            checked,
            lambda stream, plan: read_given(events, plan, stream.input),
            {},
            options=Options(level),
            stages=stages,
        )
        return time.process_time() - start, stages.seconds["deciding what to share"], found

    first = [whole(0), whole(2)]
    same_rows(first[0][2].tables, first[1][2].tables)
    turns = [[whole(0)[:2], whole(2)[:2]] for _ in range(rounds)]
    o0, o2 = ([turn[i][0] for turn in turns] for i in (0, 1))
    ratio = statistics.median(a / b for a, b in zip(o0, o2, strict=True))
    planning = statistics.median(turn[1][1] for turn in turns)
    was, now = (found[2].efforts["s"] for found in first)
    return (
        f"| {kind} | {n:,} | {statistics.median(o0):.2f} | {statistics.median(o2):.2f} | {planning:.2f} | {ratio:.2f} "
        f"| {was.operations / max(now.operations, 1):.1f} |"
    )


def events_of(kind: str, n: int, count: int) -> Any:
    """Events at random of all types that the program asks for."""
    types = {"much": [f"{w}{i}{j}" for w in "ABC" for i in range(8) for j in range(2)],
             "little": [f"T{t}" for t in range(TYPES)],
             "nothing": [f"Q{q}T{i}" for q in range(n) for i in range(3)]}[kind]  # fmt: skip
    kinds = np.random.default_rng(1).integers(0, len(types), count)
    return stream(types, kinds, np.arange(count) * 1000 // PER_SECOND, 4)


def compiled(kind: str, n: int) -> str:
    """One line: processor seconds of each stage, and what is in the job."""
    text = program(KINDS[kind](n, counted))
    seconds: list[float] = []

    def timed(stage: Callable[[], Any]) -> Any:
        gc.collect()
        start = time.process_time()
        found = stage()
        seconds.append(time.process_time() - start)
        return found

    checked = timed(lambda: check_text(text, "bench.cep"))
    plans = timed(lambda: planned(checked.program, checked.sources))
    job = timed(lambda: job_from(checked.program, plans, checked.sources))
    shown = timed(lambda: to_text(checked.program, explain(checked.program, plans)))
    whole = seconds[0] + seconds[1] + seconds[2]
    return (
        f"| {kind} | {n:,} | {seconds[0]:.1f} | {seconds[1]:.1f} | {seconds[2]:.1f} | {whole:.1f} "
        f"| {seconds[3]:.1f} | {len(job.text) / 1e6:.2f} | {len(shown) / 1e6:.2f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, sizes in (("run", [10, 100, 300, 1000]), ("compile", [100, 1000, 10_000])):
        command = commands.add_parser(name)
        command.add_argument("--queries", type=int, nargs="+", default=sizes)
        command.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
        if name == "run":
            command.add_argument("--events", type=int, default=400_000)
            command.add_argument("--rounds", type=int, default=3)
            command.add_argument("--listed", action="store_true")
    command = commands.add_parser("write")
    command.add_argument("kind", choices=KINDS)
    command.add_argument("n", type=int)
    given = parser.parse_args()
    if given.command == "write":
        print(program(KINDS[given.kind](given.n, counted)))
        return
    for kind in given.kinds:
        for n in given.queries:
            if given.command == "run":
                print(run(kind, n, given.events, given.rounds, listed if given.listed else counted), flush=True)
            else:
                print(compiled(kind, n), flush=True)


if __name__ == "__main__":
    main()
