"""A stream is told to end by a signal, and does so between two calls of the JVM: a call that is broken off leaves its
answer to the next one, which would take it for its own.
"""

from __future__ import annotations

import logging
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class ToldToEnd(KeyboardInterrupt):
    """By this signal."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def heard() -> Iterator[list[int]]:
    """The signals that came meanwhile. The second one does not wait until somebody looks: ToldToEnd is raised."""
    came: list[int] = []

    def hear(number: int, _frame: object) -> None:
        came.append(number)
        if len(came) > 1:
            raise ToldToEnd(number)

    if threading.current_thread() is not threading.main_thread():  # no other may ask for signals
        yield came
        return
    before = {number: signal.signal(number, hear) for number in SIGNALS}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def quiet(spark: SparkSession) -> None:
    """Of what is broken off when a job ends, Spark and py4j say a thousand lines that nobody can use."""
    spark.sparkContext.setLogLevel("OFF")
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
