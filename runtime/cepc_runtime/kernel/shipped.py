"""Machine code that comes with the package, for the processors that most have: nobody waits for a compiler, and who has
no numba, as on a cluster, counts as fast.

A wheel has it (`tools/machine_code.py` makes it), and so has a bundle; a checkout makes its own.
"""

from __future__ import annotations

import json
import pkgutil
import struct
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER: Final = "made"
"""Beside this module: a file for each module that is translated, by its name and version."""

_LENGTH: Final = struct.Struct("<I")


@cache
def shipped_code(name: str, processor: str) -> Mapping[str, bytes]:
    """Of a module, by what it is for: none if the package has none for such a processor."""
    try:
        found = pkgutil.get_data(__package__, f"{FOLDER}/{name}")
    except OSError:
        return {}
    if found is None:
        return {}
    made_for, code = from_bytes(found)
    return code if made_for == processor else {}


def to_bytes(processor: str, code: Mapping[str, bytes]) -> bytes:
    """The inverse of `from_bytes`.

    >>> from_bytes(to_bytes("v3", {"<i8·1 i": b"abc", "i": b""}))
    ('v3', {'<i8·1 i': b'abc', 'i': b''})
    """
    head = json.dumps([processor, [[key, len(one)] for key, one in code.items()]]).encode()
    return b"".join([_LENGTH.pack(len(head)), head, *code.values()])


def from_bytes(data: bytes) -> tuple[str, Mapping[str, bytes]]:
    """For which processor it is, and by their keys the codes."""
    (length,) = _LENGTH.unpack_from(data)
    at = _LENGTH.size + length
    processor, lengths = json.loads(data[_LENGTH.size : at])
    found = {}
    for key, size in lengths:
        found[key] = data[at : at + size]
        at += size
    return processor, found
