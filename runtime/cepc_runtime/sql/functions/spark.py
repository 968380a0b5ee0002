"""Spark's other built-in functions: which are scalar and deterministic, and what type they return.

`spark_functions.tsv` was taken from SHOW FUNCTIONS of Spark 4.3: a name, a kind, and for a scalar function the type of
its result, `-` where that depends on the arguments. Portable functions are not in it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, Literal

from ...cheap_dataclass import dataclass
from ..types import BIGINT, DATE, TIMESTAMP, DataType, from_text

if TYPE_CHECKING:
    from collections.abc import Mapping

FunctionKind = Literal["scalar", "aggregate", "window", "generator", "higher-order", "nondeterministic"]


@dataclass(frozen=True, slots=True)
class SparkFunction:
    """A function that only Spark computes. `type` is None where it depends on the arguments."""

    name: str
    kind: FunctionKind
    type: DataType | None


_FORMS: Final = {
    ("to_date", 2): DATE,
    ("try_to_timestamp", 1): TIMESTAMP,
    ("unix_timestamp", 2): BIGINT,
    ("to_unix_timestamp", 2): BIGINT,
}
"""Forms of portable functions, by their number of arguments, that take a datetime pattern of Spark's."""


@cache
def spark_functions() -> Mapping[str, SparkFunction]:
    """Spark's functions by name, in lower case."""
    found: dict[str, SparkFunction] = {}
    from importlib.resources import files  # only for a query that calls a function of Spark's

    for line in files(__package__).joinpath("spark_functions.tsv").read_text(encoding="utf-8").splitlines():
        name, kind, *type_ = line.split("\t")
        known = from_text(type_[0]) if type_ and type_[0] != "-" else None
        found[name] = SparkFunction(name, kind, known)  # type: ignore[arg-type]
    return found


def find_spark(name: str, arguments: int) -> SparkFunction | None:
    """Spark's function of that name, in any case, or its form with so many arguments."""
    lower = name.lower()
    if (lower, arguments) in _FORMS:
        return SparkFunction(lower, "scalar", _FORMS[lower, arguments])
    if (lower, arguments) == ("unix_timestamp", 0):
        return SparkFunction(lower, "nondeterministic", BIGINT)
    return spark_functions().get(lower)
