"""How much memory a run may have: as somebody writes it, or what the machine has. Imports no numpy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_UNITS: Final = {"": 1, **{f"{unit}b": 1000**i for i, unit in enumerate(("", "k", "m", "g", "t"))}}
_SIZES: Final = _UNITS | {f"{unit}ib": 1024**i for i, unit in enumerate(("k", "m", "g", "t"), start=1)}

MEMINFO: Final = Path("/proc/meminfo")
LIMITS: Final = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""Of a container, in which its own group is the root; of version 2 and 1."""

SHARE: Final = 0.75
"""Of what is free: others may want some, and an estimate is an estimate."""


def memory_of(asked: str | int | None) -> int | None:
    """In bytes: what is asked for, or a share of what is free as the run begins; None where nobody says that. Raises
    ValueError.

    >>> memory_of("1.5GB"), memory_of("512 MiB")
    (1500000000, 536870912)
    """
    if asked is None:
        free = _free()
        return None if free is None else int(free * SHARE)
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)", str(asked).strip().lower())
    factor = _SIZES.get(found[2]) if found else None
    size = int(float(found[1]) * factor) if found and factor else 0
    if size < 1:
        raise ValueError(f"{asked!r} is not an amount of memory; write 512MB, 1GB or 1.5GiB, or bytes")
    return size


def _free() -> int | None:
    """What the machine has free, or the container may have at most."""
    found = []
    try:
        for line in MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                found.append(int(line.split()[1]) * 1024)
    except (OSError, ValueError):
        pass
    for path in LIMITS:
        try:
            found.append(int(path.read_text()))  # `max` is no number, and no limit
        except (OSError, ValueError):
            continue
    return min(found, default=None)
