"""Rows found against rows expected: which are in both, and which in one alone. Their order does not matter."""

from __future__ import annotations

import math
from typing import Any

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.results.as_text import as_text

RowTexts = tuple[str, ...]

CLOSE = 1e-9
"""How far floating-point numbers may be apart, relatively: sums of them differ in the last digits between plans."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Rows as texts. `both` are expected and found; `missing` were not found, `unexpected` are found alone."""

    columns: RowTexts
    both: tuple[RowTexts, ...]
    missing: tuple[RowTexts, ...]
    unexpected: tuple[RowTexts, ...]

    @property
    def equal(self) -> bool:
        return not self.missing and not self.unexpected


def compare(expected: Any, found: Any) -> Difference:
    """Two tables of the same columns, as multisets of rows."""
    wanted, given = _rows(expected), _rows(found)
    texts_wanted, texts_given = _texts(expected), _texts(found)
    left = list(range(len(given)))
    both: list[RowTexts] = []
    missing: list[RowTexts] = []
    for row, text in zip(wanted, texts_wanted, strict=True):
        place = next((i for i in left if all(map(_same, row, given[i]))), None)
        if place is None:
            missing.append(text)
        else:
            left.remove(place)
            both.append(texts_given[place])
    return Difference(tuple(expected.column_names), tuple(both), tuple(missing), tuple(texts_given[i] for i in left))


def _rows(table: Any) -> list[tuple[Any, ...]]:
    return list(zip(*(table.column(i).to_pylist() for i in range(table.num_columns)), strict=True))


def _texts(table: Any) -> list[RowTexts]:
    columns = [
        ["NULL" if text is None else text for text in as_text(table.column(i), iso=False)]
        for i in range(table.num_columns)
    ]
    return list(zip(*columns, strict=True))


def _same(a: Any, b: Any) -> bool:
    """
    >>> _same(0.1 + 0.2, 0.3), _same(math.nan, math.nan), _same(None, 0), _same([1.0, None], [1.0, None])
    (True, True, False, True)
    >>> _same({"x": 0.1 + 0.2}, {"x": 0.3}), _same([("a", 1), ("b", 2)], [("b", 2), ("a", 1)])  # a STRUCT, a MAP
    (True, True)
    """
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=CLOSE)
    if isinstance(a, dict) and isinstance(b, dict):
        return all(_same(value, b[name]) for name, value in a.items())
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, _entries(a), _entries(b)))
    if isinstance(a, tuple) and isinstance(b, tuple):
        return all(map(_same, a, b))
    return bool(a == b)


def _entries(values: list[Any]) -> list[Any]:
    """The elements of an array as they are; those of a map, pairs, by key."""
    return sorted(values, key=lambda pair: repr(pair[0])) if values and isinstance(values[0], tuple) else values
