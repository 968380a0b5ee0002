"""Compares the evaluator with Spark: the same expressions over the same rows.

Spark fails a whole query for one row, so each expression is asked of Spark for the rows for which the evaluator has a
value; of the other rows, one for each expression is asked alone, and has to fail.
"""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cepc_runtime.sql.evaluate import EvaluationError, evaluate
from cepc_runtime.sql.evaluate.arrays import conform, from_values, to_values
from cepc_runtime.sql.expression import FieldKey
from cepc_runtime.sql.spark_sql import to_sql
from cepc_runtime.sql.types import DataType, to_arrow
from tests.expression_scope import COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cepc_runtime.sql.expression import Expression

VIEW = "agreement"
BATCH = 25
"""Expressions in one query: more make the code that Spark generates too long to compile quickly."""

NAN = float("nan")
INF = float("inf")

EDGES: dict[str, list[Any]] = {
    "bo": [True, False],
    "ti": [0, 1, -1, 7, 127, -128],
    "si": [0, 1, -3, 300, 32767, -32768],
    "i": [0, 1, -1, 2, 3, -7, 12, 100, 2020, 2147483647, -2147483648],
    "l": [0, 1, -1, 5, -13, 86400, 1600000000, 2**53 + 1, 2**63 - 1, -(2**63)],
    "f": [0.0, 1.5, -0.25, 0.10000000149011612, 3.4028234663852886e38, NAN, INF, 16777216.0],
    "d": [0.0, -0.0, 1.0, -1.5, 2.5, 0.1, 1e7, 123456.789, 1e-5, 1e300, -1e300, 2.0**63, NAN, INF, -INF],
    "de": [decimal.Decimal(x) for x in ("0.00", "1.50", "-2.25", "0.05", "-0.01", "99999999.99", "-99999999.99", "100.00")],
    "s": [
        "", "abc", "ABC", " x ", "Ünï", "straße", "日本語", "a%b_c", "12", "-7", "1.5", "1e3", "true", "2020-02-29",
        "2020-01-01 10:20:30.5", "it's", "a\\b", "a.c", "no", "x,y,z", "😀é",
    ],
    "bi": [b"", b"a", b"abc", b"\xc3\xa9"],
    "dt": [0, -1, 18321, 18322, 19000, -719162, 2932896, 11016, 18261],
    "ts": [0, -1, 1582934400000000, 1600000000123456, -62135596800000000, 253402300799999999, 1704067199999999],
    "nt": [0, -1, 1582934400000000, 1600000000123456, 1704067199999999],
    "iv": [0, 1, -1, 86400000000, 93784500000, -93784500001, 3600000000],
    "ar": [[], [1], [1, 2, 3], [None, 2], [-1, 2147483647]],
    "ma": [[], [("x", 1)], [("x", None), ("y", 2)]],
    "st": [(1, (2.5,)), (None, (NAN,)), (3, None), (-1, (-0.0,))],
}  # fmt: skip
"""Values worth trying of each column's type."""


def edge_rows(count: int = 41) -> dict[str, list[Any]]:
    """Rows in which each value of EDGES occurs, in changing company, with nulls."""
    columns: dict[str, list[Any]] = {}
    for step, (name, values) in enumerate(EDGES.items()):
        cycle = [*values, None]
        stride = next(s for s in range(step + 1, 100) if math.gcd(s, len(cycle)) == 1)
        columns[name] = [cycle[(row * stride + step) % len(cycle)] for row in range(count)]
    return columns


@dataclass(frozen=True)
class Rows:
    """Rows for both sides; `arrays` by field, for the evaluator."""

    arrays: dict[str, pa.Array]
    length: int

    @staticmethod
    def of(columns: dict[str, list[Any]]) -> Rows:
        arrays = {name: from_values(values, COLUMNS[name]) for name, values in columns.items()}
        return Rows(arrays, len(next(iter(columns.values()))))

    def register(self, spark: SparkSession) -> None:
        table = pa.table({"row": pa.array(range(self.length)), **self.arrays})
        # Spark reads local timestamps from Arrow as TIMESTAMP; in UTC the cast changes nothing else.
        columns = ["row", *(f"CAST({name} AS {COLUMNS[name].sql}) AS {name}" for name in self.arrays)]
        spark.createDataFrame(table).selectExpr(*columns).createOrReplaceTempView(VIEW)

    def values(self, expression: Expression) -> list[Any]:
        """The values of the rows; an EvaluationError in the place of one that fails."""
        keyed = {FieldKey(None, name): array for name, array in self.arrays.items()}
        try:
            return self._checked(evaluate(expression, keyed, self.length), expression.type)
        except EvaluationError:
            return [self._row(expression, keyed, i) for i in range(self.length)]

    def _row(self, expression: Expression, keyed: dict[FieldKey, pa.Array], i: int) -> Any:
        try:
            row = evaluate(expression, {k: a.slice(i, 1) for k, a in keyed.items()}, 1)
        except EvaluationError as error:
            return error
        return self._checked(row, expression.type)[0]

    def _checked(self, array: pa.Array, type_: DataType) -> list[Any]:
        assert array.type == to_arrow(type_), (array.type, type_)
        array.validate(full=True)
        return to_values(array, type_)


