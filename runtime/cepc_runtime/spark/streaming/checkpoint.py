"""Whose checkpoint is it? Asked before the first micro-batch: state of another program is never read."""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ...plan_data import to_data
from ..paths import exists
from ..schema import JobError
from ..share import letters_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from .query import Continuous

FORMAT: Final = 2
_FOLDER: Final = "cepc"


def identity(what: Continuous) -> dict[str, Any]:
    """What state depends on: equal for the same queries, whichever compiler wrote the job, and whatever queries share in it."""
    data = to_data(replace(what.plan, sharing=(), shared_matches=()))
    queries = {
        query.name: _digest([record, [what.streamed.letters[i] for i in sorted(letters_of(query) or ())]])
        for query, record in zip(what.plan.queries, data["queries"], strict=True)
    }
    stream = _digest([data["stream"], list(what.streamed.letters)])
    return {"format": FORMAT, "stream": stream, "queries": queries, "buckets": what.buckets}


def fingerprint(identity: dict[str, Any]) -> str:
    return _digest(identity)


def _digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:32]


def claim(spark: SparkSession, folder: str, identity: dict[str, Any]) -> None:
    """Make a new checkpoint this program's, or see that it is. Raises JobError, which says what changed."""
    found, begun = _read(spark, folder), exists(spark, f"{folder}/offsets")
    if found is None or not begun:
        if begun:
            raise JobError(
                f"{folder} is the checkpoint of another streaming query, not of a job of cepc's; name a new directory"
            )
        _write(spark, folder, {**identity, "id": uuid.uuid4().hex, "flushed": False})
        return
    if found["flushed"]:
        raise JobError(
            f"{folder} was ended by --flush: its last windows are written; name a new directory to begin again"
        )
    if problems := _changes(found, identity):
        raise JobError(
            f"{folder} is the checkpoint of another program: {'; '.join(problems)}. Run the program it belongs to, or name a new"
            " directory to begin again; --flush with the old program closes its windows first"
        )


def _changes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """In a user's words."""
    if old["format"] != new["format"]:
        return [f"it was written in format {old['format']}, this is {new['format']}"]
    before, after = old["queries"], new["queries"]
    found = [f"query {name} is new" for name in after if name not in before]
    found += [f"query {name} is gone" for name in before if name not in after]
    found += [f"query {name} is not what it was" for name in after if name in before and before[name] != after[name]]
    if not found and list(before) != list(after):
        found.append("its queries are in another order")
    if not found and old["stream"] != new["stream"]:
        found.append("the stream's columns, event time or event types are not what they were")
    if old["buckets"] != new["buckets"]:
        found.append(f"it has {old['buckets']} buckets, write --buckets {old['buckets']}")
    return found


def buckets_of(spark: SparkSession, folder: str) -> int | None:
    """How many the checkpoint was begun with; None of a new one."""
    found = _read(spark, folder)
    return None if found is None else int(found["buckets"])


def id_of(spark: SparkSession, folder: str) -> str:
    """Of this checkpoint alone: one that is begun again in the same place has another."""
    return str((_read(spark, folder) or {})["id"])


def end(spark: SparkSession, folder: str) -> None:
    """Nothing may come after a flush: its windows would be given twice."""
    _write(spark, folder, {**(_read(spark, folder) or {}), "flushed": True})


def _read(spark: SparkSession, folder: str) -> dict[str, Any] | None:
    if not exists(spark, f"{folder}/{_FOLDER}"):
        return None
    rows = spark.read.text(f"{folder}/{_FOLDER}").collect()
    if not rows:  # the job was ended while it wrote this, before its first micro-batch
        return None
    found: dict[str, Any] = json.loads(rows[0].value)
    return found


def _write(spark: SparkSession, folder: str, data: dict[str, Any]) -> None:
    text = json.dumps(data)
    spark.createDataFrame([(text,)], "value STRING").coalesce(1).write.mode("overwrite").text(f"{folder}/{_FOLDER}")
