"""Any number of examples, each with five seconds of the processor and 500 MB: `python -m tests.fuzz` starts them by
hand.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cepc_runtime.kernel.translation import translate

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

SECONDS: Final = 5
"""Of a processor of the usual speed, which adds a million numbers up in USUAL seconds."""
USUAL: Final = 0.05
MEGABYTES: Final = 500  # beside what the process has that it is forked from, which may be a worker of the tests


@dataclass
class Answered:
    """How many examples there were, how many of them went all the way, how many ended in code that is not ours, and
    what is to be said of those without an answer.
    """

    examples: int = 0
    through: int = 0
    excused: int = 0
    failures: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        excused = f", {self.excused:,} ended in code that is not ours" if self.excused else ""
        return "\n".join([f"{self.examples:,} examples, {self.through:,} went all the way{excused}", *self.failures])


def patience() -> float:
    """So many seconds of this processor as are SECONDS of the usual one. Half as fast, it took more than five for what
    takes three, and that was no hang.
    """
    started, total = time.process_time(), 0
    for number in range(1_000_000):
        total += number
    return SECONDS * max(1.0, (time.process_time() - started) / USUAL)


def _hang(seconds: float, _signal: int, frame: FrameType | None) -> None:
    """Machine code that is made, once for an installation, takes longer and is no hang."""
    while frame is not None:
        if frame.f_code is translate.__code__:
            signal.setitimer(signal.ITIMER_PROF, seconds)
            return
        frame = frame.f_back
    now = patience()
    if now > seconds:  # the processor has become slower since: others use it too
        _allow(now, now - seconds)
        return
    raise TimeoutError(f"more than {seconds:.1f} seconds")


def _allow(seconds: float, left: float) -> None:
    signal.signal(signal.SIGPROF, partial(_hang, seconds))
    signal.setitimer(signal.ITIMER_PROF, left)


def _data() -> int:
    """The bytes of data of this process, as RLIMIT_DATA counts them."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmData"].split()[0]) << 10


def _work(answer: Callable[[int, Path], bool], start: tuple[int, int], until: float, folder: str) -> None:
    """In a process of its own: the number of the example at hand stands in a file, with how many went all the way, and
    what went wrong with one in another.
    """
    limit = _data() + (MEGABYTES << 20)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    most = patience()
    warnings.simplefilter("error", RuntimeWarning)  # numpy's, which would be on somebody's terminal
    at, (number, through) = Path(folder, "at"), start
    while time.time() < until:
        at.write_text(f"{number} {through}")
        _allow(most, most)
        try:
            with tempfile.TemporaryDirectory(dir=folder) as place:
                through += answer(number, Path(place))
        except Exception:
            Path(folder, "failed").write_text(traceback.format_exc(limit=-6))
            sys.exit(1)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        number += 1
    at.write_text(f"{number} {through}")


def ends_itself(act: Callable[[], object]) -> bool:
    """Whether a process that does it is ended by a signal."""

    def alone() -> None:
        with suppress(Exception):
            act()

    process = multiprocessing.get_context("fork").Process(target=alone)
    process.start()
    process.join()
    return (process.exitcode or 0) < 0


def _never(_: int) -> bool:
    return False


def run(
    name: str, answer: Callable[[int, Path], bool], seconds: float, excuse: Callable[[int], bool] = _never
) -> Answered:
    """As many examples as are answered in so many seconds.

    `answer` gets the number of an example and a folder of its own; it says whether the example went all the way, and
    raises what is no good answer. `excuse` is asked of an example that ended its process whether others did that.
    """
    until, answered = time.time() + seconds, Answered()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "at").write_text("0 0")
        while time.time() < until and len(answered.failures) < 10:
            start = answered.examples, answered.through
            process = multiprocessing.get_context("fork").Process(target=_work, args=(answer, start, until, folder))
            process.start()
            process.join()
            answered.examples, answered.through = map(int, Path(folder, "at").read_text().split())
            if process.exitcode != 0:
                failed = Path(folder, "failed")
                if not failed.exists() and excuse(answered.examples):
                    answered.excused += 1
                else:
                    said = failed.read_text() if failed.exists() else f"the process ended with {process.exitcode}\n"
                    failed.unlink(missing_ok=True)
                    answered.failures.append(f"example {answered.examples} of {name}: {said}")
                answered.examples += 1
    return answered


def main() -> int:
    from tests import fuzz_checkpoints, fuzz_events, fuzz_jobs, fuzz_programs

    every = {
        "programs": fuzz_programs.KINDS, "names": ("names",), "events": (*fuzz_events.KINDS,),
        "checkpoints": ("checkpoints",),
    }  # fmt: skip
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=every)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", default="fixed")
    parser.add_argument("--kind", choices=sorted({kind for kinds in every.values() for kind in kinds}), action="append")
    given = parser.parse_args()
    fuzz = {
        "programs": fuzz_programs.run, "names": lambda _, *rest: fuzz_jobs.run(*rest), "events": fuzz_events.run,
        "checkpoints": lambda _, *rest: fuzz_checkpoints.run(*rest),
    }[given.what]  # fmt: skip
    wrong, kinds = False, given.kind or every[given.what]
    for kind in kinds:
        answered = fuzz(kind, given.seed, 60 * given.minutes / len(kinds))
        print(f"{kind}: {answered}", flush=True)
        wrong = wrong or bool(answered.failures)
    return int(wrong)
