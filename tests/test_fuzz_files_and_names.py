"""Whatever stands in a file of events or is a name in a program, there are rows or a diagnostic.

By hand for longer: `python -m tests.fuzz events --minutes 60 --seed 7`, and so with programs, names and checkpoints.
"""

from __future__ import annotations

import gzip
import os
import random
import resource
from typing import TYPE_CHECKING

import pytest

from cepc.errors import DataError
from tests import fuzz_checkpoints, fuzz_jobs, fuzz_programs
from tests.fuzz_events import FLAT, KINDS, changed, compiled, example, run

if TYPE_CHECKING:
    from pathlib import Path

SECONDS = 3.0
FEW = 50
"""So few files, on a machine that has other things to do, may all be right ones."""


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_any_file_of_events_is_answered(kind: str) -> None:
    seed = "fixed" if "CI" in os.environ else str(random.SystemRandom().randrange(10**9))
    answered = run(kind, seed, SECONDS)
    assert not answered.failures, answered.failures[0]
    assert answered.through > 0
    assert answered.examples > answered.through or answered.examples < FEW


FOUND = [
    ("parquet, compressed", "2311", 1219),  # integers of more than 64 bits, says its schema
    ("parquet, compressed", "2311", 1616),  # integers of a width that C does not have
]


@pytest.mark.parametrize(("kind", "seed", "number"), FOUND)
def test_a_file_that_once_had_no_answer_has_one(kind: str, seed: str, number: int, tmp_path: Path) -> None:
    path = tmp_path / KINDS[kind].name
    path.write_bytes(example(kind, seed, number))
    with pytest.raises(DataError, match="damaged"):
        compiled(KINDS[kind].columns).run(path)


@pytest.mark.long
def test_a_program_of_any_names_is_made_into_a_job_and_an_explanation() -> None:
    seed = "fixed" if "CI" in os.environ else str(random.SystemRandom().randrange(10**9))
    answered = fuzz_jobs.run(seed, 4 * SECONDS)
    assert not answered.failures, answered.failures[0]
    assert answered.through > answered.examples / 5 > 1


@pytest.mark.long
@pytest.mark.parametrize("kind", fuzz_programs.KINDS)
def test_any_program_goes_through_everything(kind: str) -> None:
    check_programs(kind, 4 * SECONDS)


@pytest.mark.unhurried
def test_any_program_goes_through_everything_for_a_moment() -> None:
    check_programs("renamed", SECONDS)


def check_programs(kind: str, seconds: float) -> None:
    seed = "fixed" if "CI" in os.environ else str(random.SystemRandom().randrange(10**9))
    answered = fuzz_programs.run(kind, seed, seconds)
    assert not answered.failures, answered.failures[0]
    assert answered.examples > 0


@pytest.mark.unhurried
@pytest.mark.parametrize("seconds", [SECONDS, pytest.param(30.0, marks=pytest.mark.long)])
def test_damaged_checkpoints_give_the_right_rows_or_a_sentence(seconds: float) -> None:
    seed = "fixed" if "CI" in os.environ else str(random.SystemRandom().randrange(10**9))
    answered = fuzz_checkpoints.run(seed, seconds)
    assert not answered.failures, answered.failures[0]
    assert answered.examples > answered.through > 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_to_be_damaged_is_whole(kind: str, tmp_path: Path) -> None:
    of = KINDS[kind]
    path = tmp_path / of.name
    path.write_bytes(of.pack(of.data()))
    answers = compiled(of.columns).run(path)
    assert [answers[name].num_rows > 30 for name in ("counted", "listed")] == [True, True]


def test_an_example_is_known_by_its_seed_and_number() -> None:
    assert [example(kind, "7", 3) for kind in KINDS] == [example(kind, "7", 3) for kind in KINDS]
    assert len({changed(b"0123456789" * 20, random.Random(i)) for i in range(100)}) > 50


def test_a_damaged_gzip_file_does_not_take_all_memory(tmp_path: Path) -> None:
    """For which pyarrow asked for ever more."""
    lower = KINDS["csv"].data().replace(b"T", b"t")  # as the file was that was found
    damaged = changed(gzip.compress(lower, mtime=0), random.Random("csv in gzip fixed 495"))
    with pytest.raises(DataError, match="cannot be read"):
        answer_or_raise(damaged, tmp_path)


def answer_or_raise(data: bytes, folder: Path) -> None:
    path = folder / "e.csv.gz"
    path.write_bytes(data)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        compiled(FLAT).run(path)
    finally:
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000
