"""Intervals in one string with its first and last field, `INTERVAL '1 02:03:04' DAY TO SECOND`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from . import ast

_FIELDS: Final[tuple[tuple[ast.Unit, ...], ...]] = (("DAY", "HOUR", "MINUTE", "SECOND"), ("YEAR", "MONTH"))
_LATER: Final[dict[ast.Unit, str]] = {
    "HOUR": r" ([01]?\d|2[0-3])",
    "MINUTE": r":([0-5]?\d)",
    "SECOND": r":([0-5]?\d(?:\.\d{1,9})?)",
    "MONTH": r"-(0?\d|1[01])",
}
"""How a field follows the one before it. The first is a number of any size."""
_EXAMPLES: Final = {"HOUR": " 02", "MINUTE": ":03", "SECOND": ":04", "MONTH": "-2"}


def interval_parts(text: str, first: str, last: str) -> tuple[bool, tuple[tuple[str, ast.Unit], ...]] | None:
    """Whether it is negative, and its amounts with their units; None where it is no interval of these fields.

    >>> interval_parts("-1 02:03", "DAY", "MINUTE")
    (True, (('1', 'DAY'), ('2', 'HOUR'), ('3', 'MINUTE')))
    """
    fields = _between(first, last)
    form = r"([+-]?)(\d+)" + "".join(_LATER[field] for field in fields[1:])
    found = re.fullmatch(form, text.strip(), re.ASCII)
    if not fields or found is None:
        return None
    sign, *amounts = found.groups()
    return sign == "-", tuple((_plain(amount), field) for amount, field in zip(amounts, fields, strict=True))


def interval_like(first: str, last: str) -> str:
    """How one of these fields is written, or of all, where there is none.

    >>> interval_like("HOUR", "SECOND")
    "INTERVAL '1:03:04' HOUR TO SECOND"
    """
    fields = _between(first, last) or _FIELDS[0]
    return f"INTERVAL '1{''.join(_EXAMPLES[field] for field in fields[1:])}' {fields[0]} TO {fields[-1]}"


def _between(first: str, last: str) -> tuple[ast.Unit, ...]:
    """The fields from the one to the other, at least two, or none."""
    for fields in _FIELDS:
        places = {field: i for i, field in enumerate(fields)}
        if first in places and last in places and places[first] < places[last]:
            return fields[places[first] : places[last] + 1]
    return ()


def _plain(amount: str) -> str:
    whole, point, fraction = amount.partition(".")
    return f"{whole.lstrip('0') or '0'}{point}{fraction}"
