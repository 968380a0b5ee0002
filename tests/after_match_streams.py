"""AFTER MATCH in streams and in pieces of large groups against the batch, over very many random streams; by hand
`python -m tests.after_match_streams --streams 100000`.

A case is one query over many small streams at once: they are partitions of one input, or one stream alone without a
partition. Half of them keep matches by their number, which says whether each way counts them alike. Each is woven from words of the pattern with noise, ties, equal events and disorder within the watermark.
The table that is printed says how many streams had rows, and in how many the clause left out a match, for each kind
of pattern, selection and AFTER MATCH mode. The oracle looks at one stream of every case.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache
from itertools import count, islice, pairwise
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cepc_runtime.batch import execute
from cepc_runtime.parts.classes import Class
from cepc_runtime.streaming.advance import advance, flow
from cepc_runtime.streaming.program import Program
from cepc_runtime.streaming.state import State, from_bytes, to_bytes
from cepc_runtime.streaming.ticks import END
from tests import oracle
from tests.equivalence import Compiled, compile_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

HEADER = """STREAM s (at BIGINT, kind STRING, g INT, k INT, x INT) EVENT TIME at UNIT s
EVENT TYPE kind IN ('A', 'B', 'C', 'D');
"""
SCHEMA = pa.schema([("at", pa.int64()), ("kind", pa.string()), ("g", pa.int32()), ("k", pa.int32()), ("x", pa.int32())])
PLACE = 1 + SCHEMA.names.index("g")
"""Of an event's stream in a row: the variable comes first."""
STREAMS = 25
"""Of a case that has a partition."""
SHORT = 10
"""Events of a stream that the oracle looks at."""
MOST_FAILURES = 10

KINDS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "one event": (("A a", "a", ""), ("A+ a", "a", ""), ("A{2,3} a", "a", "")),
    "SEQ": (("SEQ(A a, C c)", "ac", ""), ("SEQ(A a, B b, C c)", "abc", ""), ("SEQ(A a, A c)", "ac", "")),
    "B+": (("SEQ(A a, B+ b, C c)", "abc", ""), ("SEQ(A a, B+ b)", "ab", ""), ("SEQ(A+ a, B* b, C c)", "abc", "")),
    "nested": (("SEQ(A a, B+ b)+", "ab", ""), ("SEQ(A a, SEQ(B b, C c)+)", "abc", "")),
    "AND, OR": (
        ("AND(A a, B b)", "ab", ""), ("SEQ(A a, AND(B b, C c))", "abc", ""), ("SEQ(A a, OR(B b, SEQ(B b2, C c)))", "abc", ""),
    ),
    "NOT": (
        ("SEQ(A a, NOT D, C c)", "ac", ""), ("SEQ(A a, C c, NOT D)", "ac", ""), ("SEQ(A a, C c, NOT D WITHIN 3 s)", "ac", ""),
        ("SEQ(NOT D, A a, B+ b)", "ab", ""), ("AND(A a, B b, NOT D)", "ab", ""),
    ),
    "reluctant": (("SEQ(A a, B+? b)", "ab", ""), ("SEQ(A a, B*? b, C?? c)", "abc", ""), ("SEQ(A+? a, B{1,2}? b)", "ab", "")),
    "conditions": (
        ("SEQ(A a, C c)", "ac", "a.x <= c.x"), ("SEQ(A a, B+ b)", "ab", "b.x >= PREV(b).x"), ("A+ a", "a", "a.x > 0"),
        ("SEQ(A a, B+ b, C c)", "abc", "LAST(b).x <> c.x"),
    ),
}  # fmt: skip
WORDS = ("AC", "ABC", "ABBC", "AB", "ABB", "BA", "ABCBC", "AA", "AAC", "ABAB", "ACB", "AABBC", "CAB")
SELECTS = ("NEXT", "CONTIGUOUS")
MODES = ("TO NEXT EVENT", "PAST LAST EVENT", "TO FIRST", "TO LAST", "FOR")
Row = tuple[tuple[Any, ...], ...]


@dataclass
class Tally:
    """By kind, selection and mode: how many streams were compared, had rows, and had fewer than without the clause."""

    streams: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    with_rows: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    skipping: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    rows: int = 0
    by_oracle: int = 0
    failures: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.streams += other.streams
        self.with_rows += other.with_rows
        self.skipping += other.skipping
        self.rows += other.rows
        self.by_oracle += other.by_oracle
        self.failures += other.failures


