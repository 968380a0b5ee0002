"""How many buckets there are and how many tasks, and which key of Spark's state a bucket has, so that the tasks of a
micro-batch have equally many buckets.

Spark hashes keys to tasks. By their own numbers 32 buckets would be 12 and 20 for two tasks, and the larger one is
waited for; of 32 tasks 14 would have none, and four would have three.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ON_CLUSTER: Final = 32
FOR_CORE: Final = 2
"""Buckets. A step costs the same few milliseconds however few events it has; one bucket for a core would leave no room
for a machine that is twice as large later.
"""

_SEED: Final = 42
_WORD: Final = 0xFFFFFFFF


def cores_of(spark: SparkSession) -> int | None:
    """Of a Spark in one process; None of a cluster, which may have other ones tomorrow."""
    is_local = (spark.sparkContext.master or "").partition("[")[0] == "local"
    return spark.sparkContext.defaultParallelism if is_local else None


def usual_buckets(cores: int | None) -> int:
    """Where nobody says how many."""
    return ON_CLUSTER if cores is None else FOR_CORE * cores


def tasks(buckets: int, cores: int | None) -> int:
    """As many as there are cores, or somewhat fewer, each with equally many buckets; where that would leave half of the
    cores without work, one for each bucket.
    """
    if cores is None:
        return buckets
    even = max(number for number in range(1, cores + 1) if buckets % number == 0)
    return even if 2 * even > cores else buckets


def keys(buckets: int) -> tuple[int, ...]:
    """A key for each bucket: where the number of tasks divides that of the buckets, each task has equally many."""
    found: dict[int, int] = {}
    for key in count():
        found.setdefault(spark_hash(key) % buckets, key)
        if len(found) == buckets:
            return tuple(found[number] for number in range(buckets))
    raise AssertionError


def spark_hash(key: int) -> int:
    """Of an INT, as Spark partitions by it: Murmur3 of one word."""
    mixed = _rotated(key * 0xCC9E2D51 & _WORD, 15) * 0x1B873593 & _WORD
    found = (_rotated(_SEED ^ mixed, 13) * 5 + 0xE6546B64 & _WORD) ^ 4  # bytes
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        found = (found ^ found >> shift) * factor & _WORD
    found ^= found >> 16
    return found - (found >> 31 << 32)


def _rotated(word: int, by: int) -> int:
    return (word << by | word >> (32 - by)) & _WORD
