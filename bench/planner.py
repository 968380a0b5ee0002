"""How long the passes take on workloads of Gloria's shape, beside planning each query by itself, in one run.

python -m bench.planner [--queries N …]
"""

import argparse
import time

from bench.check import workload

from cepc.api import check_text
from cepc.planning import plan_program
from cepc.shared_plans import Options, loads, plan_shared


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--queries", type=int, nargs="+", default=[100, 300, 1000])
    print(f"{'queries':>8}{'plan each':>12}{'share':>12}{'ratio':>8}{'row operations':>16}{'expected cost':>15}")
    for queries in arguments.parse_args().queries:
        program = check_text(workload(queries), "bench.cep").program
        assert program is not None
        start = time.perf_counter()
        plan_program(program)
        middle = time.perf_counter()
        shared = plan_shared(program, Options(seconds=None))
        alone, both = middle - start, time.perf_counter() - middle
        before, after = loads(shared.workloads[0], shared.contexts[0])
        print(
            f"{queries:8,}{alone:11.2f}s{both - alone:11.2f}s{both / alone:7.1f}×"
            f"{after.operations / before.operations:15.2f}×{after.nanoseconds / before.nanoseconds:14.2f}×"
        )


if __name__ == "__main__":
    main()
