"""Faults by the thousand: `python -m tests.faults --faults 1000` in this process, and with `--spark` on Spark, a
process each.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.faults import process, spark


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--spark", action="store_true", help="kill drivers, JVMs and Python workers of real jobs")
    parser.add_argument("--streams", type=int, default=10, help="of a job of Spark's: all that run are killed at once")
    given = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        if given.spark:
            told = spark.run(Path(directory), given.faults, given.seed, streams=given.streams)
        else:
            told = process.run(Path(directory), given.faults, given.seed)
    for what in (told.faults, told.places):
        print(*(f"{number:6} {name}" for name, number in what.most_common()), "", sep="\n")
    print(
        f"{told.faults.total():,} faults in {time.monotonic() - begun:.0f} s, {len(told.wrong)} wrong",
        *told.wrong,
        sep="\n",
    )
    sys.exit(bool(told.wrong))


if __name__ == "__main__":
    main()
