"""Runs tests for tests/mutants.py, in a copy of the source tree: a line of JSON in is a job, a line of JSON out its
outcome.

Every job is a process of its own, forked from this one, which has imported what is not this project's. The kernel is
interpreted, so that its lines are traced and nothing is compiled. Long tests, and those that start a process or a Spark
session, are no part of this.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from coverage import Coverage

    from tests.programs import Case

IMPORTED: Final = (
    "coverage",
    "hypothesis",
    "lark",
    "networkx",
    "numpy",
    "pandas",
    "pyarrow.compute",
    "pyarrow.parquet",
)
MEMORY: Final = 8 << 30
WALL: Final = 900
"""Seconds after which a job ends that waits for something and uses no time."""
LONGEST: Final = 90
"""Seconds of a test that is not run for mutants: there are shorter ones."""
ARGUMENTS: Final = ("-q", "-x", "-p", "no:cacheprovider", "--no-header", "--tb=short")


class TooSlow(BaseException):
    """Not an Exception, so that no test takes it for a failure of what it tests."""


@dataclass
class Chosen:
    """Runs the tests that are named, in that order, each for as many seconds of the processor's as stand with it."""

    seconds: dict[str, float]
    running: str = ""
    failed: str = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        found = {item.nodeid: item for item in items}
        items[:] = [found[name] for name in self.seconds if name in found]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.running = item.nodeid
        signal.setitimer(signal.ITIMER_PROF, self.seconds[item.nodeid])
        result = yield
        signal.setitimer(signal.ITIMER_PROF, 0)
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid


@dataclass
class Traced:
    """Notes which lines each test runs that passes, and how long it takes."""

    coverage: Coverage
    seconds: dict[str, float] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [
            item for item in items if not any(item.get_closest_marker(name) for name in ("spark", "process", "long"))
        ]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.coverage.switch_context(item.nodeid)
        begun = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, LONGEST)
        result = yield
        signal.setitimer(signal.ITIMER_PROF, 0)
        self.seconds[item.nodeid] = time.process_time() - begun
        self.coverage.switch_context("")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:  # nor skipped
            self.failed.add(report.nodeid)


def traced(path: str, folders: list[str]) -> dict[str, Any]:
    """For each test of a file that passes: its seconds, and the lines of the folders' modules that it runs."""
    from coverage import Coverage, CoverageData

    root = Path.cwd()
    coverage = Coverage(data_file=None, source=folders, config_file=False, messages=False)
    coverage.start()
    plugin = Traced(coverage)

    def too_slow(_number: int, _frame: FrameType | None) -> NoReturn:
        raise TooSlow

    signal.signal(signal.SIGPROF, too_slow)
    pytest.main([*(a for a in ARGUMENTS if a != "-x"), path], plugins=[plugin])
    coverage.stop()
    data: CoverageData = coverage.get_data()
    found: dict[str, Any] = {
        name: {"seconds": seconds, "lines": {}} for name, seconds in plugin.seconds.items() if name not in plugin.failed
    }
    for file in data.measured_files():
        for line, names in data.contexts_by_lineno(file).items():
            for name in found.keys() & set(names):
                found[name]["lines"].setdefault(str(Path(file).relative_to(root)), []).append(line)
    return {"tests": found, "left": sorted(plugin.failed)}


def tried(seconds: dict[str, float]) -> dict[str, Any]:
    """Whether all of the tests pass, and if not which does not."""
    plugin = Chosen(seconds)

    def too_slow(_number: int, _frame: FrameType | None) -> NoReturn:
        _answer({"outcome": "killed", "by": f"{plugin.running} (too slow)"})
        os._exit(0)

    signal.signal(signal.SIGPROF, too_slow)
    code = pytest.main([*ARGUMENTS, *dict.fromkeys(name.partition("::")[0] for name in seconds)], plugins=[plugin])
    if code == pytest.ExitCode.OK:
        return {"outcome": "survived", "by": ""}
    known = code in (
        pytest.ExitCode.TESTS_FAILED,
        pytest.ExitCode.INTERRUPTED,
    )  # interrupted: a module was not imported
    return {"outcome": "killed" if known else "broken", "by": plugin.failed or f"pytest ends with {int(code)}"}


ANSWERS: Final = 100
"""The descriptor on which a job's process answers; its output goes elsewhere."""


def _answer(answer: dict[str, Any]) -> None:
    os.write(ANSWERS, json.dumps(answer).encode() + b"\n")


def _no_process(*_arguments: object, **_options: object) -> NoReturn:
    raise RuntimeError("tests for mutants start no process")


def _no_shrinking() -> None:
    """A failure is enough; to make it small takes longer than to find it."""
    from hypothesis import Phase, settings

    small = settings(database=None, derandomize=True, phases=(Phase.explicit, Phase.generate), deadline=None)
    settings.register_profile("mutants", small, max_examples=25)
    from tests import properties

    def as_it_is(case: Case, _fails: Callable[[Case], bool], _rounds: int = 0) -> Case:
        return case

    setattr(properties, "smallest", as_it_is)  # noqa: B010 - a name that it only imports


def _run(job: dict[str, Any]) -> dict[str, Any]:
    from tests import properties

    assert Path(properties.__file__).is_relative_to(Path.cwd()), "tests of another tree"
    _no_shrinking()
    subprocess.Popen.__init__ = _no_process  # type: ignore[method-assign]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    return traced(job["cover"], job["folders"]) if "cover" in job else tried(job["seconds"])


def forked(job: Callable[[], dict[str, Any]], output: Path) -> bytes:
    """What the job answers, in a process of its own; nothing if it dies."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.close(reading)
        out = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(writing, ANSWERS)
        os.dup2(out, 1)
        os.dup2(out, 2)
        signal.alarm(WALL)
        try:
            _answer(job())
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answers:
        answer = answers.readline()
    os.waitpid(child, 0)
    return answer


def main() -> None:
    for name in IMPORTED:
        importlib.import_module(name)
    for line in sys.stdin:
        job = json.loads(line)
        answer = forked(lambda job=job: _run(job), Path(job["output"]))  # type: ignore[misc]
        fallback = {"outcome": "killed", "by": "the process ends"}
        print(answer.decode().strip() or json.dumps(fallback), flush=True)


if __name__ == "__main__":
    main()