@dataclass(frozen=True)
class Query:
    pattern: str
    where: str
    select: str
    after: str
    within: int
    keys: tuple[str, ...]
    numbers: str

    def text(self, *, after: bool = True) -> str:
        pattern = self.pattern if after else re.sub(r"([+*?}])\?", r"\1", self.pattern)  # marks are for the clause
        where = " AND ".join(filter(None, [f"[{', '.join(self.keys)}]" if self.keys else "", self.where]))
        return (
            f"{HEADER}QUERY q RETURN MATCH *\n  PATTERN {pattern}{f' WHERE {where}' if where else ''}\n"
            f"  SELECT {self.select}{f' AFTER MATCH SKIP {self.after} {self.numbers}' if after else ''}"
            f" WITHIN {self.within} s;"
        )


@cache
def _compiled(text: str) -> Compiled:
    return compile_text(text)


def _query(chance: random.Random, number: int) -> tuple[tuple[str, str, str], Query]:
    """Every kind, selection and mode in turn, and of these some pattern."""
    number, mode = divmod(number, len(MODES))
    number, select = divmod(number, len(SELECTS))
    kind = [*KINDS][number % len(KINDS)]
    pattern, variables, where = chance.choice(KINDS[kind])
    after = MODES[mode]
    if after == "FOR":
        after += f" {chance.choice((1, 2, 5, 12, 40))} s"
    elif after.startswith("TO ") and after != "TO NEXT EVENT":
        after += f" {chance.choice(variables)}"
    keys = chance.choice((("g",), ("g",), ("g", "k"), ()))
    numbers = "HAVING MATCH_NUMBER() % 3 <> 0" if chance.random() < 0.5 else ""
    cell = (kind, SELECTS[select], MODES[mode])
    return cell, Query(pattern, where, SELECTS[select], after, chance.choice((3, 6, 6, 9)), keys, numbers)


def _stream(chance: random.Random, g: int) -> list[dict[str, Any]]:
    """4 to 40 events, mostly few."""
    length = chance.choice((4, 6, 8, 10, 12, 16, 24, 40))
    noise = chance.choice((0, 0.1, 0.3, 1))
    pace = chance.choice(((0, 1), (1,), (0, 1, 2), (0, 0, 3), (1, 2, 4)))
    keys = chance.choice(((1,), (1, 2)))
    letters: list[str] = []
    while len(letters) < length:
        letters += [chance.choice("ABCD") for _ in range(3)] if chance.random() < noise else chance.choice(WORDS)
    rows, at = [], chance.randrange(7)
    for letter in letters[:length]:
        at += chance.choice(pace)
        rows.append({"at": at, "kind": letter, "g": g, "k": chance.choice(keys), "x": chance.randrange(4)})
        if chance.random() < 0.05:
            rows.append(dict(rows[-1]))
    return rows


