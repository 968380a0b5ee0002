"""What a stream makes of a signal: nothing amid a call, and an end between two."""

from __future__ import annotations

import signal
import threading

import pytest

from cepc_runtime.spark.streaming.ending import SIGNALS, ToldToEnd, heard


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_is_kept_and_the_second_ends(number: signal.Signals) -> None:
    with heard() as signals:
        signal.raise_signal(number)
        assert signals == [number]
        with pytest.raises(ToldToEnd) as told:
            signal.raise_signal(number)
    assert told.value.number == number


def test_signals_are_as_before_afterwards() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    with heard():
        assert [signal.getsignal(number) for number in SIGNALS] != before
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_in_another_thread_signals_are_left_alone() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    found: list[object] = []

    def other() -> None:
        with heard():
            found.extend(signal.getsignal(number) for number in SIGNALS)

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert found == before
