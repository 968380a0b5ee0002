"""Events of a food delivery service, for queries.cep.

python generate.py orders.parquet --events 100000 --seed 1

Drivers take one order after the other. An order is placed in the app or on the web, requested from a driver, driven in
one or more legs (a pickup and a travel each), and delivered; every twelfth or so is cancelled instead. About one event
in 2,000 has lost its action.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

START = np.datetime64("2026-03-02T11:00:00", "us")
DISTRICTS = np.array(["Astoria", "Chelsea", "Flatbush", "Harlem", "SoHo"])
ACTIONS = np.array(["AppOrder", "WebOrder", "Request", "Pickup", "Travel", "Delivery", "Cancel"])
APP, WEB, REQUEST, PICKUP, TRAVEL, DELIVERY, CANCEL = range(7)
ORDERS = 12  # of each driver, one after the other


def generate(events: int, seed: int) -> pa.Table:
    """So many events in the order of their times."""
    random = np.random.default_rng(seed)
    drivers = -(-events // (6 * ORDERS)) + 1
    legs = random.geometric(0.62, (drivers, ORDERS)).clip(max=5)
    app = random.random((drivers, ORDERS)) < 0.7
    cancelled = random.random((drivers, ORDERS)) < 0.08
    # An order's events: order, request, two for each leg, and the end.
    size = (3 + 2 * legs).ravel()
    first = np.concatenate(([0], np.cumsum(size)[:-1]))
    order = np.repeat(np.arange(size.size), size)
    place = np.arange(size.sum()) - first[order]
    last = place == size[order] - 1
    kind = np.where(place % 2 == 0, PICKUP, TRAVEL)
    kind[place == 0] = np.where(app.ravel(), APP, WEB)
    kind[place == 1] = REQUEST
    kind[last] = np.where(cancelled.ravel(), CANCEL, DELIVERY)
    duration = np.where(kind == TRAVEL, random.lognormal(1.1, 0.55, kind.size).clip(0.5, 15).round(1), np.nan)
    # Seconds from one event of a driver to the next; a travel takes its duration, and drivers wait before an order.
    step = np.where(kind == TRAVEL, np.nan_to_num(duration) * 60, random.exponential(45, kind.size) + 5)
    step = np.where(place == 0, random.exponential(240, kind.size), step)
    driver = order // ORDERS
    time = np.cumsum(step)
    starts = np.flatnonzero(np.diff(driver, prepend=-1))
    time -= np.repeat(time[starts], np.diff(starts, append=driver.size))
    time += (random.random(drivers) * 1200)[driver]
    # Drivers have a district of their own and are sent to another now and then.
    district = np.where(
        random.random(size.size) < 0.9,
        random.integers(0, len(DISTRICTS), drivers).repeat(ORDERS),
        random.integers(0, len(DISTRICTS), size.size),
    )[order]
    chosen = np.argsort(time, kind="stable")[:events]
    return pa.table(
        {
            "at": pa.array(START + time[chosen].astype("timedelta64[s]"), pa.timestamp("us", "UTC")),
            "action": pa.array(ACTIONS[kind[chosen]], mask=random.random(len(chosen)) < 1 / 2000),
            "driver_id": pa.array(1000 + driver[chosen], pa.int64()),
            "district": pa.array(DISTRICTS[district[chosen]]),
            "duration": pa.array(duration[chosen], from_pandas=True),
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