def _micro_batches(chance: random.Random, rows: Sequence[dict[str, Any]]) -> Iterator[tuple[list[dict[str, Any]], int]]:
    """The events in an order that the watermark allows, and the watermark after each part."""
    delay = chance.choice((0, 0, 1, 3))
    arrival = sorted(rows, key=lambda row: (row["at"] + chance.uniform(0, delay), chance.random()))
    most = max(len({row["at"] for row in rows}), 2)
    cuts = sorted(chance.sample(range(1, len(rows)), min(len(rows) - 1, chance.choice((2, most // 2, most)))))
    newest = -(10**9)
    for start, end in pairwise([0, *cuts, len(rows)]):
        part = arrival[start:end]
        newest = max(newest, *(row["at"] for row in part))
        yield part, newest - delay


def _program(compiled: Compiled) -> Program:
    return Program(compiled.plan, (Class((), (0,), None),))


def _as_stream(chance: random.Random, compiled: Compiled, rows: Sequence[dict[str, Any]]) -> Iterator[Any]:
    program = _program(compiled)
    data = to_bytes(State(), program)
    for part, watermark in [*_micro_batches(chance, rows), ([], END)]:
        events = pa.Table.from_pylist(part, SCHEMA)
        done = advance(program, from_bytes(data, program), [events], watermark)
        assert not done.late
        data = to_bytes(done.state, program)
        yield from (table for _, table in done.rows)


def _in_pieces(chance: random.Random, compiled: Compiled, table: pa.Table) -> Iterator[Any]:
    batches = table.sort_by("at").to_batches(max_chunksize=chance.choice((1, 5, 20)))
    pieces = (pa.Table.from_batches([batch]) for batch in batches)
    yield from (found for _, found in flow(_program(compiled), pieces, chance.choice((1, 4, 30))))


def _rows(tables: Iterable[Any]) -> Counter[Row]:
    """The matches, each as its events."""
    return Counter(_row(events) for table in tables for events in table.column("events").to_pylist())


def _row(events: Any) -> Row:
    return tuple(tuple(event.values()) for event in events)


def _stream_of(row: Row) -> Any:
    return row[0][PLACE]


def _streams_of(rows: Counter[Row]) -> Counter[int]:
    """How many rows each stream has."""
    found: Counter[int] = Counter()
    for row, number in rows.items():
        found[_stream_of(row)] += number
    return found


def compare(number: int, seed: int) -> Tally:
    """One case, the same whenever it is run."""
    chance = random.Random(f"{seed}/{number}")
    cell, query = _query(chance, number)
    compiled, tally = _compiled(query.text()), Tally()
    streams = [_stream(chance, g) for g in range(STREAMS if query.keys else 1)]
    rows = [row for stream in streams for row in stream]
    table = pa.Table.from_pylist(rows, SCHEMA)
    batch = _rows([execute(compiled.plan, table, interpreted=True).tables["q"]])
    of_each = _streams_of(batch)
    plain = _compiled(query.text(after=False))
    unskipped = _streams_of(_rows([execute(plain.plan, table, interpreted=True).tables["q"]]))
    tally.streams[cell], tally.with_rows[cell], tally.rows = len(streams), len(of_each), batch.total()
    tally.skipping[cell] = sum(of_each[g] < number for g, number in unskipped.items())
    ways = [
        ("stream", _rows(_as_stream(chance, compiled, rows)), batch),
        ("pieces", _rows(_in_pieces(chance, compiled, table)), batch),
    ]
    if short := [stream for stream in streams if len(stream) <= SHORT]:
        one = chance.choice(short)
        wanted = Counter(_row(row["events"]) for row in oracle.evaluate(compiled.tree, one)["q"])
        ways.append(("batch", Counter({row: n for row, n in batch.items() if _stream_of(row) == one[0]["g"]}), wanted))
        tally.by_oracle = 1
    for way, found, wanted in ways:
        if found != wanted:
            more, fewer = [*(found - wanted).elements()], [*(wanted - found).elements()]
            tally.failures.append(f"case {number} of seed {seed}, {way}: {more=} {fewer=}\n{query.text()}")
    return tally


def _compare(case: tuple[int, int]) -> Tally:
    return compare(*case)


def run(least: int, seed: int = 1, workers: int = 1) -> Tally:
    """So many streams at least, or until some are wrong."""
    total, cases = Tally(), ((number, seed) for number in count())
    with get_context("spawn").Pool(workers) if workers > 1 else nullcontext() as pool:
        for tally in map(_compare, cases) if pool is None else _imap(pool, cases):
            total.add(tally)
            if total.streams.total() >= least or len(total.failures) >= MOST_FAILURES:
                break
    return total


def _imap(pool: Any, cases: Iterator[tuple[int, int]]) -> Iterator[Tally]:
    """As the pool's own, which would take the cases without end at once."""
    while True:
        yield from pool.imap(_compare, islice(cases, 512), chunksize=16)


def table(tally: Tally) -> str:
    lines = [f"{'kind':12} {'select':10} {'after match skip':16} {'streams':>8} {'with rows':>10} {'skipping':>9}"]
    for cell, streams in sorted(tally.streams.items()):
        kind, select, mode = cell
        lines.append(
            f"{kind:12} {select:10} {mode:16} {streams:8,} {tally.with_rows[cell]:10,} {tally.skipping[cell]:9,}"
        )
    total = tally.streams.total()
    lines.append(
        f"{total:,} streams, {tally.with_rows.total():,} with rows, {tally.skipping.total():,} with fewer for the clause;"
        f" {tally.rows:,} rows, {tally.by_oracle:,} streams by the oracle too, {len(tally.failures)} wrong"
    )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    tally = run(given.streams, given.seed, given.workers)
    print(table(tally), *tally.failures, sep="\n")
    sys.exit(bool(tally.failures))


if __name__ == "__main__":
    main()
