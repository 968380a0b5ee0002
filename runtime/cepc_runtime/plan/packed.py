"""Text that is long and repeats itself, as a short string of ASCII."""

from __future__ import annotations

import base64
import zlib


def packed(text: str) -> str:
    """Equal texts, equal strings, with the same zlib; `unpacked` is the inverse.

    >>> len(packed("automaton " * 1000)) < 100, unpacked(packed("é"))
    (True, 'é')
    """
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def unpacked(data: str) -> str:
    """What `packed` was given."""
    return zlib.decompress(base64.b64decode(data)).decode()
