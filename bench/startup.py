"""How long `cepc` takes to start, as a ratio to `python -c pass` measured in the same run.

The budget for `check` and `fmt` of a small file is 300 ms. Each round runs every command once, so that a busy moment of
the machine falls on all of them; the figure is the median over the rounds. Bytecode is kept as pip keeps it for an
installed package, also where PYTHONDONTWRITEBYTECODE is set; a first, unmeasured round writes it.

    python bench/startup.py [FILE.cep] [--rounds N]

With --runs it is the seconds of processors, of all processes together, of `cepc run` on 20,000 events: one query in this
process, from each format, or with --engine spark those of examples/food_delivery, whose first three runs, the third of
which makes the archive of classes, are not measured. --before COMMIT measures that commit as well, by turns.

    python bench/startup.py --runs local|spark [--before COMMIT] [--rounds N]
"""

import argparse
import json
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


# ---- short runs ------------------------------------------------------------------------------------------------------

EVENTS = 20_000
HERE = Path(__file__).resolve().parent.parent
PACKAGES = ("compiler", "grammar", "runtime", "stdlib")
ADOPT = 36  # PR_SET_CHILD_SUBREAPER of Linux: what a process leaves behind becomes a child of ours, and is waited for
UNTIL_MADE = 3  # runs


def write_events(folder: Path) -> list[Path]:
    """The same events in each format."""
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    paths = [folder / f"orders.{ending}" for ending in ("parquet", "csv", "jsonl")]
    generate = [sys.executable, str(HERE / "examples/food_delivery/generate.py"), str(paths[0])]
    subprocess.run([*generate, "--events", str(EVENTS), "--seed", "1"], check=True)
    table = pq.read_table(paths[0])
    pc.write_csv(table, paths[1])
    lines = (json.dumps(row | {"at": row["at"].isoformat()}) for row in table.to_pylist())
    paths[2].write_text("\n".join(lines) + "\n", encoding="utf-8")
    return paths


def processor_seconds(command: Sequence[str], env: dict[str, str]) -> float:
    """Of a command and all that it starts, to the end of the last."""
    code = (
        "import ctypes, os, resource, subprocess, sys\n"
        f"ctypes.CDLL(None).prctl({ADOPT}, 1, 0, 0, 0)\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)\n"
        "try:\n    while True: os.wait()\n"
        "except ChildProcessError: used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime)\n"
        "sys.exit(done.stderr.decode() if done.returncode else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command], stdout=subprocess.PIPE, check=True, env=env, text=True
    )
    return float(done.stdout)


def measure_runs(engine: str, sides: dict[str, Path], folder: Path, rounds: int) -> dict[str, float]:
    """Median seconds of processors, by what is run and by whom, in turns."""
    files, query = write_events(folder), [] if engine == "spark" else ["--query", "requested"]
    measured = {}
    for path in files[: 1 if engine == "spark" else None]:
        for side, tree in sides.items():
            places = os.pathsep.join(str(tree / package) for package in PACKAGES)
            env = environment(str(folder / side)) | {"PYTHONPATH": places, "XDG_CACHE_HOME": str(folder / "cache")}
            program = str(HERE / "examples/food_delivery/queries.cep")
            command = [sys.executable, "-m", "cepc", "run", program, "--events", str(path), "--engine", engine, *query]
            measured[f"{path.suffix[1:]}, {side}"] = command, env
    for command, env in measured.values():
        for _ in range(UNTIL_MADE if engine == "spark" else 1):
            processor_seconds(command, env)
    times: dict[str, list[float]] = {name: [] for name in measured}
    for _ in range(rounds):
        for name, (command, env) in measured.items():
            times[name].append(processor_seconds(command, env))
    return {name: statistics.median(values) for name, values in times.items()}


def print_runs(engine: str, before: str | None, folder: Path, rounds: int) -> None:
    (folder / "cache").mkdir(mode=0o700)
    sides = {"now": HERE}
    git = ["git", "-C", str(HERE), "worktree"]
    if before is not None:
        sides = {"before": folder / "tree", **sides}
        subprocess.run([*git, "add", "-q", "--detach", str(sides["before"]), before], check=True)
    try:
        for name, value in measure_runs(engine, sides, folder, rounds).items():
            print(f"{name:<18}{value:>8.2f} s")
    finally:
        if before is not None:
            subprocess.run([*git, "remove", "--force", str(sides["before"])], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="start-up time of cepc, beside python's own")
    parser.add_argument("program", nargs="?", type=Path, help="a .cep file (default: a small one of its own)")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--runs", choices=["local", "spark"], help="measure short runs instead")
    parser.add_argument("--before", metavar="COMMIT")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        if arguments.runs:
            print_runs(arguments.runs, arguments.before, Path(directory), arguments.rounds)
            return
        program = arguments.program or Path(directory, "small.cep")
        if not arguments.program:
            program.write_text(SMALL_PROGRAM, encoding="utf-8")
        print(report(measure(program, arguments.rounds)))


if __name__ == "__main__":
    main()
