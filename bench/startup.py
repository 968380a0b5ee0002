"""How long `cepc` takes to start, as a ratio to `python -c pass` measured in the same run.

The budget for `check` and `fmt` of a small file is 300 ms. Each round runs every command once, so that a busy moment of
the machine falls on all of them; the figure is the median over the rounds. Bytecode is kept as pip keeps it for an
installed package, also where PYTHONDONTWRITEBYTECODE is set; a first, unmeasured round writes it.

    python bench/startup.py [FILE.cep] [--rounds N]
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

BUDGET_MS = 300
SMALL_PROGRAM = """\
STREAM rides (at TIMESTAMP, kind STRING, driver_id BIGINT) EVENT TIME at EVENT TYPE kind IN ('Pickup', 'Delivery');

QUERY delivered
  RETURN  COUNT(*) AS trips
  PATTERN SEQ(Pickup, Delivery)
  WHERE   [driver_id]
  WITHIN  20 MINUTES SLIDE 5 MINUTES;
"""


def commands(program: Path) -> dict[str, list[str]]:
    """What is measured, by the name it is printed under; `pass` is the floor."""
    cepc = str(Path(sys.executable).parent / "cepc")  # the installed command, not a shim of a version manager
    return {
        "python -c pass": [sys.executable, "-c", "pass"],
        "cepc --version": [cepc, "--version"],
        "cepc check": [cepc, "check", str(program)],
        "cepc fmt --check": [cepc, "fmt", "--check", str(program)],
        "cepc explain": [cepc, "explain", str(program)],
    }


def environment(bytecode: str) -> dict[str, str]:
    """The environment of a user: bytecode is written once, here into a folder of its own."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": bytecode}


def seconds(command: Sequence[str], env: dict[str, str]) -> float:
    """The wall time of one run. A failing command measures nothing, so its exit code ends the benchmark."""
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    elapsed = time.perf_counter() - start
    if done.returncode not in (0, 1):  # 1: the file is not formatted, or has errors; both are full runs
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return elapsed


def measure(program: Path, rounds: int) -> dict[str, float]:
    """Median seconds by name, after one round that only warms the file cache and the bytecode."""
    measured = commands(program)
    times: dict[str, list[float]] = {name: [] for name in measured}
    with tempfile.TemporaryDirectory() as bytecode:
        env = environment(bytecode)
        for command in measured.values():
            seconds(command, env)
        for _ in range(rounds):
            for name, command in measured.items():
                times[name].append(seconds(command, env))
    return {name: statistics.median(values) for name, values in times.items()}


def report(medians: dict[str, float]) -> str:
    """One line for each command: its ratio to the floor, and milliseconds for comparison with the budget."""
    floor = medians["python -c pass"]
    lines = [f"{'command':<18}{'ratio':>8}{'ms':>8}"]
    for name, value in medians.items():
        over = "  over budget" if value * 1000 > BUDGET_MS else ""
        lines.append(f"{name:<18}{value / floor:>7.1f}x{value * 1000:>8.0f}{over}")
    return "\n".join([*lines, f"budget: {BUDGET_MS} ms"])


def main() -> None:
    parser = argparse.ArgumentParser(description="start-up time of cepc, beside python's own")
    parser.add_argument("program", nargs="?", type=Path, help="a .cep file (default: a small one of its own)")
    parser.add_argument("--rounds", type=int, default=11)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        program = arguments.program or Path(directory, "small.cep")
        if not arguments.program:
            program.write_text(SMALL_PROGRAM, encoding="utf-8")
        print(report(measure(program, arguments.rounds)))


if __name__ == "__main__":
    main()
