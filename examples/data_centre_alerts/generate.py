"""The log of a data centre, for queries.cep.

python generate.py log.parquet --events 100000 --seed 1

Most events are of packets, ten packets a second, each started, delivered by a router, ended and acknowledged; about one
in 200 is never acknowledged, and now and then one route sends a burst of tiny ones. One event in 200 is of a machine:
its disk is full, a fan fails, somebody repairs it, it goes down.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

START = np.datetime64("2026-03-02T00:00:00", "us")
NETWORK = np.array(["StartTransmit", "Delivered", "EndTransmit", "Acknowledged"])
MACHINE = np.array(["DiskFull", "FanFailure", "Repair", "MachineDown"])
ROUTES = np.array([f"10.0.{i}.1>10.0.{j}.1" for i in range(1, 6) for j in range(1, 6) if i != j])
HOSTS = np.array([f"host{i:02}" for i in range(1, 41)])


def generate(events: int, seed: int) -> pa.Table:
    """So many events in the order of their times."""
    random = np.random.default_rng(seed)
    machine_events = events // 200
    packets = -(-(events - machine_events) // 3)  # more than enough: most have four
    started = np.cumsum(random.exponential(0.1, packets))
    route = random.integers(0, len(ROUTES), packets)
    tiny = np.repeat(random.random(-(-packets // 4)) < 0.002, 4)[:packets]  # four in a row
    route[tiny] = route[np.flatnonzero(tiny) // 4 * 4]
    size = np.where(
        tiny, random.integers(1, 5, packets), random.lognormal(6.5, 1.2, packets).astype(np.int64).clip(5, 65535)
    )
    rtt = random.gamma(3, 6, packets) * (1 + (route % 5))
    seconds = started[:, None] + np.array([0.0, 0.3, 0.6, 1.0]) * rtt[:, None] / 1000
    there = np.ones((packets, 4), dtype=bool)
    there[:, 3] = random.random(packets) >= 0.005
    packet, place = np.nonzero(there)
    packet, place = packet[: events - machine_events], place[: events - machine_events]
    end = started[packet].max(initial=1.0)
    machine_time = np.sort(random.random(machine_events) * end)
    machine_kind = random.choice(len(MACHINE), max(machine_events, 1), p=[0.3, 0.3, 0.3, 0.1])
    host = random.integers(0, len(HOSTS), max(machine_events, 1))

    time = np.concatenate((seconds[packet, place], machine_time))
    order = np.argsort(time, kind="stable")
    is_machine = order >= len(packet)
    of_packet = packet[np.where(is_machine, 0, order)]
    of_machine = np.where(is_machine, order - len(packet), 0)
    step = place[np.where(is_machine, 0, order)]
    is_ack = ~is_machine & (step == 3)
    return pa.table(
        {
            "at": pa.array(START + (time[order] * 1e3).astype("timedelta64[ms]"), pa.timestamp("us", "UTC")),
            "event": pa.array(np.where(is_machine, MACHINE[machine_kind[of_machine]], NETWORK[step])),
            "route": pa.array(ROUTES[route[of_packet]], mask=is_machine),
            "packet": pa.array(of_packet, mask=is_machine),
            "bytes": pa.array(size[of_packet].astype(np.int32), mask=is_machine),
            "rtt_ms": pa.array(rtt[of_packet].round(3), mask=~is_ack),
            "host": pa.array(HOSTS[host[of_machine]], mask=~is_machine),
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
