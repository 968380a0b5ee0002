"""The catalogue of functions: what a name means, and how a call of it is typed."""

from __future__ import annotations

from typing import Final

from .conditions import CONDITIONS, CONDITIONS_ALIASES
from .mathematics import MATHEMATICS, MATHEMATICS_ALIASES
from .signature import Build, Function, Mismatch
from .texts import TEXTS, TEXTS_ALIASES
from .times import TIMES, TIMES_ALIASES

GROUPS: Final[dict[str, tuple[Function, ...]]] = {
    "conditions": CONDITIONS,
    "numbers": MATHEMATICS,
    "strings": TEXTS,
    "dates and times": TIMES,
}
"""All functions that mean the same in every engine, as `cepc functions` lists them."""

_BY_NAME: Final = {f.name: f for group in GROUPS.values() for f in group}

_ALIASES: Final = {**CONDITIONS_ALIASES, **MATHEMATICS_ALIASES, **TEXTS_ALIASES, **TIMES_ALIASES}


def named(name: str) -> Function:
    """The portable function of that name, in lower case, which there is."""
    return _BY_NAME[_ALIASES.get(name, name)]


def find(name: str) -> Function | None:
    """The portable function of that name, in any case, aliases included."""
    lower = name.lower()
    return _BY_NAME.get(_ALIASES.get(lower, lower))


def names() -> tuple[str, ...]:
    """Every name that `find` knows and a person may write."""
    return tuple(sorted(n for n in {*_BY_NAME, *_ALIASES} if n[0].isalpha()))


__all__ = ["GROUPS", "Build", "Function", "Mismatch", "find", "names"]
