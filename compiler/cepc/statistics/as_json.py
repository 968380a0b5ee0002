"""Statistics files: JSON, one object for each stream. Every part may be left out, so that one can be written by
hand.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from .statistics import Grouping, Statistics, TypeStatistics

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping


class WrongFormError(ValueError):
    """The text is no statistics file; says what is wrong, and where in it."""


def to_json(streams: Mapping[str, Statistics]) -> str:
    """The text of a statistics file: the same for the same statistics."""
    data = {"streams": {name: _to_data(one) for name, one in streams.items()}}
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def from_json(text: str) -> dict[str, Statistics]:
    """The inverse of `to_json`. Raises WrongFormError."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise WrongFormError(f"it is not JSON: {error}") from None
    streams = _object(_object(data, "the file", ["streams"]).get("streams", {}), "`streams`")
    return {name: _from_data(one, f"`{name}`") for name, one in streams.items()}


def _to_data(one: Statistics) -> dict[str, Any]:
    return {
        "events": one.events,
        "seconds": one.seconds,
        "types": {name: _type_to_data(t) for name, t in one.types.items()},
        "anything": _type_to_data(one.anything),
        "groupings": [
            {
                "by": list(by),
                "groups": g.groups,
                "largest": g.largest,
                "in_groups_with": {name: dict(shares) for name, shares in g.in_groups_with.items()},
            }
            for by, g in one.groupings.items()
        ],
    }


def _type_to_data(one: TypeStatistics) -> dict[str, Any]:
    return {"rate": one.rate, "true_for": dict(one.true_for)}


# ---- reading ---------------------------------------------------------------------------------------------------------


def _from_data(data: Any, place: str) -> Statistics:
    fields = _object(data, place, ["events", "seconds", "types", "anything", "groupings"])
    groupings = fields.get("groupings", [])
    if not isinstance(groupings, list):
        raise WrongFormError(f"`groupings` of {place} is no list")
    types = _object(fields.get("types", {}), f"`types` of {place}")
    return Statistics(
        {name: _type(one, f"`{name}` of {place}") for name, one in types.items()},
        _type(fields.get("anything", {}), f"`anything` of {place}"),
        dict(_grouping(one, f"a grouping of {place}") for one in groupings),
        int(_number(fields.get("events"), f"`events` of {place}") or 0),
        _number(fields.get("seconds"), f"`seconds` of {place}") or 0.0,
    )


def _type(data: Any, place: str) -> TypeStatistics:
    fields = _object(data, place, ["rate", "true_for"])
    shares = _numbers(fields.get("true_for", {}), f"`true_for` of {place}", most=1.0)
    return TypeStatistics(_number(fields.get("rate"), f"`rate` of {place}"), shares)


def _grouping(data: Any, place: str) -> tuple[tuple[str, ...], Grouping]:
    fields = _object(data, place, ["by", "groups", "largest", "in_groups_with"])
    by = fields.get("by", [])
    if not (isinstance(by, list) and all(isinstance(name, str) for name in by)):
        raise WrongFormError(f"`by` of {place} is no list of columns")
    groups = _number(fields.get("groups"), f"`groups` of {place}")
    largest = _number(fields.get("largest"), f"`largest` of {place}", most=1.0)
    within = _object(fields.get("in_groups_with", {}), f"`in_groups_with` of {place}")
    return tuple(sorted(by)), Grouping(
        groups,
        largest,
        {name: _numbers(of, f"`{name}` in `in_groups_with` of {place}", most=1.0) for name, of in within.items()},
    )


def _object(data: Any, place: str, keys: Collection[str] | None = None) -> dict[str, Any]:
    """An object, with none but these keys."""
    if not isinstance(data, dict):
        raise WrongFormError(f"{place} is no object")
    unknown = [key for key in data if keys is not None and key not in keys]
    if unknown:
        raise WrongFormError(f"{place} has a key `{unknown[0]}`; there {_are(keys or ())}")
    return data


def _are(keys: Iterable[str]) -> str:
    return " and ".join(f"`{key}`" for key in keys) + " can be"


def _number(data: Any, place: str, most: float = math.inf) -> float | None:
    if data is None:
        return None
    if isinstance(data, bool) or not isinstance(data, int | float):
        raise WrongFormError(f"{place} is no number")
    if not 0 <= data <= most or math.isinf(data):
        limits = "at least 0" if math.isinf(most) else f"from 0 to {most:g}"
        raise WrongFormError(f"{place} is {data}; it has to be {limits}")
    return float(data)


def _numbers(data: Any, place: str, most: float) -> dict[str, float]:
    found = {key: _number(value, f"`{key}` in {place}", most) for key, value in _object(data, place).items()}
    return {key: value for key, value in found.items() if value is not None}
