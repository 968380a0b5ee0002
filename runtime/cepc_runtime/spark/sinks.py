"""Where the rows of a job go."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from pyspark.errors import AnalysisException

from .schema import JobError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame, SparkSession

SHOWN = 1000


def path_of(folder: str, query: str) -> str:
    """A directory for the query: its punctuation is written as in a URL, so that no name leaves the folder."""
    name = "".join(c if ord(c) > 127 else quote(c, safe=" ()+,-_@!") for c in query)
    # Names that begin so are invisible to Spark and Hadoop.
    return f"{folder.rstrip('/')}/{f'%{ord(name[0]):X}{name[1:]}' if name[:1] in '._' else name}"


def check_absent(spark: SparkSession, folder: str, queries: Iterable[str]) -> None:
    """Raises JobError where there are results already: nobody shall take an old part for a new one."""
    for query in queries:
        path = path_of(folder, query)
        try:
            spark.read.format("binaryFile").load(path).schema  # noqa: B018
        except AnalysisException:
            continue
        raise JobError(f"{path} exists already; name a new directory")


def write(rows: DataFrame, path: str, form: str) -> None:
    """Complete when Spark's `_SUCCESS` is there; until then its files have other places."""
    options = {"header": "true"} if form == "csv" else {}
    rows.write.format(form).options(**options).mode("errorifexists").save(path)


def show(name: str, rows: DataFrame) -> None:
    print(name)
    rows.show(SHOWN, truncate=False)
