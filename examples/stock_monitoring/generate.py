"""Orders and reports of a stock market, for queries.cep.

python generate.py market.parquet --events 100000 --seed 1

Thirteen stocks, as in MOTTO's evaluation, whose prices are random walks; about ten events a minute.
"""

from __future__ import annotations

import argparse
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

START = np.datetime64("2026-03-02T14:30:00", "us")
STOCKS = np.array(
    ["AAPL", "MSFT", "IBM", "INTC", "FB", "ORCL", "CSCO", "QCOM", "AMD", "NVDA", "SAP", "HPQ", "TXN"],
)
KINDS = np.array(["BuyOrder", "SellOrder", "Uptrend", "RsiLow"])
OFTEN = [0.35, 0.35, 0.15, 0.15]


def generate(events: int, seed: int) -> pa.Table:
    """So many events in the order of their times."""
    random = np.random.default_rng(seed)
    stock = random.integers(0, len(STOCKS), events)
    kind = random.choice(len(KINDS), events, p=OFTEN)
    at = START + (np.cumsum(random.exponential(6, events)) * 1e3).astype("timedelta64[ms]")
    # A random walk for each stock: its steps are summed where its events are.
    order = np.argsort(stock, kind="stable")
    steps = random.normal(0, 0.006, events)[order]
    starts = np.flatnonzero(np.diff(stock[order], prepend=-1))
    walk = np.cumsum(steps)
    walk -= np.repeat(walk[starts], np.diff(starts, append=events))
    price = np.empty(events)
    price[order] = 120 * np.exp(walk)
    cents = np.round(price * 100).astype(np.int64).clip(1, 10**9)
    is_order = kind < 2
    return pa.table(
        {
            "at": pa.array(at, pa.timestamp("us", "UTC")),
            "kind": pa.array(KINDS[kind]),
            "stock": pa.array(STOCKS[stock]),
            "price": pa.array([Decimal(c).scaleb(-2) for c in cents.tolist()], pa.decimal128(10, 2)),
            "volume": pa.array(
                (random.pareto(1.5, events) * 300 + 100).astype(np.int32).clip(max=100_000), mask=~is_order
            ),
        }
    )


def main() -> None:
    """Write the events to a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path, help="a Parquet file")
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(generate(arguments.events, arguments.seed), arguments.output)


if __name__ == "__main__":
    main()
