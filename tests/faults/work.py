"""What streams do while they are killed: three kinds of queries, one of them twice, over events that are late, doubled
and out of order.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cepc_runtime.batch import execute
from tests.equivalence import compile_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.equivalence import Compiled, Rows

_OF_A_STREAM = """STREAM $s (at BIGINT, kind STRING, k BIGINT, x INT)
EVENT TIME at UNIT s WATERMARK 5 SECONDS EVENT TYPE kind IN ('A', 'B', 'C');
QUERY folded_of_$s FROM $s RETURN k, COUNT(*) AS n, SUM(A.x) AS x PATTERN SEQ(A, B) GROUP BY k WITHIN 20 s SLIDE 10 s;
QUERY folded_too_of_$s FROM $s RETURN k, COUNT(*) AS n, SUM(A.x) AS x PATTERN SEQ(A, B, C) GROUP BY k WITHIN 20 s SLIDE 10 s;
QUERY skipping_of_$s FROM $s RETURN MATCH k, a.at AS since, COUNT(b) AS n PATTERN SEQ(A a, B+ b, C c) WHERE [k]
  SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN 12 s;
QUERY absent_of_$s FROM $s RETURN k, A.at AS since PATTERN SEQ(A, NOT C WITHIN 9 s) WHERE [k] WITHIN 3 s;
"""
STREAM = "s"
"""The one stream of `compiled`."""
SCHEMA = pa.schema([("at", pa.int64()), ("kind", pa.string()), ("k", pa.int64()), ("x", pa.int32())])
DELAY = 5
SECONDS = 10
"""Of event time in a file."""


@dataclass(frozen=True)
class Work:
    """Files of events, each a micro-batch, and those of them that come too late for any row."""

    files: tuple[pa.Table, ...]
    late: int
    in_time: pa.Table
    after: pa.Table
    """A file that comes, twice, when the stream is being ended: it would close every window, and is not taken any
    more.
    """

    @cached_property
    def expected(self) -> dict[str, Rows]:
        """Of a batch over the events that come in time."""
        return {name: table.to_pylist() for name, table in execute(compiled().plan, self.in_time).tables.items()}


def program(streams: Sequence[str]) -> str:
    """The queries, for each stream. Two have the same columns, and so are written together."""
    return "".join(_OF_A_STREAM.replace("$s", stream) for stream in streams)


@cache
def compiled() -> Compiled:
    return compile_text(program([STREAM]))


def query_of(name: str, stream: str) -> str:
    """What a query of `compiled` is called in another stream."""
    return name.removesuffix(STREAM) + stream


def work(files: int, seed: int, a_second: int = 4, keys: int = 4) -> Work:
    """Events for which every query has rows: the first such of a few."""
    made = (_work(files, seed + again * 1_000_003, a_second, keys) for again in count())
    return next(one for one in made if all(one.expected.values()))


def _work(files: int, seed: int, a_second: int, keys: int) -> Work:
    """Events in any order within the watermark, one in twenty twice, and from the fourth file on one that is minutes
    late.
    """
    chance = random.Random(seed)
    rows: list[dict[str, Any]] = [
        {"at": second, "kind": chance.choice("ABBC"), "k": chance.randrange(keys), "x": chance.choice((1, 2, None))}
        for second in range(1000, 1000 + files * SECONDS)
        for _ in range(a_second)
    ]
    rows += [dict(row) for row in rows if chance.random() < 0.05]
    rows.sort(key=lambda row: row["at"] + chance.uniform(0, DELAY))
    each = -(-len(rows) // files)
    parts = [rows[i * each : (i + 1) * each] for i in range(files)]
    late = [{"at": 500 + n, "kind": "A", "k": n % keys, "x": 1} for n in range(3, files)]
    tables = [
        pa.Table.from_pylist([*part, *late[n - 3 : n - 2]] if n >= 3 else part, SCHEMA) for n, part in enumerate(parts)
    ]
    after = [{"at": 10_000, "kind": "B", "k": k, "x": 1} for k in range(keys)]
    in_time = pa.Table.from_pylist(rows, SCHEMA)
    return Work(tuple(tables), len(late), in_time, pa.Table.from_pylist(after, SCHEMA))
