"""Queries that both languages say exactly.

MATCH_RECOGNIZE finds rows of a partition that follow each other, and of all ways to do so from one start the preferred
one; in cepc that is SELECT CONTIGUOUS with AFTER MATCH. Skipping is said by a variable that any row satisfies. What
MATCH_RECOGNIZE has no words for (every match, SELECT NEXT, NOT, AND, aggregates over all matches) is not here, and
neither is what cepc has none for: aggregates that run while the match grows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from typing import Literal as OneOf

import numpy as np

from .events import KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

Shape = OneOf["fall", "followed", "burst"]


@dataclass(frozen=True)
class Query:
    """`columns` are BIGINT and the same on both sides. `shape` and `numbers` are for those who write it by hand."""

    name: str
    columns: tuple[str, ...]
    cep: str
    flink: str
    shape: Shape | None = None
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True)
class Workload:
    """A table of events, as both sides declare it, and the queries."""

    stream: str
    table: str
    queries: tuple[Query, ...]
    where: str = ""  # which events of the table Flink's queries are of

    def first(self, number: int) -> Workload:
        return replace(self, queries=self.queries[:number])

    def program(self) -> str:
        return self.stream + "".join(f"QUERY {q.name} {q.cep};\n" for q in self.queries)


TIME = "ts AS TO_TIMESTAMP_LTZ(`at`, 3), WATERMARK FOR ts AS ts"
TICKS = (
    "STREAM ticks (at BIGINT, kind STRING, account BIGINT, price BIGINT)\nEVENT TIME at UNIT ms EVENT TYPE kind IN ("
    + ", ".join(f"'T{i}'" for i in range(KINDS))
    + ");\n"
)
TICKS_TABLE = f"`at` BIGINT, kind STRING, account BIGINT, price BIGINT, {TIME}"
RESULT = ("account", "first_at", "last_at", "n")


def ticks(number: int, shapes: Sequence[Shape] = ("fall", "followed", "burst"), seed: int = 7) -> Workload:
    """As many each of falling prices that turn, of one kind followed by another, and of bursts of one kind."""
    chance = np.random.default_rng(seed)
    made = []
    for i in range(number):
        a, b = (int(k) for k in chance.choice(KINDS, 2, replace=False))
        asked = {
            "fall": _fall(2 + i // 3 % 3, i // 9),
            "followed": _followed(a, b, 20_000 + 1000 * i),
            "burst": _burst(a, b, 2 + i // 3 % 2, 980 + i),
        }
        made.append(Query(f"q{i}", RESULT, *asked[shapes[i % len(shapes)]]))
    return Workload(TICKS, TICKS_TABLE, tuple(made))


def _fall(least: int, rise: int) -> tuple[str, str, Shape, tuple[int, ...]]:
    """A run of falling prices, at least so long, and then one that is higher by more than this."""
    return (
        f"""RETURN MATCH account, a.at AS first_at, u.at AS last_at, COUNT(d) AS n
        PATTERN SEQ(ANY a, ANY{{{least},}} d, ANY u)
        WHERE [account] AND FIRST(d).price < a.price AND d.price < PREV(d).price AND u.price > LAST(d).price + {rise}
        SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT WITHIN 60 SECONDS""",
        f"""PARTITION BY account ORDER BY ts
        MEASURES A.`at` AS first_at, U.`at` AS last_at, COUNT(D.price) AS n
        ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
        PATTERN (A D{{{least},}} U) WITHIN INTERVAL '60' SECOND
        DEFINE D AS (LAST(D.price, 1) IS NULL AND D.price < A.price) OR D.price < LAST(D.price, 1),
               U AS U.price > LAST(D.price) + {rise}""",
        "fall",
        (least, rise, 60_000),
    )


def _followed(first: int, then: int, within: int) -> tuple[str, str, Shape, tuple[int, ...]]:
    """An event of one kind and the next of another, whatever comes between; from every start."""
    return (
        f"""RETURN MATCH account, a.at AS first_at, b.at AS last_at, COUNT(x) AS n
        PATTERN SEQ(T{first} a, ANY*? x, T{then} b) WHERE [account]
        SELECT CONTIGUOUS AFTER MATCH SKIP TO NEXT EVENT WITHIN {within} ms""",
        f"""PARTITION BY account ORDER BY ts
        MEASURES A.`at` AS first_at, B.`at` AS last_at, COUNT(X.price) AS n
        ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW
        PATTERN (A X*? B) WITHIN INTERVAL '{within // 1000}' SECOND(4)
        DEFINE A AS A.kind = 'T{first}', B AS B.kind = 'T{then}'""",
        "followed",
        (first, then, within),
    )


def _burst(kind: int, end: int, least: int, above: int) -> tuple[str, str, Shape, tuple[int, ...]]:
    """Some events of one kind above a price, one right after the other, and then one of another kind."""
    return (
        f"""RETURN MATCH account, FIRST(r.at) AS first_at, e.at AS last_at, COUNT(r) AS n
        PATTERN SEQ(T{kind}{{{least},6}} r, T{end} e) WHERE [account] AND r.price > {above}
        SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT WITHIN 60 SECONDS""",
        f"""PARTITION BY account ORDER BY ts
        MEASURES FIRST(R.`at`) AS first_at, E.`at` AS last_at, COUNT(R.price) AS n
        ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
        PATTERN (R{{{least},6}} E) WITHIN INTERVAL '60' SECOND
        DEFINE R AS R.kind = 'T{kind}' AND R.price > {above}, E AS E.kind = 'T{end}'""",
        "burst",
        (kind, end, least, above, 60_000),
    )


# ---- NEXMark -----------------------------------------------------------------------------------------------------------

BIDS = """STREAM bids (at BIGINT, kind STRING, auction BIGINT, bidder BIGINT, price BIGINT)
EVENT TIME at UNIT ms EVENT TYPE kind IN ('Person', 'Auction', 'Bid');
"""
BIDS_TABLE = f"`at` BIGINT, kind STRING, auction BIGINT, bidder BIGINT, price BIGINT, {TIME}"


def nexmark() -> Workload:
    """Its queries 0 and 3 on patterns. Its 1 and 2 (`A AS AVG(A.price) < 10000`) ask for an average that runs while the
    match grows, `RUNNING AVG(a.price) < 10000`, and are not here yet.
    """
    return Workload(BIDS, BIDS_TABLE, (_decreasing(), _drop()), "WHERE kind = 'Bid'")


def _decreasing() -> Query:
    """Query 0: a price that decreases and turns. `LAST(DOWN.price, 1)` in the turn's condition is the price before the
    lowest, so that two decreases at least are asked for; here the lowest is a variable of its own.
    """
    return Query(
        "q0",
        ("auction", "bidder", "start_at", "bottom_at", "end_at"),
        """RETURN MATCH auction, bidder, s.at AS start_at, low.at AS bottom_at, up.at AS end_at
        PATTERN SEQ(Bid s, Bid+ down, Bid low, Bid up)
        WHERE [auction, bidder] AND FIRST(down).price < s.price AND down.price < PREV(down).price
          AND low.price < LAST(down).price AND up.price > LAST(down).price
        SELECT CONTIGUOUS AFTER MATCH SKIP TO LAST up WITHIN 1 DAY""",
        """PARTITION BY auction, bidder ORDER BY ts
        MEASURES S.`at` AS start_at, LAST(DOWN.`at`) AS bottom_at, LAST(UP.`at`) AS end_at
        ONE ROW PER MATCH AFTER MATCH SKIP TO LAST UP
        PATTERN (S DOWN+ UP)
        DEFINE DOWN AS (LAST(DOWN.price, 1) IS NULL AND DOWN.price < S.price) OR DOWN.price < LAST(DOWN.price, 1),
               UP AS UP.price > LAST(DOWN.price, 1)""",
    )


def _drop() -> Query:
    """Query 3: a price that drops by more than 50 within five seconds."""
    return Query(
        "q3",
        ("auction", "bidder", "drop_at", "drop_by"),
        """RETURN MATCH auction, bidder, c.at AS drop_at, a.price - c.price AS drop_by
        PATTERN SEQ(Bid a, Bid* b, Bid c)
        WHERE [auction, bidder] AND b.price > a.price - 50 AND c.price < a.price - 50
        SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT WITHIN 5 SECONDS""",
        """PARTITION BY auction, bidder ORDER BY ts
        MEASURES C.`at` AS drop_at, A.price - C.price AS drop_by
        ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
        PATTERN (A B* C) WITHIN INTERVAL '5' SECOND
        DEFINE B AS B.price > A.price - 50, C AS C.price < A.price - 50""",
    )
