"""Which files a directory stands for: all in it and below, with columns that folders name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from .schema import JobError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import SparkSession

RECURSIVE: Final = "recursiveFileLookup"


def below(spark: SparkSession, path: str, options: Mapping[str, str]) -> dict[str, str]:
    """The option by which Spark reads what is in folders of a directory, where these name no columns: it would pass
    over it without a word. Raises JobError where some name columns, and Spark would pass over what is beside them.
    """
    if RECURSIVE.lower() in map(str.lower, options):
        return {}
    files = spark.read.format("binaryFile").options(**options)
    found = files.option(RECURSIVE, "true").load(path).inputFiles()
    if any("=" in folder for file in found for folder in _folders(file)):
        # Only now is it listed twice: Spark alone knows which folders it takes for columns.
        plain = spark.read.format("binaryFile").options(**options).load(path)
        if columns := {name.lower() for name in plain.columns[len(OWN) :]}:
            _check_columns(found, columns)
            return {}
    return {RECURSIVE: "true"}


OWN: Final = ("path", "modificationTime", "length", "content")
"""The columns of Spark's files as they are; those that folders name follow."""


def _check_columns(files: list[str], columns: set[str]) -> None:
    for file in sorted(files):
        if columns.isdisjoint(folder.partition("=")[0].lower() for folder in _folders(file)):
            raise JobError(
                f"Spark would not read {unquote(file)}, for folders beside it name columns (NAME=VALUE): move it into "
                f"such a folder, or write --option {RECURSIVE}=true, with which folders name no columns"
            )


def _folders(file: str) -> Iterator[str]:
    return (unquote(folder) for folder in file.split("/")[:-1])
