"""Seeded events, and which pairs of types are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TYPES: Final = ("A", "B", "C", "D", "E")
PAIRS: Final = ("AB", "BC", "CD", "DE", "EA", "AC", "CE", "EB", "BD", "DA")
STREAM: Final = """STREAM events (at TIMESTAMP, kind STRING, account BIGINT, amount DOUBLE)
EVENT TIME at EVENT TYPE kind;
"""
DAY: Final = 24 * 3600 * 1000


def program(pairs: Sequence[str]) -> str:
    return STREAM + "".join(
        f"QUERY q{number} RETURN account, COUNT(*) AS n PATTERN SEQ({pair[0]}, {pair[1]})\n"
        "WHERE [account] GROUP BY account WITHIN 1 HOUR;\n"
        for number, pair in enumerate(pairs)
    )


def write(number: int, accounts: int, path: Path) -> None:
    """A day in the order of time, in milliseconds: some events of an account have the same."""
    chance = np.random.default_rng(1)
    table = pa.table(
        {
            "at": pa.array(np.sort(chance.integers(0, DAY, number)) * 1000, pa.timestamp("us", "UTC")),
            "kind": pa.array(TYPES).take(pa.array(chance.integers(0, len(TYPES), number))),
            "account": pa.array(chance.integers(0, accounts, number)),
            "amount": pa.array(np.round(chance.uniform(0, 100, number), 2)),
        }
    )
    pq.write_table(table, path)
