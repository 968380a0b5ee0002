"""Changes the code in one small place at a time, and tells which changes no test notices.

    python -m tests.mutants cover                      once: which test runs which line, into .mutants/ python -m
    tests.mutants cover tests/test_motto.py  again, of a file that is changed python -m tests.mutants --sample 150
    --seed 1      so many changes, each with the tests that run its line, until one of these fails python -m
    tests.mutants --only motto/suffix.py:51  every change of a line, of a file or of a folder

Of the tests that run a line the fastest come first, then those that run most of its module, for `--seconds` in all; a
change that lives is tried again with more. Tests of a Spark session and of other processes are not among them, so a
line may be tested better than is told. The working tree is never changed: a worker has a copy.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from queue import SimpleQueue
from random import Random
from typing import TYPE_CHECKING, Any, Final

from tests.mutations import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tests.mutations import Mutation

ROOT: Final = Path(__file__).parent.parent
RUNTIME: Final = "runtime/cepc_runtime"
FOLDERS: Final = (
    *(f"{RUNTIME}/{name}" for name in ("enumerate", "kernel", "panes", "streaming")),
    *(f"compiler/cepc/{name}" for name in ("automaton", "passes")),
)
KEPT: Final = ROOT / ".mutants"
PACKAGES: Final = ("compiler", "grammar", "runtime", "stdlib")
LEFT: Final = (".*", "__pycache__", "out", "dist", "pictures")


@dataclass(frozen=True)
class Candidate:
    name: str
    seconds: float

    @property
    def file(self) -> str:
        return self.name.partition("::")[0]

    @property
    def limit(self) -> float:
        """What it may take where the code is changed, and nothing is known yet that another test left to it."""
        return 10 + 5 * self.seconds


@dataclass(frozen=True)
class Cover:
    """The tests by the lines that they run, and by the modules."""

    by_line: dict[tuple[str, int], set[Candidate]]
    by_module: dict[str, dict[Candidate, int]]
    """With how many of its lines they run."""

    def of(self, path: str, mutation: Mutation) -> dict[Candidate, int]:
        in_module = self.by_module.get(path, {})
        if mutation.covered:
            return {test: in_module[test] for line in mutation.covered for test in self.by_line.get((path, line), ())}
        if in_module:  # on import
            return in_module
        folder = str(Path(path).parent)  # where a module has no function, its neighbours use what it has
        beside = [tests for module, tests in self.by_module.items() if str(Path(module).parent) == folder]
        return {test: lines for tests in beside for test, lines in tests.items()}


@dataclass(frozen=True)
class Outcome:
    path: str
    mutation: Mutation
    outcome: str
    by: str
    tests: int

    def __str__(self) -> str:
        place = f"{self.path.removeprefix(RUNTIME + '/').removeprefix('compiler/cepc/')}:{self.mutation.line}"
        return f"{self.outcome:<11} {place}  {self.mutation.what}" + (f"  [{self.by}]" if self.by else "")


class Worker:
    """A process with a copy of the tree."""

    def __init__(self, folder: Path) -> None:
        self.tree = folder / "tree"
        shutil.copytree(ROOT, self.tree, ignore=shutil.ignore_patterns(*LEFT))
        self._output = folder / "output"
        self._process = self._started()

    def _started(self) -> subprocess.Popen[str]:
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(str(self.tree / package) for package in PACKAGES),
            "CEPC_INTERPRETED": "1",
            "HYPOTHESIS_PROFILE": "mutants",
            "COVERAGE_CORE": "ctrace",  # the one that knows which test runs
        }
        command = [sys.executable, "-m", "tests.mutant_worker"]
        return subprocess.Popen(
            command, cwd=self.tree, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, job: dict[str, Any]) -> dict[str, Any]:
        for _ in range(2):
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(json.dumps(job | {"output": str(self._output)}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
            if line:
                answer: dict[str, Any] = json.loads(line)
                return answer
            self._process = self._started()  # somebody ended it, or there was no memory: that says nothing of the job
        return {"outcome": "broken", "by": "the worker ends"}

    @property
    def output(self) -> str:
        return self._output.read_text(errors="replace")

    @contextmanager
    def changed(self, path: str, mutation: Mutation) -> Iterator[None]:
        """The copy with a change. Python knows code by its source's second and size, so what it kept of the module is
        removed.
        """
        file = self.tree / path
        source = file.read_text()
        try:
            file.write_text(mutation.of(source))
            self._forget(file)
            yield
        finally:
            file.write_text(source)
            self._forget(file)

    @staticmethod
    def _forget(file: Path) -> None:
        for kept in (file.parent / "__pycache__").glob(f"{file.stem}.*"):
            kept.unlink()

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


@contextmanager
def workers(number: int) -> Iterator[list[Worker]]:
    with tempfile.TemporaryDirectory() as folder:
        found = [Worker(Path(folder) / str(n)) for n in range(number)]
        try:
            yield found
        finally:
            for worker in found:
                worker.end()


def cover(files: list[str], number: int) -> None:
    """Notes for each of the test files which of its tests pass here, and which lines these run."""
    KEPT.mkdir(exist_ok=True)
    with workers(number) as pool:
        for file, answer, seconds in _each(pool, files, _covered):
            kept = KEPT / f"{Path(file).stem}.json"
            if "tests" not in answer:
                print(f"{file}: {answer['by']}", flush=True)
                continue
            kept.write_text(json.dumps(answer["tests"]))
            left = f", {len(answer['left'])} left out" if answer["left"] else ""
            print(f"{file}: {len(answer['tests'])} tests{left}, {seconds:.0f} s", flush=True)


def _covered(worker: Worker, file: str) -> tuple[str, dict[str, Any], float]:
    begun = time.monotonic()
    return file, worker.run({"cover": file, "folders": list(FOLDERS)}), time.monotonic() - begun


def _each(pool: list[Worker], jobs: Iterable[Any], run: Any) -> Iterator[Any]:
    """What `run` gives for each job, in the order of the jobs, on as many workers as there are."""
    free: SimpleQueue[Worker] = SimpleQueue()
    for worker in pool:
        free.put(worker)

    def one(job: Any) -> Any:
        worker = free.get()
        try:
            return run(worker, job)
        finally:
            free.put(worker)

    with ThreadPoolExecutor(len(pool)) as threads:
        yield from threads.map(one, jobs)


def known_cover() -> Cover:
    by_line: dict[tuple[str, int], set[Candidate]] = defaultdict(set)
    by_module: dict[str, dict[Candidate, int]] = defaultdict(dict)
    for file in sorted(KEPT.glob("*.json")):
        for name, found in json.loads(file.read_text()).items():
            test = Candidate(name, found["seconds"])
            for path, lines in found["lines"].items():
                by_module[path][test] = len(lines)
                for line in lines:
                    by_line[path, line].add(test)
    return Cover(dict(by_line), dict(by_module))


def chosen(tests: Mapping[Candidate, int], seconds: float) -> list[Candidate]:
    """Tests of so many seconds in all, or one; `tests` says how many lines of the changed module each of them runs.
    Half of the time is for the fastest, of which there are many; the other half for the one of each file that runs most
    of the module, and then the second.
    """
    fastest = sorted(tests, key=lambda t: (t.seconds, t.name))
    found = dict.fromkeys(_within(fastest, seconds / 2) or fastest[:1])
    by_file: dict[str, list[Candidate]] = defaultdict(list)
    for test in sorted(tests.keys() - found.keys(), key=lambda t: (-tests[t], t.seconds, t.name)):
        by_file[test.file].append(test)
    rounds = ([test for test in nth if test is not None] for nth in zip_longest(*by_file.values()))
    others = [test for nth in rounds for test in sorted(nth, key=lambda t: (-tests[t], t.seconds, t.name))]
    return [*found, *_within(others, seconds - sum(test.seconds for test in found))]


def _within(tests: Iterable[Candidate], seconds: float) -> list[Candidate]:
    found = []
    for test in tests:
        if test.seconds <= seconds:
            found.append(test)
            seconds -= test.seconds
    return found


def sources() -> dict[str, str]:
    files = (file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))
    return {str(file.relative_to(ROOT)): file.read_text() for file in files}


def places(only: list[str], sample: int | None, seed: int) -> list[tuple[str, Mutation]]:
    """The changes that are to be tried; all without `only`."""
    asked = [(f"/{file}", line) for file, _, line in (place.partition(":") for place in only or [""])]
    found = [
        (path, m)
        for path, m in walk(sources())
        if any(file in path and line in ("", str(m.line)) for file, line in asked)
    ]
    return found if sample is None else Random(seed).sample(found, min(sample, len(found)))


def try_all(wanted: list[tuple[str, Mutation]], seconds: float, number: int) -> list[Outcome]:
    tests = known_cover()

    def one(worker: Worker, job: tuple[str, Mutation]) -> Outcome:
        path, mutation = job
        running = chosen(tests.of(path, mutation), seconds)
        if not running:
            return Outcome(path, mutation, "not covered", "", 0)
        with worker.changed(path, mutation):
            answer = worker.run({"seconds": {test.name: test.limit for test in running}})
        if answer["outcome"] == "broken":
            raise RuntimeError(f"{path}:{mutation.line}: {answer['by']}\n{worker.output}")
        return Outcome(path, mutation, answer["outcome"], answer["by"], len(running))

    found: list[Outcome] = []
    with workers(number) as pool:
        for outcome in _each(pool, wanted, one):
            found.append(outcome)
            print(f"{len(found):>4} {outcome}", flush=True)
    return found


def table(outcomes: list[Outcome]) -> str:
    """A line for each folder, and what no test noticed."""
    names = ("killed", "survived", "not covered")
    counts = {folder: dict.fromkeys(names, 0) for folder in (*FOLDERS, "all")}
    for outcome in outcomes:
        folder = next(folder for folder in FOLDERS if outcome.path.startswith(f"{folder}/"))
        counts[folder][outcome.outcome] += 1
        counts["all"][outcome.outcome] += 1
    lines = [" " * 32 + "".join(f"{name:>13}" for name in names)]
    lines += [f"{folder:<32}" + "".join(f"{found[n]:>13}" for n in names) for folder, found in counts.items()]
    share = counts["all"]["killed"] / max(len(outcomes), 1)
    lives = [str(outcome) for outcome in outcomes if outcome.outcome != "killed"]
    return "\n".join((*lines, f"{share:.1%} of {len(outcomes)} killed", *lives))


def main() -> int:
    parser = argparse.ArgumentParser(description="Changes of the code that no test notices.")
    parser.add_argument("cover", nargs="*", help="'cover', and test files (default all): which test runs which line")
    parser.add_argument("--sample", type=int, help="so many changes, drawn at random (default all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--only", nargs="+", default=[], help="the changes of folders, files or lines, as motto/suffix.py:51"
    )
    parser.add_argument("--seconds", type=float, default=60, help="of tests for a change (default 60)")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_intermixed_args()
    if options.cover:
        command, *files = options.cover
        if command != "cover":
            parser.error(f"{command} is not a command; there is `cover`")
        cover(files or sorted(str(f.relative_to(ROOT)) for f in (ROOT / "tests").glob("test_*.py")), options.workers)
        return 0
    if not KEPT.exists():
        parser.error("which test runs which line is not known yet: python -m tests.mutants cover")
    outcomes = try_all(places(options.only, options.sample, options.seed), options.seconds, options.workers)
    print(table(outcomes))
    return 0 if all(outcome.outcome == "killed" for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