def column_sql(expression: Expression) -> str:
    return to_sql(expression, lambda leaf: getattr(leaf, "column"))  # noqa: B009


def differences(spark: SparkSession, rows: Rows, cases: list[tuple[str, Expression]], *, digits: int = 0) -> list[str]:
    """Where Spark, given the text, and the evaluator, given the expression, do not agree.

    With `digits`, DOUBLEs may differ in the last binary digits.
    """
    found: list[str] = []
    for start in range(0, len(cases), BATCH):
        batch = cases[start : start + BATCH]
        found += _batch(spark, rows, batch, digits)
    return found


def _batch(spark: SparkSession, rows: Rows, batch: list[tuple[str, Expression]], digits: int) -> list[str]:
    ours = [rows.values(e) for _, e in batch]
    columns = []
    for n, ((text, _), values) in enumerate(zip(batch, ours, strict=True)):
        fine = [str(i) for i, v in enumerate(values) if not isinstance(v, EvaluationError)]
        columns.append(f"CASE WHEN row IN ({', '.join(fine) or '-1'}) THEN {text} END AS c{n}")
    query = f"SELECT row, {', '.join(columns)} FROM {VIEW} ORDER BY row"
    try:
        table = spark.sql(query).toArrow()
    except Exception as error:
        if len(batch) == 1:
            return [f"{batch[0][0]}: Spark fails: {_short(error)}"]
        return [d for case in batch for d in _batch(spark, rows, [case], digits)]
    found = []
    for n, ((text, expression), values) in enumerate(zip(batch, ours, strict=True)):
        theirs = table.column(f"c{n}")
        if not _same_type(theirs.type, expression.type):
            found.append(f"{text}: type {expression.type.sql}, in Spark {theirs.type}")
            continue
        found += _compare(text, values, to_values(conform(theirs, expression.type), expression.type), rows, digits)
        found += _failure(spark, text, values)
    return found


def _same_type(theirs: Any, ours: DataType) -> bool:
    """Names inside nested types differ between Arrow's and Spark's ways."""
    wanted = to_arrow(ours)
    return theirs == wanted or (str(theirs).split("<")[0] == str(wanted).split("<")[0] and pa.types.is_nested(wanted))


def _compare(text: str, ours: list[Any], theirs: list[Any], rows: Rows, digits: int) -> list[str]:
    for i, (x, y) in enumerate(zip(ours, theirs, strict=True)):
        if not isinstance(x, EvaluationError) and not same(x, y, digits):
            used = {k: a[i].as_py() for k, a in rows.arrays.items() if k in text}
            return [f"{text}: {x!r}, in Spark {y!r}, for {used}"]
    return []


def _failure(spark: SparkSession, text: str, ours: list[Any]) -> list[str]:
    """The first row that fails here has to fail there."""
    failing = next((i for i, v in enumerate(ours) if isinstance(v, EvaluationError)), None)
    if failing is None:
        return []
    try:
        value = spark.sql(f"SELECT {text} AS x FROM {VIEW} WHERE row = {failing}").collect()
    except Exception:
        return []
    return [f"{text}: {ours[failing]}; Spark has {value} for row {failing}"]


def same(x: Any, y: Any, digits: int = 0) -> bool:
    """Equal as people see it: NaN is NaN, and -0.0 is not 0.0."""
    if isinstance(x, list | tuple) and isinstance(y, list | tuple):
        return len(x) == len(y) and all(same(p, q, digits) for p, q in zip(x, y, strict=True))
    if isinstance(x, float) and isinstance(y, float):
        if math.isnan(x) or math.isnan(y):
            return math.isnan(x) and math.isnan(y)
        if digits and math.isclose(x, y, rel_tol=2.0 ** (digits - 53), abs_tol=1e-300):
            return True
        return x == y and math.copysign(1, x) == math.copysign(1, y)
    return bool(x == y)


def _short(error: Exception) -> str:
    return str(error).partition("\n")[0][:300]
