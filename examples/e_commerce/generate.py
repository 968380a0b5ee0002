"""Purchases in an online shop, for queries.cep.

python generate.py purchases.parquet --events 100000 --seed 1

Fifty items, as in Sharon's evaluation; customers come and go, one for each 40 purchases, and buy about twice a minute.
After a laptop its accessories are likelier than anything else.
"""

from __future__ import annotations

import argparse
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

START = 1_772_463_600  # 2026-03-02, 15 o'clock UTC
NAMED = ["Laptop", "Case", "Adapter", "KeyboardProtector", "iPhone", "ScreenProtector"]
ITEMS = np.array([*NAMED, *(f"Item{i:02}" for i in range(len(NAMED), 50))])
PRICES = np.array([129900, 3900, 2500, 1500, 89900, 1200, *(500 + 137 * i for i in range(len(NAMED), 50))])  # cents
PURCHASES = 40  # of each customer


def generate(events: int, seed: int) -> pa.Table:
    """So many events in the order of their times."""
    random = np.random.default_rng(seed)
    customers = -(-events // PURCHASES)
    shape = (customers, PURCHASES)
    popular = 1 / np.arange(3, len(ITEMS) + 3)
    item = random.choice(len(ITEMS), shape, p=popular / popular.sum())
    # What is bought next is often the next accessory in the list, laptop first.
    follows = random.random(shape) < 0.5
    for i in range(1, PURCHASES):
        before = item[:, i - 1]
        item[:, i] = np.where(follows[:, i] & (before < len(NAMED) - 1), before + 1, item[:, i])
    seconds = np.cumsum(random.exponential(30, shape), axis=1) + random.random((customers, 1)) * 900
    cents = (PRICES[item] * random.choice([0.8, 0.9, 1.0, 1.0, 1.1], shape)).astype(np.int64)
    chosen = np.argsort(seconds.ravel(), kind="stable")[:events]
    prices = [Decimal(c).scaleb(-2) for c in cents.ravel()[chosen].tolist()]
    return pa.table(
        {
            "at": pa.array(START + seconds.ravel()[chosen].astype(np.int64)),
            "item": pa.array(ITEMS[item.ravel()[chosen]]),
            "customer": pa.array(np.broadcast_to(np.arange(customers)[:, None], shape).ravel()[chosen]),
            "price": pa.array(prices, pa.decimal128(10, 2)),
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
