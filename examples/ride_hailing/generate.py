"""Position reports of ride-hailing vehicles, for queries.cep.

python generate.py reports.parquet --events 100000 --seed 1

A vehicle drives through the city from street to street, prefers some turns to others, and reports where it is about
every minute. There is a vehicle for each 60 reports, so that the file covers about an hour.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

START = np.datetime64("2026-03-02T17:00:00", "s")
STREETS = np.array(["ElmSt", "ParkAve", "OakSt", "MainSt", "WestSt", "StateSt", "BayAve"])
# From each street: how likely is each as the next one. Nobody reports the same street twice in a row.
TURNS = np.array(
    [
        [0.00, 0.60, 0.10, 0.10, 0.05, 0.05, 0.10],
        [0.05, 0.00, 0.60, 0.05, 0.05, 0.05, 0.20],
        [0.05, 0.05, 0.00, 0.75, 0.05, 0.05, 0.05],
        [0.05, 0.05, 0.10, 0.00, 0.40, 0.35, 0.05],
        [0.50, 0.10, 0.10, 0.10, 0.00, 0.10, 0.10],
        [0.40, 0.20, 0.10, 0.10, 0.10, 0.00, 0.10],
        [0.40, 0.10, 0.20, 0.10, 0.10, 0.10, 0.00],
    ]
)
SPEEDS = np.array([28.0, 35.0, 30.0, 18.0, 42.0, 25.0, 45.0])
REPORTS = 60  # of each vehicle


def generate(events: int, seed: int) -> pa.Table:
    """So many events in the order of their times."""
    random = np.random.default_rng(seed)
    vehicles = -(-events // REPORTS)
    turns = np.cumsum(TURNS, axis=1)
    street = np.empty((vehicles, REPORTS), dtype=np.int64)
    street[:, 0] = random.integers(0, len(STREETS), vehicles)
    for i in range(1, REPORTS):  # all vehicles take a turn together
        chance = random.random(vehicles)[:, None]
        street[:, i] = (chance > turns[street[:, i - 1]]).sum(axis=1).clip(max=len(STREETS) - 1)
    seconds = np.cumsum(random.gamma(4, 15, (vehicles, REPORTS)), axis=1) + random.random((vehicles, 1)) * 600
    speed = (SPEEDS[street] * random.normal(1, 0.2, street.shape)).clip(3, 90).round(1)
    vehicle = np.broadcast_to(np.arange(vehicles)[:, None], street.shape)
    chosen = np.argsort(seconds.ravel(), kind="stable")[:events]
    return pa.table(
        {
            # In whole seconds, as in the paper: two vehicles often report at once.
            "at": pa.array(START + seconds.ravel()[chosen].astype("timedelta64[s]"), pa.timestamp("us", "UTC")),
            "street": pa.array(STREETS[street.ravel()[chosen]]),
            "vehicle": pa.array(vehicle.ravel()[chosen]),
            "speed": pa.array(speed.ravel()[chosen]),
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
