"""Checkpoints in which somebody has been: a stream is killed, then files are cut, changed, lost, swapped or renamed,
and it goes on.

The rows are right in the end, or a sentence names a file of the checkpoint. It is the model of
`tests/faults/process.py`; the state is Spark's own, which has check sums, and is left alone.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Final

from cepc_runtime.spark.schema import JobError
from cepc_runtime.spark.streaming import checkpoint
from tests import fuzzing
from tests.equivalence import same
from tests.faults.process import Job, Killed
from tests.faults.work import Work, work

if TYPE_CHECKING:
    from pathlib import Path

PLACES: Final = 160
"""A stream has about so many places where it may be killed."""


@cache
def _work() -> Work:
    found = work(3, 7)
    assert found.expected
    return found


def damage(folder: Path, random: Random) -> str:
    """Do something to the files of a checkpoint; what it was."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and "state" not in path.parts)
    if not files:
        return "nothing"
    file = random.choice(files)
    data = file.read_bytes()
    start = random.randrange(len(data) + 1)
    what = random.choice(("cut", "flip", "fill", "remove", "swap", "rename", "empty", "double"))
    match what:
        case "cut":
            file.write_bytes(data[:start])
        case "empty":
            file.write_bytes(b"")
        case "flip" if data:
            changed = bytearray(data)
            changed[start % len(data)] ^= 1 << random.randrange(8)
            file.write_bytes(changed)
        case "fill":
            file.write_bytes(data[:start] + random.randbytes(random.choice((1, 9, 4000))) + data[start:])
        case "double":
            file.write_bytes(data * 2)
        case "remove":
            file.unlink()
        case "swap":
            other = random.choice(files)
            file.write_bytes(other.read_bytes())
            other.write_bytes(data)
        case "rename":
            file.rename(
                file.with_name(random.choice(("0", "1", "7", "x", f".{file.name}.tmp", f"{file.name}.compact")))
            )
    return f"{what} {file.relative_to(folder)}"


GONE: Final = re.compile(r"file:/.+ is gone, and (it|\d+ more)")
"""A file of events by the name that the log of files has for it, of which a bit may be another, or a space more."""


def answer(random: Random, folder: Path) -> bool:
    """Whether the stream came to its end; raises what is neither right rows nor a sentence that names a file."""
    left = random.randrange(PLACES)

    def at(_: str) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed

    said: list[str] = []
    with suppress(Killed):
        Job(folder, _work(), at).run()
    place = folder / "checkpoint"
    for _ in range(random.choice((0, 1, 1, 1, 2, 4))):
        said.append(damage(place, random))
    try:
        Job(folder, _work(), lambda _: None).run()
    except checkpoint.Ended:
        pass
    except JobError as error:
        if str(folder) in str(error) or GONE.match(str(error)):
            return False
        raise AssertionError(f"after {said} no file is named: {error}") from error
    except Exception as error:
        raise AssertionError(f"after {said}") from error
    job = Job(folder, _work(), lambda _: None)
    wrong = [name for name, rows in _work().expected.items() if not same(job.rows(name), rows)]
    if wrong:
        raise AssertionError(f"after {said} there are other rows of {wrong}")
    return True


def run(seed: str, seconds: float) -> fuzzing.Answered:
    """Those that came to their end went all the way."""
    _work()
    return fuzzing.run(
        f"`checkpoints {seed}`", lambda number, folder: answer(Random(f"{seed} {number}"), folder), seconds
    )
