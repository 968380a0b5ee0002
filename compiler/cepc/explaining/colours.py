"""One colour for the parts that the same queries share: any number of them, neighbours well apart."""

from __future__ import annotations

from colorsys import hls_to_rgb
from typing import TYPE_CHECKING, Final

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .explanation import SharedPart

FIRST: Final = 205.0
GOLDEN: Final = 137.508  # degrees: no two multiples are near


@dataclass(frozen=True, slots=True)
class Colour:
    """A fill on which dark text is read, and a line."""

    fill: str
    line: str


def colours(parts: Sequence[SharedPart]) -> tuple[Colour, ...]:
    """A colour for each part."""
    number: dict[frozenset[str], int] = {}
    for part in parts:
        number.setdefault(frozenset(part.queries), len(number))
    return tuple(_colour((FIRST + GOLDEN * number[frozenset(part.queries)]) % 360) for part in parts)


def _colour(hue: float) -> Colour:
    return Colour(_hex(hue, 0.84, 0.75), _hex(hue, 0.42, 0.6))


def _hex(hue: float, lightness: float, saturation: float) -> str:
    """
    >>> _hex(0, 0.5, 1.0)
    '#ff0000'
    """
    return "#" + "".join(f"{round(part * 255):02x}" for part in hls_to_rgb(hue / 360, lightness, saturation))
