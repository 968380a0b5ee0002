"""One job at a time for a checkpoint, without Spark: who has it, who may take it over, and what the one that lost it
does.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from cepc_runtime.spark.schema import JobError
from cepc_runtime.spark.streaming import lease
from cepc_runtime.spark.streaming.lease import NAME, Holder, from_text, take
from tests.faults.local import LocalStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STORE = LocalStore()


def at_once(_: float) -> None:
    pytest.fail("it waited")


class Clock:
    """Waits without time; what happens meanwhile is done with the number of the wait."""

    def __init__(self, meanwhile: Callable[[int], object] = lambda _: None) -> None:
        self.waits, self._meanwhile = 0, meanwhile

    def __call__(self, seconds: float) -> None:
        assert seconds == lease.LOOK
        self.waits += 1
        self._meanwhile(self.waits)


def of_another_machine(folder: str) -> Holder:
    """A lease that a job of elsewhere has left, or still has."""
    holder = replace(Holder.here([4321]), host="elsewhere", machine="another")
    STORE.create(f"{folder}/{NAME}", holder.to_text())
    return holder


def ended_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_checkpoint_that_was_given_back_is_free_at_once(tmp_path: Path) -> None:
    take(STORE, str(tmp_path), wait=at_once).release()
    assert STORE.names(f"{tmp_path}/cepc") == []
    take(STORE, str(tmp_path), wait=at_once)


def test_a_job_that_gave_its_checkpoint_back_writes_nothing_more_and_does_not_take_it_again(tmp_path: Path) -> None:
    given_back = take(STORE, str(tmp_path), wait=at_once)
    given_back.release()
    with pytest.raises(JobError, match=f"the job on {tmp_path} was stopped: it writes nothing more"):
        given_back.check()
    assert STORE.names(f"{tmp_path}/cepc") == []


def test_a_second_job_is_refused_when_the_first_is_heard_of(tmp_path: Path) -> None:
    first = take(STORE, str(tmp_path))
    with pytest.raises(JobError) as refused:
        take(STORE, str(tmp_path), wait=Clock(lambda waits: first.renew() if waits == 9 else None))
    said = str(refused.value)
    assert said.startswith(f"another job runs on the checkpoint {tmp_path}: process {os.getpid()} on ")
    assert said.endswith("end that job first, or name another directory as --checkpoint")
    first.check()


def test_a_process_of_this_machine_that_has_ended_is_known_at_once(tmp_path: Path) -> None:
    path = f"{tmp_path}/{NAME}"
    killed = replace(Holder.here([os.getpid()]), processes=((ended_process(), "17"),))
    STORE.create(path, killed.to_text())
    take(STORE, str(tmp_path), wait=at_once)


def test_a_number_that_another_process_has_now_is_not_the_process_that_had_it() -> None:
    here = Holder.here([os.getpid()])
    assert not here.has_ended()
    assert replace(here, processes=((os.getpid(), "before"),)).has_ended()


def test_a_job_lives_while_its_python_or_its_jvm_does() -> None:
    here = Holder.here([os.getpid()])
    assert not replace(here, processes=((ended_process(), "17"), *here.processes)).has_ended()


def test_a_job_of_another_machine_that_is_not_heard_of_is_followed_and_the_user_told_why_it_takes_a_while(
    tmp_path: Path,
) -> None:
    of_another_machine(str(tmp_path))
    clock, said = Clock(), list[str]()
    own = take(STORE, str(tmp_path), say=said.append, wait=clock)
    assert clock.waits * lease.LOOK == lease.STALE
    assert len(said) == 1
    assert "was not given back by a job (process 4321 on elsewhere, since " in said[0]
    own.check()


def test_a_lease_that_is_torn_is_followed_when_nobody_mends_it(tmp_path: Path) -> None:
    (tmp_path / NAME).parent.mkdir()
    (tmp_path / NAME).write_text('{"id": "17", "ho')
    clock = Clock()
    take(STORE, str(tmp_path), wait=clock)
    assert clock.waits * lease.LOOK == lease.STALE


@pytest.mark.parametrize("number", [0, -1, 1 << 31, 1 << 70])
def test_a_lease_with_a_number_that_no_process_can_have_is_torn(tmp_path: Path, number: int) -> None:
    whole = Holder.here([os.getpid()])
    text = replace(whole, processes=((number, "17"),)).to_text()
    assert from_text(whole.to_text()) == whole
    assert from_text(text) is None
    STORE.create(f"{tmp_path}/{NAME}", text)
    take(STORE, str(tmp_path), wait=(clock := Clock()))
    assert clock.waits == lease.STALE / lease.LOOK


def test_a_job_that_ends_while_another_looks_lets_it_begin(tmp_path: Path) -> None:
    first = take(STORE, str(tmp_path))
    clock = Clock(lambda waits: first.release() if waits == 3 else None)
    take(STORE, str(tmp_path), wait=clock)
    assert clock.waits == 3


def test_a_job_whose_lease_was_taken_over_writes_nothing_more_and_leaves_it_to_the_other(tmp_path: Path) -> None:
    first = take(STORE, str(tmp_path))
    STORE.delete(f"{tmp_path}/{NAME}")
    other = of_another_machine(str(tmp_path))
    for what in (first.check, first.renew, first.check):
        with pytest.raises(JobError, match=f"{tmp_path} was taken over by process 4321 on elsewhere"):
            what()
    first.release()
    text = STORE.read(f"{tmp_path}/{NAME}")
    assert text is not None
    assert from_text(text) == other


def test_a_lease_that_is_gone_is_made_again_by_the_job_that_lives(tmp_path: Path) -> None:
    first = take(STORE, str(tmp_path))
    STORE.delete(f"{tmp_path}/{NAME}")
    first.check()
    with pytest.raises(JobError, match="another job runs on the checkpoint"):
        take(STORE, str(tmp_path), wait=Clock(lambda _: first.renew()))


def test_a_lease_is_renewed_as_long_as_it_is_needed_and_then_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "LOOK", 0.01)
    monkeypatch.setattr(lease, "BEAT", 0.02)
    own = take(STORE, str(tmp_path))
    asked = iter(range(100))
    own.keep(lambda: next(asked) < 20)
    assert own._over.wait(10)
    assert own.holder.beat >= 2
    with own._one:
        assert STORE.names(f"{tmp_path}/cepc") == []
